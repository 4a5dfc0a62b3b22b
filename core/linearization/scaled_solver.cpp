// Dense equations, some of which may be redundant.
#include "linearization/scaled_solver.hpp"

namespace symplectree {

void ScaledSolver::compute(RowMatrix A, bool redundant) {
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

RowMatrix ScaledSolver::solve(const RowMatrix& b) const {
  if (!redundant_) return lu_.solve(b);
  return right_.asDiagonal() * RowMatrix(orthogonal_.solve(left_.asDiagonal() * b));
}

Eigen::VectorXd ScaledSolver::solve_transposed(const Eigen::VectorXd& b) const {
  if (!redundant_) return lu_.transpose().solve(b);
  const Eigen::VectorXd scaled = right_.asDiagonal() * b;
  return left_.asDiagonal() * Eigen::VectorXd(orthogonal_.transpose().solve(scaled));
}

}  // namespace symplectree
