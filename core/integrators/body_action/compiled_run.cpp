#include "integrators/body_action/compiled_scheme.hpp"
#include "integrators/make_run.hpp"
#include "integrators/newton_run.hpp"

namespace symplectree {

std::unique_ptr<Run> compiled_run(const Model& m, const MethodOptions& options, const StepCode& code) {
  return std::make_unique<NewtonRun<CompiledScheme>>(m, options, code);
}

}  // namespace symplectree
