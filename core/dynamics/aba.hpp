// Forward dynamics and M⁻¹x in O(n) by articulated bodies, with every element of the model.
#pragma once

#include "kinematics/poses_twists.hpp"
#include "model/joint_state.hpp"

namespace symplectree {

// Eliminate the coordinates of body i one after the other from its articulated inertia and, with `WithForce`, from
// the wrench w.force[i]; w.u holds the joint forces on entry and what is left of them after.
template <bool WithForce, class R, class T>
inline void eliminate(const ModelOf<R>& m, const BodyOf<R>& body, int i, Workspace<T>& w) {
  ArticulatedInertia<T>& I = w.articulated[i];
  for (int j = body.v; j < body.v + body.nv; ++j) {
    const Spatial<T> W = I * w.S[j];
    const T inverse = T(1) / (dot(w.S[j], W) + T(m.armature[j]));
    subtract_outer(I, inverse, W);
    w.W[j] = W;
    w.pivot_inverse[j] = inverse;
    if constexpr (WithForce) {
      w.u[j] -= dot(w.S[j], w.force[i]);
      w.force[i] += (w.u[j] * inverse) * W;
    }
  }
}

// Solve for the coordinates of body i, last eliminated first, given the acceleration A that its parent and bias give
// it; A grows by what the coordinates add.
template <class R, class T>
inline void solve_body(const BodyOf<R>& body, Spatial<T>& A, T* a, const Workspace<T>& w) {
  for (int j = body.v + body.nv - 1; j >= body.v; --j) {
    a[j] = (w.u[j] - dot(w.W[j], A)) * w.pivot_inverse[j];
    A += a[j] * w.S[j];
  }
}

// a = M⁻¹(τ − bias) by articulated bodies.
void forward_dynamics(const Model& m, JointState<double> at, AppliedForces<double> forces, double* a,
                      Workspace<double>& w);

// Eliminate all coordinates from the mass matrix, leaves to root, at the poses in w.
template <class R, class T>
void eliminate_mass(const ModelOf<R>& m, Workspace<T>& w);
template <>
void eliminate_mass(const Model& m, Workspace<double>& w);

// The same at q. Poses are computed here, and derivatives of S up to `Order`.
template <int Order = 0, class R, class T>
void factorize_mass(const ModelOf<R>& m, const T* q, Workspace<T>& w);

// y = M⁻¹ x after either.
template <class R, class T>
void solve_mass(const ModelOf<R>& m, const T* x, T* y, Workspace<T>& w);
template <>
void solve_mass(const Model& m, const double* x, double* y, Workspace<double>& w);

}  // namespace symplectree
