// Dense linear equations by Eigen.
#include "dense/dense_solvers.hpp"

#include <algorithm>
#include <cmath>

#include "dense/row_matrix.hpp"

namespace symplectree {
namespace {

constexpr double kDependent = 1e-12;  // relative to the largest pivot: of rows that depend on others
constexpr double kSmallRow = 0.1;     // relative to the largest row
constexpr int kSmall = 6;

using SmallColumn = Eigen::Matrix<double, Eigen::Dynamic, 1, 0, kSmall, 1>;
using SmallSquare = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, kSmall, kSmall>;
using ConstVector = Eigen::Map<const Eigen::VectorXd>;
using ConstMatrix = Eigen::Map<const Eigen::MatrixXd>;

}  // namespace

RowMatrix product(const RowBlock& A, const RowBlock& B) { return A * B; }

RowMatrix transposed_product(const RowBlock& A, const RowBlock& B) { return A.transpose() * B; }

Eigen::VectorXd transposed_vector_product(const RowBlock& A, const Eigen::VectorXd& x) { return A.transpose() * x; }

int rank(const RowMatrix& A) { return static_cast<int>(A.fullPivLu().rank()); }

void solve_lu(const double* A, int n, const double* b, double* x) {
  Eigen::Map<Eigen::VectorXd>(x, n) = ConstMatrix(A, n, n).partialPivLu().solve(ConstVector(b, n));
}

void solve_lu_rows(const double* A, int n, const double* b, double* x) {
  Eigen::Map<Eigen::VectorXd>(x, n) = Eigen::Map<const RowMatrix>(A, n, n).partialPivLu().solve(ConstVector(b, n));
}

void solve_in_place(double* A, int n, double* B, int columns) {
  for (int c = 0; c < n; ++c) {
    int pivot = c;
    for (int i = c + 1; i < n; ++i)
      if (std::fabs(A[n * i + c]) > std::fabs(A[n * pivot + c])) pivot = i;
    if (pivot != c) {
      std::swap_ranges(A + n * c, A + n * (c + 1), A + n * pivot);
      std::swap_ranges(B + columns * c, B + columns * (c + 1), B + columns * pivot);
    }
    for (int i = c + 1; i < n; ++i) {
      const double factor = A[n * i + c] / A[n * c + c];
      for (int j = c + 1; j < n; ++j) A[n * i + j] -= factor * A[n * c + j];
      for (int j = 0; j < columns; ++j) B[columns * i + j] -= factor * B[columns * c + j];
    }
  }
  for (int c = n - 1; c >= 0; --c) {
    double* own = B + columns * c;
    for (int j = c + 1; j < n; ++j)
      for (int k = 0; k < columns; ++k) own[k] -= A[n * c + j] * B[columns * j + k];
    const double inverse = 1 / A[n * c + c];
    for (int k = 0; k < columns; ++k) own[k] *= inverse;
  }
}

void solve_symmetric(const double* A, int n, const double* b, double* x) {
  Eigen::Map<Eigen::VectorXd>(x, n) = ConstMatrix(A, n, n).ldlt().solve(ConstVector(b, n));
}

void solve_small(const double* A, int n, double* x) {
  const SmallSquare D = ConstMatrix(A, n, n);
  Eigen::Map<SmallColumn> own(x, n);
  own = SmallColumn(D.partialPivLu().solve(SmallColumn(own)));
}

void solve_small_transposed(const double* A, int n, double* x) {
  const SmallSquare D = ConstMatrix(A, n, n);
  Eigen::Map<SmallColumn> own(x, n);
  own = D.transpose().partialPivLu().solve(SmallColumn(own));
}

void multiply_small(double* M, int rows, const double* A, int n) {
  const SmallSquare D = ConstMatrix(A, n, n);
  Eigen::Map<Eigen::MatrixXd> own(M, rows, n);
  own = (own * D).eval();
}

void solve_least_squares(const double* A, int rows, int columns, double threshold, const double* b, double* x) {
  const Eigen::VectorXd given = ConstVector(b, rows);
  Eigen::ColPivHouseholderQR<Eigen::MatrixXd> qr;
  qr.setThreshold(threshold);
  const Eigen::VectorXd solution = qr.compute(Eigen::MatrixXd(ConstMatrix(A, rows, columns))).solve(given);
  Eigen::Map<Eigen::VectorXd>(x, columns) = solution;
}

void remove_null_part(const double* G, int rows, int columns, double threshold, double* lambda) {
  Eigen::ColPivHouseholderQR<RowMatrix> qr;
  qr.setThreshold(threshold);
  qr.compute(Eigen::Map<const RowMatrix>(G, rows, columns));
  const Eigen::Index rank = qr.rank();
  if (rank == rows) return;
  // Columns of Q beyond the rank span the λ with Gᵀλ = 0.
  Eigen::Map<Eigen::VectorXd> given(lambda, rows);
  Eigen::VectorXd parts = qr.householderQ().transpose() * given;
  parts.tail(rows - rank).setZero();
  given = qr.householderQ() * parts;
}

void solve_bordered(const BorderedSystem& system, double* delta) {
  const int n = system.n, rows = system.rows;
  const ConstMatrix N(system.N, n, n);
  const RowMatrix left = Eigen::Map<const RowMatrix>(system.left, rows, n);
  const RowMatrix right = Eigen::Map<const RowMatrix>(system.right, rows, n);
  Eigen::VectorXd d(n), x(n + rows);
  for (int j = 0; j < n; ++j) d[j] = system.prescribed[j] ? 0.0 : 1 / std::sqrt(std::fabs(N(j, j)) + 1e-300);
  Eigen::MatrixXd full = Eigen::MatrixXd::Zero(n + rows, n + rows);
  full.topLeftCorner(n, n) = d.asDiagonal() * N * d.asDiagonal();
  // Scales of multipliers and rows. Small rows are not made large, and their rounding with them.
  const auto scales = [&d](const Eigen::MatrixXd& G) -> Eigen::VectorXd {
    const Eigen::VectorXd norm = (G * d.asDiagonal()).rowwise().norm();
    const double least = norm.size() > 0 ? kSmallRow * norm.maxCoeff() : 0.0;
    return norm.unaryExpr([least](double x) { return 1 / std::max(x, least + 1e-300); });
  };
  const Eigen::VectorXd a = scales(left), b = scales(right);
  for (int k = 0; k < rows; ++k) {
    full.block(0, n + k, n, 1) = -a[k] * d.cwiseProduct(left.row(k).transpose());
    full.block(n + k, 0, 1, n) = b[k] * right.row(k).cwiseProduct(d.transpose());
    x[n + k] = b[k] * system.r[n + k];
  }
  for (int j = 0; j < n; ++j) {
    if (d[j] == 0) full(j, j) = 1;
    x[j] = d[j] * system.r[j];
  }
  Eigen::CompleteOrthogonalDecomposition<Eigen::MatrixXd> solver;
  solver.setThreshold(kDependent);
  solver.compute(full);
  x = solver.solve(x).eval();
  for (int j = 0; j < n; ++j) delta[j] = d[j] * x[j];
  for (int k = 0; k < rows; ++k) delta[n + k] = a[k] * x[n + k];
}

}  // namespace symplectree
