// A run that is another one but for what it overrides.
#pragma once

#include <memory>

#include "integrators/run_interface.hpp"

namespace symplectree {

class WrappedRun : public Run {
 public:
  explicit WrappedRun(std::unique_ptr<Run> run) : run_(std::move(run)) { impacts = run_->impacts; }

  void set_prescribed(const std::vector<char>& velocities) override { run_->set_prescribed(velocities); }
  void reset(const double* q, const double* x, const double* rates) override { run_->reset(q, x, rates); }
  void set_last_step_length(double h) override { run_->set_last_step_length(h); }
  bool step(double t, double h, const ForceSource& forces, const PrescribedMotion& motion) override {
    return run_->step(t, h, forces, motion);
  }
  bool is_strong(double t, double h, const ForceSource& forces) override { return run_->is_strong(t, h, forces); }
  void velocity(double* v) override { run_->velocity(v); }
  double unresolved_energy(double scale) override { return run_->unresolved_energy(scale); }
  void limit_unresolved(double energy, double scale) override { run_->limit_unresolved(energy, scale); }
  void go_back(const RunState& state) override { run_->go_back(state); }
  bool end_by_momentum(const double* p, double* q1) override { return run_->end_by_momentum(p, q1); }
  void kick(const double* impulse) override { run_->kick(impulse); }
  void carry(RunMemory& memory) override { run_->carry(memory); }
  const RunState& state() const override { return run_->state(); }
  const RunReport& report() const override { return run_->report(); }

 protected:
  std::unique_ptr<Run> run_;
};

}  // namespace symplectree
