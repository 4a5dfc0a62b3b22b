// Newton's equations of a step with rows.
#include "integrators/body_action/step_rows.hpp"

#include <Eigen/QR>

namespace symplectree {
namespace {

constexpr double kDependent = 1e-12;  // relative to the largest pivot: of rows that depend on others
constexpr double kSmallRow = 0.1;     // relative to the largest row

}  // namespace

StepRows::StepRows(const Model& model)
    : m(model), structure(m, true), now(structure), next(structure), loops(m, structure, 1e-13),
      compliance(structure.rows()), e(structure.rows()), solution(structure.rows()), force(m.size()), bound(m.size()) {
  auto next_compliance = compliance.begin() + m.rows;
  for_damped_pairs(m, [&](const auto& row) { *next_compliance++ = 2 / row.damping; });
  std::fill(next_compliance, compliance.end(), 1.0);
}

void StepRows::evaluate_user_forces(const double* q, const double* v) {
  std::size_t row = structure.first_user_force(m);
  for (int i : structure.user_forces) {
    const UserElement& u = m.users[i];
    const int k = u.size();
    user_.evaluate(u, 2, q, v);
    for (int r = 0; r < k; ++r, ++row)
      for (int c = 0; c < k; ++c) {
        const int at = structure.coefficient_start[row] + c;
        now.coefficient[at] = r == c ? 1.0 : 0.0;
        next.coefficient[at] = -0.5 * user_.second[k * r + c];
      }
  }
}

void StepRows::solve(LoopSystem& system, const double* r, const RowValues& right, double* delta) {
  for (int k = 0; k < m.rows; ++k) e[k] = r[m.nv + k];
  system.rhs = r, system.rows_left = &now, system.rows_right = &right;
  system.compliance = compliance.data(), system.e = e.data();
  loops.solve(system, delta, solution.data());
  std::copy(solution.begin(), solution.begin() + m.rows, delta + m.nv);
}

void StepRows::solve_dense(const Eigen::MatrixXd& N, const std::vector<char>& prescribed,
                           const Workspace<double>& start, const Workspace<double>& end, const double* r,
                           double* delta) {
  const int n = m.nv, rows = m.rows;
  using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  RowMatrix left(rows, n), right(rows, n);
  dense_rows(m, structure, now, start, left.data());
  dense_rows(m, structure, next, end, right.data());
  Eigen::VectorXd d(n), x(n + rows);
  for (int j = 0; j < n; ++j) d[j] = prescribed[j] ? 0.0 : 1 / std::sqrt(std::fabs(N(j, j)) + 1e-300);
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
    x[n + k] = b[k] * r[n + k];
  }
  for (int j = 0; j < n; ++j) {
    if (d[j] == 0) full(j, j) = 1;
    x[j] = d[j] * r[j];
  }
  Eigen::CompleteOrthogonalDecomposition<Eigen::MatrixXd> solver;
  solver.setThreshold(kDependent);
  solver.compute(full);
  x = solver.solve(x).eval();
  for (int j = 0; j < n; ++j) delta[j] = d[j] * x[j];
  for (int k = 0; k < rows; ++k) delta[n + k] = a[k] * x[n + k];
}

void StepRows::roll(const UserElement& u, const double* q0, const double* q1) {
  user_.evaluate_step(u, q0, q1);
  const int k = u.size();
  for (int r = 0; r < u.rows; ++r) {
    const int row = u.first_row + r;
    next.value[row] = user_.value[r];
    double size = 1e-3;
    for (int j = 0; j < k; ++j) {
      next.coefficient[structure.coefficient_start[row] + j] = user_.first[k * r + j];
      size += std::fabs(user_.first[k * r + j]) * (1e-3 + std::fabs(user_.q[j]));
    }
    next.size[row] = next.noise[row] = size;
  }
}

}  // namespace symplectree
