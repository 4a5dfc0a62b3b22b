// Continuous mechanics on arrays: rows in, rows out. Each returns None for arrays that are not ready (see arrays.hpp).
#define SYMPLECTREE_IMPORT_ARRAY
#include "bindings/arrays.hpp"
#include "dynamics/aba.hpp"
#include "dynamics/crba.hpp"
#include "dynamics/element_derivatives.hpp"
#include "dynamics/energy.hpp"
#include "dynamics/floating_base.hpp"
#include "dynamics/frame_derivatives.hpp"
#include "dynamics/mapped_derivatives.hpp"
#include "dynamics/mapped_dynamics.hpp"
#include "dynamics/rnea.hpp"
#include "kinematics/configurations.hpp"

namespace symplectree {
namespace {

using Pointers = const double* const*;
using W = Workspace<double>;

std::array<Rows, 1> state(nb::handle q) { return {{{q, Over::Configuration}}}; }
std::array<Rows, 2> state(nb::handle q, nb::handle v) { return {{{q, Over::Configuration}, {v, Over::Velocity}}}; }

nb::object inverse_dynamics_rows(NativeModel& self, nb::handle q, nb::handle v, nb::handle a, nb::handle inputs) {
  const Model& m = self.model;
  if (!inputs.is_none() && !is_ready(inputs, m.inputs)) return nb::none();
  const double* u = inputs_or_zero(self, inputs);
  const std::array<Rows, 3> given{{{q, Over::Configuration}, {v, Over::Velocity}, {a, Over::Acceleration}}};
  return on_rows(self, given, axes(Over::Force),
                 [&](Pointers x, double* out, W& w) { inverse_dynamics(m, {x[0], x[1]}, x[2], u, out, w); });
}

nb::object forward_dynamics_rows(NativeModel& self, nb::handle q, nb::handle v, nb::handle tau, nb::handle inputs) {
  const Model& m = self.model;
  if (!inputs.is_none() && !is_ready(inputs, m.inputs)) return nb::none();
  const double* u = inputs_or_zero(self, inputs);
  const std::array<Rows, 3> given{{{q, Over::Configuration}, {v, Over::Velocity}, {tau, Over::Force}}};
  if (!self.map)
    return on_rows(self, given, axes(Over::Velocity),
                   [&](Pointers x, double* out, W& w) { forward_dynamics(m, {x[0], x[1]}, {x[2], u}, out, w); });
  MappedDynamics mapped(*self.map);
  const auto kernel = [&](Pointers x, double* out, W& w) { mapped.forward_dynamics({x[0], x[1]}, {x[2], u}, out, w); };
  return on_rows(self, given, axes(Over::Velocity), kernel, true);
}

nb::object inverse_mass_product_rows(NativeModel& self, nb::handle q, nb::handle p) {
  const std::array<Rows, 2> given{{{q, Over::Configuration}, {p, Over::Force}}};
  if (!self.map)
    return on_rows(self, given, axes(Over::Velocity), [&](Pointers x, double* out, W& w) {
      factorize_mass(self.model, x[0], w);
      solve_mass(self.model, x[1], out, w);
    });
  MappedDynamics mapped(*self.map);
  const auto kernel = [&](Pointers x, double* out, W& w) { mapped.inverse_mass_product(x[0], x[1], out, w); };
  return on_rows(self, given, axes(Over::Velocity), kernel, true);
}

nb::object mass_matrix_rows(NativeModel& self, nb::handle q) {
  return on_rows(self, state(q), axes(Over::Force, Over::Force),
                 [&](Pointers x, double* out, W& w) { mass_matrix(self.model, x[0], out, w); });
}

// Locked inertia (6 × 6), mechanical connection (6 × n) and shape metric (n × n) of a floating mechanism.
struct ReducedTerms {
  int n;
  std::vector<double> M, inertia, connection, metric;

  explicit ReducedTerms(int nv)
      : n(nv - kBase), M(nv * nv), inertia(kBase * kBase), connection(kBase * n), metric(n * n) {}
  void evaluate(const Model& m, const double* q, W& w) {
    mass_matrix(m, q, M.data(), w);
    reduce_mass(m.nv, M.data(), inertia.data(), connection.data(), metric.data());
  }
};

template <std::vector<double> ReducedTerms::* Term>
nb::object reduced_rows(NativeModel& self, nb::handle q, const std::array<ResultAxis, 2>& tail) {
  ReducedTerms t(self.model.nv);
  return on_rows(self, state(q), tail, [&](Pointers x, double* out, W& w) {
    t.evaluate(self.model, x[0], w);
    std::copy((t.*Term).begin(), (t.*Term).end(), out);
  });
}

nb::object locked_inertia_rows(NativeModel& self, nb::handle q) {
  return reduced_rows<&ReducedTerms::inertia>(self, q, axes(kBase, kBase));
}
nb::object mechanical_connection_rows(NativeModel& self, nb::handle q) {
  return reduced_rows<&ReducedTerms::connection>(self, q, axes(kBase, Over::Shape));
}
nb::object shape_metric_rows(NativeModel& self, nb::handle q) {
  return reduced_rows<&ReducedTerms::metric>(self, q, axes(Over::Shape, Over::Shape));
}

// Their derivatives along each shape coordinate of the tree, O(n²) for each: (n, 6, 6), (n, 6, n), (n, n, n).
void tree_shape_derivatives(NativeModel& self, const double* q, double* inertia, double* connection, double* metric) {
  const Model& m = self.model;
  const int n = m.nv - kBase;
  auto loan = self.dual_workspaces.borrow();
  ElementWorkspace<Dual>& e = *loan;
  std::vector<Dual> M(m.nv * m.nv), I(kBase * kBase), A(kBase * n), S(n * n);
  for (int i = 0; i < m.nq; ++i) e.q[i] = q[i];
  std::vector<double> along(m.nv), rate(m.nq);
  for (int j = 0; j < n; ++j) {
    along[kBase + j] = 1;
    configuration_rate(m, q, along.data(), rate.data());
    along[kBase + j] = 0;
    for (int i = 0; i < m.nq; ++i) e.q[i].slope = rate[i];
    mass_matrix(m, e.q.data(), M.data(), e.kinematics.base);
    reduce_mass(m.nv, M.data(), I.data(), A.data(), S.data());
    const auto slopes = [j](const std::vector<Dual>& from, double* to) {
      for (std::size_t k = 0; k < from.size(); ++k) to[j * from.size() + k] = from[k].slope;
    };
    slopes(I, inertia), slopes(A, connection), slopes(S, metric);
  }
}

void shape_derivatives(NativeModel& self, In q, Out inertia, Out connection, Out metric) {
  if (!self.map) return tree_shape_derivatives(self, q.data(), inertia.data(), connection.data(), metric.data());
  ReducedTerms t(self.model.nv);
  MapPoint at;
  self.map->evaluate(q.data(), at);
  t.evaluate(self.model, at.q.data(), *self.workspaces.borrow());
  std::vector<double> I(t.n * kBase * kBase), A(t.n * kBase * t.n), S(t.n * t.n * t.n);
  tree_shape_derivatives(self, at.q.data(), I.data(), A.data(), S.data());
  map_shape_derivatives(*self.map, at, {t.connection, t.metric, I, A, S}, inertia.data(), connection.data(),
                        metric.data());
}

nb::object momenta_rows(NativeModel& self, nb::handle q, nb::handle v) {
  return on_rows(self, state(q, v), axes(Over::Force),
                 [&](Pointers x, double* out, W& w) { momenta(self.model, x[0], x[1], out, w); });
}

nb::object kinetic_energy_rows(NativeModel& self, nb::handle q, nb::handle v) {
  return on_rows(self, state(q, v), axes(),
                 [&](Pointers x, double* out, W& w) { *out = kinetic_energy(self.model, x[0], x[1], w); });
}

nb::object potential_energy_rows(NativeModel& self, nb::handle q) {
  return on_rows(self, state(q), axes(),
                 [&](Pointers x, double* out, W& w) { *out = potential_energy(self.model, x[0], w); });
}

void write(const Spatial<double>& s, double* out, int stride) {
  const double c[6] = {s.angular.x, s.angular.y, s.angular.z, s.linear.x, s.linear.y, s.linear.z};
  for (int k = 0; k < 6; ++k) out[k * stride] = c[k];
}

nb::object spatial_momentum_rows(NativeModel& self, nb::handle q, nb::handle v) {
  return on_rows(self, state(q, v), axes(6),
                 [&](Pointers x, double* out, W& w) { write(spatial_momentum(self.model, x[0], x[1], w), out, 1); });
}

nb::object pose_rows(NativeModel& self, nb::handle q, int frame) {
  const Frame& f = self.frames.at(frame);
  return on_rows(self, state(q), axes(4, 4), [&](Pointers x, double* out, W& w) {
    compute_poses(self.model, x[0], w);
    const FramePose<double> p = frame_pose(f.point, f.axes, w);
    write_pose_rate(p.R, p.x, out);
    out[15] = 1;
  });
}

nb::object body_velocity_rows(NativeModel& self, nb::handle q, nb::handle v, int frame) {
  const Frame& f = self.frames.at(frame);
  return on_rows(self, state(q, v), axes(6), [&](Pointers x, double* out, W& w) {
    compute_poses(self.model, x[0], w);
    compute_velocities(self.model, x[1], w);
    const FramePose<double> p = frame_pose(f.point, f.axes, w);
    write({transposed_times(p.R, w.V[p.body].angular), transposed_times(p.R, velocity_at(p.x, p.body, w))}, out, 1);
  });
}

nb::object jacobian_rows(NativeModel& self, nb::handle q, int frame) {
  const Model& m = self.model;
  const Frame& f = self.frames.at(frame);
  return on_rows(self, state(q), axes(6, Over::Force), [&](Pointers x, double* out, W& w) {
    compute_poses(m, x[0], w);
    const FramePose<double> p = frame_pose(f.point, f.axes, w);
    for (int i = p.body; i > 0; i = m.bodies[i].parent)
      for (int j = m.bodies[i].v; j < m.bodies[i].v + m.bodies[i].nv; ++j) {
        const Vec3<double> at = w.S[j].linear + cross(w.S[j].angular, p.x - w.pose[i].x);
        write({transposed_times(p.R, w.S[j].angular), transposed_times(p.R, at)}, out + j, m.nv);
      }
  });
}

// Of the model's own coordinates, also where some follow others.

nb::object retract_rows(NativeModel& self, nb::handle q, nb::handle increment) {
  const auto kernel = [&](Pointers x, double* out, W&) { retract(self.layout(), x[0], x[1], out); };
  return on_rows(self, state(q, increment), axes(Over::Configuration), kernel, true);
}

nb::object configuration_rate_rows(NativeModel& self, nb::handle q, nb::handle v) {
  const auto kernel = [&](Pointers x, double* out, W&) { configuration_rate(self.layout(), x[0], x[1], out); };
  return on_rows(self, state(q, v), axes(Over::Configuration), kernel, true);
}

void normalize_rows(NativeModel& self, Out q) {
  const Model& m = self.layout();
  for (std::size_t k = 0; k < q.size() / m.nq; ++k) normalize(m, q.data() + k * m.nq);
}

// All coordinates of the tree, and all its velocities, also where they are not finite.

void tree_coordinates(NativeModel& self, In q, Out out) {
  const int n = self.layout().nq;
  MapPoint at;
  for (std::size_t k = 0; self.map && k < q.size() / n; ++k) {
    self.map->evaluate(q.data() + k * n, at);
    std::copy(at.q.begin(), at.q.end(), out.data() + k * at.q.size());
  }
  if (!self.map) std::copy(q.data(), q.data() + q.size(), out.data());
}

void tree_velocities(NativeModel& self, In q, In v, Out out) {
  if (!self.map) return void(std::copy(v.data(), v.data() + v.size(), out.data()));
  MapPoint at;
  self.map->evaluate(q.data(), at);
  self.map->velocity(at, v.data(), out.data());
}

}  // namespace

void bind_dynamics(nb::class_<NativeModel>& cls) {
  if (_import_array() < 0) throw nb::python_error();
  const auto row = nb::arg().none();  // None is not ready, like anything else that is no array
  cls.def("inverse_dynamics", &inverse_dynamics_rows, row, row, row, row)
      .def("forward_dynamics", &forward_dynamics_rows, row, row, row, row)
      .def("mass_matrix", &mass_matrix_rows, row)
      .def("locked_inertia", &locked_inertia_rows, row)
      .def("mechanical_connection", &mechanical_connection_rows, row)
      .def("shape_metric", &shape_metric_rows, row)
      .def("shape_derivatives", &shape_derivatives)
      .def("inverse_mass_product", &inverse_mass_product_rows, row, row)
      .def("momenta", &momenta_rows, row, row)
      .def("kinetic_energy", &kinetic_energy_rows, row, row)
      .def("potential_energy", &potential_energy_rows, row)
      .def("spatial_momentum", &spatial_momentum_rows, row, row)
      .def("pose", &pose_rows, row, nb::arg())
      .def("body_velocity", &body_velocity_rows, row, row, nb::arg())
      .def("jacobian", &jacobian_rows, row, nb::arg())
      .def("retract", &retract_rows, row, row)
      .def("configuration_rate", &configuration_rate_rows, row, row)
      .def("normalize", &normalize_rows)
      .def("tree_coordinates", &tree_coordinates)
      .def("tree_velocities", &tree_velocities);
}

}  // namespace symplectree
