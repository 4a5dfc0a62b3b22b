// Holonomic constraints: values of their rows, derivatives, and what velocity alone makes of their second derivatives
// (JM09 section IV-D).
//
// The derivative of a row is a list of pulls, wrenches at the centres of the bodies it holds on to, and of coefficients
// of coordinates: D h along a motion is the sum of pulls on the bodies' twists and of coefficients on velocities. Which
// bodies and coordinates these are never changes.
#pragma once

#include <algorithm>
#include <array>

#include "constraints/constraint_rows.hpp"
#include "constraints/row_structure.hpp"
#include "model/user_elements.hpp"

namespace symplectree {

// Values and derivatives of all rows at one configuration.
struct RowValues : RowTerms<double> {
  std::vector<double> size, noise;  // of each row: what it is measured against, and what rounding is relative to
  std::vector<double> reach, turn;  // of each body: the way to it from the world's origin, the largest angle on it

  explicit RowValues(const RowStructure& s)
      : RowTerms(s.rows(), s.pull_body.size(), s.coefficient_v.size()), size(s.rows()), noise(s.rows()) {}
};

// How far bodies reach, and how far their joints turned: a position far out on a chain that folds back to the origin is
// no more exact than the chain is long, nor than its angles are, which are large after many turns.
inline void measure_reach(const Model& m, const double* q, const Workspace<double>& at, RowValues& out) {
  out.reach.resize(m.size()), out.turn.resize(m.size(), 1.0);
  for (int i = 1; i < m.size(); ++i) {
    const Body& body = m.bodies[i];
    out.reach[i] = out.reach[body.parent] + norm1(at.pose[i].r);
    out.turn[i] = std::max(out.turn[body.parent], body.flat() ? std::fabs(q[body.q]) : 1.0);
    for (int k = 1; k < body.nv && body.flat(); ++k) out.turn[i] = std::max(out.turn[i], std::fabs(q[body.q + k]));
  }
}

// All rows at q; with `WithDerivative` also their derivatives. Poses in `at` must be those of q.
template <bool WithDerivative>
void evaluate_rows(const Model& m, const RowStructure& s, const double* q, const Workspace<double>& at, RowValues& out,
                   bool users = true) {
  measure_reach(m, q, at, out);
  const auto measure = [&out](int row, const Point& a, const Point& b, double length) {
    const double reach_a = out.reach[a.body] + norm1(a.at), reach_b = out.reach[b.body] + norm1(b.at);
    length += 1e-3;
    out.size[row] = length + 0.1 * (reach_a + reach_b);
    out.noise[row] = length + out.turn[a.body] * reach_a + out.turn[b.body] * reach_b;
  };
  evaluate_row_terms<WithDerivative>(m, s.pull_start, s.coefficient_start, q, at, out);
  for (const PointRow& r : m.point_rows) measure(r.row, r.a, r.b, norm1(position(r.a, at)) + norm1(position(r.b, at)));
  for (const AngleRow& r : m.angle_rows) {
    out.size[r.row] = 1;
    out.noise[r.row] = std::max(out.turn[r.u.body], out.turn[r.w.body]);
  }
  for (const DistanceRow& r : m.distance_rows) {
    const double wanted = r.length + (r.q >= 0 ? q[r.q] : 0);
    measure(r.row, r.a, r.b, norm1(position(r.a, at)) + norm1(position(r.b, at)) + std::fabs(wanted));
  }
  for (const CoordinateRow& r : m.coordinate_rows) {
    double phi[4] = {q[r.q1], 1, 0, 0};
    if (r.function >= 0) m.potentials[r.function].evaluate(q[r.q1], phi);
    out.size[r.row] = std::fabs(r.c1 * phi[0]) + std::fabs(r.c1 * phi[1] * q[r.q1]) + std::fabs(r.c2 * q[r.q2]) +
                      std::fabs(r.constant) + 1e-3;
    out.noise[r.row] = out.size[r.row];
  }
  UserTerms t;
  for (const UserElement& u : m.users) {
    if (u.kind != UserElement::Constraint || !users) continue;
    t.evaluate(u, WithDerivative ? 1 : 0, q, nullptr);
    for (int k = 0; k < u.rows; ++k) {
      const int row = u.first_row + k;
      out.value[row] = t.value[k];
      out.size[row] = std::max(1e-3, out.size[row]);  // at least; grows with the terms of the derivative
      if constexpr (!WithDerivative) continue;
      double size = 1e-3 + std::fabs(t.value[k]);
      for (int j = 0; j < u.size(); ++j) {
        const double c = t.first[u.size() * k + j];
        out.coefficient[s.coefficient_start[row] + j] = c;
        size += std::fabs(c * (j < static_cast<int>(u.q.size()) ? t.q[j] : 1.0));
      }
      out.size[row] = size;
    }
  }
}

// Pulls of the damped pairs' gauges. Poses in `at` must be there.
inline void evaluate_dampers(const Model& m, const RowStructure& s, const Workspace<double>& at, RowValues& out) {
  if (s.damped_pairs == 0) return;
  Spatial<double>* pull = &out.pull[s.pull_start[m.rows]];
  for_damped_pairs(m, [&](const auto& row) {
    const Gauge<double> g = gauge_of(row, at);
    *pull++ = g.on_a(), *pull++ = g.on_b();
  });
}

// d²h/dt² of all rows for the twists and accelerations of bodies in `at` (of coordinates: velocities v and
// accelerations a).
void row_accelerations(const Model& m, const double* q, const double* v, const double* a, const Workspace<double>& at,
                       double* out);

// Derivatives of rows, and the poses that they are of.
struct RowsAt {
  const RowValues& values;
  const Workspace<double>& poses;
};

// Scratch of transposed_rows: of each body its wrench, and bounds of torque and force.
struct RowWrenches {
  std::vector<Spatial<double>>& force;
  std::vector<std::array<double, 2>>& bound;
};

// Σ λ_k D h_k (nv), and the size of the terms that each is made of (nv).
struct PulledForces {
  double *sum, *size;
};

void transposed_rows(const Model& m, const RowStructure& s, const RowsAt& rows, const double* lambda,
                     const RowWrenches& scratch, const PulledForces& out);

// G (rows × nv, row by row) ← D h.
void dense_rows(const Model& m, const RowStructure& s, const RowValues& rows, const Workspace<double>& at, double* G);

}  // namespace symplectree
