// The motion as a flow of (q, p): v = M⁻¹p and D L + f, in O(n).
#pragma once

#include "dynamics/articulated_body.hpp"
#include "elements/element_forces.hpp"
#include "kinematics/poses_twists.hpp"

namespace symplectree {

// Poses at q, and inertias of bodies on their own. Of formulas also derivatives of S up to `Order`.
template <int Order = 0, class T>
void place_bodies(const Model& m, const T* q, Workspace<T>& w) {
  sines_and_cosines(q, m.nq, w.sine.data(), w.cosine.data());
  for (int i = 1; i < m.size(); ++i) {
    const Body& body = m.bodies[i];
    place_body<Order>(body, q, w.pose[i], w);
    w.articulated[i] = articulated(rotated_columns(w.pose[i].R, cast<T>(body.inertia)), T(body.mass));
  }
}

// v = M⁻¹ p after place_bodies, with twists left in w: one sweep to the root, one back to the leaves.
template <class T>
void eliminate_momentum(const Model& m, const T* p, T* v, Workspace<T>& w) {
  for (int i = 1; i < m.size(); ++i) w.force[i] = {};
  for (int i = m.size() - 1; i > 0; --i) {
    const Body& body = m.bodies[i];
    for (int j = body.v; j < body.v + body.nv; ++j) w.u[j] = p[j];
    eliminate<true>(m, body, i, w);
    if (body.parent == 0) continue;
    w.articulated[body.parent] += shifted(w.articulated[i], w.pose[i].r);
    w.force[body.parent] += shift_force(w.force[i], w.pose[i].r);
  }
  for (int i = 1; i < m.size(); ++i) {
    const Body& body = m.bodies[i];
    w.V[i] = shift_motion(w.V[body.parent], w.pose[i].r);
    solve_body(body, w.V[i], v, w);
  }
}

// v = M(q)⁻¹ p, with poses and twists left in w: one sweep to the leaves, one back, one to the leaves again.
template <int Order = 0, class T>
void velocity_of_momentum(const Model& m, const T* q, const T* p, T* v, Workspace<T>& w) {
  place_bodies<Order>(m, q, w);
  eliminate_momentum(m, p, v, w);
}

// The same for another momentum at the q of the last elimination.
template <class T>
void velocity_again(const Model& m, const T* p, T* v, Workspace<T>& w) {
  for (int i = 1; i < m.size(); ++i) w.force[i] = {};
  for (int i = m.size() - 1; i > 0; --i) {
    const Body& body = m.bodies[i];
    for (int j = body.v; j < body.v + body.nv; ++j) {
      w.u[j] = p[j] - dot(w.S[j], w.force[i]);
      w.force[i] += (w.u[j] * w.pivot_inverse[j]) * w.W[j];
    }
    if (body.parent > 0) w.force[body.parent] += shift_force(w.force[i], w.pose[i].r);
  }
  for (int i = 1; i < m.size(); ++i) {
    const Body& body = m.bodies[i];
    w.V[i] = shift_motion(w.V[body.parent], w.pose[i].r);
    solve_body(body, w.V[i], v, w);
  }
}

// pᵀ M⁻¹ p after velocity_of_momentum at the same q, whatever its momenta: Σ u_j² / d_j with M = U D Uᵀ, in one sweep.
template <class T>
T twice_kinetic_energy(const Model& m, const T* p, Workspace<T>& w) {
  T sum(0);
  for (auto& f : w.force) f = {};
  for (int i = m.size() - 1; i > 0; --i) {
    const Body& body = m.bodies[i];
    for (int j = body.v; j < body.v + body.nv; ++j) {
      const T u = p[j] - dot(w.S[j], w.force[i]), share = u * w.pivot_inverse[j];
      w.force[i] += share * w.W[j];
      sum += u * share;
    }
    if (body.parent > 0) w.force[body.parent] += shift_force(w.force[i], w.pose[i].r);
  }
  return sum;
}

// force_j ← D_j T + all generalized forces at (q, v), elements, gravity and τ included, after
// velocity_of_momentum<1>. D_j T = P_i · Z_j with P_i the momentum of all that body i carries, Z_j of velocity_change.
template <class T>
void momentum_rate(const Model& m, JointState<T> at, AppliedForces<double> forces, T* force, Workspace<T>& w) {
  const auto [q, v] = at;
  const auto [tau, inputs] = forces;
  for (int i = 1; i < m.size(); ++i) {
    const Body& body = m.bodies[i];
    const Vec3<T> turning = transposed_times(w.pose[i].R, w.V[i].angular);
    w.acceleration[i] = {w.pose[i].R * (cast<T>(body.inertia) * turning), T(body.mass) * w.V[i].linear};  // momentum
    w.force[i] = {{}, Vec3<T>(-body.mass * m.gravity)};
  }
  joint_element_forces(m, q, v, inputs, w);
  if (m.acts_on_bodies()) subtract_element_wrenches(m, inputs, w);
  for (int i = m.size() - 1; i > 0; --i) {
    const Body& body = m.bodies[i];
    const Spatial<T> parent = shift_motion(w.V[body.parent], w.pose[i].r);
    for (int k = 0; k < body.nv; ++k) {
      const int j = body.v + k;
      force[j] = dot(w.acceleration[i], velocity_change(body, k, parent, v, w)) - dot(w.S[j], w.force[i]) +
                 w.joint_force[j] + T(tau[j]);
    }
    if (body.parent == 0) continue;
    w.acceleration[body.parent] += shift_force(w.acceleration[i], w.pose[i].r);
    w.force[body.parent] += shift_force(w.force[i], w.pose[i].r);
  }
}

}  // namespace symplectree
