// Curvatures of steps by each action, on their own because they take long to compile.
#include "linearization/contracted_hessian.hpp"

namespace symplectree {

std::unique_ptr<HessianInterface> step_hessian(const Model& m, const StepLayout& layout, Action action, double alpha) {
  using Second = DualOf<Jet>;
  switch (action) {
    case Action::Cayley:
      return std::make_unique<StepHessian<BodyActionEquations<Cayley, Second>>>(m, layout, alpha);
    case Action::Chord:
      return std::make_unique<StepHessian<BodyActionEquations<Chord, Second>>>(m, layout, alpha);
    case Action::Exponential:
      return std::make_unique<StepHessian<BodyActionEquations<Exponential, Second>>>(m, layout, alpha);
    default:
      return std::make_unique<StepHessian<MidpointEquations<Second>>>(m, layout, alpha, alpha);
  }
}

}  // namespace symplectree
