// The equations of a variational step, for numbers that carry derivatives:
//
//   r(q, q', λ, f) + p = 0,   h(q') = 0,   p' = g(q, q', f),
//
// those that runs solve (step.hpp, midpoint_state.hpp). And those of the velocity that goes with p' along constraints,
// M(q') v + Dh(q')ᵀ μ = p', Dh(q') v = 0.
//
// T are the numbers of the state, R those of the model.
#pragma once

#include <memory>

#include "integrators/method_options.hpp"
#include "scalar/jet.hpp"

namespace symplectree {

// What a step is made of; `d0`, `d1` (nv) are the increments by which q0 and q1 differ from their values, `lambda` are
// impulses.
template <class T>
struct StepArguments {
  T h;
  const T *q0, *q1, *d0, *d1, *lambda, *tau, *inputs;
};

// r and p' of one action, without rows of constraints.
template <class T>
class StepEquations {
 public:
  virtual ~StepEquations() = default;
  virtual void evaluate(const StepArguments<T>& a, T* r, T* p1) = 0;
  // Leave out all forces that come from no energy: loads, dampers, rotors.
  virtual void set_conservative(bool yes) = 0;
  // Poses at the two ends, after `evaluate`; of the midpoint action at the start only with constraints or pairs.
  virtual const Workspace<T>& start() const = 0;
  virtual const Workspace<T>& end() const = 0;
};

// Made for (Jet, double), (DualOf<Jet>, double) and (Jet, Jet), each compiled in a file of its own, because that takes
// long: step_system_*.cpp.
template <class T, class R = double>
std::unique_ptr<StepEquations<T>> step_equations(const ModelOf<R>& m, Action action, double alpha);

}  // namespace symplectree
