// What rounding leaves of the residual of a step that compares momenta in the coordinates themselves: M ε |q|/h and the
// rounding of its own terms. Roundings of different coordinates are independent: their squares are summed along the
// tree, and what they make of the bodies' momenta is swept back.
#pragma once

#include <cmath>
#include <vector>

#include "elements/joint_damper.hpp"
#include "elements/pair_elements.hpp"
#include "model/user_elements.hpp"

namespace symplectree {

// noise (nv) += `half` Σ_k |∂f_j/∂v_k| rounding(k) of the user's forces at (q, v): what rounding of velocities makes of
// their impulses.
template <class Rounding>
void add_user_noise(const Model& m, double half, const double* q, const double* v, Rounding&& rounding,
                    std::vector<double>& noise) {
  UserTerms t;
  for (const UserElement& u : m.users) {
    if (u.kind != UserElement::Force) continue;
    const int n = u.size();
    t.evaluate(u, 2, q, v);
    for (int e = 0; e < n * n; ++e) noise[u.v[e / n]] += half * std::fabs(t.second[e]) * rounding(u.v[e % n]);
  }
}

// A step of h with velocities v, about the configuration q with poses and joint axes in w.
struct NoisyStep {
  double h;
  const double *q, *v;
  const Workspace<double>& w;
};

class MomentumNoise {
 public:
  explicit MomentumNoise(const Model& m)
      : m_(m), damping_(joint_damping(m)), damped_pairs_(has_damped_pairs(m)), noise_(m.size()), drag_(m.nv),
        gradient_(m.nv) {}

  // Is the residual r, made of terms of the sizes in `scale`, below `factor` times its rounding? rounding(b, j): of
  // velocity j of body b, in units of ε.
  template <class Rounding>
  bool covers(const NoisyStep& step, const std::vector<double>& r, const std::vector<double>& scale, double factor,
              Rounding&& rounding) {
    const Workspace<double>& w = step.w;
    measure_drag(step, [&](int j) { return rounding(m_.bodies[m_.body_of[j]], j); });
    for (int i = 1; i < m_.size(); ++i) gather(m_.bodies[i], i, w, rounding);
    for (int i = m_.size() - 1; i > 0; --i) {
      const Body& b = m_.bodies[i];
      const Noise& n = noise_[i];
      for (int j = b.v; j < b.v + b.nv; ++j) {
        const double noise = size(w.S[j].angular) * n.torque + size(w.S[j].linear) * n.force +
                             m_.armature[j] * rounding(b, j) + drag_[j] + scale[j];
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

  // drag_ ← what rounding of velocities makes of the impulses of dampers.
  template <class Rounding>
  void measure_drag(const NoisyStep& step, Rounding&& rounding) {
    const double half = 0.5 * std::fabs(step.h);
    for (int j = 0; j < m_.nv; ++j) drag_[j] = half * std::fabs(damping_[j]) * rounding(j);
    if (m_.user_forces) add_user_noise(m_, half, step.q, step.v, rounding, drag_);
    if (!damped_pairs_) return;
    for_damped_pairs(m_, [&](const auto& row) {
      const Gauge<double> g = gauge_of(row, step.w);
      std::fill(gradient_.begin(), gradient_.end(), 0.0);
      double rate = 0;
      for (auto [i, f] : {std::pair{row.a.body, g.on_a()}, {row.b.body, g.on_b()}})
        for (; i > 0; f = shift_force(f, step.w.pose[i].r), i = m_.bodies[i].parent)
          for (int j = m_.bodies[i].v; j < m_.bodies[i].v + m_.bodies[i].nv; ++j)
            gradient_[j] += std::fabs(dot(step.w.S[j], f));
      for (int j = 0; j < m_.nv; ++j) rate += gradient_[j] * rounding(j);
      for (int j = 0; j < m_.nv; ++j) drag_[j] += half * std::fabs(row.damping) * gradient_[j] * rate;
    });
  }

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
  std::vector<double> damping_;
  bool damped_pairs_;
  std::vector<Noise> noise_;  // [0], of the world, stays zero
  std::vector<double> drag_, gradient_;
};

// Of velocity j of body b, which moves with v from coordinates that end at q1, in units of ε.
inline double coordinate_rounding(const Body& b, int j, double v, double h, const double* q1) {
  const double coordinate = b.flat()                               ? q1[b.q + j - b.v]
                            : b.kind == Kind::Free && j >= b.v + 3 ? q1[b.q + j - b.v - 3]
                                                                   : 1.0;
  return std::fabs(v) + std::max(1e-3, std::fabs(coordinate)) / h;
}

}  // namespace symplectree
