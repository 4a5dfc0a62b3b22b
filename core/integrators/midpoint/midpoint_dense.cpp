// Newton's full matrix of the midpoint action, JM08 (26), in O(n²), and its factorisation in O(n³): for comparison, and
// for mechanisms with more springs and dampers between moving bodies than coordinates.
#include "dense/dense_solvers.hpp"
#include "dense/row_matrix.hpp"
#include "dynamics/element_derivatives.hpp"
#include "integrators/midpoint/midpoint_direction.hpp"

namespace symplectree {
namespace {

class MidpointDense final : public MidpointMatrix {
 public:
  explicit MidpointDense(const Model& m);

  void compute(const MidpointState<double>& mid, const StepEnds<double>& step, const double* r,
               double* delta) override {
    form(mid, step);
    solve_lu_rows(full_.data(), m_.nv, r, delta);
  }

  const double* matrix(const MidpointState<double>& mid, const StepEnds<double>& step) override {
    form(mid, step);
    by_columns_ = full_;
    return by_columns_.data();
  }

 private:
  using Matrix = RowMatrix;
  using Member = Square<double, 6> MidpointBlock<double>::*;

  // full_ ← −∂r/∂q'.
  void form(const MidpointState<double>& mid, const StepEnds<double>& step);

  void second_derivatives(const MidpointState<double>& mid);

  Matrix times_blocks(const MidpointState<double>& mid, const Matrix& M, Member block, double plain) const;

  // blockᵀ M
  Matrix blocks_times(const MidpointState<double>& mid, Member block, double plain, const Matrix& M) const;

  static Matrix view(const Square<double, 6>& block, int n);

  const Model& m_;
  bool elements_;
  DerivativeWorkspace<double> d_;
  ElementWorkspace<double> e_;
  std::vector<double> dq_, dv_;
  Matrix dqdq_, dqdv_, dvdv_, full_;
  Eigen::MatrixXd by_columns_;
};

MidpointDense::MidpointDense(const Model& m)
    : m_(m), d_(m), e_(m), dq_(m.nv), dv_(m.nv), dqdq_(m.nv, m.nv), dqdv_(dqdq_), dvdv_(dqdq_), full_(dqdq_) {
  elements_ = m.acts_on_bodies() || !m.joint_springs.empty() || !m.joint_dampers.empty() || !m.joint_forces.empty() ||
              !m.users.empty();
}

void MidpointDense::form(const MidpointState<double>& mid, const StepEnds<double>& step) {
  const double h = step.h;
  using Block = MidpointBlock<double>;
  const int n = m_.nv;
  const double alpha = mid.alpha;
  second_derivatives(mid);
  // Columns of the middle's motion with the end, q1 and v1, are block diagonal: multiply from the right by blocks.
  const auto along_end = [&](const Matrix& of_q, const Matrix& of_v) -> Matrix {
    return -h * (times_blocks(mid, of_q, &Block::q1, alpha) + times_blocks(mid, of_v, &Block::v1, 1 / h));
  };
  full_ = blocks_times(mid, &Block::q0, 1 - alpha, along_end(dqdq_, dqdv_));
  full_ += blocks_times(mid, &Block::v0, -1 / h, along_end(dqdv_.transpose(), dvdv_));
  if (elements_) {
    const Eigen::Map<const RowMatrix> fq(e_.out.force_dq.data(), n, n), fv(e_.out.force_dv.data(), n, n);
    full_ += blocks_times(mid, &Block::carry0, 1, 0.5 * along_end(fq, fv));
  }
  for (int i = 1; i < m_.size(); ++i) {
    const Body& b = m_.bodies[i];
    if (!b.flat()) add_chart_change(mid, b, step, &full_(b.v, b.v), n);
  }
}

void MidpointDense::second_derivatives(const MidpointState<double>& mid) {
  d_.place<2>(mid.q.data());
  dqdq_.setZero(), dqdv_.setZero(), dvdv_.setZero();
  lagrangian_derivatives(d_, mid.v.data(), {dq_.data(), dv_.data(), dqdq_.data(), dqdv_.data(), dvdv_.data()});
  if (!elements_) return;
  element_derivatives(m_, -1, mid.q.data(), mid.v.data(), mid.inputs.data(), e_);
  dqdq_ -= Eigen::Map<const RowMatrix>(e_.out.hessian.data(), m_.nv, m_.nv);
}

MidpointDense::Matrix MidpointDense::times_blocks(const MidpointState<double>& mid, const Matrix& M, Member block,
                                                  double plain) const {
  Matrix out = plain * M;
  for (int i = 1; i < m_.size(); ++i) {
    const Body& b = m_.bodies[i];
    if (b.nv > 1) out.middleCols(b.v, b.nv) = product(M.middleCols(b.v, b.nv), view(mid.blocks[i].*block, b.nv));
  }
  return out;
}

MidpointDense::Matrix MidpointDense::blocks_times(const MidpointState<double>& mid, Member block, double plain,
                                                  const Matrix& M) const {
  Matrix out = plain * M;
  for (int i = 1; i < m_.size(); ++i) {
    const Body& b = m_.bodies[i];
    if (b.nv > 1)
      out.middleRows(b.v, b.nv) = transposed_product(view(mid.blocks[i].*block, b.nv), M.middleRows(b.v, b.nv));
  }
  return out;
}

MidpointDense::Matrix MidpointDense::view(const Square<double, 6>& block, int n) {
  Matrix out(n, n);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) out(i, j) = block[i][j];
  return out;
}

}  // namespace

std::unique_ptr<MidpointMatrix> midpoint_dense(const Model& m) { return std::make_unique<MidpointDense>(m); }

}  // namespace symplectree
