#include "linearization/block_solution.hpp"

namespace symplectree {

void state_columns(const RowBlock& N, const RowBlock& P, const RowMatrix& Y, const std::vector<double>& damping,
                   Eigen::Ref<RowMatrix> result) {
  const int n = static_cast<int>(N.rows());
  result.topLeftCorner(n, 2 * n) = Y;
  result.bottomLeftCorner(n, 2 * n) = product(P, Y);
  result.bottomLeftCorner(n, n) -= N.transpose();
  for (int j = 0; j < n; ++j) result(n + j, j) += damping[j];
}

void force_columns(const std::vector<ForcePlace>& forces, double half, Eigen::Ref<RowMatrix> result) {
  const int n = static_cast<int>(result.rows()) / 2;
  result.rightCols(result.cols() - 2 * n).setZero();
  for (const ForcePlace& f : forces) {
    result.col(2 * n + f.input) += half * f.weight * result.col(n + f.v);
    result(n + f.v, 2 * n + f.input) += half * f.weight;
  }
}

void solve_blocks(const RowBlock& N, const RowBlock& R, ScaledSolver& lu, RowMatrix& Y) {
  const int n = static_cast<int>(N.rows());
  lu.compute(N, false);
  Y.resize(n, 2 * n);
  Y.leftCols(n) = R;
  Y.rightCols(n).setIdentity();
  Y = lu.solve(Y);
}

}  // namespace symplectree
