// Dense equations, some of which may be redundant.
#include "dense/scaled_solver.hpp"

namespace symplectree {

struct ScaledSolver::Factors {
  bool redundant = false;
  Eigen::PartialPivLU<RowMatrix> lu;
  Eigen::CompleteOrthogonalDecomposition<RowMatrix> orthogonal;
  Eigen::VectorXd left, right;
};

ScaledSolver::ScaledSolver() : factors_(std::make_unique<Factors>()) {}

ScaledSolver::~ScaledSolver() = default;

void ScaledSolver::compute(RowMatrix A, bool redundant) {
  auto& [_, lu, orthogonal, left, right] = *factors_;
  factors_->redundant = redundant;
  if (!redundant) {
    lu.compute(A);
    return;
  }
  const int n = static_cast<int>(A.rows());
  left = Eigen::VectorXd::Ones(n), right = Eigen::VectorXd::Ones(n);
  for (int pass = 0; pass < 3; ++pass) {  // rows and columns of about unit norm
    for (int e = 0; e < n; ++e) {
      const double norm = A.row(e).norm();
      if (norm > 0) left[e] /= std::sqrt(norm), A.row(e) /= std::sqrt(norm);
    }
    for (int k = 0; k < n; ++k) {
      const double norm = A.col(k).norm();
      if (norm > 0) right[k] /= std::sqrt(norm), A.col(k) /= std::sqrt(norm);
    }
  }
  orthogonal.setThreshold(1e-11);
  orthogonal.compute(A);
}

RowMatrix ScaledSolver::solve(const RowMatrix& b) const {
  if (!factors_->redundant) return factors_->lu.solve(b);
  return factors_->right.asDiagonal() * RowMatrix(factors_->orthogonal.solve(factors_->left.asDiagonal() * b));
}

Eigen::VectorXd ScaledSolver::solve_transposed(const Eigen::VectorXd& b) const {
  if (!factors_->redundant) return factors_->lu.transpose().solve(b);
  const Eigen::VectorXd scaled = factors_->right.asDiagonal() * b;
  return factors_->left.asDiagonal() * Eigen::VectorXd(factors_->orthogonal.transpose().solve(scaled));
}

}  // namespace symplectree
