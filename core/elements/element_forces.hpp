// Forces and energies of springs, dampers and loads, added to the bodies and joints they act on: O(1) each.
#pragma once

#include "kinematics/poses_twists.hpp"
#include "model/user_elements.hpp"
#include "scalar/dual.hpp"
#include "scalar/simd_pack.hpp"

namespace symplectree {

// A line element's length and what its potential says there.
template <class T>
struct LineState {
  Vec3<T> d, u;  // from a to b; unit vector of it, zero where the length is zero
  T length, energy, slope, curvature;
  T slope_over_length;  // φ'/ℓ, finite at ℓ = 0 where φ' vanishes there
};

template <class R, class T>
LineState<T> line_state(const LineOf<R>& line, const std::vector<Potential>& potentials, const Vec3<T>& d) {
  using std::sqrt;
  LineState<T> s;
  s.d = d;
  const T square = dot(d, d);
  const bool zero = value_of(square) == 0;
  s.length = zero ? T(0) : sqrt(square);
  if (line.function < 0) {
    const T stretch = s.length - T(line.length);
    s.slope = T(line.stiffness) * stretch;
    s.energy = T(0.5) * s.slope * stretch;
    s.curvature = T(line.stiffness);
  } else {
    double phi[4] = {};
    potentials[line.function].evaluate(value_of(s.length), phi);
    s.energy = lifted(phi[0], phi[1], phi[2], s.length);
    s.slope = lifted(phi[1], phi[2], phi[3], s.length);
    s.curvature = lifted(phi[2], phi[3], 0, s.length);
  }
  const T inverse = zero ? T(0) : T(1) / s.length;
  s.u = inverse * d;
  const bool smooth = value_of(s.slope) == 0 && std::isfinite(value_of(s.curvature));
  s.slope_over_length = !zero ? s.slope * inverse : smooth ? s.curvature : T(0);
  return s;
}

// One after the other: lengths may vanish, and potentials are functions, in each on its own.
template <int W>
LineState<Pack<W>> line_state(const Line& line, const std::vector<Potential>& potentials, const Vec3<Pack<W>>& d) {
  LineState<Pack<W>> out;
  out.d = d;
  for (int k = 0; k < W; ++k) {
    const LineState<double> s = line_state(line, potentials, Vec3<double>{d.x[k], d.y[k], d.z[k]});
    out.u.x.set(k, s.u.x), out.u.y.set(k, s.u.y), out.u.z.set(k, s.u.z);
    out.length.set(k, s.length), out.energy.set(k, s.energy), out.slope.set(k, s.slope);
    out.curvature.set(k, s.curvature), out.slope_over_length.set(k, s.slope_over_length);
  }
  return out;
}

// A wrench row in world axes: torque and force.
template <class R, class T, class U>
Spatial<T> world_wrench(const WrenchOf<R>& row, const U* inputs, const Workspace<T>& w) {
  T c[6];
  for (int k = 0; k < 6; ++k) c[k] = T(row.value[k]) + (row.input[k] >= 0 ? T(inputs[row.input[k]]) : T(0));
  const Spatial<T> given{{c[0], c[1], c[2]}, {c[3], c[4], c[5]}};
  if (row.world_axes) return given;
  const Mat3<T> axes = w.pose[row.point.body].R * cast<T>(row.axes);
  return {axes * given.angular, axes * given.linear};
}

// w.joint_force ← what joint elements and the user's own apply to each velocity at (q, v); the user's forces only when
// they are asked for. Dual numbers do not reach the user's functions.
template <class R, class T, class U>
void joint_element_forces(const ModelOf<R>& m, const T* q, const T* v, const U* inputs, Workspace<T>& w,
                          bool user_forces = true) {
  for (T& f : w.joint_force) f = T(0);
  for (const JointSpringOf<R>& e : m.joint_springs) w.joint_force[e.v] -= T(e.stiffness) * (q[e.q] - T(e.rest));
  for (const JointDamperOf<R>& e : m.joint_dampers) w.joint_force[e.v] -= T(e.damping) * v[e.v];
  for (const JointForceOf<R>& e : m.joint_forces)
    w.joint_force[e.v] += T(e.value) + (e.input >= 0 ? T(inputs[e.input]) : T(0));
  if constexpr (std::is_same_v<T, double>)
    if (!m.users.empty()) add_user_forces(m, q, user_forces ? v : nullptr, w.joint_force.data());
}

// Subtract from w.force, the wrench that motion requires of each body, what line elements and loads supply.
template <class R, class T, class U>
void subtract_element_wrenches(const ModelOf<R>& m, const U* inputs, Workspace<T>& w) {
  const auto act = [&](const PointOf<R>& p, const Vec3<T>& x, const Vec3<T>& f) {
    w.force[p.body] -= force_at(x, f, p.body, w);
  };
  for (const LineOf<R>& line : m.lines) {
    const Vec3<T> a = position(line.a, w), b = position(line.b, w);
    const LineState<T> s = line_state(line, m.potentials, b - a);
    const T rate = dot(s.u, velocity_at(b, line.b.body, w) - velocity_at(a, line.a.body, w));
    const Vec3<T> tension = s.slope_over_length * s.d + (T(line.damping) * rate) * s.u;
    act(line.a, a, tension);
    act(line.b, b, -tension);
  }
  for (const WrenchOf<R>& row : m.wrenches) {
    const Spatial<T> f = world_wrench(row, inputs, w);
    act(row.point, position(row.point, w), f.linear);
    w.force[row.point.body].angular -= f.angular;
  }
}

// Energy of all springs and the user's potentials; poses must be there.
template <class T>
T spring_energy(const Model& m, const T* q, const Workspace<T>& w) {
  T energy(0);
  for (const JointSpring& e : m.joint_springs) {
    const T stretch = q[e.q] - T(e.rest);
    energy += T(0.5 * e.stiffness) * stretch * stretch;
  }
  for (const Line& line : m.lines)
    energy += line_state(line, m.potentials, position(line.b, w) - position(line.a, w)).energy;
  if constexpr (std::is_same_v<T, double>)
    if (!m.users.empty()) energy += user_energy(m, q);
  return energy;
}

}  // namespace symplectree
