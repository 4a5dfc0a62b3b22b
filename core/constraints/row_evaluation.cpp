// Rows of constraints: values, accelerations, forces, dense derivatives, and rows that nothing changes.
#include "constraints/row_evaluation.hpp"

#include "elements/pair_elements.hpp"
#include "kinematics/configurations.hpp"
#include "kinematics/poses_twists.hpp"
#include "model/rows/all_rows.hpp"
#include "model/user_elements.hpp"

namespace symplectree {
namespace {

// How far bodies reach, and how far their joints turned: a position far out on a chain that folds back to the origin is
// no more exact than the chain is long, nor than its angles are, which are large after many turns.
void measure_reach(const Model& m, const double* q, const Workspace<double>& at, RowValues& out) {
  out.reach.resize(m.size()), out.turn.resize(m.size(), 1.0);
  for (int i = 1; i < m.size(); ++i) {
    const Body& body = m.bodies[i];
    out.reach[i] = out.reach[body.parent] + norm1(at.pose[i].r);
    out.turn[i] = std::max(out.turn[body.parent], body.flat() ? std::fabs(q[body.q]) : 1.0);
    for (int k = 1; k < body.nv && body.flat(); ++k) out.turn[i] = std::max(out.turn[i], std::fabs(q[body.q + k]));
  }
}

}  // namespace

template <bool WithDerivative>
void evaluate_rows(const Model& m, const RowStructure& s, const double* q, const Workspace<double>& at, RowValues& out,
                   bool users) {
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
      out.noise[row] = out.size[row];
      if constexpr (!WithDerivative) continue;
      double size = 1e-3 + std::fabs(t.value[k]);
      for (int j = 0; j < u.size(); ++j) {
        const double c = t.first[u.size() * k + j];
        out.coefficient[s.coefficient_start[row] + j] = c;
        size += std::fabs(c * (j < static_cast<int>(u.q.size()) ? t.q[j] : 1.0));
      }
      out.size[row] = out.noise[row] = size;
    }
  }
}

template void evaluate_rows<false>(const Model&, const RowStructure&, const double*, const Workspace<double>&,
                                   RowValues&, bool);
template void evaluate_rows<true>(const Model&, const RowStructure&, const double*, const Workspace<double>&,
                                  RowValues&, bool);

void evaluate_dampers(const Model& m, const RowStructure& s, const Workspace<double>& at, RowValues& out) {
  if (s.damped_pairs == 0) return;
  Spatial<double>* pull = &out.pull[s.pull_start[m.rows]];
  for_damped_pairs(m, [&](const auto& row) {
    const Gauge<double> g = gauge_of(row, at);
    *pull++ = g.on_a(), *pull++ = g.on_b();
  });
}

void row_accelerations(const Model& m, const double* q, const double* v, const double* a, const Workspace<double>& at,
                       double* out) {
  const auto turned = [](const Spatial<double>& V, const Spatial<double>& A, const Vec3<double>& x) {
    return cross(A.angular, x) + cross(V.angular, cross(V.angular, x));  // ẍ of a vector fixed in a body
  };
  const auto point_acceleration = [&](const Vec3<double>& x, int i) {
    return at.acceleration[i].linear + turned(at.V[i], at.acceleration[i], x - at.pose[i].x);
  };
  for (const PointRow& r : m.point_rows) {
    const Vec3<double> xa = position(r.a, at), xb = position(r.b, at), n = world_axis(r.n, at);
    const Vec3<double> rate = velocity_at(xb, r.b.body, at) - velocity_at(xa, r.a.body, at);
    out[r.row] = dot(turned(at.V[r.n.body], at.acceleration[r.n.body], n), xb - xa) +
                 2 * dot(cross(at.V[r.n.body].angular, n), rate) +
                 dot(n, point_acceleration(xb, r.b.body) - point_acceleration(xa, r.a.body));
  }
  for (const AngleRow& r : m.angle_rows) {
    const Vec3<double> u = world_axis(r.u, at), w = world_axis(r.w, at);
    const int i = r.u.body, j = r.w.body;
    out[r.row] = dot(turned(at.V[i], at.acceleration[i], u), w) +
                 2 * dot(cross(at.V[i].angular, u), cross(at.V[j].angular, w)) +
                 dot(u, turned(at.V[j], at.acceleration[j], w));
  }
  for (const DistanceRow& r : m.distance_rows) {
    const Vec3<double> xa = position(r.a, at), xb = position(r.b, at), d = xb - xa;
    const Vec3<double> rate = velocity_at(xb, r.b.body, at) - velocity_at(xa, r.a.body, at);
    const double length = std::sqrt(dot(d, d)), inverse = length > 0 ? 1 / length : 0, along = inverse * dot(d, rate);
    const Vec3<double> change = point_acceleration(xb, r.b.body) - point_acceleration(xa, r.a.body);
    out[r.row] = inverse * (dot(rate, rate) + dot(d, change) - along * along) - (r.v >= 0 ? a[r.v] : 0);
  }
  for (const CoordinateRow& r : m.coordinate_rows) {
    double phi[4] = {q[r.q1], 1, 0, 0};
    if (r.function >= 0) m.potentials[r.function].evaluate(q[r.q1], phi);
    out[r.row] = r.c1 * (phi[2] * v[r.v1] * v[r.v1] + phi[1] * a[r.v1]) + r.c2 * a[r.v2];
  }
  // The user's rows: Dh a + d(Dh)/dt v, the latter of functions of Python by a central difference along v.
  UserTerms exact;
  for (const UserElement& u : m.users) {
    if (u.kind != UserElement::Constraint || u.tapes.empty()) continue;
    exact.evaluate(u, 2, q, v);
    for (int k = 0; k < u.rows; ++k) {
      out[u.first_row + k] = exact.second[k];
      for (int j = 0; j < u.size(); ++j) out[u.first_row + k] += exact.first[u.size() * k + j] * a[u.v[j]];
    }
  }
  const auto by_differences = [](const UserElement& u) { return u.rows > 0 && u.tapes.empty(); };
  if (std::none_of(m.users.begin(), m.users.end(), by_differences)) return;
  double fastest = 1e-12;
  for (int j = 0; j < m.nv; ++j) fastest = std::max(fastest, std::fabs(v[j]));
  const double step = 1e-5 / fastest;
  std::vector<double> d(m.nv), ahead(m.nq), behind(m.nq);
  for (int j = 0; j < m.nv; ++j) d[j] = step * v[j];
  retract(m, q, d.data(), ahead.data());
  for (int j = 0; j < m.nv; ++j) d[j] = -d[j];
  retract(m, q, d.data(), behind.data());
  UserTerms t, later, earlier;
  for (const UserElement& u : m.users) {
    if (!by_differences(u)) continue;
    t.evaluate(u, 1, q, nullptr), later.evaluate(u, 1, ahead.data(), nullptr);
    earlier.evaluate(u, 1, behind.data(), nullptr);
    for (int k = 0; k < u.rows; ++k) {
      double sum = 0;
      for (int j = 0; j < u.size(); ++j) {
        const int at = u.size() * k + j;
        sum += t.first[at] * a[u.v[j]] + (later.first[at] - earlier.first[at]) / (2 * step) * v[u.v[j]];
      }
      out[u.first_row + k] = sum;
    }
  }
}

void transposed_rows(const Model& m, const RowStructure& s, const RowsAt& rows_at, const double* lambda,
                     const RowWrenches& scratch, const PulledForces& forces) {
  const auto& [rows, at] = rows_at;
  auto& [force, bound] = scratch;
  const auto [out, size] = forces;
  std::fill(out, out + m.nv, 0.0);
  std::fill(size, size + m.nv, 0.0);
  for (auto& f : force) f = {};
  for (auto& b : bound) b = {};
  for (int k = 0; k < m.rows; ++k) {
    for (int e = s.pull_start[k]; e < s.pull_start[k + 1]; ++e) {
      const Spatial<double> f = lambda[k] * rows.pull[e];
      force[s.pull_body[e]] += f;
      bound[s.pull_body[e]][0] += norm1(f.angular), bound[s.pull_body[e]][1] += norm1(f.linear);
    }
    for (int e = s.coefficient_start[k]; e < s.coefficient_start[k + 1]; ++e) {
      const double f = lambda[k] * rows.coefficient[e];
      out[s.coefficient_v[e]] += f, size[s.coefficient_v[e]] += std::fabs(f);
    }
  }
  for (int i = m.size() - 1; i > 0; --i) {
    const Body& body = m.bodies[i];
    const auto [torque, linear] = bound[i];
    for (int j = body.v; j < body.v + body.nv; ++j) {
      out[j] += dot(at.S[j], force[i]);
      size[j] += norm1(at.S[j].angular) * torque + norm1(at.S[j].linear) * linear;
    }
    force[body.parent] += shift_force(force[i], at.pose[i].r);
    bound[body.parent][0] += torque + norm1(at.pose[i].r) * linear, bound[body.parent][1] += linear;
  }
}

void dense_rows(const Model& m, const RowStructure& s, const RowValues& rows, const Workspace<double>& at, double* G) {
  std::fill(G, G + static_cast<std::size_t>(m.rows) * m.nv, 0.0);
  for (int k = 0; k < m.rows; ++k) {
    double* g = G + static_cast<std::size_t>(k) * m.nv;
    for (int e = s.pull_start[k]; e < s.pull_start[k + 1]; ++e) {
      Spatial<double> f = rows.pull[e];
      for (int i = s.pull_body[e]; i > 0; f = shift_force(f, at.pose[i].r), i = m.bodies[i].parent)
        for (int j = m.bodies[i].v; j < m.bodies[i].v + m.bodies[i].nv; ++j) g[j] += dot(at.S[j], f);
    }
    for (int e = s.coefficient_start[k]; e < s.coefficient_start[k + 1]; ++e)
      g[s.coefficient_v[e]] += rows.coefficient[e];
  }
}

void RowStructure::find_idle_rows(const Model& m) {
  if (m.rows == 0) return;
  Workspace<double> at(m);
  RowValues values(*this);
  std::vector<double> q(m.nq);
  std::fill(idle.begin(), idle.begin() + m.rows, char(1));
  for (const UserElement& u : m.users) std::fill_n(idle.begin() + std::max(u.first_row, 0), u.rows, char(0));
  unsigned long long state = 1;
  for (int sample = 0; sample < 3; ++sample) {
    for (double& x : q) {  // a generator of numbers between 0.2 and 1.2
      state = state * 6364136223846793005ULL + 1442695040888963407ULL;
      x = 0.2 + static_cast<double>(state >> 33) / 2147483648.0;
    }
    normalize(m, q.data());
    compute_poses(m, q.data(), at);
    evaluate_rows<true>(m, *this, q.data(), at, values, false);
    for (int k = 0; k < m.rows; ++k) {
      if (coefficient_start[k + 1] > coefficient_start[k]) idle[k] = 0;
      for (int e = pull_start[k]; e < pull_start[k + 1] && idle[k]; ++e) {
        Spatial<double> f = values.pull[e];
        for (int i = pull_body[e]; i > 0 && idle[k]; f = shift_force(f, at.pose[i].r), i = m.bodies[i].parent)
          for (int j = m.bodies[i].v; j < m.bodies[i].v + m.bodies[i].nv; ++j) {
            const double size =
                norm1(at.S[j].angular) * norm1(f.angular) + norm1(at.S[j].linear) * norm1(f.linear) + 1e-6;
            if (!(std::fabs(dot(at.S[j], f)) <= 1e-12 * size)) idle[k] = 0;  // a formula may have no value there
          }
      }
    }
  }
}

}  // namespace symplectree
