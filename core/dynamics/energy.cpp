// Energies and spatial momentum.
#include "dynamics/energy.hpp"

#include "elements/element_forces.hpp"
#include "kinematics/poses_twists.hpp"

namespace symplectree {

double potential_energy(const Model& m, const double* q, Workspace<double>& w) {
  compute_poses(m, q, w);
  double energy = spring_energy(m, q, w) + m.ground_energy;
  for (int i = 1; i < m.size(); ++i) energy -= m.bodies[i].mass * dot(m.gravity, w.pose[i].x);
  return energy;
}

double kinetic_energy(const Model& m, const double* q, const double* v, Workspace<double>& w) {
  double energy = 0;
  sines_and_cosines(q, m.nq, w.sine.data(), w.cosine.data());
  for (int i = 1; i < m.size(); ++i) {
    const Body& body = m.bodies[i];
    place_body(body, q, w.pose[i], w);
    const Spatial<double> V = shift_motion(w.V[body.parent], w.pose[i].r) + joint_twist(body, w.S.data(), v);
    w.V[i] = V;
    const Vec3<double> turning = transposed_times(w.pose[i].R, V.angular);
    energy += 0.5 * (dot(turning, body.inertia * turning) + body.mass * dot(V.linear, V.linear));
  }
  for (int j = 0; j < m.nv; ++j) energy += 0.5 * m.armature[j] * v[j] * v[j];
  return energy;
}

Spatial<double> spatial_momentum(const Model& m, const double* q, const double* v, Workspace<double>& w) {
  compute_poses(m, q, w);
  compute_velocities(m, v, w);
  Spatial<double> total;
  for (int i = 1; i < m.size(); ++i) {
    const Body& body = m.bodies[i];
    const Vec3<double> turning = transposed_times(w.pose[i].R, w.V[i].angular), linear = body.mass * w.V[i].linear;
    total += shift_force(Spatial<double>{w.pose[i].R * (body.inertia * turning), linear}, w.pose[i].x);
  }
  return total;
}

}  // namespace symplectree
