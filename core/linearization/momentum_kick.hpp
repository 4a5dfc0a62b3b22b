// Momenta after impulses x of what only pushes or rubs, along constraints and prescribed coordinates, and derivatives:
//
//   M v + Gᵀμ = p + Jᵀx,   G v = 0,   prescribed velocities as given,   p⁺ = M v,   speeds u = J v.
#pragma once

#include "constraints/constrained_dynamics.hpp"
#include "dense/scaled_solver.hpp"
#include "linearization/impulse_equations.hpp"

namespace symplectree {

class MomentumKick {
 public:
  // Changes of p⁺ (nv × columns) and of u (rows of the parts × columns).
  struct Change {
    RowMatrix p, speeds;
  };

  MomentumKick(const Model& m, const std::vector<char>& prescribed);

  // Impulses on these parts, which are held at q; `rates` (nv): of prescribed coordinates.
  void begin(const std::vector<Unilateral>& parts, const double* q, const double* p, const double* rates);

  // ∂u/∂x and ∂p⁺/∂x.
  const RowMatrix& W() const { return W_; }
  const RowMatrix& response() const { return response_; }

  std::vector<double> speeds(const std::vector<double>& x);
  // While x stays and q, p and the rates change, a column for each change.
  Change change(const std::vector<double>& x, const RowMatrix& dq, const RowMatrix& dp, const RowMatrix& rates);

 private:
  // v_ and μ_ ← those after the impulses x.
  void move(const std::vector<double>& x);

  const Model& m_;
  const std::vector<char>& prescribed_;
  UnilateralRows unilateral_;
  ImpulseEquations equations_;
  Constrained constrained_;
  Workspace<double> at_;
  const std::vector<Unilateral>* parts_ = nullptr;
  ScaledSolver solver_;
  std::vector<double> q_;
  Eigen::VectorXd p_, v_, mu_, rates_;
  RowMatrix M_, J_, W_, response_;
};

}  // namespace symplectree
