#include "linearization/actuated_step.hpp"

#include "model/potential.hpp"
#include "model/rows/all_rows.hpp"
#include "model/user_elements.hpp"

namespace symplectree {

ActuatedStepDerivatives::ActuatedStepDerivatives(const Model& m, const std::vector<char>& prescribed, Maker make)
    : m_(m), make_(std::move(make)), dynamics_(m), controls_(m.inputs + 1), v_(m.nv) {
  dynamics_.set_prescribed(prescribed);
  Variant& plain = variants_[no_limits(m)];
  plain.steps = make_(m_);
  now_ = plain.steps.get();
}

ActuatedStepDerivatives::~ActuatedStepDerivatives() = default;

StepDerivatives& ActuatedStepDerivatives::choose(const StepConditions& given) {
  clamp_controls(m_, given.inputs, controls_.data());
  clamped_.clear();
  for (int i = 0; i < m_.inputs; ++i)
    if (controls_[i] != given.inputs[i]) clamped_.push_back(i);
  at_ = given;
  at_.inputs = controls_.data();
  dynamics_.velocity(given.q, given.p, given.rates, v_.data());
  const ActuatorLimits limits = limits_reached(m_, {given.q, v_.data()}, controls_.data());
  Variant& variant = variants_[limits];
  if (!variant.steps) {
    variant.model = at_limits(m_, limits);
    variant.steps = make_(variant.model);
    if (add_parameters_) add_parameters_(*variant.steps);
  }
  now_ = variant.steps.get();
  return *now_;
}

void ActuatedStepDerivatives::clear_columns(double* matrix, std::size_t matrix_rows) const {
  const std::size_t width = inputs(), first = 2 * m_.nv;
  for (std::size_t r = 0; r < matrix_rows; ++r)
    for (const int i : clamped_) matrix[r * width + first + i] = 0;
}

void ActuatedStepDerivatives::differentiate(double* first, double* multipliers_first, double* second) {
  now_->differentiate(first, multipliers_first, second);
  if (clamped_.empty()) return;
  clear_columns(first, 2 * m_.nv);
  if (m_.rows > 0) clear_columns(multipliers_first, m_.rows);
  for (int i = 0; second && i < 2 * m_.nv; ++i) {
    double* H = second + static_cast<std::size_t>(i) * inputs() * inputs();
    clear_columns(H, inputs());
    for (const int k : clamped_) std::fill_n(H + static_cast<std::size_t>(2 * m_.nv + k) * inputs(), inputs(), 0.0);
  }
}

void ActuatedStepDerivatives::contract(const double* weights, bool with_second, double* hessian) {
  now_->contract(weights, with_second, hessian);
  clear_columns(hessian, inputs());
  for (const int k : clamped_) std::fill_n(hessian + static_cast<std::size_t>(2 * m_.nv + k) * inputs(), inputs(), 0.0);
}

void ActuatedStepDerivatives::set_parameters(const ModelArrays<double>& arrays, const double* effects, std::size_t size,
                                             int count) {
  const std::vector<double> kept(effects, effects + size);
  add_parameters_ = [&arrays, kept, count](StepDerivatives& steps) {
    steps.set_parameters(arrays, kept.data(), kept.size(), count);
  };
  for (auto& [limits, variant] : variants_) add_parameters_(*variant.steps);
}

}  // namespace symplectree
