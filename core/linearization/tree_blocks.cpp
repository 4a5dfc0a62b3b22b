// Second derivatives of discrete actions on a tree, by action and kind of number.
#include "linearization/tree_blocks.hpp"

#include "elements/joint_damper.hpp"
#include "integrators/body_action/body_actions.hpp"
#include "model/rows/joint_spring.hpp"
#include "model/rows/pair_rows.hpp"
#include "scalar/jet.hpp"

namespace symplectree {

bool step_blocks_cover(const Model& m) { return m.rows == 0 && step_blocks_cover_all_but_rows(m); }

bool step_blocks_cover_all_but_rows(const Model& m) {
  if (m.acts_on_bodies() || !m.users.empty() || !m.formulas.empty()) return false;
  for (int i : m.quaternions)
    for (int j = m.bodies[i].v; j < m.bodies[i].v + m.bodies[i].nv; ++j)
      if (m.armature[j] != 0) return false;
  for (const JointDamper& d : m.joint_dampers)
    if (m.bodies[m.body_of[d.v]].nv > 1) return false;
  return true;
}

template <class T>
StepBlocks<T>::StepBlocks(const Model& m)
    : N(m.nv * m.nv), R(m.nv * m.nv), P(m.nv * m.nv), carried(m.nv), own(m.size()), damping(joint_damping(m)), now(m),
      next(m) {}

namespace {

template <class Action, class T>
class ActionBlocks final : public StepBlocks<T> {
  using Base = StepBlocks<T>;
  using Base::N, Base::R, Base::P, Base::carried, Base::own, Base::damping, Base::now, Base::next;

 public:
  explicit ActionBlocks(const Model& m)
      : Base(m), m_(m), K_(m.size()), F_(m.size()), now_moment_(m.size()), next_moment_(m.size()), mass_(m.size()) {
    for (int i = m.size() - 1; i > 0; --i) mass_[i] += m.bodies[i].mass, mass_[m.bodies[i].parent] += mass_[i];
  }

  void evaluate(double h, const T* q0, const T* q1) override {
    compute_poses(m_, q0, now);
    compute_poses(m_, q1, next);
    for (int i = 1; i < m_.size(); ++i) place(i, 1 / h);
    if constexpr (std::is_same_v<T, double>) own = K_;
    for (int i = m_.size() - 1; i > 0; --i) {
      const int parent = m_.bodies[i].parent;
      if (parent == 0) continue;
      const Vec3<T>&r = now.pose[i].r, &s = next.pose[i].r;
      add_shifted(K_[parent], K_[i], r, s);
      F_[parent] += shift_force(F_[i], r);
      now_moment_[parent] += now_moment_[i] + T(mass_[i]) * r;
      next_moment_[parent] += next_moment_[i] + T(mass_[i]) * s;
    }
    for (T& x : N) x = T(0);
    for (T& x : R) x = T(0);
    for (T& x : P) x = T(0);
    for (int i = 1; i < m_.size(); ++i)
      for (int l = m_.bodies[i].v; l < m_.bodies[i].v + m_.bodies[i].nv; ++l) column(i, l, 0.5 * h);
    for (int j = 0; j < m_.nv; ++j) {
      const int at = (m_.nv + 1) * j;
      const double rotor = m_.armature[j] / h, drag = 0.5 * damping[j];
      N[at] += T(rotor + drag), R[at] += T(rotor + drag), P[at] += T(rotor - drag);
    }
    for (const JointSpring& s : m_.joint_springs) {
      const int at = (m_.nv + 1) * s.v;
      R[at] -= T(0.5 * h * s.stiffness), P[at] -= T(0.5 * h * s.stiffness);
    }
  }

 private:
  void place(int i, double inverse_h) {
    const Body& body = m_.bodies[i];
    const BodyPose<T>&p0 = now.pose[i], &p1 = next.pose[i];
    if constexpr (Action::block_diagonal) {
      HeldBody<T> held;
      MovedBody<T> moved;
      Action::hold(body, p0, held);
      const T d(body.mass * inverse_h);
      F_[i] = {Action::angular(held, p0.R, p1.R, inverse_h, moved), d * (p1.x - p0.x)};
      K_[i] = {Action::derivative(held, p1.R, moved, inverse_h),
               {},
               {},
               {{d, T(0), T(0)}, {T(0), d, T(0)}, {T(0), T(0), d}}};
    } else {
      const Spatial<T> moved = Action::logarithm(p0, p1);
      F_[i] = Action::momentum(body, moved, p0.R, inverse_h);
      K_[i] = Action::derivative(body, moved, p0.R, inverse_h);
    }
    now_moment_[i] = next_moment_[i] = {};
  }

  // Entries of coordinate l of body i with all that carry it. Wrenches a and c are about centres at the beginning, b
  // and g about those at the end.
  void column(int i, int l, double half) {
    const Vec3<T> gap = next.pose[i].x - now.pose[i].x, gravity(m_.gravity);
    const Spatial<T>&S = now.S[l], &S1 = next.S[l];
    const auto weight = [&](const Spatial<T>& s, const Vec3<T>& moment) {  // ω·this = (h/2) D D of gravity's potential
      return T(half) * cross(T(mass_[i]) * s.linear + cross(s.angular, moment), gravity);
    };
    Spatial<T> a = K_[i] * S1, b = transposed_times(K_[i], S);
    Spatial<T> c = K_[i] * shift_motion(S, gap) - bracket_force(S, F_[i]);
    Spatial<T> g = transposed_times(K_[i], shift_motion(S1, -gap)) + bracket_force(S1, shift_force(F_[i], -gap));
    const Vec3<T> now_weight = weight(S, now_moment_[i]), next_weight = weight(S1, next_moment_[i]);
    c.angular += now_weight, g.angular += next_weight;
    carried[l] = g;
    const int n = m_.nv;
    const Body& own = m_.bodies[i];
    // Within the joint R is that of moving with, not against, all that j carries: R_lj = (K̂ᵀ S_l) · S_j.
    Spatial<T> with = shift_force(b, gap);
    with.angular += now_weight;
    for (int j = own.v; j < own.v + own.nv; ++j) {
      N[n * l + j] = dot(b, next.S[j]);
      R[n * l + j] = dot(with, now.S[j]);
      P[n * l + j] = dot(g, next.S[j]);
    }
    for (int k = i; m_.bodies[k].parent > 0;) {
      const Vec3<T>&r = now.pose[k].r, &s = next.pose[k].r;
      a = shift_force(a, r), c = shift_force(c, r), b = shift_force(b, s), g = shift_force(g, s);
      k = m_.bodies[k].parent;
      const Body& body = m_.bodies[k];
      for (int j = body.v; j < body.v + body.nv; ++j) {
        N[n * j + l] = dot(now.S[j], a);
        N[n * l + j] = dot(b, next.S[j]);
        R[n * j + l] = R[n * l + j] = dot(now.S[j], c);
        P[n * j + l] = P[n * l + j] = dot(next.S[j], g);
      }
    }
  }

  const Model& m_;
  std::vector<Matrix6<T>> K_;                      // of each body, then of all that it carries
  std::vector<Spatial<T>> F_;                      // momenta, likewise, about the centre at the beginning
  std::vector<Vec3<T>> now_moment_, next_moment_;  // first moments of mass about the centres
  std::vector<double> mass_;
};

}  // namespace

template <class T>
std::unique_ptr<StepBlocks<T>> step_blocks(const Model& m, Action action) {
  if (action == Action::Cayley) return std::make_unique<ActionBlocks<Cayley, T>>(m);
  if (action == Action::Chord) return std::make_unique<ActionBlocks<Chord, T>>(m);
  if constexpr (std::is_same_v<T, double>)
    if (action == Action::Exponential) return std::make_unique<ActionBlocks<Exponential, T>>(m);
  return nullptr;
}

template std::unique_ptr<StepBlocks<double>> step_blocks(const Model&, Action);
template std::unique_ptr<StepBlocks<Dual>> step_blocks(const Model&, Action);
template std::unique_ptr<StepBlocks<Jet>> step_blocks(const Model&, Action);
template std::unique_ptr<StepBlocks<Pack<2>>> step_blocks(const Model&, Action);
template std::unique_ptr<StepBlocks<Pack<4>>> step_blocks(const Model&, Action);
template std::unique_ptr<StepBlocks<Pack<8>>> step_blocks(const Model&, Action);

}  // namespace symplectree
