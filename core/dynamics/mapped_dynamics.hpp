// Continuous mechanics in independent coordinates, where others follow (model/coordinate_map.hpp): what takes more than
// carrying arguments to the tree and results back.
#pragma once

#include "model/coordinate_map.hpp"
#include "model/joint_state.hpp"
#include "model/workspace.hpp"

namespace symplectree {

class MappedDynamics {
 public:
  explicit MappedDynamics(const CoordinateMap& map)
      : map_(map), tree_(map.tree()), M_(tree_.nv * tree_.nv), v_(tree_.nv), a_(tree_.nv), force_(tree_.nv) {}

  // out ← (Cᵀ M C)⁻¹ x
  void inverse_mass_product(const double* q, const double* x, double* out, Workspace<double>& w);

  // a ← (Cᵀ M C)⁻¹ (τ − Cᵀ bias), of which the bias is the tree's at v = C v and a = φ'' v².
  void forward_dynamics(JointState<double> state, AppliedForces<double> forces, double* a, Workspace<double>& w);

 private:
  void solve(const double* x, double* out, Workspace<double>& w);

  const CoordinateMap& map_;
  const Model& tree_;
  MapPoint at_;
  std::vector<double> M_, v_, a_, force_;
};

// out (rows × nv) ← derivatives G C of the rows that are left, from G of all rows of the tree. Of rows that followers
// meet anyway only rounding is left, relative to the terms of a sum, which long chains make a hundred times less exact;
// it counts as zero.
void project_rows(const CoordinateMap& map, const MapPoint& at, std::vector<double> G, double* out);

}  // namespace symplectree
