// What linearizers of steps have in common.
#pragma once

#include <memory>

#include "dense/row_matrix.hpp"
#include "integrators/method_options.hpp"
#include "linearization/step_layout.hpp"
#include "model/rows/joint_force.hpp"

namespace symplectree {

// Derivatives of steps of one model and method. Inputs in a row: increments of q, p, forces, positions of prescribed
// coordinates at the end, and their rates there.
class LinearizerInterface {
 public:
  virtual ~LinearizerInterface() = default;
  virtual int inputs() const = 0;
  virtual bool projected() const = 0;  // is p' taken along constraints or prescribed coordinates?
  virtual bool has_second() const = 0;
  // p' ← what is along the constraints, with its velocity v and impulses μ; false where this is left to others. If not,
  // then before `first`.
  virtual bool project(StepPoint&, double*) { return false; }
  // out (2 nv × inputs) ← derivatives of (q', p'), multipliers (rows × inputs) ← those of λ.
  virtual void first(const StepPoint& at, double* out, double* multipliers) = 0;
  // out (2 nv × inputs × inputs) ← second derivatives, after `first`: [i, b, c].
  virtual void second(const StepPoint& at, double* out) = 0;
  // out (inputs × inputs) ← Σ weights_i second_i, after `first`; weights (2 nv).
  virtual void contracted(const StepPoint& at, const double* weights, double* out) = 0;
  // What `contracted` needs after `first`, to be put back when other steps have come between; where this can be done.
  virtual bool can_keep() const { return false; }
  virtual void keep(std::vector<double>&) const {}
  virtual void put_back(const std::vector<double>&) {}
  // Where p' is taken along constraints or prescribed coordinates, after `first`: changes dE of the equations and dO of
  // the outputs, a column each; out (2 nv × columns) ← how (q', p') follow, and multipliers how λ does. Returns a
  // column that nothing can follow, because redundant constraints would come apart; −1 when there is none.
  virtual int follow(const RowMatrix&, const RowMatrix&, double*, double*) const { return -1; }
};

// H (inputs × inputs) holds second derivatives in (q, p): those in forces that act on joints, as half a step's impulse
// on p, follow.
template <class Matrix>
void widen(const Model& m, double half, Matrix&& H) {
  const int n = m.nv, own = 2 * n;
  if (m.inputs == 0) {
    H.topRightCorner(own, n) = half * H.block(0, n, own, n);
    H.bottomRows(n) = half * H.middleRows(n, n);
    return;
  }
  H.topRightCorner(own, m.inputs).setZero();
  H.bottomRows(m.inputs).setZero();
  for (const JointForce& f : m.joint_forces)
    if (f.input >= 0) H.col(own + f.input).head(own) += half * f.gain * H.col(n + f.v).head(own);
  for (const JointForce& f : m.joint_forces)
    if (f.input >= 0) H.row(own + f.input) += half * f.gain * H.row(n + f.v);
}

// Of any model; `prescribed` marks velocities whose coordinates are prescribed.
std::unique_ptr<LinearizerInterface> general_linearizer(const Model& m, const StepLayout& layout, Action action,
                                                        double alpha, std::vector<char> prescribed);

// The fast way; null where it does not serve.
std::unique_ptr<LinearizerInterface> tree_linearizer(const Model& m, Action action);
// Likewise, of trees whose constraints are affine in coordinates and independent.
std::unique_ptr<LinearizerInterface> row_linearizer(const Model& m, Action action);

}  // namespace symplectree
