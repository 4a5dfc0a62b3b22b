// Constraints on arrays: values and derivatives, velocities from momenta, accelerations with multipliers.
#include "bindings/arrays.hpp"
#include "bindings/forces.hpp"
#include "constraints/constrained_dynamics.hpp"
#include "dynamics/mapped_dynamics.hpp"

namespace symplectree {
namespace {

using Pointers = const double* const*;

nb::object values(NativeModel& self, nb::handle q) {
  auto loan = self.constrained.borrow();
  return on_rows(self, std::array<Rows, 1>{{{q, Over::Configuration}}}, axes(Over::Row),
                 [&](Pointers x, double* out, Workspace<double>&) { (*loan).rows(x[0], out, nullptr); });
}

nb::object jacobian(NativeModel& self, nb::handle q) {
  const Model& m = self.model;
  auto loan = self.constrained.borrow();
  std::vector<double> h(m.rows), G(m.rows * m.nv);
  MapPoint at;
  const auto kernel = [&](Pointers x, double* out, Workspace<double>&) {
    if (!self.map) return (*loan).rows(x[0], h.data(), out);
    self.map->evaluate(x[0], at);
    (*loan).rows(at.q.data(), h.data(), G.data());
    project_rows(*self.map, at, G, out);
  };
  return on_rows(self, std::array<Rows, 1>{{{q, Over::Configuration}}}, axes(Over::Row, Over::Velocity), kernel, true);
}

// v (nv), then multipliers (rows), of momenta p; of `given` (nv) those of prescribed coordinates count.
nb::object velocity(NativeModel& self, nb::handle q, nb::handle p, nb::handle given, In prescribed) {
  const Model& m = self.model;
  auto loan = self.constrained.borrow();
  Constrained& c = *loan;
  c.prescribed = self.marked(prescribed);
  const std::array<Rows, 3> arguments{{{q, Over::Configuration}, {p, Over::Force}, {given, Over::Force}}};
  const std::array<ResultAxis, 1> results{{{Over::Velocity, Over::Row}}};
  return on_rows(self, arguments, results, [&](Pointers x, double* out, Workspace<double>&) {
    std::copy(x[2], x[2] + m.nv, out);
    c.velocity(x[0], x[1], out);
    std::copy(c.multipliers.begin(), c.multipliers.end(), out + m.nv);
  });
}

// a (nv), multipliers (rows) and forces on prescribed coordinates (nv); of `given` (nv) the accelerations of these
// count.
nb::object acceleration(NativeModel& self, nb::handle q, nb::handle v, nb::handle tau, nb::handle given,
                        nb::handle inputs, In prescribed) {
  const Model& m = self.model;
  if (!inputs.is_none() && !is_ready(inputs, m.inputs)) return nb::none();
  const double* u = inputs_or_zero(self, inputs);
  auto loan = self.constrained.borrow();
  Constrained& c = *loan;
  c.prescribed = self.marked(prescribed);
  const std::array<Rows, 4> arguments{
      {{q, Over::Configuration}, {v, Over::Velocity}, {tau, Over::Force}, {given, Over::Force}}};
  const std::array<ResultAxis, 1> results{{{Over::Velocity, Over::Row, Over::Velocity}}};
  return on_rows(self, arguments, results, [&](Pointers x, double* out, Workspace<double>&) {
    std::copy(x[3], x[3] + m.nv, out);
    c.acceleration(x[0], x[1], x[2], u, out);
    std::copy(c.multipliers.begin(), c.multipliers.end(), out + m.nv);
    c.reaction(x[0], x[1], out, x[2], u, out + m.nv + m.rows);
  });
}

}  // namespace

void bind_constraints(nb::class_<NativeModel>& cls) {
  cls.def("constraint_values", &values);
  cls.def("constraint_jacobian", &jacobian);
  cls.def("constrained_velocity", &velocity);
  cls.def("constrained_acceleration", &acceleration, nb::arg(), nb::arg(), nb::arg(), nb::arg(),
          nb::arg("inputs").none(), nb::arg("prescribed"));
}

}  // namespace symplectree
