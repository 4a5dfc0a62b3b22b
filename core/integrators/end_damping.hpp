// Dampers that end motions within a step, at the step's end.
//
// Dampers act through the displacement of a step, with −(h/2) C u at either end, u the displacement's velocity: what
// decays is multiplied by (1 − ζ)/(1 + ζ), ζ = h c/2m, which tends to −1 for ζ → ∞, and velocities would swing from
// step to step. So a share of what a strong damper does at the end is taken with the velocity v' there instead of u,
//
//   p' = p⁺ + E (u − v'),   M(q') v' = p' and what constraints add,   E = Σ (h/2) c s,   s = (ζ − ζ₀)/(1 + ζ) ≥ 0,
//
// where p⁺ is the momentum without it. The multiplier then tends to −ζ₀/ζ², and the limit is the creeping motion
// C v = F(q), in which u = v'. s is zero for ζ < ζ₀, so short steps stay what they are. m is the inertia that the
// damper works against where all coordinates are zero; as u − v' = O(h), its choice does not change the order.
#pragma once

#include "dynamics/aba.hpp"
#include "elements/joint_damper.hpp"
#include "elements/pair_elements.hpp"
#include "elements/user_elements_ad.hpp"
#include "integrators/joint_terms.hpp"

namespace symplectree {

// 1/m where all coordinates are zero: of each velocity, and of each damped pair the sum over three directions.
template <class R>
struct DampedInertia {
  std::vector<R> of_velocity, of_pair;

  explicit DampedInertia(const ModelOf<R>& m) : of_velocity(m.nv) {
    Workspace<R> w(m);
    std::vector<R> q(m.nq), force(m.nv), v(m.nv);
    for (int i : m.quaternions) q[m.bodies[i].q + m.bodies[i].nq() - 4] = R(1);
    factorize_mass(m, q.data(), w);
    for (int j = 0; j < m.nv; ++j) of_velocity[j] = finite(w.pivot_inverse[j]);
    for_damped_pairs(m, [&](const auto& row) {
      R sum(0);
      for (int axis = 0; axis < 3; ++axis) {
        const Vec3<R> e{R(axis == 0), R(axis == 1), R(axis == 2)};
        std::fill(force.begin(), force.end(), R(0));
        pull(m, w, row.a, -e, force), pull(m, w, row.b, e, force);
        solve_mass(m, force.data(), v.data(), w);
        for (int j = 0; j < m.nv; ++j) sum += force[j] * v[j];
      }
      of_pair.push_back(finite(sum));
    });
  }

 private:
  static R finite(const R& x) { return std::isfinite(value_of(x)) ? x : R(0); }

  // force (nv) += that of a force e at a point, or of a torque e where it is an axis that is held.
  template <class End>
  static void pull(const ModelOf<R>& m, const Workspace<R>& w, const End& end, const Vec3<R>& e,
                   std::vector<R>& force) {
    Spatial<R> f{e, {}};
    if constexpr (requires { end.at; }) f = {cross(held(end, w.pose[end.body]).arm, e), e};
    for (int i = end.body; i > 0; f = shift_force(f, w.pose[i].r), i = m.bodies[i].parent)
      for (int j = m.bodies[i].v; j < m.bodies[i].v + m.bodies[i].nv; ++j) force[j] += dot(w.S[j], f);
  }
};

// E and u of a step, on numbers T of the state and R of the model.
template <class T, class R = double>
class EndDamping {
 public:
  std::vector<T> of_joint, rate;        // of each velocity: E of its dampers; u
  std::vector<T> of_pair, pair_rate;    // of each damped pair: the same, with the rate of its gauge for u
  std::vector<std::vector<T>> of_user;  // of each of the user's forces: E (size × size), empty where it is zero

  explicit EndDamping(const ModelOf<R>& m)
      : of_joint(m.nv), rate(m.nv), m_(m), zero_(m.nv), unit_(m.nv, R(-2)), force_(m.size()), users_(m) {
    for (std::size_t k = 0; k < m.users.size(); ++k)
      if (m.users[k].kind == UserElement::Force) forces_.push_back(&m.users[k]);
    of_user.resize(forces_.size());
    read_model();
  }

  // What follows from the model's numbers, which change where they carry derivatives.
  void read_model() {
    const DampedInertia<R> inverse(m_);
    inverse_ = inverse.of_velocity;
    joint_ = joint_damping(m_), pair_.clear();
    for_damped_pairs(m_, [&](const auto& row) { pair_.push_back(row.damping); });
    of_pair.resize(pair_.size()), pair_rate.resize(pair_.size());
    pair_inverse_ = inverse.of_pair;
    strongest_ = 0;
    for (int j = 0; j < m_.nv; ++j) strongest_ = std::max(strongest_, 0.5 * value_of(joint_[j] * inverse_[j]));
    for (std::size_t k = 0; k < pair_.size(); ++k)
      strongest_ = std::max(strongest_, 0.5 * value_of(pair_[k] * pair_inverse_[k]));
  }

  // Does one of the user's forces have one in a step of h near (q, v)?
  bool is_strong(const T& h, const T* q, const T* v) {
    std::copy(v, v + m_.nv, rate.begin());
    for (std::size_t u = 0; u < forces_.size(); ++u)
      if (measure_user(*forces_[u], T(0.5) * h, q, of_user[u])) return true;
    return false;
  }

  // The user's forces.
  const std::vector<const UserElement*>& forces() const { return forces_; }

  // Does a damper of the model's own have a share in steps of h?
  bool is_strong(double h) const { return h * strongest_ > kMild; }

  // E ← (h/2) C at (q, 0), u ← 0.
  void take_all(const T& h, const T* q) {
    const T half = T(0.5) * h;
    for (int j = 0; j < m_.nv; ++j) of_joint[j] = half * T(joint_[j]), rate[j] = T(0);
    for (std::size_t k = 0; k < pair_.size(); ++k) of_pair[k] = half * T(pair_[k]), pair_rate[k] = T(0);
    for (std::size_t u = 0; u < forces_.size(); ++u) {
      of_user[u].resize(forces_[u]->v.size() * forces_[u]->v.size());
      users_.velocity_derivative(*forces_[u], q, rate.data(), of_user[u].data());
      for (T& e : of_user[u]) e = -half * e;
    }
  }

  // E and u of a step, with the poses at its ends where there are damped pairs. Is any E not zero?
  bool measure(const StepEnds<T>& step, const Workspace<T>& start, const Workspace<T>& end) {
    const T half = T(0.5) * step.h, inverse_h = T(1) / step.h;
    bool any = false;
    for (int i = 1; i < m_.size(); ++i) {
      const BodyOf<R>& body = m_.bodies[i];
      joint_block_terms({zero_.data(), unit_.data()}, body, step, true, &rate[body.v], nullptr);
      for (int j = body.v; j < body.v + body.nv; ++j) rate[j] = inverse_h * rate[j];
    }
    for (int j = 0; j < m_.nv; ++j) any |= share(half * T(joint_[j]), T(inverse_[j]), of_joint[j]);
    std::size_t k = 0;
    for_damped_pairs(m_, [&](const auto& row) {
      any |= share(half * T(pair_[k]), T(pair_inverse_[k]), of_pair[k]);
      pair_rate[k++] = inverse_h * gauge_change(row, gauge_of(row, start).value, gauge_of(row, end).value);
    });
    for (std::size_t u = 0; u < forces_.size(); ++u) any |= measure_user(*forces_[u], half, step.q1, of_user[u]);
    return any;
  }

  // balance (nv) += E (v − u), with the twists of v in `at`.
  void add(const T* v, const Workspace<T>& at, T* balance) {
    for (int j = 0; j < m_.nv; ++j) balance[j] += of_joint[j] * (v[j] - rate[j]);
    for (std::size_t u = 0; u < forces_.size(); ++u) {
      const std::vector<int>& own = forces_[u]->v;
      for (std::size_t e = 0; e < of_user[u].size(); ++e)
        balance[own[e / own.size()]] += of_user[u][e] * (v[own[e % own.size()]] - rate[own[e % own.size()]]);
    }
    if (pair_.empty()) return;
    for (auto& f : force_) f = {};
    std::size_t k = 0;
    for_damped_pairs(m_, [&](const auto& row) {
      const Gauge<T> g = gauge_of(row, at);
      add_gauge(row, g, of_pair[k] * (gauge_rate(row, g, at.V) - pair_rate[k]) * g.scale, force_);
      ++k;
    });
    for (int i = m_.size() - 1; i > 0; --i) {
      const BodyOf<R>& b = m_.bodies[i];
      for (int j = b.v; j < b.v + b.nv; ++j) balance[j] += dot(at.S[j], force_[i]);
      force_[b.parent] += shift_force(force_[i], at.pose[i].r);
    }
  }

 private:
  static constexpr double kMild = 0.5;  // ζ₀

  // out ← (h/2) c s, of half = (h/2) c; is it not zero?
  static bool share(const T& half, const T& inverse, T& out) {
    const T zeta = half * inverse;
    const bool strong = value_of(zeta) > kMild;
    out = strong ? half * (zeta - T(kMild)) / (T(1) + zeta) : T(0);
    return strong;
  }

  // Of a force with derivatives −C in velocities: ζ of each where C is diagonal, else of all by the trace of C/m, so
  // that E does nothing where C does nothing.
  bool measure_user(const UserElement& u, const T& half, const T* q, std::vector<T>& out) {
    const int k = u.size();
    out.resize(k * k);
    users_.velocity_derivative(u, q, rate.data(), out.data());
    bool diagonal = true, strong = false;
    for (int e = 0; e < k * k; ++e) diagonal &= e % (k + 1) == 0 || value_of(out[e]) == 0;
    T trace(0), part(0);
    for (int i = 0; i < k; ++i) {
      T& own = out[(k + 1) * i];
      trace -= half * own * T(inverse_[u.v[i]]);
      if (diagonal) strong |= share(-half * own, T(inverse_[u.v[i]]), own);
    }
    if (!diagonal && (strong = share(trace, T(1), part)))
      for (T& e : out) e = -half * (part / trace) * e;
    if (!strong) out.clear();
    return strong;
  }

  const ModelOf<R>& m_;
  std::vector<R> joint_, pair_, inverse_, pair_inverse_;  // c, and 1/m
  double strongest_ = 0;                                  // ζ/h
  std::vector<R> zero_, unit_;                            // for joint_block_terms
  std::vector<Spatial<T>> force_;
  std::vector<const UserElement*> forces_;
  UserElementsAD<T, R> users_;
};

}  // namespace symplectree
