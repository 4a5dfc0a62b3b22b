// Second derivatives of a step's discrete action on a tree, entry by entry, as composite bodies give a mass matrix:
//
//   N = −D₁D₂ L_d = −∂r/∂q',   R = D₁D₁ L_d = ∂r/∂q,   P = D₂D₂ L_d = ∂p'/∂q',
//
// with gravity, joint springs, rotors and joint dampers. A body's momentum f changes by K η when its end moves by η,
// and turns along when both ends move alike, so that moving its beginning by S changes it by bracket_force(S, f) − K S.
// With K̂ and F sums over all that a body carries, and coordinate l at or beyond j,
//
//   N_jl = S_j·K̂ S'_l,   N_lj = S_l·K̂ S'_j,   R_jl = S_j·(K̂ S_l − bracket_force(S_l, F)),
//   P_jl = S'_j·(K̂ᵀ S'_l + bracket_force(S'_l, F)),
//
// of which R and P are symmetric between different joints.
#pragma once

#include <memory>

#include "integrators/method_options.hpp"
#include "kinematics/poses_twists.hpp"
#include "spatial/matrix6.hpp"

namespace symplectree {

// Is all that a model has among what is counted here? And all but its rows?
bool step_blocks_cover(const Model& m);
bool step_blocks_cover_all_but_rows(const Model& m);

template <class T>
class StepBlocks {
 public:
  std::vector<T> N, R, P;           // nv × nv, row by row
  std::vector<Spatial<T>> carried;  // of each velocity l: the wrench about its body's end of which P_jl = S'_j·this
  std::vector<Matrix6<T>> own;      // of each body alone: K
  std::vector<double> damping;      // of each velocity: what ∂p'/∂q has beside −Nᵀ
  Workspace<T> now, next;           // poses at the two ends

  virtual ~StepBlocks() = default;
  virtual void evaluate(double h, const T* q0, const T* q1) = 0;

 protected:
  explicit StepBlocks(const Model& m);
};

// T: double where `has_step_blocks`, and dual numbers, jets and packs where `blocks_have_slopes`.
template <class T>
std::unique_ptr<StepBlocks<T>> step_blocks(const Model& m, Action action);

constexpr bool blocks_have_slopes(Action action) { return action == Action::Cayley || action == Action::Chord; }
constexpr bool has_step_blocks(Action action) { return blocks_have_slopes(action) || action == Action::Exponential; }

}  // namespace symplectree
