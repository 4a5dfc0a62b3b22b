// An actuator: from the control u the force
//
//   F = clamp(gain · clamp(u) + bias + by_length ℓ + by_rate ℓ̇),   ℓ = Σ factor q
//
// over its transmissions, acts as factor · F on each of their velocities (MuJoCo's affine actuators). Without limits it
// is what a JointForce, a JointSpring and a JointDamper of the same owner do, and these are what steps are made of;
// this row says when limits are reached (elements/actuator.hpp).
#pragma once

#include "model/rows/row_fields.hpp"

namespace symplectree {

template <class R>
struct ActuatorOf {
  int owner, input, first, count;  // of its transmissions
  double gain, bias, by_length, by_rate;
  double control_range[2], force_range[2];  // lower and upper, infinite where there is none

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
                      Field{"force_range", &Row::force_range}};
  }
};
using Actuator = ActuatorOf<double>;

// How one velocity moves with an actuator's length; q −1: the length does not count, as of a Ball or Free joint.
template <class R>
struct TransmissionOf {
  int owner, q, v;
  double factor;

  static constexpr auto fields() {
    using Row = TransmissionOf;
    return std::tuple{Field{"owner", &Row::owner}, Field{"q", &Row::q}, Field{"v", &Row::v},
                      Field{"factor", &Row::factor}};
  }
};
using Transmission = TransmissionOf<double>;

}  // namespace symplectree
