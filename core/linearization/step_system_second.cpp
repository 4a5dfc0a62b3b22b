// Second derivatives of a step's equations in its state and forces.
#include "linearization/action_step_system.hpp"

namespace symplectree {

template std::unique_ptr<StepSystem<DualOf<Jet>, double>> step_system(const ModelOf<double>& m,
                                                                      const StepLayout& layout, Action action,
                                                                      double alpha);

template std::unique_ptr<StepEquations<DualOf<Jet>>> step_equations(const ModelOf<double>& m, Action action,
                                                                    double alpha);

}  // namespace symplectree
