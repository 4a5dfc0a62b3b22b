// Newton's direction of the midpoint action: by elimination along the tree, or by the full matrix.
#pragma once

#include <memory>

#include "integrators/midpoint/midpoint_state.hpp"

namespace symplectree {

class MidpointDirection {
 public:
  virtual ~MidpointDirection() = default;
  // δ with −∂r/∂q' δ = r.
  virtual void compute(const MidpointState<double>& mid, const StepEnds<double>& step, const double* r,
                       double* delta) = 0;
};

class MidpointMatrix : public MidpointDirection {
 public:
  // −∂r/∂q', column by column. JM08 (26)'s second line means ∂²L/∂q̇∂q.
  virtual const double* matrix(const MidpointState<double>& mid, const StepEnds<double>& step) = 0;
};

// In linear time (midpoint_newton.cpp).
std::unique_ptr<MidpointDirection> midpoint_tree(const Model& m);
// In O(n³) (midpoint_dense.cpp).
std::unique_ptr<MidpointMatrix> midpoint_dense(const Model& m);

// Are springs and dampers between moving bodies so many that the full matrix takes less time?
bool has_many_couplings(const Model& m);

}  // namespace symplectree
