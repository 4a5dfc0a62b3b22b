// Single steps of one model, method and step size, and their derivatives, for the binding files that hand them out.
#pragma once

#include <memory>

#include "model/model.hpp"

namespace symplectree {

// How steps are taken; `action` and `solver` as in symplectree/integrators/variational.py.
struct StepChoice {
  int action;
  double alpha;
  int solver;
  double tolerance;
  int max_iterations;
  double h;
};

class StepLinearizer {
 public:
  virtual ~StepLinearizer() = default;
  virtual int inputs() const = 0;
  // Of a step without solution: relative residual, and the worst velocity or nv and the number of a row.
  virtual double residual() const = 0;
  virtual int worst() const = 0;
  // (q1, p1) ← the state after the step; false when it has no solution.
  virtual bool take(const double* q, const double* p, const double* tau, const double* inputs, const double* target,
                    const double* rates, double* q1, double* p1) = 0;
  // Derivatives of the step taken last: `first` (2 nv × inputs), those of the multipliers (rows × inputs), and, unless
  // it is null, `second` (2 nv × inputs × inputs).
  virtual void differentiate(double* first, double* multipliers_first, double* second) = 0;
};

// Of a model without prescribed coordinates.
std::unique_ptr<StepLinearizer> step_linearizer(const Model& m, const StepChoice& choice);

}  // namespace symplectree
