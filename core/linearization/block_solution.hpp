// First derivatives of a step from the blocks of its discrete action (tree_blocks.hpp): N Y = [R 1] for q' in (q, p),
// p' = −Nᵀ + dampers in q and P in q'; and in forces, which act as half a step's impulse on p, and another half on p'.
#pragma once

#include <Eigen/LU>
#include <vector>

#include "dense/row_matrix.hpp"

namespace symplectree {

// A force that is number `input` of a step's inputs behind (q, p), and acts on velocity v with this weight.
struct ForcePlace {
  int v, input;
  double weight;
};

// result (2 n × inputs) ← columns of (q, p), from Y and the blocks (n × n); `damping` (n): what ∂p'/∂q has beside −Nᵀ.
template <class Block, class Solution, class Damping, class Result>
void state_columns(const Block& N, const Block& P, const Solution& Y, Damping&& damping, Result&& result) {
  const int n = static_cast<int>(N.rows());
  result.topLeftCorner(n, 2 * n) = Y;
  result.bottomLeftCorner(n, 2 * n).noalias() = P * Y;
  result.bottomLeftCorner(n, n) -= N.transpose();
  for (int j = 0; j < n; ++j) result(n + j, j) += damping(j);
}

// Its columns of forces, behind those of (q, p), of which there are 2 n rows; `half` a step.
template <class Result>
void force_columns(const std::vector<ForcePlace>& forces, double half, Result&& result) {
  const int n = static_cast<int>(result.rows()) / 2;
  result.rightCols(result.cols() - 2 * n).setZero();
  for (const ForcePlace& f : forces) {
    result.col(2 * n + f.input) += half * f.weight * result.col(n + f.v);
    result(n + f.v, 2 * n + f.input) += half * f.weight;
  }
}

// Y (n × 2 n) ← N⁻¹ [R 1].
template <class Block>
void solve_blocks(const Block& N, const Block& R, Eigen::PartialPivLU<RowMatrix>& lu, RowMatrix& Y) {
  const int n = static_cast<int>(N.rows());
  lu.compute(N);
  Y.resize(n, 2 * n);
  Y.leftCols(n) = R;
  Y.rightCols(n).setIdentity();
  Y = lu.solve(Y).eval();
}

}  // namespace symplectree
