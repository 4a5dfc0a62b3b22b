// Newton's iteration made safe: a quick one where it converges fast, else each step shortened until the residual falls;
// and of several roots only that near the guess.
#pragma once

#include <cmath>

#include "integrators/method_options.hpp"
#include "integrators/run_interface.hpp"
#include "kinematics/configurations.hpp"
#include "kinematics/poses_twists.hpp"
#include "model/workspace.hpp"

namespace symplectree {

// Scheme: the residual of a step and its Newton direction (see TreeScheme, MidpointScheme).
template <class Scheme>
class RootFinder {
 public:
  RootFinder(const Model& m, const MethodOptions& options, Scheme& scheme)
      : m_(m), tolerance_(options.tolerance), max_iterations_(options.max_iterations), scheme_(scheme), trial_(m.nq),
        delta_(m.nv + m.rows), lambda_(m.rows), trial_lambda_(m.rows), before_(m.nv + m.rows), weight_(m.nv + m.rows),
        guessed_(m.nv), change_(m.nv) {}

  // A root near the guess in q1, of a step of h from q; leaves the root in q1. Counts iterations, and says in `report`
  // how far a search without success came.
  bool solve(double h, const double* q, std::vector<double>& q1, RunReport& report) {
    increments(m_, q, q1.data(), guessed_.data());
    if constexpr (Scheme::implicit_potentials) guess_ = q1;
    if (!search(h, q, q1, report)) return false;
    increments(m_, q, q1.data(), change_.data());
    for (int j = 0; j < m_.nv; ++j) change_[j] -= guessed_[j];
    if (is_near(change_)) return true;
    if constexpr (Scheme::implicit_potentials) return falls(h, q, guess_, q1);
    return false;
  }

  // Begin the next search without multipliers: of redundant rows the root does not settle them, and what earlier steps
  // left in them would stay.
  void forget() { std::fill(lambda_.begin(), lambda_.end(), 0.0); }
  void carry(RunMemory& memory) { memory(lambda_); }

  // Does the residual fall all the way from a configuration to the root q1? So it does where stiff springs hold a step
  // far from its guess; on the way to another root it rises somewhere.
  bool falls(double h, const double* q, const std::vector<double>& from, const std::vector<double>& q1) {
    constexpr int parts = 8;
    int worst = 0;
    increments(m_, from.data(), q1.data(), change_.data());
    double first = 0, last = 0;
    bool falling = true;
    for (int k = 0; k <= parts && falling; ++k) {
      for (int j = 0; j < m_.nv; ++j) delta_[j] = change_[j] * k / parts;
      retract(m_, from.data(), delta_.data(), trial_.data());
      scheme_.template evaluate<false>(h, q, trial_.data(), worst);
      double work = 0;
      for (int j = 0; j < m_.nv; ++j) work += change_[j] * scheme_.residual()[j];
      if (k == 0) first = work;
      if (k > 0) falling = last - work >= kEven * first / parts;
      last = work;
    }
    scheme_.template evaluate<false>(h, q, q1.data(), worst);
    return falling && first > 0;
  }

  // The multipliers' impulses of the last root.
  const std::vector<double>& impulses() const { return lambda_; }

  // Of velocities; entries of rows that follow do not count.
  double largest(const std::vector<double>& d) const {
    double m = 0;
    for (int j = 0; j < m_.nv; ++j) m = std::max(m, std::fabs(d[j]));
    return m;
  }

 private:
  // Newton's iteration where it converges fast: no line search, and no residual is formed twice. When it does not, q1
  // is the best that it came to.
  bool search_quickly(double h, const double* q, std::vector<double>& q1, RunReport& report) {
    if (!scheme_.quick_direction(h, q, q1.data(), delta_.data()) || !may_step(delta_)) return false;
    for (double before = kGood;;) {
      retract(m_, q1.data(), delta_.data(), trial_.data());
      const double reached = scheme_.template evaluate<false>(h, q, trial_.data(), report.worst);
      if (!(reached < before)) return false;
      ++report.iterations;
      std::swap(q1, trial_);
      if (reached <= tolerance_ || (reached < kSmall && scheme_.at_floor(h, q, q1.data(), 2 * kFloor))) return true;
      before = 0.01 * reached;
      scheme_.next_direction(h, q, q1.data(), delta_.data());
    }
  }

  // Newton's iteration from q1, each step shortened until the residual falls.
  bool search(double h, const double* q, std::vector<double>& q1, RunReport& report) {
    if (search_quickly(h, q, q1, report)) return true;
    if (m_.rows > 0) scheme_.set_multipliers(lambda_.data());
    double rho = scheme_.template evaluate<true>(h, q, q1.data(), report.worst);
    for (int it = 0; it < max_iterations_; ++it) {
      report.residual = rho;
      if (rho <= tolerance_ || scheme_.at_floor(h, q, q1.data(), kFloor)) return true;
      if (!std::isfinite(rho)) return false;
      if (it > 0) scheme_.template evaluate<true>(h, q, q1.data(), report.worst);
      scheme_.direction(h, q, q1.data(), delta_.data());
      if (it == 0 && !may_step(delta_)) return false;
      before_ = scheme_.residual();
      weight_ = scheme_.scale();  // the sizes of this iterate: against them Newton's direction descends
      ++report.iterations;
      double fraction = 1, next = 0;
      for (int cut = 0;; ++cut) {
        retract(m_, q1.data(), delta_.data(), trial_.data());
        if (m_.rows > 0) {
          for (int k = 0; k < m_.rows; ++k) trial_lambda_[k] = lambda_[k] + delta_[m_.nv + k];
          scheme_.set_multipliers(trial_lambda_.data());
        }
        next = scheme_.template evaluate<false>(h, q, trial_.data(), report.worst);
        if (next <= tolerance_ || weighted() < (1 - 1e-4 * fraction) * rho) break;
        // No descent, but perhaps only because of rounding.
        if (scheme_.at_floor(h, q, trial_.data(), cut == 0 ? kFloor : 8 * kFloor)) {
          std::swap(q1, trial_), std::swap(lambda_, trial_lambda_);
          return true;
        }
        if (cut == 12) return false;
        fraction *= 0.5;
        for (double& d : delta_) d *= 0.5;
      }
      scheme_.learn(h, delta_.data(), before_.data());
      std::swap(q1, trial_), std::swap(lambda_, trial_lambda_);
      rho = next;
    }
    report.residual = rho;
    return rho <= tolerance_ || scheme_.at_floor(h, q, q1.data(), kFloor);
  }

  // Is `change` small against the motion that was guessed, if any? A large one may lead to another root, far from the
  // motion that began with the step.
  bool is_near(const std::vector<double>& change) const {
    const double moved = largest(guessed_);
    return moved <= kNothing || largest(change) <= kNear * std::max(moved, kStill);
  }

  // Is a first step of Newton's iteration worth taking?
  bool may_step(const std::vector<double>& step) const { return Scheme::implicit_potentials || is_near(step); }

  // The largest residual relative to the sizes of the iterate before, or a tenth of its own where little moved before.
  double weighted() const {
    double largest = 0;
    for (int j = 0; j < m_.nv + m_.rows; ++j) {
      const double ratio = std::fabs(scheme_.residual()[j]) / std::max(weight_[j], 0.1 * scheme_.scale()[j]);
      if (exceeds(ratio, largest)) largest = ratio;
    }
    return largest;
  }

  static constexpr double kNear = 0.25;      // how far from the guess a root may lie, relative to the motion,
  static constexpr double kStill = 1e-3;     // or to this [rad or m], where the motion is no more than rounding
  static constexpr double kNothing = 1e-14;  // rad or m: no motion at all, but for the rounding of quaternions
  static constexpr double kEven = 0.1;       // of the mean: how slowly a residual may fall on the way to a root
  static constexpr double kGood = 1e-3, kSmall = 1e-8;  // relative residuals: of a good guess; near rounding
  static constexpr double kFloor = 16;                  // how many times the estimated rounding counts as converged

  const Model& m_;
  double tolerance_;
  int max_iterations_;
  Scheme& scheme_;
  std::vector<double> trial_, delta_, lambda_, trial_lambda_, before_, weight_, guess_, guessed_, change_;
};

}  // namespace symplectree
