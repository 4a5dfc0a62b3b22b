// Limits of actuators (model/rows/actuator.hpp).
#pragma once

#include <vector>

#include "model/joint_state.hpp"
#include "model/model.hpp"
#include "model/rows/actuator.hpp"
#include "scalar/clamped.hpp"

namespace symplectree {

// Does it have limits?
bool has_limits(const Actuator& a);
bool has_limited_actuators(const Model& m);

// Its force for the control u in the state (q, v), without its limit of force.
template <class R, class T>
T unlimited_force(const ModelOf<R>& m, const ActuatorOf<R>& a, JointState<T> at, const T& u) {
  T force = T(a.bias) + T(a.gain) * u;
  for (int k = a.first; k < a.first + a.count; ++k) {
    const TransmissionOf<R>& t = m.transmissions[k];
    if (t.q >= 0) force += T(a.by_length * t.factor) * at.q[t.q];
    force += T(a.by_rate * t.factor) * at.v[t.v];
  }
  return force;
}

// force (nv) += what limits of controls and forces change of what the joint elements of actuators do.
template <class R, class T, class U>
void add_limits(const ModelOf<R>& m, JointState<T> at, const U* inputs, T* force) {
  for (const ActuatorOf<R>& a : m.actuators) {
    const T u = a.input >= 0 ? T(inputs[a.input]) : T(0);
    const T free = unlimited_force(m, a, at, u);
    const T kept = clamped(free + T(a.gain) * (clamped(u, a.control_range) - u), a.force_range);
    for (int k = a.first; k < a.first + a.count; ++k)
      force[m.transmissions[k].v] += T(m.transmissions[k].factor) * (kept - free);
  }
}

// out (inputs) ← controls within their ranges.
void clamp_controls(const Model& m, const double* inputs, double* out);

// Of each actuator: −1 or 1 where it is at its lower or upper limit of force, else 0.
using ActuatorLimits = std::vector<signed char>;
ActuatorLimits limits_reached(const Model& m, JointState<double> at, const double* controls);

// The power that an actuator's limit of force keeps back in a state, (force without it − force) · ℓ̇ [W]; 0 within it.
double excess_power(const Model& m, const Actuator& a, JointState<double> at, const double* inputs);

// Is every actuator that has a limit well within it, at an estimate of the velocity?
bool is_within_limits(const Model& m, JointState<double> at, const double* controls);

// The model while actuators are at these limits: there they are constant forces.
Model at_limits(const Model& m, const ActuatorLimits& limits);

}  // namespace symplectree
