// Single steps of one model, method and step size, and their derivatives.
#pragma once

#include <memory>
#include <mutex>

#include "constraints/constrained_dynamics.hpp"
#include "integrators/run_interface.hpp"
#include "linearization/linearizer_interface.hpp"
#include "model/model_arrays.hpp"

namespace symplectree {

// A step's state (q, p), forces, and where prescribed coordinates are at its end and how fast.
struct StepConditions {
  const double *q, *p, *tau, *inputs, *target, *rates;
};

// Where the results of a step go: the state at its end and multipliers, forces (rows); derivatives of both, `first` (2
// nv × inputs) and `multipliers_first` (rows × inputs); and, unless they are null, `second` (2 nv × inputs × inputs)
// and `hessian` (inputs × inputs), second derivatives contracted with `weights` (2 nv).
struct StepResults {
  double *q, *p, *multipliers, *first, *multipliers_first, *second;
  const double* weights;
  double* hessian;
};

class ParameterEquations;

class StepLinearizer {
 public:
  // `prescribed` marks velocities whose coordinates are prescribed. Of the options guess and substeps do not count.
  StepLinearizer(const Model& m, const MethodOptions& options, double h, std::vector<char> prescribed);
  ~StepLinearizer();

  int inputs() const { return (tree_ ? *tree_ : *general_).inputs(); }
  // Of a step without solution: relative residual, and the worst velocity or nv and the number of a row.
  double residual() const { return run_->report().residual; }
  int worst() const { return run_->report().worst; }

  // Takes a step and differentiates it; false when it has no solution. From any thread, one at a time.
  bool compute(const StepConditions& given, const StepResults& results);

  // (q1, p1) ← the state after the step; false when it has no solution.
  bool take(const StepConditions& given, double* q1, double* p1);
  // Derivatives of the step taken last, `second` unless it is null.
  void differentiate(double* first, double* multipliers_first, double* second);

  // Differentiate in `count` parameters, too: rows of `effects` (size numbers) are (parameter, array, index, rate).
  void set_parameters(const ModelArrays<double>& arrays, const double* effects, std::size_t size, int count);
  // Derivatives in the parameters (2 nv × count), and of the multipliers (rows × count), after `compute` gave `first`;
  // returns the parameter that constraints cannot follow, or −1.
  int differentiate_in_parameters(const double* first, double* out, double* multipliers);

 private:
  double impulse_time() const { return 0.5 * point_.h; }  // of which the multipliers' impulse is made at a start
  // The fast linearizer where it has the derivatives that are needed, else the general one.
  LinearizerInterface& linearizer_with(bool second);
  void make_general();
  // p ← momenta of the velocity along the constraints that goes with it.
  void project(const double* rates, double* p);

  const Model& m_;
  std::vector<char> prescribed_;
  Action action_;
  double alpha_;
  std::unique_ptr<LinearizerInterface> tree_, general_;
  Constrained constrained_;
  std::unique_ptr<Run> run_;
  std::unique_ptr<Workspace<double>> scratch_;
  std::unique_ptr<ParameterEquations> parameters_;
  StepPoint point_;
  std::mutex mutex_;
};

}  // namespace symplectree
