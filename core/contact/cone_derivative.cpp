#include "contact/cone_derivative.hpp"

#include <algorithm>
#include <cmath>

#include "dense/scaled_solver.hpp"

namespace symplectree {
namespace {

constexpr double kWeak = 1e-9;  // of impulses, relative to the largest: rounding, as solved

using Kind = ConeProblem::Kind;

}  // namespace

// The step ρ of a projection, as in cone_problem.cpp.
double ConeDerivative::step(int row, int count) const {
  double largest = std::fabs(S_(row, row));
  if (count == 2) largest = std::max(largest, std::fabs(S_(row + 1, row + 1)));
  return 1 / std::max(largest, 1e-300);
}

void ConeDerivative::begin(const std::vector<ConeProblem::Part>& parts, const RowMatrix& S,
                           const std::vector<double>& x, const std::vector<double>& y) {
  S_ = S, x_ = x, y_ = y;
  rows_.clear(), slides_.clear(), bounded_.clear(), weak.clear();
  scale_ = 0;
  for (const double impulse : x) scale_ = std::max(scale_, std::fabs(impulse));
  int row = 0;
  for (int k = 0; k < static_cast<int>(parts.size()); ++k) {
    const ConeProblem::Part& p = parts[k];
    if (p.kind == Kind::Disc) {
      if (p.bound > 0) add_tangents(k, row, p.bound, 0);
      row += 2;
      continue;
    }
    const double rho = step(row, 1), z = x[row] - rho * y[row],
                 small = kWeak * scale_ + rho * ConeDerivative::kRounding;
    if (p.kind == Kind::Friction) {
      if (std::fabs(std::fabs(z) - p.bound) <= small && p.bound > 0) weak.push_back(k);
      if (std::fabs(z) <= p.bound + small && p.bound > 0) {
        rows_.push_back(row);
      } else {
        bounded_.push_back({k, row, std::copysign(1.0, z)});
      }
      ++row;
      continue;
    }
    if (std::fabs(z) <= small) weak.push_back(k);
    if (z > small) {
      rows_.push_back(row);
      if (p.kind == Kind::Contact && p.bound > 0) add_tangents(k, row + 1, p.bound * x[row], p.bound);
    }
    row += p.kind == Kind::Contact ? 3 : 1;
  }
}

void ConeDerivative::add_tangents(int part, int row, double radius, double mu) {
  const double rho = step(row, 2), z1 = x_[row] - rho * y_[row], z2 = x_[row + 1] - rho * y_[row + 1];
  const double length = std::hypot(z1, z2), speed = std::hypot(y_[row], y_[row + 1]);
  const double small = kWeak * scale_ + rho * ConeDerivative::kRounding;
  if (std::fabs(length - radius) <= small) weak.push_back(part);
  if (length > radius + small)
    slides_.push_back(
        {part, static_cast<int>(rows_.size()), mu, radius, speed, {y_[row] / speed, y_[row + 1] / speed}});
  rows_.push_back(row), rows_.push_back(row + 1);
}

RowMatrix ConeDerivative::solve(const RowMatrix& dy, const RowMatrix& bounds) const {
  RowMatrix dx = RowMatrix::Zero(dy.rows(), dy.cols());
  for (const Bounded& b : bounded_) dx.row(b.row) = b.sign * bounds.row(b.part);
  const int n = static_cast<int>(rows_.size());
  if (n == 0) return dx;
  const RowMatrix moved = dy + product(S_, dx);  // of y, by what is given
  RowMatrix A(n, n), b(n, dy.cols());
  for (int a = 0; a < n; ++a) {
    b.row(a) = -moved.row(rows_[a]);
    for (int c = 0; c < n; ++c) A(a, c) = S_(rows_[a], rows_[c]);
  }
  // x_t + r d = 0 with r = µ xₙ or the bound: dx_t + d dr + (r/|y_t|)(1 − d dᵀ) dy_t = 0
  for (const Slide& s : slides_) {
    const RowMatrix held = A.middleRows(s.row, 2), given = b.middleRows(s.row, 2);
    Eigen::Matrix2d P;
    P << 1 - s.d[0] * s.d[0], -s.d[0] * s.d[1], -s.d[0] * s.d[1], 1 - s.d[1] * s.d[1];
    P *= s.radius / s.length;
    A.middleRows(s.row, 2) = P * held, b.middleRows(s.row, 2) = P * given;
    for (int k = 0; k < 2; ++k) {
      A(s.row + k, s.row + k) += 1;
      if (s.mu > 0) {
        A(s.row + k, s.row - 1) += s.mu * s.d[k];
      } else {
        b.row(s.row + k) -= s.d[k] * bounds.row(s.part);
      }
    }
  }
  ScaledSolver solver;
  solver.compute(std::move(A), true);
  const RowMatrix found = solver.solve(b);
  for (int a = 0; a < n; ++a) dx.row(rows_[a]) = found.row(a);
  return dx;
}

}  // namespace symplectree
