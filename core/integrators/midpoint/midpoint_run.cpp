#include "integrators/make_run.hpp"
#include "integrators/midpoint/midpoint_scheme.hpp"
#include "integrators/newton_run.hpp"

namespace symplectree {

std::unique_ptr<Run> midpoint_run(const Model& m, const MethodOptions& options) {
  return std::make_unique<NewtonRun<MidpointScheme>>(m, options, options.alpha, options.solver);
}

}  // namespace symplectree
