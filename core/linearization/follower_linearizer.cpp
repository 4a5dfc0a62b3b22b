#include "linearization/follower_linearizer.hpp"

#include "linearization/block_solution.hpp"
#include "linearization/tree_blocks.hpp"
#include "model/rows/joint_force.hpp"

namespace symplectree {
namespace {

class OfBlocks final : public FollowerLinearizer {
 public:
  OfBlocks(const CoordinateMap& map, Action action)
      : map_(map), made_(step_blocks<double>(map.tree(), action)), blocks_(*made_), N_(map.nv(), map.nv()),
        R_(map.nv(), map.nv()), P_(map.nv(), map.nv()), damping_(map.nv()) {
    const Model& m = map.tree();
    std::vector<double> origin(map.nq());
    MapPoint at;
    map.evaluate(origin.data(), at);
    slope_ = at.first;
    for (int j = 0; j < m.nv; ++j) damping_[map.leader_v[j]] += slope_[j] * slope_[j] * blocks_.damping[j];
    for (const JointForce& f : m.joint_forces)
      if (f.input >= 0) forces_.push_back({map.leader_v[f.v], f.input, f.gain * slope_[f.v]});
    for (int j = 0; m.inputs == 0 && j < map.nv(); ++j) forces_.push_back({j, j, 1});
    inputs_ = 2 * map.nv() + (m.inputs ? m.inputs : map.nv());
  }

  void first(double h, const double* q0, const double* q1, double* out) override {
    blocks_.evaluate(h, q0, q1);
    reduce(blocks_.N, N_), reduce(blocks_.R, R_), reduce(blocks_.P, P_);
    solve_blocks(N_, R_, lu_, Y_);
    Eigen::Map<RowMatrix> result(out, 2 * map_.nv(), inputs_);
    state_columns(N_, P_, Y_, damping_, result);
    force_columns(forces_, 0.5 * h, result);
  }

 private:
  // to ← Cᵀ from C.
  void reduce(const std::vector<double>& from, RowMatrix& to) const {
    const int n = map_.tree().nv;
    to.setZero();
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) to(map_.leader_v[i], map_.leader_v[j]) += slope_[i] * slope_[j] * from[n * i + j];
  }

  const CoordinateMap& map_;
  std::unique_ptr<StepBlocks<double>> made_;
  StepBlocks<double>& blocks_;
  std::vector<double> slope_;  // of each of the tree's velocities: its entry of C
  RowMatrix N_, R_, P_, Y_;
  std::vector<double> damping_;
  std::vector<ForcePlace> forces_;
  ScaledSolver lu_;
  int inputs_;
};

}  // namespace

std::unique_ptr<FollowerLinearizer> follower_linearizer(const CoordinateMap& map, Action action) {
  if (!has_step_blocks(action) || !map.affine() || map.rows.size > 0 || map.tree().has_unilateral()) return nullptr;
  if (!step_blocks_cover_all_but_rows(map.tree())) return nullptr;
  return std::make_unique<OfBlocks>(map, action);
}

}  // namespace symplectree
