// Exact derivatives on arrays. Results are zeroed by the caller: only what is not structurally zero is written.
#include <cstring>

#include "bindings/native.hpp"

namespace symplectree {
namespace {

void check_configuration(const Model& m, const In& q) {
  rows(q, m.nq);
  if (has_zero_quaternion(m, q.data())) throw nb::value_error("zero quaternion");
}

void pose_derivatives(NativeModel& self, const In& q, int frame, int order, Out out) {
  const Frame& f = self.frames.at(frame);
  check_configuration(self.model, q);
  auto loan = self.derivative_workspaces.borrow();
  auto& d = *loan;
  d.place<1>(q.data());
  const FramePose<double> p = frame_pose(f.point, f.axes, d.base);
  if (order == 1) {
    pose_first(d.columns, p, out.data());
  } else {
    pose_second(d.columns, p, out.data());
  }
}

void body_velocity_derivatives(NativeModel& self, const In& q, const In& v, int frame, Out dq, Out dqdv, Out dqdq) {
  const Frame& f = self.frames.at(frame);
  check_configuration(self.model, q), rows(v, self.model.nv);
  auto loan = self.derivative_workspaces.borrow();
  auto& d = *loan;
  d.place<2>(q.data());
  const FramePose<double> p = frame_pose(f.point, f.axes, d.base);
  VelocityDerivatives(d, p, v.data()).write(dq.data(), dqdv.data(), dqdq.data());
}

// L without springs.
void lagrangian_terms(NativeModel& self, const In& q, const In& v, Out dq, Out dv, Out dqdq, Out dqdv, Out dvdv) {
  check_configuration(self.model, q), rows(v, self.model.nv);
  auto loan = self.derivative_workspaces.borrow();
  auto& d = *loan;
  d.place<2>(q.data());
  lagrangian_derivatives(d, v.data(), {dq.data(), dv.data(), dqdq.data(), dqdv.data(), dvdv.data()});
}

double element_terms(NativeModel& self, int owner, const In& q, const In& v, const In& inputs, Out gradient,
                     Out hessian, Out force, Out force_dq, Out force_dv) {
  const Model& m = self.model;
  check_configuration(m, q), rows(v, m.nv), rows(inputs, m.inputs);
  auto loan = self.element_workspaces.borrow();
  auto& e = *loan;
  element_derivatives(m, owner, q.data(), v.data(), inputs.data(), e);
  const auto copy = [](const std::vector<double>& from, Out& to) {
    std::memcpy(to.data(), from.data(), from.size() * sizeof(double));
  };
  copy(e.out.gradient, gradient), copy(e.out.hessian, hessian), copy(e.out.force, force);
  copy(e.out.force_dq, force_dq), copy(e.out.force_dv, force_dv);
  return e.out.energy;
}

// dqdq[i, j, k] = D_k D_j f_i, dqdv[i, j, k] = D_j ∂f_i/∂v_k, dvdv[i, j, k] = ∂²f_i/∂v_j∂v_k.
void element_second(NativeModel& self, int owner, const In& q, const In& v, const In& inputs, Out dqdq, Out dqdv,
                    Out dvdv) {
  const Model& m = self.model;
  const int n = m.nv;
  check_configuration(m, q), rows(v, m.nv), rows(inputs, m.inputs);
  auto loan = self.dual_workspaces.borrow();
  auto& e = *loan;
  for (int k = 0; k < n; ++k) {
    seed(m, q.data(), v.data(), k, false, e);
    element_derivatives(m, owner, e.q.data(), e.v.data(), inputs.data(), e);
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) {
        dqdq.data()[(n * i + j) * n + k] = e.out.force_dq[n * i + j].slope;
        dqdv.data()[(n * i + k) * n + j] = e.out.force_dv[n * i + j].slope;
      }
    seed(m, q.data(), v.data(), k, true, e);
    element_derivatives(m, owner, e.q.data(), e.v.data(), inputs.data(), e);
    for (int i = 0; i < n * n; ++i) dvdv.data()[n * i + k] = e.out.force_dv[i].slope;
  }
}

}  // namespace

void bind_derivatives(nb::class_<NativeModel>& cls) {
  using Unlocked = nb::call_guard<nb::gil_scoped_release>;
  cls.def("pose_derivatives", &pose_derivatives, Unlocked())
      .def("body_velocity_derivatives", &body_velocity_derivatives, Unlocked())
      .def("lagrangian_terms", &lagrangian_terms, Unlocked())
      .def("element_terms", &element_terms, Unlocked())
      .def("element_second", &element_second, Unlocked());
}

}  // namespace symplectree
