// One body's part in eliminations by articulated bodies.
#pragma once

#include "model/workspace.hpp"

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

}  // namespace symplectree
