// Steps in independent coordinates, where others follow (model/coordinate_map.hpp), and their derivatives, from those
// of the tree's steps.
//
// The tree's step takes (q, p) = (φ(u), p on independent coordinates) and gives u' as the independent part of q', and
// p' = C(u')ᵀ p_tree'. Derivatives go through both ends, which bend where followers are not affine functions.
#pragma once

#include "linearization/follower_linearizer.hpp"
#include "linearization/step_derivatives.hpp"

namespace symplectree {

class MappedStepDerivatives final : public StepDerivatives {
 public:
  MappedStepDerivatives(const CoordinateMap& map, std::unique_ptr<StepDerivatives> tree, Action action, double h)
      : map_(map), tree_(std::move(tree)), quick_(follower_linearizer(map, action)), h_(h), n_(map.tree().nv),
        m_(map.nv()), tree_inputs_(tree_->inputs()), p_(n_), tau_(n_), rates_(n_), q1_(map.tree().nq), p1_(n_),
        A_(2 * n_ * tree_inputs_), G_(static_cast<std::size_t>(map.tree().rows) * tree_inputs_) {
    // Behind (q, p): forces on joints, or inputs; then ends and rates of prescribed coordinates, which are independent.
    const int forces = map.tree().inputs ? map.tree().inputs : static_cast<int>(n_);
    rest_ = map.independent_v + (map.tree().inputs ? AxisMap(forces) : map.independent_v) +
            AxisMap(static_cast<int>(tree_inputs_ - 2 * n_) - forces);
    inputs_ = m_ + rest_.size;
    if (tree_inputs_ != 2 * n_ + forces) quick_.reset();
  }

  int inputs() const override { return static_cast<int>(inputs_); }
  int rows() const override { return map_.rows.size; }
  double residual() const override { return tree_->residual(); }
  int worst() const override { return tree_->worst(); }
  double turn() const override { return tree_->turn(); }
  const UnilateralParts& unilateral() const override { return tree_->unilateral(); }

  bool take(const StepConditions& given, double* q1, double* p1) override {
    map_.evaluate(given.q, start_), map_.evaluate(given.target, target_);
    map_.place(given.p, p_.data()), map_.place(given.tau, tau_.data()), map_.place(given.rates, rates_.data());
    const StepConditions of_tree{start_.q.data(), p_.data(),        tau_.data(),
                                 given.inputs,    target_.q.data(), rates_.data()};
    const bool done =
        quick_ ? tree_->solve(of_tree, q1_.data(), p1_.data()) : tree_->take(of_tree, q1_.data(), p1_.data());
    if (!done) return false;
    map_.take_q(q1_.data(), q1);
    map_.evaluate(q1, end_);
    std::fill(p1, p1 + m_, 0.0);
    for (std::size_t j = 0; j < n_; ++j) p1[map_.leader_v[j]] += end_.first[j] * p1_[j];
    return true;
  }

  void multipliers(double* out) const override {
    if (quick_) return;  // there are no rows but those of followers
    std::vector<double> all(map_.tree().rows);
    tree_->multipliers(all.data());
    const std::vector<double> own = map_.rows(all.data());
    std::copy(own.begin(), own.end(), out);
  }

  void differentiate(double* first, double* multipliers_first, double* second) override {
    of_tree_ = !quick_ || second;
    if (quick_ && second) tree_->complete(p1_.data());
    if (of_tree_) return differentiate_tree(first, multipliers_first, second);
    quick_->first(h_, start_.q.data(), q1_.data(), first);  // there are no other rows
  }

  void contract(const double* weights, bool, double* hessian) override {
    require_tree();
    std::vector<double> H(tree_inputs_ * tree_inputs_);
    tree_->contract(tree_weights(weights).data(), false, H.data());
    add_bends(weights, H, hessian);
  }

  void set_parameters(const ModelArrays<double>& arrays, const double* effects, std::size_t size, int count) override {
    tree_->set_parameters(arrays, effects, size, count);
    parameters_ = count;
  }

  int differentiate_in_parameters(const double*, double* out, double* multipliers) override {
    require_tree();
    std::vector<double> D(2 * n_ * parameters_), G(map_.tree().rows * parameters_);
    const int torn = tree_->differentiate_in_parameters(A_.data(), D.data(), G.data());
    to_end(D, parameters_, out);
    const std::vector<double> of_rows = map_.rows(G.data(), 1, parameters_);
    std::copy(of_rows.begin(), of_rows.end(), multipliers);
    return torn;
  }

 private:
  // First derivatives of the tree, on which all others rest.
  void require_tree() {
    if (of_tree_) return;
    tree_->complete(p1_.data());
    std::vector<double> first(2 * m_ * inputs_), of_rows(map_.rows.size * inputs_);
    differentiate_tree(first.data(), of_rows.data(), nullptr);
    of_tree_ = true;
  }

  void differentiate_tree(double* first, double* multipliers_first, double* second) {
    std::vector<double> H(second ? 2 * n_ * tree_inputs_ * tree_inputs_ : 0);
    tree_->differentiate(A_.data(), G_.data(), second ? H.data() : nullptr);
    along_ = map_.sum(start_.first) + rest_;
    slopes_ = along_(A_.data(), 2 * n_);
    turn_ = weighted_sum(end_.second, p1_);
    to_end(slopes_, inputs_, first);
    const std::vector<double> of_rows =
        along_(map_.rows(G_.data(), 1, tree_inputs_).data(), static_cast<std::size_t>(map_.rows.size));
    std::copy(of_rows.begin(), of_rows.end(), multipliers_first);
    const std::size_t square = inputs_ * inputs_;
    std::vector<double> weights(2 * m_);
    for (std::size_t i = 0; second && i < 2 * m_; ++i) {  // one of (u', p') after the other
      weights[i] = 1;
      bend(weights.data(), H, second + i * square);
      weights[i] = 0;
    }
  }

  // Σ weight_j x_j over all that are functions of the same.
  std::vector<double> weighted_sum(const std::vector<double>& weight, const std::vector<double>& x) const {
    return map_.sum(weight)(x.data());
  }

  // out (2 m × columns) ← changes of (u', p') from those of the tree's (q', p'), x (2 n × columns).
  void to_end(const std::vector<double>& x, std::size_t columns, double* out) const {
    std::fill(out, out + 2 * m_ * columns, 0.0);
    map_.independent_v.add(x.data(), 1, columns, out);
    map_.sum(end_.first).add(x.data() + n_ * columns, 1, columns, out + m_ * columns);
    for (std::size_t i = 0; i < m_; ++i)
      for (std::size_t k = 0; k < columns; ++k) out[(m_ + i) * columns + k] += turn_[i] * out[i * columns + k];
  }

  // Weights (2 n) of the tree's (q', p') with which its second derivatives count, of weights (2 m) of (u', p').
  std::vector<double> tree_weights(const double* own) const {
    std::vector<double> out(2 * n_);
    for (std::size_t j = 0; j < n_; ++j) {
      const int i = map_.leader_v[j];
      if (map_.independent_v.target[j] >= 0) out[j] = own[i] + turn_[i] * own[m_ + i];
      out[n_ + j] = end_.first[j] * own[m_ + i];
    }
    return out;
  }

  // out (inputs × inputs) ← weighted second derivatives of (u', p'), from all H of the tree's (q', p').
  void bend(const double* weights, const std::vector<double>& H, double* out) const {
    const std::size_t square = tree_inputs_ * tree_inputs_;
    const std::vector<double> of_tree = tree_weights(weights);
    std::vector<double> sum(square);
    for (std::size_t a = 0; a < 2 * n_; ++a)
      for (std::size_t k = 0; of_tree[a] != 0 && k < square; ++k) sum[k] += of_tree[a] * H[a * square + k];
    add_bends(weights, sum, out);
  }

  // The same, from H (tree's inputs × tree's inputs), which is weighted with `tree_weights`: through the start, whose
  // coordinates bend with u, and the end, where p' turns with u'.
  void add_bends(const double* weights, const std::vector<double>& H, double* out) const {
    const std::vector<double> carried = along_(along_(H.data(), 1, tree_inputs_).data(), inputs_);
    std::copy(carried.begin(), carried.end(), out);
    const std::vector<double> of_tree = tree_weights(weights);
    std::vector<double> pull(n_);
    for (std::size_t a = 0; a < 2 * n_; ++a)
      for (std::size_t j = 0; j < n_; ++j) pull[j] += of_tree[a] * A_[a * tree_inputs_ + j];
    const std::vector<double> diagonal = weighted_sum(start_.second, pull);
    for (std::size_t i = 0; i < m_; ++i) out[i * inputs_ + i] += diagonal[i];
    for (std::size_t j = 0; j < n_; ++j) {
      const double weight = weights[m_ + map_.leader_v[j]];
      if (weight == 0 || (end_.second[j] == 0 && end_.third[j] == 0)) continue;
      const double turn = weight * end_.second[j], thrice = weight * end_.third[j] * p1_[j];
      const double *dq = &slopes_[independent(j) * inputs_], *dp = &slopes_[(n_ + j) * inputs_];
      for (std::size_t b = 0; b < inputs_; ++b)
        for (std::size_t c = 0; c < inputs_; ++c)
          out[b * inputs_ + c] += turn * (dq[b] * dp[c] + dp[b] * dq[c]) + thrice * dq[b] * dq[c];
    }
  }

  // The velocity of the tree that is the independent one behind velocity j.
  std::size_t independent(std::size_t j) const {
    const auto& target = map_.independent_v.target;
    return std::find(target.begin(), target.end(), map_.leader_v[j]) - target.begin();
  }

  const CoordinateMap& map_;
  std::unique_ptr<StepDerivatives> tree_;
  std::unique_ptr<FollowerLinearizer> quick_;  // null where it does not serve
  double h_;
  bool of_tree_ = false;                          // are A_ and all that follows those of the last step?
  std::size_t n_, m_, tree_inputs_, inputs_ = 0;  // velocities of the tree, independent ones
  int parameters_ = 0;
  AxisMap rest_, along_;  // of axes over the tree's inputs: all but q, and all
  MapPoint start_, end_, target_;
  std::vector<double> p_, tau_, rates_;  // the tree's conditions
  std::vector<double> q1_, p1_, A_, G_;  // the tree's end, and its derivatives: of (q', p') and of multipliers
  std::vector<double> slopes_, turn_;    // A along the inputs here; Σ φ'' p', how p' turns with u'
};

}  // namespace symplectree
