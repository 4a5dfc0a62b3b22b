// Derivatives of variational steps.
#include "bindings/native.hpp"
#include "linearization/step_linearizer.hpp"

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

bool compute(StepLinearizer& self, const ConditionArrays& given, const ResultArrays& out) {
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

int differentiate_in_parameters(StepLinearizer& self, In first, Out out, Out multipliers) {
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
           nb::arg("inputs"), nb::arg("target"), nb::arg("rates"))
      .def_ro("q", &ConditionArrays::q)
      .def_ro("p", &ConditionArrays::p)
      .def_ro("tau", &ConditionArrays::tau)
      .def_ro("inputs", &ConditionArrays::inputs)
      .def_ro("target", &ConditionArrays::target)
      .def_ro("rates", &ConditionArrays::rates);
  nb::class_<ResultArrays>(module, "StepResults")
      .def(nb::init<Out, Out, Out, Out, Out, Out, In, Out>(), nb::kw_only(), nb::arg("q"), nb::arg("p"),
           nb::arg("multipliers"), nb::arg("first"), nb::arg("multipliers_first"), nb::arg("second"),
           nb::arg("weights"), nb::arg("hessian"))
      .def_ro("q", &ResultArrays::q)
      .def_ro("p", &ResultArrays::p)
      .def_ro("multipliers", &ResultArrays::multipliers)
      .def_ro("first", &ResultArrays::first)
      .def_ro("multipliers_first", &ResultArrays::multipliers_first)
      .def_ro("second", &ResultArrays::second)
      .def_ro("weights", &ResultArrays::weights)
      .def_ro("hessian", &ResultArrays::hessian);
  nb::class_<StepLinearizer>(module, "Linearizer")
      .def(
          "__init__",
          [](StepLinearizer* self, NativeModel& model, const MethodOptions& options, double dt, In prescribed) {
            new (self) StepLinearizer(model.model, options, dt, marked(model.model, prescribed));
          },
          nb::arg("model"), nb::arg("options"), nb::arg("dt"), nb::arg("prescribed"), nb::keep_alive<1, 2>())
      .def("compute", &compute, nb::arg("conditions"), nb::arg("results"))
      .def(
          "set_parameters",
          [](StepLinearizer& self, const NativeModel& model, In effects, int count) {
            self.set_parameters(model.arrays, effects.data(), effects.size(), count);
          },
          nb::arg("model"), nb::arg("effects"), nb::arg("count"))
      .def("differentiate_in_parameters", &differentiate_in_parameters, nb::arg("first"), nb::arg("out"),
           nb::arg("multipliers"))
      .def_prop_ro("inputs", &StepLinearizer::inputs)
      .def_prop_ro("residual", &StepLinearizer::residual)
      .def_prop_ro("worst", &StepLinearizer::worst);
}

}  // namespace symplectree
