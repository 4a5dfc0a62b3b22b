// The middle (q_m, v_m) of a step of the midpoint action, with D L, p = ∂L/∂v and the forces there, in O(n), on numbers
// T of the state and R of the model: plain ones, or such that carry derivatives.
//
// D_j L = P·Z_j + S_j·F, p_j = S_j·P, with P, F momentum and conservative wrench of all that the body carries and
// Z_j of velocity_change: relative to the rigid motion by S_j, every velocity at or beyond j changes by it (JM08 (16)).
#pragma once

#include "elements/element_forces.hpp"
#include "elements/user_elements_ad.hpp"
#include "integrators/joint_terms.hpp"
#include "integrators/midpoint/midpoint_block.hpp"
#include "kinematics/poses_twists.hpp"

namespace symplectree {

// The displacement of a Ball or Free joint from q0 to q1, as midpoint_block takes it.
template <class T, class R>
void displacement(const BodyOf<R>& b, const T* q0, const T* q1, Vec3<T>& d, Vec3<T>& shift) {
  const bool free = b.kind == Kind::Free;
  const Quaternion<T> a = load_quaternion(q0 + b.q + (free ? 3 : 0)), c = load_quaternion(q1 + b.q + (free ? 3 : 0));
  d = rotation_vector(between(a, c));
  if (free) shift = transposed_times(quaternion_matrix(a.w, a.v.x, a.v.y, a.v.z), load3(q1 + b.q) - load3(q0 + b.q));
}

// The middle of one step, allocated once. Sums of a body are over all that it carries, about its own centre.
template <class T, class R = double>
struct MidpointState {
  const ModelOf<R>& m;
  double alpha;
  bool conservative = false;       // leave out all forces that come from no energy
  Workspace<T> at;                 // poses, S and twists
  std::vector<T> q, v, dq, dv, f;  // D L, ∂L/∂v, and forces that come from no energy
  std::vector<T> tau, inputs;
  std::vector<MidpointBlock<T>> blocks;  // of Ball and Free joints, and of formulas; of all where T carries derivatives
  std::vector<Mat3<T>> inertia;          // of each body alone, in world axes
  std::vector<Spatial<T>> Z;             // of each velocity
  std::vector<Spatial<T>> P;             // of each body: momentum
  std::vector<R> mass;                   // of each body, and its first moment
  std::vector<Vec3<T>> moment;
  std::vector<Spatial<T>> springs, loads;  // of each body: wrench of springs; of dampers and loads

  MidpointState(const ModelOf<R>& model, double part)
      : m(model), alpha(part), at(m), q(m.nq), v(m.nv), dq(m.nv), dv(m.nv), f(m.nv), tau(m.nv), inputs(m.inputs),
        blocks(m.size()), inertia(m.size()), Z(m.nv), P(m.size()), mass(m.size()), moment(m.size()), springs(m.size()),
        loads(m.size()), users_(m), d_(m.nv) {
    read_model();
  }

  // Forces over the step; null where there are none.
  void set_forces(const T* generalized, const T* of_inputs) {
    if (generalized) std::copy(generalized, generalized + m.nv, tau.begin());
    if (of_inputs) std::copy(of_inputs, of_inputs + m.inputs, inputs.begin());
  }

  // Everything at the middle of q0 and q1, with derivatives of formulas up to `Order`: 1, and 2 for Newton's matrix.
  template <int Order>
  void evaluate(const StepEnds<T>& step) {
    if constexpr (carries_derivatives<R>) read_model();  // its numbers may have changed
    for (int i = 1; i < m.size(); ++i) place(m.bodies[i], i, step);
    sines_and_cosines(q.data(), m.nq, at.sine.data(), at.cosine.data());
    for (int i = 1; i < m.size(); ++i) move<Order>(m.bodies[i], i);
    forces();
  }

  // D L, ∂L/∂v and f, where everything has been placed.
  void forces() {
    joint_elements();
    if (m.acts_on_bodies()) split_element_wrenches(m, inputs.data(), at, conservative, springs, loads);
    for (int i = 1; i < m.size(); ++i) {
      P[i] = {inertia[i] * at.V[i].angular, T(m.bodies[i].mass) * at.V[i].linear};
      moment[i] = {};
    }
    for (int i = m.size() - 1; i > 0; --i) collect(m.bodies[i], i);
  }

  // h (q∓ᵀ D L + v∓ᵀ p) + (h/2) carry∓ᵀ f for coordinate k of body i, JM09 (19), (20), (43); of plain numbers also the
  // size of its terms.
  T end_force(int i, int k, const T& h, bool end, double* size = nullptr) const {
    const BodyOf<R>& b = m.bodies[i];
    if (b.nv == 1) {
      const T kinetic = end ? dv[b.v] : -dv[b.v], rest = h * (T(end ? alpha : 1 - alpha) * dq[b.v] + T(0.5) * f[b.v]);
      if (size) *size = std::fabs(value_of(kinetic)) + std::fabs(value_of(rest));
      return kinetic + rest;
    }
    const MidpointBlock<T>& block = blocks[i];
    T sum(0);
    if (size) *size = 0;
    for (int l = 0; l < b.nv; ++l) {
      const int j = b.v + l;
      const T terms[3] = {h * (end ? block.q1 : block.q0)[l][k] * dq[j], h * (end ? block.v1 : block.v0)[l][k] * dv[j],
                          T(0.5) * h * (end ? block.carry1 : block.carry0)[l][k] * f[j]};
      for (const T& t : terms) {
        sum += t;
        if (size) *size += std::fabs(value_of(t));
      }
    }
    return sum;
  }

  // (q_m, v_m) of a joint, and its blocks.
  void place(const BodyOf<R>& b, int i, const StepEnds<T>& step) {
    const T part(alpha);
    if (b.flat()) {
      for (int k = 0; k < b.nv; ++k) {
        const T moved = step.q1[b.q + k] - step.q0[b.q + k];
        q[b.q + k] = step.q0[b.q + k] + part * moved;
        v[b.v + k] = moved / step.h;
      }
      if (b.formula || carries_derivatives<T>) blocks[i].set_plain(b.nv, step.h, part);
      return;
    }
    const bool free = b.kind == Kind::Free;
    const T inverse = T(1) / step.h;
    Vec3<T> d, shift{};
    displacement(b, step.q0, step.q1, d, shift);
    blocks[i] = midpoint_block<T>(free, d, shift, step.h, part);
    const int first = b.q + (free ? 3 : 0);
    const Quaternion<T> turn = turned(load_quaternion(step.q0 + first), part * d);
    q[first] = turn.w;
    store3(turn.v, &q[first + 1]);
    store3(inverse * d, &v[b.v]);
    if (!free) return;
    for (int k = 0; k < 3; ++k) q[b.q + k] = step.q0[b.q + k] + part * (step.q1[b.q + k] - step.q0[b.q + k]);
    store3(inverse * (rotation_matrix(-part * d) * shift), &v[b.v + 3]);
  }

 private:
  void read_model() {
    std::fill(mass.begin(), mass.end(), R(0));
    for (int i = m.size() - 1; i > 0; --i) {
      mass[i] += m.bodies[i].mass;
      mass[m.bodies[i].parent] += mass[i];
    }
  }

  // Pose and twist of a body, and derivatives of a formula up to `Order`.
  template <int Order>
  void move(const BodyOf<R>& b, int i) {
    place_body<Order>(b, q.data(), at.pose[i], at);
    const Spatial<T> parent = shift_motion(at.V[b.parent], at.pose[i].r);
    for (int k = 0; k < b.nv; ++k) Z[b.v + k] = velocity_change(b, k, parent, v.data(), at);
    at.V[i] = parent + joint_twist(b, at.S.data(), v.data());
    inertia[i] = rotated_columns(at.pose[i].R, cast<T>(b.inertia));
  }

  void joint_elements() {
    std::fill(dq.begin(), dq.end(), T(0));
    std::fill(f.begin(), f.end(), T(0));
    if (!conservative) std::copy(tau.begin(), tau.end(), f.begin());
    add_spring_forces(m, q.data(), 1, dq.data());
    if (!m.users.empty()) user_elements();
    if (!conservative) add_drive_forces(m, v.data(), inputs.data(), 1, f.data());
  }

  void user_elements() {
    if constexpr (carries_derivatives<T>) {
      for (const UserElement& u : m.users)
        for (std::size_t k = 0; k < u.q.size() && u.q.size() == u.v.size(); ++k)
          d_[u.v[k]] = q[u.q[k]] - T(value_of(q[u.q[k]]));
      users_.add_forces(UserElement::Potential, T(1), q.data(), d_.data(), nullptr, dq.data());
      if (!conservative) users_.add_forces(UserElement::Force, T(1), q.data(), d_.data(), v.data(), f.data());
    } else {
      for (const UserElement& u : m.users) {
        if (u.kind == UserElement::Constraint) continue;
        const bool potential = u.kind == UserElement::Potential;
        user_.evaluate(u, potential ? 1 : 0, q.data(), v.data());
        for (int k = 0; k < u.size(); ++k) (potential ? dq : f)[u.v[k]] += potential ? -user_.first[k] : user_.value[k];
      }
    }
  }

  // What a body with all that it carries gives its joint, and hands to its parent.
  void collect(const BodyOf<R>& b, int i) {
    const Vec3<T>& r = at.pose[i].r;
    const Vec3<T> gravity(m.gravity);
    Spatial<T> F{cross(moment[i], gravity), T(mass[i]) * gravity};
    const bool elements = m.acts_on_bodies();
    if (elements) F += springs[i];
    for (int j = b.v; j < b.v + b.nv; ++j) {
      dv[j] = dot(at.S[j], P[i]) + T(m.armature[j]) * v[j];
      dq[j] += dot(P[i], Z[j]) + dot(at.S[j], F);
      if (elements) f[j] += dot(at.S[j], loads[i]);
    }
    if (b.parent == 0) return;
    P[b.parent] += shift_force(P[i], r);
    moment[b.parent] += moment[i] + T(mass[i]) * r;
    if (!elements) return;
    springs[b.parent] += shift_force(springs[i], r);
    loads[b.parent] += shift_force(loads[i], r);
  }

  UserTerms user_;
  UserElementsAD<T, R> users_;
  std::vector<T> d_;  // increments of the user's coordinates from their values
};

// N (nv × nv) ← N − ∂/∂q' of the blocks in r, with D L, p and f held, by dual numbers: an increment ε of the end
// changes d by J_r⁻¹ε and a Free joint's shift by R_0ᵀ R_1 ε. `stride` is that of N's rows.
inline void add_chart_change(const MidpointState<double>& mid, const Body& b, StepEnds<double> step, double* N,
                             int stride) {
  const auto [h, q0, q1] = step;
  const bool free = b.kind == Kind::Free;
  Vec3<double> d, shift;
  displacement(b, q0, q1, d, shift);
  const Mat3<double> turn = rotation_matrix(d);
  for (int c = 0; c < b.nv; ++c) {
    const Vec3<double> e{double(c % 3 == 0), double(c % 3 == 1), double(c % 3 == 2)};
    const Vec3<double> dd = c < 3 ? right_jacobian_inverse(d, e) : Vec3<double>{},
                       ds = c < 3 ? Vec3<double>{} : turn * e;
    const Vec3<Dual> x{{d.x, dd.x}, {d.y, dd.y}, {d.z, dd.z}}, s{{shift.x, ds.x}, {shift.y, ds.y}, {shift.z, ds.z}};
    const MidpointBlock<Dual> m = midpoint_block<Dual>(free, x, s, Dual(h), Dual(mid.alpha));
    for (int k = 0; k < b.nv; ++k)
      for (int l = 0; l < b.nv; ++l)
        N[stride * k + c] -= h * (m.q0[l][k].slope * mid.dq[b.v + l] + m.v0[l][k].slope * mid.dv[b.v + l] +
                                  0.5 * m.carry0[l][k].slope * mid.f[b.v + l]);
  }
}

}  // namespace symplectree
