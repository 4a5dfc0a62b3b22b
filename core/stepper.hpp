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
  double tolerance = 1e-11;
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
        before_(m.nv), weight_(m.nv), p1_(m.nv), trial_increment_(m.nv), increment_{std::vector<double>(m.nv), std::vector<double>(m.nv), std::vector<double>(m.nv)} {}

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
    keep_remainder(q1_.data(), q.data());
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
      if (!done && s_.guess != Guess::Acceleration) {
        guess_into(Guess::Acceleration, h, tau, inputs);
        done = solve<Action>(h);
      }
      if (!done) done = follow<Action>(h, tau, inputs);
      if (!done) return;
      end_step<Action>(w_, h, q.data(), q1_.data(), tau, inputs, p1_.data());
      p = p1_;
      keep_remainder(q.data(), q1_.data());
      remember();
      std::swap(q, q1_);
      std::swap(w_.now, w_.next);
    });
    return done;
  }

  // Follow the solution from step zero to h: it is continuous in h until it ends in a fold.
  template <class Action>
  bool follow(double h, const double* tau, const double* inputs) {
    const int n = m_.nv;
    std::vector<double> last(n), before(n);  // increments at `reached` and at the fraction before it
    double reached = 0, previous = 0, advance = 0.5;
    while (reached < 1) {
      const double target = std::min(1.0, reached + advance);
      begin_step<Action>(w_, target * h, q.data(), p.data(), tau, inputs);
      if (reached == 0) {
        guess_into(Guess::Acceleration, target * h, tau, inputs);
      } else {
        const double ratio = (target - reached) / (reached - previous);
        for (int j = 0; j < n; ++j) delta_[j] = last[j] + ratio * (last[j] - before[j]);
        retract(m_, q.data(), delta_.data(), q1_.data());
      }
      if (solve<Action>(target * h)) {
        std::swap(before, last);
        increments(q1_.data(), last.data());
        previous = reached, reached = target;
        advance *= 1.5;
      } else if ((advance *= 0.5) < 1.0 / 64) {
        return false;
      }
    }
    return true;
  }

  // d ← the increments from q to q_next.
  void increments(const double* q_next, double* d) const {
    for (int i = 1; i < m_.size(); ++i) {
      const Body& b = m_.bodies[i];
      if (b.nv == 1) {
        d[b.v] = q_next[b.q] - q[b.q];
      } else {
        local_increment(b.kind == Kind::Free, &q[b.q], q_next + b.q, d + b.v);
      }
    }
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
      if (rho <= s_.tolerance || at_rounding_floor(w_, h, q1_.data(), kFloor)) return true;
      if (!std::isfinite(rho)) return false;
      if (it > 0) displace<Action, true>(w_, h, q1_.data());
      direction_.compute(w_, h, q.data(), q1_.data(), delta_.data());
      if (it == 0 && !near_guess()) return false;
      before_ = w_.r;
      weight_ = w_.scale;  // the sizes of this iterate: against them Newton's direction descends
      ++iterations;
      double fraction = 1, next = 0;
      for (int cut = 0;; ++cut) {
        retract(m_, q1_.data(), delta_.data(), trial_.data());
        displace<Action, false>(w_, h, trial_.data());
        next = residual(w_, h, q.data(), trial_.data(), worst);
        if (next <= s_.tolerance || weighted() < (1 - 1e-4 * fraction) * rho) break;
        // No descent, but perhaps only because of rounding.
        if (at_rounding_floor(w_, h, trial_.data(), cut == 0 ? kFloor : 32 * kFloor)) {
          std::swap(q1_, trial_);
          return true;
        }
        if (cut == 12) return false;
        fraction *= 0.5;
        for (double& d : delta_) d *= 0.5;
      }
      direction_.learn(w_, h, delta_.data(), before_.data());
      std::swap(q1_, trial_);
      rho = next;
    }
    last_residual = rho;
    return rho <= s_.tolerance || at_rounding_floor(w_, h, q1_.data(), kFloor);
  }

  // Is the first correction small against the motion that was guessed? A large one may lead to another root, far from
  // the motion that began with the step.
  bool near_guess() {
    increments(q1_.data(), trial_increment_.data());
    const auto largest = [](const std::vector<double>& d) {
      double m = 0;
      for (double x : d) m = std::max(m, std::fabs(x));
      return m;
    };
    const double moved = largest(trial_increment_);
    return moved == 0 || largest(delta_) <= 0.5 * moved;
  }

  // The largest residual relative to the sizes of the iterate before.
  double weighted() const {
    double largest = 0;
    for (int j = 0; j < m_.nv; ++j) {
      const double ratio = std::fabs(w_.r[j]) / weight_[j];
      if (!(ratio <= largest)) largest = ratio;
    }
    return largest;
  }

  // p ← p + what the root finder left over, so that no momentum is lost however early it stops. A Free joint's part is
  // carried as the wrench that it is.
  void keep_remainder(const double* q0, const double* q1) {
    for (int j = 0; j < m_.nv; ++j) p[j] += w_.r[j];
    for (int i = 1; i < m_.size(); ++i) {
      const Body& b = m_.bodies[i];
      if (b.kind != Kind::Free) continue;
      const double *r = &w_.r[b.v], *x0 = q0 + b.q, *x1 = q1 + b.q;
      const auto rotation = [](const double* x) { return quaternion_matrix(x[3], x[4], x[5], x[6]); };
      const Mat3<double> R0 = rotation(x0), R1 = rotation(x1);
      const Vec3<double> f = R0 * Vec3<double>{r[3], r[4], r[5]}, back{x0[0] - x1[0], x0[1] - x1[1], x0[2] - x1[2]};
      const Vec3<double> torque = transposed_times(R1, R0 * Vec3<double>{r[0], r[1], r[2]} + cross(back, f));
      const Vec3<double> force = transposed_times(R1, f);
      const double carried[6] = {torque.x, torque.y, torque.z, force.x, force.y, force.z};
      for (int k = 0; k < 6; ++k) p[b.v + k] += carried[k] - r[k];
    }
  }

  // Keep the increment from q to q1_ for the next guess.
  void remember() {
    std::swap(increment_[1], increment_[2]);
    std::swap(increment_[0], increment_[1]);
    increments(q1_.data(), increment_[0].data());
    known_ = std::min(known_ + 1, 3);
  }

  static constexpr double kFloor = 4;  // how many times the estimated rounding counts as converged

  const Model& m_;
  Settings s_;
  VariationalWorkspace w_;
  Direction direction_;
  Workspace<double> scratch_;
  std::vector<double> q1_, trial_, delta_, before_, weight_, p1_, trial_increment_;
  std::array<std::vector<double>, 3> increment_;  // the last three, newest first
  int known_ = 0;
  double h_ = 0;
};

}  // namespace symplectree
