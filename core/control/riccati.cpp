#include "control/riccati.hpp"

namespace symplectree {

Sweep::Sweep(int count, int n, int m)
    : steps(static_cast<std::size_t>(count) * m), gains(steps.size() * n), curvature(steps.size() * m),
      free(steps.size()), n_(n), m_(m), S_(n, n), SAB_(n, n + m), Q_(n + m, n + m), M_(m, m), Mx_(m, n), G_(m, n),
      MG_(m, n), s_(n), slope_(m), Md_(m), pulled_(n + m) {}

void Sweep::begin(const double* last) {
  S_ = Eigen::Map<const RowMatrix>(last, n_, n_);
  s_.setZero();
  linear = quadratic = 0;
}

bool Sweep::stage(int k, const Stage& given, double damping) {
  const int n = n_, m = m_, N = n + m;
  const Eigen::Map<const RowMatrix> AB(given.AB, n, N);
  SAB_.noalias() = S_ * AB;
  Q_ = Eigen::Map<const RowMatrix>(given.H, N, N);
  if (given.bending) Q_ += Eigen::Map<const RowMatrix>(given.bending, N, N);
  Q_.noalias() += AB.transpose() * SAB_;
  const auto own = Q_.bottomRightCorner(m, m);
  M_ = 0.5 * (own + own.transpose());
  M_.diagonal().array() += damping;
  Mx_ = Q_.bottomLeftCorner(m, n);
  pulled_.noalias() = AB.transpose() * s_;
  slope_ = Eigen::Map<const Eigen::VectorXd>(given.slope, m) + pulled_.tail(m);
  if (!box_.solve(M_, slope_, given.lower, given.upper)) return false;
  if (box_.all_free) {
    G_ = -Mx_;
    box_.whole.solveInPlace(G_);
  } else {
    box_.solve_free(M_, -Mx_, G_);
  }
  const Eigen::VectorXd& d = box_.x;
  Md_.noalias() = M_ * d;
  linear += slope_.dot(d);
  quadratic += 0.5 * d.dot(Md_);
  Md_ += slope_;
  s_ = pulled_.head(n);
  s_.noalias() += G_.transpose() * Md_;
  s_.noalias() += Mx_.transpose() * d;
  // H_xx + AᵀSA + GᵀMG + GᵀM_x + M_xᵀG
  MG_.noalias() = M_ * G_;
  MG_ += Mx_;
  S_ = Q_.topLeftCorner(n, n);
  S_.noalias() += G_.transpose() * MG_;
  S_.noalias() += Mx_.transpose() * G_;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < i; ++j) S_(i, j) = S_(j, i) = 0.5 * (S_(i, j) + S_(j, i));
  const std::size_t row = static_cast<std::size_t>(k) * m;
  std::copy_n(d.data(), m, &steps[row]);
  std::copy_n(G_.data(), m * n, &gains[row * n]);
  std::copy_n(M_.data(), m * m, &curvature[row * m]);
  std::copy_n(box_.free.data(), m, &free[row]);
  return true;
}

bool Sweep::is_finite() const {
  double sum = 0 * S_.sum();  // zero, unless something is not finite
  for (const double g : gains) sum += 0 * g;
  return sum == 0;
}

}  // namespace symplectree
