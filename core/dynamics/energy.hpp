// Energies and spatial momentum, O(n).
#pragma once

#include "dynamics/rnea.hpp"

namespace symplectree {

template <class T>
T potential_energy(const Model& m, const T* q, Workspace<T>& w) {
  compute_poses(m, q, w);
  const Vec3<T> gravity(m.gravity);
  T energy = spring_energy(m, q, w) + T(m.ground_energy);
  for (int i = 1; i < m.size(); ++i) energy -= T(m.bodies[i].mass) * dot(gravity, w.pose[i].x);
  return energy;
}

// T = ½ vᵀ M v; leaves poses and velocities in the workspace.
template <class T>
T kinetic_energy(const Model& m, const T* q, const T* v, Workspace<T>& w) {
  T energy(0);
  sines_and_cosines(q, m.nq, w.sine.data(), w.cosine.data());
  for (int i = 1; i < m.size(); ++i) {
    const Body& body = m.bodies[i];
    place_body(body, q, w.pose[i], w);
    const Spatial<T> V = shift_motion(w.V[body.parent], w.pose[i].r) + joint_twist(body, w.S.data(), v);
    w.V[i] = V;
    const Vec3<T> turning = transposed_times(w.pose[i].R, V.angular);
    energy += T(0.5) * (dot(turning, cast<T>(body.inertia) * turning) + T(body.mass) * dot(V.linear, V.linear));
  }
  for (int j = 0; j < m.nv; ++j) energy += T(0.5 * m.armature[j]) * v[j] * v[j];
  return energy;
}

// Momentum of all bodies in world axes: angular about the world's origin, and linear. Rotor inertia is not counted.
template <class T>
Spatial<T> spatial_momentum(const Model& m, const T* q, const T* v, Workspace<T>& w) {
  compute_poses(m, q, w);
  compute_velocities(m, v, w);
  Spatial<T> total;
  for (int i = 1; i < m.size(); ++i) {
    const Body& body = m.bodies[i];
    const Vec3<T> turning = transposed_times(w.pose[i].R, w.V[i].angular), linear = T(body.mass) * w.V[i].linear;
    total += shift_force(Spatial<T>{w.pose[i].R * (cast<T>(body.inertia) * turning), linear}, w.pose[i].x);
  }
  return total;
}

}  // namespace symplectree
