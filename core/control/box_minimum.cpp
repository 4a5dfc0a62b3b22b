#include "control/box_minimum.hpp"

namespace symplectree {
namespace {

constexpr int kIterations = 100, kHalvings = 40;
constexpr double kRounding = 1e-14, kArmijo = 0.1;

}  // namespace

bool Cholesky::compute(const RowMatrix& A) {
  const int n = static_cast<int>(A.rows());
  L_.resize(n, n), inverse_.resize(n);
  for (int j = 0; j < n; ++j)
    for (int i = j; i < n; ++i) {
      double sum = A(i, j);
      for (int k = 0; k < j; ++k) sum -= L_(i, k) * L_(j, k);
      if (i > j) {
        L_(i, j) = sum * inverse_[j];
      } else if (!(sum > 0)) {
        return false;
      } else {
        L_(j, j) = std::sqrt(sum), inverse_[j] = 1 / L_(j, j);
      }
    }
  return true;
}

void Cholesky::solve_in_place(double* X, int columns) const {
  const int n = static_cast<int>(L_.rows());
  const auto subtract = [&](int i, int k, double factor) {
    for (int c = 0; c < columns; ++c) X[i * columns + c] -= factor * X[k * columns + c];
  };
  const auto scale = [&](int i) {
    for (int c = 0; c < columns; ++c) X[i * columns + c] *= inverse_[i];
  };
  for (int i = 0; i < n; ++i) {
    for (int k = 0; k < i; ++k) subtract(i, k, L_(i, k));
    scale(i);
  }
  for (int i = n - 1; i >= 0; --i) {
    for (int k = i + 1; k < n; ++k) subtract(i, k, L_(k, i));
    scale(i);
  }
}

bool BoxMinimum::solve(const RowMatrix& H, const Eigen::VectorXd& g, const double* lower, const double* upper) {
  const int m = static_cast<int>(g.size());
  if (!whole.compute(H)) return false;
  x = -g;
  whole.solve_in_place(x.data(), 1);
  free.assign(m, 1), all_free = true;
  for (int i = 0; i < m; ++i) {
    free[i] = lower[i] < x[i] && x[i] < upper[i];
    all_free &= free[i] != 0;
    x[i] = std::min(std::max(x[i], lower[i]), upper[i]);
  }
  if (all_free) return true;
  const double scale = g.cwiseAbs().maxCoeff() + H.cwiseAbs().maxCoeff() * x.cwiseAbs().maxCoeff();
  Eigen::VectorXd slope, step;
  for (int k = 0; k < kIterations; ++k) {
    slope = H * x + g;
    double largest = 0;
    for (int i = 0; i < m; ++i) {
      free[i] = !((x[i] <= lower[i] && slope[i] > 0) || (x[i] >= upper[i] && slope[i] < 0));
      if (free[i]) largest = std::max(largest, std::fabs(slope[i]));
    }
    if (largest <= kRounding * scale) break;
    RowMatrix moved;
    solve_free(H, -slope, moved);
    step = moved.col(0);
    if (!along(H, g, step, lower, upper)) break;
  }
  return true;
}

void BoxMinimum::solve_free(const RowMatrix& H, const RowMatrix& B, RowMatrix& Y) const {
  const std::vector<int> own = indices();
  Y.setZero(B.rows(), B.cols());
  if (own.empty()) return;
  const RowMatrix part = H(own, own);
  RowMatrix solved = B(own, Eigen::all);
  Cholesky factor;
  factor.compute(part);
  factor.solve_in_place(solved.data(), static_cast<int>(solved.cols()));
  for (std::size_t k = 0; k < own.size(); ++k) Y.row(own[k]) = solved.row(static_cast<int>(k));
}

bool BoxMinimum::along(const RowMatrix& H, const Eigen::VectorXd& g, const Eigen::VectorXd& step, const double* lower,
                       const double* upper) {
  const auto value = [&](const Eigen::VectorXd& y) { return 0.5 * y.dot(H * y) + g.dot(y); };
  const Eigen::VectorXd slope = H * x + g;
  const Eigen::Map<const Eigen::ArrayXd> low(lower, x.size()), high(upper, x.size());
  const double here = value(x);
  double length = 1;
  for (int k = 0; k < kHalvings; ++k, length *= 0.5) {
    const Eigen::VectorXd y = (x + length * step).array().max(low).min(high).matrix();
    if (value(y) > here + kArmijo * slope.dot(y - x)) continue;
    const bool moved = y != x;
    x = y;
    return moved;
  }
  return false;
}

std::vector<int> BoxMinimum::indices() const {
  std::vector<int> out;
  for (std::size_t i = 0; i < free.size(); ++i)
    if (free[i]) out.push_back(static_cast<int>(i));
  return out;
}

}  // namespace symplectree
