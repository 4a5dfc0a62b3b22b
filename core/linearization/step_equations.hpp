// The equations of a variational step, for numbers that carry derivatives:
//
//   r(q, q', λ, f) + p = 0,   h(q') = 0,   p' = g(q, q', f),
//
// the same as step.hpp and midpoint_step.hpp solve. And those of the velocity that goes with p' along constraints,
// M(q') v + Dh(q')ᵀ μ = p', Dh(q') v = 0.
//
// T are the numbers of the state, R those of the model.
#pragma once

#include "constraints/row_evaluation.hpp"
#include "dynamics/dynamics.hpp"
#include "elements/user_elements_ad.hpp"
#include "integrators/body_action/body_actions.hpp"
#include "integrators/midpoint/midpoint_state.hpp"

namespace symplectree {

// What a step is made of; `d0`, `d1` (nv) are the increments by which q0 and q1 differ from their values, `lambda` are
// impulses.
template <class T>
struct StepArguments {
  T h;
  const T *q0, *q1, *d0, *d1, *lambda, *tau, *inputs;
};

// Rows of constraints at the two ends.
template <class T, class R = double>
class RowEquations {
 public:
  explicit RowEquations(const ModelOf<R>& m)
      : m_(m),
        structure_(m),
        terms_(structure_.rows(), structure_.pull_body.size(), structure_.coefficient_v.size()),
        force_(m.size()),
        users_(m) {}

  bool users = true;  // are the user's own rows among these? Without them these have no value and no derivative

  // Of row k where rows were evaluated last.
  const T& value(int k) const { return terms_.value[k]; }

  // out (nv) += Dh(q)ᵀ λ; poses in `at` are those of q.
  void add_impulses(const T* q, const T* d, const T* lambda, const Workspace<T>& at, T* out) {
    place(q, d, at);
    for (auto& f : force_) f = {};
    for (int k = 0; k < m_.rows; ++k) {
      for (int e = structure_.pull_start[k]; e < structure_.pull_start[k + 1]; ++e)
        force_[structure_.pull_body[e]] += lambda[k] * terms_.pull[e];
      for (int e = structure_.coefficient_start[k]; e < structure_.coefficient_start[k + 1]; ++e)
        out[structure_.coefficient_v[e]] += lambda[k] * terms_.coefficient[e];
    }
    for (int i = m_.size() - 1; i > 0; --i) {
      const BodyOf<R>& b = m_.bodies[i];
      for (int j = b.v; j < b.v + b.nv; ++j) out[j] += dot(at.S[j], force_[i]);
      force_[b.parent] += shift_force(force_[i], at.pose[i].r);
    }
  }

  // value (rows) ← h(q1), or what nonholonomic rows say of the step.
  void values(const T* q0, const T* q1, const T* d1, const Workspace<T>& end, T* value) {
    place(q1, d1, end);
    for (int k = 0; k < m_.rows; ++k) value[k] = terms_.value[k];
    if (users) users_.add_steps(q0, q1, value);
  }

  // rate (rows) ← Dh(q) v, with twists of bodies in `at`.
  void rates(const T* q, const T* d, const T* v, const Workspace<T>& at, T* rate) {
    place(q, d, at);
    for (int k = 0; k < m_.rows; ++k) {
      rate[k] = T(0);
      for (int e = structure_.pull_start[k]; e < structure_.pull_start[k + 1]; ++e)
        rate[k] += dot(terms_.pull[e], at.V[structure_.pull_body[e]]);
      for (int e = structure_.coefficient_start[k]; e < structure_.coefficient_start[k + 1]; ++e)
        rate[k] += terms_.coefficient[e] * v[structure_.coefficient_v[e]];
    }
  }

 private:
  void place(const T* q, const T* d, const Workspace<T>& at) {
    evaluate_row_terms<true>(m_, structure_.pull_start, structure_.coefficient_start, q, at, terms_);
    if (users) users_.add_rows(structure_.coefficient_start, q, d, terms_);
  }

  const ModelOf<R>& m_;
  RowPlaces structure_;
  RowTerms<T> terms_;
  std::vector<Spatial<T>> force_;
  LiftedUsers<T, R> users_;
};

// Actions of bodies between their poses at the two ends.
template <class Action, class T, class R = double>
class TreeEquations {
 public:
  static constexpr bool at_middle = false;  // are forces those at the middle of the step?

  explicit TreeEquations(const ModelOf<R>& m)
      : start(m), end(m), m_(m), momentum_(m.size()), F_(m.size()), zero_(m.nv), way_(m.nv), damping_(m.nv), users_(m) {
    sum_damping();
  }

  Workspace<T> start, end;
  bool conservative = false;  // leave out all forces that come from no energy: loads, dampers, rotors

  // r and g; poses at both ends are left in `start` and `end`.
  void evaluate(const StepArguments<T>& a, T* r, T* p1) {
    compute_poses(m_, a.q0, start);
    compute_poses(m_, a.q1, end);
    const T inverse_h = T(1) / a.h;
    for (int i = 1; i < m_.size(); ++i) momentum_[i] = momentum(m_.bodies[i], start.pose[i], end.pose[i], inverse_h);
    if (m_.user_forces && !conservative) {
      increments_lifted(m_, a.q0, a.q1, way_.data());
      for (T& d : way_) d = inverse_h * d;
    }
    if constexpr (carries_derivatives<R>) sum_damping();  // the model's numbers may have changed
    side(a, start, a.q0, a.d0, false, r);
    side(a, end, a.q1, a.d1, true, p1);
  }

  // What a joint's own rotor and damper add: −(a/h + c/2)(q' − q) at the beginning, (a/h − c/2)(q' − q) at the end; of
  // quaternions with the vector part of twice the half turn.
  void rotors(const StepArguments<T>& a, const BodyOf<R>& b, bool at_end, T* out) const {
    const T side = T(at_end ? 1 : -1) / a.h;
    const auto factor = [&](int k) { return side * T(m_.armature[b.v + k]) - T(0.5) * T(damping_[b.v + k]); };
    if (b.flat()) {
      for (int k = 0; k < b.nv; ++k) out[k] += factor(k) * (a.q1[b.q + k] - a.q0[b.q + k]);
      return;
    }
    const bool free = b.kind == Kind::Free;
    const Quaternion<T> z0 = load_quaternion(a.q0 + b.q + (free ? 3 : 0)),
                        z1 = load_quaternion(a.q1 + b.q + (free ? 3 : 0)), turn = between(z0, z1);
    const T s[3] = {turn.v.x, turn.v.y, turn.v.z};
    for (int k = 0; k < 3; ++k)
      out[k] += (T(2) * side * T(m_.armature[b.v + k]) * turn.w - T(damping_[b.v + k])) * s[k];
    if (!free) return;
    const Quaternion<T>& z = at_end ? z1 : z0;
    const Vec3<T> x{a.q1[b.q] - a.q0[b.q], a.q1[b.q + 1] - a.q0[b.q + 1], a.q1[b.q + 2] - a.q0[b.q + 2]};
    const Vec3<T> u = transposed_times(quaternion_matrix(z.w, z.v.x, z.v.y, z.v.z), x);
    out[3] += factor(3) * u.x, out[4] += factor(4) * u.y, out[5] += factor(5) * u.z;
  }

 private:
  void sum_damping() {
    std::fill(damping_.begin(), damping_.end(), R(0));
    for (const JointDamperOf<R>& d : m_.joint_dampers) damping_[d.v] += d.damping;
  }

  static Spatial<T> momentum(const BodyOf<R>& body, const BodyPose<T>& p0, const BodyPose<T>& p1, const T& inverse_h) {
    if constexpr (Action::block_diagonal) {
      HeldBody<T> held;
      MovedBody<T> moved;
      Action::hold(body, p0, held);
      return {Action::angular(held, p0.R, p1.R, inverse_h, moved), (T(body.mass) * inverse_h) * (p1.x - p0.x)};
    } else {
      return Action::momentum(body, Action::logarithm(p0, p1), p0.R, inverse_h);
    }
  }

  // out ← −momentum of the bodies and half a step's forces at the beginning, +momentum and these at the end.
  void side(const StepArguments<T>& a, Workspace<T>& at, const T* q, const T* d, bool at_end, T* out) {
    const T half = T(0.5) * a.h;
    for (auto& f : at.force) f = {};
    if (conservative) {
      springs(half, at, q, out);
    } else {
      joint_element_forces(m_, q, zero_.data(), a.inputs, at, false);
      for (int j = 0; j < m_.nv; ++j) out[j] = half * (at.joint_force[j] + a.tau[j]);
      if (m_.user_forces) users_.add_forces(UserElement::Force, half, q, d, way_.data(), out);
      if (m_.has_lines_or_wrenches()) subtract_element_wrenches(m_, a.inputs, at);  // velocities are zero: no damping
    }
    users_.add_forces(UserElement::Potential, half, q, d, nullptr, out);
    for (int i = 1; i < m_.size(); ++i) {
      const Spatial<T>& mu = momentum_[i];
      F_[i] = {-half * at.force[i].angular,
               -half * at.force[i].linear + (half * T(m_.bodies[i].mass)) * Vec3<T>(m_.gravity)};
      if (!at_end) {
        F_[i] -= mu;
      } else {
        F_[i] += mu;
        if constexpr (!Action::block_diagonal) F_[i].angular -= cross(end.pose[i].x - start.pose[i].x, mu.linear);
      }
    }
    if (!conservative) damp_lines(at);
    for (int i = m_.size() - 1; i > 0; --i) {
      const BodyOf<R>& b = m_.bodies[i];
      for (int j = b.v; j < b.v + b.nv; ++j) out[j] += dot(at.S[j], F_[i]);
      F_[b.parent] += shift_force(F_[i], at.pose[i].r);
      if (!conservative) rotors(a, b, at_end, out + b.v);
    }
  }

  // out ← impulses of joint springs; at.force loses the wrenches of springs between points.
  void springs(const T& half, Workspace<T>& at, const T* q, T* out) const {
    for (int j = 0; j < m_.nv; ++j) out[j] = T(0);
    for (const JointSpringOf<R>& s : m_.joint_springs) out[s.v] -= half * T(s.stiffness) * (q[s.q] - T(s.rest));
    for (const LineOf<R>& line : m_.lines) {
      const Vec3<T> a = position(line.a, at), b = position(line.b, at);
      const LineState<T> s = line_state(line, m_.potentials, b - a);
      const Vec3<T> tension = s.slope_over_length * s.d;
      at.force[line.a.body] -= force_at(a, tension, line.a.body, at);
      at.force[line.b.body] += force_at(b, tension, line.b.body, at);
    }
  }

  // Half a step's impulse of dampers between points: by the change of length, along the line at this end.
  void damp_lines(const Workspace<T>& at) {
    using std::sqrt;
    for (const LineOf<R>& line : m_.lines) {
      if (vanishes(line.damping)) continue;
      const auto length = [&](const Workspace<T>& w) {
        const Vec3<T> d = position(line.b, w) - position(line.a, w);
        return sqrt(dot(d, d));
      };
      const Vec3<T> a = position(line.a, at), b = position(line.b, at);
      const T here = length(at);
      if (value_of(here) == 0) continue;
      const Vec3<T> f = (T(0.5) * T(line.damping) * (length(end) - length(start)) / here) * (b - a);  // on a; −f on b
      F_[line.a.body] += force_at(a, f, line.a.body, at);
      F_[line.b.body] -= force_at(b, f, line.b.body, at);
    }
  }

  const ModelOf<R>& m_;
  std::vector<Spatial<T>> momentum_, F_;
  std::vector<T> zero_, way_;
  std::vector<R> damping_;  // of each velocity, by joint dampers
  LiftedUsers<T, R> users_;
};

// The midpoint action, as in midpoint_state.hpp.
template <class T, class R = double>
class MiddleEquations {
 public:
  static constexpr bool at_middle = true;

  MiddleEquations(const ModelOf<R>& m, double alpha)
      : start(m),
        end(m),
        q(m.nq),
        v(m.nv),
        blocks(m.size()),
        m_(m),
        alpha_(alpha),
        at_(m),
        dq_(m.nv),
        dv_(m.nv),
        f_(m.nv),
        d_(m.nv),
        P_(m.size()),
        users_(m) {}

  Workspace<T> start, end;
  std::vector<T> q, v;  // of the middle, and how they move with the ends
  std::vector<MiddleBlock<T>> blocks;
  bool conservative = false;  // leave out all forces that come from no energy

  void evaluate(const StepArguments<T>& a, T* r, T* p1) {
    if (m_.rows > 0) compute_poses(m_, a.q0, start);
    compute_poses(m_, a.q1, end);
    for (int i = 1; i < m_.size(); ++i) place(a, m_.bodies[i], i);
    compute_poses<1>(m_, q.data(), at_);
    compute_velocities(m_, v.data(), at_);
    forces(a);
    for (int i = 1; i < m_.size(); ++i) {
      const BodyOf<R>& b = m_.bodies[i];
      const MiddleBlock<T>& m = blocks[i];
      for (int k = 0; k < b.nv; ++k) {
        T &first = r[b.v + k], &last = p1[b.v + k];
        first = last = T(0);
        for (int l = 0; l < b.nv; ++l) {
          const int j = b.v + l;
          const T dq = a.h * dq_[j], dv = a.h * dv_[j], f = T(0.5) * a.h * f_[j];
          first += m.q0[l][k] * dq + m.v0[l][k] * dv + m.carry0[l][k] * f;
          last += m.q1[l][k] * dq + m.v1[l][k] * dv + m.carry1[l][k] * f;
        }
      }
    }
  }

  // The middle of one joint.
  void place(const StepArguments<T>& a, const BodyOf<R>& b, int i) {
    const T alpha(alpha_), inverse = T(1) / a.h;
    if (b.flat()) {
      for (int k = 0; k < b.nv; ++k) {
        const T way = a.q1[b.q + k] - a.q0[b.q + k];
        q[b.q + k] = a.q0[b.q + k] + alpha * way;
        v[b.v + k] = inverse * way;
      }
      blocks[i].set_plain(b.nv, a.h, alpha);
      return;
    }
    const bool free = b.kind == Kind::Free;
    const Quaternion<T> z0 = load_quaternion(a.q0 + b.q + (free ? 3 : 0)),
                        z1 = load_quaternion(a.q1 + b.q + (free ? 3 : 0));
    const Vec3<T> d = rotation_vector(between(z0, z1));
    const Vec3<T> x{a.q1[b.q] - a.q0[b.q], a.q1[b.q + 1] - a.q0[b.q + 1], a.q1[b.q + 2] - a.q0[b.q + 2]};
    const Vec3<T> shift = free ? transposed_times(quaternion_matrix(z0.w, z0.v.x, z0.v.y, z0.v.z), x) : Vec3<T>{};
    blocks[i] = middle_block<T>(free, d, shift, a.h, alpha);
    store(product(z0, rotation_quaternion(alpha * d)), &q[b.q + (free ? 3 : 0)]);
    const Vec3<T> turning = inverse * d;
    v[b.v] = turning.x, v[b.v + 1] = turning.y, v[b.v + 2] = turning.z;
    if (!free) return;
    for (int k = 0; k < 3; ++k) q[b.q + k] = a.q0[b.q + k] + alpha * (a.q1[b.q + k] - a.q0[b.q + k]);
    const Vec3<T> u = inverse * (rotation_matrix(-(alpha * d)) * shift);
    v[b.v + 3] = u.x, v[b.v + 4] = u.y, v[b.v + 5] = u.z;
  }

 private:
  // D L, ∂L/∂v and forces that come from no energy, at the middle.
  void forces(const StepArguments<T>& a) {
    for (int j = 0; j < m_.nv; ++j) dq_[j] = T(0), f_[j] = conservative ? T(0) : a.tau[j], d_[j] = T(0);
    for (const JointSpringOf<R>& s : m_.joint_springs) dq_[s.v] -= T(s.stiffness) * (q[s.q] - T(s.rest));
    if (!conservative) {
      for (const JointDamperOf<R>& s : m_.joint_dampers) f_[s.v] -= T(s.damping) * v[s.v];
      for (const JointForceOf<R>& s : m_.joint_forces)
        f_[s.v] += T(s.value) + (s.input >= 0 ? a.inputs[s.input] : T(0));
    }
    if (!m_.users.empty()) {
      for (const UserElement& u : m_.users)
        for (std::size_t k = 0; k < u.q.size() && u.q.size() == u.v.size(); ++k)
          d_[u.v[k]] = q[u.q[k]] - T(value_of(q[u.q[k]]));
      users_.add_forces(UserElement::Potential, 1, q.data(), d_.data(), nullptr, dq_.data());
      if (!conservative) users_.add_forces(UserElement::Force, 1, q.data(), d_.data(), v.data(), f_.data());
    }
    bodies(a);
  }

  // Of all that bodies carry: momentum, and wrenches of gravity and of elements. Springs count as energy, dampers and
  // loads do not.
  void bodies(const StepArguments<T>& a) {
    std::vector<Spatial<T>>&wrench = at_.force, &load = at_.acceleration;
    for (int i = 1; i < m_.size(); ++i) {
      const BodyOf<R>& b = m_.bodies[i];
      const Spatial<T>& V = at_.V[i];
      P_[i] = {rotated_columns(at_.pose[i].R, cast<T>(b.inertia)) * V.angular, T(b.mass) * V.linear};
      wrench[i] = {{}, T(b.mass) * Vec3<T>(m_.gravity)};
      load[i] = {};
    }
    for (const LineOf<R>& line : m_.lines) {
      const Vec3<T> xa = position(line.a, at_), xb = position(line.b, at_);
      const LineState<T> s = line_state(line, m_.potentials, xb - xa);
      const Vec3<T> tension = s.slope_over_length * s.d;
      wrench[line.a.body] += force_at(xa, tension, line.a.body, at_);
      wrench[line.b.body] -= force_at(xb, tension, line.b.body, at_);
      if (vanishes(line.damping) || conservative) continue;
      const T rate = dot(s.u, velocity_at(xb, line.b.body, at_) - velocity_at(xa, line.a.body, at_));
      const Vec3<T> drag = (T(line.damping) * rate) * s.u;
      load[line.a.body] += force_at(xa, drag, line.a.body, at_);
      load[line.b.body] -= force_at(xb, drag, line.b.body, at_);
    }
    for (const WrenchOf<R>& row : m_.wrenches) {
      if (conservative) break;
      const Spatial<T> given = world_wrench(row, a.inputs, at_);
      load[row.point.body] += force_at(position(row.point, at_), given.linear, row.point.body, at_);
      load[row.point.body].angular += given.angular;
    }
    for (int i = m_.size() - 1; i > 0; --i) {
      const BodyOf<R>& b = m_.bodies[i];
      const Vec3<T>& r = at_.pose[i].r;
      const Spatial<T> parent = shift_motion(at_.V[b.parent], r);
      for (int k = 0; k < b.nv; ++k) {
        const int j = b.v + k;
        dv_[j] = dot(at_.S[j], P_[i]) + T(m_.armature[j]) * v[j];
        dq_[j] += dot(P_[i], velocity_change(b, k, parent, v.data(), at_)) + dot(at_.S[j], wrench[i]);
        f_[j] += dot(at_.S[j], load[i]);
      }
      if (b.parent == 0) continue;
      P_[b.parent] += shift_force(P_[i], r);
      wrench[b.parent] += shift_force(wrench[i], r);
      load[b.parent] += shift_force(load[i], r);
    }
  }

  const ModelOf<R>& m_;
  double alpha_;
  Workspace<T> at_;
  std::vector<T> dq_, dv_, f_, d_;
  std::vector<Spatial<T>> P_;
  LiftedUsers<T, R> users_;
};

}  // namespace symplectree
