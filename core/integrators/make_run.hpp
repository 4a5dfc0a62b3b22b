// Runs of every method, behind functions, so that each is compiled once and by itself.
#pragma once

#include <memory>

#include "integrators/body_action/step_code.hpp"
#include "integrators/method_options.hpp"
#include "integrators/run_interface.hpp"

namespace symplectree {

// Variational steps of second order, by the action that the options name.
std::unique_ptr<Run> newton_run(const Model& m, const MethodOptions& options);

// Of one action each.
std::unique_ptr<Run> cayley_run(const Model& m, const MethodOptions& options);
std::unique_ptr<Run> chord_run(const Model& m, const MethodOptions& options);
std::unique_ptr<Run> exponential_run(const Model& m, const MethodOptions& options);
std::unique_ptr<Run> midpoint_run(const Model& m, const MethodOptions& options);
std::unique_ptr<Run> reduced_run(const Model& m, const MethodOptions& options);
// Of the action Cayley by Newton's method, in code made for this model.
std::unique_ptr<Run> compiled_run(const Model& m, const MethodOptions& options, const StepCode& code);

// Gauss collocation with 2, 3, 4, 6 or 8 stages; tolerance and max_iterations count. Steps under strong dampers that
// turn are left to `shorter`, as shorter ones.
std::unique_ptr<Run> collocation_run(const Model& m, const MethodOptions& options, int stages,
                                     std::unique_ptr<Run> shorter);

// Lobatto's pair with 3, 4 or 5 stages, for constraints and prescribed coordinates; what it cannot take is left to a
// composition of the same order. Prescribed motions come at the nodes after the first, then at the ends of the
// composition's stages.
std::unique_ptr<Run> lobatto_run(const Model& m, const MethodOptions& options, int stages,
                                 std::unique_ptr<Run> composition);

// Explicit methods on (q, v).
enum class ClassicalMethod { SemiImplicitEuler, RungeKutta4 };
std::unique_ptr<Run> classical_run(const Model& m, ClassicalMethod method);

}  // namespace symplectree
