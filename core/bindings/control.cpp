// Costs of motions, and stage-wise Newton on them.
#include <nanobind/stl/vector.h>

#include "bindings/arrays.hpp"
#include "bindings/kept_model.hpp"
#include "control/stagewise_newton.hpp"

namespace symplectree {
namespace {

// What an object refers to, which outlives it as its first base class.
struct KeptObjects {
  nb::object kept_model, kept_cost;
  template <class Visit>
  int visit(const Visit& each) const {
    return each(kept_model, kept_cost);
  }
};

struct Cost : KeptObjects, TotalCost {
  explicit Cost(const NativeModel& of) : KeptObjects{nb::find(of), {}}, TotalCost(of.model, of.map.get()) {}
};

nb::object array(const double* from, std::initializer_list<std::size_t> shape) {
  npy_intp sizes[3], count = 1;
  std::copy(shape.begin(), shape.end(), sizes);
  for (const std::size_t size : shape) count *= static_cast<npy_intp>(size);
  nb::object out = nb::steal(PyArray_SimpleNew(static_cast<int>(shape.size()), sizes, NPY_DOUBLE));
  if (!out.is_valid()) throw nb::python_error();
  std::copy(from, from + count, static_cast<double*>(PyArray_DATA(reinterpret_cast<PyArrayObject*>(out.ptr()))));
  return out;
}

RowMatrix matrix(const In& given) {
  return Eigen::Map<const RowMatrix>(given.data(), static_cast<int>(given.shape(0)), static_cast<int>(given.shape(1)));
}

std::vector<double> numbers(const In& given) { return {given.data(), given.data() + given.size()}; }

TargetRows target_rows(const In& given) { return {numbers(given), static_cast<int>(given.shape(1))}; }

// How much a cost counts, and whether at the end or on the way.
struct Share {
  double scale;
  bool at_end;
};

void add(Cost& to, const Share& share, CostPart::Second second, std::unique_ptr<CostPart> part) {
  part->scale = share.scale, part->at_end = share.at_end, part->second = second;
  to.parts.push_back(std::move(part));
}

void add_quadratic(Cost& to, const Share& share, In Wq, In Wv, In q, In v, const nb::list& curved) {
  auto part = std::make_unique<QuadraticPart>();
  part->Wq = matrix(Wq), part->Wv = matrix(Wv), part->q = target_rows(q), part->v = target_rows(v);
  part->layout = to.map ? &to.map->layout : &to.tree;
  for (const nb::handle t : curved) part->curved.push_back(tape(t));
  const auto second = part->Wv.isZero(0) ? CostPart::Second::None : CostPart::Second::Velocity;
  add(to, share, second, std::move(part));
}

void add_effort(Cost& to, const Share& share, In W, In u) {
  auto part = std::make_unique<EffortPart>();
  part->W = matrix(W), part->u = target_rows(u);
  add(to, share, CostPart::Second::None, std::move(part));
}

void add_pose(Cost& to, const Share& share, const NativeModel& model, int frame, In W, In position, In R, double r) {
  auto part = std::make_unique<PosePart>();
  part->frame = model.frames.at(frame), part->W = matrix(W), part->position = target_rows(position);
  part->R = matrix(R), part->r = r;
  add(to, share, CostPart::Second::None, std::move(part));
}

void add_formula(Cost& to, const Share& share, bool momenta, nb::handle value, nb::handle derivatives) {
  auto part = std::make_unique<FormulaPart>();
  part->of_value = tape(value), part->of_derivatives = tape(derivatives);
  const Model& layout = to.map ? to.map->layout : to.tree;
  part->nq = layout.nq, part->nv = layout.nv, part->nu = to.nu;
  add(to, share, momenta ? CostPart::Second::Momentum : CostPart::Second::Velocity, std::move(part));
}

double value(const Cost& self, int k, In q, In p, In u) {
  CostScratch scratch(self.tree, self.map);
  return self.value(k, q.data(), p.data(), u.data(), scratch);
}

// (gradient, Hessian) of state k in (q, p, u).
nb::tuple derivatives(const Cost& self, int k, In q, In p, In u) {
  CostScratch scratch(self.tree, self.map);
  const std::size_t size = self.size();
  std::vector<double> g(size), H(size * size);
  if (!self.derivatives(k, q.data(), p.data(), u.data(), scratch, g.data(), H.data()))
    g.assign(g.size(), NAN), H.assign(H.size(), NAN);
  return nb::make_tuple(array(g.data(), {size}), array(H.data(), {size, size}));
}

void bind_costs(nb::module_& module) {
  nb::class_<Share>(module, "CostShare").def(nb::init<double, bool>(), nb::arg("scale"), nb::arg("at_end"));
  nb::class_<Cost>(module, "TotalCost", collected<Cost>())
      .def(
          "__init__",
          [](Cost* self, const NativeModel& model, int steps, double dt, int controls) {
            new (self) Cost(model);
            self->steps = steps, self->dt = dt, self->nu = controls;
          },
          nb::arg("model"), nb::kw_only(), nb::arg("steps"), nb::arg("dt"), nb::arg("controls"))
      .def("add_quadratic", &add_quadratic, nb::arg("share"), nb::kw_only(), nb::arg("q_weight"), nb::arg("v_weight"),
           nb::arg("q_target"), nb::arg("v_target"), nb::arg("curved"))
      .def("add_effort", &add_effort, nb::arg("share"), nb::kw_only(), nb::arg("weight"), nb::arg("target"))
      .def("add_pose", &add_pose, nb::arg("share"), nb::kw_only(), nb::arg("model"), nb::arg("frame"),
           nb::arg("weight"), nb::arg("position"), nb::arg("rotation"), nb::arg("rotation_weight"))
      .def("add_formula", &add_formula, nb::arg("share"), nb::kw_only(), nb::arg("momenta"), nb::arg("value"),
           nb::arg("derivatives"))
      .def("value", &value)
      .def("derivatives", &derivatives)
      .def("__len__", [](const Cost& self) { return self.parts.size(); });
}

// With the model and the costs that it refers to.
struct Newton : KeptObjects, StagewiseNewton {
  Newton(const NativeModel& model, const Cost& cost, const ControlledModel& controlled, ControlLimits limits,
         bool exact, int threads)
      : KeptObjects{nb::find(model), nb::find(cost)}, StagewiseNewton(controlled, cost, limits, exact, threads) {}
};

void make_newton(Newton* self, const NativeModel& model, const Cost& cost, const MethodOptions& options,
                 const MethodOptions& single, In prescribed, In limits, bool exact, int threads) {
  ControlledModel controlled{model.model, model.map.get(), options, single, cost.dt, cost.steps, {}};
  for (std::size_t k = 0; k < prescribed.size(); k += 2)
    controlled.prescribed.push_back(
        {static_cast<int>(prescribed.data()[k]), static_cast<int>(prescribed.data()[k + 1])});
  const std::size_t m = limits.shape(1);
  const double* l = limits.data();
  new (self) Newton(model, cost, controlled, ControlLimits{{l, l + m}, {l + m, l + 2 * m}}, exact, threads);
}

// A function of a motion, None for none.
Newton::OtherCost other_cost(const nb::object& function) {
  if (function.is_none()) return nullptr;
  return [&function](const Motion& motion) {
    nb::gil_scoped_acquire lock;
    return nb::cast<double>(function(nb::cast(&motion, nb::rv_policy::reference)));
  };
}

// The first motion into `trial`: under controls u (steps × m), or, where the motion `along` is given, also with its
// gains. Returns how many steps were taken.
int begin(Newton& self, In q, In v, In u, const Motion* along, In gains) {
  Motion of_controls;
  of_controls.u = numbers(u);
  const Policy open{&of_controls, nullptr, nullptr, 0, nullptr, nullptr};
  const Policy closed{along, nullptr, gains.data(), 0, self.limits().lower.data(), self.limits().upper.data()};
  nb::gil_scoped_release unlocked;
  return self.begin(q.data(), v.data(), along ? closed : open);
}

Newton::Found differentiate(Newton& self, double damping, In gradients, In hessians) {
  const OtherCosts others{static_cast<int>(gradients.shape(0)), gradients.data(), hessians.data()};
  nb::gil_scoped_release unlocked;
  return self.differentiate(others, damping);
}

// (halving, motions that broke off); the halving is −1 when no motion costs less.
nb::tuple line_search(Newton& self, int first, const nb::object& other) {
  int broken = 0, found;
  const Newton::OtherCost more = other_cost(other);
  {
    nb::gil_scoped_release unlocked;
    found = self.line_search(first, more, broken);
  }
  return nb::make_tuple(found, broken);
}

bool tried(Newton& self, In steps, const nb::object& other) {
  const Newton::OtherCost more = other_cost(other);
  nb::gil_scoped_release unlocked;
  return self.tried(steps.data(), 1, more);
}

nb::tuple aim(Newton& self, In C) {
  RowMatrix W;
  Eigen::VectorXd a;
  self.aim(matrix(C), W, a);
  const std::size_t rows = C.shape(0);
  return nb::make_tuple(array(W.data(), {rows, rows}), array(a.data(), {rows}));
}

nb::object aimed(const Newton& self, In nu) {
  const std::size_t m = self.model().m();
  const auto steps = self.aimed(Eigen::Map<const Eigen::VectorXd>(nu.data(), static_cast<int>(nu.size())));
  return array(steps.data(), {steps.size() / m, m});
}

// A member of all stages as an array (steps × rows × columns); None where it is not there.
template <class F>
auto per_stage(F member) {
  return [member](Newton& self) {
    const auto [numbers, rows, columns] = member(self);
    if (numbers->empty()) return nb::object(nb::none());
    return array(numbers->data(), {std::size_t(self.model().steps), std::size_t(rows), std::size_t(columns)});
  };
}

struct Stacked {
  const std::vector<double>* numbers;
  int rows, columns;
};

void bind_motion(nb::module_& module) {
  const auto rows = [](const std::vector<double>& x, std::size_t count) {
    return array(x.data(), {count, x.size() / count});
  };
  nb::class_<Motion>(module, "Motion")
      .def(nb::init<const Motion&>())
      .def(
          "__init__",
          [](Motion* self, In q, In p, In v, In u) {
            new (self) Motion();
            self->q = numbers(q), self->p = numbers(p), self->v = numbers(v), self->u = numbers(u);
          },
          nb::kw_only(), nb::arg("q"), nb::arg("p"), nb::arg("v"), nb::arg("u"))
      .def_rw("cost", &Motion::cost)
      .def("states", [rows](const Motion& self, std::size_t steps) {
        const nb::object v = self.v.empty() ? nb::none() : rows(self.v, steps + 1);
        return nb::make_tuple(rows(self.q, steps + 1), rows(self.p, steps + 1), v, rows(self.u, steps));
      });
}

}  // namespace

void bind_control(nb::module_& module) {
  bind_costs(module);
  bind_motion(module);
  nb::enum_<Newton::Found>(module, "Found")
      .value("everything", Newton::Found::Everything)
      .value("no_solution", Newton::Found::NoSolution)
      .value("not_finite", Newton::Found::NotFinite)
      .value("not_smooth", Newton::Found::NotSmooth);
  nb::class_<Newton>(module, "StagewiseNewton", collected<Newton>())
      .def("__init__", &make_newton, nb::arg("model"), nb::arg("cost"), nb::kw_only(), nb::arg("options"),
           nb::arg("single"), nb::arg("prescribed"), nb::arg("limits"), nb::arg("exact"), nb::arg("threads"))
      .def("begin", &begin, nb::arg("q"), nb::arg("v"), nb::arg("u"), nb::arg("along").none(), nb::arg("gains"))
      .def("differentiate", &differentiate, nb::arg("damping"), nb::arg("gradients"), nb::arg("hessians"))
      .def("sweep", &Newton::sweep_again, nb::arg("damping"), nb::arg("with_bending"),
           nb::call_guard<nb::gil_scoped_release>())
      .def("line_search", &line_search, nb::arg("first"), nb::arg("other").none())
      .def("tried", &tried, nb::arg("steps"), nb::arg("other").none())
      .def("aim", &aim)
      .def("aimed", &aimed)
      .def("measure", &Newton::measure, nb::arg("motion"), nb::arg("per_time") = false)
      .def("swap", [](Newton& self) { std::swap(self.motion, self.trial); })
      .def_rw("motion", &Newton::motion)
      .def_rw("trial", &Newton::trial)
      .def_prop_ro("swept", &Newton::swept)
      .def_prop_ro("slope", &Newton::largest_slope)
      .def_prop_ro("curvature", &Newton::largest_curvature)
      .def_ro("scale", &Newton::scale)
      .def_ro("where", &Newton::where)
      .def_prop_ro("acting", [](const Newton& self) { return nb::make_tuple(self.acting().table, self.acting().row); })
      .def_prop_ro("linear", [](const Newton& self) { return self.sweep.linear; })
      .def_prop_ro("quadratic", [](const Newton& self) { return self.sweep.quadratic; })
      .def_prop_ro("steps",
                   [](const Newton& self) {
                     const std::size_t count = self.model().steps, m = self.model().m();
                     return array(self.sweep.steps.data(), {count, m});
                   })
      .def_prop_ro("slopes",
                   [](const Newton& self) {
                     const std::size_t count = self.model().steps, m = self.model().m();
                     return array(self.slope.data(), {count, m});
                   })
      .def_prop_ro("costates",
                   [](const Newton& self) {
                     const std::size_t count = self.model().steps, n = self.model().n();
                     return array(self.costates.data(), {count + 1, n});
                   })
      .def_prop_ro("last",
                   [](const Newton& self) {
                     const std::size_t n = self.model().n();
                     return array(self.last.data(), {n, n});
                   })
      .def_prop_ro("gains", per_stage([](Newton& s) { return Stacked{&s.sweep.gains, s.model().m(), s.model().n()}; }))
      .def_prop_ro("first",
                   per_stage([](Newton& s) { return Stacked{&s.AB, s.model().n(), s.model().n() + s.model().m()}; }))
      .def_prop_ro("hessians", per_stage([](Newton& s) {
                     const int N = s.model().n() + s.model().m();
                     return Stacked{&s.H, N, N};
                   }))
      .def_prop_ro("bending", per_stage([](Newton& s) {
                     const int N = s.model().n() + s.model().m();
                     return Stacked{&s.bending, N, N};
                   }));
}

}  // namespace symplectree
