// What rounding leaves of the residual of a step that compares momenta in the coordinates themselves: M ε |q|/h and the
// rounding of its own terms. Roundings of different coordinates are independent: their squares are summed along the
// tree, and what they make of the bodies' momenta is swept back.
#pragma once

#include <cmath>
#include <vector>

#include "model/workspace.hpp"

namespace symplectree {

class MomentumNoise {
 public:
  explicit MomentumNoise(const Model& m) : m_(m), noise_(m.size()) {}

  // Is the residual r, made of terms of the sizes in `scale`, below `factor` times its rounding? rounding(b, j): of
  // velocity j of body b, in units of ε; w: poses and joint axes of a configuration near the step.
  template <class Rounding>
  bool covers(const Workspace<double>& w, const std::vector<double>& r, const std::vector<double>& scale, double factor,
              Rounding&& rounding) {
    for (int i = 1; i < m_.size(); ++i) gather(m_.bodies[i], i, w, rounding);
    for (int i = m_.size() - 1; i > 0; --i) {
      const Body& b = m_.bodies[i];
      const Noise& n = noise_[i];
      for (int j = b.v; j < b.v + b.nv; ++j) {
        const double noise = size(w.S[j].angular) * n.torque + size(w.S[j].linear) * n.force +
                             m_.armature[j] * rounding(b, j) + scale[j];
        if (!(std::fabs(r[j]) <= factor * 2.2e-16 * noise)) return false;
      }
      if (b.parent == 0) continue;
      noise_[b.parent].torque += n.torque + size(w.pose[i].r) * n.force;
      noise_[b.parent].force += n.force;
    }
    return true;
  }

 private:
  // Of a body: sums over the coordinates that move it of their squared rates of rotation, the same times the path from
  // the joint, and squared velocities; and the momenta of all that it carries.
  struct Noise {
    double rotation = 0, velocity = 0, torque = 0, force = 0;
    Vec3<double> arm;
  };

  static double size(const Vec3<double>& a) { return std::sqrt(dot(a, a)); }

  template <class Rounding>
  void gather(const Body& b, int i, const Workspace<double>& w, Rounding&& rounding) {
    const Vec3<double>& r = w.pose[i].r;
    Noise n = noise_[b.parent];
    n.velocity += 2 * dot(n.arm, r) + n.rotation * dot(r, r);
    n.arm += n.rotation * r;
    for (int j = b.v; j < b.v + b.nv; ++j) {
      const double e = rounding(b, j);
      n.rotation += e * e * dot(w.S[j].angular, w.S[j].angular);
      n.velocity += e * e * dot(w.S[j].linear, w.S[j].linear);
      n.arm += (e * e) * cross(w.S[j].linear, w.S[j].angular);
    }
    n.torque = (b.inertia.xx + b.inertia.yy + b.inertia.zz) * std::sqrt(n.rotation);
    n.force = b.mass * std::sqrt(std::max(0.0, n.velocity));
    noise_[i] = n;
  }

  const Model& m_;
  std::vector<Noise> noise_;  // [0], of the world, stays zero
};

// Of velocity j of body b, which moves with v from coordinates that end at q1, in units of ε.
inline double coordinate_rounding(const Body& b, int j, double v, double h, const double* q1) {
  const double coordinate = b.flat()                               ? q1[b.q + j - b.v]
                            : b.kind == Kind::Free && j >= b.v + 3 ? q1[b.q + j - b.v - 3]
                                                                   : 1.0;
  return std::fabs(v) + std::max(1e-3, std::fabs(coordinate)) / h;
}

}  // namespace symplectree
