// Second derivatives of a weighted sum of a step's equations and outputs.
#pragma once

#include <memory>

#include "integrators/method_options.hpp"
#include "linearization/step_layout.hpp"

namespace symplectree {

// σ = start·r + end·p' + rows·h(q') + momentum·M(q')v − end·Dh(q')ᵀμ + rates·Dh(q')v, of which the last three count
// where p' is taken along constraints or prescribed coordinates.
struct StepWeights {
  std::vector<double> start, end, rows, momentum, rates;
};

class HessianInterface {
 public:
  virtual ~HessianInterface() = default;
  // H (size × size, row by row) ← second derivatives of σ in z.
  virtual void evaluate(const StepPoint& at, const StepWeights& weights, double* H) = 0;
};

// Of steps by an action, but for Reduced.
std::unique_ptr<HessianInterface> step_hessian(const Model& m, const StepLayout& layout, Action action, double alpha);

}  // namespace symplectree
