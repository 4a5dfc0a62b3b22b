// Derivatives of the Lagrangian.
#include "dynamics/lagrangian_derivatives.hpp"

#include "dynamics/crba.hpp"
#include "kinematics/poses_twists.hpp"
#include "scalar/dual.hpp"

namespace symplectree {

template <class T>
template <int Order>
void DerivativeWorkspace<T>::place(const T* q) {
  compute_poses<Order>(columns.m, q, base);
  columns.update(base);
}

template void DerivativeWorkspace<double>::place<1>(const double*);
template void DerivativeWorkspace<double>::place<2>(const double*);
template void DerivativeWorkspace<Dual>::place<1>(const Dual*);

FormulaTerms formula_terms(const Body& body, int i, int j, const FormulaCarries& carried, const double* v,
                           const Workspace<double>& w) {
  const auto& [parent, P, Q] = carried;
  const PoseFormula& f = *body.formula;
  const Spatial<double>& E = w.formula.E[f.first + f.n * j + i];
  Spatial<double> twist = bracket(parent, E) - bracket(formula_change(body, j, v, w), w.S[body.v + i]);
  for (int k = 0; k < f.n; ++k) twist += v[body.v + k] * w.formula.F[f.second + (f.n * j + i) * f.n + k];
  return {dot(P, twist) + dot(Q, E), dot(P, E)};
}

void lagrangian_derivatives(DerivativeWorkspace<double>& d, const double* v, const LagrangianDerivatives& out) {
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
