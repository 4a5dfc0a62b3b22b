// Derivatives of a step's equations in numbers of the model.
#include "linearization/parameter_sensitivity.hpp"

#include "elements/actuator.hpp"
#include "model/read_model.hpp"
#include "model/user_elements.hpp"

namespace symplectree {

std::vector<ParameterEffect> parameter_effects(const double* rows, std::size_t size) {
  std::vector<ParameterEffect> out;
  for (std::size_t k = 0; k < size; k += 4)
    out.push_back(
        {static_cast<int>(rows[k]), static_cast<int>(rows[k + 1]), static_cast<int>(rows[k + 2]), rows[k + 3]});
  return out;
}

ParameterEquations::~ParameterEquations() = default;

ParameterEquations::ParameterEquations(const Model& m, const StepLayout& layout, const ModelParameters& parameters,
                                       Action action, double alpha)
    : layout_(layout), effects_(parameters.effects), count_(parameters.count) {
  const ModelArrays<double>& arrays = parameters.arrays;
  static_cast<ModelStructure&>(model_) = m;
  arrays_.parent = arrays.parent, arrays_.kind = arrays.kind;
  for (int k = 0; k < kArrays; ++k) arrays_.numbers[k].assign(arrays.numbers[k].begin(), arrays.numbers[k].end());
  set_numbers(model_, arrays_);
  keep_limits(model_);
  system_ = step_system<Jet, Jet>(model_, layout_, action, alpha);
  dz_.resize(layout_.size), e_.resize(layout_.equations), o_.resize(layout_.outputs);
}

void ParameterEquations::evaluate(const StepPoint& at, RowMatrix& dE, RowMatrix& dO) {
  dE.resize(layout_.equations, count_), dO.resize(layout_.outputs, count_);
  for (int start = 0; start < count_; start += Jet::width) {
    choose(start);
    system_->evaluate(at, dz_.data(), e_.data(), o_.data(), h_);
    for (int k = 0; k < std::min(Jet::width, count_ - start); ++k) {
      for (int i = 0; i < layout_.equations; ++i) dE(i, start + k) = e_[i].slope[k];
      for (int i = 0; i < layout_.outputs; ++i) dO(i, start + k) = o_[i].slope[k];
    }
  }
}

void ParameterEquations::as_momentum(const double* first, int inputs, const RowMatrix& dE, const RowMatrix& dO,
                                     double* out) const {
  const int nv = layout_.nv;
  Eigen::Map<const RowMatrix> all(first, 2 * nv, inputs);
  Eigen::Map<RowMatrix> result(out, 2 * nv, count_);
  result = product(all.middleCols(nv, nv), dE);
  result.bottomRows(nv) += dO;
}

void ParameterEquations::impulses_to_forces(const StepPoint& at, double* multipliers) const {
  for (int i = 0; i < layout_.rows * count_; ++i) multipliers[i] *= 2 / at.h;
  for (const ParameterEffect& effect : effects_)
    for (int k = 0; k < layout_.rows && effect.array < 0; ++k)
      multipliers[k * count_ + effect.parameter] -= effect.rate * 2 * at.lambda[k] / (at.h * at.h);
}

void ParameterEquations::choose(int start) {
  if (start == chosen_) return;
  const auto set = [this](int first, bool on) {
    for (const ParameterEffect& effect : effects_) {
      const int k = effect.parameter - first;
      if (k < 0 || k >= Jet::width) continue;
      Jet& number = effect.array < 0 ? h_ : arrays_.numbers[effect.array][effect.place];
      number.slope.set(k, on ? effect.rate : 0);
    }
  };
  if (chosen_ >= 0) set(chosen_, false);
  set(chosen_ = start, true);
  set_numbers(model_, arrays_);
  keep_limits(model_);
}

}  // namespace symplectree
