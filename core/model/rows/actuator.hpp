// An actuator: from the control u the force
//
//   F = clamp(gain · clamp(u) + bias + by_length ℓ + by_rate ℓ̇),   ℓ = Σ factor q
//
// over its transmissions, acts as factor · F on each of their velocities (MuJoCo's affine actuators). Without limits it
// is what a JointForce, a JointSpring and a JointDamper of the same owner do, and these are what steps are made of;
// this row says when limits are reached (elements/actuator.hpp). With dynamics, an activation that follows the control
// acts in its place (elements/activation.hpp). A row without transmissions has nothing but these dynamics.
#pragma once

#include "model/rows/row_fields.hpp"

namespace symplectree {

// Of an activation a under the control u: none, ȧ = (u − a)/time_constant, ȧ = u.
enum ActivationDynamics { kDirect = 0, kFilter = 1, kIntegrator = 2 };

template <class R>
struct ActuatorOf {
  int owner, input, first, count;  // of its transmissions
  double gain, bias, by_length, by_rate;
  double control_range[2], force_range[2];  // lower and upper, infinite where there is none
  int dynamics;                             // of its activation, see ActivationDynamics
  double time_constant;                     // of a filter [s]
  double activation_range[2];

  static constexpr auto fields() {
    using Row = ActuatorOf;
    return std::tuple{Field{"owner", &Row::owner},
                      Field{"input", &Row::input},
                      Field{"first", &Row::first},
                      Field{"count", &Row::count},
                      Field{"gain", &Row::gain},
                      Field{"bias", &Row::bias},
                      Field{"by_length", &Row::by_length},
                      Field{"by_rate", &Row::by_rate},
                      Field{"control_range", &Row::control_range},
                      Field{"force_range", &Row::force_range},
                      Field{"dynamics", &Row::dynamics},
                      Field{"time_constant", &Row::time_constant},
                      Field{"activation_range", &Row::activation_range}};
  }
};
using Actuator = ActuatorOf<double>;

// How one velocity moves with an actuator's length; q −1: the length does not count, as of a Ball or Free joint.
template <class R>
struct TransmissionOf {
  int owner, q, v;
  R factor;

  static constexpr auto fields() {
    using Row = TransmissionOf;
    return std::tuple{Field{"owner", &Row::owner}, Field{"q", &Row::q}, Field{"v", &Row::v},
                      Field{"factor", &Row::factor}};
  }
};
using Transmission = TransmissionOf<double>;

// The range that the forces of all actuators on one velocity keep to together.
template <class R>
struct ForceLimitOf {
  int owner, v;
  double force_range[2];  // lower and upper, infinite where there is none

  static constexpr auto fields() {
    using Row = ForceLimitOf;
    return std::tuple{Field{"owner", &Row::owner}, Field{"v", &Row::v}, Field{"force_range", &Row::force_range}};
  }
};
using ForceLimit = ForceLimitOf<double>;

}  // namespace symplectree
