// The motion as a flow of (q, p): v = M⁻¹p and D L + f, in O(n).
#pragma once

#include "dynamics.hpp"

namespace symplectree {

// force_j ← D_j T + all generalized forces at (q, v), elements, gravity and τ included. Poses must be there (from
// factorize_mass); twists are computed here. D_j T = P_i · [V_λ, S_j] with P_i the momentum of all that body i carries.
inline void momentum_rate(const Model& m, const double* q, const double* v, const double* tau, const double* inputs,
                          double* force, Workspace<double>& w) {
  compute_velocities(m, v, w);
  for (int i = 1; i < m.size(); ++i) {
    const Body& body = m.bodies[i];
    const Vec3<double> turning = transposed_times(w.pose[i].R, w.V[i].angular);
    w.acceleration[i] = {w.pose[i].R * (body.inertia * turning), body.mass * w.V[i].linear};  // momentum, for a while
    w.force[i] = {{}, -body.mass * m.gravity};
  }
  joint_element_forces(m, q, v, inputs, w);
  if (m.has_lines_or_wrenches()) subtract_element_wrenches(m, inputs, w);
  for (int i = m.size() - 1; i > 0; --i) {
    const Body& body = m.bodies[i];
    const Spatial<double> parent = shift_motion(w.V[body.parent], w.pose[i].r);
    for (int j = body.v; j < body.v + body.nv; ++j)
      force[j] = dot(w.acceleration[i], bracket(parent, w.S[j])) - dot(w.S[j], w.force[i]) + w.joint_force[j] + tau[j];
    if (body.parent == 0) continue;
    w.acceleration[body.parent] += shift_force(w.acceleration[i], w.pose[i].r);
    w.force[body.parent] += shift_force(w.force[i], w.pose[i].r);
  }
}

}  // namespace symplectree
