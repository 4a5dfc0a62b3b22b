// Generalized forces of the elements with their derivatives.
#include "dynamics/element_derivatives.hpp"

#include "elements/joint_damper.hpp"
#include "elements/joint_force.hpp"
#include "elements/joint_spring.hpp"
#include "elements/pair_elements.hpp"
#include "elements/wrench.hpp"
#include "kinematics/configurations.hpp"
#include "kinematics/poses_twists.hpp"
#include "model/user_elements.hpp"

namespace symplectree {
namespace {

template <class T>
void add_wrench(const Model& m, const Wrench& row, const double* inputs, ElementWorkspace<T>& e) {
  const Workspace<T>& w = e.kinematics.base;
  const Columns<T>& c = e.kinematics.columns;
  ElementTerms<T>& out = e.out;
  PointColumns<T>& p = e.a;
  p.update(c, row.point.body, position(row.point, w));
  const Spatial<T> f = world_wrench(row, inputs, w);
  c.for_path(row.point.body, [&](int i) {
    const Vec3<T>& turn = c.s[i].angular;
    out.force[i] += dot(turn, f.angular) + dot(p.column[i], f.linear);
    c.for_path(row.point.body, [&](int j) {
      T change = dot(p.change(i, j), f.linear);
      if (c.at_or_above(j, i)) change += dot(cross(c.s[j].angular, turn), f.angular);
      if (const PoseFormula* own = c.formula(i, j)) change += dot(c.varying(*own, i, j).angular, f.angular);
      if (!row.world_axes)  // the wrench itself turns with the body
        change += dot(turn, cross(c.s[j].angular, f.angular)) + dot(p.column[i], cross(c.s[j].angular, f.linear));
      out.force_dq[m.nv * i + j] += change;
    });
  });
}

// With Ds = scale (a, b) as wrenches on the two bodies and twists s_i of the coordinates at their centres, D_i s =
// Ds·s_i and D_j D_i s = (D_j Ds)·s_i + Ds·D_j s_i; likewise with the spring's wrenches in place of Ds. Coordinates
// that move both bodies do not change s.
template <class T, class Row>
void add_pair(const Model& m, const Row& row, const T* v, ElementWorkspace<T>& e) {
  const int n = m.nv;
  const Workspace<T>& w = e.kinematics.base;
  const Columns<T>& c = e.kinematics.columns;
  ElementTerms<T>& out = e.out;
  auto &a = e.a, &b = e.b;
  auto &g = e.g, &rate_dq = e.rate_dq, &curving = e.curving;  // g_i = D_i s
  a.update(c, row.a.body, w.pose[row.a.body].x);
  b.update(c, row.b.body, w.pose[row.b.body].x);
  e.own.clear();
  for (int i = 0; i < n; ++i)
    if (a.moves[i] != b.moves[i]) e.own.push_back(i);
  const auto twist = [&c](const PointColumns<T>& p, int i) {
    return p.moves[i] ? Spatial<T>{c.s[i].angular, p.column[i]} : Spatial<T>{};
  };
  const auto power = [&](const Spatial<T>& on_a, const Spatial<T>& on_b, int i) {
    return a.moves[i] ? dot(on_a, twist(a, i)) : dot(on_b, twist(b, i));
  };
  const Gauge<T> gauge = gauge_of(row, w);
  // (a, b)·D_j s_i: the coordinate nearer the root turns the other's twist.
  const auto power_change = [&](int i, int j) {
    if (a.moves[i] != a.moves[j]) return T(0);
    T sum = c.at_or_above(j, i) ? dot(c.s[j].angular, e.turned[i]) : dot(c.s[i].angular, e.moved[j]);
    if (const PoseFormula* own = c.formula(i, j)) {
      const Spatial<T>& on = a.moves[i] ? gauge.a : gauge.b;
      sum += dot(on.linear, c.varying_at(*own, i, j, (a.moves[i] ? a : b).x));
      sum += dot(on.angular, c.varying(*own, i, j).angular);
    }
    return sum;
  };
  const T tension = row.tension(gauge, m.potentials), k(row.damping);
  const bool damped = row.damping != 0;
  T rate(0);
  for (int i : e.own) {
    const Spatial<T>&on = a.moves[i] ? gauge.a : gauge.b, s = twist(a.moves[i] ? a : b, i);
    e.moved[i] = cross(s.linear, on.linear), e.turned[i] = e.moved[i] + cross(s.angular, on.angular);
    const T along = dot(on, s);
    g[i] = gauge.scale * along, rate_dq[i] = T(0);
    rate += g[i] * v[i];
    out.gradient[i] += tension * along;
  }
  out.energy += row.energy(gauge.value, m.potentials);
  for (int j : e.own) {
    const Gauge<DualOf<T>> moving = moving_gauge(row, w, twist(a, j), twist(b, j));
    const DualOf<T> spring = row.tension(moving, m.potentials);
    const Spatial<T> on_a = slope_parts(spring * moving.a), on_b = slope_parts(spring * moving.b);
    const Spatial<T> Ds_a = slope_parts(moving.on_a()), Ds_b = slope_parts(moving.on_b());
    for (int i : e.own) {
      const T change = power_change(i, j);
      out.hessian[n * i + j] += power(on_a, on_b, i) + tension * change;
      if (!damped) continue;
      curving[n * i + j] = power(Ds_a, Ds_b, i) + gauge.scale * change;
      rate_dq[j] += curving[n * i + j] * v[i];
    }
  }
  if (!damped) return;
  for (int i : e.own) {
    out.force[i] -= k * rate * g[i];
    for (int j : e.own) {
      out.force_dq[n * i + j] -= k * (rate_dq[j] * g[i] + rate * curving[n * i + j]);
      out.force_dv[n * i + j] -= k * g[i] * g[j];
    }
  }
}

void add_user(const Model& m, const UserElement& u, const double* q, const double* v, ElementTerms<double>& out) {
  if (u.kind == UserElement::Constraint) return;
  UserTerms t;
  t.evaluate(u, 2, q, v);
  const int k = u.size();
  if (u.kind == UserElement::Potential) out.energy += t.value[0];
  for (int i = 0; i < k; ++i) {
    (u.kind == UserElement::Potential ? out.gradient : out.force)[u.v[i]] +=
        u.kind == UserElement::Potential ? t.first[i] : t.value[i];
    for (int j = 0; j < k; ++j) {
      const int at = m.nv * u.v[i] + u.v[j];
      if (u.kind == UserElement::Potential) {
        out.hessian[at] += t.second[k * i + j];
      } else {
        out.force_dq[at] += t.first[k * i + j];
        out.force_dv[at] += t.second[k * i + j];
      }
    }
  }
}

}  // namespace

template <class T>
void element_derivatives(const Model& m, int owner, const T* q, const T* v, const double* inputs,
                         ElementWorkspace<T>& e) {
  e.kinematics.template place<1>(q);
  ElementTerms<T>& out = e.out;
  out.clear();
  const auto chosen = [owner](int of) { return owner < 0 || of == owner; };
  for (const JointSpring& s : m.joint_springs)
    if (chosen(s.owner)) add_terms(s, q, out);
  for (const JointDamper& d : m.joint_dampers)
    if (chosen(d.owner)) add_terms(d, v, out);
  for (const JointForce& f : m.joint_forces)
    if (chosen(f.owner)) add_terms(f, inputs, out);
  if constexpr (std::is_same_v<T, double>)
    for (const UserElement& u : m.users)
      if (chosen(u.owner)) add_user(m, u, q, v, out);
  for (const Wrench& row : m.wrenches)
    if (chosen(row.owner)) add_wrench(m, row, inputs, e);
  m.for_pairs([&](const auto& row) {
    if (chosen(row.owner)) add_pair(m, row, v, e);
  });
}

void seed(const Model& m, const double* q, const double* v, int k, bool of_velocity, ElementWorkspace<Dual>& e) {
  for (int i = 0; i < m.nq; ++i) e.q[i] = q[i];
  for (int j = 0; j < m.nv; ++j) e.v[j] = v[j];
  if (of_velocity) {
    e.v[k].slope = 1;
    return;
  }
  std::vector<double>& direction = e.direction;
  std::vector<double>& rate = e.rate;
  std::fill(direction.begin(), direction.end(), 0.0);
  direction[k] = 1;
  configuration_rate(m, q, direction.data(), rate.data());
  for (int i = 0; i < m.nq; ++i) e.q[i].slope = rate[i];
}

template void element_derivatives(const Model&, int, const double*, const double*, const double*,
                                  ElementWorkspace<double>&);
template void element_derivatives(const Model&, int, const Dual*, const Dual*, const double*, ElementWorkspace<Dual>&);

}  // namespace symplectree
