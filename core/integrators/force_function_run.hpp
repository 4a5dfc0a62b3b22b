// Runs under forces that are functions of (t, q, v).
//
// A function that resists motion so strongly that it would end it within a step, as a regulator with much damping does,
// is taken as f = g − C v: C = −∂f/∂v, estimated once by differences, belongs to the model as dampers do, and g = f + C
// v is what is left to ask the function for. As with dampers the limit of large C is the creeping motion.
#pragma once

#include <functional>
#include <memory>

#include "integrators/run_interface.hpp"

namespace symplectree {

class ForceFunctionRun final : public Run {
 public:
  using Maker = std::function<std::unique_ptr<Run>(const Model&)>;

  // `plain`: the run of the model itself; `make` that of the model with dampers.
  ForceFunctionRun(const Model& m, std::unique_ptr<Run> plain, Maker make);
  ~ForceFunctionRun() override;

  void set_prescribed(const std::vector<char>& velocities) override;
  void reset(const double* q, const double* x, const double* rates) override { run().reset(q, x, rates); }
  void set_last_step_length(double h) override { run().set_last_step_length(h); }
  bool step(double t, double h, const ForceSource& forces, const PrescribedMotion& motion) override;
  bool is_strong(double t, double h, const ForceSource& forces) override;
  void velocity(double* v) override { run().velocity(v); }
  bool end_by_momentum(const double* p, double* q1) override { return run().end_by_momentum(p, q1); }
  void kick(const double* impulse) override { run().kick(impulse); }
  double unresolved_energy(double scale) override { return run().unresolved_energy(scale); }
  void limit_unresolved(double energy, double scale) override { run().limit_unresolved(energy, scale); }
  void go_back(const RunState& state) override { run().go_back(state); }
  void carry(RunMemory& memory) override;
  const RunState& state() const override { return (damped_ ? damped_ : plain_)->state(); }
  const RunReport& report() const override { return asked_ ? report_ : plain_->report(); }

 private:
  Run& run() { return damped_ ? *damped_ : *plain_; }
  // C of the function in the present state, for steps of h; is it another than before?
  bool estimate(double t, double h, const ForceSource& forces);
  // Does it resist motion along the velocities `d` (nv) in a step of h, with generalized forces `rate` (nv) per
  // velocity?
  bool resists(double h, const double* d, const double* rate) const;
  // out (nv) ← generalized forces at the velocity v.
  void force_at(double t, const ForceSource& forces, const double* v, double* out) const;
  void reset_to_start();
  // Go on with the dampers C, or without where there are none.
  void take_over();
  bool advance(double t, double h, const ForceSource& forces, const PrescribedMotion& motion);

  const Model& m_;
  Model model_;  // with dampers
  std::unique_ptr<Run> plain_, damped_;
  Maker make_;
  RunState start_;  // of the step
  RunReport report_;
  long iterations_ = 0;  // of runs before the present one
  std::vector<char> prescribed_;
  std::vector<double> inverse_;  // of each velocity: 1/m
  std::vector<double> C_;        // (nv × nv), empty where the function is not strong
  std::vector<double> drag_;     // C v where the function was asked last
  int waiting_ = 0;              // steps until C may be estimated again
  int feeding_ = -1;             // see RunReport
  bool asked_ = false;           // has a function been asked?
  bool known_ = false;
};

}  // namespace symplectree
