#include "integrators/body_action/tree_scheme.hpp"
#include "integrators/make_run.hpp"
#include "integrators/newton_run.hpp"

namespace symplectree {

std::unique_ptr<Run> exponential_run(const Model& m, const MethodOptions& options) {
  return std::make_unique<NewtonRun<TreeScheme<Exponential>>>(m, options, options.solver);
}

}  // namespace symplectree
