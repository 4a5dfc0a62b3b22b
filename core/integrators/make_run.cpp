#include "integrators/make_run.hpp"

#include "integrators/firm_dampers.hpp"

namespace symplectree {
namespace {

std::unique_ptr<Run> run_of_action(const Model& m, const MethodOptions& options) {
  switch (options.action) {
    case Action::Cayley: return cayley_run(m, options);
    case Action::Chord: return chord_run(m, options);
    case Action::Exponential: return exponential_run(m, options);
    case Action::Midpoint: return midpoint_run(m, options);
    case Action::Reduced: return reduced_run(m, options);
  }
  return nullptr;
}

}  // namespace

std::unique_ptr<Run> newton_run(const Model& m, const MethodOptions& options) {
  return run_with_firm_dampers(m, [&](const Model& given) { return run_of_action(given, options); });
}

}  // namespace symplectree
