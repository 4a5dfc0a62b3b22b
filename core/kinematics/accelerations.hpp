// How bodies accelerate, in world axes at the centres of mass; gravity is no part of it.
#pragma once

#include "kinematics/poses_twists.hpp"

namespace symplectree {

// Poses, twists and accelerations of all bodies at (q, v, a): the way out of the recursive Newton–Euler algorithm.
template <class T>
void compute_accelerations(const Model& m, const T* q, const T* v, const T* a, Workspace<T>& w) {
  sines_and_cosines(q, m.nq, w.sine.data(), w.cosine.data());
  for (int i = 1; i < m.size(); ++i) {
    const Body& body = m.bodies[i];
    place_body<1>(body, q, w.pose[i], w);
    move_body(body, i, v, w);
    w.acceleration[i] =
        shift_motion(w.acceleration[body.parent], w.pose[i].r) + w.bias[i] + joint_twist(body, w.S.data(), a);
  }
}

// Acceleration of a world point that moves with body i.
template <class T>
Vec3<T> acceleration_at(const Vec3<T>& x, int i, const Workspace<T>& w) {
  const Vec3<T> d = x - w.pose[i].x;
  return w.acceleration[i].linear + cross(w.acceleration[i].angular, d) +
         cross(w.V[i].angular, cross(w.V[i].angular, d));
}

}  // namespace symplectree
