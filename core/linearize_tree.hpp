// Derivatives of a step on a tree without loops, from the blocks of step_blocks.hpp: N Y = [R 1] for q' in (q, p),
// p' = −Nᵀ in q and P in q'. Second derivatives, for coordinates that are plain numbers, from the blocks on jets along
// (q, p) with q' following:
//
//   N dY = [dR 0] − dN Y,   d²p' = [−dNᵀ 0] + dP Y + P dY.
//
// Contracted with weights: how the blocks change along (m, w_p), m = N⁻ᵀ(w_q + Pᵀ w_p), between derivatives of (q, q').
#pragma once

#include <Eigen/LU>

#include "jet.hpp"
#include "linearize.hpp"
#include "step_blocks.hpp"

namespace symplectree {

template <class Action>
class TreeLinearizer final : public AnyLinearizer {
 public:
  explicit TreeLinearizer(const Model& m)
      : m_(m), blocks_(m), force_(RowMatrix::Zero(m.nv, m.inputs ? m.inputs : m.nv)), twice_(m_.quaternions.empty()) {
    if (m.inputs == 0) force_.setIdentity();
    for (const JointForce& f : m.joint_forces)
      if (f.input >= 0) force_(f.v, f.input) += 1;
    twice_ &= Action::block_diagonal;
  }

  static bool covers(const Model& m) { return StepBlocks<Action, double>::covers(m); }

  int inputs() const override { return 2 * m_.nv + static_cast<int>(force_.cols()); }
  bool projected() const override { return false; }
  bool has_second() const override { return twice_; }

  void first(const StepPoint& at, double* out, double*) override {
    const int n = m_.nv, u = static_cast<int>(force_.cols());
    const double half = 0.5 * at.h;
    blocks_.evaluate(at.h, at.q0.data(), at.q1.data());
    Eigen::Map<const RowMatrix> N(blocks_.N.data(), n, n), R(blocks_.R.data(), n, n), P(blocks_.P.data(), n, n);
    lu_.compute(N);
    Y_.resize(n, 2 * n);
    Y_.leftCols(n) = R;
    Y_.rightCols(n).setIdentity();
    Y_ = lu_.solve(Y_).eval();
    Eigen::Map<RowMatrix> result(out, 2 * n, 2 * n + u);
    result.topLeftCorner(n, 2 * n) = Y_;
    result.bottomLeftCorner(n, 2 * n).noalias() = P * Y_;
    result.bottomLeftCorner(n, n) -= N.transpose();
    for (int j = 0; j < n; ++j) result(n + j, j) += blocks_.damping(j);
    // Forces act as half a step's impulse on p, and another half on p'.
    result.rightCols(u).noalias() = half * result.middleCols(n, n) * force_;
    result.bottomRightCorner(n, u) += half * force_;
  }

  void second(const StepPoint& at, double* out) override {
    if constexpr (Action::block_diagonal) {
      if (!jets_) jets_ = std::make_unique<StepBlocks<Action, Jet>>(m_);
      const int n = m_.nv, u = static_cast<int>(force_.cols()), all = 2 * n + u;
      Eigen::Map<const RowMatrix> P(blocks_.P.data(), n, n);
      RowMatrix dN(n, n), dR(n, n), dP(n, n), slopes(2 * n, 2 * n);
      std::vector<RowMatrix> tensor(2 * n, RowMatrix(2 * n, 2 * n));  // of each output
      std::vector<Jet> q0(n), q1(n);
      for (int start = 0; start < 2 * n; start += Jet::width) {
        const int count = std::min(Jet::width, 2 * n - start);
        for (int j = 0; j < n; ++j) {
          q0[j] = Jet(at.q0[j]), q1[j] = Jet(at.q1[j]);
          for (int k = 0; k < count; ++k) q0[j].slope.set(k, j == start + k), q1[j].slope.set(k, Y_(j, start + k));
        }
        jets_->evaluate(at.h, q0.data(), q1.data());
        for (int k = 0; k < count; ++k) {
          for (int e = 0; e < n * n; ++e) {
            dN.data()[e] = jets_->N[e].slope[k], dR.data()[e] = jets_->R[e].slope[k];
            dP.data()[e] = jets_->P[e].slope[k];
          }
          slopes.topRows(n).noalias() = -dN * Y_;
          slopes.topLeftCorner(n, n) += dR;
          slopes.topRows(n) = lu_.solve(slopes.topRows(n)).eval();
          slopes.bottomRows(n).noalias() = dP * Y_ + P * slopes.topRows(n);
          slopes.bottomLeftCorner(n, n) -= dN.transpose();
          for (int i = 0; i < 2 * n; ++i) tensor[i].col(start + k) = slopes.row(i).transpose();
        }
      }
      for (int i = 0; i < 2 * n; ++i) {
        Eigen::Map<RowMatrix> H(out + static_cast<std::size_t>(i) * all * all, all, all);
        H.topLeftCorner(2 * n, 2 * n) = tensor[i];
        widen(m_, 0.5 * at.h, H);
      }
    }
  }

  void contracted(const StepPoint& at, const double* weights, double* out) override {
    const int n = m_.nv, all = inputs();
    Eigen::Map<const RowMatrix> P(blocks_.P.data(), n, n);
    Eigen::Map<const Eigen::VectorXd> of_q(weights, n), of_p(weights + n, n);
    const Eigen::VectorXd multipliers = lu_.transpose().solve(of_q + P.transpose() * of_p);
    if constexpr (Action::block_diagonal) {
      bend(at, multipliers, of_p);
    } else {
      if (!curvature_) curvature_ = step_curvature(m_, StepLayout(m_, false), 2, 0.5);
      weights_.start.assign(multipliers.data(), multipliers.data() + n), weights_.end.assign(weights + n, weights + 2 * n);
      curvature_->evaluate(at, weights_, bent_);
    }
    // [1 0; Y]ᵀ bent [1 0; Y]
    const auto bent = bent_.topLeftCorner(2 * n, 2 * n);
    RowMatrix half = bent.rightCols(n) * Y_;
    half.leftCols(n) += bent.leftCols(n);
    Eigen::Map<RowMatrix> H(out, all, all);
    H.topLeftCorner(2 * n, 2 * n).noalias() = Y_.transpose() * half.bottomRows(n);
    H.topLeftCorner(n, 2 * n) += half.topRows(n);
    widen(m_, 0.5 * at.h, H);
  }

 private:
  // bent_ ← second derivatives in (q, q') of start·r + end·p': how the blocks J = [R −N; −Nᵀ P] of first ones change along
  // (start, end), and with J M + Mᵀ J, M b = [b, (start, end)], because increments of one quaternion do not commute.
  void bend(const StepPoint& at, const Eigen::VectorXd& start, const Eigen::VectorXd& end) {
    const int n = m_.nv;
    if (!duals_) duals_ = std::make_unique<StepBlocks<Action, Dual>>(m_);
    std::vector<Dual> q0(m_.nq), q1(m_.nq), d(n);
    for (int j = 0; j < n; ++j) d[j] = {0.0, start[j]};
    retract_lifted(m_, at.q0.data(), d.data(), q0.data());
    for (int j = 0; j < n; ++j) d[j] = {0.0, end[j]};
    retract_lifted(m_, at.q1.data(), d.data(), q1.data());
    duals_->evaluate(at.h, q0.data(), q1.data());
    bent_.resize(2 * n, 2 * n);
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) {
        bent_(i, j) = duals_->R[n * i + j].slope, bent_(n + i, n + j) = duals_->P[n * i + j].slope;
        bent_(i, n + j) = bent_(n + j, i) = -duals_->N[n * i + j].slope;
      }
    if (m_.quaternions.empty()) return;
    Eigen::Map<const RowMatrix> N(blocks_.N.data(), n, n), R(blocks_.R.data(), n, n), P(blocks_.P.data(), n, n);
    RowMatrix J(2 * n, 2 * n), M = RowMatrix::Zero(2 * n, 2 * n);
    J << R, -N, -N.transpose(), P;
    for (int i : m_.quaternions) {
      const Body& b = m_.bodies[i];
      set_bracket(b, start.data() + b.v, M.block(b.v, b.v, b.nv, b.nv));
      set_bracket(b, end.data() + b.v, M.block(n + b.v, n + b.v, b.nv, b.nv));
    }
    bent_ += J * M + M.transpose() * J;
    bent_ = (0.5 * (bent_ + bent_.transpose())).eval();
  }

  // M ← the matrix that takes an increment b of a Ball or Free joint to [b, a].
  template <class Block>
  static void set_bracket(const Body& b, const double* a, Block&& M) {
    const auto hat = [](const double* w) {
      Eigen::Matrix3d m;
      m << 0, -w[2], w[1], w[2], 0, -w[0], -w[1], w[0], 0;
      return m;
    };
    M.topLeftCorner(3, 3) = -hat(a);
    if (b.kind != Kind::Free) return;
    M.bottomRightCorner(3, 3) = -hat(a), M.bottomLeftCorner(3, 3) = -hat(a + 3);
  }

  const Model& m_;
  StepBlocks<Action, double> blocks_;
  std::unique_ptr<StepBlocks<Action, Jet>> jets_;
  std::unique_ptr<StepBlocks<Action, Dual>> duals_;
  std::unique_ptr<AnyCurvature> curvature_;
  StepWeights weights_;
  RowMatrix force_, Y_, bent_;  // generalized forces of the inputs; derivatives of q' in (q, p); second ones of a sum
  bool twice_;           // are there second derivatives?
  Eigen::PartialPivLU<RowMatrix> lu_;
};

}  // namespace symplectree
