// First derivatives of steps of a tree in which coordinates follow others as affine functions, q = C u + c: the
// discrete action of the independent coordinates is that of the tree, so that its second derivatives are CᵀNC, CᵀRC and
// CᵀPC of the tree's (tree_blocks.hpp), and no constraint rows are needed.
#pragma once

#include <memory>

#include "integrators/method_options.hpp"
#include "model/coordinate_map.hpp"

namespace symplectree {

class FollowerLinearizer {
 public:
  virtual ~FollowerLinearizer() = default;
  // out (2 nv × inputs) ← derivatives of (u', p') in (u, p) and forces, of a step of h in which the tree moves from q0
  // to q1.
  virtual void first(double h, const double* q0, const double* q1, double* out) = 0;
};

// Null where it does not serve: where followers are no affine functions, or the tree has other constraints or elements
// that its blocks do not count.
std::unique_ptr<FollowerLinearizer> follower_linearizer(const CoordinateMap& map, Action action);

}  // namespace symplectree
