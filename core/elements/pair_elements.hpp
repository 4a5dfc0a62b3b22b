// Elements between two bodies (model/rows/pair_contract.hpp), whatever their kind: wrenches −(V'(s) + c ṡ) Ds, energy,
// and how the derivative Ds of the gauge changes when the bodies move.
#pragma once

#include "model/rows/pair_rows.hpp"
#include "model/workspace.hpp"
#include "scalar/dual.hpp"

namespace symplectree {

template <class Row, class T>
Gauge<T> gauge_of(const Row& row, const Workspace<T>& at) {
  return row.gauge(held(row.a, at.pose[row.a.body]), held(row.b, at.pose[row.b.body]));
}

// ṡ for the twists V of the bodies.
template <class Row, class T>
T gauge_rate(const Row& row, const Gauge<T>& g, const std::vector<Spatial<T>>& V) {
  return g.rate(V[row.a.body], V[row.b.body]);
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

// to += `size` times (a, b) of the gauge.
template <class Row, class T>
void add_gauge(const Row& row, const Gauge<T>& g, const T& size, std::vector<Spatial<T>>& to) {
  to[row.a.body] += size * g.a;
  to[row.b.body] += size * g.b;
}

// act(row, gauge, spring, damper) of every pair, whose wrenches are −(spring + damper) (a, b); poses and velocities
// must be in w.
template <class R, class T, class F>
void for_pair_tensions(const ModelOf<R>& m, const Workspace<T>& w, F&& act) {
  m.for_pairs([&](const auto& row) {
    const Gauge<T> g = gauge_of(row, w);
    const T damper = vanishes(row.damping) ? T(0) : T(row.damping) * gauge_rate(row, g, w.V) * g.scale;
    act(row, g, row.elastic() ? row.tension(g, m.potentials) : T(0), damper);
  });
}

// to += `sign` times the wrenches of all pairs, with `spring` times those of the potentials and `damper` times those of
// the dampers; poses and velocities must be in w, which may hold `to` too.
template <class R, class T>
void add_pair_wrenches(const ModelOf<R>& m, const Workspace<T>& w, double sign, double spring, double damper,
                       std::vector<Spatial<T>>& to) {
  for_pair_tensions(m, w, [&](const auto& row, const Gauge<T>& g, const T& of_spring, const T& of_damper) {
    add_gauge(row, g, T(-sign * spring) * of_spring + T(-sign * damper) * of_damper, to);
  });
}

template <class R, class T>
void add_pair_energy(const ModelOf<R>& m, const Workspace<T>& w, T& energy) {
  m.for_pairs([&](const auto& row) { energy += row.energy(gauge_of(row, w).value, m.potentials); });
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

// What a gauge is a function of, moving by the body's twist V.
template <class T>
Vec3<DualOf<T>> moving(const Vec3<T>& x, const Vec3<T>& rate) {
  return {{x.x, rate.x}, {x.y, rate.y}, {x.z, rate.z}};
}
template <class T>
HeldPoint<DualOf<T>> moving(const HeldPoint<T>& p, const Spatial<T>& V) {
  const Vec3<T> turn = cross(V.angular, p.arm);
  return {moving(p.arm, turn), moving(p.x, V.linear + turn)};
}
template <class T>
BodyPose<DualOf<T>> moving(const BodyPose<T>& pose, const Spatial<T>& V) {
  const auto turning = [&](const Vec3<T>& axis) { return moving(axis, cross(V.angular, axis)); };
  return {{turning(pose.R.a), turning(pose.R.b), turning(pose.R.c)}, moving(pose.x, V.linear), {}};
}

// The gauge while the bodies move by the twists V_a and V_b.
template <class Row, class T>
Gauge<DualOf<T>> moving_gauge(const Row& row, const Workspace<T>& at, const Spatial<T>& V_a, const Spatial<T>& V_b) {
  return row.gauge(moving(held(row.a, at.pose[row.a.body]), V_a), moving(held(row.b, at.pose[row.b.body]), V_b));
}

template <class T>
Spatial<T> value_parts(const Spatial<DualOf<T>>& f) {
  return {{f.angular.x.value, f.angular.y.value, f.angular.z.value},
          {f.linear.x.value, f.linear.y.value, f.linear.z.value}};
}
template <class T>
Spatial<T> slope_parts(const Spatial<DualOf<T>>& f) {
  return {{f.angular.x.slope, f.angular.y.slope, f.angular.z.slope},
          {f.linear.x.slope, f.linear.y.slope, f.linear.z.slope}};
}

}  // namespace symplectree
