// Recursive Newton–Euler algorithms.
#include "dynamics/rnea.hpp"

#include "dynamics/outward_sweep.hpp"
#include "elements/element_forces.hpp"
#include "scalar/jet.hpp"

namespace symplectree {

void inverse_dynamics(const Model& m, JointState<double> at, const double* a, const double* inputs, double* tau,
                      Workspace<double>& w) {
  const auto [q, v] = at;
  sweep_outward(m, at, w, [&](const Body& body, int i, const Mat3<double>& inertia) {
    Spatial<double> A = shift_motion(w.acceleration[body.parent], w.pose[i].r) + w.bias[i];
    for (int j = body.v; j < body.v + body.nv; ++j) A += a[j] * w.S[j];
    w.acceleration[i] = A;
    w.force[i] += {inertia * A.angular, body.mass * A.linear};
  });
  joint_element_forces(m, q, v, inputs, w);
  if (m.acts_on_bodies()) subtract_element_wrenches(m, inputs, w);
  for (int i = m.size() - 1; i > 0; --i) {
    const Body& body = m.bodies[i];
    for (int j = body.v; j < body.v + body.nv; ++j)
      tau[j] = dot(w.S[j], w.force[i]) - w.joint_force[j] + m.armature[j] * a[j] + rotor_force(m, body, j, v);
    w.force[body.parent] += shift_force(w.force[i], w.pose[i].r);
  }
}

template <class R, class T>
void momenta(const ModelOf<R>& m, const T* q, const T* v, T* p, Workspace<T>& w) {
  sines_and_cosines(q, m.nq, w.sine.data(), w.cosine.data());
  for (int i = 1; i < m.size(); ++i) {
    const BodyOf<R>& body = m.bodies[i];
    place_body(body, q, w.pose[i], w);
    w.V[i] = shift_motion(w.V[body.parent], w.pose[i].r) + joint_twist(body, w.S.data(), v);
    w.force[i] = {rotated(w.pose[i].R, cast<T>(body.inertia)) * w.V[i].angular, T(body.mass) * w.V[i].linear};
  }
  for (int i = m.size() - 1; i > 0; --i) {
    const BodyOf<R>& body = m.bodies[i];
    for (int j = body.v; j < body.v + body.nv; ++j) p[j] = dot(w.S[j], w.force[i]) + T(m.armature[j]) * v[j];
    w.force[body.parent] += shift_force(w.force[i], w.pose[i].r);
  }
}

template void momenta(const Model&, const double*, const double*, double*, Workspace<double>&);
template void momenta(const Model&, const Jet*, const Jet*, Jet*, Workspace<Jet>&);
template void momenta(const Model&, const DualOf<Jet>*, const DualOf<Jet>*, DualOf<Jet>*, Workspace<DualOf<Jet>>&);
template void momenta(const ModelOf<Jet>&, const Jet*, const Jet*, Jet*, Workspace<Jet>&);

}  // namespace symplectree
