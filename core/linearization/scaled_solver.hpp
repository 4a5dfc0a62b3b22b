// Dense linear equations A x = b: by LU, or, where equations may be redundant, with least norm after scaling.
#pragma once

#include <Eigen/LU>
#include <Eigen/QR>

#include "dense/row_matrix.hpp"

namespace symplectree {

class ScaledSolver {
 public:
  void compute(RowMatrix A, bool redundant);

  RowMatrix solve(const RowMatrix& b) const;

  Eigen::VectorXd solve_transposed(const Eigen::VectorXd& b) const;

 private:
  bool redundant_ = false;
  Eigen::PartialPivLU<RowMatrix> lu_;
  Eigen::CompleteOrthogonalDecomposition<RowMatrix> orthogonal_;
  Eigen::VectorXd left_, right_;
};

}  // namespace symplectree
