// Forward dynamics and M⁻¹x in O(n) by articulated bodies, with every element of the model.
#pragma once

#include "dynamics/rnea.hpp"

namespace symplectree {

// w.articulated ← the inertia of each body alone. Poses must be there.
template <class R, class T>
void start_articulated(const ModelOf<R>& m, Workspace<T>& w) {
  for (int i = 1; i < m.size(); ++i) {
    const BodyOf<R>& body = m.bodies[i];
    w.articulated[i] = articulated(rotated_columns(w.pose[i].R, cast<T>(body.inertia)), T(body.mass));
  }
}

// Eliminate the coordinates of body i one after the other from its articulated inertia and, with `WithForce`, from
// the wrench w.force[i]; w.u holds the joint forces on entry and what is left of them after.
template <bool WithForce, class R, class T>
inline void eliminate(const ModelOf<R>& m, const BodyOf<R>& body, int i, Workspace<T>& w) {
  ArticulatedInertia<T>& I = w.articulated[i];
  for (int j = body.v; j < body.v + body.nv; ++j) {
    const Spatial<T> W = I * w.S[j];
    const T inverse = T(1) / (dot(w.S[j], W) + T(m.armature[j]));
    subtract_outer(I, inverse, W);
    w.W[j] = W;
    w.pivot_inverse[j] = inverse;
    if constexpr (WithForce) {
      w.u[j] -= dot(w.S[j], w.force[i]);
      w.force[i] += (w.u[j] * inverse) * W;
    }
  }
}

// Solve for the coordinates of body i, last eliminated first, given the acceleration A that its parent and bias give
// it; A grows by what the coordinates add.
template <class R, class T>
inline void solve_body(const BodyOf<R>& body, Spatial<T>& A, T* a, const Workspace<T>& w) {
  for (int j = body.v + body.nv - 1; j >= body.v; --j) {
    a[j] = (w.u[j] - dot(w.W[j], A)) * w.pivot_inverse[j];
    A += a[j] * w.S[j];
  }
}

// a = M⁻¹(τ − bias) by articulated bodies.
template <class T>
void forward_dynamics(const Model& m, JointState<T> at, AppliedForces<T> forces, T* a, Workspace<T>& w) {
  const auto [q, v] = at;
  const auto [tau, inputs] = forces;
  const Vec3<T> gravity(m.gravity);
  sines_and_cosines(q, m.nq, w.sine.data(), w.cosine.data());
  for (int i = 1; i < m.size(); ++i) {
    const Body& body = m.bodies[i];
    place_body<1>(body, q, w.pose[i], w);
    move_body(body, i, v, w);
    const Mat3<T> inertia = rotated_columns(w.pose[i].R, cast<T>(body.inertia));
    w.articulated[i] = articulated(inertia, T(body.mass));
    w.force[i] = velocity_wrench(body, inertia, w.V[i], gravity);
  }
  joint_element_forces(m, q, v, inputs, w);
  if (m.acts_on_bodies()) subtract_element_wrenches(m, inputs, w);
  for (int i = m.size() - 1; i > 0; --i) {
    const Body& body = m.bodies[i];
    for (int j = body.v; j < body.v + body.nv; ++j) w.u[j] = tau[j] + w.joint_force[j] - rotor_force(m, body, j, v);
    eliminate<true>(m, body, i, w);
    if (body.parent == 0) continue;
    w.force[i] += w.articulated[i] * w.bias[i];
    w.articulated[body.parent] += shifted(w.articulated[i], w.pose[i].r);
    w.force[body.parent] += shift_force(w.force[i], w.pose[i].r);
  }
  for (int i = 1; i < m.size(); ++i) {
    const Body& body = m.bodies[i];
    Spatial<T>& A = w.acceleration[i];
    A = shift_motion(w.acceleration[body.parent], w.pose[i].r) + w.bias[i];
    solve_body(body, A, a, w);
  }
}

// Eliminate all coordinates from the mass matrix at q, leaves to root. Poses are computed here, and derivatives of S up
// to `Order`.
template <int Order = 0, class R, class T>
void factorize_mass(const ModelOf<R>& m, const T* q, Workspace<T>& w) {
  compute_poses<Order>(m, q, w);
  start_articulated(m, w);
  for (int i = m.size() - 1; i > 0; --i) {
    const BodyOf<R>& body = m.bodies[i];
    eliminate<false>(m, body, i, w);
    if (body.parent > 0) w.articulated[body.parent] += shifted(w.articulated[i], w.pose[i].r);
  }
}

// y = M⁻¹ x after factorize_mass.
template <class R, class T>
void solve_mass(const ModelOf<R>& m, const T* x, T* y, Workspace<T>& w) {
  for (auto& f : w.force) f = {};
  for (int i = m.size() - 1; i > 0; --i) {
    const BodyOf<R>& body = m.bodies[i];
    for (int j = body.v; j < body.v + body.nv; ++j) {
      w.u[j] = x[j] - dot(w.S[j], w.force[i]);
      w.force[i] += (w.u[j] * w.pivot_inverse[j]) * w.W[j];
    }
    w.force[body.parent] += shift_force(w.force[i], w.pose[i].r);
  }
  for (int i = 1; i < m.size(); ++i) {
    const BodyOf<R>& body = m.bodies[i];
    Spatial<T>& A = w.acceleration[i];
    A = shift_motion(w.acceleration[body.parent], w.pose[i].r);
    solve_body(body, A, y, w);
  }
}

}  // namespace symplectree
