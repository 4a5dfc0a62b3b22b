// Generalized forces of the elements with their exact derivatives, O(n²) each at most.
//
// Potential parts: energy V, gradient D_i V, Hessian D_j D_i V. The rest: force f_i, D_j f_i, ∂f_i/∂v_j.
// Templated on the scalar: with dual numbers the same code gives the second derivatives of f.
#pragma once

#include <algorithm>

#include "dynamics/lagrangian_derivatives.hpp"
#include "elements/element_terms.hpp"
#include "scalar/dual.hpp"

namespace symplectree {

// Velocity columns of a point on a path, and how they change.
template <class T>
struct PointColumns {
  const Columns<T>* c = nullptr;
  std::vector<char> moves;  // does coordinate j move the point?
  std::vector<Vec3<T>> column;
  Vec3<T> x;  // the point

  explicit PointColumns(int n) : moves(n), column(n) {}

  void update(const Columns<T>& columns, int body, const Vec3<T>& point) {
    c = &columns, x = point;
    std::fill(moves.begin(), moves.end(), 0);
    std::fill(column.begin(), column.end(), Vec3<T>{});
    c->for_path(body, [&](int j) {
      moves[j] = 1;
      column[j] = c->at(j, x);
    });
  }

  // D_j of column i: the coordinate nearer the root turns the other's column; a formula's own also vary.
  Vec3<T> change(int i, int j) const {
    if (!moves[i] || !moves[j]) return {};
    const Vec3<T> turned = c->at_or_above(j, i) ? cross(c->s[j].angular, column[i]) : cross(c->s[i].angular, column[j]);
    const PoseFormula* formula = c->formula(i, j);
    return formula ? turned + c->varying_at(*formula, i, j, x) : turned;
  }
};

// Scratch memory and result.
template <class T>
struct ElementWorkspace {
  DerivativeWorkspace<T> kinematics;
  PointColumns<T> a, b;
  std::vector<T> g, rate_dq, curving, q, v;
  std::vector<double> direction, rate;
  std::vector<int> own;                // velocities that change a pair's gauge
  std::vector<Vec3<T>> moved, turned;  // of each velocity: its twist's linear part, or all of it, × (a, b)
  ElementTerms<T> out;

  explicit ElementWorkspace(const Model& m)
      : kinematics(m), a(m.nv), b(m.nv), g(m.nv), rate_dq(m.nv), curving(m.nv * m.nv), q(m.nq), v(m.nv),
        direction(m.nv), rate(m.nq), moved(m.nv), turned(m.nv), out(m.nv) {}
};

// e.out ← the terms of all elements, or of the one with index `owner` when that is not negative, at (q, v).
template <class T>
void element_derivatives(const Model& m, int owner, const T* q, const T* v, const double* inputs,
                         ElementWorkspace<T>& e);

// Dual copies of (q, v), moving along increment k of q (or of v, with `of_velocity`). A quaternion's first change along
// a rotation vector d is ½ q ⊗ (0, d).
void seed(const Model& m, const double* q, const double* v, int k, bool of_velocity, ElementWorkspace<Dual>& e);

}  // namespace symplectree
