// Elements between two bodies (model/rows/pair_contract.hpp), whatever their kind: wrenches −(V'(s) + c ṡ) Ds, energy,
// and how the derivative Ds of the gauge changes when the bodies move.
#pragma once

#include "kinematics/poses_twists.hpp"
#include "model/rows/pair_contract.hpp"
#include "scalar/dual.hpp"

namespace symplectree {

template <class Row, class T>
Gauge<T> gauge_of(const Row& row, const Workspace<T>& at) {
  return row.gauge(at.pose[row.a.body], at.pose[row.b.body]);
}

// ṡ for the twists V of the bodies.
template <class Row, class T>
T gauge_rate(const Row& row, const Gauge<T>& g, const std::vector<Spatial<T>>& V) {
  return dot(g.on_a, V[row.a.body]) + dot(g.on_b, V[row.b.body]);
}

// s1 − s0 over a step.
template <class Row, class T>
T gauge_change(const Row& row, const T& s0, const T& s1) {
  if constexpr (requires { row.change(s0, s1); }) {
    return row.change(s0, s1);
  } else {
    return s1 - s0;
  }
}

// to += `size` times Ds.
template <class Row, class T>
void add_gauge(const Row& row, const Gauge<T>& g, const T& size, std::vector<Spatial<T>>& to) {
  to[row.a.body] += size * g.on_a;
  to[row.b.body] += size * g.on_b;
}

// to += `sign` times the wrenches of all pairs, with `spring` times those of the potentials and `damper` times those of
// the dampers; poses and velocities must be in w, which may hold `to` too.
template <class R, class T>
void add_pair_wrenches(const ModelOf<R>& m, const Workspace<T>& w, double sign, double spring, double damper,
                       std::vector<Spatial<T>>& to) {
  m.for_pairs([&](const auto& row) {
    const Gauge<T> g = gauge_of(row, w);
    const T tension = T(spring) * row.slope(g.value) + T(damper * row.damping) * gauge_rate(row, g, w.V);
    add_gauge(row, g, T(-sign) * tension, to);
  });
}

template <class R, class T>
void add_pair_energy(const ModelOf<R>& m, const Workspace<T>& w, T& energy) {
  m.for_pairs([&](const auto& row) { energy += row.energy(gauge_of(row, w).value); });
}

// f(row) of every pair with a damper.
template <class R, class F>
void for_damped_pairs(const ModelOf<R>& m, F&& f) {
  m.for_pairs([&](const auto& row) {
    if (!vanishes(row.damping)) f(row);
  });
}

template <class R>
bool has_damped_pairs(const ModelOf<R>& m) {
  bool found = false;
  for_damped_pairs(m, [&](const auto&) { found = true; });
  return found;
}

// A pose that moves by the twist V.
template <class T>
BodyPose<DualOf<T>> moving_pose(const BodyPose<T>& pose, const Spatial<T>& V) {
  const auto moving = [](const Vec3<T>& x, const Vec3<T>& rate) {
    return Vec3<DualOf<T>>{{x.x, rate.x}, {x.y, rate.y}, {x.z, rate.z}};
  };
  const auto turning = [&](const Vec3<T>& axis) { return moving(axis, cross(V.angular, axis)); };
  return {{turning(pose.R.a), turning(pose.R.b), turning(pose.R.c)}, moving(pose.x, V.linear), {}};
}

// How Ds changes when the bodies move by the twists V_a and V_b; `value` is ṡ.
template <class Row, class T>
Gauge<T> gauge_derivative(const Row& row, const Workspace<T>& at, const Spatial<T>& V_a, const Spatial<T>& V_b) {
  const Gauge<DualOf<T>> g = row.gauge(moving_pose(at.pose[row.a.body], V_a), moving_pose(at.pose[row.b.body], V_b));
  const auto slopes = [](const Spatial<DualOf<T>>& f) {
    return Spatial<T>{{f.angular.x.slope, f.angular.y.slope, f.angular.z.slope},
                      {f.linear.x.slope, f.linear.y.slope, f.linear.z.slope}};
  };
  return {g.value.slope, slopes(g.on_a), slopes(g.on_b)};
}

}  // namespace symplectree
