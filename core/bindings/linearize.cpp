// Derivatives of variational steps.
#include "bindings/arrays.hpp"
#include "bindings/kept_model.hpp"
#include "kinematics/configurations.hpp"
#include "linearization/step_derivatives.hpp"
#include "model/read_model.hpp"

namespace symplectree {
namespace {

// A new array; its numbers are at `data`.
nb::object new_array(std::initializer_list<npy_intp> shape, double*& data) {
  nb::object out = nb::steal(PyArray_ZEROS(static_cast<int>(shape.size()), shape.begin(), NPY_DOUBLE, 0));
  if (!out.is_valid()) throw nb::python_error();
  data = static_cast<double*>(PyArray_DATA(reinterpret_cast<PyArrayObject*>(out.ptr())));
  return out;
}

// Pairs (table, row).
nb::list as_list(const std::vector<UnilateralPlace>& places) {
  nb::list out;
  for (const UnilateralPlace& place : places) out.append(nb::make_tuple(place.table, place.row));
  return out;
}

// The step of these conditions: StepResults as a tuple, without its weights; None when it has no solution. Of `second`
// and `hessian`, which takes weights (2 nv), those that are not asked for are None.
nb::object compute(OfModel<StepDerivatives>& of, In q, In p, In tau, In inputs, In target, In rates, bool second,
                   In weights) {
  StepDerivatives& self = *of;
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
  return nb::make_tuple(q1, p1, multipliers, first, multipliers_first, all, hessian, as_list(to.unilateral.acting),
                        as_list(to.unilateral.weak));
}

// Steps and their first derivatives on arrays that are ready, without prescribed coordinates.
class ReadyLinearizer {
 public:
  // `fields`: what results have beside those of `at`, and what never changes. Steps in which a joint turns by more than
  // `longest_turn` may be divided, and are left to Python.
  ReadyLinearizer(NativeModel& model, nb::object linearizer, nb::dict fields, double longest_turn)
      : layout_(model.layout()), native_(*nb::cast<OfModel<StepDerivatives>&>(linearizer)), kept_(linearizer),
        kept_model_(nb::find(model)), fields_(fields), longest_turn_(longest_turn),
        zero_(std::max(layout_.nv, layout_.inputs)) {}

  template <class Visit>
  int visit(const Visit& each) const {
    return each(kept_, kept_model_, fields_);
  }

  // The fields of a Linearization at (q, p) under forces u, None for none; None where an argument is not ready, the
  // step has no solution or something is weakly active: Python then looks closer.
  nb::object at(nb::handle q, nb::handle p, nb::handle u) {
    const int nv = layout_.nv, forces = layout_.inputs ? layout_.inputs : nv;
    if (!is_ready_vector(q, layout_.nq) || !is_ready_vector(p, nv)) return nb::none();
    if (!u.is_none() && !is_ready_vector(u, forces)) return nb::none();
    if (has_zero_quaternion(layout_, numbers(q))) return nb::none();
    const double* force = u.is_none() ? zero_.data() : numbers(u);
    std::vector<double> start(numbers(q), numbers(q) + layout_.nq);
    normalize(layout_, start.data());
    const npy_intp rows = native_.rows(), all = 2 * nv + forces;
    StepResults to{};
    const nb::object q1 = new_array({layout_.nq}, to.q), p1 = new_array({nv}, to.p);
    nb::object first = new_array({2 * nv, all}, to.first), multipliers, of_multipliers;
    if (rows > 0) {
      multipliers = new_array({rows}, to.multipliers);
      of_multipliers = new_array({rows, all}, to.multipliers_first);
    }
    const bool inputs = layout_.inputs > 0;
    const StepConditions given{start.data(), numbers(p),  inputs ? zero_.data() : force, inputs ? force : zero_.data(),
                               start.data(), zero_.data()};
    bool done;
    {
      nb::gil_scoped_release unlocked;
      done = native_.compute(given, to);
    }
    if (!done || native_.turn() > longest_turn_ || !to.unilateral.weak.empty()) return nb::none();
    nb::object out = nb::steal(PyDict_Copy(fields_.ptr()));
    const auto set = [&](const char* name, const nb::object& value) { out[name] = value; };
    set("q", q1), set("p", p1), set("A", columns(first, 0, 2 * nv)), set("B", columns(first, 2 * nv, forces));
    if (rows == 0) return out;
    set("multipliers", multipliers), set("multipliers_A", columns(of_multipliers, 0, 2 * nv));
    set("multipliers_B", columns(of_multipliers, 2 * nv, forces));
    return out;
  }

 private:
  static bool is_ready_vector(nb::handle given, int size) {
    return is_ready(given, size) && PyArray_NDIM(reinterpret_cast<PyArrayObject*>(given.ptr())) == 1;
  }
  static const double* numbers(nb::handle array) {
    return static_cast<const double*>(PyArray_DATA(reinterpret_cast<PyArrayObject*>(array.ptr())));
  }

  // A view of `count` columns of a matrix from `begin` on.
  static nb::object columns(nb::object& matrix, npy_intp begin, npy_intp count) {
    auto* whole = reinterpret_cast<PyArrayObject*>(matrix.ptr());
    npy_intp shape[2] = {PyArray_DIM(whole, 0), count};
    PyArray_Descr* type = PyArray_DescrFromType(NPY_DOUBLE);
    PyObject* part =
        PyArray_NewFromDescr(&PyArray_Type, type, 2, shape, PyArray_STRIDES(whole),
                             static_cast<double*>(PyArray_DATA(whole)) + begin, NPY_ARRAY_WRITEABLE, nullptr);
    if (!part || PyArray_SetBaseObject(reinterpret_cast<PyArrayObject*>(part), nb::object(matrix).release().ptr()) < 0)
      throw nb::python_error();
    return nb::steal(part);
  }

  const Model& layout_;
  StepDerivatives& native_;
  nb::object kept_, kept_model_;
  nb::dict fields_;
  double longest_turn_;
  std::vector<double> zero_;
};

int differentiate_in_parameters(OfModel<StepDerivatives>& self, In first, Out out, Out multipliers) {
  nb::gil_scoped_release unlocked;
  return self->differentiate_in_parameters(first.data(), out.data(), multipliers.data());
}

}  // namespace

void bind_linearize(nb::module_& module) {
  nb::list arrays;
  for (const ArrayKind& kind : kArrayKinds) arrays.append(kind.name);
  module.attr("ARRAYS") = arrays;
  nb::class_<ReadyLinearizer>(module, "ReadyLinearizer", collected<ReadyLinearizer>())
      .def(nb::init<NativeModel&, nb::object, nb::dict, double>(), nb::arg("model"), nb::arg("linearizer"),
           nb::arg("fields"), nb::arg("longest_turn"))
      .def("at", &ReadyLinearizer::at, nb::arg("q"), nb::arg("p"), nb::arg("u").none());
  using Derivatives = OfModel<StepDerivatives>;
  nb::class_<Derivatives>(module, "Linearizer", collected<Derivatives>())
      .def(nb::new_([](NativeModel& model, const MethodOptions& options, double dt, In prescribed) {
             return Derivatives(model,
                                step_derivatives(model.model, model.map.get(), options, dt, model.marked(prescribed)));
           }),
           nb::arg("model"), nb::arg("options"), nb::arg("dt"), nb::arg("prescribed"))
      .def("compute", &compute, nb::arg("q"), nb::arg("p"), nb::arg("tau"), nb::arg("inputs"), nb::arg("target"),
           nb::arg("rates"), nb::kw_only(), nb::arg("second"), nb::arg("weights"))
      .def(
          "set_parameters",
          [](Derivatives& self, const NativeModel& model, In effects, int count) {
            self->set_parameters(model.arrays, effects.data(), effects.size(), count);
          },
          nb::arg("model"), nb::arg("effects"), nb::arg("count"))
      .def("differentiate_in_parameters", &differentiate_in_parameters, nb::arg("first"), nb::arg("out"),
           nb::arg("multipliers"))
      .def_prop_ro("inputs", [](const Derivatives& self) { return self->inputs(); })
      .def_prop_ro("residual", [](const Derivatives& self) { return self->residual(); })
      .def_prop_ro("worst", [](const Derivatives& self) { return self->worst(); })
      .def_prop_ro("turn", [](const Derivatives& self) { return self->turn(); });
}

}  // namespace symplectree
