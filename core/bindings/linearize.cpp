// Derivatives of variational steps.
#include <nanobind/stl/unique_ptr.h>

#include "bindings/native.hpp"
#include "linearization/step_derivatives.hpp"

namespace symplectree {
namespace {

// The arrays of StepConditions and StepResults; `second`, `weights` and `hessian` may be empty.
struct ConditionArrays {
  In q, p, tau, inputs, target, rates;
};

struct ResultArrays {
  Out q, p, multipliers, first, multipliers_first, second;
  In weights;
  Out hessian;
};

bool compute(StepDerivatives& self, const ConditionArrays& given, const ResultArrays& out) {
  const StepConditions conditions{given.q.data(),      given.p.data(),      given.tau.data(),
                                  given.inputs.data(), given.target.data(), given.rates.data()};
  const StepResults results{out.q.data(),
                            out.p.data(),
                            out.multipliers.data(),
                            out.first.data(),
                            out.multipliers_first.data(),
                            out.second.size() ? out.second.data() : nullptr,
                            out.weights.data(),
                            out.hessian.size() ? out.hessian.data() : nullptr};
  nb::gil_scoped_release unlocked;
  return self.compute(conditions, results);
}

int differentiate_in_parameters(StepDerivatives& self, In first, Out out, Out multipliers) {
  nb::gil_scoped_release unlocked;
  return self.differentiate_in_parameters(first.data(), out.data(), multipliers.data());
}

}  // namespace

void bind_linearize(nb::module_& module) {
  nb::list arrays;
  for (const ArrayKind& kind : kArrayKinds) arrays.append(kind.name);
  module.attr("ARRAYS") = arrays;
  nb::class_<ConditionArrays>(module, "StepConditions")
      .def(nb::init<In, In, In, In, In, In>(), nb::kw_only(), nb::arg("q"), nb::arg("p"), nb::arg("tau"),
           nb::arg("inputs"), nb::arg("target"), nb::arg("rates"));
  nb::class_<ResultArrays>(module, "StepResults")
      .def(nb::init<Out, Out, Out, Out, Out, Out, In, Out>(), nb::kw_only(), nb::arg("q"), nb::arg("p"),
           nb::arg("multipliers"), nb::arg("first"), nb::arg("multipliers_first"), nb::arg("second"),
           nb::arg("weights"), nb::arg("hessian"));
  nb::class_<StepDerivatives>(module, "Linearizer")
      .def(nb::new_([](NativeModel& model, const MethodOptions& options, double dt, In prescribed) {
             return step_derivatives(model.model, model.map.get(), options, dt, model.marked(prescribed));
           }),
           nb::arg("model"), nb::arg("options"), nb::arg("dt"), nb::arg("prescribed"), nb::keep_alive<0, 1>())
      .def("compute", &compute, nb::arg("conditions"), nb::arg("results"))
      .def(
          "set_parameters",
          [](StepDerivatives& self, const NativeModel& model, In effects, int count) {
            self.set_parameters(model.arrays, effects.data(), effects.size(), count);
          },
          nb::arg("model"), nb::arg("effects"), nb::arg("count"))
      .def("differentiate_in_parameters", &differentiate_in_parameters, nb::arg("first"), nb::arg("out"),
           nb::arg("multipliers"))
      .def_prop_ro("inputs", &StepDerivatives::inputs)
      .def_prop_ro("residual", &StepDerivatives::residual)
      .def_prop_ro("worst", &StepDerivatives::worst);
}

}  // namespace symplectree
