#include "integrators/make_run.hpp"
#include "integrators/newton_run.hpp"
#include "integrators/reduced/reduced_scheme.hpp"

namespace symplectree {

std::unique_ptr<Run> reduced_run(const Model& m, const MethodOptions& options) {
  return std::make_unique<NewtonRun<ReducedScheme>>(m, options, options.alpha, options.retraction);
}

}  // namespace symplectree
