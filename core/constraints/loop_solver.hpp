// Linear systems of a tree with rows that couple its bodies, solved by elimination from the leaves to the root.
//
//   Σ over the tree of S_iᵀ (A_i η_i) − G_lᵀ λ = rhs,   G_r δ + E λ = e,   η_i = X_i η_λ(i) + S'_i δ_i
//
// with motion carried by the poses `right` and force by the poses `left` (those of the step's end and beginning in
// Newton's matrix, the same ones for the mass matrix). A front is a set of subtrees that rows have joined: its unknowns
// are the motions of the bodies at its border (its slots) and the multipliers of its rows. A row is eliminated as soon
// as all bodies that it holds on to are inside and its pivot is sound, so loops that are local cost what they span, and
// time grows with the number of loops. What is dependent is left to the end, where the multiplier is set to zero.
#pragma once

#include <memory>

#include "constraints/loop_system.hpp"

namespace symplectree {

class LoopSolver {
 public:
  // A row whose pivot is below `distinct` of its natural size at the end depends on others.
  LoopSolver(const Model& m, const RowStructure& s, double distinct);
  ~LoopSolver();

  // δ (nv) and λ (rows) of the system.
  void solve(const LoopSystem& system, double* delta, double* lambda);

  // Motion of each body, of the last solution.
  const std::vector<Spatial<double>>& motions() const;

 private:
  class Elimination;
  std::unique_ptr<Elimination> elimination_;
};

}  // namespace symplectree
