// Velocities, momenta and poses of states.
#include "dynamics/state_mechanics.hpp"

#include <algorithm>

#include "dynamics/aba.hpp"
#include "dynamics/mapped_derivatives.hpp"
#include "dynamics/mapped_dynamics.hpp"
#include "dynamics/rnea.hpp"
#include "kinematics/poses_twists.hpp"

namespace symplectree {
namespace {

constexpr int kPose = 16;

void copy(const Numbers& from, double* to) { std::copy(from.begin(), from.end(), to); }

}  // namespace

StateMechanics::StateMechanics(const Model& tree, const CoordinateMap* map, DerivativeWorkspace<double>& w)
    : tree_(tree), map_(map), w_(w) {
  if (map) mapped_ = std::make_unique<MappedDynamics>(*map), tree_v_.resize(tree.nv), tree_p_.resize(tree.nv);
}

StateMechanics::~StateMechanics() = default;

const Model& StateMechanics::layout() const { return map_ ? map_->layout : tree_; }

void StateMechanics::velocity(const double* q, const double* p, double* v) {
  if (map_) return mapped_->inverse_mass_product(q, p, v, w_.base);
  factorize_mass(tree_, q, w_.base);
  solve_mass(tree_, p, v, w_.base);
}

void StateMechanics::momentum(const double* q, const double* v, double* p) {
  if (!map_) return momenta(tree_, q, v, p, w_.base);
  MapPoint at;
  map_->evaluate(q, at);
  map_->velocity(at, v, tree_v_.data());
  momenta(tree_, at.q.data(), tree_v_.data(), tree_p_.data(), w_.base);
  copy(map_->sum(at.first)(tree_p_.data()), p);
}

void StateMechanics::lagrangian(const double* q, const double* v, const LagrangianDerivatives& out) {
  if (!map_) {
    w_.place<2>(q);
    return lagrangian_derivatives(w_, v, out);
  }
  const ChainRule chain(*map_, q, v);
  StateDerivatives t(chain.tree_size(), 1);
  w_.place<2>(chain.at.q.data());
  lagrangian_derivatives(w_, chain.v.data(), {t.q.data(), t.v.data(), t.qq.data(), t.qv.data(), t.vv.data()});
  t = chain.compose(t, 1);
  copy(t.q, out.dq), copy(t.v, out.dv), copy(t.qq, out.dqdq), copy(t.qv, out.dqdv), copy(t.vv, out.dvdv);
}

FramePose<double> StateMechanics::pose(const double* q, const Frame& f) {
  MapPoint at;
  if (map_) map_->evaluate(q, at);
  compute_poses(tree_, map_ ? at.q.data() : q, w_.base);
  return frame_pose(f.point, f.axes, w_.base);
}

void StateMechanics::pose_derivatives(const double* q, const Frame& f, double* first, double* second) {
  if (!map_) return tree_pose_derivatives(q, f, first, second);
  const ChainRule chain(*map_, q, nullptr);
  const std::size_t n = chain.tree_size();
  Numbers D(n * kPose), DD(second ? n * n * kPose : 0);
  tree_pose_derivatives(chain.at.q.data(), f, D.data(), second ? DD.data() : nullptr);
  chain.C.add(D.data(), 1, kPose, first);
  if (!second) return;
  DD = chain.both(chain.C, DD, chain.C, kPose);
  chain.add_diagonal(chain.curvature, D, kPose, DD);
  copy(DD, second);
}

void StateMechanics::tree_pose_derivatives(const double* q, const Frame& f, double* first, double* second) {
  w_.place<1>(q);
  const FramePose<double> p = frame_pose(f.point, f.axes, w_.base);
  pose_first(w_.columns, p, first);
  if (second) pose_second(w_.columns, p, second);
}

}  // namespace symplectree
