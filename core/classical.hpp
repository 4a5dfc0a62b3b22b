// Ordinary methods on (q, v), to compare with: semi-implicit Euler and the classical Runge–Kutta method.
#pragma once

#include "dynamics.hpp"

namespace symplectree {

// a(t, q, v): given as a callable `acceleration(t, q, v, a)` so that forces may come from anywhere.

// q̇ (nq) of a velocity (nv): quaternions change by ½ q ⊗ (0, ω), positions of Free joints by R v.
inline void configuration_rate(const Model& m, const double* q, const double* v, double* rate) {
  for (int i = 1; i < m.size(); ++i) {
    const Body& b = m.bodies[i];
    if (b.nv == 1) {
      rate[b.q] = v[b.v];
      continue;
    }
    const int start = b.q + (b.kind == Kind::Free ? 3 : 0);
    const double w = q[start], *p = v + b.v;
    const Vec3<double> a{q[start + 1], q[start + 2], q[start + 3]}, omega{p[0], p[1], p[2]};
    if (b.kind == Kind::Free) {
      const double n = 1 / std::sqrt(w * w + dot(a, a));
      const Vec3<double> u = quaternion_matrix(w * n, a.x * n, a.y * n, a.z * n) * Vec3<double>{p[3], p[4], p[5]};
      rate[b.q] = u.x, rate[b.q + 1] = u.y, rate[b.q + 2] = u.z;
    }
    const Vec3<double> d = w * omega + cross(a, omega);
    rate[start] = -0.5 * dot(a, omega);
    rate[start + 1] = 0.5 * d.x, rate[start + 2] = 0.5 * d.y, rate[start + 3] = 0.5 * d.z;
  }
}

inline void normalize(const Model& m, double* q) {
  for (int i = 1; i < m.size(); ++i) {
    const Body& b = m.bodies[i];
    if (b.nv == 1) continue;
    double* p = q + b.q + (b.kind == Kind::Free ? 3 : 0);
    const double n = 1 / std::sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2] + p[3] * p[3]);
    for (int k = 0; k < 4; ++k) p[k] *= n;
  }
}

// v ← v + h a(q, v), then q ← q ⊕ h v. `scratch` holds 2 nv + nq numbers.
template <class F>
void step_semi_implicit(const Model& m, F&& acceleration, double t, double h, double* q, double* v, double* scratch) {
  double *a = scratch, *d = a + m.nv, *q1 = d + m.nv;
  acceleration(t, q, v, a);
  for (int j = 0; j < m.nv; ++j) {
    v[j] += h * a[j];
    d[j] = h * v[j];
  }
  retract(m, q, d, q1);
  for (int k = 0; k < m.nq; ++k) q[k] = q1[k];
}

// The classical fourth-order method on (q, v), quaternions normalised after the step. `scratch`: 3 (nq + nv) numbers.
template <class F>
void step_rk4(const Model& m, F&& acceleration, double t, double h, double* q, double* v, double* scratch) {
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
