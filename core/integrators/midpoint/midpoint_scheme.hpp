// The midpoint action h L((1−α) q + α q', (q' − q)/h) in the coordinates themselves, JM08 (22)–(26), JM09 (19)–(22),
// (43); Ball and Free joints in coordinates local to q. Potentials are implicit, so it suits stiff springs. Residual
// and exact Newton direction take O(n). A spring or damper between two moving bodies adds three sweeps, both four;
// when springs and dampers are more than a third of the coordinates, the full matrix is used, O(n³), as with
// Solver::Dense, with constraints, prescribed coordinates and elements of the user's own.
#pragma once

#include <memory>

#include "integrators/body_action/step_rows.hpp"
#include "integrators/midpoint/midpoint_dense.hpp"
#include "integrators/midpoint/midpoint_newton.hpp"
#include "integrators/momentum_noise.hpp"
#include "integrators/run_memory.hpp"

namespace symplectree {

// Midpoint, as a scheme for NewtonRun.
class MidpointScheme {
 public:
  static constexpr bool implicit_potentials = true;  // stiff springs may hold a step far from its guess

  MidpointScheme(const Model& m, double alpha, Solver solver)
      : m_(m), mid_(m, alpha), p0_(m.nv), r_(m.nv + m.rows), scale_(m.nv + m.rows), impulse_(m.nv), impulse_size_(m.nv),
        reaction_(m.nv), noise_(m), prescribed_(m.nv), rows_(m), start_(m), end_(m) {
    const bool many = 3 * MidpointLoads::springs_and_dampers(m) > m.nv;
    if (solver == Solver::Dense || many || m.rows > 0 || !m.users.empty()) {
      dense_ = std::make_unique<MidpointDense>(m);
    } else if (m.acts_on_bodies()) {
      loaded_ = std::make_unique<LoadedTree>(m);
    } else {
      plain_ = std::make_unique<PlainTree>(m);
    }
  }

  void place(const double*) {}
  void flip() {}
  bool end_by_momentum(const double*, double*) { return false; }
  void carry(RunMemory&) {}
  double turned(const double*, const double*) const { return 0; }  // nothing depends on it
  void learn(double, const double*, const double*) {}

  void set_prescribed(const std::vector<char>& velocities) {
    prescribed_ = velocities;
    coupled_ = m_.rows > 0 || std::find(velocities.begin(), velocities.end(), char(1)) != velocities.end();
    if (coupled_ && !dense_) plain_.reset(), loaded_.reset(), dense_ = std::make_unique<MidpointDense>(m_);
  }

  void begin(double, const double* q, const double* p, const double* tau, const double* inputs) {
    std::copy(p, p + m_.nv, p0_.begin());
    mid_.set_forces(tau, inputs);
    if (m_.rows == 0) return;
    compute_poses(m_, q, start_);
    evaluate_rows<true>(m_, rows_.structure, q, start_, rows_.now);
  }

  // The impulses of constraints, which the residual includes.
  void set_multipliers(const double* lambda) {
    transposed_rows(m_, rows_.structure, {rows_.now, start_}, lambda, {rows_.force, rows_.bound},
                    {impulse_.data(), impulse_size_.data()});
  }

  template <bool WithDerivative>
  double evaluate(double h, const double* q0, const double* q1, int& worst) {
    mid_.evaluate<WithDerivative ? 2 : 1>({h, q0, q1});
    double largest = 0;
    for (int i = 1; i < m_.size(); ++i) {
      const Body& b = m_.bodies[i];
      for (int k = 0; k < b.nv; ++k) {
        const int j = b.v + k;
        double sizes;
        const double force = mid_.end_force(i, k, h, false, &sizes);
        r_[j] = p0_[j] + impulse_[j] + force;
        scale_[j] = std::fabs(p0_[j]) + impulse_size_[j] + sizes + 1e-300;
        if (prescribed_[j]) {
          reaction_[j] = r_[j];
          r_[j] = 0;
        }
        const double ratio = std::fabs(r_[j]) / scale_[j];
        if (exceeds(ratio, largest)) largest = ratio, worst = j;
      }
    }
    if (m_.rows == 0) return largest;
    compute_poses(m_, q1, end_);
    return rows_.add_residual<WithDerivative>({h, q0, q1}, end_, r_, scale_, largest, worst);
  }

  bool quick_direction(double, const double*, const double*, double*) { return false; }
  void next_direction(double, const double*, const double*, double*) {}

  bool at_floor(double h, const double*, const double* q1, double factor) {
    return rows_.at_floor(factor) &&
           noise_.covers({h, mid_.q.data(), mid_.v.data(), mid_.at}, r_, scale_, factor,
                         [&](const Body& b, int j) { return coordinate_rounding(b, j, mid_.v[j], h, q1); });
  }

  void direction(double h, const double* q0, const double* q1, double* delta) {
    if (plain_) plain_->direction(mid_, h, q0, q1, r_.data(), delta);
    if (loaded_) loaded_->direction(mid_, h, q0, q1, r_.data(), delta);
    if (dense_ && !coupled_) dense_->direction(mid_, h, q0, q1, r_.data(), delta);
    if (!coupled_) return;
    const Eigen::MatrixXd N = dense_->matrix(mid_, h, q0, q1);
    rows_.solve_dense(N.data(), prescribed_, start_, end_, r_.data(), delta);
  }

  // p' = D₂ L_d + f⁺, at the last evaluation.
  void finish(double h, const double*, const double*, const double* tau, const double* inputs, double* p) {
    if (!std::equal(mid_.tau.begin(), mid_.tau.end(), tau) ||
        !std::equal(mid_.inputs.begin(), mid_.inputs.end(), inputs)) {
      mid_.set_forces(tau, inputs);
      mid_.forces();
    }
    for (int i = 1; i < m_.size(); ++i)
      for (int k = 0; k < m_.bodies[i].nv; ++k) p[m_.bodies[i].v + k] = mid_.end_force(i, k, h, true);
  }

  const std::vector<double>& residual() const { return r_; }
  const std::vector<double>& reaction() const { return reaction_; }
  const std::vector<double>& scale() const { return scale_; }

 private:
  using PlainTree = MidpointTree<3, 3>;
  using LoadedTree = MidpointTree<6, 4>;

  const Model& m_;
  MidpointState<double> mid_;
  std::vector<double> p0_, r_, scale_, impulse_, impulse_size_, reaction_;
  MomentumNoise noise_;
  std::vector<char> prescribed_;  // of each velocity: its coordinate is prescribed
  bool coupled_ = false;          // are there rows or prescribed velocities?
  StepRows rows_;
  Workspace<double> start_, end_;  // poses at the step's ends, where there are rows
  std::unique_ptr<PlainTree> plain_;
  std::unique_ptr<LoadedTree> loaded_;
  std::unique_ptr<MidpointDense> dense_;
};

}  // namespace symplectree
