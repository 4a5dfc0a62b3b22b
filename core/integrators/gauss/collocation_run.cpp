#include "integrators/gauss/collocation_run.hpp"

#include "integrators/make_run.hpp"

namespace symplectree {

std::unique_ptr<Run> collocation_run(const Model& m, const MethodOptions& options, int stages,
                                     std::unique_ptr<Run> shorter) {
  if (stages == 2) return std::make_unique<CollocationRun<2>>(m, options, stages, std::move(shorter));
  if (stages > 4) return std::make_unique<CollocationRun<8>>(m, options, stages, std::move(shorter));
  return std::make_unique<CollocationRun<4>>(m, options, stages, std::move(shorter));
}

}  // namespace symplectree
