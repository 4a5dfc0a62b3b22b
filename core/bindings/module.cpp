// The native module, and how a model comes from Python's arrays.
#include <nanobind/stl/string.h>

#include "bindings/arrays.hpp"
#include "model/read_model.hpp"
#include "model/user_elements.hpp"

namespace symplectree {

NativeModel::NativeModel() = default;
NativeModel::~NativeModel() = default;

Tape tape(const nb::handle& given) {
  Tape t;
  const auto code = nb::cast<nb::ndarray<const std::int32_t, nb::c_contig>>(given.attr("code"));
  const auto constants = nb::cast<In>(given.attr("constants"));
  for (std::size_t k = 0; k < constants.size(); ++k) {
    const std::int32_t* r = code.data() + 4 * k;
    t.code.push_back({static_cast<Op>(r[0]), r[1], r[2], r[3], constants.data()[k]});
  }
  t.work_size = nb::cast<int>(given.attr("work"));
  t.inputs = nb::cast<int>(given.attr("inputs"));
  t.outputs = nb::cast<int>(given.attr("outputs"));
  return t;
}

namespace {

template <class T>
nb::ndarray<const T, nb::c_contig, nb::device::cpu> array(const nb::dict& d, const char* name) {
  return nb::cast<nb::ndarray<const T, nb::c_contig, nb::device::cpu>>(d[name]);
}

ModelArrays<double> model_arrays(const nb::dict& d) {
  ModelArrays<double> out;
  const auto copy = [](const auto& from, auto& to) { to.assign(from.data(), from.data() + from.size()); };
  copy(array<std::int32_t>(d, "parent"), out.parent), copy(array<std::int32_t>(d, "kind"), out.kind);
  for (int k = 0; k < kArrays; ++k) {
    const auto [name, width] = kArrayKinds[k];
    const auto given = array<double>(d, name);
    if (given.size() % width != 0 || (k >= kFirstRows && (given.ndim() != 2 || given.shape(1) != std::size_t(width))))
      throw nb::value_error(
          ("rows of " + std::string(name) + " do not have " + std::to_string(width) + " numbers").c_str());
    copy(given, out.numbers[k]);
  }
  return out;
}

// Of each kind of row: (name, how many numbers, is it an index) of its fields, in order.
nb::dict row_fields() {
  nb::dict out;
  const auto add = [&out](const char* kind, const std::vector<FieldDescription>& fields) {
    nb::list all;
    for (const FieldDescription& f : fields) all.append(nb::make_tuple(f.name, f.count, f.index));
    out[kind] = all;
  };
#define SYMPLECTREE_ADD(Row, name) add(#name, describe_row<Row<double>>());
  SYMPLECTREE_ROW_KINDS(SYMPLECTREE_ADD)
#undef SYMPLECTREE_ADD
  return out;
}

// `given` maps bodies, counted without the world, to PoseFormula of symplectree/formula/pose_formula.py.
void add_formulas(Model& m, const nb::dict& given) {
  int first = 0, second = 0;
  for (const auto [body, formula] : given) {
    auto f = std::make_shared<PoseFormula>();
    f->n = nb::cast<int>(formula.attr("coordinates"));
    f->first = first, f->second = second;
    first += f->n * f->n, second += f->n * f->n * f->n;
    for (int order = 0; order < 3; ++order) f->tapes[order] = tape(formula.attr("tapes")[order]);
    m.formula_bodies.push_back(nb::cast<int>(body) + 1);
    m.formulas.push_back(std::move(f));
  }
}

Potential potential(const nb::handle& function) {
  Potential p;
  if (nb::hasattr(function, "code")) {
    p.tape = tape(function);
  } else {
    const auto breaks = nb::cast<In>(function.attr("breaks")), c = nb::cast<In>(function.attr("coefficients"));
    p.breaks.assign(breaks.data(), breaks.data() + breaks.size());
    p.coefficients.assign(c.data(), c.data() + c.size());
  }
  return p;
}

// Elements of the user's own: functions of Python behind `evaluate` of symplectree/elements/user.py.
void add_users(NativeModel& self, const nb::list& users, const nb::object& evaluate) {
  Model& m = self.model;
  for (const nb::handle given : users) {
    const auto kind = nb::cast<std::string>(given.attr("kind"));
    UserElement u;
    u.kind = kind == "potential" ? UserElement::Potential
             : kind == "force"   ? UserElement::Force
                                 : UserElement::Constraint;
    for (const nb::handle k : given.attr("q")) u.q.push_back(nb::cast<int>(k));
    for (const nb::handle k : given.attr("v")) u.v.push_back(nb::cast<int>(k));
    u.first_row = nb::cast<int>(given.attr("first_row")), u.rows = nb::cast<int>(given.attr("rows"));
    u.owner = nb::cast<int>(given.attr("owner"));
    for (const nb::handle t : given.attr("tapes")) u.tapes.push_back(tape(t));
    if (!given.attr("step").is_none()) u.step = tape(given.attr("step"));
    self.functions.insert(self.functions.end(), {nb::borrow(given), evaluate});
    const nb::handle rows = given, function = evaluate;
    const std::size_t nq = u.q.size(), nv = u.v.size();
    u.evaluate = [rows, function, nq, nv](int order, const double* q, const double* v, double* value, double* first,
                                          double* second) {
      nb::gil_scoped_acquire lock;
      const auto copy_in = [](const double* from, std::size_t count) {
        npy_intp shape[1] = {static_cast<npy_intp>(count)};
        PyObject* array = PyArray_SimpleNew(1, shape, NPY_DOUBLE);
        if (!array) throw nb::python_error();
        std::copy(from, from + count, static_cast<double*>(PyArray_DATA(reinterpret_cast<PyArrayObject*>(array))));
        return nb::steal(array);
      };
      const auto copy_out = [](const nb::handle& from, double* to) {
        const In array = nb::cast<In>(from);
        std::copy(array.data(), array.data() + array.size(), to);
      };
      const nb::object out = function(rows, order, copy_in(q, nq), copy_in(v, nv));
      copy_out(out[0], value), copy_out(out[1], first), copy_out(out[2], second);
    };
    if (u.kind == UserElement::Constraint) m.rows += u.rows;
    m.user_forces |= u.kind == UserElement::Force;
    m.users.push_back(std::move(u));
  }
}

// Rows (count × 8) of Follower's fields in order, leaders before those that follow them.
std::vector<Follower> followers(const In& rows) {
  std::vector<Follower> out;
  for (std::size_t k = 0; k < rows.size(); k += 8) {
    const double* r = rows.data() + k;
    const auto index = [r](int i) { return static_cast<int>(r[i]); };
    out.push_back({index(0), index(1), index(2), index(3), index(4), r[5], r[6], index(7)});
  }
  return out;
}

// `following`: rows of followers, none where all coordinates are independent.
void construct(NativeModel* self, const nb::dict& arrays, const nb::list& functions, double ground_energy, int inputs,
               const nb::list& users, const nb::object& evaluate, const nb::dict& formulas, const In& following) {
  new (self) NativeModel();
  Model& m = self->model;
  self->arrays = model_arrays(arrays);
  add_formulas(m, formulas);
  set_numbers(m, self->arrays);
  m.rows = m.constraint_rows();
  for (const nb::handle f : functions) m.potentials.push_back(potential(f));
  add_users(*self, users, evaluate);
  m.ground_energy = ground_energy;
  m.inputs = inputs;
  self->no_inputs.assign(inputs + 1, 0.0);
  const auto body = array<std::int32_t>(arrays, "frame_body");
  const auto offset = array<double>(arrays, "frame_offset");
  for (std::size_t i = 0; i < body.size(); ++i) {
    const double* T = offset.data() + 16 * i;
    const Point origin{body.data()[i], {T[3], T[7], T[11]}};
    self->frames.push_back({placed(m.bodies, origin), placed(m.bodies, origin.body, rotation_at(T, 4))});
  }
  if (following.size()) self->map = std::make_unique<CoordinateMap>(m, followers(following));
}

// Functions know the names around them, often the model itself: Python's collector has to see that the model holds
// them.
int visit_functions(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (!nb::inst_ready(self)) return 0;
  for (const nb::object& function : nb::inst_ptr<NativeModel>(self)->functions) Py_VISIT(function.ptr());
  return 0;
}
int drop_functions(PyObject* self) {
  if (!nb::inst_ready(self)) return 0;
  NativeModel& model = *nb::inst_ptr<NativeModel>(self);
  for (UserElement& u : model.model.users) u.evaluate = nullptr;
  std::vector<nb::object>().swap(model.functions);
  return 0;
}
PyType_Slot kCollected[] = {{Py_tp_traverse, reinterpret_cast<void*>(visit_functions)},
                            {Py_tp_clear, reinterpret_cast<void*>(drop_functions)},
                            {0, nullptr}};

// The results of a tape at each row of `in`.
void run_tape(const nb::object& given, In in, Out out) {
  const Tape t = tape(given);
  std::vector<double> work(t.work_size);
  const std::size_t rows = t.outputs ? out.size() / t.outputs : 0;
  for (std::size_t k = 0; k < rows; ++k) t.run(in.data() + k * t.inputs, out.data() + k * t.outputs, work.data());
}

// Machine code in place of a tape: of a joint or an element by its number and order, or of a potential.
void use_code(NativeModel& self, const std::string& what, int index, int order, std::uint64_t address) {
  Model& m = self.model;
  Tape& tape = what == "joint"     ? m.formulas[index]->tapes[order]
               : what == "element" ? m.users[index].tapes[order]
                                   : m.potentials[index].tape;
  tape.native = reinterpret_cast<decltype(tape.native)>(address);
}

}  // namespace
}  // namespace symplectree

NB_MODULE(_core, m) {
  using namespace symplectree;
  auto cls = nb::class_<NativeModel>(m, "Model", nb::type_slots(kCollected));
  cls.def("__init__", &construct, nb::kw_only(), nb::arg("arrays"), nb::arg("functions"), nb::arg("ground_energy"),
          nb::arg("inputs"), nb::arg("users"), nb::arg("evaluate"), nb::arg("formulas"), nb::arg("followers"));
  cls.def("use_code", &use_code);
  bind_dynamics(cls);
  bind_derivatives(cls);
  bind_constraints(cls);
  bind_contact_forces(cls);
  bind_sensors(cls);
  bind_activations(cls);
  bind_simulation(cls);
  bind_variational(m);
  bind_stepper(m);
  bind_control_laws(m);
  bind_linearize(m);
  bind_number_step(m);
  bind_control(m);
  bind_xla(m);
  bind_picture(m);
  bind_contact(m);
  bind_collision(m);
  bind_rollout(m);
  m.def("run_tape", &run_tape);
  m.def("row_fields", &row_fields);
}
