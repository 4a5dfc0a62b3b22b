#include "integrators/state_dynamics.hpp"

#include "constraints/affine_rows.hpp"
#include "constraints/constrained_dynamics.hpp"
#include "dynamics/aba.hpp"

namespace symplectree {

StateDynamics::StateDynamics(const Model& m)
    : m_(m), w_(m), constrained_(std::make_unique<Constrained>(m)), free_(constrained_->is_free()) {
  if (m.rows <= kFew && AffineRows::cover(m)) affine_ = std::make_unique<AffineRows>(m);
}

StateDynamics::~StateDynamics() = default;

void StateDynamics::set_prescribed(const std::vector<char>& velocities) {
  constrained_->prescribed = velocities;
  free_ = constrained_->is_free();
  prescribed_ = std::find(velocities.begin(), velocities.end(), 1) != velocities.end();
}

void StateDynamics::velocity(const double* q, const double* p, const double* rates, double* v) {
  if (free_) {
    eliminated(q);
    return solve_mass(m_, p, v, w_);
  }
  if (takes_affine()) return affine_->velocity(q, p, v);
  std::copy(rates, rates + m_.nv, v);
  constrained_->velocity(q, p, v);
}

const Workspace<double>& StateDynamics::eliminated(const double* q) {
  if (!std::equal(eliminated_.begin(), eliminated_.end(), q, q + m_.nq)) {
    factorize_mass(m_, q, w_);
    eliminated_.assign(q, q + m_.nq);
  }
  return w_;
}

void StateDynamics::acceleration(const double* q, const double* v, const double* tau, const double* inputs, double* a) {
  eliminated_.clear();
  if (free_) return forward_dynamics(m_, {q, v}, {tau, inputs}, a, w_);
  if (takes_affine()) return affine_->acceleration(q, v, tau, inputs, a);
  constrained_->acceleration(q, v, tau, inputs, a);
}

const std::vector<double>& StateDynamics::multipliers() const {
  return takes_affine() ? affine_->multipliers : constrained_->multipliers;
}

void StateDynamics::reactions(const double* q, const double* v, const double* a, const double* tau,
                              const double* inputs, double* out) {
  constrained_->reaction(q, v, a, tau, inputs, out);
}

}  // namespace symplectree
