// The pose of a joint as a formula of its coordinates, executed from tapes (symplectree/formula/pose_formula.py).
//
// Derivatives of its twists S_i(q), carried to world axes at the body's centre: E_ij = Ad ∂_j S_i, F_kji = Ad ∂_k ∂_j
// S_i. Twists of a formula about a fixed point change with its own coordinates by D_j s_i = [s_j, s_i] + E_ij; of all
// other joints E and F are zero.
#pragma once

#include "formula/tape.hpp"

namespace symplectree {

struct PoseFormula {
  int n = 0;       // coordinates
  int first = 0;   // where its E begin in a workspace, n² of them: ∂_j S_i at [j, i]
  int second = 0;  // where its F begin, n³ of them: ∂_k ∂_j S_i at [k, j, i]
  Tape tapes[3];   // pose and S; these and ∂S; these and ∂∂S for k ≤ j

  static constexpr int kPose = 12;
  int outputs(int order) const {
    return kPose + 6 * n + (order > 0 ? 6 * n * n : 0) + (order > 1 ? 3 * n * (n + 1) * n : 0);
  }
};

}  // namespace symplectree
