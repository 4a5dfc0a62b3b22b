// The frozen model as the core uses it: bodies (body.hpp), rows of elements and constraints (rows/), the user's own
// elements.
//
// Masses, lengths and strengths are of type R: plain numbers in `Model`, numbers that carry derivatives where a step is
// differentiated in them (parameter_sensitivity.hpp).
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "model/body.hpp"
#include "model/potential.hpp"
#include "model/rows/kinds.hpp"

namespace symplectree {

// An element of the user's own: functions of Python, or formulas. `evaluate`, or the tape of that order, which has the
// same results in a row, gives value and derivatives up to `order`:
// potential: V, gradient (k), Hessian (k × k); force: f (k), ∂f/∂q and ∂f/∂v (k × k); constraint: h (rows), Dh, and of
// formulas D²h(v, v) (rows). A formula's tapes take (q, v).
// A nonholonomic constraint P(q) v = 0 has h = 0, Dh = P, and d(P)/dt v in place of D²h(v, v). Of a step from q to q'
// it asks that P(q_m) (q' − q) = 0 with q_m half-way; `step` takes (q_m, q' − q) and gives that and its derivative in
// q'.
struct UserElement {
  enum Kind { Potential, Force, Constraint } kind;
  std::vector<int> q, v;  // places of its coordinates
  int first_row, rows, owner;
  std::vector<Tape> tapes;  // of orders 0, 1, 2; none of functions of Python
  Tape step;                // of nonholonomic constraints only
  std::function<void(int order, const double* q, const double* v, double* value, double* first, double* second)>
      evaluate;
  int size() const { return static_cast<int>(v.size()); }
};

// What no mass or length changes.
struct ModelStructure {
  int nq = 0, nv = 0, inputs = 0;
  std::vector<int> body_of;      // body of each velocity
  std::vector<int> quaternions;  // bodies with a Ball or Free joint
  std::vector<int> formula_bodies;
  std::vector<std::shared_ptr<PoseFormula>> formulas;
  double ground_energy = 0;
  std::vector<Potential> potentials;
  std::vector<UserElement> users;
  bool user_forces = false;  // is any of these a force?
  int rows = 0;              // of constraints
};

template <class R>
struct ModelOf : ModelStructure, RowsOf<R> {
  BodiesOf<R> bodies;       // [0] is the world
  std::vector<R> armature;  // of each velocity
  Vec3<R> gravity;

  int size() const { return static_cast<int>(bodies.size()); }
};
using Model = ModelOf<double>;

}  // namespace symplectree
