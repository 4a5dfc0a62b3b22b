// Articulated bodies.
#include "dynamics/aba.hpp"

#include "dynamics/articulated_body.hpp"
#include "dynamics/outward_sweep.hpp"
#include "elements/element_forces.hpp"
#include "scalar/jet.hpp"

namespace symplectree {

void forward_dynamics(const Model& m, JointState<double> at, AppliedForces<double> forces, double* a,
                      Workspace<double>& w) {
  const auto [q, v] = at;
  const auto [tau, inputs] = forces;
  sweep_outward(m, at, w, [&](const Body& body, int i, const Mat3<double>& inertia) {
    w.articulated[i] = articulated(inertia, body.mass);
  });
  joint_element_forces(m, q, v, inputs, w);
  if (m.acts_on_bodies()) subtract_element_wrenches(m, inputs, w);
  for (int i = m.size() - 1; i > 0; --i) {
    const Body& body = m.bodies[i];
    for (int j = body.v; j < body.v + body.nv; ++j) w.u[j] = tau[j] + w.joint_force[j] - rotor_force(m, body, j, v);
    eliminate<true>(m, body, i, w);
    if (body.parent == 0) continue;
    w.force[i] += w.articulated[i] * w.bias[i];
    w.articulated[body.parent] += shifted(w.articulated[i], w.pose[i].r);
    w.force[body.parent] += shift_force(w.force[i], w.pose[i].r);
  }
  for (int i = 1; i < m.size(); ++i) {
    const Body& body = m.bodies[i];
    Spatial<double>& A = w.acceleration[i];
    A = shift_motion(w.acceleration[body.parent], w.pose[i].r) + w.bias[i];
    solve_body(body, A, a, w);
  }
}

template <int Order, class R, class T>
void factorize_mass(const ModelOf<R>& m, const T* q, Workspace<T>& w) {
  compute_poses<Order>(m, q, w);
  for (int i = 1; i < m.size(); ++i) {
    const BodyOf<R>& body = m.bodies[i];
    w.articulated[i] = articulated(rotated_columns(w.pose[i].R, cast<T>(body.inertia)), T(body.mass));
  }
  for (int i = m.size() - 1; i > 0; --i) {
    const BodyOf<R>& body = m.bodies[i];
    eliminate<false>(m, body, i, w);
    if (body.parent > 0) w.articulated[body.parent] += shifted(w.articulated[i], w.pose[i].r);
  }
}

template <class R, class T>
void solve_mass(const ModelOf<R>& m, const T* x, T* y, Workspace<T>& w) {
  for (auto& f : w.force) f = {};
  for (int i = m.size() - 1; i > 0; --i) {
    const BodyOf<R>& body = m.bodies[i];
    for (int j = body.v; j < body.v + body.nv; ++j) {
      w.u[j] = x[j] - dot(w.S[j], w.force[i]);
      w.force[i] += (w.u[j] * w.pivot_inverse[j]) * w.W[j];
    }
    w.force[body.parent] += shift_force(w.force[i], w.pose[i].r);
  }
  for (int i = 1; i < m.size(); ++i) {
    const BodyOf<R>& body = m.bodies[i];
    Spatial<T>& A = w.acceleration[i];
    A = shift_motion(w.acceleration[body.parent], w.pose[i].r);
    solve_body(body, A, y, w);
  }
}

template void factorize_mass<0>(const Model&, const double*, Workspace<double>&);
template void factorize_mass<1>(const Model&, const double*, Workspace<double>&);
template void factorize_mass<0>(const ModelOf<Jet>&, const Jet*, Workspace<Jet>&);
template void solve_mass(const Model&, const double*, double*, Workspace<double>&);
template void solve_mass(const ModelOf<Jet>&, const Jet*, Jet*, Workspace<Jet>&);

}  // namespace symplectree
