// First derivatives of steps of a tree whose only constraints are affine in coordinates, as of gears and screws, from
// the blocks of tree_blocks.hpp: with G the constant derivative of the rows and Z = N⁻¹Gᵀ,
//
//   dq' = Y − Z (G Z)⁻¹ G Y,   Y = N⁻¹ [R 1],   dλ = −(G Z)⁻¹ G Y,
//
// and p' = p⁺ − Gᵀμ with G v = 0, M(q') v = p': dμ = (G M⁻¹Gᵀ)⁻¹ (W dp⁺ − ∂(wᵀM v)/∂q' dq'), W = G M⁻¹ and w its rows.
#include "dynamics/aba.hpp"
#include "linearization/block_solution.hpp"
#include "linearization/linearizer_interface.hpp"
#include "linearization/power_gradient.hpp"
#include "linearization/tree_blocks.hpp"
#include "model/rows/coordinate_row.hpp"

namespace symplectree {
namespace {

// Are the model's rows affine in coordinates, and independent?
bool has_affine_rows(const Model& m) {
  if (m.rows == 0 || static_cast<int>(m.coordinate_rows.size()) != m.rows) return false;
  RowMatrix G = RowMatrix::Zero(m.rows, m.nv);
  for (const CoordinateRow& r : m.coordinate_rows) {
    if (r.function >= 0) return false;
    G(r.row, r.v1) += r.c1, G(r.row, r.v2) += r.c2;
  }
  return rank(G) == m.rows;
}

class RowLinearizer final : public LinearizerInterface {
 public:
  RowLinearizer(const Model& m, Action action)
      : m_(m), action_(action), made_(step_blocks<double>(m, action)), blocks_(*made_), w_(m), one_(m), other_(m),
        G_(RowMatrix::Zero(m.rows, m.nv)), W_(m.rows, m.nv), bent_(m.rows, m.nv), forces_(m.inputs ? m.inputs : m.nv) {
    for (const CoordinateRow& r : m.coordinate_rows) G_(r.row, r.v1) += r.c1, G_(r.row, r.v2) += r.c2;
    transposed_ = G_.transpose();
    for (const JointForce& f : m.joint_forces)
      if (f.input >= 0) places_.push_back({f.v, f.input, f.gain});
    for (int j = 0; m.inputs == 0 && j < m.nv; ++j) places_.push_back({j, j, 1});
  }

  int inputs() const override { return 2 * m_.nv + forces_; }
  bool projected() const override { return true; }
  bool has_second() const override { return false; }

  bool project(StepPoint& at, double* p) override {
    factorize_mass(m_, at.q1.data(), w_);
    at.v.resize(m_.nv), at.mu.resize(m_.rows);
    solve_mass(m_, p, at.v.data(), w_);
    for (int k = 0; k < m_.rows; ++k) solve_mass(m_, &G_(k, 0), &W_(k, 0), w_);
    along_.compute(product(W_, transposed_), false);
    Eigen::Map<Eigen::VectorXd> v(at.v.data(), m_.nv), mu(at.mu.data(), m_.rows), momentum(p, m_.nv);
    mu = along_.solve(product(G_, v));
    v -= transposed_vector_product(W_, mu);
    momentum -= transposed_vector_product(G_, mu);
    return true;
  }

  void first(const StepPoint& at, double* out, double* multipliers) override {
    const int n = m_.nv;
    blocks_.evaluate(at.h, at.q0.data(), at.q1.data());
    const Eigen::Map<const RowMatrix> N(blocks_.N.data(), n, n), R(blocks_.R.data(), n, n), P(blocks_.P.data(), n, n);
    solve_blocks(N, R, lu_, Y_);
    const RowMatrix Z = lu_.solve(transposed_);
    across_.compute(product(G_, Z), false);
    impulses_ = -across_.solve(product(G_, Y_));
    Y_ += product(Z, impulses_);
    Eigen::Map<RowMatrix> result(out, 2 * n, inputs()), of_rows(multipliers, m_.rows, inputs());
    state_columns(N, P, Y_, blocks_.damping, result);
    force_columns(places_, 0.5 * at.h, result);
    of_rows.leftCols(2 * n) = impulses_;
    of_rows.rightCols(forces_).setZero();
    for (const ForcePlace& f : places_) of_rows.col(2 * n + f.input) += 0.5 * at.h * f.weight * impulses_.col(n + f.v);
    project_columns(at, result);
  }

  void second(const StepPoint&, double*) override {}  // has_second
  void contracted(const StepPoint& at, const double* weights, double* out) override {
    if (!general_) general_ = general_linearizer(m_, StepLayout(m_, false), action_, 0.5, std::vector<char>(m_.nv));
    std::vector<double> first(2 * m_.nv * inputs()), of_rows(m_.rows * inputs());
    general_->first(at, first.data(), of_rows.data());
    general_->contracted(at, weights, out);
  }

 private:
  // p⁺ → p' in the last rows of the result, after `project` of the state.
  void project_columns(const StepPoint& at, Eigen::Map<RowMatrix>& result) {
    const int n = m_.nv;
    const Workspace<double>& end = blocks_.next;
    bent_.setZero();
    for (int k = 0; k < m_.rows; ++k) {
      one_.begin(end, &W_(k, 0)), other_.begin(end, at.v.data());
      one_.add_momenta(other_.U, end), other_.add_momenta(one_.U, end);
      one_.gather(end, &bent_(k, 0), nullptr), other_.gather(end, &bent_(k, 0), nullptr);
    }
    const RowMatrix right = product(W_, result.bottomRows(n)) - product(bent_, result.topRows(n));
    result.bottomRows(n) -= transposed_product(G_, along_.solve(right));
  }

  const Model& m_;
  Action action_;
  std::unique_ptr<StepBlocks<double>> made_;
  StepBlocks<double>& blocks_;
  Workspace<double> w_;
  PowerSum<double> one_, other_;
  RowMatrix G_, transposed_, W_, bent_, Y_, impulses_;
  std::vector<ForcePlace> places_;
  int forces_;
  ScaledSolver lu_, across_, along_;              // of N, G N⁻¹Gᵀ and G M⁻¹Gᵀ
  std::unique_ptr<LinearizerInterface> general_;  // for second derivatives
};

}  // namespace

std::unique_ptr<LinearizerInterface> row_linearizer(const Model& m, Action action) {
  if (!has_step_blocks(action) || !step_blocks_cover_all_but_rows(m) || !has_affine_rows(m)) return nullptr;
  return std::make_unique<RowLinearizer>(m, action);
}

}  // namespace symplectree
