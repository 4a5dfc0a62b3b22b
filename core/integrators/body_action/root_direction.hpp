// How a variational step finds its root: Newton's direction and its slower relatives, which find the same root. With
// constraints the root is in (q', λ), with λ the multipliers' impulses.
#pragma once

#include <Eigen/LU>

#include "integrators/body_action/step_rounding.hpp"
#include "integrators/body_action/step_rows.hpp"
#include "integrators/body_action/tree_elimination.hpp"
#include "integrators/method_options.hpp"

namespace symplectree {

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
  explicit Direction(const Model& m) : rows(m), size_(m.nv + m.rows), mass_(m.size()), stiff_(m.nv), block_(m.size()) {
    coupled_ = rows.structure.rows() > 0;
  }

  StepRows rows;

  // Changes of velocities that are marked, as in w.prescribed, are zero.
  void set_prescribed(const std::vector<char>& velocities) {
    coupled_ =
        rows.structure.rows() > 0 || std::find(velocities.begin(), velocities.end(), char(1)) != velocities.end();
  }
  // Are there rows or prescribed velocities, so that the tree alone does not give the direction?
  bool coupled() const { return coupled_; }

  // Forget what was learned from earlier iterations; the mass matrix at the beginning serves riqn and broyden.
  void begin(Solver solver, NewtonWorkspace& w, double h, const double* q0) {
    solver_ = solver;
    pairs_ = 0;
    if (solver != Solver::Riqn && solver != Solver::Broyden) return;
    if (!coupled_) return factorize_mass(w.m, q0, *w.now);
    for (int i = 1; i < w.m.size(); ++i) {
      const Body& body = w.m.bodies[i];
      const double d = body.mass / h;
      const Mat3<double> J = rotated_columns(w.now->pose[i].R, body.inertia);
      mass_[i] = {{(1 / h) * J.a, (1 / h) * J.b, (1 / h) * J.c}, {}, {}, {{d, 0, 0}, {0, d, 0}, {0, 0, d}}};
      for (int k = 0; k < body.nv; ++k)
        block_[i][(body.nv + 1) * k] = stiff_[body.v + k] = w.m.armature[body.v + k] / h;
    }
  }

  // (δ, dλ) ≈ the solution of Newton's equations after body_derivatives and residual.
  void compute(NewtonWorkspace& w, double h, const double* q0, const double* q1, double* delta) {
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
  void learn(NewtonWorkspace& w, double h, const double* s, const double* before) {
    if (solver_ != Solver::Broyden) return;
    std::vector<double> y(size_), Hy(size_);
    for (int j = 0; j < size_; ++j) y[j] = before[j] - w.r[j];
    broyden(w, h, y.data(), Hy.data());
    double scale = 0;
    for (int j = 0; j < size_; ++j) scale += s[j] * Hy[j];
    if (!(std::fabs(scale) > 1e-300)) return;
    if (a_.size() <= pairs_) a_.emplace_back(size_), s_.emplace_back(size_);
    for (int j = 0; j < size_; ++j) a_[pairs_][j] = (s[j] - Hy[j]) / scale, s_[pairs_][j] = s[j];
    ++pairs_;
  }

 private:
  void newton(NewtonWorkspace& w, double h, const double* q0, const double* q1, double* delta) {
    if (!coupled_) {
      factorize(w, {h, q0, q1});
      return solve_tree(w, w.r.data(), delta);
    }
    for (int i = 1; i < w.m.size(); ++i) {
      if (w.m.bodies[i].nv == 1) continue;
      double t[6];
      block_[i].fill(0);
      if (w.has_block_terms[i])
        joint_block_terms(w.joint_numbers(), w.m.bodies[i], StepEnds<double>{h, q0, q1}, false, t, block_[i].data());
    }
    evaluate_damped_lines(w.m, rows.structure, *w.next, rows.next);
    rows.evaluate_user_forces(q0, w.displacement.data());
    LoopSystem system = loop_system(w, *w.next, w.A.data(), w.stiff.data());
    rows.solve(system, w.r.data(), rows.next, delta);
  }

  LoopSystem loop_system(const NewtonWorkspace& w, const Workspace<double>& right, const Matrix6<double>* A,
                         const double* stiff) const {
    LoopSystem system;
    system.left = w.now, system.right = &right;
    system.A = A, system.stiff = stiff, system.block = block_.data(), system.prescribed = w.prescribed.data();
    return system;
  }

  // LLPS16 Algorithm 3: δ = h M(q)⁻¹ r, with the constraints of the step's beginning.
  void impulse(NewtonWorkspace& w, double h, const double* r, double* delta) {
    if (coupled_) {
      LoopSystem system = loop_system(w, *w.now, mass_.data(), stiff_.data());
      return rows.solve(system, r, rows.now, delta);
    }
    solve_mass(w.m, r, delta, *w.now);
    for (int j = 0; j < w.m.nv; ++j) delta[j] *= h;
  }

  // Broyden's good update of the inverse, kept as pairs over that of `impulse`: H = Π (1 + a sᵀ) H₀.
  void broyden(NewtonWorkspace& w, double h, const double* r, double* delta) {
    impulse(w, h, r, delta);
    for (std::size_t i = 0; i < pairs_; ++i) {
      double c = 0;
      for (int j = 0; j < size_; ++j) c += s_[i][j] * delta[j];
      for (int j = 0; j < size_; ++j) delta[j] += c * a_[i][j];
    }
  }

  // LLPS16 Algorithm 4: the full matrix, a column at a time, and an LU factorisation.
  void dense(NewtonWorkspace& w, double h, const double* q0, const double* q1, double* delta) {
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
      joint_block_terms(w.joint_numbers(), body, StepEnds<double>{h, q0, q1}, false, t, N);
      for (int k = 0; k < body.nv; ++k)
        for (int l = 0; l < body.nv; ++l) full(body.v + k, body.v + l) += N[body.nv * k + l];
    }
    Eigen::VectorXd start(m.nv), end(m.nv);
    for (int l : rows.structure.damped_lines) {
      length_gradient(m, m.lines[l], *w.now, start.data());
      length_gradient(m, m.lines[l], *w.next, end.data());
      full += 0.5 * m.lines[l].damping * start * end.transpose();
    }
    UserTerms t;
    for (int i : rows.structure.user_forces) {
      const UserElement& u = m.users[i];
      t.evaluate(u, 2, q0, w.displacement.data());
      for (int k = 0; k < u.size(); ++k)
        for (int l = 0; l < u.size(); ++l) full(u.v[k], u.v[l]) -= 0.5 * t.second[u.size() * k + l];
    }
    if (coupled_) return rows.solve_dense(full, w.prescribed, *w.now, *w.next, w.r.data(), delta);
    Eigen::Map<Eigen::VectorXd>(delta, m.nv) = full.partialPivLu().solve(Eigen::Map<Eigen::VectorXd>(w.r.data(), m.nv));
  }

  Solver solver_ = Solver::Newton;
  int size_;  // of a residual
  bool coupled_;
  std::vector<Matrix6<double>> mass_;  // of each body at the step's beginning, over h
  std::vector<double> stiff_;
  std::vector<std::array<double, 36>> block_;
  std::vector<std::vector<double>> a_, s_;
  std::size_t pairs_ = 0;
};

// One of the actions on a tree, as a scheme for NewtonRun.
template <class Action>
class TreeScheme {
 public:
  static constexpr bool several_roots = true;  // a displacement is periodic in the angle

  TreeScheme(const Model& m, Solver solver) : w_(m), direction_(m), solver_(solver) {}

  void place(const double* q) {
    compute_poses(w_.m, q, *w_.now);
    noise_age_ = kNoiseLasts;
  }
  void set_prescribed(const std::vector<char>& velocities) {
    w_.prescribed = velocities;
    direction_.set_prescribed(velocities);
  }
  void begin(double h, const double* q, const double* p, const double* tau, const double* inputs) {
    begin_step(w_, h, q, p, tau, inputs);
    noise_age_ = h == noise_h_ ? std::min(noise_age_ + 1, kNoiseLasts) : kNoiseLasts;
    noise_h_ = h;
    if (!quick()) hold_bodies<Action>(w_);
    direction_.begin(solver_, w_, h, q);
    StepRows& rows = direction_.rows;
    if (rows.structure.rows() == 0) return;
    evaluate_rows<true>(w_.m, rows.structure, q, *w_.now, rows.now);
    evaluate_damped_lines(w_.m, rows.structure, *w_.now, rows.now);
  }
  // The impulses of constraints, which the residual includes.
  void set_multipliers(const double* lambda) {
    StepRows& rows = direction_.rows;
    transposed_rows(w_.m, rows.structure, rows.now, lambda, *w_.now, rows.force, rows.bound, w_.impulse.data(),
                    w_.impulse_size.data());
  }
  // The residual at q1, ready for `direction` when `WithDerivative`; relative size, and the worst coordinate.
  template <bool WithDerivative>
  double evaluate(double h, const double* q0, const double* q1, int& worst) {
    const StepEnds<double> step{h, q0, q1};
    displace<Action>(w_, h, q1);
    if constexpr (WithDerivative) body_derivatives<Action>(w_, h);
    if (w_.m.user_forces) user_impulses(w_, step, false);
    const double largest = symplectree::residual(w_, step, worst);
    if (w_.m.rows == 0) return largest;
    return direction_.rows.add_residual<WithDerivative>(q0, q1, *w_.next, w_.r, w_.scale, largest, worst);
  }
  // A Newton step from q1 in one go, where there is one: the residual at q1 itself is not formed.
  bool quick_direction(double h, const double* q0, const double* q1, double* delta) {
    if (!quick()) return false;
    displace<Action, true>(w_, h, q1);
    newton_sweep<Action>(w_, {h, q0, q1}, delta);
    return true;
  }
  // The next one, after `evaluate<false>` at q1; sweeps have used up w.F.
  void next_direction(double h, const double* q0, const double* q1, double* delta) {
    restore_impulses(w_, h);
    newton_sweep<Action>(w_, {h, q0, q1}, delta);
  }
  bool at_floor(double h, const double*, const double* q1, double factor) {
    if (!direction_.rows.at_floor(factor)) return false;
    if (noise_age_ < kNoiseLasts && within_noise(w_, factor)) return true;
    estimate_noise(w_, h, q1);
    const bool within = within_noise(w_, factor);
    noise_age_ = within ? 0 : kNoiseLasts;  // what a root has serves others; what an iterate far from one has does not
    return within;
  }
  void direction(double h, const double* q0, const double* q1, double* delta) {
    direction_.compute(w_, h, q0, q1, delta);
  }
  void learn(double h, const double* s, const double* before) { direction_.learn(w_, h, s, before); }
  void finish(double h, const double* q0, const double* q1, const double* tau, const double* inputs, double* p) {
    end_step<Action>(w_, StepEnds<double>{h, q0, q1}, tau, inputs, p);
  }
  void flip() { std::swap(w_.now, w_.next); }
  double turned(const double*, const double*) const { return formula_turn(w_.m, *w_.now, *w_.next); }

  // Of velocities, then of rows; of prescribed ones what the residual would be is in `reaction`.
  const std::vector<double>& residual() const { return w_.r; }
  const std::vector<double>& reaction() const { return w_.reaction; }
  const std::vector<double>& scale() const { return w_.scale; }

 private:
  // Does the tree alone give Newton's direction?
  bool quick() const { return solver_ == Solver::Newton && !direction_.coupled(); }

  NewtonWorkspace w_;
  static constexpr int kNoiseLasts = 16;  // how many steps an estimate of the noise serves: it changes slowly

  Direction direction_;
  Solver solver_;
  int noise_age_ = kNoiseLasts;
  double noise_h_ = 0;
};

}  // namespace symplectree
