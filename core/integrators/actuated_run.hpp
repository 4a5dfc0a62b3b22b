// Runs of models whose actuators have limits (model/rows/actuator.hpp).
//
// Controls are kept within their ranges. An actuator that the state at the beginning of a step puts at a limit of its
// force is a constant force over that step; all others act as their springs, dampers and forces do, implicitly where
// these are. Forces are continuous where a limit is reached, so that second order stays. Explicit methods and
// collocation need no such run: where they ask for forces, limits are met.
#pragma once

#include <functional>
#include <map>
#include <memory>

#include "elements/actuator.hpp"
#include "integrators/run_interface.hpp"

namespace symplectree {

using RunMaker = std::function<std::unique_ptr<Run>(const Model&)>;

// The run that `make` makes of a model, with actuators at their limits where it has such.
std::unique_ptr<Run> run_with_limits(const Model& m, const RunMaker& make);

class ActuatedRun final : public Run {
 public:
  ActuatedRun(const Model& m, RunMaker make);

  void set_prescribed(const std::vector<char>& velocities) override;
  void reset(const double* q, const double* x, const double* rates) override;
  void set_last_step_length(double h) override { run_->set_last_step_length(h); }
  bool step(double t, double h, const ForceSource& forces, const PrescribedMotion& motion) override;
  bool is_strong(double t, double h, const ForceSource& forces) override { return run_->is_strong(t, h, forces); }
  void velocity(double* v) override { run_->velocity(v); }
  bool end_by_momentum(const double* p, double* q1) override { return run_->end_by_momentum(p, q1); }
  void kick(const double* impulse) override { run_->kick(impulse); }
  double unresolved_energy(double scale) override { return run_->unresolved_energy(scale); }
  void limit_unresolved(double energy, double scale) override;
  void go_back(const RunState& state) override;
  void carry(RunMemory& memory) override;
  const RunState& state() const override { return run_->state(); }
  const RunReport& report() const override { return report_; }

 private:
  // A run while actuators are at certain limits, and the model that it is of.
  struct Variant {
    Model model;
    std::unique_ptr<Run> run;
  };

  // v_ ← the velocity as the last step tells it; false after a start.
  bool estimate_velocity(double h);
  // Go on with the run of these limits, from the state of the present one.
  void take_over(const ActuatorLimits& limits);
  Run& variant(const ActuatorLimits& limits);

  const Model& m_;
  RunMaker make_;
  std::unique_ptr<Run> plain_;
  std::map<ActuatorLimits, Variant> variants_;
  Run* run_;
  ActuatorLimits limits_;
  RunReport report_;
  long iterations_ = 0;  // of runs before the present one
  std::vector<char> prescribed_;
  std::vector<double> q_, v_, controls_;  // q_: at the beginning of the last step, which was of length h_
  double h_ = 0;
  bool updated_ = false;  // have forces that vary been asked?
};

}  // namespace symplectree
