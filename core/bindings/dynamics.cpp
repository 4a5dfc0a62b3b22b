// Continuous mechanics on arrays: rows in, rows out, without the interpreter's lock.
#include "native.hpp"

namespace symplectree {
namespace {

// Calls f(row, workspace) for each row.
template <class F>
void each(NativeModel& self, std::size_t count, F&& f) {
  auto loan = self.workspaces.borrow();
  for (std::size_t k = 0; k < count; ++k) f(k, *loan);
}

void inverse_dynamics_rows(NativeModel& self, const In& q, const In& v, const In& a, const In& inputs, Out out) {
  const Model& m = self.model;
  const std::size_t count = rows(q, m.nq);
  rows(v, m.nv), rows(a, m.nv), rows(inputs, m.inputs);
  each(self, count, [&](std::size_t k, auto& w) {
    inverse_dynamics(m, q.data() + k * m.nq, v.data() + k * m.nv, a.data() + k * m.nv, inputs.data(),
                     out.data() + k * m.nv, w);
  });
}

void forward_dynamics_rows(NativeModel& self, const In& q, const In& v, const In& tau, const In& inputs, Out out) {
  const Model& m = self.model;
  const std::size_t count = rows(q, m.nq);
  rows(v, m.nv), rows(tau, m.nv), rows(inputs, m.inputs);
  each(self, count, [&](std::size_t k, auto& w) {
    forward_dynamics(m, q.data() + k * m.nq, v.data() + k * m.nv, tau.data() + k * m.nv, inputs.data(),
                     out.data() + k * m.nv, w);
  });
}

void mass_matrix_rows(NativeModel& self, const In& q, Out out) {
  const Model& m = self.model;
  each(self, rows(q, m.nq), [&](std::size_t k, auto& w) {
    mass_matrix(m, q.data() + k * m.nq, out.data() + k * m.nv * m.nv, w);
  });
}

void inverse_mass_product_rows(NativeModel& self, const In& q, const In& x, Out out) {
  const Model& m = self.model;
  rows(x, m.nv);
  each(self, rows(q, m.nq), [&](std::size_t k, auto& w) {
    factorize_mass(m, q.data() + k * m.nq, w);
    solve_mass(m, x.data() + k * m.nv, out.data() + k * m.nv, w);
  });
}

void momenta_rows(NativeModel& self, const In& q, const In& v, Out out) {
  const Model& m = self.model;
  rows(v, m.nv);
  each(self, rows(q, m.nq), [&](std::size_t k, auto& w) {
    momenta(m, q.data() + k * m.nq, v.data() + k * m.nv, out.data() + k * m.nv, w);
  });
}

void kinetic_energy_rows(NativeModel& self, const In& q, const In& v, Out out) {
  const Model& m = self.model;
  rows(v, m.nv);
  each(self, rows(q, m.nq), [&](std::size_t k, auto& w) {
    out.data()[k] = kinetic_energy(m, q.data() + k * m.nq, v.data() + k * m.nv, w);
  });
}

void potential_energy_rows(NativeModel& self, const In& q, Out out) {
  const Model& m = self.model;
  each(self, rows(q, m.nq),
       [&](std::size_t k, auto& w) { out.data()[k] = potential_energy(m, q.data() + k * m.nq, w); });
}

void write(const Spatial<double>& s, double* out, int stride) {
  const double c[6] = {s.angular.x, s.angular.y, s.angular.z, s.linear.x, s.linear.y, s.linear.z};
  for (int k = 0; k < 6; ++k) out[k * stride] = c[k];
}

void spatial_momentum_rows(NativeModel& self, const In& q, const In& v, Out out) {
  const Model& m = self.model;
  rows(v, m.nv);
  each(self, rows(q, m.nq), [&](std::size_t k, auto& w) {
    write(spatial_momentum(m, q.data() + k * m.nq, v.data() + k * m.nv, w), out.data() + 6 * k, 1);
  });
}

void pose_rows(NativeModel& self, const In& q, int frame, Out out) {
  const Model& m = self.model;
  const Frame& f = self.frames.at(frame);
  each(self, rows(q, m.nq), [&](std::size_t k, auto& w) {
    compute_poses(m, q.data() + k * m.nq, w);
    const FramePose<double> p = frame_pose(f.point, f.axes, w);
    double* T = out.data() + 16 * k;
    write_pose_rate(p.R, p.x, T);
    T[15] = 1;
  });
}

// Body twist of a frame: (K, 6).
void body_velocity_rows(NativeModel& self, const In& q, const In& v, int frame, Out out) {
  const Model& m = self.model;
  const Frame& f = self.frames.at(frame);
  rows(v, m.nv);
  each(self, rows(q, m.nq), [&](std::size_t k, auto& w) {
    compute_poses(m, q.data() + k * m.nq, w);
    compute_velocities(m, v.data() + k * m.nv, w);
    const FramePose<double> p = frame_pose(f.point, f.axes, w);
    write({transposed_times(p.R, w.V[p.body].angular), transposed_times(p.R, velocity_at(p.x, p.body, w))},
          out.data() + 6 * k, 1);
  });
}

// Body Jacobian of a frame: (K, 6, nv), zeroed by the caller.
void jacobian_rows(NativeModel& self, const In& q, int frame, Out out) {
  const Model& m = self.model;
  const Frame& f = self.frames.at(frame);
  each(self, rows(q, m.nq), [&](std::size_t k, auto& w) {
    compute_poses(m, q.data() + k * m.nq, w);
    const FramePose<double> p = frame_pose(f.point, f.axes, w);
    for (int i = p.body; i > 0; i = m.bodies[i].parent)
      for (int j = m.bodies[i].v; j < m.bodies[i].v + m.bodies[i].nv; ++j) {
        const Vec3<double> at = w.S[j].linear + cross(w.S[j].angular, p.x - w.pose[i].x);
        write({transposed_times(p.R, w.S[j].angular), transposed_times(p.R, at)},
              out.data() + k * 6 * m.nv + j, m.nv);
      }
  });
}

// The pivot of each coordinate (its inertia with all beyond it free) and its entry in the mass matrix's diagonal.
void pivots(NativeModel& self, const In& q, Out pivot, Out diagonal) {
  const Model& m = self.model;
  rows(q, m.nq);
  auto loan = self.workspaces.borrow();
  factorize_mass(m, q.data(), *loan);
  composite_inertias(m, *loan);
  for (int j = 0; j < m.nv; ++j) {
    const Spatial<double>& S = (*loan).S[j];
    pivot.data()[j] = 1 / (*loan).pivot_inverse[j];
    diagonal.data()[j] = dot(S, (*loan).composite[m.body_of[j]] * S) + m.armature[j];
  }
}

void retract_rows(NativeModel& self, const In& q, const In& increment, Out out) {
  const Model& m = self.model;
  rows(increment, m.nv);
  const std::size_t count = rows(q, m.nq);
  for (std::size_t k = 0; k < count; ++k)
    retract(m, q.data() + k * m.nq, increment.data() + k * m.nv, out.data() + k * m.nq);
}

void normalize_rows(NativeModel& self, Out q) {
  for (std::size_t k = 0; k < q.size() / self.model.nq; ++k) normalize(self.model, q.data() + k * self.model.nq);
}

void configuration_rate_row(NativeModel& self, const In& q, const In& v, Out out) {
  rows(q, self.model.nq), rows(v, self.model.nv);
  configuration_rate(self.model, q.data(), v.data(), out.data());
}

}  // namespace

void bind_dynamics(nb::class_<NativeModel>& cls) {
  using Unlocked = nb::call_guard<nb::gil_scoped_release>;
  cls.def("inverse_dynamics", &inverse_dynamics_rows, Unlocked())
      .def("forward_dynamics", &forward_dynamics_rows, Unlocked())
      .def("mass_matrix", &mass_matrix_rows, Unlocked())
      .def("inverse_mass_product", &inverse_mass_product_rows, Unlocked())
      .def("momenta", &momenta_rows, Unlocked())
      .def("kinetic_energy", &kinetic_energy_rows, Unlocked())
      .def("potential_energy", &potential_energy_rows, Unlocked())
      .def("spatial_momentum", &spatial_momentum_rows, Unlocked())
      .def("pose", &pose_rows, Unlocked())
      .def("body_velocity", &body_velocity_rows, Unlocked())
      .def("jacobian", &jacobian_rows, Unlocked())
      .def("pivots", &pivots, Unlocked())
      .def("retract", &retract_rows, Unlocked())
      .def("normalize", &normalize_rows, Unlocked())
      .def("configuration_rate", &configuration_rate_row, Unlocked());
}

}  // namespace symplectree
