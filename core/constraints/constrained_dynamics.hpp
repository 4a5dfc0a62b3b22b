// Mechanics under holonomic constraints and prescribed coordinates: velocities from momenta, and accelerations (JM09
// (36)), both with multipliers.
#pragma once

#include "constraints/loop_solver.hpp"

namespace symplectree {

// Scratch memory and results, allocated once. `prescribed` marks velocities whose coordinates are prescribed.
class Constrained {
 public:
  std::vector<char> prescribed;     // of each velocity
  std::vector<double> multipliers;  // of each row, of the last call

  explicit Constrained(const Model& m);

  // Do momenta alone give velocities, without constraints or prescribed coordinates?
  bool is_free() const {
    return m_.rows == 0 && std::find(prescribed.begin(), prescribed.end(), char(1)) == prescribed.end();
  }

  // v with M v − Gᵀμ = p and G v = 0, which is the projection of p in the kinetic metric; prescribed velocities are
  // read from v.
  void velocity(const double* q, const double* p, double* v);

  // a with M a − Gᵀλ = τ − bias and d²h/dt² = 0; prescribed accelerations are read from a.
  void acceleration(const double* q, const double* v, const double* tau, const double* inputs, double* a);

  // out (nv) ← the forces beyond τ, elements and constraints that the acceleration takes, after `acceleration` with it:
  // zero except where coordinates are prescribed.
  void reaction(const double* q, const double* v, const double* a, const double* tau, const double* inputs,
                double* out);

  // Values (rows) and derivatives (rows × nv, when given) of the constraints at q.
  void rows(const double* q, double* values, double* derivatives);

 private:
  // Inertias and rows at the poses in w_.
  void start(const double* q);

  // dh_k/dt for twists of bodies, and velocities of prescribed coordinates.
  double rate(int k, const double* v, const std::vector<Spatial<double>>& V) const;

  // Solve for the coordinates that are not prescribed; those that are keep their values in x.
  void finish(double* x);
  // The largest part that a row leaves of its terms, of the solution x by which `loops` moved bodies; left_ ← e − G x.
  double unmet(const double* x, const LoopSolver& loops, const std::vector<double>& e);
  // Where rows with small pivots, which are none that depend on others, were left out: with these.
  void solve_finely(LoopSystem system, double* x);

  const Model& m_;
  RowStructure structure_;
  RowValues rows_;
  LoopSolver loops_;
  std::unique_ptr<LoopSolver> fine_;
  Workspace<double> w_;
  std::vector<Matrix6<double>> inertia_;
  std::vector<Spatial<double>> force_;
  std::vector<std::array<double, 2>> bound_;
  std::vector<std::array<double, 36>> block_;
  std::vector<double> rhs_, e_, given_, left_;
};

}  // namespace symplectree
