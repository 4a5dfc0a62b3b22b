// Dampers between bodies that are as good as firm.
//
// A step has the change of a damper's gauge from positions, which are rounded, so that its impulse is rounded by about
// c ε |x|: of a very strong one by more than the momenta are worth, and energy is fed. Runs take dampers to end motions
// in 1e-11 s at the soonest, which lets them creep by 1e-11 s times the acceleration that they hold back.
#pragma once

#include <functional>

#include "integrators/wrapped_run.hpp"

namespace symplectree {

// The run that `make` makes of a model in which no damper is stronger.
std::unique_ptr<Run> run_with_firm_dampers(const Model& m,
                                           const std::function<std::unique_ptr<Run>(const Model&)>& make);

}  // namespace symplectree
