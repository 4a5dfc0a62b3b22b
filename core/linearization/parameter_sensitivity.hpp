// How a step's equations change with masses, lengths and other numbers of the model, and with the step's length: exact,
// by running step_system.hpp on a model of jets, eight parameters at a time.
#pragma once

#include "dense/row_matrix.hpp"
#include "linearization/step_system.hpp"
#include "model/model_arrays.hpp"

namespace symplectree {

// A number of the model's arrays and its derivative in a parameter; array −1 is the step's length h.
struct ParameterEffect {
  int parameter, array, place;
  double rate;
};

std::vector<ParameterEffect> parameter_effects(const double* rows, std::size_t size);

// `count` parameters, what they change, and the arrays of the model in which they do.
struct ModelParameters {
  const ModelArrays<double>& arrays;
  std::vector<ParameterEffect> effects;
  int count;
};

class ParameterEquations {
 public:
  ParameterEquations(const Model& m, const StepLayout& layout, const ModelParameters& parameters, Action action,
                     double alpha);
  ~ParameterEquations();

  const StepLayout& layout() const { return layout_; }

  // dE (equations × parameters) and dO (outputs × parameters), with the state and all unknowns as they are.
  void evaluate(const StepPoint& at, RowMatrix& dE, RowMatrix& dO);

  // Without constraints and prescribed coordinates E is r + p, so that a change of r acts as one of p does, whose
  // derivatives are columns nv … 2 nv of `first` (2 nv × inputs).
  void as_momentum(const double* first, int inputs, const RowMatrix& dE, const RowMatrix& dO, double* out) const;

  // Derivatives of λ to those of the multipliers 2 λ/h.
  void impulses_to_forces(const StepPoint& at, double* multipliers) const;

 private:
  // Let the slopes be those of parameters `start` and the following.
  void choose(int start);

  StepLayout layout_;
  std::vector<ParameterEffect> effects_;
  int count_, chosen_ = -1;
  ModelArrays<Jet> arrays_;
  ModelOf<Jet> model_;
  Jet h_;  // its value is zero
  std::unique_ptr<StepSystem<Jet, Jet>> system_;
  std::vector<Jet> dz_, e_, o_;
};

}  // namespace symplectree
