// Newton's matrix of a variational step, eliminated leaves to root in linear time (design section 7).
//
// η_i = X_i(q') η_λ(i) + S'_i δ_i,  g_i = K_i η_i + Σ_c X_c(q)ᵀ g_c,  S_iᵀ g_i = r_i: motion is carried by the joints
// at the step's end, force by those at its beginning, and K is not symmetric.
#pragma once

#include <array>

#include "integrators/body_action/step.hpp"
#include "spatial/matrix6.hpp"

namespace symplectree {

// What Newton's method on a step of plain numbers needs besides.
struct NewtonWorkspace : StepWorkspace<double> {
  std::vector<Matrix6<double>> A;          // articulated Newton matrix of each body
  std::vector<Matrix6<double>> gathered;   // what children of a body add to it, in as few places as will do
  std::vector<int> place;                  // of each body: its place there, -1 for a leaf
  std::vector<char> opens;                 // of each body: is it the first child that its parent hears of?
  std::vector<Spatial<double>> W, Z, eta;  // of each velocity: A S', Aᵀ S; of each body: motion of the end
  std::vector<double> pivot_inverse, u;
  std::vector<std::array<double, 36>> block;      // of bodies with several coordinates: inverse of their pivot block
  std::vector<double> noise;                      // of each velocity: what rounding makes of r
  std::vector<std::array<double, 2>> body_noise;  // of each body: the same of torque and force

  explicit NewtonWorkspace(const Model& model)
      : StepWorkspace<double>(model), A(m.size()), place(m.size(), -1), opens(m.size()), W(m.nv), Z(m.nv),
        eta(m.size()), pivot_inverse(m.nv), u(m.nv), block(m.size()), noise(m.nv), body_noise(m.size()) {
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

// The Newton matrix of body i alone, after its displacement.
template <class Action>
inline Matrix6<double> body_derivative(const NewtonWorkspace& w, const Body& body, int i, double inverse_h) {
  if constexpr (Action::block_diagonal) {
    const double d = body.mass * inverse_h;
    return {Action::derivative(w.motion[i].held, w.next->pose[i].R, w.motion[i].moved, inverse_h),
            {},
            {},
            {{d, 0, 0}, {0, d, 0}, {0, 0, d}}};
  } else {
    const Spatial<double> moved = Action::logarithm(w.now->pose[i], w.next->pose[i]);
    return Action::derivative(body, moved, w.now->pose[i].R, inverse_h);
  }
}

// w.A ← those of all bodies, after displace.
template <class Action>
void body_derivatives(NewtonWorkspace& w, double h) {
  for (int i = 1; i < w.m.size(); ++i) w.A[i] = body_derivative<Action>(w, w.m.bodies[i], i, 1 / h);
}

// Eliminate the coordinates of a Ball or Free joint from the articulated Newton matrix A of its body.
inline void eliminate_block(NewtonWorkspace& w, const Body& body, int i, StepEnds<double> step, Matrix6<double>& A) {
  const Spatial<double>*S = &w.now->S[body.v], *S1 = &w.next->S[body.v];
  Spatial<double>*W = &w.W[body.v], *Z = &w.Z[body.v];
  const int n = body.nv;
  double *D = w.block[i].data(), t[6];
  std::fill(D, D + n * n, 0.0);
  if (w.has_block_terms[i]) joint_block_terms(w.joint_numbers(), body, step, false, t, D);
  for (int k = 0; k < n; ++k) W[k] = A * S1[k], Z[k] = transposed_times(A, S[k]);
  for (int k = 0; k < n; ++k)
    for (int l = 0; l < n; ++l) D[n * k + l] += dot(S[k], W[l]);
  if (!invert_small(D, n)) std::fill(D, D + n * n, std::nan(""));
  for (int k = 0; k < n; ++k) {
    Spatial<double> sum{};
    for (int l = 0; l < n; ++l) sum += D[n * l + k] * W[l];
    subtract_outer(A, sum, Z[k]);
  }
}

// Eliminate the coordinates of body i from its articulated Newton matrix A, which stays in registers.
[[gnu::always_inline]] inline void eliminate(NewtonWorkspace& w, const Body& body, int i, StepEnds<double> step,
                                             Matrix6<double>& A) {
  if (body.nv > 1) return eliminate_block(w, body, i, step, A);
  const Spatial<double> W = A * w.next->S[body.v], Z = transposed_times(A, w.now->S[body.v]);
  const double inverse = 1 / (dot(w.now->S[body.v], W) + w.stiff[body.v]);
  w.W[body.v] = W, w.Z[body.v] = Z;
  w.pivot_inverse[body.v] = inverse;
  subtract_outer(A, inverse * W, Z);
}

// g ← g + A S' δ for the part of δ that body i's own u determines.
inline void add_solved(const NewtonWorkspace& w, const Body& body, int i, Spatial<double>& g) {
  if (body.nv == 1) {
    g += (w.u[body.v] * w.pivot_inverse[body.v]) * w.W[body.v];
    return;
  }
  const double* D = w.block[i].data();
  for (int k = 0; k < body.nv; ++k) {
    double x = 0;
    for (int l = 0; l < body.nv; ++l) x += D[body.nv * k + l] * w.u[body.v + l];
    g += x * w.W[body.v + k];
  }
}

// δ from w.u, root to leaves; leaves the motion of the end in w.eta.
inline void solve_outward(NewtonWorkspace& w, double* delta) {
  const Model& m = w.m;
  for (int i = 1; i < m.size(); ++i) {
    const Body& body = m.bodies[i];
    Spatial<double> eta = shift_motion(w.eta[body.parent], w.next->pose[i].r);
    if (body.nv == 1) {
      delta[body.v] = (w.u[body.v] - dot(w.Z[body.v], eta)) * w.pivot_inverse[body.v];
      eta += delta[body.v] * w.next->S[body.v];
    } else {
      double left[6];
      const double* D = w.block[i].data();
      for (int k = 0; k < body.nv; ++k) left[k] = w.u[body.v + k] - dot(w.Z[body.v + k], eta);
      for (int k = 0; k < body.nv; ++k) {
        delta[body.v + k] = 0;
        for (int l = 0; l < body.nv; ++l) delta[body.v + k] += D[body.nv * k + l] * left[l];
      }
      for (int k = 0; k < body.nv; ++k) eta += delta[body.v + k] * w.next->S[body.v + k];
    }
    w.eta[i] = eta;
  }
}

// Eliminate the coordinates of all bodies from Newton's matrix, leaves to root, after body_derivatives.
inline void factorize(NewtonWorkspace& w, StepEnds<double> step) {
  const Model& m = w.m;
  for (int i = m.size() - 1; i > 0; --i) {
    const Body& body = m.bodies[i];
    eliminate(w, body, i, step, w.A[i]);
    if (body.parent > 0) add_shifted(w.A[body.parent], w.A[i], w.now->pose[i].r, w.next->pose[i].r);
  }
}

// δ with (Newton's matrix without damped pairs) δ = rhs, after factorize.
inline void solve_tree(NewtonWorkspace& w, const double* rhs, double* delta) {
  const Model& m = w.m;
  for (int i = 1; i < m.size(); ++i) w.F[i] = {};
  for (int i = m.size() - 1; i > 0; --i) {
    const Body& body = m.bodies[i];
    Spatial<double> g = w.F[i];
    for (int k = 0; k < body.nv; ++k) w.u[body.v + k] = rhs[body.v + k] - dot(w.now->S[body.v + k], g);
    add_solved(w, body, i, g);
    if (body.parent > 0) w.F[body.parent] += shift_force(g, w.now->pose[i].r);
  }
  solve_outward(w, delta);
}

// One Newton step from q1 without damped pairs, after displace: derivatives, residual, elimination and solution in one
// sweep to the root and one back, so that the dependent sums of one hide behind the products of the other.
template <class Action>
void newton_sweep(NewtonWorkspace& w, StepEnds<double> step, double* delta) {
  const Model& m = w.m;
  const double inverse_h = 1 / step.h;
  subtract_loads(w, step.h);
  double t[6];
  for (int i = m.size() - 1; i > 0; --i) {
    const Body& body = m.bodies[i];
    Matrix6<double> A = body_derivative<Action>(w, body, i, inverse_h);
    if (w.place[i] >= 0) add(A, w.gathered[w.place[i]]);
    joint_terms<false>(w, i, step, t);
    eliminate(w, body, i, step, A);
    Spatial<double> G = w.F[i];
    for (int k = 0; k < body.nv; ++k) w.u[body.v + k] = w.b[body.v + k] - t[k] - dot(w.now->S[body.v + k], G);
    if (body.parent == 0) continue;
    add_solved(w, body, i, G);
    Matrix6<double>& gathered = w.gathered[w.place[body.parent]];
    if (w.opens[i]) gathered = {};
    add_shifted(gathered, A, w.now->pose[i].r, w.next->pose[i].r);
    w.F[body.parent] += shift_force(G, w.now->pose[i].r);
  }
  solve_outward(w, delta);
}

}  // namespace symplectree
