#include "control/riccati.hpp"

namespace symplectree {

Sweep::Sweep(int count, int n, int m)
    : steps(static_cast<std::size_t>(count) * m), gains(steps.size() * n), curvature(steps.size() * m),
      free(steps.size()), n_(n), m_(m), S_(n, n), SAB_(n, n + m), Q_(n + m, n + m), M_(m, m), Mx_(m, n), G_(m, n),
      s_(n), slope_(m), pulled_(n + m) {}

void Sweep::begin(const double* last) {
  S_ = Eigen::Map<const RowMatrix>(last, n_, n_);
  s_.setZero();
  linear = quadratic = 0;
}

// Q ← H + [A B]ᵀ S [A B]: of its columns of x the upper triangle, and the rows of u. Loops, because matrices are small.
void Sweep::curve(const Stage& given) {
  const int n = n_, m = m_, N = n + m;
  double *SAB = SAB_.data(), *Q = Q_.data();
  const double *S = S_.data(), *AB = given.AB;
  std::fill(SAB, SAB + n * N, 0.0);
  for (int i = 0; i < n; ++i)
    for (int k = 0; k < n; ++k) {
      const double factor = S[i * n + k];
      for (int j = 0; j < N; ++j) SAB[i * N + j] += factor * AB[k * N + j];
    }
  std::copy(given.H, given.H + N * N, Q);
  for (int i = 0; given.bending && i < N * N; ++i) Q[i] += given.bending[i];
  for (int k = 0; k < n; ++k)
    for (int i = 0; i < N; ++i) {
      const double factor = AB[k * N + i];
      const int end = i < n ? n : N;
      for (int j = i < n ? i : 0; j < end; ++j) Q[i * N + j] += factor * SAB[k * N + j];
    }
}

bool Sweep::stage(int k, const Stage& given, double damping) {
  const int n = n_, m = m_, N = n + m;
  const Eigen::Map<const RowMatrix> AB(given.AB, n, N);
  curve(given);
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < m; ++j) M_(i, j) = 0.5 * (Q_(n + i, n + j) + Q_(n + j, n + i));
    M_(i, i) += damping;
    std::copy_n(&Q_(n + i, 0), n, &Mx_(i, 0));
  }
  pulled_.setZero();
  for (int i = 0; i < n; ++i) pulled_ += s_[i] * AB.row(i).transpose();
  slope_ = Eigen::Map<const Eigen::VectorXd>(given.slope, m) + pulled_.tail(m);
  if (!box_.solve(M_, slope_, given.lower, given.upper)) return false;
  G_ = -Mx_;
  if (box_.all_free) {
    box_.whole.solve_in_place(G_.data(), n);
  } else {
    box_.solve_free(M_, -Mx_, G_);
  }
  const Eigen::VectorXd& d = box_.x;
  s_ = pulled_.head(n);
  for (int i = 0; i < m; ++i) {
    const double Md = M_.row(i).dot(d);
    linear += slope_[i] * d[i], quadratic += 0.5 * d[i] * Md;
    for (int j = 0; j < n; ++j) s_[j] += G_(i, j) * (Md + slope_[i]) + Mx_(i, j) * d[i];
  }
  // H_xx + AᵀSA + GᵀMG + GᵀM_x + M_xᵀG, of which the third and fourth cancel
  for (int i = 0; i < n; ++i) std::copy(&Q_(i, i), &Q_(i, 0) + n, &S_(i, i));
  for (int a = 0; a < m; ++a)
    for (int i = 0; i < n; ++i) {
      const double left = 0.5 * Mx_(a, i), right = 0.5 * G_(a, i);
      for (int j = i; j < n; ++j) S_(i, j) += left * G_(a, j) + right * Mx_(a, j);
    }
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < i; ++j) S_(i, j) = S_(j, i);
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
