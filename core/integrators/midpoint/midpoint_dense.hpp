// Newton's full matrix of the midpoint action, JM08 (26), in O(n²), and its factorisation in O(n³): for comparison, and
// for mechanisms with more springs and dampers between moving bodies than coordinates.
#pragma once

#include "dense/row_matrix.hpp"
#include "dynamics/element_derivatives.hpp"
#include "integrators/midpoint/midpoint_state.hpp"

namespace symplectree {

class MidpointDense {
 public:
  explicit MidpointDense(const Model& m);

  // δ with −∂r/∂q' δ = r.
  void direction(const MidpointState<double>& mid, double h, const double* q0, const double* q1, const double* r,
                 double* delta);

  // −∂r/∂q'. JM08 (26)'s second line means ∂²L/∂q̇∂q.
  const RowMatrix& matrix(const MidpointState<double>& mid, double h, const double* q0, const double* q1);

 private:
  using Matrix = RowMatrix;
  using Member = Square<double, 6> MidpointBlock<double>::*;

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
};

}  // namespace symplectree
