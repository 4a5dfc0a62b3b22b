// Exact derivatives of poses, velocities, the Lagrangian and the elements in q and v.
//
// Everything is written with twists s_j of the coordinates about one fixed world point O. D_j, the derivative along
// increment j, moves all that lies at or beyond coordinate j as a rigid body with s_j, hence
//   D_j s_i = [s_j, s_i]   when j is at or above i (the same joint included), and 0 when j lies beyond i;
// within a joint that is a formula E_ij is added (see pose_formula.hpp). Second derivatives are D_j(D_i f): symmetric
// except between coordinates of one Ball or Free joint.
#pragma once

#include "formula/pose_formula.hpp"
#include "model/workspace.hpp"

namespace symplectree {

// Twists about O, and which coordinates move what.
template <class T>
struct Columns {
  const Model& m;
  Vec3<T> O;
  std::vector<Spatial<T>> s;
  const Workspace<T>* at_q = nullptr;

  explicit Columns(const Model& model) : m(model), s(model.nv) {}

  // After compute_poses. O is the first body's centre, so that a mechanism far from the origin loses no digits.
  void update(const Workspace<T>& w) {
    at_q = &w;
    O = w.pose[1].x;
    for (int j = 0; j < m.nv; ++j) s[j] = shift_motion(w.S[j], O - w.pose[m.body_of[j]].x);
  }

  // Velocity that coordinate j gives to a point x moving with a body beyond it.
  Vec3<T> at(int j, const Vec3<T>& x) const { return s[j].linear + cross(s[j].angular, x - O); }

  // The formula that coordinates i and j both belong to, null when there is none.
  const PoseFormula* formula(int i, int j) const {
    return m.body_of[i] == m.body_of[j] ? m.bodies[m.body_of[i]].formula : nullptr;
  }
  // E_ij about the centre of the body, of coordinates of one formula.
  const Spatial<T>& varying(const PoseFormula& f, int i, int j) const {
    const int start = m.bodies[m.body_of[i]].v;
    return at_q->formula.E[f.first + f.n * (j - start) + i - start];
  }
  // The velocity that E_ij gives to a point x.
  Vec3<T> varying_at(const PoseFormula& f, int i, int j, const Vec3<T>& x) const {
    const Spatial<T>& E = varying(f, i, j);
    return E.linear + cross(E.angular, x - at_q->pose[m.body_of[i]].x);
  }

  // Calls f(j) for every coordinate that moves body i, from the body to the root.
  template <class F>
  void for_path(int i, F&& f) const {
    for (; i > 0; i = m.bodies[i].parent)
      for (int j = m.bodies[i].v; j < m.bodies[i].v + m.bodies[i].nv; ++j) f(j);
  }

  // For two coordinates on one path: is j at or above i?
  bool at_or_above(int j, int i) const { return m.body_of[j] <= m.body_of[i]; }
};

// Scratch memory of the derivatives.
template <class T>
struct DerivativeWorkspace {
  Workspace<T> base;
  Columns<T> columns;
  std::vector<Spatial<T>> P;     // of each body: momentum of all that it carries
  std::vector<Spatial<T>> Z, G;  // of each coordinate; see lagrangian_derivatives
  std::vector<Spatial<T>> J;     // of each coordinate: column of a frame's body Jacobian
  std::vector<int> path;

  explicit DerivativeWorkspace(const Model& m) : base(m), columns(m), P(m.size()), Z(m.nv), G(m.nv), J(m.nv) {
    path.reserve(m.nv);
  }

  // With derivatives of S up to `Order`.
  template <int Order>
  void place(const T* q);
};

// Twist of a formula's body with its parent, and momentum P and conservative wrench Q of all that it carries, about the
// body's centre.
struct FormulaCarries {
  Spatial<double> parent, momentum, wrench;
};

// What a formula's varying S adds to second derivatives of L along two of its own coordinates: D_j D_i L by P·([V_λ,
// E_ij] − [G_j, s_i] + Σ_k v_k F_jik) + Q·E_ij, and D_j ∂L/∂v_i by P·E_ij, where G_j = Σ_k v_k E_kj.
struct FormulaTerms {
  double qq, qv;
};

FormulaTerms formula_terms(const Body& body, int i, int j, const FormulaCarries& carried, const double* v,
                           const Workspace<double>& w);

// First and second derivatives of L = T − V_gravity (springs are added by element_derivatives), JM08 (16)–(18).
//   dq, dv (nv); dqdq[i, j] = D_j D_i L; dqdv[i, j] = D_i ∂L/∂v_j; dvdv = M.
// With P (momentum) and C (inertia) of all that a body carries, and Z_j of velocity_change: relative to the rigid
// motion by s_j, every velocity at or beyond j changes by Z_j. Twists and wrenches are about the body's own centre; the
// wrenches of coordinate i are carried up its path, where they meet the twists of the coordinates above.
struct LagrangianDerivatives {
  double *dq, *dv, *dqdq, *dqdv, *dvdv;
};

void lagrangian_derivatives(DerivativeWorkspace<double>& d, const double* v, const LagrangianDerivatives& out);

}  // namespace symplectree
