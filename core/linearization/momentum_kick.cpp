#include "linearization/momentum_kick.hpp"

#include "dynamics/crba.hpp"
#include "kinematics/poses_twists.hpp"

namespace symplectree {
namespace {

constexpr double kIdle = 1e-12;  // of rows that no motion changes, relative to the largest: rounding

}  // namespace

MomentumKick::MomentumKick(const Model& m, const std::vector<char>& prescribed)
    : m_(m), prescribed_(prescribed), unilateral_(m), equations_(m), constrained_(m), at_(m) {}

void MomentumKick::begin(const std::vector<Unilateral>& parts, const double* q, const double* p, const double* rates) {
  const int nv = m_.nv, rows = m_.rows, n = equations_.count(parts);
  parts_ = &parts;
  q_.assign(q, q + m_.nq);
  p_ = Eigen::Map<const Eigen::VectorXd>(p, nv), rates_ = Eigen::Map<const Eigen::VectorXd>(rates, nv);
  M_.resize(nv, nv), J_.resize(n, nv);
  compute_poses(m_, q, at_);
  int row = 0;
  for (const Unilateral& u : parts) {
    unilateral_.jacobian(u, at_, J_.data() + static_cast<std::size_t>(row) * nv);
    row += unilateral_.rows(u);
  }
  mass_matrix(m_, q, M_.data(), at_);
  RowMatrix K = RowMatrix::Zero(nv + rows, nv + rows), G(rows, nv);
  if (rows > 0) {
    std::vector<double> values(rows);
    constrained_.rows(q, values.data(), G.data());
    const double largest = G.rowwise().norm().maxCoeff();
    for (int k = 0; k < rows; ++k)
      if (G.row(k).norm() < kIdle * largest) G.row(k).setZero();
  }
  K.topLeftCorner(nv, nv) = M_;
  K.topRightCorner(nv, rows) = G.transpose(), K.bottomLeftCorner(rows, nv) = G;
  for (int j = 0; j < nv; ++j)
    if (prescribed_[j]) K.row(j).setZero(), K(j, j) = 1;
  solver_.compute(std::move(K), rows > 0);
  RowMatrix pushes = RowMatrix::Zero(nv + rows, n);
  pushes.topRows(nv) = J_.transpose();
  for (int j = 0; j < nv; ++j)
    if (prescribed_[j]) pushes.row(j).setZero();
  const RowMatrix moved = solver_.solve(pushes).topRows(nv);
  W_ = product(J_, moved), response_ = product(M_, moved);
}

void MomentumKick::move(const std::vector<double>& x) {
  const int nv = m_.nv, rows = m_.rows;
  RowMatrix given = RowMatrix::Zero(nv + rows, 1);
  given.topRows(nv) = p_ + transposed_vector_product(J_, Eigen::Map<const Eigen::VectorXd>(x.data(), x.size()));
  for (int j = 0; j < nv; ++j)
    if (prescribed_[j]) given(j, 0) = rates_[j];
  const RowMatrix found = solver_.solve(given);
  v_ = found.topRows(nv), mu_ = found.bottomRows(rows);
}

std::vector<double> MomentumKick::speeds(const std::vector<double>& x) {
  move(x);
  const Eigen::VectorXd u = J_ * v_;
  return {u.data(), u.data() + u.size()};
}

MomentumKick::Change MomentumKick::change(const std::vector<double>& x, const RowMatrix& dq, const RowMatrix& dp,
                                          const RowMatrix& rates) {
  const int nv = m_.nv, rows = m_.rows;
  move(x);
  const ImpulseSlopes slopes = equations_.at(*parts_, q_.data(), v_.data(), mu_.data(), x);
  RowMatrix given(nv + rows, dq.cols());
  given.topRows(nv) = dp + product(slopes.push - slopes.bound - slopes.momenta, dq);
  if (rows > 0) given.bottomRows(rows) = -product(slopes.rates, dq);
  for (int j = 0; j < nv; ++j)
    if (prescribed_[j]) given.row(j) = rates.row(j);
  const RowMatrix dv = solver_.solve(given).topRows(nv);
  return {product(M_, dv) + product(slopes.momenta, dq), product(J_, dv) + product(slopes.speeds, dq)};
}

}  // namespace symplectree
