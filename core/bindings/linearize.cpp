// Derivatives of variational steps.
#include <nanobind/stl/unique_ptr.h>

#include "bindings/arrays.hpp"
#include "linearization/step_derivatives.hpp"

namespace symplectree {
namespace {

// A new array; its numbers are at `data`.
nb::object new_array(std::initializer_list<npy_intp> shape, double*& data) {
  nb::object out = nb::steal(PyArray_ZEROS(static_cast<int>(shape.size()), shape.begin(), NPY_DOUBLE, 0));
  if (!out.is_valid()) throw nb::python_error();
  data = static_cast<double*>(PyArray_DATA(reinterpret_cast<PyArrayObject*>(out.ptr())));
  return out;
}

// The step of these conditions: StepResults as a tuple, without its weights; None when it has no solution. Of `second`
// and `hessian`, which takes weights (2 nv), those that are not asked for are None.
nb::object compute(StepDerivatives& self, In q, In p, In tau, In inputs, In target, In rates, bool second, In weights) {
  const npy_intp nv = static_cast<npy_intp>(p.size()), n = self.inputs(), rows = self.rows();
  StepResults to{};
  const nb::object q1 = new_array({static_cast<npy_intp>(q.size())}, to.q), p1 = new_array({nv}, to.p);
  const nb::object multipliers = new_array({rows}, to.multipliers), first = new_array({2 * nv, n}, to.first);
  const nb::object multipliers_first = new_array({rows, n}, to.multipliers_first);
  const nb::object all = second ? new_array({2 * nv, n, n}, to.second) : nb::none();
  const nb::object hessian = weights.size() ? new_array({n, n}, to.hessian) : nb::none();
  to.weights = weights.data();
  bool done;
  {
    nb::gil_scoped_release unlocked;
    done = self.compute({q.data(), p.data(), tau.data(), inputs.data(), target.data(), rates.data()}, to);
  }
  if (!done) return nb::none();
  return nb::make_tuple(q1, p1, multipliers, first, multipliers_first, all, hessian);
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
  nb::class_<StepDerivatives>(module, "Linearizer")
      .def(nb::new_([](NativeModel& model, const MethodOptions& options, double dt, In prescribed) {
             return step_derivatives(model.model, model.map.get(), options, dt, model.marked(prescribed));
           }),
           nb::arg("model"), nb::arg("options"), nb::arg("dt"), nb::arg("prescribed"), nb::keep_alive<0, 1>())
      .def("compute", &compute, nb::arg("q"), nb::arg("p"), nb::arg("tau"), nb::arg("inputs"), nb::arg("target"),
           nb::arg("rates"), nb::kw_only(), nb::arg("second"), nb::arg("weights"))
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
