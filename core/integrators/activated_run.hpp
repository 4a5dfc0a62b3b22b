// Runs of models whose actuators have activations (elements/activation.hpp).
//
// Under controls that are constant over a step, activations are known functions of time, and independent of the motion:
// steps of second order take their means over the step, or over each stage of a composition; collocation and explicit
// methods their values wherever they ask for forces. Controls that vary with time and state go straight from one
// instant at which they are asked for to the next: then activations are right to second order.
#pragma once

#include <memory>

#include "elements/activation.hpp"
#include "integrators/wrapped_run.hpp"

namespace symplectree {

// Where a run of second-order steps shall take means of forces that are known functions of time.
class MeanForcesRun final : public WrappedRun {
 public:
  using WrappedRun::WrappedRun;
  bool step(double t, double h, const ForceSource& forces, const PrescribedMotion& motion) override {
    const ForceSource* means = forces.means(t, h);
    return run_->step(t, h, means ? *means : forces, motion);
  }
  bool is_strong(double t, double h, const ForceSource& forces) override {
    const ForceSource* means = forces.means(t, h);
    return run_->is_strong(t, h, means ? *means : forces);
  }
};

// The outermost run, which has the activations.
class ActivatedRun final : public WrappedRun {
 public:
  // `layout`: of the coordinates that forces and states are in; m: the model with the actuators.
  ActivatedRun(const Model& m, const Model& layout, std::unique_ptr<Run> run);

  bool step(double t, double h, const ForceSource& forces, const PrescribedMotion& motion) override;
  void carry(RunMemory& memory) override;
  std::vector<double>* activations() override { return &activations_; }

 private:
  const Model& m_;
  std::vector<int> active_;
  std::vector<double> activations_, v_;
};

// `run` with activations where the model has such; else as it is.
std::unique_ptr<Run> run_with_means(const Model& m, std::unique_ptr<Run> run);
std::unique_ptr<Run> run_with_activations(const Model& m, const Model& layout, std::unique_ptr<Run> run);

}  // namespace symplectree
