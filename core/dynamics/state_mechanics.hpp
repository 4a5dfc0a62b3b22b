// Velocities, momenta and poses of states with their derivatives, in the coordinates of callers: those of a tree, or
// the independent ones where others follow (model/coordinate_map.hpp). One caller at a time.
#pragma once

#include <memory>
#include <vector>

#include "dynamics/frame_derivatives.hpp"
#include "kinematics/configurations.hpp"
#include "model/coordinate_map.hpp"

namespace symplectree {

class MappedDynamics;

class StateMechanics {
 public:
  // `map` is null where all coordinates are independent.
  StateMechanics(const Model& tree, const CoordinateMap* map, DerivativeWorkspace<double>& w);
  ~StateMechanics();

  // Where coordinates lie, and how many there are.
  const Model& layout() const;

  // v ← M(q)⁻¹ p
  void velocity(const double* q, const double* p, double* v);

  // p ← M(q) v
  void momentum(const double* q, const double* v, double* p);

  // Derivatives of L without springs; entries that are structurally zero are not written where nothing follows.
  void lagrangian(const double* q, const double* v, const LagrangianDerivatives& out);

  FramePose<double> pose(const double* q, const Frame& f);

  // first (nv × 16) and, unless it is null, second (nv × nv × 16) ← derivatives of a frame's pose (4 × 4). Both are
  // zero before; only what is not structurally zero is written.
  void pose_derivatives(const double* q, const Frame& f, double* first, double* second);

 private:
  void tree_pose_derivatives(const double* q, const Frame& f, double* first, double* second);

  const Model& tree_;
  const CoordinateMap* map_;
  DerivativeWorkspace<double>& w_;
  std::unique_ptr<MappedDynamics> mapped_;
  std::vector<double> tree_v_, tree_p_;
};

}  // namespace symplectree
