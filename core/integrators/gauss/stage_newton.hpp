// Damping in the stages of a collocation step: a simplified Newton iteration, for which a fixed-point iteration would
// need steps shorter than the decay (Hairer and Wanner II, IV.8), and more weight of joint dampers at the highest mode.
//
// With C = −∂f/∂v of all elements and M at the step's beginning, and g what is left of πᵢ = π₀ + h Σ aᵢⱼ π̇ⱼ, stages
// change by y:  yᵢ + h Σⱼ (aᵢⱼ C + wᵢ wⱼ bⱼ L) M⁻¹ yⱼ = gᵢ. The full matrix is used, O((s n)³).
#pragma once

#include "dense/row_matrix.hpp"
#include "dynamics/aba.hpp"
#include "dynamics/element_derivatives.hpp"
#include "integrators/gauss/gauss_nodes.hpp"
#include "integrators/run_memory.hpp"

namespace symplectree {

// Legendre's polynomial of degree s − 1 at the nodes, normalised: wᵀ diag(b) w = 1.
inline std::array<double, kMostStages> highest_mode(const Tableau& t) {
  std::array<double, kMostStages> out{};
  const int degree = t.stages - 1;
  for (int i = 0; i < t.stages; ++i) out[i] = std::sqrt(2.0 * degree + 1) * legendre(degree, 2 * t.c[i] - 1)[degree];
  return out;
}

// L: for a damper c the stages have A + δ w wᵀ diag(b) in place of A, δ = z/(1 + z)/(4s − 2) with z = |h| c/m.
// With δ = 1/(4s − 2) the multiplier of a damped momentum is that of Radau's methods, zero for z → ∞ (Hairer and
// Wanner II, IV.5); δ = O(h) keeps the order 2s. m is the inertia that the damper works against where all coordinates
// are zero.
class DamperLift {
 public:
  DamperLift(const Model& m, const Tableau& t) : damping_(m.nv), rate_(m.nv), share_(1.0 / (4 * t.stages - 2)) {
    if (m.joint_dampers.empty()) return;
    Workspace<double> w(m);
    std::vector<double> q(m.nq);
    for (int i : m.quaternions) q[m.bodies[i].q + m.bodies[i].nq() - 4] = 1;
    factorize_mass(m, q.data(), w);
    const std::vector<double> damping = joint_damping(m);
    for (int j = 0; j < m.nv; ++j) {
      if (!m.bodies[m.body_of[j]].flat() || damping[j] == 0) continue;
      const double rate = std::fabs(damping[j]) * w.pivot_inverse[j];
      if (std::isfinite(rate) && rate > 0) damping_[j] = damping[j], rate_[j] = rate, velocities.push_back(j);
    }
  }

  std::vector<int> velocities;  // that have one

  double damping(int j) const { return damping_[j]; }
  double share() const { return share_; }

  double operator()(int j, double h) const {
    const double z = std::fabs(h) * rate_[j];
    return damping_[j] * share_ * z / (1 + z);
  }

 private:
  std::vector<double> damping_, rate_;
  double share_;
};

class StageNewton {
 public:
  StageNewton(const Model& m, const Tableau& t)
      : m_(m), t_(t), mode_(highest_mode(t)), e_(m), w_(m), C_(m.nv, m.nv), inverse_(m.nv, m.nv) {}

  // C and M⁻¹ at (q, v), in the axes of the charts' momenta.
  void measure(const double* q, const double* v, const double* inputs) {
    const int n = m_.nv;
    element_derivatives(m_, -1, q, v, inputs, e_);
    C_ = -Eigen::Map<const RowMatrix>(e_.out.force_dv.data(), n, n);
    factorize_mass(m_, q, w_);
    Eigen::VectorXd unit = Eigen::VectorXd::Zero(n);
    for (int j = 0; j < n; ++j) {
      unit[j] = 1;
      solve_mass(m_, unit.data(), inverse_.col(j).data(), w_);
      unit[j] = 0;
    }
    for (int i : m_.quaternions) {
      const Body& b = m_.bodies[i];
      if (b.kind != Kind::Free) continue;
      const double* y = q + b.q + 3;
      const Mat3<double> R = quaternion_matrix(y[0], y[1], y[2], y[3]);
      Eigen::Matrix3d turn;
      turn << R.a.x, R.b.x, R.c.x, R.a.y, R.b.y, R.c.y, R.a.z, R.b.z, R.c.z;
      for (Eigen::MatrixXd* M : {&C_, &inverse_}) {
        M->middleRows(b.v + 3, 3) = (turn * M->middleRows(b.v + 3, 3)).eval();
        M->middleCols(b.v + 3, 3) = (M->middleCols(b.v + 3, 3) * turn.transpose()).eval();
      }
    }
    decay_ = C_ * inverse_;
  }

  // A bound of the rates at which velocities decay [1/s].
  double fastest() const { return decay_.cwiseAbs().rowwise().sum().maxCoeff(); }

  // Σ |C| of each velocity.
  std::vector<double> drag() const {
    std::vector<double> out(m_.nv);
    for (int j = 0; j < m_.nv; ++j) out[j] = C_.row(j).cwiseAbs().sum();
    return out;
  }

  // What was measured.
  void carry(RunMemory& memory) {
    for (Eigen::MatrixXd* M : {&C_, &inverse_, &decay_}) {
      std::vector<double> numbers(M->data(), M->data() + M->size());
      memory(numbers);
      *M = Eigen::Map<const Eigen::MatrixXd>(numbers.data(), numbers.empty() ? 0 : m_.nv, numbers.empty() ? 0 : m_.nv);
    }
  }

  void factorize(double h, const DamperLift& lift) {
    const int n = m_.nv, s = t_.stages;
    Eigen::MatrixXd all = Eigen::MatrixXd::Identity(s * n, s * n);
    lift_others(h, lift);
    const Eigen::MatrixXd lifted = L_ * inverse_;
    for (int i = 0; i < s; ++i)
      for (int j = 0; j < s; ++j)
        all.block(i * n, j * n, n, n) += h * (t_.a[i][j] * decay_ + (mode_[i] * mode_[j] * t_.b[j]) * lifted);
    lu_.compute(all);
  }

  // rate ← rates of (c, π, G) of the stages after Newton's step, from those at z, the stages (c, π) of a step from
  // `start`.
  template <int W>
  void correct(double h, const std::vector<double>& start, const std::vector<Pack<W>>& z, std::vector<Pack<W>>& rate) {
    const int n = m_.nv, s = t_.stages;
    Eigen::VectorXd g(s * n);
    for (int i = 0; i < s; ++i)
      for (int k = 0; k < n; ++k) {
        double sum = 0;
        for (int j = 0; j < s; ++j) sum += t_.a[i][j] * rate[n + k][j];
        g[i * n + k] = start[n + k] + h * sum - z[n + k][i];
      }
    const Eigen::VectorXd lifted = lifted_momentum(h, rate);
    for (int i = 0; i < s; ++i) g.segment(i * n, n) -= mode_[i] * lifted;
    const Eigen::VectorXd y = lu_.solve(g);
    for (int i = 0; i < s; ++i) {
      const Eigen::VectorXd v = inverse_ * y.segment(i * n, n), f = -C_ * v;
      for (int k = 0; k < n; ++k) add(rate[k], i, v[k]), add(rate[n + k], i, f[k]);
      for (std::size_t r = 0; r < m_.quaternions.size(); ++r)
        for (int k = 0; k < 3; ++k) add(rate[2 * n + 3 * r + k], i, f[m_.bodies[m_.quaternions[r]].v + k]);
    }
    for (Pack<W>& r : rate)
      for (int i = s; i < W; ++i) r.set(i, r[s - 1]);
  }

  // h L times the highest mode of the velocities: what dampers have more weight by at each stage, over the mode there.
  template <int W>
  Eigen::VectorXd lifted_momentum(double h, const std::vector<Pack<W>>& rate) const {
    Eigen::VectorXd mean(m_.nv);
    for (int k = 0; k < m_.nv; ++k) mean[k] = highest(rate[k]);
    return h * (L_ * mean);
  }

  // The highest mode of a rate over the step.
  template <int W>
  double highest(const Pack<W>& rate) const {
    double sum = 0;
    for (int j = 0; j < t_.stages; ++j) sum += mode_[j] * t_.b[j] * rate[j];
    return sum;
  }

 private:
  // L_ ← L of joint dampers, and of all else that damps, C', the same with z = h C' M⁻¹ in place of numbers.
  void lift_others(double h, const DamperLift& lift) {
    const int n = m_.nv;
    L_ = Eigen::MatrixXd::Zero(n, n);
    Eigen::MatrixXd others = C_;
    for (int j : lift.velocities) others(j, j) -= lift.damping(j);
    if (others.cwiseAbs().maxCoeff() > 1e-12 * C_.cwiseAbs().maxCoeff() && others.trace() > 0) {
      const Eigen::MatrixXd z = std::fabs(h) * others * inverse_;
      const Eigen::MatrixXd L = lift.share() * (Eigen::MatrixXd::Identity(n, n) + z).partialPivLu().solve(z * others);
      if (L.allFinite()) L_ = L;
    }
    for (int j : lift.velocities) L_(j, j) += lift(j, h);
  }

  using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

  template <int W>
  static void add(Pack<W>& x, int lane, double d) {
    x.set(lane, x[lane] + d);
  }

  const Model& m_;
  const Tableau& t_;
  std::array<double, kMostStages> mode_;
  ElementWorkspace<double> e_;
  Workspace<double> w_;
  Eigen::MatrixXd C_, inverse_, decay_, L_;
  Eigen::PartialPivLU<Eigen::MatrixXd> lu_;
};

}  // namespace symplectree
