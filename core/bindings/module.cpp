// The native module, and how a model comes from Python's arrays.
#include <nanobind/stl/string.h>

#include "arrays.hpp"

namespace symplectree {
namespace {

template <class T>
nb::ndarray<const T, nb::c_contig, nb::device::cpu> array(const nb::dict& d, const char* name) {
  return nb::cast<nb::ndarray<const T, nb::c_contig, nb::device::cpu>>(d[name]);
}

Vec3<double> vec(const double* p) { return {p[0], p[1], p[2]}; }

// A 3×3 matrix from rows `stride` apart.
Mat3<double> mat(const double* p, int stride) {
  return {{p[0], p[stride], p[2 * stride]},
          {p[1], p[stride + 1], p[2 * stride + 1]},
          {p[2], p[stride + 2], p[2 * stride + 2]}};
}

Sym3<double> sym(const double* p) { return {p[0], p[4], p[8], p[1], p[2], p[5]}; }

// A point given in the user's link frame of a body (-1: the world), in the core's axes from the centre of mass.
Point point(const Model& m, int body, const double* at) {
  const Body& b = m.bodies[body + 1];
  return {body + 1, transposed_times(b.axes, vec(at) - b.link_centre)};
}

Mat3<double> axes_in_body(const Model& m, int body, const Mat3<double>& R) {
  return transposed(m.bodies[body + 1].axes) * R;
}

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

// `given` maps bodies, counted without the world, to PoseFormula of symplectree/symbolic/pose_formula.py.
void add_formulas(Model& m, const nb::dict& given) {
  int first = 0, second = 0;
  for (const auto [body, formula] : given) {
    auto f = std::make_unique<PoseFormula>();
    f->n = nb::cast<int>(formula.attr("coordinates"));
    f->first = first, f->second = second;
    first += f->n * f->n, second += f->n * f->n * f->n;
    for (int order = 0; order < 3; ++order) f->tapes[order] = tape(formula.attr("tapes")[order]);
    m.formula_bodies.push_back(nb::cast<int>(body) + 1);
    m.formulas.push_back(std::move(f));
  }
}

void add_bodies(Model& m, const nb::dict& d) {
  const auto parent = array<std::int32_t>(d, "parent"), kind = array<std::int32_t>(d, "kind");
  const auto axis = array<double>(d, "axis"), pitch = array<double>(d, "pitch"), mass = array<double>(d, "mass"),
             com = array<double>(d, "com"), inertia = array<double>(d, "inertia"),
             placement = array<double>(d, "placement");
  std::size_t formula = 0;  // they are in the order of bodies
  m.bodies.resize(1);
  m.bodies[0].axes = Mat3<double>::identity();
  for (std::size_t i = 0; i < parent.size(); ++i) {
    Body b;
    b.parent = parent.data()[i] + 1;
    b.kind = static_cast<Kind>(kind.data()[i]);
    b.q = m.nq, b.v = m.nv;
    if (b.kind == Kind::Formula) b.formula = m.formulas[formula++].get();
    b.nv = b.formula ? b.formula->n : b.kind == Kind::Ball ? 3 : b.kind == Kind::Free ? 6 : 1;
    b.mass = mass.data()[i], b.pitch = pitch.data()[i];
    b.axes = b.flat() && !b.formula ? axes_with_z(vec(axis.data() + 3 * i)) : Mat3<double>::identity();
    b.link_centre = vec(com.data() + 3 * i);
    const Body& p = m.bodies[b.parent];
    const double* T = placement.data() + 16 * i;
    b.base_axes = transposed(p.axes) * mat(T, 4) * b.axes;
    b.base_point = transposed_times(p.axes, Vec3<double>{T[3], T[7], T[11]} - p.link_centre);
    b.centre = transposed_times(b.axes, b.link_centre);
    b.inertia = rotated(transposed(b.axes), sym(inertia.data() + 9 * i));
    m.nq += b.nq();
    m.nv += b.nv;
    for (int j = 0; j < b.nv; ++j) m.body_of.push_back(static_cast<int>(i) + 1);
    if (!b.flat()) m.quaternions.push_back(static_cast<int>(i) + 1);
    m.bodies.push_back(b);
  }
  const auto armature = array<double>(d, "armature");
  m.armature.assign(armature.data(), armature.data() + armature.size());
  m.gravity = vec(array<double>(d, "gravity").data());
}

// Rows as in symplectree/elements/contract.py.
template <class F>
void for_rows(const nb::dict& d, const char* name, F&& f) {
  const auto table = array<double>(d, name);
  for (std::size_t i = 0; i < table.shape(0); ++i) f(table.data() + i * table.shape(1));
}

void add_elements(Model& m, const nb::dict& d) {
  const auto whole = [](double x) { return static_cast<int>(x); };
  for_rows(d, "joint_springs",
           [&](const double* r) { m.joint_springs.push_back({whole(r[0]), whole(r[1]), r[2], r[3], whole(r[4])}); });
  for_rows(d, "joint_dampers", [&](const double* r) { m.joint_dampers.push_back({whole(r[0]), r[1], whole(r[2])}); });
  for_rows(d, "joint_forces",
           [&](const double* r) { m.joint_forces.push_back({whole(r[0]), r[1], whole(r[2]), whole(r[3])}); });
  for_rows(d, "lines", [&](const double* r) {
    m.lines.push_back(
        {point(m, whole(r[0]), r + 1), point(m, whole(r[4]), r + 5), whole(r[8]), r[9], r[10], r[11], whole(r[12])});
  });
  for_rows(d, "wrenches", [&](const double* r) {
    Wrench row{};
    row.point = point(m, whole(r[0]), r + 1);
    row.axes = axes_in_body(m, whole(r[0]), mat(r + 4, 3));
    row.world_axes = r[13] != 0;
    for (int k = 0; k < 6; ++k) row.value[k] = r[14 + k], row.input[k] = whole(r[20 + k]);
    row.owner = whole(r[26]);
    m.wrenches.push_back(row);
  });
}

void add_constraints(Model& m, const nb::dict& d) {
  const auto whole = [](double x) { return static_cast<int>(x); };
  const auto direction = [&m](int body, const double* n) { return transposed_times(m.bodies[body + 1].axes, vec(n)); };
  for_rows(d, "point_rows", [&](const double* r) {
    const int body = whole(r[8]);
    m.point_rows.push_back(
        {point(m, whole(r[0]), r + 1), point(m, whole(r[4]), r + 5), body + 1, direction(body, r + 9), whole(r[12])});
  });
  for_rows(d, "angle_rows", [&](const double* r) {
    const int a = whole(r[0]), b = whole(r[4]);
    m.angle_rows.push_back({a + 1, direction(a, r + 1), b + 1, direction(b, r + 5), whole(r[8])});
  });
  for_rows(d, "distance_rows", [&](const double* r) {
    m.distance_rows.push_back(
        {point(m, whole(r[0]), r + 1), point(m, whole(r[4]), r + 5), r[8], whole(r[9]), whole(r[10]), whole(r[11])});
  });
  for_rows(d, "coordinate_rows", [&](const double* r) {
    m.coordinate_rows.push_back(
        {whole(r[0]), whole(r[1]), r[2], whole(r[3]), whole(r[4]), r[5], whole(r[6]), r[7], whole(r[8])});
  });
  m.rows =
      static_cast<int>(m.point_rows.size() + m.angle_rows.size() + m.distance_rows.size() + m.coordinate_rows.size());
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
void add_users(Model& m, const nb::list& users, const nb::object& evaluate) {
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
    const nb::object rows = nb::borrow(given);
    const std::size_t nq = u.q.size(), nv = u.v.size();
    u.evaluate = [rows, evaluate, nq, nv](int order, const double* q, const double* v, double* value, double* first,
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
      const nb::object out = evaluate(rows, order, copy_in(q, nq), copy_in(v, nv));
      copy_out(out[0], value), copy_out(out[1], first), copy_out(out[2], second);
    };
    if (u.kind == UserElement::Constraint) m.rows += u.rows;
    m.user_forces |= u.kind == UserElement::Force;
    m.users.push_back(std::move(u));
  }
}

void construct(NativeModel* self, const nb::dict& arrays, const nb::list& functions, double ground_energy, int inputs,
               const nb::list& users, const nb::object& evaluate, const nb::dict& formulas) {
  new (self) NativeModel();
  Model& m = self->model;
  add_formulas(m, formulas);
  add_bodies(m, arrays);
  for (const nb::handle f : functions) m.potentials.push_back(potential(f));
  add_elements(m, arrays);
  add_constraints(m, arrays);
  add_users(m, users, evaluate);
  m.ground_energy = ground_energy;
  m.inputs = inputs;
  self->no_inputs.assign(inputs + 1, 0.0);
  const auto body = array<std::int32_t>(arrays, "frame_body");
  const auto offset = array<double>(arrays, "frame_offset");
  for (std::size_t i = 0; i < body.size(); ++i) {
    const double *T = offset.data() + 16 * i, at[3] = {T[3], T[7], T[11]};
    self->frames.push_back({point(m, body.data()[i], at), axes_in_body(m, body.data()[i], mat(T, 4))});
  }
}

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
  auto cls = nb::class_<NativeModel>(m, "Model");
  cls.def("__init__", &construct);
  cls.def("use_code", &use_code);
  bind_dynamics(cls);
  bind_derivatives(cls);
  bind_constraints(cls);
  bind_simulation(cls);
  bind_variational(m);
  bind_linearize(m);
  m.def("run_tape", &run_tape);
}
