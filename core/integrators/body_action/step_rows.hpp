// Constraints and prescribed coordinates in a variational step: Newton's equations in (q', λ), JM09 (44)–(46), of which
// λ are the multipliers' impulses:
//
//   N δ − Dh(q)ᵀ dλ = r + Dh(q)ᵀ λ,   Dh(q') δ = −h(q').
#pragma once

#include "constraints/loop_solver.hpp"
#include "integrators/joint_terms.hpp"
#include "model/user_elements.hpp"

namespace symplectree {

struct StepRows {
  const Model& m;
  RowStructure structure;
  RowValues now, next;  // at the step's beginning and end
  LoopSolver loops;
  std::vector<double> compliance, e, solution;  // of each row, damped pairs included
  std::vector<Spatial<double>> force;
  std::vector<std::array<double, 2>> bound;

  explicit StepRows(const Model& model);

  // Rows of the user's forces, which add −½ ∂f/∂v to Newton's matrix, at q and the step's velocity.
  void evaluate_user_forces(const double* q, const double* v);

  // Rows at the end, as the last entries of the residual; returns the largest relative to what it is made of.
  template <bool WithDerivative>
  double add_residual(StepEnds<double> step, const Workspace<double>& end, std::vector<double>& r,
                      std::vector<double>& scale, double largest, int& worst) {
    evaluate_rows<WithDerivative>(m, structure, step.q1, end, next);
    for (const UserElement& u : m.users)
      if (!u.step.code.empty()) roll(u, step.q0, step.q1);
    for (int k = 0; k < m.rows; ++k) {
      const int j = m.nv + k;
      r[j] = -next.value[k];
      scale[j] = kTighter * next.size[k] + 1e-300;
      const double ratio = std::fabs(r[j]) / scale[j];
      if (exceeds(ratio, largest)) largest = ratio, worst = j;
    }
    return largest;
  }

  // Are the rows closed to rounding?
  bool at_floor(double factor) const {
    for (int k = 0; k < m.rows; ++k)
      if (!(std::fabs(next.value[k]) <= factor * 2.2e-16 * next.noise[k])) return false;
    return true;
  }

  // (δ, dλ) of the tree's system for the residual r (velocities, then rows).
  void solve(LoopSystem& system, const double* r, const RowValues& right, double* delta);

  // The same with a full Newton matrix N of the velocities, column by column, in which prescribed velocities are zero.
  void solve_dense(const double* N, const std::vector<char>& prescribed, const Workspace<double>& start,
                   const Workspace<double>& end, const double* r, double* delta);

 private:
  // Nonholonomic rows over the step.
  void roll(const UserElement& u, const double* q0, const double* q1);

  UserTerms user_;
  static constexpr double kTighter = 0.01;  // loops are closed more tightly than momenta are balanced
};

}  // namespace symplectree
