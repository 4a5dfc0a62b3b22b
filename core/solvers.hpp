// How a variational step finds its root: Newton's direction and its slower relatives, which find the same root.
#pragma once

#include <Eigen/LU>

#include "newton.hpp"

namespace symplectree {

enum class Solver { Newton, Riqn, Broyden, Dense };

// Damped lines: each adds (c/2) g gʹᵀ to Newton's matrix, g and gʹ the gradients of its length at the step's two ends.
struct LineUpdate {
  std::vector<int> lines;
  Eigen::MatrixXd G, X, small;  // gradients at the beginning, tree solutions for them (nv × lines)
  Eigen::VectorXd right, lambda;

  explicit LineUpdate(const Model& m) {
    for (std::size_t l = 0; l < m.lines.size(); ++l)
      if (m.lines[l].damping != 0) lines.push_back(static_cast<int>(l));
    const Eigen::Index k = static_cast<Eigen::Index>(lines.size());
    G.resize(m.nv, k), X.resize(m.nv, k), small.resize(k, k), right.resize(k), lambda.resize(k);
  }
};

// D_j ℓ of a line at the poses in `at`, (nv).
inline void length_gradient(const Model& m, const Line& line, const Workspace<double>& at, double* g) {
  std::fill(g, g + m.nv, 0.0);
  const Vec3<double> xa = position(line.a, at), xb = position(line.b, at), d = xb - xa;
  const double length = std::sqrt(dot(d, d));
  if (length == 0) return;
  const auto add = [&](int i, const Vec3<double>& x, double sign) {
    for (; i > 0; i = m.bodies[i].parent)
      for (int j = m.bodies[i].v; j < m.bodies[i].v + m.bodies[i].nv; ++j)
        g[j] += sign / length * dot(d, at.S[j].linear + cross(at.S[j].angular, x - at.pose[i].x));
  };
  add(line.a.body, xa, -1), add(line.b.body, xb, 1);
}

class Direction {
 public:
  explicit Direction(const Model& m) : update_(m), row_(m.nv) {}

  // Forget what was learned from earlier iterations; the mass matrix at the beginning serves riqn and broyden.
  void begin(Solver solver, VariationalWorkspace& w, const double* q0) {
    solver_ = solver;
    if (solver == Solver::Riqn || solver == Solver::Broyden) factorize_mass(w.m, q0, *w.now);
    pairs_ = 0;
  }

  // δ ≈ (−∂r/∂δ)⁻¹ r after displace<…, true> and residual.
  void compute(VariationalWorkspace& w, double h, const double* q0, const double* q1, double* delta) {
    switch (solver_) {
      case Solver::Newton:
        newton(w, h, q0, q1, delta);
        break;
      case Solver::Riqn:
        impulse(w, h, w.r.data(), delta);
        break;
      case Solver::Broyden:
        broyden(w, h, w.r.data(), delta);
        break;
      case Solver::Dense:
        dense(w, h, q0, q1, delta);
        break;
    }
  }

  // Tell broyden that the step s changed the residual from `before` to w.r.
  void learn(VariationalWorkspace& w, double h, const double* s, const double* before) {
    if (solver_ != Solver::Broyden) return;
    const int n = w.m.nv;
    std::vector<double> y(n), Hy(n);
    for (int j = 0; j < n; ++j) y[j] = before[j] - w.r[j];
    broyden(w, h, y.data(), Hy.data());
    double scale = 0;
    for (int j = 0; j < n; ++j) scale += s[j] * Hy[j];
    if (!(std::fabs(scale) > 1e-300)) return;
    if (a_.size() <= pairs_) a_.emplace_back(n), s_.emplace_back(n);
    for (int j = 0; j < n; ++j) a_[pairs_][j] = (s[j] - Hy[j]) / scale, s_[pairs_][j] = s[j];
    ++pairs_;
  }

 private:
  void newton(VariationalWorkspace& w, double h, const double* q0, const double* q1, double* delta) {
    factorize(w, h, q0, q1);
    const int k = static_cast<int>(update_.lines.size());
    if (k == 0) return solve_tree(w, w.r.data(), delta);
    const Model& m = w.m;
    Eigen::Map<Eigen::VectorXd> d(delta, m.nv), row(row_.data(), m.nv);
    for (int l = 0; l < k; ++l) {
      length_gradient(m, m.lines[update_.lines[l]], *w.now, update_.G.col(l).data());
      solve_tree(w, update_.G.col(l).data(), update_.X.col(l).data());
    }
    solve_tree(w, w.r.data(), delta);
    for (int l = 0; l < k; ++l) {  // (C⁻¹ + Gʹᵀ X) λ = Gʹᵀ δ, then δ − X λ
      const Line& line = m.lines[update_.lines[l]];
      length_gradient(m, line, *w.next, row_.data());
      update_.small.row(l) = row.transpose() * update_.X;
      update_.small(l, l) += 2 / line.damping;
      update_.right(l) = row.dot(d);
    }
    update_.lambda = update_.small.partialPivLu().solve(update_.right);
    d -= update_.X * update_.lambda;
  }

  // LLPS16 Algorithm 3: δ = h M(q)⁻¹ r.
  void impulse(VariationalWorkspace& w, double h, const double* r, double* delta) {
    solve_mass(w.m, r, delta, *w.now);
    for (int j = 0; j < w.m.nv; ++j) delta[j] *= h;
  }

  // Broyden's good update of the inverse, kept as pairs over h M⁻¹: H = Π (1 + a sᵀ) h M⁻¹.
  void broyden(VariationalWorkspace& w, double h, const double* r, double* delta) {
    impulse(w, h, r, delta);
    for (std::size_t i = 0; i < pairs_; ++i) {
      double c = 0;
      for (int j = 0; j < w.m.nv; ++j) c += s_[i][j] * delta[j];
      for (int j = 0; j < w.m.nv; ++j) delta[j] += c * a_[i][j];
    }
  }

  // LLPS16 Algorithm 4: the full matrix, a column at a time, and an LU factorisation.
  void dense(VariationalWorkspace& w, double h, const double* q0, const double* q1, double* delta) {
    const Model& m = w.m;
    Eigen::MatrixXd full(m.nv, m.nv);
    std::vector<Spatial<double>> g(m.size());
    for (int c = 0; c < m.nv; ++c) {
      for (int i = 1; i < m.size(); ++i) {
        w.eta[i] = shift_motion(w.eta[m.bodies[i].parent], w.next->pose[i].r);
        if (m.body_of[c] == i) w.eta[i] += w.next->S[c];
        g[i] = w.A[i] * w.eta[i];
      }
      for (int i = m.size() - 1; i > 0; --i) {
        const Body& body = m.bodies[i];
        for (int j = body.v; j < body.v + body.nv; ++j) full(j, c) = dot(w.now->S[j], g[i]);
        if (body.parent > 0) g[body.parent] += shift_force(g[i], w.now->pose[i].r);
      }
    }
    for (int i = 1; i < m.size(); ++i) {
      const Body& body = m.bodies[i];
      if (body.nv == 1) full(body.v, body.v) += w.stiff[body.v];
      if (body.nv == 1 || !w.has_block_terms[i]) continue;
      double t[6], N[36] = {};
      joint_block_terms(w, body, q0, q1, h, false, t, N);
      for (int k = 0; k < body.nv; ++k)
        for (int l = 0; l < body.nv; ++l) full(body.v + k, body.v + l) += N[body.nv * k + l];
    }
    Eigen::VectorXd start(m.nv), end(m.nv);
    for (int l : update_.lines) {
      length_gradient(m, m.lines[l], *w.now, start.data());
      length_gradient(m, m.lines[l], *w.next, end.data());
      full += 0.5 * m.lines[l].damping * start * end.transpose();
    }
    Eigen::Map<Eigen::VectorXd>(delta, m.nv) = full.partialPivLu().solve(Eigen::Map<Eigen::VectorXd>(w.r.data(), m.nv));
  }

  Solver solver_ = Solver::Newton;
  LineUpdate update_;
  std::vector<double> row_;
  std::vector<std::vector<double>> a_, s_;
  std::size_t pairs_ = 0;
};

// One of the actions on a tree, as a scheme for VariationalRun.
template <class Action>
class TreeScheme {
 public:
  static constexpr bool several_roots = true;  // a displacement is periodic in the angle

  TreeScheme(const Model& m, Solver solver) : w_(m), direction_(m), solver_(solver) {}

  void place(const double* q) { compute_poses(w_.m, q, *w_.now); }
  void begin(double h, const double* q, const double* p, const double* tau, const double* inputs) {
    begin_step<Action>(w_, h, q, p, tau, inputs);
    direction_.begin(solver_, w_, q);
  }
  // The residual at q1, ready for `direction` when `WithDerivative`; relative size, and the worst coordinate.
  template <bool WithDerivative>
  double evaluate(double h, const double* q0, const double* q1, int& worst) {
    displace<Action, WithDerivative>(w_, h, q1);
    return symplectree::residual(w_, h, q0, q1, worst);
  }
  // A Newton step from q1 in one go, where there is one: the residual at q1 itself is not formed.
  bool quick_direction(double h, const double* q0, const double* q1, double* delta) {
    if (solver_ != Solver::Newton || w_.damped_lines) return false;
    displace<Action, true>(w_, h, q1);
    newton_sweep(w_, h, q0, q1, delta);
    return true;
  }
  bool at_floor(double h, const double*, const double* q1, double factor) {
    return at_rounding_floor(w_, h, q1, factor);
  }
  void direction(double h, const double* q0, const double* q1, double* delta) {
    direction_.compute(w_, h, q0, q1, delta);
  }
  void learn(double h, const double* s, const double* before) { direction_.learn(w_, h, s, before); }
  void finish(double h, const double* q0, const double* q1, const double* tau, const double* inputs, double* p) {
    end_step<Action>(w_, h, q0, q1, tau, inputs, p);
  }
  void flip() { std::swap(w_.now, w_.next); }

  const std::vector<double>& residual() const { return w_.r; }
  const std::vector<double>& scale() const { return w_.scale; }

 private:
  VariationalWorkspace w_;
  Direction direction_;
  Solver solver_;
};

}  // namespace symplectree
