// What the root finder of a step leaves over of momenta.
#pragma once

#include "kinematics/configurations.hpp"
#include "spatial/so3.hpp"

namespace symplectree {

// p ← p + what the root finder left over of a step from q0 to q1, so that no momentum is lost however early it stops. A
// Free joint's part is carried as the wrench that it is.
inline void keep_remainder(const Model& m, const std::vector<double>& left, const double* q0, const double* q1,
                           double* p) {
  for (int j = 0; j < m.nv; ++j) p[j] += left[j];
  for (int i = 1; i < m.size(); ++i) {
    const Body& b = m.bodies[i];
    if (b.kind != Kind::Free) continue;
    const double *r = &left[b.v], *x0 = q0 + b.q, *x1 = q1 + b.q;
    const auto rotation = [](const double* x) { return quaternion_matrix(x[3], x[4], x[5], x[6]); };
    const Mat3<double> R0 = rotation(x0), R1 = rotation(x1);
    const Vec3<double> f = R0 * Vec3<double>{r[3], r[4], r[5]}, back{x0[0] - x1[0], x0[1] - x1[1], x0[2] - x1[2]};
    const Vec3<double> torque = transposed_times(R1, R0 * Vec3<double>{r[0], r[1], r[2]} + cross(back, f));
    const Vec3<double> force = transposed_times(R1, f);
    const double carried[6] = {torque.x, torque.y, torque.z, force.x, force.y, force.z};
    for (int k = 0; k < 6; ++k) p[b.v + k] += carried[k] - r[k];
  }
}

}  // namespace symplectree
