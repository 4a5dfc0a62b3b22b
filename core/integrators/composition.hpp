// Steps of higher order: a symmetric composition of steps of lower order, its stages, which take fractions of the step
// that add up to one, some of them backwards (Hairer, Lubich, Wanner, section V.3). Backwards, dampers that end motions
// within a step would feed them without bound: such a step is taken as equal ones of lower order instead, all forwards.
#pragma once

#include <cmath>
#include <memory>

#include "integrators/run_interface.hpp"

namespace symplectree {

class Composition final : public Run {
 public:
  Composition(const Model& m, std::unique_ptr<Run> stages, std::vector<double> fractions)
      : m_(m), run_(std::move(stages)), fractions_(std::move(fractions)), start_(m), report_(m) {
    for (const double f : fractions_) longest_ = std::max(longest_, std::fabs(f));
  }

  void set_prescribed(const std::vector<char>& velocities) override { run_->set_prescribed(velocities); }
  void reset(const double* q, const double* x, const double* rates) override { run_->reset(q, x, rates); }
  void set_last_step_length(double h) override { run_->set_last_step_length(h); }
  bool is_strong(double t, double h, const ForceSource& forces) override {
    return run_->is_strong(t, longest_ * std::fabs(h), forces);
  }
  void velocity(double* v) override { run_->velocity(v); }
  void kick(const double* impulse) override { run_->kick(impulse); }
  void carry(RunMemory& memory) override { run_->carry(memory); }
  const RunState& state() const override { return run_->state(); }
  const RunReport& report() const override { return report_; }

  bool step(double t, double h, const ForceSource& forces, const PrescribedMotion& motion) override {
    start_ = run_->state();
    if (run_->is_strong(t, longest_ * std::fabs(h), forces)) return step_forwards(t, h, forces, motion);
    for (std::size_t s = 0; s < fractions_.size(); ++s) {
      const bool done = run_->step(t, fractions_[s] * h, forces, motion.from_stage(m_, static_cast<int>(s)));
      copy_report(s == 0);
      if (!done) {
        if (s > 0) restore();
        return false;
      }
      t += fractions_[s] * h;
    }
    return true;
  }

 private:
  bool step_forwards(double t, double h, const ForceSource& forces, const PrescribedMotion& motion) {
    const int count = static_cast<int>(fractions_.size());
    for (int s = 0; s < count; ++s) {
      const PrescribedMotion part = motion.over(t, h / count).from_stage(m_, count - 1);
      const bool done = run_->step(t, h / count, forces, part);
      copy_report(s == 0);
      if (!done) {
        if (s > 0) restore();
        return false;
      }
      t += h / count;
    }
    ++report_.lowered;
    return true;
  }

  // Multipliers and reactions are those of the step's beginning, in its first stage.
  void copy_report(bool with_forces) {
    const RunReport& r = run_->report();
    if (with_forces) report_.multipliers = r.multipliers, report_.reactions = r.reactions;
    report_.iterations = r.iterations, report_.halvings = r.halvings;
    report_.turn = with_forces ? r.turn : std::max(report_.turn, r.turn), report_.largest_turn = r.largest_turn;
    report_.feeding = r.feeding;
    report_.residual = r.residual, report_.worst = r.worst;
  }

  // The state ← that at the beginning of the step.
  void restore() {
    run_->reset(start_.q.data(), start_.x.data(), start_.rates.data());
    run_->set_last_step_length(start_.last_step_length);
  }

  const Model& m_;
  std::unique_ptr<Run> run_;
  std::vector<double> fractions_;
  double longest_ = 0;  // fraction
  RunState start_;
  RunReport report_;
};

}  // namespace symplectree
