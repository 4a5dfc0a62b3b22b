// Continuous mechanics on arrays: rows in, rows out. Each returns None for arrays that are not ready (see arrays.hpp).
#define SYMPLECTREE_IMPORT_ARRAY
#include "bindings/arrays.hpp"
#include "dynamics/aba.hpp"
#include "dynamics/crba.hpp"
#include "dynamics/floating_base.hpp"

namespace symplectree {
namespace {

using Pointers = const double* const*;
using W = Workspace<double>;

nb::object inverse_dynamics_rows(NativeModel& self, nb::handle q, nb::handle v, nb::handle a, nb::handle inputs) {
  const Model& m = self.model;
  if (!inputs.is_none() && !is_ready({inputs, m.inputs})) return nb::none();
  const double* u = inputs_or_zero(self, inputs);
  return on_rows(self, std::array<Rows, 3>{{{q, m.nq}, {v, m.nv}, {a, m.nv}}}, std::array{m.nv}, false,
                 [&](Pointers x, double* out, W& w) { inverse_dynamics(m, x[0], x[1], x[2], u, out, w); });
}

nb::object forward_dynamics_rows(NativeModel& self, nb::handle q, nb::handle v, nb::handle tau, nb::handle inputs) {
  const Model& m = self.model;
  if (!inputs.is_none() && !is_ready({inputs, m.inputs})) return nb::none();
  const double* u = inputs_or_zero(self, inputs);
  return on_rows(self, std::array<Rows, 3>{{{q, m.nq}, {v, m.nv}, {tau, m.nv}}}, std::array{m.nv}, false,
                 [&](Pointers x, double* out, W& w) { forward_dynamics(m, x[0], x[1], x[2], u, out, w); });
}

nb::object mass_matrix_rows(NativeModel& self, nb::handle q) {
  const Model& m = self.model;
  return on_rows(self, std::array<Rows, 1>{{{q, m.nq}}}, std::array{m.nv, m.nv}, false,
                 [&](Pointers x, double* out, W& w) { mass_matrix(m, x[0], out, w); });
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

nb::object locked_inertia_rows(NativeModel& self, nb::handle q) {
  const Model& m = self.model;
  ReducedTerms t(m.nv);
  return on_rows(self, std::array<Rows, 1>{{{q, m.nq}}}, std::array{kBase, kBase}, false,
                 [&](Pointers x, double* out, W& w) {
                   t.evaluate(m, x[0], w);
                   std::copy(t.inertia.begin(), t.inertia.end(), out);
                 });
}

nb::object mechanical_connection_rows(NativeModel& self, nb::handle q) {
  const Model& m = self.model;
  ReducedTerms t(m.nv);
  return on_rows(self, std::array<Rows, 1>{{{q, m.nq}}}, std::array{kBase, t.n}, false,
                 [&](Pointers x, double* out, W& w) {
                   t.evaluate(m, x[0], w);
                   std::copy(t.connection.begin(), t.connection.end(), out);
                 });
}

nb::object shape_metric_rows(NativeModel& self, nb::handle q) {
  const Model& m = self.model;
  ReducedTerms t(m.nv);
  return on_rows(self, std::array<Rows, 1>{{{q, m.nq}}}, std::array{t.n, t.n}, false,
                 [&](Pointers x, double* out, W& w) {
                   t.evaluate(m, x[0], w);
                   std::copy(t.metric.begin(), t.metric.end(), out);
                 });
}

// Their derivatives along each shape coordinate, O(n²) for each: (n, 6, 6), (n, 6, n), (n, n, n).
void shape_derivatives(NativeModel& self, In q, Out inertia, Out connection, Out metric) {
  const Model& m = self.model;
  const int n = m.nv - kBase;
  auto loan = self.dual_workspaces.borrow();
  ElementWorkspace<Dual>& e = *loan;
  std::vector<Dual> M(m.nv * m.nv), I(kBase * kBase), A(kBase * n), S(n * n);
  for (int i = 0; i < m.nq; ++i) e.q[i] = q.data()[i];
  std::vector<double> along(m.nv), rate(m.nq);
  for (int j = 0; j < n; ++j) {
    along[kBase + j] = 1;
    configuration_rate(m, q.data(), along.data(), rate.data());
    along[kBase + j] = 0;
    for (int i = 0; i < m.nq; ++i) e.q[i].slope = rate[i];
    mass_matrix(m, e.q.data(), M.data(), e.kinematics.base);
    reduce_mass(m.nv, M.data(), I.data(), A.data(), S.data());
    const auto slopes = [j](const std::vector<Dual>& from, Out& to) {
      for (std::size_t k = 0; k < from.size(); ++k) to.data()[j * from.size() + k] = from[k].slope;
    };
    slopes(I, inertia), slopes(A, connection), slopes(S, metric);
  }
}

nb::object inverse_mass_product_rows(NativeModel& self, nb::handle q, nb::handle p) {
  const Model& m = self.model;
  return on_rows(self, std::array<Rows, 2>{{{q, m.nq}, {p, m.nv}}}, std::array{m.nv}, false,
                 [&](Pointers x, double* out, W& w) {
                   factorize_mass(m, x[0], w);
                   solve_mass(m, x[1], out, w);
                 });
}

nb::object momenta_rows(NativeModel& self, nb::handle q, nb::handle v) {
  const Model& m = self.model;
  return on_rows(self, std::array<Rows, 2>{{{q, m.nq}, {v, m.nv}}}, std::array{m.nv}, false,
                 [&](Pointers x, double* out, W& w) { momenta(m, x[0], x[1], out, w); });
}

nb::object kinetic_energy_rows(NativeModel& self, nb::handle q, nb::handle v) {
  const Model& m = self.model;
  return on_rows(self, std::array<Rows, 2>{{{q, m.nq}, {v, m.nv}}}, std::array<int, 0>{}, false,
                 [&](Pointers x, double* out, W& w) { *out = kinetic_energy(m, x[0], x[1], w); });
}

nb::object potential_energy_rows(NativeModel& self, nb::handle q) {
  const Model& m = self.model;
  return on_rows(self, std::array<Rows, 1>{{{q, m.nq}}}, std::array<int, 0>{}, false,
                 [&](Pointers x, double* out, W& w) { *out = potential_energy(m, x[0], w); });
}

void write(const Spatial<double>& s, double* out, int stride) {
  const double c[6] = {s.angular.x, s.angular.y, s.angular.z, s.linear.x, s.linear.y, s.linear.z};
  for (int k = 0; k < 6; ++k) out[k * stride] = c[k];
}

nb::object spatial_momentum_rows(NativeModel& self, nb::handle q, nb::handle v) {
  const Model& m = self.model;
  return on_rows(self, std::array<Rows, 2>{{{q, m.nq}, {v, m.nv}}}, std::array{6}, false,
                 [&](Pointers x, double* out, W& w) { write(spatial_momentum(m, x[0], x[1], w), out, 1); });
}

nb::object pose_rows(NativeModel& self, nb::handle q, int frame) {
  const Model& m = self.model;
  const Frame& f = self.frames.at(frame);
  return on_rows(self, std::array<Rows, 1>{{{q, m.nq}}}, std::array{4, 4}, false, [&](Pointers x, double* out, W& w) {
    compute_poses(m, x[0], w);
    const FramePose<double> p = frame_pose(f.point, f.axes, w);
    write_pose_rate(p.R, p.x, out);
    out[15] = 1;
  });
}

nb::object body_velocity_rows(NativeModel& self, nb::handle q, nb::handle v, int frame) {
  const Model& m = self.model;
  const Frame& f = self.frames.at(frame);
  return on_rows(
      self, std::array<Rows, 2>{{{q, m.nq}, {v, m.nv}}}, std::array{6}, false, [&](Pointers x, double* out, W& w) {
        compute_poses(m, x[0], w);
        compute_velocities(m, x[1], w);
        const FramePose<double> p = frame_pose(f.point, f.axes, w);
        write({transposed_times(p.R, w.V[p.body].angular), transposed_times(p.R, velocity_at(p.x, p.body, w))}, out, 1);
      });
}

nb::object jacobian_rows(NativeModel& self, nb::handle q, int frame) {
  const Model& m = self.model;
  const Frame& f = self.frames.at(frame);
  return on_rows(self, std::array<Rows, 1>{{{q, m.nq}}}, std::array{6, m.nv}, true, [&](Pointers x, double* out, W& w) {
    compute_poses(m, x[0], w);
    const FramePose<double> p = frame_pose(f.point, f.axes, w);
    for (int i = p.body; i > 0; i = m.bodies[i].parent)
      for (int j = m.bodies[i].v; j < m.bodies[i].v + m.bodies[i].nv; ++j) {
        const Vec3<double> at = w.S[j].linear + cross(w.S[j].angular, p.x - w.pose[i].x);
        write({transposed_times(p.R, w.S[j].angular), transposed_times(p.R, at)}, out + j, m.nv);
      }
  });
}

nb::object retract_rows(NativeModel& self, nb::handle q, nb::handle increment) {
  const Model& m = self.model;
  return on_rows(self, std::array<Rows, 2>{{{q, m.nq}, {increment, m.nv}}}, std::array{m.nq}, false,
                 [&](Pointers x, double* out, W&) { retract(m, x[0], x[1], out); });
}

nb::object configuration_rate_rows(NativeModel& self, nb::handle q, nb::handle v) {
  const Model& m = self.model;
  return on_rows(self, std::array<Rows, 2>{{{q, m.nq}, {v, m.nv}}}, std::array{m.nq}, false,
                 [&](Pointers x, double* out, W&) { configuration_rate(m, x[0], x[1], out); });
}

void normalize_rows(NativeModel& self, Out q) {
  for (std::size_t k = 0; k < q.size() / self.model.nq; ++k) normalize(self.model, q.data() + k * self.model.nq);
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
      .def("normalize", &normalize_rows);
}

}  // namespace symplectree
