// Steps under strong dampers that collocation cannot take, as shorter ones of order 2.
//
// A damper between points acts along a line that turns. Where that counts within a step, Newton's iteration with the
// damping of its beginning does not converge, and stages that were found would feed energy: as for constraints, of
// which such dampers are the limit, Gauss's nodes are no good.
#pragma once

#include <memory>

#include "integrators/gauss/stage_newton.hpp"
#include "integrators/run_interface.hpp"
#include "kinematics/configurations.hpp"

namespace symplectree {

class ShorterSteps {
 public:
  // `run` takes a step as shorter ones; null where nothing is damped.
  ShorterSteps(const Model& m, std::unique_ptr<Run> run)
      : m_(m), run_(std::move(run)), moved_(m.nv), velocity_(m.nv), ahead_(m.nq) {}

  // Does what damps velocities, measured by `newton` at the beginning (q, v) of a step of h, turn far within the step?
  bool are_due(double h, const double* q, const double* v, const double* inputs, StageNewton& newton) {
    for (int j = 0; j < m_.nv; ++j) velocity_[j] = v[j], moved_[j] = h * v[j];
    retract(m_, q, moved_.data(), ahead_.data());
    return std::fabs(h) * newton.turning(ahead_.data(), velocity_.data(), inputs) > kTurns;
  }

  // The step from `state`, which goes on to its end; false where it cannot be taken.
  bool take(double t, double h, const ForceSource& forces, RunState& state, RunReport& report) {
    run_->go_back(state);
    const long before = run_->report().iterations;
    const bool done = run_->step(t, h, forces, {});
    const RunReport& r = run_->report();
    report.iterations += r.iterations - before;
    report.feeding = r.feeding, report.residual = r.residual, report.worst = r.worst;
    if (!done) return false;
    ++report.lowered;
    state.q = run_->state().q, state.x = run_->state().x;
    return true;
  }

  void carry(RunMemory& memory) {
    if (run_) run_->carry(memory);
  }

 private:
  static constexpr double kTurns = 0.5;  // steps times rate of decay by what turns, above which they are due

  const Model& m_;
  std::unique_ptr<Run> run_;
  std::vector<double> moved_, velocity_, ahead_;
};

}  // namespace symplectree
