// First derivatives of a step's equations in numbers of the model.
#include "linearization/action_step_system.hpp"

namespace symplectree {

template std::unique_ptr<StepSystem<Jet, Jet>> step_system(const ModelOf<Jet>& m, const StepLayout& layout,
                                                           Action action, double alpha);

}  // namespace symplectree
