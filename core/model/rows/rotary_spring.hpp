// A torsion spring and damper between two bodies: V = ½ k (θ − rest)², torque k (θ − rest) + c θ̇.
//
// The axis is fixed in either body, as n_a and n_b, and so is a side at right angles to it, e_a and e_b. θ is the twist
// in the swing-twist decomposition: the rotation that takes (n_a, e_a) to (n_b, e_b) is a turn by θ about n_a followed
// by the shortest one that takes n_a to n_b. Of its unit quaternion (w, v), θ = 2 atan2(n·v, w), and
//
//   θ̇ = g·(ω_b − ω_a),   g = (n_a + n_b)/(1 + n_a·n_b).
//
// It is taken on the branch within half a turn of `rest`. Where n_b = −n_a it is not defined, and g is infinite.
#pragma once

#include "model/rows/pair_contract.hpp"

namespace symplectree {

template <class R>
struct RotarySpringOf {
  Axis a, b, side_a, side_b;  // n and e
  R damping, stiffness, rest;
  int owner;

  static constexpr auto fields() {
    using Row = RotarySpringOf;
    return std::tuple{Field{"owner", &Row::owner},
                      Field{"damping", &Row::damping},
                      Field{"a", &Row::a},
                      Field{"b", &Row::b},
                      Field{"side_a", &Row::side_a},
                      Field{"side_b", &Row::side_b},
                      Field{"stiffness", &Row::stiffness},
                      Field{"rest", &Row::rest}};
  }
  void place(const BodiesOf<R>& bodies) {
    for (Axis* axis : {&a, &b, &side_a, &side_b}) *axis = placed(bodies, *axis);
  }

  template <class T>
  Gauge<T> gauge(const BodyPose<T>& pose_a, const BodyPose<T>& pose_b) const {
    using std::atan2;
    const auto world = [](const BodyPose<T>& pose, const Axis& axis) { return pose.R * Vec3<T>(axis.along); };
    const Vec3<T> n_a = world(pose_a, a), n_b = world(pose_b, b);
    const Vec3<T> a1 = world(pose_a, side_a), a2 = cross(n_a, a1), b1 = world(pose_b, side_b), b2 = cross(n_b, b1);
    const T angle = atan2(dot(a2, b1) - dot(a1, b2), dot(a1, b1) + dot(a2, b2));
    const Vec3<T> n = n_a + n_b;
    return {T(rest) + nearest(angle - T(rest)), T(1) / (T(1) + dot(n_a, n_b)), {-n, {}}, {n, {}}};
  }
  template <class T>
  T energy(const T& angle, const Functions&) const {
    const T turned = angle - T(rest);
    return T(0.5 * stiffness) * turned * turned;
  }
  template <class T>
  T tension(const Gauge<T>& g, const Functions&) const {
    return T(stiffness) * (g.value - T(rest)) * g.scale;
  }
  bool elastic() const { return !vanishes(stiffness); }
  template <class T>
  T change(const T& angle0, const T& angle1) const {
    return nearest(angle1 - angle0);
  }

 private:
  // The angle less whole turns, within half a turn of zero.
  template <class T>
  static T nearest(const T& angle) {
    using std::round;
    constexpr double kTurn = 6.283185307179586;
    return angle - T(kTurn) * round(T(1 / kTurn) * angle);
  }
};
using RotarySpring = RotarySpringOf<double>;

}  // namespace symplectree
