// Gauss collocation on (q, p): the Galerkin variational integrator with Gauss quadrature. Order 2s with s stages,
// symplectic and symmetric; O(n) per stage and iteration. Stages are found by fixed-point iteration, starting from the
// collocation polynomial of the step before.
#pragma once

#include <array>

#include "charts.hpp"
#include "hamilton.hpp"

namespace symplectree {

struct Tableau {
  int stages;
  std::array<double, 4> c, b;
  std::array<std::array<double, 4>, 4> a;
};

// Integrals of the Lagrange polynomials on the nodes c: a_ij up to c_i, b_j up to 1; and for any upper end.
inline std::array<double, 4> collocation_weights(const Tableau& t, double end) {
  std::array<double, 4> out{};
  for (int j = 0; j < t.stages; ++j) {
    std::array<double, 5> poly{1};  // coefficients of Π (x − c_k)/(c_j − c_k), lowest power first
    int degree = 0;
    for (int k = 0; k < t.stages; ++k) {
      if (k == j) continue;
      for (int d = ++degree; d >= 0; --d)
        poly[d] = ((d > 0 ? poly[d - 1] : 0) - t.c[k] * (d < degree ? poly[d] : 0)) / (t.c[j] - t.c[k]);
    }
    double power = end;
    for (int d = 0; d <= degree; ++d, power *= end) out[j] += poly[d] * power / (d + 1);
  }
  return out;
}

inline Tableau gauss_tableau(int stages) {
  Tableau t{stages, {}, {}, {}};
  const double r3 = std::sqrt(3.0) / 6, r15 = std::sqrt(15.0) / 10;
  if (stages == 2) t.c = {0.5 - r3, 0.5 + r3};
  if (stages == 3) t.c = {0.5 - r15, 0.5, 0.5 + r15};
  if (stages == 4) {
    const double outer = 0.5 * std::sqrt(3.0 / 7 + 2.0 / 7 * std::sqrt(1.2)),
                 inner = 0.5 * std::sqrt(3.0 / 7 - 2.0 / 7 * std::sqrt(1.2));
    t.c = {0.5 - outer, 0.5 - inner, 0.5 + inner, 0.5 + outer};
  }
  for (int i = 0; i < stages; ++i) t.a[i] = collocation_weights(t, t.c[i]);
  t.b = collocation_weights(t, 1);
  return t;
}

class GaussRun {
 public:
  std::vector<double> q, p;
  long iterations = 0;

  GaussRun(const Model& m, int stages, double tolerance, int max_iterations)
      : q(m.nq),
        p(m.nv),
        m_(m),
        w_(m),
        t_(gauss_tableau(stages)),
        tolerance_(tolerance),
        max_iterations_(max_iterations),
        stage_q_(m.nq),
        stage_p_(m.nv),
        v_(m.nv),
        force_(m.nv),
        start_(2 * m.nv),
        end_(2 * m.nv),
        newest_(2 * m.nv) {
    for (int i = 0; i < stages; ++i) rate_.emplace_back(2 * m.nv);
    for (int i = 0; i < stages; ++i) ahead_.push_back(predictor(1 + t_.c[i]));
  }

  void reset(const double* q0, const double* p0) {
    std::copy(q0, q0 + m_.nq, q.begin());
    std::copy(p0, p0 + m_.nv, p.begin());
    known_ = false;
  }

  // One step under forces(t, q, v) → (tau, inputs); false when the stages are not found.
  template <class Forces>
  bool step(double t, double h, Forces&& forces) {
    const int n = m_.nv, s = t_.stages;
    make_charts();
    to_chart();
    if (known_) {
      predict();
    } else {
      evaluate(t, start_.data(), rate_[0].data(), forces);
      for (int i = 1; i < s; ++i) rate_[i] = rate_[0];
    }
    double last = INFINITY;
    for (int it = 0; it < max_iterations_; ++it) {
      ++iterations;
      double change = 0, size = 0;
      for (int i = 0; i < s; ++i) {  // each stage uses the newest rates of the others
        for (int k = 0; k < 2 * n; ++k) {
          double sum = 0;
          for (int j = 0; j < s; ++j) sum += t_.a[i][j] * rate_[j][k];
          end_[k] = start_[k] + h * sum;
        }
        evaluate(t + t_.c[i] * h, end_.data(), newest_.data(), forces);
        for (int k = 0; k < 2 * n; ++k) {
          change = std::max(change, std::fabs(newest_[k] - rate_[i][k]));
          size = std::max(size, std::fabs(newest_[k]));
        }
        std::swap(newest_, rate_[i]);
      }
      if (!std::isfinite(change)) return fail();
      // What is left is about change · ratio/(1 − ratio); or it no longer falls, because it is rounding.
      const double ratio = it == 0 ? 1 : std::min(change / last, 0.5);
      if (change * ratio <= tolerance_ * size || (change < 1e-10 * size && change >= last)) return finish(h);
      if (it > 8 && change > 2 * last) return fail();
      last = change;
    }
    return fail();
  }

  // v = M(q)⁻¹ p.
  void velocity(double* v) {
    factorize_mass(m_, q.data(), w_);
    solve_mass(m_, p.data(), v, w_);
  }

 private:
  // Weights that give the rate at relative time x from the rates at the nodes: Lagrange polynomials.
  std::array<double, 4> predictor(double x) const {
    std::array<double, 4> out{};
    for (int j = 0; j < t_.stages; ++j) {
      out[j] = 1;
      for (int k = 0; k < t_.stages; ++k)
        if (k != j) out[j] *= (x - t_.c[k]) / (t_.c[j] - t_.c[k]);
    }
    return out;
  }

  void predict() {
    for (int k = 0; k < 2 * m_.nv; ++k) {
      std::array<double, 4> known{};
      for (int j = 0; j < t_.stages; ++j) known[j] = rate_[j][k];
      for (int i = 0; i < t_.stages; ++i) {
        rate_[i][k] = 0;
        for (int j = 0; j < t_.stages; ++j) rate_[i][k] += ahead_[i][j] * known[j];
      }
    }
  }

  bool fail() {
    known_ = false;
    return false;
  }

  bool finish(double h) {
    for (int k = 0; k < 2 * m_.nv; ++k) {
      double sum = 0;
      for (int j = 0; j < t_.stages; ++j) sum += t_.b[j] * rate_[j][k];
      end_[k] = start_[k] + h * sum;
    }
    from_chart(end_.data(), q.data(), p.data());
    known_ = true;
    return true;
  }

  static int quaternion_of(const Body& b) { return b.q + (b.kind == Kind::Free ? 3 : 0); }

  // Charts around the present state; rates known in others are of no use.
  void make_charts() {
    std::size_t k = 0;
    for (const Body& b : m_.bodies) {
      if (b.nv == 1 || &b == &m_.bodies[0]) continue;
      const Chart chart(&q[quaternion_of(b)]);
      if (charts_.size() <= k) charts_.push_back(chart), known_ = false;
      const Vec3<double> gap = chart.centre.v - charts_[k].centre.v;
      if (chart.centre.w != charts_[k].centre.w || dot(gap, gap) != 0) known_ = false;
      charts_[k++] = chart;
    }
  }

  // start_ ← (c, π) of the state. Free joints: (rotation vector, position in base axes).
  void to_chart() {
    std::size_t k = 0;
    for (int i = 1; i < m_.size(); ++i) {
      const Body& b = m_.bodies[i];
      double *c = &start_[b.v], *pi = &start_[m_.nv + b.v];
      if (b.nv == 1) {
        c[0] = q[b.q], pi[0] = p[b.v];
        continue;
      }
      const double* z = &q[quaternion_of(b)];
      const Vec3<double> w = charts_[k++].coordinates(z);
      store3(w, c);
      store3(right_jacobian_transposed(w, load3(&p[b.v])), pi);
      if (b.kind != Kind::Free) continue;
      store3(load3(&q[b.q]), c + 3);
      store3(quaternion_matrix(z[0], z[1], z[2], z[3]) * load3(&p[b.v + 3]), pi + 3);
    }
  }

  // (q, p) ← the state with chart coordinates z = (c, π).
  void from_chart(const double* z, double* q_out, double* p_out) const {
    std::size_t k = 0;
    for (int i = 1; i < m_.size(); ++i) {
      const Body& b = m_.bodies[i];
      const double *c = z + b.v, *pi = z + m_.nv + b.v;
      if (b.nv == 1) {
        q_out[b.q] = c[0], p_out[b.v] = pi[0];
        continue;
      }
      double* y = q_out + quaternion_of(b);
      const Vec3<double> w = load3(c);
      charts_[k++].place(w, y);
      store3(right_jacobian_inverse_transposed(w, load3(pi)), p_out + b.v);
      if (b.kind != Kind::Free) continue;
      for (int d = 0; d < 3; ++d) q_out[b.q + d] = c[3 + d];
      store3(transposed_times(quaternion_matrix(y[0], y[1], y[2], y[3]), load3(pi + 3)), p_out + b.v + 3);
    }
  }

  // rate ← (ċ, π̇) at z = (c, π): Hamilton's equations in the chart.
  template <class Forces>
  void evaluate(double t, const double* z, double* rate, Forces&& forces) {
    double* stage_p = stage_p_.data();
    from_chart(z, stage_q_.data(), stage_p);
    factorize_mass(m_, stage_q_.data(), w_);
    solve_mass(m_, stage_p, v_.data(), w_);
    const auto [tau, inputs] = forces(t, stage_q_.data(), v_.data());
    momentum_rate(m_, stage_q_.data(), v_.data(), tau, inputs, force_.data(), w_);
    for (int i = 1; i < m_.size(); ++i) {
      const Body& b = m_.bodies[i];
      double *cdot = rate + b.v, *pidot = rate + m_.nv + b.v;
      if (b.nv == 1) {
        cdot[0] = v_[b.v], pidot[0] = force_[b.v];
        continue;
      }
      const Vec3<double> w = load3(z + b.v), omega = load3(&v_[b.v]), p_w = load3(stage_p + b.v);
      const Vec3<double> wdot = right_jacobian_inverse(w, omega);
      Vec3<double> turning = load3(&force_[b.v]);
      if (b.kind == Kind::Free) {
        const double* y = &stage_q_[quaternion_of(b)];
        const Mat3<double> R = quaternion_matrix(y[0], y[1], y[2], y[3]);
        const Vec3<double> u = load3(&v_[b.v + 3]), p_u = load3(stage_p + b.v + 3);
        store3(R * u, cdot + 3);
        store3(R * load3(&force_[b.v + 3]), pidot + 3);
        turning += cross(p_u, u);
      }
      store3(wdot, cdot);
      store3(right_jacobian_transposed(w, turning) + right_jacobian_gradient(w, wdot, p_w), pidot);
    }
  }

  const Model& m_;
  Workspace<double> w_;
  Tableau t_;
  double tolerance_;
  int max_iterations_;
  std::vector<double> stage_q_, stage_p_, v_, force_, start_, end_, newest_;
  std::vector<std::vector<double>> rate_;
  std::vector<std::array<double, 4>> ahead_;
  std::vector<Chart> charts_;
  bool known_ = false;
};

}  // namespace symplectree
