// What rounding makes of the residual of a step: what a root finder cannot go below.
#pragma once

#include <utility>

#include "integrators/body_action/tree_elimination.hpp"
#include "integrators/momentum_noise.hpp"

namespace symplectree {

inline constexpr double kRounding = 2.2e-16;

// Add to w.body_noise what `rounding` of positions, relative to them, makes of the impulses of damped pairs.
inline void add_pair_noise(NewtonWorkspace& w, double rounding) {
  const auto reach = [&w](const auto& end) {
    if constexpr (requires { end.at; }) {
      return norm1(position(end, *w.next));
    } else {
      return norm1(w.next->pose[end.body].x);
    }
  };
  for_damped_pairs(w.m, [&](const auto& row) {
    const Gauge<double> g = gauge_of(row, *w.next);
    const Spatial<double> on_a = g.on_a(), on_b = g.on_b();
    const double size = norm1(on_a.angular) + norm1(on_a.linear) * reach(row.a) + norm1(on_b.angular) +
                        norm1(on_b.linear) * reach(row.b);
    const double noise = 0.5 * rounding * std::fabs(row.damping) * size;
    for (const auto& [body, f] : {std::pair{row.a.body, on_a}, std::pair{row.b.body, on_b}}) {
      w.body_noise[body][0] += norm1(f.angular) * noise;
      w.body_noise[body][1] += norm1(f.linear) * noise;
    }
  });
}

// w.noise ← of each velocity what rounding makes of w.r. Positions are rounded to ε |x| and angles to ε |q|, so momenta
// carry noise of about (ε/h) m |x|, which is swept to the joints here with absolute values; rotors and dampers on the
// joints themselves make theirs of ε |q|.
inline void estimate_noise(NewtonWorkspace& w, double h, const double* q1) {
  const Model& m = w.m;
  double turn = 1;
  for (int k = 0; k < m.nq; ++k) turn = std::max(turn, std::fabs(q1[k]));
  const double unit = kRounding * turn / std::fabs(h);
  std::fill(w.body_noise.begin(), w.body_noise.end(), std::array<double, 2>{});
  if (w.damped_pairs) add_pair_noise(w, unit * std::fabs(h));
  for (int i = m.size() - 1; i > 0; --i) {
    const Body& body = m.bodies[i];
    const double torque = w.body_noise[i][0] + unit * (body.inertia.xx + body.inertia.yy + body.inertia.zz);
    const double force = w.body_noise[i][1] + unit * body.mass * (1e-3 + norm1(w.next->pose[i].x));
    for (int j = body.v; j < body.v + body.nv; ++j)
      w.noise[j] = norm1(w.now->S[j].angular) * torque + norm1(w.now->S[j].linear) * force +
                   unit * (m.armature[j] + 0.5 * std::fabs(h * w.damping[j]));
    w.body_noise[body.parent][0] += torque + norm1(w.now->pose[i].r) * force;
    w.body_noise[body.parent][1] += force;
  }
  if (m.user_forces)
    add_user_noise(m, 0.5 * std::fabs(h), q1, w.displacement.data(), [unit](int) { return unit; }, w.noise);
}

// Is every entry of w.r, after residual, within `factor` of w.noise and of the rounding of what it is made of?
inline bool within_noise(const NewtonWorkspace& w, double factor) {
  for (int j = 0; j < w.m.nv; ++j)
    if (!(std::fabs(w.r[j]) <= factor * (w.noise[j] + kRounding * (std::fabs(w.b[j]) + w.impulse_size[j]))))
      return false;
  return true;
}

}  // namespace symplectree
