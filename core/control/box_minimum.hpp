// A small quadratic programme in a box.
#pragma once

#include <vector>

#include "dense/row_matrix.hpp"

namespace symplectree {

// A = L Lᵀ of a small matrix.
class Cholesky {
 public:
  // False when A is not positive definite.
  bool compute(const RowMatrix& A);
  // X (rows × columns, row by row) ← A⁻¹ X
  void solve_in_place(double* X, int columns) const;

 private:
  RowMatrix L_;
  std::vector<double> inverse_;  // of the diagonal
};

// x that minimises ½ xᵀHx + g·x within lower ≤ x ≤ upper, by projected Newton (Bertsekas 1982).
class BoxMinimum {
 public:
  Eigen::VectorXd x;
  std::vector<char> free;  // which components are not at a limit
  bool all_free = true;    // are these all?
  Cholesky whole;          // the factor of H

  // False when H is not positive definite.
  bool solve(const RowMatrix& H, const Eigen::VectorXd& g, const double* lower, const double* upper);

  // Y ← what solves H Y = B on the free components, zero on others.
  void solve_free(const RowMatrix& H, const RowMatrix& B, RowMatrix& Y) const;

 private:
  // x ← the best of ever shorter steps, projected onto the box (Armijo); false when it stays.
  bool along(const RowMatrix& H, const Eigen::VectorXd& g, const Eigen::VectorXd& step, const double* lower,
             const double* upper);
  std::vector<int> indices() const;
};

}  // namespace symplectree
