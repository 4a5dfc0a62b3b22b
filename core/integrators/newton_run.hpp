// A run of variational steps: guesses, Newton's iteration made safe, shorter steps where there is no solution.
#pragma once

#include "constraints/constrained_dynamics.hpp"
#include "integrators/body_action/root_direction.hpp"
#include "integrators/run_interface.hpp"

namespace symplectree {

// Scheme: the residual of a step, its Newton direction, and the momentum at the end (see TreeScheme, MidpointScheme).
template <class Scheme>
class VariationalRun final : public AnyRun {
 public:
  template <class... A>
  VariationalRun(const Model& m, const Settings& s, A... scheme)
      : AnyRun(m),
        m_(m),
        s_(s),
        scheme_(m, scheme...),
        scratch_(m),
        constrained_(m),
        q1_(m.nq),
        trial_(m.nq),
        target_(m.nq),
        delta_(m.nv + m.rows),
        lambda_(m.rows),
        trial_lambda_(m.rows),
        before_(m.nv + m.rows),
        weight_(m.nv + m.rows),
        p1_(m.nv),
        guessed_(m.nv),
        change_(m.nv),
        increment_{std::vector<double>(m.nv), std::vector<double>(m.nv), std::vector<double>(m.nv)} {
    damped_ = m.user_forces || !m.joint_dampers.empty();
    for (const Line& line : m.lines) damped_ |= line.damping != 0;
    for (int j = 0; j < m.nv; ++j) {
      const Body& b = m.bodies[m.body_of[j]];
      if (b.kind != Kind::Prismatic && b.kind != Kind::Formula && j < b.v + 3) turning_.push_back(j);
    }
  }

  void drive(const std::vector<char>& driven) override {
    scheme_.drive(driven);
    constrained_.driven = driven;
    drives_ = std::find(driven.begin(), driven.end(), char(1)) != driven.end();
    free_ = !drives_ && m_.rows == 0;
  }

  void reset(const double* q0, const double* p0, const double* rates) override {
    std::copy(q0, q0 + m_.nq, q.begin());
    std::copy(p0, p0 + m_.nv, p.begin());
    std::copy(rates, rates + m_.nv, rate.begin());
    scheme_.place(q.data());
    known_ = 0, last_h = 0;
  }

  // One step of h under constant generalized forces and inputs; false when it cannot be taken, and the state stays.
  bool step(double h, const double* tau, const double* inputs, const double* target, const double* rates) override {
    if (h != h_) known_ = 0, h_ = h;
    if (drives_) std::copy(target, target + m_.nq, target_.begin());
    begins_ = true;
    bool done = attempt(h, tau, inputs);
    if (!done) {
      const std::vector<double> q_saved = q, p_saved = p;
      const double residual = last_residual, h_saved = last_h;
      const int coordinate = worst;
      done = halved(h, tau, inputs, 1);
      known_ = 0;
      if (!done) {
        last_residual = residual, worst = coordinate;  // those of the whole step
        reset(q_saved.data(), p_saved.data(), std::vector<double>(rate).data());
        last_h = h_saved;
        return false;
      }
    }
    if (drives_) std::copy(rates, rates + m_.nv, rate.begin());
    return true;
  }

  // The end of the last step (or of its last part) again under other forces there: p ← p'.
  void end_again(const double* tau, const double* inputs) override {
    scheme_.flip();
    scheme_.finish(last_h, q1_.data(), q.data(), tau, inputs, p.data());
    scheme_.flip();
    keep_remainder(q1_.data(), q.data());
  }

  // v = M(q)⁻¹ p, of p without what constraints take from it.
  void velocity(double* v) override { velocity_of(q, p, v); }

 private:
  void velocity_of(const std::vector<double>& at, const std::vector<double>& momentum, double* v) {
    if (free_) {
      factorize_mass(m_, at.data(), scratch_);
      return solve_mass(m_, momentum.data(), v, scratch_);
    }
    std::copy(rate.begin(), rate.end(), v);
    constrained_.velocity(at.data(), momentum.data(), v);
  }

  bool halved(double h, const double* tau, const double* inputs, int depth) {
    if (depth > s_.substeps) return false;
    ++halvings;
    const std::vector<double> end = target_;
    for (int half = 0; half < 2; ++half) {
      known_ = 0;
      target_ = end;
      if (half == 0) move_driven(end, 0.5, target_);
      if (!attempt(h / 2, tau, inputs) && !halved(h / 2, tau, inputs, depth + 1)) return false;
    }
    return true;
  }

  // out ← where prescribed coordinates are on a fraction of the way from q to `end`.
  void move_driven(const std::vector<double>& end, double fraction, std::vector<double>& out) const {
    if (!drives_) return;
    double d[6];
    for (int i = 1; i < m_.size(); ++i) {
      Body b = m_.bodies[i];
      const char* driven = &constrained_.driven[b.v];
      for (int k = 0; b.flat() && k < b.nv; ++k)
        if (driven[k]) out[b.q + k] = q[b.q + k] + fraction * (end[b.q + k] - q[b.q + k]);
      if (b.flat() || !driven[0]) continue;  // quaternions are driven as a whole
      b.v = 0;
      body_increment(b, q.data(), end.data(), d);
      for (int k = 0; k < b.nv; ++k) d[k] *= fraction;
      retract_body(b, q.data(), d, out.data());
    }
  }

  // One step from the chosen guess, else from another, else by following the solution.
  bool attempt(double h, const double* tau, const double* inputs) {
    scheme_.begin(h, q.data(), p.data(), tau, inputs);
    const auto from = [&](Guess guess) {
      guess_into(guess, h, tau, inputs);
      return solve(h) && plausible(h, tau, inputs);
    };
    bool done = from(s_.guess);
    const double first_residual = last_residual;
    const int first_worst = worst;
    if (!done && s_.guess != Guess::Acceleration) done = from(Guess::Acceleration);
    if (!done && damped_) done = from(Guess::Current);  // dampers that stop a motion at once make accelerations useless
    if (!done && !(follow(h, tau, inputs) && plausible(h, tau, inputs))) {
      last_residual = first_residual, worst = first_worst;  // what the chosen guess came to, not a shorter step
      return false;
    }
    p = p1_;
    keep_remainder(q.data(), q1_.data());
    remember();
    // The impulse at q is that of half this step and of half the one before, which p leaves out.
    if (begins_ && !free_) {
      const double time = 0.5 * (last_h + h);
      for (int k = 0; k < m_.rows; ++k) multipliers[k] = lambda_[k] / time;
      for (int j = 0; j < m_.nv; ++j) reaction[j] = -scheme_.reaction()[j] / time;
    }
    begins_ = false, last_h = h;
    std::swap(q, q1_);
    scheme_.flip();
    return true;
  }

  // p1_ ← the momentum at the end of the root in q1_. In a coarse step, does the root move no farther than its
  // velocities say? One that does has crossed a fold and would feed energy.
  bool plausible(double h, const double* tau, const double* inputs) {
    scheme_.finish(h, q.data(), q1_.data(), tau, inputs, p1_.data());
    double sum = 0;  // of zeros, unless a force at the end is not finite
    for (int j = 0; j < m_.nv; ++j) sum += 0 * p1_[j];
    if (sum != 0) return false;
    if constexpr (!Scheme::several_roots) return true;
    increments(q1_.data(), change_.data());
    const double moved = largest(change_);
    if (moved < kCoarse) return true;
    const auto speed = [&](const std::vector<double>& at, const std::vector<double>& momentum) {
      velocity_of(at, momentum, delta_.data());
      return largest(delta_);
    };
    return moved <= kOvershoot * std::fabs(h) * std::max(speed(q, p), speed(q1_, p1_));
  }

  // Follow the solution from step zero to h: it is continuous in h until it ends in a fold.
  bool follow(double h, const double* tau, const double* inputs) {
    const int n = m_.nv;
    const std::vector<double> end = target_;
    std::vector<double> last(n), before(n);  // increments at `reached` and at the fraction before it
    double reached = 0, previous = 0, advance = 0.5;
    while (reached < 1) {
      const double target = std::min(1.0, reached + advance);
      target_ = end;
      if (target < 1) move_driven(end, target, target_);
      scheme_.begin(target * h, q.data(), p.data(), tau, inputs);
      if (reached == 0) {
        guess_into(Guess::Acceleration, target * h, tau, inputs);
      } else {
        const double ratio = (target - reached) / (reached - previous);
        for (int j = 0; j < n; ++j) delta_[j] = last[j] + ratio * (last[j] - before[j]);
        retract(m_, q.data(), delta_.data(), q1_.data());
        place_driven(q1_);
      }
      if (solve(target * h)) {
        std::swap(before, last);
        increments(q1_.data(), last.data());
        previous = reached, reached = target;
        advance *= 1.5;
      } else if ((advance *= 0.5) < 1.0 / 64) {
        target_ = end;
        return false;
      }
    }
    return true;
  }

  // d ← the increments from q to q_next.
  void increments(const double* q_next, double* d) const {
    if (m_.quaternions.empty()) {
      for (int j = 0; j < m_.nv; ++j) d[j] = q_next[j] - q[j];
      return;
    }
    for (int i = 1; i < m_.size(); ++i) body_increment(m_.bodies[i], q.data(), q_next, d + m_.bodies[i].v);
  }

  void place_driven(std::vector<double>& at) const {
    if (!drives_) return;
    for (int i = 1; i < m_.size(); ++i) {
      const Body& b = m_.bodies[i];
      const char* driven = &constrained_.driven[b.v];
      for (int k = 0; k < b.nq(); ++k)
        if (driven[b.flat() ? k : 0]) at[b.q + k] = target_[b.q + k];
    }
  }

  // a ← the acceleration at (q, v), with which prescribed coordinates reach their target.
  void acceleration_into(double h, const double* v, const double* tau, const double* inputs, double* a) {
    if (free_) return forward_dynamics(m_, q.data(), v, tau, inputs, a, scratch_);
    increments(target_.data(), a);
    for (int j = 0; j < m_.nv; ++j) a[j] = 2 / (h * h) * (a[j] - h * v[j]);
    constrained_.acceleration(q.data(), v, tau, inputs, a);
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
      case Guess::Current:
        std::fill(d, d + n, 0.0);
        break;
      case Guess::Velocity:
      case Guess::Acceleration:
        velocity(before_.data());
        for (int j = 0; j < n; ++j) d[j] = h * before_[j];
        if (guess == Guess::Velocity) break;
        acceleration_into(h, before_.data(), tau, inputs, p1_.data());
        for (int j = 0; j < n; ++j) d[j] += 0.5 * h * h * p1_[j];
        break;
    }
    retract(m_, q.data(), d, q1_.data());
    place_driven(q1_);
  }

  // A root from the guess in q1_ that lies near it; leaves the root in q1_.
  bool solve(double h) {
    increments(q1_.data(), guessed_.data());
    if (!find_root(h)) return false;
    if constexpr (!Scheme::several_roots) return true;
    increments(q1_.data(), change_.data());
    for (int j = 0; j < m_.nv; ++j) change_[j] -= guessed_[j];
    return is_near(change_);
  }

  // Newton's iteration where it converges fast: no line search, and no residual is formed twice. When it does not, q1_
  // is the best that it came to.
  bool quick_root(double h) {
    if (!scheme_.quick_direction(h, q.data(), q1_.data(), delta_.data()) || !is_near(delta_)) return false;
    for (double before = kGood;;) {
      retract(m_, q1_.data(), delta_.data(), trial_.data());
      const double reached = scheme_.template evaluate<false>(h, q.data(), trial_.data(), worst);
      if (!(reached < before)) return false;
      ++iterations;
      std::swap(q1_, trial_);
      if (reached <= s_.tolerance || (reached < kSmall && scheme_.at_floor(h, q.data(), q1_.data(), 2 * kFloor)))
        return true;
      before = 0.01 * reached;
      scheme_.next_direction(h, q.data(), q1_.data(), delta_.data());
    }
  }

  // Newton's iteration from q1_, each step shortened until the residual falls.
  bool find_root(double h) {
    if (quick_root(h)) return true;
    if (m_.rows > 0) scheme_.set_multipliers(lambda_.data());
    double rho = scheme_.template evaluate<true>(h, q.data(), q1_.data(), worst);
    for (int it = 0; it < s_.max_iterations; ++it) {
      last_residual = rho;
      if (rho <= s_.tolerance || scheme_.at_floor(h, q.data(), q1_.data(), kFloor)) return true;
      if (!std::isfinite(rho)) return false;
      if (it > 0) scheme_.template evaluate<true>(h, q.data(), q1_.data(), worst);
      scheme_.direction(h, q.data(), q1_.data(), delta_.data());
      if (it == 0 && !is_near(delta_)) return false;
      before_ = scheme_.residual();
      weight_ = scheme_.scale();  // the sizes of this iterate: against them Newton's direction descends
      ++iterations;
      double fraction = 1, next = 0;
      for (int cut = 0;; ++cut) {
        retract(m_, q1_.data(), delta_.data(), trial_.data());
        if (m_.rows > 0) {
          for (int k = 0; k < m_.rows; ++k) trial_lambda_[k] = lambda_[k] + delta_[m_.nv + k];
          scheme_.set_multipliers(trial_lambda_.data());
        }
        next = scheme_.template evaluate<false>(h, q.data(), trial_.data(), worst);
        if (next <= s_.tolerance || weighted() < (1 - 1e-4 * fraction) * rho) break;
        // No descent, but perhaps only because of rounding.
        if (scheme_.at_floor(h, q.data(), trial_.data(), cut == 0 ? kFloor : 8 * kFloor)) {
          std::swap(q1_, trial_), std::swap(lambda_, trial_lambda_);
          return true;
        }
        if (cut == 12) return false;
        fraction *= 0.5;
        for (double& d : delta_) d *= 0.5;
      }
      scheme_.learn(h, delta_.data(), before_.data());
      std::swap(q1_, trial_), std::swap(lambda_, trial_lambda_);
      rho = next;
    }
    last_residual = rho;
    return rho <= s_.tolerance || scheme_.at_floor(h, q.data(), q1_.data(), kFloor);
  }

  // Is `change` small against the motion that was guessed, if any? A large one may lead to another root, far from the
  // motion that began with the step.
  bool is_near(const std::vector<double>& change) const {
    if constexpr (!Scheme::several_roots) return true;
    const double moved = largest(guessed_);
    return moved <= kNothing || largest(change) <= kNear * std::max(moved, kStill);
  }

  // Of velocities; entries of rows that follow do not count.
  double largest(const std::vector<double>& d) const {
    double m = 0;
    for (int j = 0; j < m_.nv; ++j) m = std::max(m, std::fabs(d[j]));
    return m;
  }

  // The largest residual relative to the sizes of the iterate before, or a tenth of its own where little moved before.
  double weighted() const {
    double largest = 0;
    for (int j = 0; j < m_.nv + m_.rows; ++j) {
      const double ratio = std::fabs(scheme_.residual()[j]) / std::max(weight_[j], 0.1 * scheme_.scale()[j]);
      if (exceeds(ratio, largest)) largest = ratio;
    }
    return largest;
  }

  // p ← p + what the root finder left over, so that no momentum is lost however early it stops. A Free joint's part is
  // carried as the wrench that it is.
  void keep_remainder(const double* q0, const double* q1) {
    const std::vector<double>& left = scheme_.residual();
    for (int j = 0; j < m_.nv; ++j) p[j] += left[j];
    for (int i = 1; i < m_.size(); ++i) {
      const Body& b = m_.bodies[i];
      if (b.kind != Kind::Free) continue;
      const double *r = &left[b.v], *x0 = q0 + b.q, *x1 = q1 + b.q;
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
    for (const int j : turning_) fastest = std::max(fastest, std::fabs(increment_[0][j]));
    if (!m_.formula_bodies.empty()) fastest = std::max(fastest, scheme_.turned(q.data(), q1_.data()));
  }

  static constexpr double kCoarse = 0.3, kOvershoot = 1.3;  // rad (or m) per step; against the larger speed at the ends
  static constexpr double kNear = 0.25;      // how far from the guess a root may lie, relative to the motion,
  static constexpr double kStill = 1e-3;     // or to this [rad or m], where the motion is no more than rounding
  static constexpr double kNothing = 1e-14;  // rad or m: no motion at all, but for the rounding of quaternions
  static constexpr double kGood = 1e-3, kSmall = 1e-8;  // relative residuals: of a good guess; near rounding
  static constexpr double kFloor = 16;                  // how many times the estimated rounding counts as converged

  const Model& m_;
  Settings s_;
  Scheme scheme_;
  Workspace<double> scratch_;
  Constrained constrained_;
  std::vector<double> q1_, trial_, target_, delta_, lambda_, trial_lambda_, before_, weight_, p1_, guessed_, change_;
  std::array<std::vector<double>, 3> increment_;  // the last three, newest first
  std::vector<int> turning_;                      // velocities that are of rotation
  bool drives_ = false, free_ = true;  // are there prescribed coordinates? are there neither these nor constraints?
  bool damped_ = false;                // do forces depend on velocities?
  int known_ = 0;
  double h_ = 0;         // of the run's steps
  bool begins_ = false;  // is the step still where it began?
};

}  // namespace symplectree
