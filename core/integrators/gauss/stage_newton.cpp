// Newton's iteration on damped stages, with dense matrices.
#include "integrators/gauss/stage_newton.hpp"

#include "dense/row_matrix.hpp"
#include "dynamics/aba.hpp"
#include "dynamics/element_derivatives.hpp"
#include "elements/joint_damper.hpp"
#include "integrators/run_memory.hpp"

namespace symplectree {

using ConstVector = Eigen::Map<const Eigen::VectorXd>;

std::array<double, kMostStages> highest_mode(const Tableau& t) {
  std::array<double, kMostStages> out{};
  const int degree = t.stages - 1;
  for (int i = 0; i < t.stages; ++i) out[i] = std::sqrt(2.0 * degree + 1) * legendre(degree, 2 * t.c[i] - 1)[degree];
  return out;
}

DamperLift::DamperLift(const Model& m, const Tableau& t)
    : damping_(m.nv), rate_(m.nv), share_(1.0 / (4 * t.stages - 2)) {
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

struct StageNewton::Matrices {
  Eigen::MatrixXd C, inverse, decay, L;  // −∂f/∂v, M⁻¹, C M⁻¹
  Eigen::PartialPivLU<Eigen::MatrixXd> lu;
  ElementWorkspace<double> elements;
  Workspace<double> mass;

  explicit Matrices(const Model& m) : C(m.nv, m.nv), inverse(m.nv, m.nv), elements(m), mass(m) {}

  // L ← L of joint dampers, and of all else that damps, C', the same with z = h C' M⁻¹ in place of numbers.
  void lift_others(double h, const DamperLift& lift) {
    const Eigen::Index n = C.rows();
    L = Eigen::MatrixXd::Zero(n, n);
    Eigen::MatrixXd others = C;
    for (int j : lift.velocities) others(j, j) -= lift.damping(j);
    if (others.cwiseAbs().maxCoeff() > 1e-12 * C.cwiseAbs().maxCoeff() && others.trace() > 0) {
      const Eigen::MatrixXd z = std::fabs(h) * others * inverse;
      const Eigen::MatrixXd lifted =
          lift.share() * (Eigen::MatrixXd::Identity(n, n) + z).partialPivLu().solve(z * others);
      if (lifted.allFinite()) L = lifted;
    }
    for (int j : lift.velocities) L(j, j) += lift(j, h);
  }
};

StageNewton::StageNewton(const Model& m, const Tableau& t)
    : m_(m), t_(t), mode_(highest_mode(t)), matrices_(std::make_unique<Matrices>(m)), left_(t.stages * m.nv),
      velocity_(left_), force_(left_), mean_(m.nv), lifted_(m.nv) {}

StageNewton::~StageNewton() = default;

// Momenta of Free joints are in the axes of the world.
template <class A>
void StageNewton::turn_axes(const double* q, A& M) const {
  for (int i : m_.quaternions) {
    const Body& b = m_.bodies[i];
    if (b.kind != Kind::Free) continue;
    const double* y = q + b.q + 3;
    const Mat3<double> R = quaternion_matrix(y[0], y[1], y[2], y[3]);
    Eigen::Matrix3d turn;
    turn << R.a.x, R.b.x, R.c.x, R.a.y, R.b.y, R.c.y, R.a.z, R.b.z, R.c.z;
    M.middleRows(b.v + 3, 3) = (turn * M.middleRows(b.v + 3, 3)).eval();
    M.middleCols(b.v + 3, 3) = (M.middleCols(b.v + 3, 3) * turn.transpose()).eval();
  }
}

template <class A>
void StageNewton::damping(const double* q, const double* v, const double* inputs, A& C) {
  ElementWorkspace<double>& elements = matrices_->elements;
  element_derivatives(m_, -1, q, v, inputs, elements);
  C = -Eigen::Map<const RowMatrix>(elements.out.force_dv.data(), m_.nv, m_.nv);
  turn_axes(q, C);
}

void StageNewton::measure(const double* q, const double* v, const double* inputs) {
  const int n = m_.nv;
  auto& [C, inverse, decay, L, lu, elements, mass] = *matrices_;
  damping(q, v, inputs, C);
  factorize_mass(m_, q, mass);
  Eigen::VectorXd unit = Eigen::VectorXd::Zero(n);
  for (int j = 0; j < n; ++j) {
    unit[j] = 1;
    solve_mass(m_, unit.data(), inverse.col(j).data(), mass);
    unit[j] = 0;
  }
  turn_axes(q, inverse);
  decay = C * inverse;
}

static double row_sum_norm(const Eigen::MatrixXd& M) { return M.cwiseAbs().rowwise().sum().maxCoeff(); }

double StageNewton::turning(const double* q, const double* v, const double* inputs) {
  Eigen::MatrixXd C(m_.nv, m_.nv);
  damping(q, v, inputs, C);
  return row_sum_norm((C - matrices_->C) * matrices_->inverse);
}

double StageNewton::fastest() const { return matrices_->decay.size() == 0 ? 0 : row_sum_norm(matrices_->decay); }

std::vector<double> StageNewton::drag() const {
  std::vector<double> out(m_.nv);
  for (int j = 0; j < m_.nv; ++j) out[j] = matrices_->C.row(j).cwiseAbs().sum();
  return out;
}

void StageNewton::carry(RunMemory& memory) {
  for (Eigen::MatrixXd* M : {&matrices_->C, &matrices_->inverse, &matrices_->decay}) {
    std::vector<double> numbers(M->data(), M->data() + M->size());
    memory(numbers);
    *M = Eigen::Map<const Eigen::MatrixXd>(numbers.data(), numbers.empty() ? 0 : m_.nv, numbers.empty() ? 0 : m_.nv);
  }
}

void StageNewton::factorize(double h, const DamperLift& lift) {
  const int n = m_.nv, s = t_.stages;
  Eigen::MatrixXd all = Eigen::MatrixXd::Identity(s * n, s * n);
  matrices_->lift_others(h, lift);
  const Eigen::MatrixXd lifted = matrices_->L * matrices_->inverse;
  for (int i = 0; i < s; ++i)
    for (int j = 0; j < s; ++j)
      all.block(i * n, j * n, n, n) += h * (t_.a[i][j] * matrices_->decay + (mode_[i] * mode_[j] * t_.b[j]) * lifted);
  matrices_->lu.compute(all);
}

void StageNewton::solve() {
  const int n = m_.nv, s = t_.stages;
  Eigen::Map<Eigen::VectorXd> g(left_.data(), s * n);
  for (int i = 0; i < s; ++i) g.segment(i * n, n) -= mode_[i] * ConstVector(lifted_.data(), n);
  const Eigen::VectorXd y = matrices_->lu.solve(g);
  for (int i = 0; i < s; ++i) {
    Eigen::Map<Eigen::VectorXd> v(&velocity_[i * n], n), f(&force_[i * n], n);
    v.noalias() = matrices_->inverse * y.segment(i * n, n);
    f.noalias() = -matrices_->C * v;
  }
}

void StageNewton::lift(double h) {
  Eigen::Map<Eigen::VectorXd>(lifted_.data(), m_.nv) = h * (matrices_->L * ConstVector(mean_.data(), m_.nv));
}

}  // namespace symplectree
