// Dense linear equations A x = b: by LU, or, where equations may be redundant, with least norm after scaling.
#pragma once

#include <memory>

#include "dense/row_matrix.hpp"

namespace symplectree {

class ScaledSolver {
 public:
  ScaledSolver();
  ~ScaledSolver();

  void compute(RowMatrix A, bool redundant);

  RowMatrix solve(const RowMatrix& b) const;

  Eigen::VectorXd solve_transposed(const Eigen::VectorXd& b) const;

 private:
  struct Factors;
  std::unique_ptr<Factors> factors_;
};

}  // namespace symplectree
