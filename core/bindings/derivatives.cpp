// Exact derivatives on arrays. Results are zeroed by the caller: only what is not structurally zero is written.
#include <nanobind/stl/vector.h>

#include "bindings/native.hpp"
#include "dynamics/element_derivatives.hpp"
#include "dynamics/frame_derivatives.hpp"
#include "dynamics/mapped_derivatives.hpp"
#include "dynamics/state_mechanics.hpp"
#include "model/joint_state.hpp"

namespace symplectree {
namespace {

using Outs = std::vector<Out>;

void check_configuration(const Model& m, const In& q) {
  rows(q, m.nq);
  if (has_zero_quaternion(m, q.data())) throw nb::value_error("zero quaternion");
}

void copy(const std::vector<double>& from, const Out& to) { std::copy(from.begin(), from.end(), to.data()); }

void pose_derivatives(NativeModel& self, const In& q, int frame, int order, Out out) {
  check_configuration(self.layout(), q);
  const Frame& f = self.frames.at(frame);
  auto loan = self.derivative_workspaces.borrow();
  StateMechanics mechanics(self.model, self.map.get(), *loan);
  if (order == 1) return mechanics.pose_derivatives(q.data(), f, out.data(), nullptr);
  std::vector<double> first(16 * self.layout().nv);
  mechanics.pose_derivatives(q.data(), f, first.data(), out.data());
}

// out: dq, dqdv, dqdq.
void body_velocity_derivatives(NativeModel& self, const In& q, const In& v, int frame, const Outs& out) {
  const Frame& f = self.frames.at(frame);
  check_configuration(self.layout(), q), rows(v, self.layout().nv);
  auto loan = self.derivative_workspaces.borrow();
  auto& d = *loan;
  const auto at = [&](const double* q, const double* v) {
    d.place<2>(q);
    return VelocityDerivatives(d, frame_pose(f.point, f.axes, d.base), v);
  };
  if (!self.map) return at(q.data(), v.data()).write(out[0].data(), out[1].data(), out[2].data());
  constexpr int size = 6;
  const ChainRule chain(*self.map, q.data(), v.data());
  StateDerivatives t(chain.tree_size(), size);
  at(chain.at.q.data(), chain.v.data()).write(t.q.data(), t.qv.data(), t.qq.data(), t.v.data());
  const StateDerivatives found = chain.compose(t, size);
  copy(found.q, out[0]), copy(found.qv, out[1]), copy(found.qq, out[2]);
}

// L without springs; out: dq, dv, dqdq, dqdv, dvdv.
void lagrangian_terms(NativeModel& self, const In& q, const In& v, const Outs& out) {
  check_configuration(self.layout(), q), rows(v, self.layout().nv);
  auto loan = self.derivative_workspaces.borrow();
  StateMechanics(self.model, self.map.get(), *loan)
      .lagrangian(q.data(), v.data(), {out[0].data(), out[1].data(), out[2].data(), out[3].data(), out[4].data()});
}

// The energy; out: gradient, hessian, force, force_dq, force_dv.
double element_terms(NativeModel& self, int owner, const In& q, const In& v, const In& inputs, const Outs& out) {
  const Model& m = self.model;
  check_configuration(self.layout(), q), rows(v, self.layout().nv), rows(inputs, m.inputs);
  auto loan = self.element_workspaces.borrow();
  auto& e = *loan;
  if (!self.map) {
    element_derivatives(m, owner, q.data(), v.data(), inputs.data(), e);
    copy(e.out.gradient, out[0]), copy(e.out.hessian, out[1]), copy(e.out.force, out[2]);
    copy(e.out.force_dq, out[3]), copy(e.out.force_dv, out[4]);
    return e.out.energy;
  }
  const ChainRule chain(*self.map, q.data(), v.data());
  element_derivatives(m, owner, chain.at.q.data(), chain.v.data(), inputs.data(), e);
  auto second = chain.both(chain.C, e.out.hessian, chain.C);
  chain.add_diagonal(chain.curvature, e.out.gradient, 1, second);
  auto change = chain.sum(chain.both(chain.C, e.out.force_dq, chain.C), chain.both(chain.C, e.out.force_dv, chain.B));
  chain.add_diagonal(chain.curvature, e.out.force, 1, change);
  copy(chain.C(e.out.gradient.data()), out[0]), copy(second, out[1]), copy(chain.C(e.out.force.data()), out[2]);
  copy(change, out[3]), copy(chain.both(chain.C, e.out.force_dv, chain.C), out[4]);
  return e.out.energy;
}

// Of the tree: dqdq[i, j, k] = D_k D_j f_i, dqdv[i, j, k] = D_j ∂f_i/∂v_k, dvdv[i, j, k] = ∂²f_i/∂v_j∂v_k; each at
// `place(i, j, k)` of its array.
template <class Place>
void tree_element_second(NativeModel& self, int owner, JointState<double> at, const double* inputs,
                         const std::array<double*, 3>& out, Place place) {
  const Model& m = self.model;
  const int n = m.nv;
  auto loan = self.dual_workspaces.borrow();
  auto& e = *loan;
  for (int k = 0; k < n; ++k) {
    seed(m, at.q, at.v, k, false, e);
    element_derivatives(m, owner, e.q.data(), e.v.data(), inputs, e);
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) {
        out[0][place(i, j, k)] = e.out.force_dq[n * i + j].slope;
        out[1][place(i, k, j)] = e.out.force_dv[n * i + j].slope;
      }
    seed(m, at.q, at.v, k, true, e);
    element_derivatives(m, owner, e.q.data(), e.v.data(), inputs, e);
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) out[2][place(i, j, k)] = e.out.force_dv[n * i + j].slope;
  }
}

// out: dqdq, dqdv, dvdv.
void element_second(NativeModel& self, int owner, const In& q, const In& v, const In& inputs, const Outs& out) {
  const Model& m = self.model;
  const std::size_t n = m.nv;
  check_configuration(self.layout(), q), rows(v, self.layout().nv), rows(inputs, m.inputs);
  if (!self.map) {
    const auto in_order = [n](std::size_t i, std::size_t j, std::size_t k) { return (n * i + j) * n + k; };
    return tree_element_second(self, owner, {q.data(), v.data()}, inputs.data(),
                               {out[0].data(), out[1].data(), out[2].data()}, in_order);
  }
  const ChainRule chain(*self.map, q.data(), v.data());
  StateDerivatives f(n, n);  // of the force, whose components come last
  const auto last = [n](std::size_t i, std::size_t j, std::size_t k) { return (n * j + k) * n + i; };
  tree_element_second(self, owner, {chain.at.q.data(), chain.v.data()}, inputs.data(),
                      {f.qq.data(), f.qv.data(), f.vv.data()}, last);
  auto loan = self.element_workspaces.borrow();
  auto& e = *loan;
  element_derivatives(m, owner, chain.at.q.data(), chain.v.data(), inputs.data(), e);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j)
      f.q[j * n + i] = e.out.force_dq[n * i + j], f.v[j * n + i] = e.out.force_dv[n * i + j];
  const ForceCurvature found(chain, self.map->sum(chain.at.third), e.out.force, f);
  copy(found.qq, out[0]), copy(found.qv, out[1]), copy(found.vv, out[2]);
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
