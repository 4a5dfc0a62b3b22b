// From root to leaves: how the bodies move, and the wrenches that motion requires of them.
#pragma once

#include "kinematics/poses_twists.hpp"
#include "model/joint_state.hpp"

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

// Poses, twists and bias accelerations of all bodies, and in w.force their velocity_wrench; `each(body, i, inertia)`
// follows with the body's inertia in world axes.
template <class F>
inline void sweep_outward(const Model& m, JointState<double> at, Workspace<double>& w, F&& each) {
  const Vec3<double> gravity(m.gravity);
  sines_and_cosines(at.q, m.nq, w.sine.data(), w.cosine.data());
  for (int i = 1; i < m.size(); ++i) {
    const Body& body = m.bodies[i];
    place_body<1>(body, at.q, w.pose[i], w);
    move_body(body, i, at.v, w);
    const Mat3<double> inertia = rotated_columns(w.pose[i].R, body.inertia);
    w.force[i] = velocity_wrench(body, inertia, w.V[i], gravity);
    each(body, i, inertia);
  }
}

}  // namespace symplectree
