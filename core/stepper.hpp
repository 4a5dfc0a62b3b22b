// A run of variational steps: guesses, Newton's iteration made safe, shorter steps where there is no solution.
#pragma once

#include "solvers.hpp"

namespace symplectree {

enum class ActionKind { Cayley, Chord, Exponential };
enum class Guess { Extrapolate, Current, Velocity, Acceleration };

struct Settings {
  ActionKind action = ActionKind::Cayley;
  Solver solver = Solver::Newton;
  Guess guess = Guess::Extrapolate;
  double tolerance = 1e-12;
  int max_iterations = 50, substeps = 6;
};

class VariationalRun {
 public:
  std::vector<double> q, p;     // the state
  long iterations = 0, halvings = 0;  // in all; halvings counts steps taken as two shorter ones
  double last_residual = 0;     // of the step that failed, relative
  int worst = 0;                // its worst velocity

  VariationalRun(const Model& m, const Settings& s)
      : q(m.nq), p(m.nv), m_(m), s_(s), w_(m), direction_(m), scratch_(m), q1_(m.nq), trial_(m.nq), delta_(m.nv),
        before_(m.nv), p1_(m.nv), increment_{std::vector<double>(m.nv), std::vector<double>(m.nv), std::vector<double>(m.nv)} {}

  void reset(const double* q0, const double* p0) {
    std::copy(q0, q0 + m_.nq, q.begin());
    std::copy(p0, p0 + m_.nv, p.begin());
    compute_poses(m_, q.data(), *w_.now);
    known_ = 0;
  }

  // One step of h under constant generalized forces and inputs; false when it cannot be taken, and the state stays.
  bool step(double h, const double* tau, const double* inputs) {
    if (h != h_) known_ = 0, h_ = h;
    if (attempt(h, tau, inputs)) return true;
    const std::vector<double> q_saved = q, p_saved = p;
    if (halved(h, tau, inputs, 1)) {
      known_ = 0;
      return true;
    }
    reset(q_saved.data(), p_saved.data());
    return false;
  }

  // The end of the last step again under other forces at its end: p ← p'.
  void end_again(double h, const double* tau, const double* inputs) {
    std::swap(w_.now, w_.next);
    with_action([&](auto action) {
      end_step<decltype(action)>(w_, h, q1_.data(), q.data(), tau, inputs, p.data());
    });
    std::swap(w_.now, w_.next);
    for (int j = 0; j < m_.nv; ++j) p[j] += w_.r[j];
  }

  const Model& model() const { return m_; }

  // v = M(q)⁻¹ p.
  void velocity(double* v) {
    factorize_mass(m_, q.data(), scratch_);
    solve_mass(m_, p.data(), v, scratch_);
  }

 private:
  template <class F>
  void with_action(F&& f) {
    switch (s_.action) {
      case ActionKind::Cayley: f(Cayley{}); break;
      case ActionKind::Chord: f(Chord{}); break;
      case ActionKind::Exponential: f(Exponential{}); break;
    }
  }

  bool halved(double h, const double* tau, const double* inputs, int depth) {
    if (depth > s_.substeps) return false;
    ++halvings;
    for (int half = 0; half < 2; ++half) {
      known_ = 0;
      if (!attempt(h / 2, tau, inputs) && !halved(h / 2, tau, inputs, depth + 1)) return false;
    }
    return true;
  }

  // One step with the chosen guess, then with the others.
  bool attempt(double h, const double* tau, const double* inputs) {
    bool done = false;
    with_action([&](auto action) {
      using Action = decltype(action);
      begin_step<Action>(w_, h, q.data(), p.data(), tau, inputs);
      direction_.begin(s_.solver, w_, q.data());
      guess_into(s_.guess, h, tau, inputs);
      done = solve<Action>(h);
      for (Guess other : {Guess::Acceleration, Guess::Velocity, Guess::Current}) {
        if (done || other == s_.guess) continue;
        guess_into(other, h, tau, inputs);
        done = solve<Action>(h);
      }
      if (!done) return;
      end_step<Action>(w_, h, q.data(), q1_.data(), tau, inputs, p1_.data());
      for (int j = 0; j < m_.nv; ++j) p[j] = p1_[j] + w_.r[j];  // what the root finder left over is not lost
      remember();
      std::swap(q, q1_);
      std::swap(w_.now, w_.next);
    });
    return done;
  }

  // q1_ ← the guess for q'.
  void guess_into(Guess guess, double h, const double* tau, const double* inputs) {
    const int n = m_.nv;
    double* d = delta_.data();
    const auto &d0 = increment_[0], &d1 = increment_[1], &d2 = increment_[2];
    if (guess == Guess::Extrapolate && known_ < 3) guess = Guess::Acceleration;
    switch (guess) {
      case Guess::Extrapolate:
        for (int j = 0; j < n; ++j) d[j] = 3 * (d0[j] - d1[j]) + d2[j];
        break;
      case Guess::Current: std::fill(d, d + n, 0.0); break;
      case Guess::Velocity:
      case Guess::Acceleration:
        velocity(before_.data());
        for (int j = 0; j < n; ++j) d[j] = h * before_[j];
        if (guess == Guess::Velocity) break;
        forward_dynamics(m_, q.data(), before_.data(), tau, inputs, p1_.data(), scratch_);
        for (int j = 0; j < n; ++j) d[j] += 0.5 * h * h * p1_[j];
        break;
    }
    retract(m_, q.data(), d, q1_.data());
  }

  // Newton's iteration from q1_, each step shortened until the residual falls; leaves the root in q1_.
  template <class Action>
  bool solve(double h) {
    displace<Action, true>(w_, h, q1_.data());
    double rho = residual(w_, h, q.data(), q1_.data(), worst);
    for (int it = 0; it < s_.max_iterations; ++it) {
      last_residual = rho;
      if (rho <= s_.tolerance || at_rounding_floor(w_, h, q1_.data())) return true;
      if (!std::isfinite(rho)) return false;
      if (it > 0) displace<Action, true>(w_, h, q1_.data());
      direction_.compute(w_, h, q.data(), q1_.data(), delta_.data());
      std::copy(w_.r.begin(), w_.r.end(), before_.begin());
      ++iterations;
      double fraction = 1, next = 0;
      for (int cut = 0;; ++cut) {
        retract(m_, q1_.data(), delta_.data(), trial_.data());
        displace<Action, false>(w_, h, trial_.data());
        next = residual(w_, h, q.data(), trial_.data(), worst);
        if (next <= s_.tolerance || next < (1 - 1e-4 * fraction) * rho) break;
        if (at_rounding_floor(w_, h, trial_.data())) break;
        if (cut == 12) return false;
        fraction *= 0.5;
        for (double& d : delta_) d *= 0.5;
      }
      direction_.learn(w_, h, delta_.data(), before_.data());
      std::swap(q1_, trial_);
      rho = next;
    }
    last_residual = rho;
    return rho <= s_.tolerance || at_rounding_floor(w_, h, q1_.data());
  }

  // Keep the increment from q to q1_ for the next guess.
  void remember() {
    std::swap(increment_[1], increment_[2]);
    std::swap(increment_[0], increment_[1]);
    double* d = increment_[0].data();
    for (int i = 1; i < m_.size(); ++i) {
      const Body& b = m_.bodies[i];
      if (b.nv == 1) {
        d[b.v] = q1_[b.q] - q[b.q];
      } else {
        local_increment(b.kind == Kind::Free, &q[b.q], &q1_[b.q], d + b.v);
      }
    }
    known_ = std::min(known_ + 1, 3);
  }

  const Model& m_;
  Settings s_;
  VariationalWorkspace w_;
  Direction direction_;
  Workspace<double> scratch_;
  std::vector<double> q1_, trial_, delta_, before_, p1_;
  std::array<std::vector<double>, 3> increment_;  // the last three, newest first
  int known_ = 0;
  double h_ = 0;
};

}  // namespace symplectree
