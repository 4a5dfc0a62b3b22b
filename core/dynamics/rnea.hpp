// Inverse dynamics and momenta in O(n) by the recursive Newton–Euler algorithm, with every element of the model.
#pragma once

#include "elements/element_forces.hpp"

namespace symplectree {

// The wrench that motion requires of body i beyond what is proportional to its acceleration: gyroscopic, and gravity.
template <class T>
inline Spatial<T> velocity_wrench(const Body& body, const Mat3<T>& inertia, const Spatial<T>& V,
                                  const Vec3<T>& gravity) {
  return {cross(V.angular, inertia * V.angular), T(-body.mass) * gravity};
}

// Rotor inertia of a Free joint is that of ½ a |V|²: its Euler–Poincaré equation has a ω × v in the linear part.
template <class T>
inline T rotor_force(const Model& m, const Body& body, int j, const T* v) {
  if (body.kind != Kind::Free || m.armature[j] == 0 || j < body.v + 3) return T(0);
  const T* t = v + body.v;
  const int k = j - body.v - 3, k1 = (k + 1) % 3, k2 = (k + 2) % 3;
  return T(m.armature[j]) * (t[k1] * t[3 + k2] - t[k2] * t[3 + k1]);
}

// τ = M a + bias: the joint forces needed besides all elements to accelerate by a. Poses are computed here.
template <class T>
void inverse_dynamics(const Model& m, JointState<T> at, const T* a, const double* inputs, T* tau, Workspace<T>& w) {
  const auto [q, v] = at;
  const Vec3<T> gravity(m.gravity);
  sines_and_cosines(q, m.nq, w.sine.data(), w.cosine.data());
  for (int i = 1; i < m.size(); ++i) {
    const Body& body = m.bodies[i];
    place_body<1>(body, q, w.pose[i], w);
    move_body(body, i, v, w);
    Spatial<T> A = shift_motion(w.acceleration[body.parent], w.pose[i].r) + w.bias[i];
    for (int j = body.v; j < body.v + body.nv; ++j) A += a[j] * w.S[j];
    w.acceleration[i] = A;
    const Mat3<T> inertia = rotated_columns(w.pose[i].R, cast<T>(body.inertia));
    w.force[i] = velocity_wrench(body, inertia, w.V[i], gravity);
    w.force[i] += {inertia * A.angular, T(body.mass) * A.linear};
  }
  joint_element_forces(m, q, v, inputs, w);
  if (m.acts_on_bodies()) subtract_element_wrenches(m, inputs, w);
  for (int i = m.size() - 1; i > 0; --i) {
    const Body& body = m.bodies[i];
    for (int j = body.v; j < body.v + body.nv; ++j)
      tau[j] = dot(w.S[j], w.force[i]) - w.joint_force[j] + T(m.armature[j]) * a[j] + rotor_force(m, body, j, v);
    w.force[body.parent] += shift_force(w.force[i], w.pose[i].r);
  }
}

// p = M v in O(n). Poses are computed here.
template <class R, class T>
void momenta(const ModelOf<R>& m, const T* q, const T* v, T* p, Workspace<T>& w) {
  sines_and_cosines(q, m.nq, w.sine.data(), w.cosine.data());
  for (int i = 1; i < m.size(); ++i) {
    const BodyOf<R>& body = m.bodies[i];
    place_body(body, q, w.pose[i], w);
    w.V[i] = shift_motion(w.V[body.parent], w.pose[i].r) + joint_twist(body, w.S.data(), v);
    w.force[i] = {rotated(w.pose[i].R, cast<T>(body.inertia)) * w.V[i].angular, T(body.mass) * w.V[i].linear};
  }
  for (int i = m.size() - 1; i > 0; --i) {
    const BodyOf<R>& body = m.bodies[i];
    for (int j = body.v; j < body.v + body.nv; ++j) p[j] = dot(w.S[j], w.force[i]) + T(m.armature[j]) * v[j];
    w.force[body.parent] += shift_force(w.force[i], w.pose[i].r);
  }
}

}  // namespace symplectree
