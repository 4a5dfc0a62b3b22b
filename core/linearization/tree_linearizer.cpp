// Derivatives of a step on a tree without loops, from the blocks of tree_blocks.hpp: N Y = [R 1] for q' in (q, p),
// p' = −Nᵀ in q and P in q'. Second derivatives, of actions whose blocks can be had on jets, from these along (q, p)
// with q' following:
//
//   N dY = [dR 0] − dN Y,   d²p' = [−dNᵀ 0] + dP Y + P dY.
//
// N Y = [R 1] is solved by LU, and in long trees by elimination along the tree, in linear time per column.
// Contracted with weights: how the blocks change along (m, w_p), m = N⁻ᵀ(w_q + Pᵀ w_p), between derivatives of (q, q').
#include <cstring>

#include "kinematics/retract_ad.hpp"
#include "linearization/block_solution.hpp"
#include "linearization/hessian_interface.hpp"
#include "linearization/linearizer_interface.hpp"
#include "linearization/tree_columns.hpp"
#include "scalar/jet.hpp"

namespace symplectree {
namespace {

class TreeLinearizer final : public LinearizerInterface {
 public:
  TreeLinearizer(const Model& m, Action action)
      : m_(m), action_(action), made_(step_blocks<double>(m, action)), blocks_(*made_), columns_(m),
        forces_(m.inputs ? m.inputs : m.nv) {
    for (const JointForce& f : m.joint_forces)
      if (f.input >= 0) places_.push_back({f.v, f.input, f.gain});
  }

  int inputs() const override { return 2 * m_.nv + forces_; }
  bool projected() const override { return false; }
  bool has_second() const override { return blocks_have_slopes(action_); }

  void first(const StepPoint& at, double* out, double*) override {
    const int n = m_.nv;
    blocks_.evaluate(at.h, at.q0.data(), at.q1.data());
    factorized_ = false;
    Eigen::Map<RowMatrix> result(out, 2 * n, inputs());
    if (n < kLong) {
      by_matrices(result);
    } else {
      by_columns(at.h, result);
    }
    const double half = 0.5 * at.h;
    if (m_.inputs > 0) return force_columns(places_, half, result);
    result.rightCols(n) = half * result.middleCols(n, n);
    for (int j = 0; j < n; ++j) result(n + j, 2 * n + j) += half;
  }

  bool can_keep() const override { return m_.nv < kLong; }
  void keep(std::vector<double>& out) const override {
    out.assign(Y_.data(), Y_.data() + Y_.size());
    for (const auto* block : {&blocks_.N, &blocks_.R, &blocks_.P}) out.insert(out.end(), block->begin(), block->end());
  }
  void put_back(const std::vector<double>& kept) override {
    const int n = m_.nv;
    const double* from = kept.data();
    Y_.resize(n, 2 * n);
    std::copy_n(from, Y_.size(), Y_.data());
    from += Y_.size();
    for (auto* block : {&blocks_.N, &blocks_.R, &blocks_.P}) std::copy_n(from, n * n, block->data()), from += n * n;
    factorized_ = true;
  }

  void second(const StepPoint& at, double* out) override {
    if (!jets_) jets_ = step_blocks<Jet>(m_, action_);
    factorize();
    const int n = m_.nv, all = inputs();
    std::vector<Jet> q0(m_.nq), q1(m_.nq), d0(n), d1(n);
    for (int start = 0; start < 2 * n; start += Jet::width) {
      const int count = std::min(Jet::width, 2 * n - start);
      for (int j = 0; j < n; ++j)
        for (int k = 0; k < Jet::width; ++k) {
          d0[j].slope.set(k, j == start + k);
          d1[j].slope.set(k, k < count ? Y_(j, start + k) : 0.0);
        }
      retract_ad(m_, at.q0.data(), d0.data(), q0.data());
      retract_ad(m_, at.q1.data(), d1.data(), q1.data());
      jets_->evaluate(at.h, q0.data(), q1.data());
      bend(count);
      for (int i = 0; i < 2 * n; ++i)
        for (int k = 0; k < count; ++k)
          std::copy_n(&(i < n ? dY_ : dp_)((n * k) + i % n, 0), 2 * n,
                      out + (static_cast<std::size_t>(i) * all + start + k) * all);
    }
    for (int i = 0; i < 2 * n; ++i) {
      Eigen::Map<RowMatrix> H(out + static_cast<std::size_t>(i) * all * all, all, all);
      // Of two increments of one quaternion, the mean of both orders; of plain coordinates these are the same.
      auto own = H.topLeftCorner(2 * n, 2 * n);
      if (!m_.quaternions.empty()) own = (0.5 * (own + own.transpose())).eval();
      widen(m_, 0.5 * at.h, H);
    }
  }

  void contracted(const StepPoint& at, const double* weights, double* out) override {
    const int n = m_.nv, all = inputs();
    factorize();
    const auto P = matrix(blocks_.P);
    Eigen::Map<const Eigen::VectorXd> of_q(weights, n), of_p(weights + n, n);
    const Eigen::VectorXd multipliers =
        transposed_vector_product(Y_.rightCols(n), of_q + transposed_vector_product(P, of_p));  // N⁻¹ is part of Y
    if (blocks_have_slopes(action_)) {
      bend(at, multipliers, of_p);
    } else {
      if (!hessian_) hessian_ = step_hessian(m_, StepLayout(m_, false), action_, 0.5);
      weights_.start.assign(multipliers.data(), multipliers.data() + n),
          weights_.end.assign(weights + n, weights + 2 * n);
      const StepLayout layout(m_, false);
      bent_.resize(layout.size, layout.size);
      hessian_->evaluate(at, weights_, bent_.data());
    }
    // [1 0; Y]ᵀ bent [1 0; Y]
    const auto bent = bent_.topLeftCorner(2 * n, 2 * n);
    RowMatrix half = product(bent.rightCols(n), Y_);
    half.leftCols(n) += bent.leftCols(n);
    Eigen::Map<RowMatrix> H(out, all, all);
    H.topLeftCorner(2 * n, 2 * n) = transposed_product(Y_, half.bottomRows(n));
    H.topLeftCorner(n, 2 * n) += half.topRows(n);
    widen(m_, 0.5 * at.h, H);
  }

 private:
  static constexpr int kTogether = 32;
  static constexpr int kLong = 72;  // coordinates from which columns one by one are faster than dense matrices

  Eigen::Map<const RowMatrix> matrix(const std::vector<double>& entries) const {
    return Eigen::Map<const RowMatrix>(entries.data(), m_.nv, m_.nv);
  }

  // lu_ and Y_ of the blocks.
  void factorize() {
    if (factorized_) return;
    solve_blocks(matrix(blocks_.N), matrix(blocks_.R), lu_, Y_);
    factorized_ = true;
  }

  // Derivatives in (q, p) by LU.
  void by_matrices(Eigen::Ref<RowMatrix> result) {
    factorize();
    state_columns(matrix(blocks_.N), matrix(blocks_.P), Y_, blocks_.damping, result);
  }

  // The same by elimination along the tree; many columns are put together before they are written, because rows lie far
  // apart in memory.
  void by_columns(double h, Eigen::Ref<RowMatrix> result) {
    using Lanes = TreeColumns::Lanes;
    const int n = m_.nv, width = Lanes::width;
    columns_.factorize(blocks_, h);
    std::vector<Lanes> given(n), moved(n), ends(n);
    RowMatrix together(2 * n, kTogether);
    for (int part : {0, n})  // columns of q, columns of p
      for (int c = 0; c < n; c += kTogether) {
        const int all = std::min(kTogether, n - c);
        for (int at = 0; at < all; at += width) {
          const int last = part == 0 ? columns_of_q(c + at, given, ends) : columns_of_p(c + at, given, ends);
          columns_.solve(given.data(), last, moved.data());
          columns_.add_ends(moved.data(), ends.data());
          for (int i = 0; i < n; ++i) {
            std::memcpy(&together(i, at), &moved[i].lanes, sizeof(Lanes));
            std::memcpy(&together(n + i, at), &ends[i].lanes, sizeof(Lanes));
          }
        }
        result.block(0, part + c, 2 * n, all) = together.leftCols(all);
      }
  }

  // given ← columns of R from c on, ends ← those of −Nᵀ, with dampers; returns the last body that they act on.
  int columns_of_q(int c, std::vector<TreeColumns::Lanes>& given, std::vector<TreeColumns::Lanes>& ends) const {
    const int n = m_.nv, width = TreeColumns::Lanes::width, count = std::min(width, n - c);
    for (int i = 0; i < n; ++i) {
      given[i] = {};
      std::memcpy(&given[i].lanes, &blocks_.R[n * i + c], count * sizeof(double));
    }
    std::fill(ends.begin(), ends.end(), TreeColumns::Lanes());
    for (int k = 0; k < count; ++k) {
      const double* row = &blocks_.N[n * (c + k)];
      for (int i = 0; i < n; ++i) reinterpret_cast<double*>(&ends[i].lanes)[k] = -row[i];
      ends[c + k].set(k, ends[c + k][k] + blocks_.damping[c + k]);
    }
    return m_.size() - 1;
  }

  // given ← columns of the identity, ends ← zero.
  int columns_of_p(int c, std::vector<TreeColumns::Lanes>& given, std::vector<TreeColumns::Lanes>& ends) const {
    const int count = std::min(TreeColumns::Lanes::width, m_.nv - c);
    std::fill(given.begin(), given.end(), TreeColumns::Lanes());
    std::fill(ends.begin(), ends.end(), TreeColumns::Lanes());
    for (int k = 0; k < count; ++k) given[c + k].set(k, 1);
    return m_.body_of[c + count - 1];
  }

  // dY_, dp_ (n for each of `count` directions) ← how Y and the derivatives of p' change along the directions of jets_.
  void bend(int count) {
    const int n = m_.nv;
    for (RowMatrix* M : {&dN_, &dR_, &dP_}) M->resize(count * n, n);
    for (RowMatrix* M : {&dY_, &dp_}) M->resize(count * n, 2 * n);
    for (int e = 0; e < n * n; ++e)
      for (int k = 0; k < count; ++k) {
        const int at = n * n * k + e;
        dN_.data()[at] = jets_->N[e].slope[k], dR_.data()[at] = jets_->R[e].slope[k];
        dP_.data()[at] = jets_->P[e].slope[k];
      }
    dY_ = -product(dN_, Y_);
    dY_.leftCols(n) += dR_;
    dp_ = product(dP_, Y_);
    for (int k = 0; k < count; ++k) {
      auto dY = dY_.middleRows(n * k, n), dp = dp_.middleRows(n * k, n);
      dY = lu_.solve(dY);
      dp += product(matrix(blocks_.P), dY);
      dp.leftCols(n) -= dN_.middleRows(n * k, n).transpose();
    }
  }

  // bent_ ← second derivatives in (q, q') of start·r + end·p': how the blocks J = [R −N; −Nᵀ P] of first ones change
  // along (start, end), and with J M + Mᵀ J, M b = [b, (start, end)], because increments of one quaternion do not
  // commute.
  void bend(const StepPoint& at, const Eigen::VectorXd& start, const Eigen::VectorXd& end) {
    const int n = m_.nv;
    if (!duals_) duals_ = step_blocks<Dual>(m_, action_);
    std::vector<Dual> q0(m_.nq), q1(m_.nq), d(n);
    for (int j = 0; j < n; ++j) d[j] = {0.0, start[j]};
    retract_ad(m_, at.q0.data(), d.data(), q0.data());
    for (int j = 0; j < n; ++j) d[j] = {0.0, end[j]};
    retract_ad(m_, at.q1.data(), d.data(), q1.data());
    duals_->evaluate(at.h, q0.data(), q1.data());
    bent_.resize(2 * n, 2 * n);
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) {
        bent_(i, j) = duals_->R[n * i + j].slope, bent_(n + i, n + j) = duals_->P[n * i + j].slope;
        bent_(i, n + j) = bent_(n + j, i) = -duals_->N[n * i + j].slope;
      }
    if (m_.quaternions.empty()) return;
    const auto N = matrix(blocks_.N), R = matrix(blocks_.R), P = matrix(blocks_.P);
    RowMatrix J(2 * n, 2 * n), M = RowMatrix::Zero(2 * n, 2 * n);
    J << R, -N, -N.transpose(), P;
    for (int i : m_.quaternions) {
      const Body& b = m_.bodies[i];
      set_bracket(b, start.data() + b.v, M.block(b.v, b.v, b.nv, b.nv));
      set_bracket(b, end.data() + b.v, M.block(n + b.v, n + b.v, b.nv, b.nv));
    }
    bent_ += product(J, M) + transposed_product(M, J);
    bent_ = (0.5 * (bent_ + bent_.transpose())).eval();
  }

  // M ← the matrix that takes an increment b of a Ball or Free joint to [b, a].
  template <class Block>
  static void set_bracket(const Body& b, const double* a, Block&& M) {
    const auto hat = [](const double* w) {
      Eigen::Matrix3d m;
      m << 0, -w[2], w[1], w[2], 0, -w[0], -w[1], w[0], 0;
      return m;
    };
    M.topLeftCorner(3, 3) = -hat(a);
    if (b.kind != Kind::Free) return;
    M.bottomRightCorner(3, 3) = -hat(a), M.bottomLeftCorner(3, 3) = -hat(a + 3);
  }

  const Model& m_;
  Action action_;
  std::unique_ptr<StepBlocks<double>> made_;
  StepBlocks<double>& blocks_;
  std::unique_ptr<StepBlocks<Jet>> jets_;
  std::unique_ptr<StepBlocks<Dual>> duals_;
  std::unique_ptr<HessianInterface> hessian_;
  StepWeights weights_;
  TreeColumns columns_;
  std::vector<ForcePlace> places_;    // of the inputs
  int forces_;                        // inputs of the model, or its velocities when it has none
  RowMatrix Y_, bent_;                // derivatives of q' in (q, p); second ones of a sum
  RowMatrix dN_, dR_, dP_, dY_, dp_;  // of several directions, one below the other
  bool factorized_ = false;           // are lu_ and Y_ those of the blocks?
  ScaledSolver lu_;
};

}  // namespace

std::unique_ptr<LinearizerInterface> tree_linearizer(const Model& m, Action action) {
  if (!has_step_blocks(action) || !step_blocks_cover(m)) return nullptr;
  return std::make_unique<TreeLinearizer>(m, action);
}

}  // namespace symplectree
