// Velocity and acceleration in a state, under constraints and prescribed coordinates where there are any.
#pragma once

#include <memory>

#include "model/workspace.hpp"

namespace symplectree {

class AffineRows;
class Constrained;

class StateDynamics {
 public:
  explicit StateDynamics(const Model& m);
  ~StateDynamics();

  // Mark velocities whose coordinates are prescribed.
  void set_prescribed(const std::vector<char>& velocities);
  // Are there neither constraints nor prescribed coordinates?
  bool is_free() const { return free_; }
  bool has_prescribed() const { return prescribed_; }

  // v = M(q)⁻¹ p, of p without what constraints take from it; prescribed velocities are those of `rates`.
  void velocity(const double* q, const double* p, const double* rates, double* v);
  // The mass matrix at q with all coordinates eliminated, of a free state.
  const Workspace<double>& eliminated(const double* q);
  // a ← the acceleration in the state (q, v); prescribed ones are read from a.
  void acceleration(const double* q, const double* v, const double* tau, const double* inputs, double* a);

  // Of the last acceleration, unless the state is free: forces of the constraints,
  const std::vector<double>& multipliers() const;
  // and out (nv) ← those on prescribed coordinates, of which there are some.
  void reactions(const double* q, const double* v, const double* a, const double* tau, const double* inputs,
                 double* out);

 private:
  static constexpr int kFew = 4;  // rows, each of which takes another M⁻¹

  bool takes_affine() const { return affine_ && !prescribed_; }

  const Model& m_;
  Workspace<double> w_;
  std::unique_ptr<Constrained> constrained_;
  bool free_, prescribed_ = false;
  std::unique_ptr<AffineRows> affine_;
  std::vector<double> eliminated_;  // the configuration of the mass matrix in w_, empty where there is none
};

}  // namespace symplectree
