// Single steps of one model, method and step size, and their derivatives.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "integrators/method_options.hpp"
#include "linearization/step_layout.hpp"
#include "model/coordinate_map.hpp"
#include "model/model_arrays.hpp"

namespace symplectree {

// A step's state (q, p), forces, and where prescribed coordinates are at its end and how fast.
struct StepConditions {
  const double *q, *p, *tau, *inputs, *target, *rates;
};

// A joint limit, a joint friction or a contact pair: its table, in this order, and its row there.
struct UnilateralPlace {
  int table, row;
  friend bool operator==(const UnilateralPlace&, const UnilateralPlace&) = default;
};

// What only pushes or rubs: what acts in a step, which then has first derivatives only, and what does or does not act
// to rounding, for which the derivatives are those of one side.
struct UnilateralParts {
  std::vector<UnilateralPlace> acting, weak;
};

// Where the results of a step go: the state at its end and multipliers, forces (rows); derivatives of both, `first` (2
// nv × inputs) and `multipliers_first` (rows × inputs); and, unless they are null, `second` (2 nv × inputs × inputs)
// and `hessian` (inputs × inputs), second derivatives contracted with `weights` (2 nv); these two only where nothing
// acts that only pushes or rubs.
struct StepResults {
  double *q, *p, *multipliers, *first, *multipliers_first, *second;
  const double* weights;
  double* hessian;
  UnilateralParts unilateral;
};

// What is needed of a step to find its second derivatives later.
struct StepRecord {
  StepPoint point;
  std::vector<double> numbers;
};

class StepDerivatives {
 public:
  virtual ~StepDerivatives() = default;

  virtual int inputs() const = 0;
  virtual int rows() const = 0;
  // Of a step without solution: relative residual, and the worst velocity or nv and the number of a row (of the tree,
  // where coordinates follow others).
  virtual double residual() const = 0;
  virtual int worst() const = 0;
  // Of the step taken last: the largest angle by which a joint turned [rad].
  virtual double turn() const = 0;

  // (q1, p1) ← the state after the step; false when it has no solution.
  virtual bool take(const StepConditions& given, double* q1, double* p1) = 0;
  // The same in two parts, where what constraints make of p1, and multipliers, may not be needed.
  virtual bool solve(const StepConditions& given, double* q1, double* p1) { return take(given, q1, p1); }
  virtual void complete(double*) {}
  // The same of a step that is known to end at `end`, which saves its solution where there are no constraints; q1 and
  // p1 may then be left as they are.
  virtual bool take_known(const StepConditions& given, const double*, double* q1, double* p1) {
    return take(given, q1, p1);
  }
  // Of the step taken last: multipliers (rows); derivatives, `second` unless it is null; and second derivatives
  // contracted with weights, after the first ones. `with_second`: are all second derivatives found as well?
  virtual void multipliers(double* out) const = 0;
  virtual void differentiate(double* first, double* multipliers_first, double* second) = 0;
  virtual void contract(const double* weights, bool with_second, double* hessian) = 0;

  // Of the step taken last, `weak` after `differentiate`; second derivatives and those in parameters must not be asked
  // for where something acts.
  virtual const UnilateralParts& unilateral() const {
    static const UnilateralParts none;
    return none;
  }
  // out (2 nv) and multipliers (rows) ← derivatives in the step's length, after `differentiate` gave `first`; false
  // where these are not known.
  virtual bool differentiate_in_length(const double*, double*, double*) { return false; }

  // The step differentiated last, to be put back before `contract`, when others have come between; where this can be
  // done.
  virtual bool can_keep() const { return false; }
  virtual void keep(StepRecord&) const {}
  virtual void put_back(const StepRecord&) {}

  // Differentiate in `count` parameters, too: rows of `effects` (size numbers) are (parameter, array, index, rate).
  virtual void set_parameters(const ModelArrays<double>& arrays, const double* effects, std::size_t size,
                              int count) = 0;
  // Derivatives in the parameters (2 nv × count), and of the multipliers (rows × count), after `compute` gave `first`;
  // returns the parameter that constraints cannot follow, or −1.
  virtual int differentiate_in_parameters(const double* first, double* out, double* multipliers) = 0;

  // Takes a step and differentiates it; false when it has no solution. From any thread, one at a time.
  bool compute(const StepConditions& given, StepResults& results) {
    std::lock_guard lock(mutex_);
    if (!take(given, results.q, results.p)) return false;
    multipliers(results.multipliers);
    const bool smooth = unilateral().acting.empty();
    differentiate(results.first, results.multipliers_first, smooth ? results.second : nullptr);
    results.unilateral = unilateral();
    if (results.hessian && smooth) contract(results.weights, results.second != nullptr, results.hessian);
    return true;
  }

 private:
  std::mutex mutex_;
};

// Of a model, `map` null, or of the independent coordinates of a tree; `prescribed` marks velocities of the tree whose
// coordinates are prescribed. Of the options guess and substeps do not count.
std::unique_ptr<StepDerivatives> step_derivatives(const Model& tree, const CoordinateMap* map,
                                                  const MethodOptions& options, double h, std::vector<char> prescribed);

}  // namespace symplectree
