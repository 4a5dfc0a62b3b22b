// Forces and energies of springs, dampers and loads, added to the bodies and joints they act on: O(1) each.
#pragma once

#include "elements/actuator.hpp"
#include "elements/joint_damper.hpp"
#include "elements/joint_force.hpp"
#include "elements/joint_spring.hpp"
#include "elements/pair_elements.hpp"
#include "elements/wrench.hpp"
#include "kinematics/poses_twists.hpp"
#include "model/joint_state.hpp"
#include "model/user_elements.hpp"

namespace symplectree {

// force (nv) += the forces of joint springs, which are conservative, and those of dampers and motors, times their
// shares.
template <class R, class T, class U>
void add_joint_forces(const ModelOf<R>& m, JointState<T> at, const U* inputs, ForceShares shares, T* force) {
  for (const JointSpringOf<R>& e : m.joint_springs) add_force(e, at.q, shares.conservative, force);
  for (const JointDamperOf<R>& e : m.joint_dampers) add_force(e, at.v, shares.other, force);
  for (const JointForceOf<R>& e : m.joint_forces) add_force(e, inputs, shares.other, force);
}

// w.joint_force ← what joint elements and the user's own apply to each velocity at (q, v); the user's forces, and
// limits of actuators, only when they are asked for. Dual numbers do not reach the user's functions.
template <class R, class T, class U>
void joint_element_forces(const ModelOf<R>& m, const T* q, const T* v, const U* inputs, Workspace<T>& w,
                          bool user_forces = true) {
  for (T& f : w.joint_force) f = T(0);
  add_joint_forces(m, {q, v}, inputs, {.conservative = 1, .other = 1}, w.joint_force.data());
  if constexpr (std::is_same_v<T, double>)
    if (!m.users.empty()) add_user_forces(m, q, user_forces ? v : nullptr, w.joint_force.data());
  if (user_forces && !m.actuators.empty()) add_limits(m, {q, v}, inputs, w.joint_force.data());
}

// Subtract from w.force, the wrench that motion requires of each body, what pairs and loads supply.
template <class R, class T, class U>
void subtract_element_wrenches(const ModelOf<R>& m, const U* inputs, Workspace<T>& w) {
  const auto act = [&](const PointOf<R>& p, const Vec3<T>& x, const Vec3<T>& f) {
    w.force[p.body] -= force_at(x, f, p.body, w);
  };
  for (const WrenchOf<R>& row : m.wrenches) {
    const Spatial<T> f = world_wrench(row, inputs, w);
    act(row.point, position(row.point, w), f.linear);
    w.force[row.point.body].angular -= f.angular;
  }
  add_pair_wrenches(m, w, -1, 1, 1, w.force);
}

// Energy of all springs and the user's potentials; poses must be there.
template <class T>
T spring_energy(const Model& m, const T* q, const Workspace<T>& w) {
  T energy(0);
  for (const JointSpring& e : m.joint_springs) add_energy(e, q, energy);
  add_pair_energy(m, w, energy);
  if constexpr (std::is_same_v<T, double>)
    if (!m.users.empty()) energy += user_energy(m, q);
  return energy;
}

}  // namespace symplectree
