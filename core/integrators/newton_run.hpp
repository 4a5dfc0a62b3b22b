// A run of variational steps, each the root of its discrete equations of motion (LLPS16 (9), JM09 (44)–(46)): from the
// chosen guess, else from another, else by following the solution from a step of length zero.
#pragma once

#include <utility>

#include "elements/pair_elements.hpp"
#include "integrators/damped_end.hpp"
#include "integrators/fixed_point.hpp"
#include "integrators/guesses.hpp"
#include "integrators/momentum_remainder.hpp"
#include "integrators/root_finder.hpp"
#include "kinematics/configurations.hpp"

namespace symplectree {

// Scheme: the residual of a step, its Newton direction, and the momentum at the end (see TreeScheme, MidpointScheme).
template <class Scheme>
class NewtonRun final : public Run {
 public:
  template <class... A>
  NewtonRun(const Model& m, const MethodOptions& options, A... scheme)
      : m_(m), guess_(options.guess), state_(m), report_(m), scheme_(m, scheme...), prescribed_(m), dynamics_(m),
        guesses_(m, prescribed_, dynamics_), finder_(m, options, scheme_), end_(m.nv),
        corrected_(std::max(0.01 * options.tolerance, 1e-14)), q1_(m.nq), target_(m.nq), p1_(m.nv), change_(m.nv),
        v_(m.nv) {
    if (m.user_forces || !m.joint_dampers.empty() || has_damped_pairs(m)) damping_ = std::make_unique<DampedEnd>(m);
    for (int j = 0; j < m.nv; ++j) {
      const Body& b = m.bodies[m.body_of[j]];
      if (b.kind != Kind::Prismatic && b.kind != Kind::Formula && j < b.v + 3) turning_.push_back(j);
    }
  }

  void set_prescribed(const std::vector<char>& velocities) override {
    scheme_.set_prescribed(velocities);
    prescribed_.set(velocities);
    dynamics_.set_prescribed(velocities);
    if (damping_) damping_->set_prescribed(velocities);
  }

  void reset(const double* q, const double* p, const double* rates) override {
    std::copy(q, q + m_.nq, state_.q.begin());
    std::copy(p, p + m_.nv, state_.x.begin());
    std::copy(rates, rates + m_.nv, state_.rates.begin());
    state_.last_step_length = 0;
    updated_ = false;
    begin_anew();
  }

  void set_last_step_length(double h) override { state_.last_step_length = h; }
  // To the beginning of the last step, of which the end is then the guess for the next.
  void go_back(const RunState& state) override {
    if (!can_repeat_ || state.q != q1_) return Run::go_back(state);
    state_.x = state.x, state_.rates = state.rates, state_.last_step_length = state.last_step_length;
    std::swap(state_.q, q1_);
    scheme_.flip();
    guesses_.take_back();
    updated_ = eliminated_ = can_repeat_ = false, again_ = true;
  }
  bool end_by_momentum(const double* p, double* q1) override { return scheme_.end_by_momentum(p, q1); }
  void kick(const double* impulse) override {
    for (int j = 0; j < m_.nv; ++j) state_.x[j] += impulse[j];
    updated_ = false;
  }

  // Forces that vary are those of the step's two ends.
  bool step(double t, double h, const ForceSource& forces, const PrescribedMotion& motion) override {
    if (!forces.varies()) return take(h, forces, motion);
    if (!updated_) update(t, forces);
    updated_ = true;
    if (!take(h, forces, motion)) return false;
    correct_end(t + h, forces);
    return true;
  }

  bool is_strong(double, double h, const ForceSource&) override {
    if (!damping_) return false;
    velocity(v_.data());
    return damping_->is_strong(h, state_.q.data(), v_.data());
  }

  void velocity(double* v) override {
    if constexpr (requires { scheme_.placed(); })
      if (dynamics_.is_free()) {
        Workspace<double>& placed = scheme_.placed();
        if (!eliminated_) eliminate_mass(m_, placed);
        eliminated_ = true;
        return solve_mass(m_, state_.x.data(), v, placed);
      }
    dynamics_.velocity(state_.q.data(), state_.x.data(), state_.rates.data(), v);
  }
  void carry(RunMemory& memory) override {
    state_.carry(memory), guesses_.carry(memory), finder_.carry(memory);
    if (memory.reading()) scheme_.place(state_.q.data()), eliminated_ = can_repeat_ = again_ = false;
    scheme_.carry(memory);
    memory(updated_, h_);
  }
  const RunState& state() const override { return state_; }
  const RunReport& report() const override { return report_; }

 private:
  // The scheme at the state; what is known of steps before is forgotten.
  void begin_anew() {
    scheme_.place(state_.q.data());
    eliminated_ = can_repeat_ = again_ = false;
    guesses_.forget();
    finder_.forget();
  }

  void update(double t, const ForceSource& forces) {
    velocity(v_.data());
    forces.update(t, state_.q.data(), v_.data());
  }

  // One step under constant forces; false when it cannot be taken, and the state stays.
  bool take(double h, const ForceSource& forces, const PrescribedMotion& motion) {
    if (h != h_) guesses_.forget(), h_ = h, again_ = false;
    if (prescribed_.any()) std::copy(motion.targets, motion.targets + m_.nq, target_.begin());
    end_rates_ = prescribed_.any() ? motion.rates : state_.rates.data();
    if (!attempt(h, forces)) return false;
    if (prescribed_.any()) std::copy(motion.rates, motion.rates + m_.nv, state_.rates.begin());
    return true;
  }

  // One step from the chosen guess, else from another, else by following the solution.
  bool attempt(double h, const ForceSource& forces) {
    begin_scheme(h, forces);
    const auto solved = [&] { return solve(h) && is_plausible(h, forces); };
    const auto from = [&](Guess guess) {
      guesses_.guess(guess, h, state_, forces, target_.data(), q1_.data());
      return solved();
    };
    bool done = (std::exchange(again_, false) && solved()) || from(guess_);
    const double first_residual = report_.residual;
    const int first_worst = report_.worst;
    if (!done && guess_ != Guess::Acceleration) done = from(Guess::Acceleration);
    if (!done && damping_) {  // dampers that stop a motion at once make accelerations useless
      damping_->guess(h, state_.q.data(), state_.x.data(), state_.rates.data(), change_.data());
      for (double& d : change_) d *= h;
      retract(m_, state_.q.data(), change_.data(), q1_.data());
      prescribed_.place(target_.data(), q1_.data());
      done = solved() || from(Guess::Current);
    }
    if (!done && !(follow(h, forces) && is_plausible(h, forces))) {
      report_.residual = first_residual, report_.worst = first_worst;  // of the chosen guess, not of a shorter step
      return false;
    }
    accept(h);
    return true;
  }

  void begin_scheme(double h, const ForceSource& forces) {
    scheme_.begin(h, state_.q.data(), state_.x.data(), forces.tau, forces.inputs);
  }

  bool solve(double h) { return finder_.solve(h, state_.q.data(), q1_, report_); }

  // p1_ ← the momentum at the end of the root in q1_. In a coarse step, does the root move no farther than its
  // velocities say? One that does has crossed a fold and would feed energy.
  bool is_plausible(double h, const ForceSource& forces) {
    scheme_.finish(h, state_.q.data(), q1_.data(), forces.tau, forces.inputs, p1_.data());
    double sum = 0;  // of zeros, unless a force at the end is not finite
    for (int j = 0; j < m_.nv; ++j) sum += 0 * p1_[j];
    if (sum != 0) return false;
    increments(m_, state_.q.data(), q1_.data(), change_.data());
    const double moved = finder_.largest(change_);
    if (moved < kCoarse) return true;
    if constexpr (Scheme::implicit_potentials)
      if (!finder_.falls(h, state_.q.data(), state_.q, q1_)) return false;
    const auto speed = [&](const std::vector<double>& q, const std::vector<double>& p) {
      dynamics_.velocity(q.data(), p.data(), state_.rates.data(), v_.data());
      return finder_.largest(v_);
    };
    return moved <= kOvershoot * std::fabs(h) * std::max(speed(state_.q, state_.x), speed(q1_, p1_));
  }

  // Follow the solution from step zero to h: it is continuous in h until it ends in a fold.
  bool follow(double h, const ForceSource& forces) {
    const int n = m_.nv;
    const std::vector<double> end = target_;
    std::vector<double> last(n), before(n);  // increments at `reached` and at the fraction before it
    double reached = 0, previous = 0, advance = 0.5;
    while (reached < 1) {
      const double target = std::min(1.0, reached + advance);
      target_ = end;
      if (target < 1) prescribed_.interpolate(state_.q.data(), end.data(), target, target_.data());
      begin_scheme(target * h, forces);
      if (reached == 0) {
        guesses_.guess(Guess::Acceleration, target * h, state_, forces, target_.data(), q1_.data());
      } else {
        const double ratio = (target - reached) / (reached - previous);
        for (int j = 0; j < n; ++j) change_[j] = last[j] + ratio * (last[j] - before[j]);
        retract(m_, state_.q.data(), change_.data(), q1_.data());
        prescribed_.place(target_.data(), q1_.data());
      }
      if (solve(target * h)) {
        std::swap(before, last);
        increments(m_, state_.q.data(), q1_.data(), last.data());
        previous = reached, reached = target;
        advance *= 1.5;
      } else if ((advance *= 0.5) < 1.0 / 64) {
        target_ = end;
        return false;
      }
    }
    return true;
  }

  // The state ← (q1_, p1_), the root of a step, or part of one, of h.
  void accept(double h) {
    state_.x = p1_;
    complete_end({h, state_.q.data(), q1_.data()});
    const std::vector<double>& moved = guesses_.remember(state_.q.data(), q1_.data());
    double turn = m_.formula_bodies.empty() ? 0 : scheme_.turned(state_.q.data(), q1_.data());
    for (const int j : turning_) turn = std::max(turn, std::fabs(moved[j]));
    report_.turn = turn, report_.largest_turn = std::max(report_.largest_turn, turn);
    // The impulse at q is that of half this step and of half the one before, which p leaves out.
    if (!dynamics_.is_free()) {
      const double time = 0.5 * (state_.last_step_length + h);
      for (int k = 0; k < m_.rows; ++k) report_.multipliers[k] = finder_.impulses()[k] / time;
      for (int j = 0; j < m_.nv; ++j) report_.reactions[j] = -scheme_.reaction()[j] / time;
    }
    state_.last_step_length = h;
    std::swap(state_.q, q1_);
    scheme_.flip();
    eliminated_ = false, can_repeat_ = true;
  }

  // p' ← with what the root finder left over, and with strong dampers.
  void complete_end(const StepEnds<double>& step) {
    keep_remainder(m_, scheme_.residual(), step.q0, step.q1, state_.x.data());
    if (damping_) damping_->settle(step, end_rates_, state_.x.data());
  }

  // Forces at the end are those at the velocity there, which they change: p' = G(p'), found so closely that the
  // step is symmetric. Where there is no such p', the second iterate is taken.
  void correct_end(double t, const ForceSource& forces) {
    const auto evaluate = [&] {
      update(t, forces);
      redo_end_with_forces(forces);
    };
    end_.begin(state_.x);
    report_.stiff_end = false;
    for (int k = 0; k < kCorrections; ++k) {
      if (k > 0) end_.next(state_.x);
      if (k == 1) p1_ = state_.x;
      evaluate();
      end_.evaluated(state_.x, scheme_.scale());
      if (k == 1) report_.stiff_end = end_.slope() > kStiffEnd;
      if (k > 0 && end_.remainder() <= corrected_) return;
      if (!(end_.remainder() < kLost)) break;
      if (!end_.stands()) continue;
      if (end_.remainder() <= kNearRounding) return;
      break;
    }
    state_.x = p1_;
    evaluate();
  }

  // The end of the last step (or of its last part) again under other forces there: p ← p'.
  void redo_end_with_forces(const ForceSource& forces) {
    const double h = state_.last_step_length, *q0 = q1_.data(), *q1 = state_.q.data();
    scheme_.flip();
    if constexpr (requires { scheme_.finish_again(h, q0, q1, forces.tau, forces.inputs, state_.x.data()); }) {
      scheme_.finish_again(h, q0, q1, forces.tau, forces.inputs, state_.x.data());
    } else {
      scheme_.finish(h, q0, q1, forces.tau, forces.inputs, state_.x.data());
    }
    scheme_.flip();
    complete_end({state_.last_step_length, q1_.data(), state_.q.data()});
  }

  static constexpr double kStiffEnd = 0.5;                  // slope of p' = G(p'), ζ of a drag
  static constexpr int kCorrections = 10;                   // at most, of forces at a step's end
  static constexpr double kLost = 1e6;                      // the same, from which on there is none to be found
  static constexpr double kNearRounding = 1e-10;            // as `corrected_`, where it no longer falls
  static constexpr double kCoarse = 0.3, kOvershoot = 1.3;  // rad (or m) per step; against the larger speed at the ends

  const Model& m_;
  Guess guess_;
  RunState state_;
  RunReport report_;
  Scheme scheme_;
  PrescribedCoordinates prescribed_;
  StateDynamics dynamics_;
  StepGuesses guesses_;
  RootFinder<Scheme> finder_;
  FixedPoint end_;
  std::unique_ptr<DampedEnd> damping_;  // where forces of the model depend on velocities
  const double* end_rates_ = nullptr;   // of prescribed coordinates at the end of the step
  double corrected_;                    // what may be left of p' = G(p'), relative to the terms of momenta
  std::vector<double> q1_, target_, p1_, change_, v_;  // q1_: the end that is sought; after a step, its beginning
  std::vector<int> turning_;                           // velocities that are of rotation
  bool updated_ = false;                               // are forces that vary those of the present state?
  bool eliminated_ = false;                            // does the scheme hold the mass matrix of the present state?
  double h_ = 0;                                       // of the run's steps
  bool can_repeat_ = false, again_ = false;            // is q1_ the beginning of the last step, or an end not to be?
};

}  // namespace symplectree
