// What is left of the equations of steps of several runs side by side, against what they are made of.
#pragma once

#include "batch/lanes.hpp"
#include "integrators/body_action/tree_elimination.hpp"

namespace symplectree {

// w.r ← the residual after displace; returns the largest |r_j| relative to the size of the terms it is made of (as
// `residual` of step.hpp), not a number where any is not.
template <int W, class R>
Pack<W> pack_residual(NewtonWorkspaceOf<Pack<W>, R>& w, StepEnds<Pack<W>> step) {
  using P = Pack<W>;
  const ModelOf<R>& m = w.m;
  subtract_loads(w, step.h);
  P largest(0), t[6];
  for (int i = m.size() - 1; i > 0; --i) {
    const BodyOf<R>& body = m.bodies[i];
    const Spatial<P>& F = w.F[i];
    joint_terms<false>(w, i, step, t);
    const P torque = norm1(F.angular), force = norm1(F.linear);
    for (int k = 0; k < body.nv; ++k) {
      const int j = body.v + k;
      const Spatial<P>& S = w.now->S[j];
      w.r[j] = w.b[j] - t[k] - dot(S, F);
      const P scale = size_of(w.b[j]) + size_of(t[k]) + norm1(S.angular) * torque + norm1(S.linear) * force;
      const P ratio = size_of(w.r[j]) / (scale + P(1e-300));
      largest = P(ratio.lanes <= largest.lanes ? largest.lanes : ratio.lanes + 0 * largest.lanes);
    }
    if (body.parent > 0) w.F[body.parent] += shift_force(F, w.now->pose[i].r);
  }
  return largest;
}

// Lanes whose w.r, after pack_residual, is within `factor` of what rounding makes of it (step_rounding.hpp).
template <int W>
LaneSet at_floor(NewtonWorkspaceOf<Pack<W>>& w, double h, const Pack<W>* q1, double factor) {
  using P = Pack<W>;
  constexpr double rounding = 2.2e-16;
  const Model& m = w.m;
  P turn(1);
  for (int k = 0; k < m.nq; ++k) turn = largest_of(turn, size_of(q1[k]));
  const P unit = P(rounding / std::fabs(h)) * turn;
  std::fill(w.body_noise.begin(), w.body_noise.end(), std::array<P, 2>{});
  LaneSet within = (1u << W) - 1;
  for (int i = m.size() - 1; i > 0; --i) {
    const Body& body = m.bodies[i];
    const P torque = w.body_noise[i][0] + P(body.inertia.xx + body.inertia.yy + body.inertia.zz) * unit;
    const P force = w.body_noise[i][1] + P(body.mass) * unit * (P(1e-3) + norm1(w.next->pose[i].x));
    for (int j = body.v; j < body.v + body.nv; ++j) {
      const P noise = norm1(w.now->S[j].angular) * torque + norm1(w.now->S[j].linear) * force +
                      P(m.armature[j] + 0.5 * std::fabs(h * w.damping[j])) * unit;
      within &= at_most(size_of(w.r[j]), P(factor) * (noise + P(rounding) * size_of(w.b[j])));
    }
    w.body_noise[body.parent][0] += torque + norm1(w.now->pose[i].r) * force;
    w.body_noise[body.parent][1] += force;
  }
  return within;
}

}  // namespace symplectree
