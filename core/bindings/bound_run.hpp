// A run as Python has it.
#pragma once

#include "bindings/kept_model.hpp"
#include "integrators/run_interface.hpp"

namespace symplectree {

using BoundRun = OfModel<Run>;

}  // namespace symplectree
