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

namespace {

// w.articulated ← the inertias of all bodies, each by itself.
template <class R, class T>
void place_inertias(const ModelOf<R>& m, Workspace<T>& w) {
  for (int i = 1; i < m.size(); ++i) {
    const BodyOf<R>& body = m.bodies[i];
    w.articulated[i] = articulated(rotated_columns(w.pose[i].R, cast<T>(body.inertia)), T(body.mass));
  }
}

}  // namespace

template <class R, class T>
void eliminate_mass(const ModelOf<R>& m, Workspace<T>& w) {
  place_inertias(m, w);
  for (int i = m.size() - 1; i > 0; --i) {
    const BodyOf<R>& body = m.bodies[i];
    eliminate<false>(m, body, i, w);
    if (body.parent > 0) w.articulated[body.parent] += shifted(w.articulated[i], w.pose[i].r);
  }
}

// Of numbers on their own, which wait for each other along a chain: a single coordinate is eliminated about the
// parent's point, so that the shift does not wait for the pivot.
template <>
void eliminate_mass(const Model& m, Workspace<double>& w) {
  place_inertias(m, w);
  for (int i = m.size() - 1; i > 0; --i) {
    const Body& body = m.bodies[i];
    ArticulatedInertia<double>&I = w.articulated[i], &parent = w.articulated[body.parent];
    const Vec3<double>& r = w.pose[i].r;
    if (body.nv != 1) {
      eliminate<false>(m, body, i, w);
      if (body.parent > 0) parent += shifted(I, r);
      continue;
    }
    const Spatial<double>& S = w.S[body.v];
    const Spatial<double> W = I * S;
    const double inverse = 1 / (dot(S, W) + m.armature[body.v]);
    w.W[body.v] = W, w.pivot_inverse[body.v] = inverse;
    if (body.parent == 0) continue;
    ArticulatedInertia<double> sum = shifted(I, r);
    sum += parent;
    subtract_outer(sum, inverse, shift_force(W, r));
    parent = sum;
  }
}

template <int Order, class R, class T>
void factorize_mass(const ModelOf<R>& m, const T* q, Workspace<T>& w) {
  compute_poses<Order>(m, q, w);
  eliminate_mass(m, w);
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

// As eliminate_mass: what a body passes on waits for one product along its joint, and along a chain stays in registers.
template <>
void solve_mass(const Model& m, const double* x, double* y, Workspace<double>& w) {
  for (auto& f : w.force) f = {};
  Spatial<double> f;
  for (int i = m.size() - 1; i > 0; --i) {
    const Body& body = m.bodies[i];
    const Vec3<double>& r = w.pose[i].r;
    const bool next = body.parent == i - 1;
    Spatial<double>& parent = w.force[body.parent];
    Spatial<double> sum;
    if (body.nv == 1) {
      const int j = body.v;
      sum = shift_force(f, r) + parent;
      w.u[j] = x[j] - dot(w.S[j], f);
      sum += w.u[j] * (w.pivot_inverse[j] * shift_force(w.W[j], r));
    } else {
      for (int j = body.v; j < body.v + body.nv; ++j) {
        w.u[j] = x[j] - dot(w.S[j], f);
        f += (w.u[j] * w.pivot_inverse[j]) * w.W[j];
      }
      sum = shift_force(f, r) + parent;
    }
    if (next) {
      f = sum;
    } else {
      parent = sum;
      f = w.force[i - 1];
    }
  }
  Spatial<double> A;
  for (int i = 1; i < m.size(); ++i) {
    const Body& body = m.bodies[i];
    const Vec3<double>& r = w.pose[i].r;
    if (body.parent != i - 1) A = w.acceleration[body.parent];
    if (body.nv == 1) {
      const int j = body.v;
      const double inverse = w.pivot_inverse[j];
      const double a = inverse * w.u[j] - dot(inverse * shift_force(w.W[j], r), A);
      A = shift_motion(A, r) + a * w.S[j];
      y[j] = a;
    } else {
      A = shift_motion(A, r);
      solve_body(body, A, y, w);
    }
    w.acceleration[i] = A;
  }
}

template void factorize_mass<0>(const Model&, const double*, Workspace<double>&);
template void factorize_mass<1>(const Model&, const double*, Workspace<double>&);
template void eliminate_mass(const Model&, Workspace<Pack<2>>&);
template void eliminate_mass(const Model&, Workspace<Pack<4>>&);
template void eliminate_mass(const Model&, Workspace<Pack<8>>&);
template void solve_mass(const Model&, const Pack<2>*, Pack<2>*, Workspace<Pack<2>>&);
template void solve_mass(const Model&, const Pack<4>*, Pack<4>*, Workspace<Pack<4>>&);
template void solve_mass(const Model&, const Pack<8>*, Pack<8>*, Workspace<Pack<8>>&);
template void factorize_mass<0>(const ModelOf<Jet>&, const Jet*, Workspace<Jet>&);
template void solve_mass(const ModelOf<Jet>&, const Jet*, Jet*, Workspace<Jet>&);

}  // namespace symplectree
