// How a variational step finds its root: Newton's direction and its slower relatives, which find the same root. With
// constraints the root is in (q', λ), with λ the multipliers' impulses.
#pragma once

#include "integrators/body_action/step_rounding.hpp"
#include "integrators/body_action/step_rows.hpp"
#include "integrators/body_action/tree_elimination.hpp"
#include "integrators/method_options.hpp"

namespace symplectree {

class Direction {
 public:
  explicit Direction(const Model& m) : rows(m), size_(m.nv + m.rows), mass_(m.size()), stiff_(m.nv), block_(m.size()) {
    coupled_ = rows.structure.rows() > 0;
  }

  StepRows rows;

  // Changes of velocities that are marked, as in w.prescribed, are zero.
  void set_prescribed(const std::vector<char>& velocities) {
    coupled_ =
        rows.structure.rows() > 0 || std::find(velocities.begin(), velocities.end(), char(1)) != velocities.end();
  }
  // Are there rows or prescribed velocities, so that the tree alone does not give the direction?
  bool coupled() const { return coupled_; }

  // Forget what was learned from earlier iterations; the mass matrix at the beginning serves riqn and broyden.
  void begin(Solver solver, NewtonWorkspace& w, double h, const double* q0);

  // (δ, dλ) ≈ the solution of Newton's equations after body_derivatives and residual.
  void compute(NewtonWorkspace& w, double h, const double* q0, const double* q1, double* delta);

  // Tell broyden that the step s changed the residual from `before` to w.r.
  void learn(NewtonWorkspace& w, double h, const double* s, const double* before);

 private:
  void newton(NewtonWorkspace& w, double h, const double* q0, const double* q1, double* delta);

  LoopSystem loop_system(const NewtonWorkspace& w, const Workspace<double>& right, const Matrix6<double>* A,
                         const double* stiff) const;

  // LLPS16 Algorithm 3: δ = h M(q)⁻¹ r, with the constraints of the step's beginning.
  void impulse(NewtonWorkspace& w, double h, const double* r, double* delta);

  // Broyden's good update of the inverse, kept as pairs over that of `impulse`: H = Π (1 + a sᵀ) H₀.
  void broyden(NewtonWorkspace& w, double h, const double* r, double* delta);

  // LLPS16 Algorithm 4: the full matrix, a column at a time, and an LU factorisation.
  void dense(NewtonWorkspace& w, double h, const double* q0, const double* q1, double* delta);

  Solver solver_ = Solver::Newton;
  int size_;  // of a residual
  bool coupled_;
  std::vector<Matrix6<double>> mass_;  // of each body at the step's beginning, over h
  std::vector<double> stiff_;
  std::vector<std::array<double, 36>> block_;
  std::vector<std::vector<double>> a_, s_;
  std::size_t pairs_ = 0;
};

}  // namespace symplectree
