// Forces of elements, on every kind of number.
#include "elements/element_forces.hpp"

#include "elements/actuator.hpp"
#include "elements/joint_damper.hpp"
#include "elements/joint_force.hpp"
#include "elements/joint_spring.hpp"
#include "elements/pair_elements.hpp"
#include "elements/wrench.hpp"
#include "kinematics/poses_twists.hpp"
#include "model/user_elements.hpp"
#include "scalar/jet.hpp"

namespace symplectree {

bool has_damping(const Model& m) { return m.user_forces || !m.joint_dampers.empty() || has_damped_pairs(m); }

template <class R, class T>
void add_spring_forces(const ModelOf<R>& m, const T* q, double share, T* force) {
  for (const JointSpringOf<R>& e : m.joint_springs) add_force(e, q, share, force);
}

template <class R, class T, class U>
void add_drive_forces(const ModelOf<R>& m, const T* v, const U* inputs, double share, T* force) {
  for (const JointDamperOf<R>& e : m.joint_dampers) add_force(e, v, share, force);
  for (const JointForceOf<R>& e : m.joint_forces) add_force(e, inputs, share, force);
}

template <class R, class T, class U>
void joint_element_forces(const ModelOf<R>& m, const T* q, const T* v, const U* inputs, Workspace<T>& w,
                          bool user_forces) {
  for (T& f : w.joint_force) f = T(0);
  add_spring_forces(m, q, 1, w.joint_force.data());
  add_drive_forces(m, v, inputs, 1, w.joint_force.data());
  if constexpr (std::is_same_v<T, double>)
    if (!m.users.empty()) add_user_forces(m, q, user_forces ? v : nullptr, w.joint_force.data());
  if (user_forces && !m.actuators.empty()) add_limits(m, {q, v}, inputs, w.joint_force.data());
}

template <class R, class T, class U>
void subtract_element_wrenches(const ModelOf<R>& m, const U* inputs, Workspace<T>& w) {
  const auto act = [&](const PointOf<R>& p, const Vec3<T>& x, const Vec3<T>& f) {
    w.force[p.body] -= force_at(x, f, p.body, w);
  };
  for (const WrenchOf<R>& row : m.wrenches) {
    const Spatial<T> f = world_wrench(row, inputs, w);
    act(row.point, position(row.point, w), f.linear);
    w.force[row.point.body].angular -= f.angular;
  }
  add_pair_wrenches(m, w, -1, 1, 1, w.force);
}

template <class T>
void add_element_wrenches(const Model& m, const double* inputs, ForceShares shares, Workspace<T>& w) {
  const auto act = [&](const Point& p, const Vec3<T>& x, const Vec3<T>& f) {
    w.force[p.body] += Spatial<T>{cross(x - w.pose[p.body].x, f), f};
  };
  for (const Wrench& row : m.wrenches) {
    const Spatial<T> f = T(shares.other) * world_wrench(row, inputs, w);
    act(row.point, position(row.point, w), f.linear);
    w.force[row.point.body].angular += f.angular;
  }
  add_pair_wrenches(m, w, 1, shares.conservative, shares.other, w.force);
}

template <class R, class T>
void split_element_wrenches(const ModelOf<R>& m, const T* inputs, const Workspace<T>& w, bool conservative,
                            std::vector<Spatial<T>>& springs, std::vector<Spatial<T>>& loads) {
  for (int i = 1; i < m.size(); ++i) springs[i] = loads[i] = {};
  for_pair_tensions(m, w, [&](const auto& row, const Gauge<T>& g, const T& spring, const T& damper) {
    add_gauge(row, g, -spring, springs);
    if (!vanishes(row.damping) && !conservative) add_gauge(row, g, -damper, loads);
  });
  if (conservative) return;
  for (const WrenchOf<R>& row : m.wrenches) {
    const Spatial<T> wrench = world_wrench(row, inputs, w);
    loads[row.point.body] += force_at(position(row.point, w), wrench.linear, row.point.body, w);
    loads[row.point.body].angular += wrench.angular;
  }
}

double spring_energy(const Model& m, const double* q, const Workspace<double>& w) {
  double energy = 0;
  for (const JointSpring& e : m.joint_springs) add_energy(e, q, energy);
  add_pair_energy(m, w, energy);
  if (!m.users.empty()) energy += user_energy(m, q);
  return energy;
}

// Numbers R of the model, T of the state and U of inputs.
#define SYMPLECTREE_FORCES(R, T, U)                                                                         \
  template void joint_element_forces(const ModelOf<R>&, const T*, const T*, const U*, Workspace<T>&, bool); \
  template void subtract_element_wrenches(const ModelOf<R>&, const U*, Workspace<T>&);
SYMPLECTREE_FORCES(double, double, double)
SYMPLECTREE_FORCES(double, Dual, double)
SYMPLECTREE_FORCES(double, Pack<2>, double)
SYMPLECTREE_FORCES(double, Pack<4>, double)
SYMPLECTREE_FORCES(double, Pack<8>, double)
SYMPLECTREE_FORCES(double, Pack<2>, Pack<2>)
SYMPLECTREE_FORCES(double, Pack<4>, Pack<4>)
SYMPLECTREE_FORCES(double, Pack<8>, Pack<8>)
SYMPLECTREE_FORCES(double, Jet, Jet)
SYMPLECTREE_FORCES(Jet, Jet, Jet)
SYMPLECTREE_FORCES(double, DualOf<Jet>, DualOf<Jet>)
#undef SYMPLECTREE_FORCES

// The same, of steps.
#define SYMPLECTREE_FORCES(R, T)                                                               \
  template void add_spring_forces(const ModelOf<R>&, const T*, double, T*);                    \
  template void add_drive_forces(const ModelOf<R>&, const T*, const T*, double, T*);           \
  template void split_element_wrenches(const ModelOf<R>&, const T*, const Workspace<T>&, bool, \
                                       std::vector<Spatial<T>>&, std::vector<Spatial<T>>&);
SYMPLECTREE_FORCES(double, double)
SYMPLECTREE_FORCES(double, Jet)
SYMPLECTREE_FORCES(Jet, Jet)
SYMPLECTREE_FORCES(double, DualOf<Jet>)
#undef SYMPLECTREE_FORCES

template void add_spring_forces(const Model&, const Pack<2>*, double, Pack<2>*);
template void add_spring_forces(const Model&, const Pack<4>*, double, Pack<4>*);
template void add_spring_forces(const Model&, const Pack<8>*, double, Pack<8>*);
template void add_spring_forces(const Model&, const Dual*, double, Dual*);
template void add_drive_forces(const Model&, const Dual*, const double*, double, Dual*);
template void add_element_wrenches(const Model&, const double*, ForceShares, Workspace<double>&);
template void add_element_wrenches(const Model&, const double*, ForceShares, Workspace<Dual>&);

}  // namespace symplectree
