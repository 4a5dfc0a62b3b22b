#include "control/costs.hpp"

namespace symplectree {
namespace {

using ConstVector = Eigen::Map<const Eigen::VectorXd>;
using Vector = Eigen::Map<Eigen::VectorXd>;

double half_square(const RowMatrix& W, const ConstVector& e) { return 0.5 * e.dot(W * e); }

// The rates of a frame's pose, 16 numbers, as Mat3 and Vec3 of Eigen.
Eigen::Vector3d shift(const double* T) { return {T[3], T[7], T[11]}; }
double turned(const RowMatrix& R, const double* T) {
  double sum = 0;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) sum += R(i, j) * T[4 * i + j];
  return sum;
}

}  // namespace

double QuadraticPart::value(const CostPoint& at, CostScratch& s) const {
  const int n = layout->nv;
  increments(*layout, q.row(at.k), at.q, s.e.data());
  double out = half_square(Wq, ConstVector(s.e.data(), n));
  if (second == Second::None) return out;
  const double* target = v.row(at.k);
  for (int j = 0; j < n; ++j) s.e[j] = at.v[j] - target[j];
  return out + half_square(Wv, ConstVector(s.e.data(), n));
}

void QuadraticPart::add_derivatives(const CostPoint& at, double factor, CostScratch& s, CostDerivatives& to) const {
  const int n = layout->nv;
  const double* target = q.row(at.k);
  increments(*layout, target, at.q, s.e.data());
  const Eigen::VectorXd pull = factor * (Wq * ConstVector(s.e.data(), n));
  Vector of_q(to.gradient, n);
  auto own = to.hessian.topLeftCorner(n, n);
  if (layout->quaternions.empty()) {
    of_q += pull, own += factor * Wq;
  } else {
    RowMatrix slope = RowMatrix::Identity(n, n), bend = RowMatrix::Zero(n, n);
    for (const int i : layout->quaternions) {
      const Body& b = layout->bodies[i];
      const int m = b.nv, nq = m + 1;
      const Tape& tape = curved[m == 6];
      std::vector<double> in(2 * nq + m), out(m + 2 * m * m);
      std::copy_n(target + b.q, nq, in.data()), std::copy_n(at.q + b.q, nq, in.data() + nq);
      std::copy_n(pull.data() + b.v, m, in.data() + 2 * nq);
      s.work.resize(std::max<std::size_t>(s.work.size(), tape.work_size));
      tape.run(in.data(), out.data(), s.work.data());
      slope.block(b.v, b.v, m, m) = Eigen::Map<Eigen::MatrixXd>(&out[m], m, m);
      bend.block(b.v, b.v, m, m) = Eigen::Map<Eigen::MatrixXd>(&out[m + m * m], m, m);
    }
    of_q += slope.transpose() * pull;
    own += factor * slope.transpose() * Wq * slope + bend;
  }
  if (second == Second::None) return;
  const double* rate = v.row(at.k);
  for (int j = 0; j < n; ++j) s.e[j] = at.v[j] - rate[j];
  Vector(to.gradient + n, n) += factor * (Wv * ConstVector(s.e.data(), n));
  to.hessian.block(n, n, n, n) += factor * Wv;
}

double EffortPart::value(const CostPoint& at, CostScratch&) const {
  const int m = static_cast<int>(W.rows());
  const double* target = u.row(at.k);
  double sum = 0;
  for (int i = 0; i < m; ++i) {
    double row = 0;
    for (int j = 0; j < m; ++j) row += W(i, j) * (at.u[j] - target[j]);
    sum += row * (at.u[i] - target[i]);
  }
  return 0.5 * sum;
}

void EffortPart::add_derivatives(const CostPoint& at, double factor, CostScratch&, CostDerivatives& to) const {
  const int m = static_cast<int>(W.rows()), n = static_cast<int>(to.hessian.rows()) - m;
  const double* target = u.row(at.k);
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < m; ++j) {
      to.gradient[n + i] += factor * W(i, j) * (at.u[j] - target[j]);
      to.hessian(n + i, n + j) += factor * W(i, j);
    }
}

double PosePart::value(const CostPoint& at, CostScratch& s) const {
  const FramePose<double> T = s.mechanics.pose(at.q, frame);
  const double* x = position.row(at.k);
  const Eigen::Vector3d e(T.x.x - x[0], T.x.y - x[1], T.x.z - x[2]);
  double rows[16];
  write_pose_rate(T.R, T.x, rows);
  return 0.5 * e.dot(W * e) + 0.5 * r * (3 - turned(R, rows));
}

void PosePart::add_derivatives(const CostPoint& at, double factor, CostScratch& s, CostDerivatives& to) const {
  const int n = s.mechanics.layout().nv;
  s.pose_first.assign(16 * n, 0.0), s.pose_second.assign(16 * n * n, 0.0);
  const FramePose<double> T = s.mechanics.pose(at.q, frame);
  s.mechanics.pose_derivatives(at.q, frame, s.pose_first.data(), s.pose_second.data());
  const double* x = position.row(at.k);
  const Eigen::Vector3d pull = W * Eigen::Vector3d(T.x.x - x[0], T.x.y - x[1], T.x.z - x[2]);
  for (int i = 0; i < n; ++i) {
    const double* Di = &s.pose_first[16 * i];
    const Eigen::Vector3d weighed = W * shift(Di);
    to.gradient[i] += factor * (pull.dot(shift(Di)) - 0.5 * r * turned(R, Di));
    for (int j = 0; j < n; ++j) {  // increments of one quaternion do not commute: the mean of both orders
      double bend = 0;
      for (const int at : {n * i + j, n * j + i}) {
        const double* Dij = &s.pose_second[16 * at];
        bend += 0.5 * (pull.dot(shift(Dij)) - 0.5 * r * turned(R, Dij));
      }
      to.hessian(i, j) += factor * (weighed.dot(shift(&s.pose_first[16 * j])) + bend);
    }
  }
}

void FormulaPart::run(const Tape& tape, const CostPoint& at, CostScratch& s) const {
  std::vector<double>& in = s.gradient;
  in.resize(nq + nv + nu);
  std::copy_n(at.q, nq, in.data());
  std::copy_n(second == Second::Momentum ? at.p : at.v, nv, in.data() + nq);
  std::copy_n(at.u, nu, in.data() + nq + nv);
  s.out.resize(tape.outputs), s.work.resize(std::max<std::size_t>(s.work.size(), tape.work_size));
  tape.run(in.data(), s.out.data(), s.work.data());
}

double FormulaPart::value(const CostPoint& at, CostScratch& s) const {
  run(of_value, at, s);
  return s.out[0];
}

void FormulaPart::add_derivatives(const CostPoint& at, double factor, CostScratch& s, CostDerivatives& to) const {
  run(of_derivatives, at, s);
  const int size = 2 * nv + nu;
  for (int i = 0; i < size; ++i) to.gradient[i] += factor * s.out[i];
  to.hessian += factor * Eigen::Map<const RowMatrix>(s.out.data() + size, size, size);
}

bool TotalCost::needs_velocity(int k) const {
  for (const auto& part : parts)
    if (part->second == CostPart::Second::Velocity && factor(*part, k) != 0) return true;
  return false;
}

double TotalCost::value(int k, const double* q, const double* p, const double* u, CostScratch& s, bool per_time) const {
  CostPoint at{k, q, p, nullptr, u};
  if (needs_velocity(k)) s.mechanics.velocity(q, p, s.v.data()), at.v = s.v.data();
  double sum = 0;
  for (const auto& part : parts) {
    const double f = per_time && part->at_end ? 0 : factor(*part, k);
    if (f != 0) sum += (per_time ? part->scale : f) * part->value(at, s);
  }
  return sum;
}

bool TotalCost::derivatives(int k, const double* q, const double* p, const double* u, CostScratch& s, double* gradient,
                            double* hessian) const {
  const int N = size();
  CostPoint at{k, q, p, nullptr, u};
  std::fill(gradient, gradient + N, 0.0), std::fill(hessian, hessian + N * N, 0.0);
  CostDerivatives out(gradient, hessian, N);
  const auto add = [&](bool of_velocity, CostDerivatives& to) {
    for (const auto& part : parts) {
      const double f = factor(*part, k);
      if (f != 0 && (part->second == CostPart::Second::Velocity) == of_velocity) part->add_derivatives(at, f, s, to);
    }
  };
  const auto finite = [](const double* x, int count) {
    double sum = 0;  // of zeros, unless something is not finite
    for (int i = 0; i < count; ++i) sum += 0 * x[i];
    return sum == 0;
  };
  add(false, out);
  if (needs_velocity(k)) {
    s.mechanics.velocity(q, p, s.v.data()), at.v = s.v.data();
    std::vector<double> own(N);
    s.hessian.setZero(N, N);
    CostDerivatives by_velocity(own.data(), s.hessian.data(), N);
    add(true, by_velocity);
    if (!finite(own.data(), N)) return false;  // a formula may have no derivative here
    s.velocities.to_momenta(q, at.v, own.data(), s.hessian);
    for (int i = 0; i < N; ++i) gradient[i] += own[i];
    out.hessian += s.hessian;
  }
  return finite(gradient, N) && finite(hessian, N * N);
}

}  // namespace symplectree
