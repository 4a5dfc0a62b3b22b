// How the tension of a spring or damper between two points changes when its ends move.
#pragma once

#include "integrators/midpoint/midpoint_state.hpp"

namespace symplectree {

// How the tension of a line changes: by `stiffness` with the difference of its ends' ways (springs), by `turning` with
// the same and by `damping` with that of their velocities (dampers).
struct LineChange {
  int body[2];
  Vec3<double> arm[2], velocity[2];  // of the ends a and b, from the body's centre
  Mat3<double> stiffness, turning, damping;
};

inline Mat3<double> outer(const Vec3<double>& u, const Vec3<double>& v) { return {v.x * u, v.y * u, v.z * u}; }

inline LineChange line_change(const Model& m, const Line& line, const Workspace<double>& at) {
  const Vec3<double> a = position(line.a, at), b = position(line.b, at);
  const LineState<double> s = line_state(line, m.potentials, b - a);
  const Vec3<double> va = velocity_at(a, line.a.body, at), vb = velocity_at(b, line.b.body, at), along = vb - va;
  const Mat3<double> uu = outer(s.u, s.u), one = Mat3<double>::identity();
  const Mat3<double> across{one.a - uu.a, one.b - uu.b, one.c - uu.c};
  LineChange out{{line.a.body, line.b.body},
                 {a - at.pose[line.a.body].x, b - at.pose[line.b.body].x},
                 {va, vb},
                 scaled(s.curvature, uu) + scaled(s.slope_over_length, across),
                 {},
                 {}};
  if (line.damping == 0 || s.length == 0) return out;
  const double rate = dot(s.u, along), k = line.damping / s.length;
  out.turning = outer(s.u, k * (along - rate * s.u)) + scaled(k * rate, across);
  out.damping = scaled(line.damping, uu);
  return out;
}

}  // namespace symplectree
