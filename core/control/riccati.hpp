// The backward sweep of stage-wise Newton: a linear-quadratic problem along a motion, in time linear in its steps.
//
// minimise Σ ½ zᵀ H_k z + r_k·δu_k with z = (δx_k, δu_k), δx_{k+1} = A_k δx_k + B_k δu_k, δx_0 = 0, controls in a box.
// Cost-to-go ½ δxᵀ S δx + s·δx; at each stage
//
//   M = H_uu + BᵀSB + ρ,   m = r + Bᵀs,   δu = d + G δx,   d = argmin ½ δᵀMδ + m·δ in the box,   G = −M⁻¹(H_ux + BᵀSA)
//
// with rows of G zero for controls at a limit (Dunn and Bertsekas 1989; K section V).
#pragma once

#include "control/box_minimum.hpp"

namespace symplectree {

// Of step k: [A B] (n × N) and H (N × N), N = n + m, of which `bending` (N × N), unless it is null, is another part;
// the slope r (m); limits of δu (m).
struct Stage {
  const double *AB, *H, *bending, *slope, *lower, *upper;
};

class Sweep {
 public:
  // Steps d (steps × m), gains G (m × n each), M (m × m each), and which controls are not at a limit (steps × m).
  std::vector<double> steps, gains, curvature;
  std::vector<char> free;
  // The decrease of the cost that a step of length α promises is −(linear α + quadratic α²).
  double linear = 0, quadratic = 0;

  Sweep(int count, int n, int m);

  // S ← `last` (n × n), the end of the motion; then stages backward, false when one has no minimum.
  void begin(const double* last);
  bool stage(int k, const Stage& given, double damping);
  // After all stages: is everything finite?
  bool is_finite() const;

 private:
  void curve(const Stage& given);

  int n_, m_;
  RowMatrix S_, SAB_, Q_, M_, Mx_, G_;
  Eigen::VectorXd s_, slope_, pulled_;
  BoxMinimum box_;
};

}  // namespace symplectree
