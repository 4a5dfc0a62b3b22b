// Generalized forces of the elements with their exact derivatives, O(n²) each at most.
//
// Potential parts: energy V, gradient D_i V, Hessian D_j D_i V. The rest: force f_i, D_j f_i, ∂f_i/∂v_j.
// Templated on the scalar: with dual numbers the same code gives the second derivatives of f.
#pragma once

#include "derivatives.hpp"

namespace symplectree {

template <class T>
struct ElementTerms {
  T energy{};
  std::vector<T> gradient, hessian, force, force_dq, force_dv;

  explicit ElementTerms(int n) : gradient(n), hessian(n * n), force(n), force_dq(n * n), force_dv(n * n) {}
};

// Velocity columns of a point on a path, and how they change.
template <class T>
struct PointColumns {
  const Columns<T>& c;
  std::vector<char> moves;     // does coordinate j move the point?
  std::vector<Vec3<T>> column;

  PointColumns(const Columns<T>& columns, int body, const Vec3<T>& x)
      : c(columns), moves(columns.m.nv), column(columns.m.nv) {
    c.for_path(body, [&](int j) {
      moves[j] = 1;
      column[j] = c.at(j, x);
    });
  }

  // D_j of column i: the coordinate nearer the root turns the other's column.
  Vec3<T> change(int i, int j) const {
    if (!moves[i] || !moves[j]) return {};
    return c.at_or_above(j, i) ? cross(c.s[j].angular, column[i]) : cross(c.s[i].angular, column[j]);
  }
};

template <class T>
void add_line(const Model& m, const Line& line, const Columns<T>& c, const T* v, const Workspace<T>& w,
              ElementTerms<T>& out) {
  const int n = m.nv;
  const Vec3<T> xa = position(line.a, w), xb = position(line.b, w);
  const PointColumns<T> a(c, line.a.body, xa), b(c, line.b.body, xb);
  const LineState<T> s = line_state(line, m.potentials, xb - xa);
  const T inverse = value_of(s.length) == 0 ? T(0) : T(1) / s.length;
  std::vector<Vec3<T>> delta(n);
  std::vector<T> g(n), rate_dq(n), length_dqdq(n * n);  // g_i = D_i ℓ
  T rate(0);
  for (int i = 0; i < n; ++i) {
    delta[i] = b.column[i] - a.column[i];
    g[i] = dot(s.u, delta[i]);
    rate += g[i] * v[i];
  }
  out.energy += s.energy;
  for (int i = 0; i < n; ++i) {
    if (!a.moves[i] && !b.moves[i]) continue;
    out.gradient[i] += s.slope_over_length * dot(s.d, delta[i]);
    for (int j = 0; j < n; ++j) {
      if (!a.moves[j] && !b.moves[j]) continue;
      const T across = dot(delta[i], delta[j]) - g[i] * g[j];
      const Vec3<T> change = b.change(i, j) - a.change(i, j);
      out.hessian[n * i + j] += s.curvature * g[i] * g[j] + s.slope_over_length * (across + dot(s.d, change));
      length_dqdq[n * i + j] = inverse * across + dot(s.u, change);
      rate_dq[j] += length_dqdq[n * i + j] * v[i];
    }
  }
  if (line.damping == 0) return;
  const T k(line.damping);
  for (int i = 0; i < n; ++i) {
    out.force[i] -= k * rate * g[i];
    for (int j = 0; j < n; ++j) {
      out.force_dq[n * i + j] -= k * (rate_dq[j] * g[i] + rate * length_dqdq[n * i + j]);
      out.force_dv[n * i + j] -= k * g[i] * g[j];
    }
  }
}

template <class T>
void add_wrench(const Model& m, const Wrench& row, const Columns<T>& c, const double* inputs, const Workspace<T>& w,
                ElementTerms<T>& out) {
  const PointColumns<T> p(c, row.point.body, position(row.point, w));
  const Spatial<T> f = world_wrench(row, inputs, w);
  c.for_path(row.point.body, [&](int i) {
    const Vec3<T>& turn = c.s[i].angular;
    out.force[i] += dot(turn, f.angular) + dot(p.column[i], f.linear);
    c.for_path(row.point.body, [&](int j) {
      T change = dot(p.change(i, j), f.linear);
      if (c.at_or_above(j, i)) change += dot(cross(c.s[j].angular, turn), f.angular);
      if (!row.world_axes)  // the wrench itself turns with the body
        change += dot(turn, cross(c.s[j].angular, f.angular)) + dot(p.column[i], cross(c.s[j].angular, f.linear));
      out.force_dq[m.nv * i + j] += change;
    });
  });
}

// Adds the terms of all elements, or of the one with index `owner` when that is not negative. Poses must be there.
template <class T>
void element_derivatives(const Model& m, int owner, const T* q, const T* v, const double* inputs,
                         const Columns<T>& c, const Workspace<T>& w, ElementTerms<T>& out) {
  const auto chosen = [owner](int of) { return owner < 0 || of == owner; };
  for (const JointSpring& e : m.joint_springs) {
    if (!chosen(e.owner)) continue;
    const T stretch = q[e.q] - T(e.rest);
    out.energy += T(0.5 * e.stiffness) * stretch * stretch;
    out.gradient[e.v] += T(e.stiffness) * stretch;
    out.hessian[m.nv * e.v + e.v] += T(e.stiffness);
  }
  for (const JointDamper& e : m.joint_dampers) {
    if (!chosen(e.owner)) continue;
    out.force[e.v] -= T(e.damping) * v[e.v];
    out.force_dv[m.nv * e.v + e.v] -= T(e.damping);
  }
  for (const JointForce& e : m.joint_forces)
    if (chosen(e.owner)) out.force[e.v] += T(e.value) + (e.input >= 0 && inputs ? T(inputs[e.input]) : T(0));
  for (const Line& line : m.lines)
    if (chosen(line.owner)) add_line(m, line, c, v, w, out);
  for (const Wrench& row : m.wrenches)
    if (chosen(row.owner)) add_wrench(m, row, c, inputs, w, out);
}

}  // namespace symplectree
