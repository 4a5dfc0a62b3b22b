// First derivatives of steps of a tree whose only constraints are affine in coordinates, as of gears and screws, from
// the blocks of tree_blocks.hpp: with G the constant derivative of the rows and Z = N⁻¹Gᵀ,
//
//   dq' = Y − Z (G Z)⁻¹ G Y,   Y = N⁻¹ [R 1],   dλ = −(G Z)⁻¹ G Y,
//
// and p' = p⁺ − Gᵀμ with G v = 0, M(q') v = p': dμ = (G M⁻¹Gᵀ)⁻¹ (W dp⁺ − ∂(wᵀM v)/∂q' dq'), W = G M⁻¹ and w its rows.
#include "constraints/affine_rows.hpp"
#include "dense/dense_solvers.hpp"
#include "linearization/block_solution.hpp"
#include "linearization/linearizer_interface.hpp"
#include "linearization/power_gradient.hpp"
#include "linearization/tree_blocks.hpp"
#include "model/rows/coordinate_row.hpp"

namespace symplectree {
namespace {

class RowLinearizer final : public LinearizerInterface {
 public:
  RowLinearizer(const Model& m, Action action)
      : m_(m), action_(action), made_(step_blocks<double>(m, action)), blocks_(*made_), rows_(m), one_(m), other_(m),
        across_(m.rows * m.rows), bent_(m.rows, m.nv), forces_(m.inputs ? m.inputs : m.nv) {
    for (const JointForce& f : m.joint_forces)
      if (f.input >= 0) places_.push_back({f.v, f.input, f.gain});
    for (int j = 0; m.inputs == 0 && j < m.nv; ++j) places_.push_back({j, j, 1});
  }

  int inputs() const override { return 2 * m_.nv + forces_; }
  bool projected() const override { return true; }
  bool has_second() const override { return false; }

  bool project(StepPoint& at, double* p) override {
    at.v.resize(m_.nv);
    rows_.velocity(at.q1.data(), p, at.v.data());
    at.mu = rows_.multipliers;
    for (double& x : at.mu) x = -x;
    for (const auto& [row, v, factor] : rows_.entries) p[v] -= factor * at.mu[row];
    return true;
  }

  void first(const StepPoint& at, double* out, double* multipliers) override {
    const int n = m_.nv;
    blocks_.evaluate(at.h, at.q0.data(), at.q1.data());
    const Eigen::Map<const RowMatrix> N(blocks_.N.data(), n, n), R(blocks_.R.data(), n, n), P(blocks_.P.data(), n, n);
    solve_blocks(N, R, lu_, Y_);
    bind_columns();
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
  // impulses_ ← dλ, and Y_ ← dq' with them; Z is in the columns of p of Y.
  void bind_columns() {
    const int n = m_.nv, rows = m_.rows;
    Z_.setZero(n, rows), impulses_.setZero(rows, 2 * n);
    for (const auto& [row, v, factor] : rows_.entries) {
      Z_.col(row) += factor * Y_.col(n + v);
      impulses_.row(row) -= factor * Y_.row(v);
    }
    std::fill(across_.begin(), across_.end(), 0.0);
    for (const auto& [row, v, factor] : rows_.entries)
      for (int k = 0; k < rows; ++k) across_[row * rows + k] += factor * Z_(v, k);
    solve_in_place(across_.data(), rows, impulses_.data(), 2 * n);
    for (int j = 0; j < n; ++j)
      for (int k = 0; k < rows; ++k) Y_.row(j) += Z_(j, k) * impulses_.row(k);
  }

  // p⁺ → p' in the last rows of the result, after `project` of the state.
  void project_columns(const StepPoint& at, Eigen::Map<RowMatrix>& result) {
    const int n = m_.nv;
    const Workspace<double>& end = blocks_.next;
    bent_.setZero(), right_.setZero(m_.rows, inputs());
    for (int k = 0; k < m_.rows; ++k) {
      const double* W = &rows_.W[k * n];
      one_.begin(end, W), other_.begin(end, at.v.data());
      one_.add_momenta(other_.U, end), other_.add_momenta(one_.U, end);
      one_.gather(end, &bent_(k, 0), nullptr), other_.gather(end, &bent_(k, 0), nullptr);
      for (int j = 0; j < n; ++j) right_.row(k) += W[j] * result.row(n + j) - bent_(k, j) * result.row(j);
    }
    rows_.solve(right_.data(), inputs());
    for (const auto& [row, v, factor] : rows_.entries) result.row(n + v) -= factor * right_.row(row);
  }

  const Model& m_;
  Action action_;
  std::unique_ptr<StepBlocks<double>> made_;
  StepBlocks<double>& blocks_;
  AffineRows rows_;
  PowerSum<double> one_, other_;
  std::vector<double> across_;  // G N⁻¹Gᵀ
  RowMatrix bent_, Y_, Z_, impulses_, right_;
  std::vector<ForcePlace> places_;
  int forces_;
  ScaledSolver lu_;                               // of N
  std::unique_ptr<LinearizerInterface> general_;  // for second derivatives
};

}  // namespace

std::unique_ptr<LinearizerInterface> row_linearizer(const Model& m, Action action) {
  if (!has_step_blocks(action) || !step_blocks_cover_all_but_rows(m) || !AffineRows::cover(m)) return nullptr;
  return std::make_unique<RowLinearizer>(m, action);
}

}  // namespace symplectree
