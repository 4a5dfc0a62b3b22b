// Runs of an action, for the binding files that take its steps.
#pragma once

#include <memory>

#include "integrators/run_interface.hpp"

namespace symplectree {

// `action` as in ACTIONS and `solver` as in SOLVERS of symplectree/integrators/variational.py.
std::unique_ptr<AnyRun> action_run(const Model& m, int action, double alpha, int solver, const Settings& settings);

}  // namespace symplectree
