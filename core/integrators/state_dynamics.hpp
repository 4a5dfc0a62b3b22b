// Velocity and acceleration in a state, under constraints and prescribed coordinates where there are any.
#pragma once

#include "constraints/affine_rows.hpp"
#include "constraints/constrained_dynamics.hpp"
#include "dynamics/aba.hpp"

namespace symplectree {

class StateDynamics {
 public:
  explicit StateDynamics(const Model& m) : m_(m), w_(m), constrained_(m), free_(constrained_.is_free()) {
    if (m.rows <= kFew && AffineRows::cover(m)) affine_ = std::make_unique<AffineRows>(m);
  }

  // Mark velocities whose coordinates are prescribed.
  void set_prescribed(const std::vector<char>& velocities) {
    constrained_.prescribed = velocities;
    free_ = constrained_.is_free();
    prescribed_ = std::find(velocities.begin(), velocities.end(), 1) != velocities.end();
  }
  // Are there neither constraints nor prescribed coordinates?
  bool is_free() const { return free_; }
  bool has_prescribed() const { return prescribed_; }

  // v = M(q)⁻¹ p, of p without what constraints take from it; prescribed velocities are those of `rates`.
  void velocity(const double* q, const double* p, const double* rates, double* v) {
    if (free_) {
      eliminated(q);
      return solve_mass(m_, p, v, w_);
    }
    if (takes_affine()) return affine_->velocity(q, p, v);
    std::copy(rates, rates + m_.nv, v);
    constrained_.velocity(q, p, v);
  }

  // The mass matrix at q with all coordinates eliminated, of a free state.
  const Workspace<double>& eliminated(const double* q) {
    if (!std::equal(eliminated_.begin(), eliminated_.end(), q, q + m_.nq)) {
      factorize_mass(m_, q, w_);
      eliminated_.assign(q, q + m_.nq);
    }
    return w_;
  }

  // a ← the acceleration in the state (q, v); prescribed ones are read from a.
  void acceleration(const double* q, const double* v, const double* tau, const double* inputs, double* a) {
    eliminated_.clear();
    if (free_) return forward_dynamics(m_, {q, v}, {tau, inputs}, a, w_);
    if (takes_affine()) return affine_->acceleration(q, v, tau, inputs, a);
    constrained_.acceleration(q, v, tau, inputs, a);
  }

  // Of the last acceleration, unless the state is free: forces of the constraints,
  const std::vector<double>& multipliers() const {
    return takes_affine() ? affine_->multipliers : constrained_.multipliers;
  }
  // and out (nv) ← those on prescribed coordinates, of which there are some.
  void reactions(const double* q, const double* v, const double* a, const double* tau, const double* inputs,
                 double* out) {
    constrained_.reaction(q, v, a, tau, inputs, out);
  }

 private:
  static constexpr int kFew = 4;  // rows, each of which takes another M⁻¹

  bool takes_affine() const { return affine_ && !prescribed_; }

  const Model& m_;
  Workspace<double> w_;
  Constrained constrained_;
  bool free_, prescribed_ = false;
  std::unique_ptr<AffineRows> affine_;
  std::vector<double> eliminated_;  // the configuration of the mass matrix in w_, empty where there is none
};

}  // namespace symplectree
