#include "linearization/impulse_equations.hpp"

#include <cmath>

#include "collision/gap.hpp"
#include "dynamics/rnea.hpp"
#include "kinematics/retract_ad.hpp"
#include "model/rows/joint_friction.hpp"
#include "model/rows/joint_limit.hpp"

namespace symplectree {
namespace {

using Source = Unilateral::Source;

// Two unit vectors across n, as UnilateralRows takes them where n has its value.
void tangents(const Vec3<Jet>& n, Vec3<Jet>& t1, Vec3<Jet>& t2) {
  const Mat3<double> axes = axes_with_z({n.x.value, n.y.value, n.z.value});
  t1 = Vec3<Jet>(axes.a) - dot(Vec3<Jet>(axes.a), n) * n;
  t1 = (Jet(1) / sqrt(dot(t1, t1))) * t1;
  t2 = cross(n, t1);
}

// Slopes of jets to columns `start` and the following.
void write(const std::vector<Jet>& from, int rows, int start, RowMatrix& to) {
  const int count = std::min<int>(Jet::width, static_cast<int>(to.cols()) - start);
  for (int i = 0; i < rows; ++i)
    for (int k = 0; k < count; ++k) to(i, start + k) = from[i].slope[k];
}

}  // namespace

ImpulseEquations::ImpulseEquations(const Model& m)
    : m_(m), rows_(m), constraints_(m), begin_(m), end_(m), d_(m.nv), q_(m.nq), q1_(m.nq), v_(m.nv), mu_(m.rows),
      moved_(m.nv), force_(m.size()) {}

int ImpulseEquations::count(const std::vector<Unilateral>& parts) const {
  int n = 0;
  for (const Unilateral& u : parts) n += rows_.rows(u);
  return n;
}

void ImpulseEquations::place(const double* q, int start, std::vector<Jet>& moved, Workspace<Jet>& at) {
  for (Jet& d : d_) d = Jet();
  for (int k = 0; k < Jet::width && start >= 0 && start + k < m_.nv; ++k) d_[start + k].slope.set(k, 1);
  retract_ad(m_, q, d_.data(), moved.data());
  compute_poses(m_, moved.data(), at);
}

ImpulseEquations::Touch ImpulseEquations::touch(const Unilateral& u, const Workspace<Jet>& at) const {
  const ContactPair& pair = m_.contact_pairs[u.index];
  Touch out;
  out.a = m_.collision_shapes[pair.a].at.body, out.b = m_.collision_shapes[pair.b].at.body;
  const Gap<Jet> gap = symplectree::gap(u.a, at.pose[out.a], u.b, at.pose[out.b]);
  out.gap = gap.g, out.point = gap.point(), out.axes[0] = gap.n;
  tangents(gap.n, out.axes[1], out.axes[2]);
  return out;
}

void ImpulseEquations::add_push(const std::vector<Unilateral>& parts, const std::vector<double>& x,
                                const Workspace<Jet>& at, Jet* out) {
  for (auto& f : force_) f = {};
  int row = 0;
  for (const Unilateral& u : parts) {
    if (u.source == Source::Contact) {
      const Touch t = touch(u, at);
      Vec3<Jet> f;
      for (int k = 0; k < rows_.rows(u); ++k) f += Jet(x[row + k]) * t.axes[k];
      if (t.a > 0) force_[t.a] += force_at(t.point, f, t.a, at);
      if (t.b > 0) force_[t.b] += force_at(t.point, -f, t.b, at);
    }  // of limits and frictions J does not change
    row += rows_.rows(u);
  }
  for (int i = m_.size() - 1; i > 0; --i) {
    const Body& b = m_.bodies[i];
    for (int j = b.v; j < b.v + b.nv; ++j) out[j] += dot(at.S[j], force_[i]);
    force_[b.parent] += shift_force(force_[i], at.pose[i].r);
  }
}

void ImpulseEquations::speeds(const std::vector<Unilateral>& parts, const double* v, const Workspace<Jet>& at,
                              Jet* out) const {
  for (const Unilateral& u : parts) {
    if (u.source == Source::Limit) {
      const JointLimit& limit = m_.joint_limits[u.index];
      out[0] = Jet(limit.side * v[limit.v]);
    } else if (u.source == Source::Friction) {
      out[0] = Jet(v[m_.joint_frictions[u.index].v]);
    } else {
      const Touch t = touch(u, at);
      const Vec3<Jet> apart = velocity_at(t.point, t.a, at) - velocity_at(t.point, t.b, at);
      for (int k = 0; k < rows_.rows(u); ++k) out[k] = dot(t.axes[k], apart);
    }
    out += rows_.rows(u);
  }
}

ImpulseSlopes ImpulseEquations::at(const std::vector<Unilateral>& parts, const double* q, const double* v,
                                   const double* mu, const std::vector<double>& x) {
  const int nv = m_.nv, n = count(parts);
  ImpulseSlopes out;
  for (RowMatrix* to : {&out.momenta, &out.bound, &out.push}) *to = RowMatrix::Zero(nv, nv);
  out.rates = RowMatrix::Zero(m_.rows, nv), out.speeds = RowMatrix::Zero(n, nv);
  for (int j = 0; j < nv; ++j) v_[j] = Jet(v[j]);
  for (int k = 0; k < m_.rows; ++k) mu_[k] = Jet(mu[k]);
  std::vector<Jet> result(std::max({nv, n, m_.rows}));
  const auto clear = [&] { std::fill(result.begin(), result.end(), Jet()); };
  for (int start = 0; start < nv; start += Jet::width) {
    place(q, start, q_, end_);
    momenta(m_, q_.data(), v_.data(), result.data(), end_);  // with twists
    write(result, nv, start, out.momenta);
    if (m_.rows > 0) {
      clear();
      constraints_.add_impulses(q_.data(), d_.data(), mu_.data(), end_, result.data());
      write(result, nv, start, out.bound);
      constraints_.rates(q_.data(), d_.data(), v_.data(), end_, result.data());
      write(result, m_.rows, start, out.rates);
    }
    clear();
    add_push(parts, x, end_, result.data());
    write(result, nv, start, out.push);
    speeds(parts, v, end_, result.data());
    write(result, n, start, out.speeds);
  }
  return out;
}

RowMatrix ImpulseEquations::push(const std::vector<Unilateral>& parts, const double* q, const std::vector<double>& x) {
  RowMatrix out = RowMatrix::Zero(m_.nv, m_.nv);
  std::vector<Jet> result(m_.nv);
  for (int start = 0; rows_.has_contacts() && start < m_.nv; start += Jet::width) {
    place(q, start, q_, begin_);
    std::fill(result.begin(), result.end(), Jet());
    add_push(parts, x, begin_, result.data());
    write(result, m_.nv, start, out);
  }
  return out;
}

RowMatrix ImpulseEquations::values(const std::vector<Unilateral>& parts, const double* q, const double* q1) {
  const int nv = m_.nv, n = count(parts);
  RowMatrix out = RowMatrix::Zero(n, 2 * nv);
  std::vector<Jet> result(n);
  for (int end = 0; end < 2; ++end)
    for (int start = 0; start < nv; start += Jet::width) {
      place(q, end ? -1 : start, q_, begin_);
      place(q1, end ? start : -1, q1_, end_);
      increments_ad(m_, q_.data(), q1_.data(), moved_.data());
      Jet* y = result.data();
      for (const Unilateral& u : parts) {
        if (u.source == Source::Friction) {
          y[0] = moved_[m_.joint_frictions[u.index].v];
        } else if (u.source == Source::Limit) {
          const JointLimit& limit = m_.joint_limits[u.index];
          y[0] = Jet(limit.side) * (q1_[limit.q] - (u.allowed < 0 ? q_[limit.q] : Jet(limit.bound)));
        } else {
          const Touch from = touch(u, begin_), to = touch(u, end_);
          y[0] = u.allowed < 0 ? to.gap - from.gap : to.gap;
          const auto &a0 = begin_.pose[from.a], &b0 = begin_.pose[from.b], &a1 = end_.pose[from.a],
                     &b1 = end_.pose[from.b];
          const Vec3<Jet> first = (a1.x + a1.R * transposed_times(a0.R, from.point - a0.x)) -
                                  (b1.x + b1.R * transposed_times(b0.R, from.point - b0.x));
          const Vec3<Jet> last = (b0.x + b0.R * transposed_times(b1.R, to.point - b1.x)) -
                                 (a0.x + a0.R * transposed_times(a1.R, to.point - a1.x));
          const Vec3<Jet> apart = Jet(0.5) * (first + last);
          for (int k = 1; k < rows_.rows(u); ++k) y[k] = dot(from.axes[k], apart);
        }
        y += rows_.rows(u);
      }
      const int columns = std::min(Jet::width, nv - start);
      for (int i = 0; i < n; ++i)
        for (int k = 0; k < columns; ++k) out(i, nv * end + start + k) = result[i].slope[k];
    }
  return out;
}

}  // namespace symplectree
