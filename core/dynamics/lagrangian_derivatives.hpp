// Exact derivatives of poses, velocities, the Lagrangian and the elements in q and v.
//
// Everything is written with twists s_j of the coordinates about one fixed world point O. D_j, the derivative along
// increment j, moves all that lies at or beyond coordinate j as a rigid body with s_j, hence
//   D_j s_i = [s_j, s_i]   when j is at or above i (the same joint included), and 0 when j lies beyond i;
// within a joint that is a formula E_ij is added (see pose_formula.hpp). Second derivatives are D_j(D_i f): symmetric
// except between coordinates of one Ball or Free joint.
#pragma once

#include "dynamics/crba.hpp"

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

// Pose of a frame fixed in body i: axes and origin in the world.
template <class T>
struct FramePose {
  int body;
  Mat3<T> R;
  Vec3<T> x;
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
  void place(const T* q) {
    compute_poses<Order>(columns.m, q, base);
    columns.update(base);
  }
};

// `at` and `axes` are given in the core's axes of the body.
template <class T>
FramePose<T> frame_pose(const Point& p, const Mat3<double>& axes, const Workspace<T>& w) {
  return {p.body, w.pose[p.body].R * cast<T>(axes), position(p, w)};
}

// The body Jacobian's column j for a frame: (angular, linear) in the frame's axes at its origin.
template <class T>
Spatial<T> frame_column(const Columns<T>& c, int j, const FramePose<T>& f) {
  return {transposed_times(f.R, c.s[j].angular), transposed_times(f.R, c.at(j, f.x))};
}

// A 4×4 matrix [Ω, u; 0, 0] written row by row: here Ω R and u.
inline void write_pose_rate(const Mat3<double>& R, const Vec3<double>& u, double* out) {
  const double rows[16] = {R.a.x, R.b.x, R.c.x, u.x, R.a.y, R.b.y, R.c.y, u.y, R.a.z, R.b.z, R.c.z, u.z, 0, 0, 0, 0};
  for (int k = 0; k < 16; ++k) out[k] = rows[k];
}

inline Mat3<double> cross_columns(const Vec3<double>& w, const Mat3<double>& R) {
  return {cross(w, R.a), cross(w, R.b), cross(w, R.c)};
}

// D_i T (nv × 16), JM08 (3): [s_i] T.
inline void pose_first(const Columns<double>& c, const FramePose<double>& f, double* out) {
  c.for_path(f.body, [&](int i) { write_pose_rate(cross_columns(c.s[i].angular, f.R), c.at(i, f.x), out + 16 * i); });
}

// D_j D_i T (nv × nv × 16), JM08 (4): the twist nearer the root acts last, [s_j][s_i] T or [s_i][s_j] T; of coordinates
// of one formula ([s_j][s_i] + [E_ij]) T.
inline void pose_second(const Columns<double>& c, const FramePose<double>& f, double* out) {
  c.for_path(f.body, [&](int i) {
    c.for_path(f.body, [&](int j) {
      const int outer = c.at_or_above(j, i) ? j : i, inner = outer == j ? i : j;
      const Vec3<double>& w = c.s[outer].angular;
      Mat3<double> turned = cross_columns(w, cross_columns(c.s[inner].angular, f.R));
      Vec3<double> moved = cross(w, c.at(inner, f.x));
      if (const PoseFormula* own = c.formula(i, j)) {
        turned = turned + cross_columns(c.varying(*own, i, j).angular, f.R);
        moved += c.varying_at(*own, i, j, f.x);
      }
      write_pose_rate(turned, moved, out + 16 * (c.m.nv * i + j));
    });
  });
}

// The frame's body velocity derivatives, JM08 (7)–(11). With J_i the body Jacobian's columns,
// D_j J_i = [J_i, J_j] when j lies beyond i, E_ij (in the frame) when both belong to one formula, else 0.
//   dq (nv × 6): D_i V;  dqdv (nv × nv × 6): D_i J_j;  dqdq (nv × nv × 6): D_j D_i V.
class VelocityDerivatives {
 public:
  VelocityDerivatives(DerivativeWorkspace<double>& d, const FramePose<double>& f, const double* v)
      : c_(d.columns), f_(f), v_(v), J_(d.J), above_(d.Z), own_(d.G), path_(d.path) {
    path_.clear();
    c_.for_path(f.body, [&](int j) {
      path_.push_back(j);
      J_[j] = frame_column(c_, j, f);
    });
    for (int i : path_) {
      above_[i] = own_[i] = {};
      for (int k : path_) {
        if (beyond(i, k)) above_[i] += v[k] * J_[k];
        if (const PoseFormula* formula = c_.formula(i, k)) own_[i] += v[k] * varying(*formula, k, i);
      }
    }
  }

  // `dv`, the frame's Jacobian by rows, unless it is null.
  void write(double* dq, double* dqdv, double* dqdq, double* dv = nullptr) const {
    const int n = c_.m.nv;
    for (int i : path_) {
      if (dv) write_row(J_[i], dv + 6 * i);
      write_row(bracket(above_[i], J_[i]) + own_[i], dq + 6 * i);
      for (int j : path_) {
        if (beyond(i, j)) write_row(bracket(J_[j], J_[i]), dqdv + 6 * (n * i + j));
        if (const PoseFormula* formula = c_.formula(i, j)) write_row(varying(*formula, j, i), dqdv + 6 * (n * i + j));
        write_row(second(i, j), dqdq + 6 * (n * i + j));
      }
    }
  }

 private:
  bool beyond(int j, int i) const { return c_.m.body_of[j] > c_.m.body_of[i]; }

  // A twist at the centre of a body, in the frame's axes at its origin.
  Spatial<double> in_frame(const Spatial<double>& s, int body) const {
    const Spatial<double> there = shift_motion(s, f_.x - c_.at_q->pose[body].x);
    return {transposed_times(f_.R, there.angular), transposed_times(f_.R, there.linear)};
  }
  Spatial<double> varying(const PoseFormula& formula, int i, int j) const {
    return in_frame(c_.varying(formula, i, j), c_.m.body_of[i]);
  }

  // D_j ([above_i, J_i] + own_i). above_i loses, by j beyond k, [J_k, J_j] v_k, and gains E_kj v_k where j and k belong
  // to one formula; own_i = Σ v_k E_ki.
  Spatial<double> second(int i, int j) const {
    Spatial<double> change, total;
    for (int k : path_) {
      if (beyond(i, k) && beyond(j, k)) change += v_[k] * bracket(J_[k], J_[j]);
      if (!beyond(i, k)) continue;
      if (const PoseFormula* formula = c_.formula(j, k)) change += v_[k] * varying(*formula, k, j);
    }
    total = bracket(change, J_[i]);
    if (beyond(j, i)) total += bracket(above_[i], bracket(J_[i], J_[j])) + bracket(own_[i], J_[j]);
    const PoseFormula* formula = c_.formula(i, j);
    if (!formula) return total;
    total += bracket(above_[i], varying(*formula, i, j));
    const int body = c_.m.body_of[i], start = c_.m.bodies[body].v, n = formula->n;
    for (int k = 0; k < n; ++k) {
      const auto& F = c_.at_q->formula.F[formula->second + (n * (j - start) + i - start) * n + k];
      total += v_[start + k] * in_frame(F, body);
    }
    return total;
  }

  static void write_row(const Spatial<double>& s, double* out) {
    const double rows[6] = {s.angular.x, s.angular.y, s.angular.z, s.linear.x, s.linear.y, s.linear.z};
    for (int k = 0; k < 6; ++k) out[k] = rows[k];
  }

  const Columns<double>& c_;
  const FramePose<double> f_;
  const double* v_;
  std::vector<Spatial<double>>&J_, &above_, &own_;  // own: Σ_k v_k E_ki
  std::vector<int>& path_;
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

inline FormulaTerms formula_terms(const Body& body, int i, int j, const FormulaCarries& carried, const double* v,
                                  const Workspace<double>& w) {
  const auto& [parent, P, Q] = carried;
  const PoseFormula& f = *body.formula;
  const Spatial<double>& E = w.formula.E[f.first + f.n * j + i];
  Spatial<double> twist = bracket(parent, E) - bracket(formula_change(body, j, v, w), w.S[body.v + i]);
  for (int k = 0; k < f.n; ++k) twist += v[body.v + k] * w.formula.F[f.second + (f.n * j + i) * f.n + k];
  return {dot(P, twist) + dot(Q, E), dot(P, E)};
}

// First and second derivatives of L = T − V_gravity (springs are added by element_derivatives), JM08 (16)–(18).
//   dq, dv (nv); dqdq[i, j] = D_j D_i L; dqdv[i, j] = D_i ∂L/∂v_j; dvdv = M.
// With P (momentum) and C (inertia) of all that a body carries, and Z_j of velocity_change: relative to the rigid
// motion by s_j, every velocity at or beyond j changes by Z_j. Twists and wrenches are about the body's own centre; the
// wrenches of coordinate i are carried up its path, where they meet the twists of the coordinates above.
struct LagrangianDerivatives {
  double *dq, *dv, *dqdq, *dqdv, *dvdv;
};

inline void lagrangian_derivatives(DerivativeWorkspace<double>& d, const double* v, const LagrangianDerivatives& out) {
  const Model& m = d.columns.m;
  Workspace<double>& w = d.base;
  auto &S = w.S, &P = d.P, &Z = d.Z, &G = d.G;
  const int n = m.nv;
  composite_inertias(m, w);
  compute_velocities(m, v, w);
  for (int i = 1; i < m.size(); ++i)
    P[i] = {rotated(w.pose[i].R, m.bodies[i].inertia) * w.V[i].angular, m.bodies[i].mass * w.V[i].linear};
  for (int i = m.size() - 1; i > 0; --i) P[m.bodies[i].parent] += shift_force(P[i], w.pose[i].r);
  const Spatial<double> up{{}, -m.gravity};
  for (int i = 0; i < n; ++i) {
    const int body = m.body_of[i];
    const Body& b = m.bodies[body];
    Z[i] = velocity_change(b, i - b.v, shift_motion(w.V[b.parent], w.pose[body].r), v, w);
    G[i] = bracket(up, S[i]);
  }
  for (int i = 0; i < n; ++i) {
    const int body = m.body_of[i];
    Spatial<double> CS = w.composite[body] * S[i];
    Spatial<double> Y = w.composite[body] * Z[i] + bracket_force(S[i], P[body]);
    Spatial<double> YG = w.composite[body] * G[i] + bracket_force(S[i], w.composite[body] * up);
    out.dq[i] = dot(P[body], Z[i]) - dot(CS, up);
    out.dv[i] = dot(S[i], P[body]) + m.armature[i] * v[i];
    for (int above = body; above > 0;) {
      const Body& b = m.bodies[above];
      for (int j = b.v; j < b.v + b.nv; ++j) {  // j at or above i
        out.dvdv[n * i + j] = out.dvdv[n * j + i] = dot(CS, S[j]);
        out.dqdq[n * i + j] = dot(Y, Z[j]) - dot(CS, G[j]);
        out.dqdv[n * j + i] = dot(CS, Z[j]);
        if (above == body) continue;
        out.dqdq[n * j + i] = dot(Y, Z[j]) - dot(S[j], YG);
        out.dqdv[n * i + j] = dot(S[j], Y);
      }
      CS = shift_force(CS, w.pose[above].r), Y = shift_force(Y, w.pose[above].r), YG = shift_force(YG, w.pose[above].r);
      above = b.parent;
    }
    out.dvdv[n * i + i] += m.armature[i];
  }
  for (int body : m.formula_bodies) {
    const Body& b = m.bodies[body];
    const FormulaCarries carried{.parent = shift_motion(w.V[b.parent], w.pose[body].r),
                                 .momentum = P[body],
                                 .wrench = -1.0 * (w.composite[body] * up)};
    for (int i = 0; i < b.nv; ++i)
      for (int j = 0; j < b.nv; ++j) {
        const FormulaTerms t = formula_terms(b, i, j, carried, v, w);
        out.dqdq[n * (b.v + i) + b.v + j] += t.qq;
        out.dqdv[n * (b.v + j) + b.v + i] += t.qv;
      }
  }
}

}  // namespace symplectree
