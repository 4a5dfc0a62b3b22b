// Newton's matrix of a variational step, eliminated leaves to root in linear time (design section 7).
//
// η_i = X_i(q') η_λ(i) + S'_i δ_i,  g_i = K_i η_i + Σ_c X_c(q)ᵀ g_c,  S_iᵀ g_i = r_i: motion is carried by the joints
// at the step's end, force by those at its beginning, and K is not symmetric.
#pragma once

#include <array>

#include "integrators/body_action/step.hpp"
#include "spatial/matrix6.hpp"

namespace symplectree {

// What Newton's method on a step of numbers T without derivatives needs besides.
template <class T, class R = double>
struct NewtonWorkspaceOf : StepWorkspace<T, R> {
  std::vector<Matrix6<T>> A;          // articulated Newton matrix of each body
  std::vector<Matrix6<T>> gathered;   // what children of a body add to it, in as few places as will do
  std::vector<int> place;             // of each body: its place there, -1 for a leaf
  std::vector<char> opens;            // of each body: is it the first child that its parent hears of?
  std::vector<Spatial<T>> W, Z, eta;  // of each velocity: A S', Aᵀ S; of each body: motion of the end
  std::vector<T> pivot_inverse, u;
  std::vector<std::array<T, 36>> block;      // of bodies with several coordinates: inverse of their pivot block
  std::vector<T> noise;                      // of each velocity: what rounding makes of r
  std::vector<std::array<T, 2>> body_noise;  // of each body: the same of torque and force

  explicit NewtonWorkspaceOf(const ModelOf<R>& m)
      : StepWorkspace<T, R>(m), A(m.size()), place(m.size(), -1), opens(m.size()), W(m.nv), Z(m.nv), eta(m.size()),
        pivot_inverse(m.nv), u(m.nv), block(m.size()), noise(m.nv), body_noise(m.size()) {
    std::vector<int> idle;  // places that no body nearer to the root needs yet
    int places = 0;
    for (int i = m.size() - 1; i > 0; --i) {
      const int parent = m.bodies[i].parent;
      if (place[i] >= 0) idle.push_back(place[i]);  // it is read before anything is added to the parent's
      if (parent == 0 || place[parent] >= 0) continue;
      opens[i] = 1;
      if (idle.empty()) idle.push_back(places++);
      place[parent] = idle.back();
      idle.pop_back();
    }
    gathered.resize(places);
  }
};
using NewtonWorkspace = NewtonWorkspaceOf<double>;

inline double first_lane(double x) { return x; }
template <int W>
double first_lane(const Pack<W>& x) {
  return x[0];
}

// The Newton matrix of body i alone, after its displacement.
template <class Action, class T, class R>
inline Matrix6<T> body_derivative(const NewtonWorkspaceOf<T, R>& w, const BodyOf<R>& body, int i, double inverse_h) {
  if constexpr (Action::block_diagonal) {
    const T d = T(body.mass) * T(inverse_h), zero(0);
    return {Action::derivative(w.motion[i].held, w.next->pose[i].R, w.motion[i].moved, inverse_h),
            {},
            {},
            {{d, zero, zero}, {zero, d, zero}, {zero, zero, d}}};
  } else {
    const Spatial<T> moved = Action::logarithm(w.now->pose[i], w.next->pose[i]);
    return Action::derivative(body, moved, w.now->pose[i].R, inverse_h);
  }
}

// w.A ← those of all bodies, after displace.
template <class Action>
void body_derivatives(NewtonWorkspace& w, double h) {
  for (int i = 1; i < w.m.size(); ++i) w.A[i] = body_derivative<Action>(w, w.m.bodies[i], i, 1 / h);
}

// Eliminate the coordinates of a Ball or Free joint from the articulated Newton matrix A of its body.
template <class T, class R>
void eliminate_block(NewtonWorkspaceOf<T, R>& w, const BodyOf<R>& body, int i, StepEnds<T> step, Matrix6<T>& A) {
  const Spatial<T>*S = &w.now->S[body.v], *S1 = &w.next->S[body.v];
  Spatial<T>*W = &w.W[body.v], *Z = &w.Z[body.v];
  const int n = body.nv;
  T *D = w.block[i].data(), t[6];
  std::fill(D, D + n * n, T(0));
  if (w.has_block_terms[i]) joint_block_terms(w.joint_numbers(), body, step, false, t, D);
  for (int k = 0; k < n; ++k) W[k] = A * S1[k], Z[k] = transposed_times(A, S[k]);
  for (int k = 0; k < n; ++k)
    for (int l = 0; l < n; ++l) D[n * k + l] += dot(S[k], W[l]);
  if (!invert_small(D, n)) std::fill(D, D + n * n, T(std::nan("")));
  for (int k = 0; k < n; ++k) {
    Spatial<T> sum{};
    for (int l = 0; l < n; ++l) sum += D[n * l + k] * W[l];
    subtract_outer(A, sum, Z[k]);
  }
}

// Eliminate the coordinates of body i from its articulated Newton matrix A, which stays in registers.
template <class T, class R>
[[gnu::always_inline]] inline void eliminate(NewtonWorkspaceOf<T, R>& w, const BodyOf<R>& body, int i, StepEnds<T> step,
                                             Matrix6<T>& A) {
  if (body.nv > 1) return eliminate_block(w, body, i, step, A);
  const Spatial<T> W = A * w.next->S[body.v], Z = transposed_times(A, w.now->S[body.v]);
  const T inverse = T(1) / (dot(w.now->S[body.v], W) + w.stiff[body.v]);
  w.W[body.v] = W, w.Z[body.v] = Z;
  w.pivot_inverse[body.v] = inverse;
  subtract_outer(A, inverse * W, Z);
}

// g ← g + A S' δ for the part of δ that body i's own u determines.
template <class T, class R>
void add_solved(const NewtonWorkspaceOf<T, R>& w, const BodyOf<R>& body, int i, Spatial<T>& g) {
  if (body.nv == 1) {
    g += (w.u[body.v] * w.pivot_inverse[body.v]) * w.W[body.v];
    return;
  }
  const T* D = w.block[i].data();
  for (int k = 0; k < body.nv; ++k) {
    T x(0);
    for (int l = 0; l < body.nv; ++l) x += D[body.nv * k + l] * w.u[body.v + l];
    g += x * w.W[body.v + k];
  }
}

// δ from w.u, root to leaves; leaves the motion of the end in w.eta.
template <class T, class R>
void solve_outward(NewtonWorkspaceOf<T, R>& w, T* delta) {
  const ModelOf<R>& m = w.m;
  for (int i = 1; i < m.size(); ++i) {
    const BodyOf<R>& body = m.bodies[i];
    Spatial<T> eta = shift_motion(w.eta[body.parent], w.next->pose[i].r);
    if (body.nv == 1) {
      delta[body.v] = (w.u[body.v] - dot(w.Z[body.v], eta)) * w.pivot_inverse[body.v];
      eta += delta[body.v] * w.next->S[body.v];
    } else {
      T left[6];
      const T* D = w.block[i].data();
      for (int k = 0; k < body.nv; ++k) left[k] = w.u[body.v + k] - dot(w.Z[body.v + k], eta);
      for (int k = 0; k < body.nv; ++k) {
        delta[body.v + k] = T(0);
        for (int l = 0; l < body.nv; ++l) delta[body.v + k] += D[body.nv * k + l] * left[l];
      }
      for (int k = 0; k < body.nv; ++k) eta += delta[body.v + k] * w.next->S[body.v + k];
    }
    w.eta[i] = eta;
  }
}

// Eliminate the coordinates of all bodies from Newton's matrix, leaves to root, after body_derivatives.
template <class T, class R>
void factorize(NewtonWorkspaceOf<T, R>& w, StepEnds<T> step) {
  const ModelOf<R>& m = w.m;
  for (int i = m.size() - 1; i > 0; --i) {
    const BodyOf<R>& body = m.bodies[i];
    eliminate(w, body, i, step, w.A[i]);
    if (body.parent > 0) add_shifted(w.A[body.parent], w.A[i], w.now->pose[i].r, w.next->pose[i].r);
  }
}

// δ with (Newton's matrix without damped pairs) δ = rhs, after factorize.
template <class T, class R>
void solve_tree(NewtonWorkspaceOf<T, R>& w, const T* rhs, T* delta) {
  const ModelOf<R>& m = w.m;
  for (int i = 1; i < m.size(); ++i) w.F[i] = {};
  for (int i = m.size() - 1; i > 0; --i) {
    const BodyOf<R>& body = m.bodies[i];
    Spatial<T> g = w.F[i];
    for (int k = 0; k < body.nv; ++k) w.u[body.v + k] = rhs[body.v + k] - dot(w.now->S[body.v + k], g);
    add_solved(w, body, i, g);
    if (body.parent > 0) w.F[body.parent] += shift_force(g, w.now->pose[i].r);
  }
  solve_outward(w, delta);
}

// One Newton step from q1 without damped pairs, after displace: derivatives, residual, elimination and solution in one
// sweep to the root and one back, so that the dependent sums of one hide behind the products of the other.
template <class Action, class T, class R>
void newton_sweep(NewtonWorkspaceOf<T, R>& w, StepEnds<T> step, T* delta) {
  const ModelOf<R>& m = w.m;
  const double inverse_h = 1 / first_lane(step.h);
  subtract_loads(w, step.h);
  T t[6];
  for (int i = m.size() - 1; i > 0; --i) {
    const BodyOf<R>& body = m.bodies[i];
    Matrix6<T> A = body_derivative<Action>(w, body, i, inverse_h);
    if (w.place[i] >= 0) add(A, w.gathered[w.place[i]]);
    joint_terms<false>(w, i, step, t);
    eliminate(w, body, i, step, A);
    Spatial<T> G = w.F[i];
    for (int k = 0; k < body.nv; ++k) w.u[body.v + k] = w.b[body.v + k] - t[k] - dot(w.now->S[body.v + k], G);
    if (body.parent == 0) continue;
    add_solved(w, body, i, G);
    Matrix6<T>& gathered = w.gathered[w.place[body.parent]];
    if (w.opens[i]) gathered = {};
    add_shifted(gathered, A, w.now->pose[i].r, w.next->pose[i].r);
    w.F[body.parent] += shift_force(G, w.now->pose[i].r);
  }
  solve_outward(w, delta);
}

}  // namespace symplectree
