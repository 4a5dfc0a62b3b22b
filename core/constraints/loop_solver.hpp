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

#include "constraints/elimination_record.hpp"

namespace symplectree {

class LoopSolver {
 public:
  int redundant = 0;  // rows of the last system that depended on others

  // A row whose pivot is below `distinct` of its natural size at the end depends on others.
  LoopSolver(const Model& m, const RowStructure& s, double distinct);

  // δ (nv) and λ (rows) of the system.
  void solve(const LoopSystem& system, double* delta, double* lambda);

  // Motion of each body, of the last solution.
  const std::vector<Spatial<double>>& motions() const { return eta_; }

 private:
  using Step = EliminationRecord::Step;

  static constexpr double kSound = 1e-3;  // least pivot of a row, relative to its natural size, while more may come

  static double natural_size(const Spatial<double>& a, const Spatial<double>& b) {
    return norm1(a.angular) * norm1(b.angular) + norm1(a.linear) * norm1(b.linear);
  }

  // Do none of the coordinates of body i move?
  bool is_prescribed(const LoopSystem& system, int i) const {
    const char* marks = system.prescribed ? system.prescribed + m_.bodies[i].v : nullptr;
    return marks && std::find(marks, marks + m_.bodies[i].nv, char(0)) == marks + m_.bodies[i].nv;
  }

  // The coordinates of body i, which is a slot of its front; of those that are prescribed rows and columns of D⁻¹ are
  // zero.
  void eliminate_joint(const LoopSystem& system, int i);

  // Eliminate rows of a front that hold on to nothing outside and whose pivots are sound.
  void drop_finished_rows(Front& F, double sound);

  // Does nothing outside the front act on row l any more? That of a loop does not, once the loop is inside.
  bool is_closed(const Front& F, int l) const;

  void eliminate_row(Front& F, int l);

  // Rows that are left when all bodies are gone: the largest pivots first, then those that depend on others.
  void finish(Front& F, double* lambda);

  const Model& m_;
  const RowStructure& s_;
  double distinct_;
  LoopFronts fronts_;
  EliminationRecord record_;
  std::vector<int> dependent_;  // rows found to depend on others before the end
  std::vector<Spatial<double>> eta_, W_;
  std::vector<double> z_, c_, big_;
};

}  // namespace symplectree
