// The equations and outputs of a step of any action together, in the order of StepLayout.
//
// Each pair of scalars is compiled in a file of its own, step_system_*.cpp, because that takes long.
#pragma once

#include <memory>

#include "integrators/method_options.hpp"
#include "linearization/step_layout.hpp"
#include "scalar/jet.hpp"

namespace symplectree {

// E and O of a step in numbers T, of a model in numbers R.
template <class T, class R = double>
class StepSystem {
 public:
  virtual ~StepSystem() = default;
  // z and h differ by `dz` and `dh` (whose values are zero) from the point.
  virtual void evaluate(const StepPoint& at, const T* dz, T* E, T* O, const T& dh = T(0)) = 0;
};

// Made for (Jet, double), (DualOf<Jet>, double) and (Jet, Jet).
template <class T, class R = double>
std::unique_ptr<StepSystem<T, R>> step_system(const ModelOf<R>& m, const StepLayout& layout, Action action,
                                              double alpha);

}  // namespace symplectree
