// Ordinary methods on (q, v), to compare with: semi-implicit Euler and the classical Runge–Kutta method. The motion
// is given as a callable acceleration(t, q, v, a), so that forces may come from anywhere.
#pragma once

#include "kinematics/configurations.hpp"
#include "kinematics/poses_twists.hpp"

namespace symplectree {

struct TimeStep {
  double start, length;
};

// v ← v + h a(q, v), then q ← q ⊕ h v. The linear velocity of a Free joint is advanced in the axes of its base, where
// turning does not change it: in its own axes an explicit step would feed it energy. `scratch`: 2 nv + nq numbers.
template <class F>
void step_semi_implicit(const Model& m, F&& acceleration, TimeStep step, double* q, double* v, double* scratch) {
  const auto [t, h] = step;
  double *a = scratch, *d = a + m.nv, *q1 = d + m.nv;
  acceleration(t, q, v, a);
  for (const Body& b : m.bodies) {
    if (b.kind != Kind::Free) continue;
    const Vec3<double> drift = cross(load3(v + b.v), load3(v + b.v + 3));  // d(R u)/dt = R (u̇ + ω × u)
    store3(load3(v + b.v + 3) + h * (load3(a + b.v + 3) + drift), d + b.v + 3);
  }
  for (int j = 0; j < m.nv; ++j) {
    v[j] += h * a[j];
    if (m.bodies[m.body_of[j]].kind != Kind::Free || j < m.bodies[m.body_of[j]].v + 3) d[j] = h * v[j];
  }
  for (const Body& b : m.bodies) {
    if (b.kind != Kind::Free) continue;
    const double* z = q + b.q + 3;
    const Vec3<double> moved = quaternion_matrix(z[0], z[1], z[2], z[3]) * load3(d + b.v + 3);  // velocity in base axes
    const Vec3<double> x = load3(q + b.q) + h * moved;
    store3({}, d + b.v + 3);
    retract_body(b, q, d, q1);
    store3(x, q1 + b.q);
    const double* y = q1 + b.q + 3;
    store3(transposed_times(quaternion_matrix(y[0], y[1], y[2], y[3]), moved), v + b.v + 3);
  }
  for (int i = 1; i < m.size(); ++i)
    if (m.bodies[i].kind != Kind::Free) retract_body(m.bodies[i], q, d, q1);
  for (int k = 0; k < m.nq; ++k) q[k] = q1[k];
}

// The classical fourth-order method on (q, v), quaternions normalised after the step. `scratch`: 3 (nq + nv) numbers.
template <class F>
void step_rk4(const Model& m, F&& acceleration, TimeStep step, double* q, double* v, double* scratch) {
  const auto [t, h] = step;
  const int n = m.nq + m.nv;
  double *stage = scratch, *rate = stage + n, *sum = rate + n;
  const double at[4] = {0, 0.5, 0.5, 1}, weight[4] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};
  const auto start = [&](int k) { return k < m.nq ? q[k] : v[k - m.nq]; };
  for (int k = 0; k < n; ++k) stage[k] = start(k), sum[k] = 0;
  for (int s = 0; s < 4; ++s) {
    if (s > 0)
      for (int k = 0; k < n; ++k) stage[k] = start(k) + at[s] * h * rate[k];
    configuration_rate(m, stage, stage + m.nq, rate);
    acceleration(t + at[s] * h, stage, stage + m.nq, rate + m.nq);
    for (int k = 0; k < n; ++k) sum[k] += weight[s] * rate[k];
  }
  for (int k = 0; k < m.nq; ++k) q[k] += h * sum[k];
  for (int j = 0; j < m.nv; ++j) v[j] += h * sum[m.nq + j];
  normalize(m, q);
}

}  // namespace symplectree
