// Single steps of models whose actuators have limits, and their derivatives: those of the step while actuators are at
// the limits that its beginning puts them at (integrators/actuated_run.hpp). A control beyond its range changes
// nothing.
#pragma once

#include <functional>
#include <map>

#include "elements/actuator.hpp"
#include "integrators/state_dynamics.hpp"
#include "linearization/step_derivatives.hpp"

namespace symplectree {

class ActuatedStepDerivatives final : public StepDerivatives {
 public:
  using Maker = std::function<std::unique_ptr<StepDerivatives>(const Model&)>;

  ActuatedStepDerivatives(const Model& m, const std::vector<char>& prescribed, Maker make);
  ~ActuatedStepDerivatives() override;

  int inputs() const override { return now_->inputs(); }
  int rows() const override { return now_->rows(); }
  double residual() const override { return now_->residual(); }
  int worst() const override { return now_->worst(); }
  double turn() const override { return now_->turn(); }
  bool take(const StepConditions& given, double* q1, double* p1) override { return choose(given).take(at_, q1, p1); }
  bool solve(const StepConditions& given, double* q1, double* p1) override { return choose(given).solve(at_, q1, p1); }
  void complete(double* p1) override { now_->complete(p1); }
  bool take_known(const StepConditions& given, const double* end, double* q1, double* p1) override {
    return choose(given).take_known(at_, end, q1, p1);
  }
  void multipliers(double* out) const override { now_->multipliers(out); }
  void differentiate(double* first, double* multipliers_first, double* second) override;
  void contract(const double* weights, bool with_second, double* hessian) override;
  void set_parameters(const ModelArrays<double>& arrays, const double* effects, std::size_t size, int count) override;
  bool differentiate_in_length(const double* first, double* out, double* multipliers) override {
    return now_->differentiate_in_length(first, out, multipliers);
  }
  int differentiate_in_parameters(const double* first, double* out, double* multipliers) override {
    return now_->differentiate_in_parameters(first, out, multipliers);
  }

 private:
  struct Variant {
    Model model;
    std::unique_ptr<StepDerivatives> steps;
  };

  // The steps of the limits that these conditions put actuators at; at_ ← the conditions with controls in their ranges.
  StepDerivatives& choose(const StepConditions& given);
  // Columns of controls beyond their ranges, of matrices with `inputs` columns, ← 0.
  void clear_columns(double* matrix, std::size_t matrix_rows) const;

  const Model& m_;
  Maker make_;
  StateDynamics dynamics_;
  std::map<ActuatorLimits, Variant> variants_;
  StepDerivatives* now_;
  StepConditions at_{};
  std::vector<double> controls_, v_;
  std::vector<int> clamped_;  // controls beyond their ranges
  std::function<void(StepDerivatives&)> add_parameters_;
};

}  // namespace symplectree
