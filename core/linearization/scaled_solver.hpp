// Dense linear equations A x = b: by LU, or, where equations may be redundant, with least norm after scaling.
#pragma once

#include <Eigen/LU>
#include <Eigen/QR>

#include "linearization/step_layout.hpp"

namespace symplectree {

class ScaledSolver {
 public:
  void compute(RowMatrix A, bool redundant) {
    redundant_ = redundant;
    if (!redundant) {
      lu_.compute(A);
      return;
    }
    const int n = static_cast<int>(A.rows());
    left_ = Eigen::VectorXd::Ones(n), right_ = Eigen::VectorXd::Ones(n);
    for (int pass = 0; pass < 3; ++pass) {  // rows and columns of about unit norm
      for (int e = 0; e < n; ++e) {
        const double norm = A.row(e).norm();
        if (norm > 0) left_[e] /= std::sqrt(norm), A.row(e) /= std::sqrt(norm);
      }
      for (int k = 0; k < n; ++k) {
        const double norm = A.col(k).norm();
        if (norm > 0) right_[k] /= std::sqrt(norm), A.col(k) /= std::sqrt(norm);
      }
    }
    orthogonal_.setThreshold(1e-11);
    orthogonal_.compute(A);
  }

  RowMatrix solve(const RowMatrix& b) const {
    if (!redundant_) return lu_.solve(b);
    return right_.asDiagonal() * RowMatrix(orthogonal_.solve(left_.asDiagonal() * b));
  }

  Eigen::VectorXd solve_transposed(const Eigen::VectorXd& b) const {
    if (!redundant_) return lu_.transpose().solve(b);
    const Eigen::VectorXd scaled = right_.asDiagonal() * b;
    return left_.asDiagonal() * Eigen::VectorXd(orthogonal_.transpose().solve(scaled));
  }

 private:
  bool redundant_ = false;
  Eigen::PartialPivLU<RowMatrix> lu_;
  Eigen::CompleteOrthogonalDecomposition<RowMatrix> orthogonal_;
  Eigen::VectorXd left_, right_;
};

}  // namespace symplectree
