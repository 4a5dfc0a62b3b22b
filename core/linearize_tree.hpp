// Derivatives of a step on a tree without loops, from the blocks of step_blocks.hpp: N Y = [R 1] for q' in (q, p),
// p' = −Nᵀ in q and P in q'. Second derivatives, for coordinates that are plain numbers, from the blocks on jets along
// (q, p) with q' following:
//
//   N dY = [dR 0] − dN Y,   d²p' = [−dNᵀ 0] + dP Y + P dY.
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
      RowMatrix dN(n, n), dR(n, n), dP(n, n), slopes(2 * n, 2 * n), wide = RowMatrix::Zero(2 * n, all);
      wide.leftCols(2 * n).setIdentity();
      wide.bottomRightCorner(n, u) = (0.5 * at.h) * force_;
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
      for (int i = 0; i < 2 * n; ++i)
        Eigen::Map<RowMatrix>(out + static_cast<std::size_t>(i) * all * all, all, all).noalias() =
            wide.transpose() * tensor[i] * wide;
    }
  }

 private:
  const Model& m_;
  StepBlocks<Action, double> blocks_;
  std::unique_ptr<StepBlocks<Action, Jet>> jets_;
  RowMatrix force_, Y_;  // generalized forces of the inputs; derivatives of q' in (q, p)
  bool twice_;           // are there second derivatives?
  Eigen::PartialPivLU<RowMatrix> lu_;
};

}  // namespace symplectree
