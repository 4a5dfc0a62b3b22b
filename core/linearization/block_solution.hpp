// First derivatives of a step from the blocks of its discrete action (tree_blocks.hpp): N Y = [R 1] for q' in (q, p),
// p' = −Nᵀ + dampers in q and P in q'; and in forces, which act as half a step's impulse on p, and another half on p'.
#pragma once

#include <vector>

#include "dense/scaled_solver.hpp"

namespace symplectree {

// A force that is number `input` of a step's inputs behind (q, p), and acts on velocity v with this weight.
struct ForcePlace {
  int v, input;
  double weight;
};

// result (2 n × inputs) ← columns of (q, p), from Y and the blocks (n × n); `damping` (n): what ∂p'/∂q has beside −Nᵀ.
void state_columns(const RowBlock& N, const RowBlock& P, const RowMatrix& Y, const std::vector<double>& damping,
                   Eigen::Ref<RowMatrix> result);

// Its columns of forces, behind those of (q, p), of which there are 2 n rows; `half` a step.
void force_columns(const std::vector<ForcePlace>& forces, double half, Eigen::Ref<RowMatrix> result);

// Y (n × 2 n) ← N⁻¹ [R 1].
void solve_blocks(const RowBlock& N, const RowBlock& R, ScaledSolver& lu, RowMatrix& Y);

}  // namespace symplectree
