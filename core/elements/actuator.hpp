// Limits of actuators (model/rows/actuator.hpp).
#pragma once

#include <vector>

#include "model/joint_state.hpp"
#include "model/model.hpp"
#include "model/rows/actuator.hpp"
#include "scalar/simd_pack.hpp"

namespace symplectree {

template <class T>
T clamped(const T& x, const double (&range)[2]) {
  return lane_by_lane(
      [&](const auto& y) {
        using Y = std::decay_t<decltype(y)>;
        return value_of(y) < range[0] ? Y(range[0]) : value_of(y) > range[1] ? Y(range[1]) : y;
      },
      x);
}

// Does it have limits?
bool has_limits(const Actuator& a);
bool has_limited_actuators(const Model& m);

// The range of what acts: of the control, or of the activation in its place.
template <class R>
const double (&input_range(const ActuatorOf<R>& a))[2] {
  return a.dynamics == kDirect ? a.control_range : a.activation_range;
}

// Its force for the control u in the state (q, v), without its limit of force.
template <class R, class T>
T unlimited_force(const ModelOf<R>& m, const ActuatorOf<R>& a, JointState<T> at, const T& u) {
  T force = T(a.bias) + T(a.gain) * u;
  for (int k = a.first; k < a.first + a.count; ++k) {
    const TransmissionOf<R>& t = m.transmissions[k];
    if (t.q >= 0) force += T(a.by_length) * T(t.factor) * at.q[t.q];
    force += T(a.by_rate) * T(t.factor) * at.v[t.v];
  }
  return force;
}

// Its force within all of its own limits, of inputs that may be beyond their ranges.
template <class R, class T, class U>
T limited_force(const ModelOf<R>& m, const ActuatorOf<R>& a, JointState<T> at, const U* inputs) {
  const T u = a.input >= 0 ? clamped(T(inputs[a.input]), input_range(a)) : T(0);
  return clamped(unlimited_force(m, a, at, u), a.force_range);
}

// The force of all actuators together on one velocity, each within its own limits.
template <class R, class T, class U>
T joint_total(const ModelOf<R>& m, int v, JointState<T> at, const U* inputs) {
  T total(0);
  for (const ActuatorOf<R>& a : m.actuators)
    for (int k = a.first; k < a.first + a.count; ++k)
      if (m.transmissions[k].v == v) total += T(m.transmissions[k].factor) * limited_force(m, a, at, inputs);
  return total;
}

// force (nv) += what limits of controls and forces change of what the joint elements of actuators do.
template <class R, class T, class U>
void add_limits(const ModelOf<R>& m, JointState<T> at, const U* inputs, T* force) {
  for (const ActuatorOf<R>& a : m.actuators) {
    const T free = unlimited_force(m, a, at, a.input >= 0 ? T(inputs[a.input]) : T(0));
    const T kept = limited_force(m, a, at, inputs);
    for (int k = a.first; k < a.first + a.count; ++k)
      force[m.transmissions[k].v] += T(m.transmissions[k].factor) * (kept - free);
  }
  for (const ForceLimitOf<R>& limit : m.force_limits) {
    const T total = joint_total(m, limit.v, at, inputs);
    force[limit.v] += clamped(total, limit.force_range) - total;
  }
}

// out (inputs) ← controls within their ranges.
void clamp_controls(const Model& m, const double* inputs, double* out);

// Of each actuator, and then of each ForceLimit: −1 or 1 where it is at its lower or upper limit of force, else 0.
using ActuatorLimits = std::vector<signed char>;
ActuatorLimits no_limits(const Model& m);
ActuatorLimits limits_reached(const Model& m, JointState<double> at, const double* controls);

// Of each actuator, and then of each ForceLimit: the power that its limit of force keeps back in a state, (force
// without it − force) times the velocity along it [W]; 0 within it.
std::vector<double> excess_powers(const Model& m, JointState<double> at, const double* inputs);

// Is every actuator that has a limit well within it, at an estimate of the velocity?
bool is_within_limits(const Model& m, JointState<double> at, const double* controls);

// The model while actuators are at these limits: there they are constant forces.
Model at_limits(const Model& m, const ActuatorLimits& limits);

// The same of the rows of a model whose `limits` say so.
template <class R>
void keep_limits(ModelOf<R>& m);

}  // namespace symplectree
