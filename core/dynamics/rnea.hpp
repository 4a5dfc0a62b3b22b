// Inverse dynamics and momenta in O(n) by the recursive Newton–Euler algorithm, with every element of the model.
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

// τ = M a + bias: the joint forces needed besides all elements to accelerate by a. Poses are computed here.
void inverse_dynamics(const Model& m, JointState<double> at, const double* a, const double* inputs, double* tau,
                      Workspace<double>& w);

// p = M v in O(n). Poses are computed here.
template <class R, class T>
void momenta(const ModelOf<R>& m, const T* q, const T* v, T* p, Workspace<T>& w);

}  // namespace symplectree
