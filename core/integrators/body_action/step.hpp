// The variational one-step map (q, p) → (q', p') of a tree whose bodies have an action each (LLPS16 Algorithm 2; design
// section 7), in linear time, on numbers T of the state and R of the model: plain ones, or such that carry derivatives.
//
//   r = p − Jᵀμ⁻ + (h/2) Q(q) + f⁻ = 0,   then   p' = J'ᵀμ⁺ + (h/2) Q(q') + f⁺,
//
// in which μ⁻ depends on the unknown q', and Q are all forces that depend on position only (gravity, springs, loads).
// Dampers act through the displacement of the step, half at each end.
//
// A run finds its root with these functions on plain numbers (tree_elimination.hpp has Newton's matrix), derivatives
// come from the same functions on jets (linearization/step_equations.hpp).
#pragma once

#include "integrators/body_action/step_workspace.hpp"
#include "kinematics/configurations.hpp"
#include "kinematics/poses_twists.hpp"

namespace symplectree {

template <class T>
inline constexpr bool is_pack = false;
template <int W>
inline constexpr bool is_pack<Pack<W>> = true;

// w.joint_load, and at.force less the wrenches, of springs alone.
template <class T, class R>
void spring_loads(StepWorkspace<T, R>& w, Workspace<T>& at, const T* q) {
  for (T& f : w.joint_load) f = T(0);
  add_spring_forces(w.m, q, 1, w.joint_load.data());
  add_pair_wrenches(w.m, at, -1, 1, 0, at.force);
}

// w.load, w.joint_load ← all forces that depend on position only, at the poses in `at`, except gravity.
template <class T, class R>
void position_loads(StepWorkspace<T, R>& w, Workspace<T>& at, const T* q, const T* tau, const T* inputs) {
  if (w.loads)
    for (auto& f : at.force) f = {};
  if (w.conservative) {
    spring_loads(w, at, q);
  } else {
    joint_element_forces(w.m, q, w.zero.data(), inputs, at, false);
    for (int j = 0; j < w.m.nv; ++j) w.joint_load[j] = at.joint_force[j] + tau[j];
    if (w.loads) subtract_element_wrenches(w.m, inputs, at);  // velocities in `at` are zero: no damping
  }
  if constexpr (carries_derivatives<T>)
    w.users.add_forces(UserElement::Potential, T(1), q, &at == w.now ? w.d0 : w.d1, nullptr, w.joint_load.data());
  if (!w.loads) return;
  for (int i = 1; i < w.m.size(); ++i) w.load[i] = T(-1) * at.force[i];
}

// Take hold of all bodies at the step's beginning. Poses in w.now must be there.
template <class Action, class T, class R>
void hold_bodies(StepWorkspace<T, R>& w) {
  for (int i = 1; i < w.m.size(); ++i) Action::hold(w.m.bodies[i], w.now->pose[i], w.motion[i].held);
}

// The step's beginning: b, the part of r that q' does not change. Poses in w.now must be there.
template <class T, class R>
void begin_step(StepWorkspace<T, R>& w, T h, const T* q, const T* p, const T* tau, const T* inputs) {
  const ModelOf<R>& m = w.m;
  position_loads(w, *w.now, q, tau, inputs);
  for (int j = 0; j < m.nv; ++j) {
    w.b[j] = p[j] + T(0.5) * h * w.joint_load[j];
    w.stiff[j] = w.conservative ? T(0) : T(m.armature[j]) / h + T(0.5) * T(w.damping[j]);
  }
  if (w.damped_pairs) {
    Gauge<T>* g = w.gauge.data();
    m.for_pairs([&](const auto& row) { *g++ = gauge_of(row, *w.now); });
  }
}

// Poses at q', the momenta of all bodies, and w.F, these less what gravity supplies at the beginning. `Holding`: first
// take hold of the bodies at the step's beginning.
template <class Action, bool Holding = false, class T, class R>
void displace(StepWorkspace<T, R>& w, T h, const T* q_next) {
  const ModelOf<R>& m = w.m;
  const T inverse_h = T(1) / h;
  sines_and_cosines(q_next, m.nq, w.next->sine.data(), w.next->cosine.data());
  for (int i = 1; i < m.size(); ++i) {
    const BodyOf<R>& body = m.bodies[i];
    BodyPose<T>& end = w.next->pose[i];
    const BodyPose<T>& start = w.now->pose[i];
    place_body(body, q_next, end, *w.next);
    if constexpr (Holding) Action::hold(body, start, w.motion[i].held);
    Spatial<T> mu;
    if constexpr (Action::block_diagonal) {
      mu = {Action::angular(w.motion[i].held, start.R, end.R, inverse_h, w.motion[i].moved),
            (T(body.mass) * inverse_h) * (end.x - start.x)};
    } else {
      mu = Action::momentum(body, Action::logarithm(start, end), start.R, inverse_h);
    }
    w.motion[i].momentum = mu;
    w.F[i] = {mu.angular, mu.linear - (T(0.5) * h * T(body.mass)) * Vec3<T>(m.gravity)};
  }
}

// w.F as displace leaves it.
template <class T, class R>
void restore_impulses(StepWorkspace<T, R>& w, T h) {
  for (int i = 1; i < w.m.size(); ++i)
    w.F[i] = {w.motion[i].momentum.angular,
              w.motion[i].momentum.linear - (T(0.5) * h * T(w.m.bodies[i].mass)) * Vec3<T>(w.m.gravity)};
}

// w.F += half a step's impulses of damped pairs at the end, or −= at the beginning: by the change of the gauge,
// ∓½ c (s' − s) Ds, with Ds at that end.
template <class T, class R>
void add_pair_damping(StepWorkspace<T, R>& w, bool at_end) {
  if (!w.damped_pairs || w.conservative) return;
  const Gauge<T>* next = w.gauge.data();
  w.m.for_pairs([&](const auto& row) {
    const Gauge<T>& start = *next++;
    if (vanishes(row.damping)) return;
    const Gauge<T> end = gauge_of(row, *w.next), &here = at_end ? end : start;
    const T half = T(at_end ? -0.5 : 0.5) * T(row.damping) * gauge_change(row, start.value, end.value);
    add_gauge(row, here, half * here.scale, w.F);
  });
}

// Less what loads and damped pairs supply at the beginning, after displace.
template <class T, class R>
void subtract_loads(StepWorkspace<T, R>& w, T h) {
  if (!w.loads) return;
  for (int i = 1; i < w.m.size(); ++i) w.F[i] -= (T(0.5) * h) * w.load[i];
  add_pair_damping(w, false);
}

// What the joint's own rotor and damper take from the residual of body i's coordinates, or give to p' at the end.
template <bool AtEnd, class T, class R>
[[gnu::always_inline]] inline void joint_terms(const StepWorkspace<T, R>& w, int i, StepEnds<T> step, T* t) {
  const BodyOf<R>& body = w.m.bodies[i];
  if (body.nv == 1) {
    const T moved = step.q1[body.q] - step.q0[body.q];
    if constexpr (!AtEnd) {
      t[0] = w.stiff[body.v] * moved;
    } else {
      t[0] = w.conservative ? T(0) : (T(w.m.armature[body.v]) / step.h - T(0.5) * T(w.damping[body.v])) * moved;
    }
  } else if (w.has_block_terms[i] && !w.conservative) {
    joint_block_terms(w.joint_numbers(), body, step, AtEnd, t, nullptr);
  } else {
    std::fill(t, t + body.nv, T(0));
  }
}

// w.user_impulse ← (h/2) f(q_at, (q1 ⊖ q0)/h) of the user's forces, at the beginning or the end.
template <class T, class R>
void user_impulses(StepWorkspace<T, R>& w, StepEnds<T> step, bool at_end) {
  const ModelOf<R>& m = w.m;
  const T half = T(0.5) * step.h, *q = at_end ? step.q1 : step.q0;
  std::fill(w.user_impulse.begin(), w.user_impulse.end(), T(0));
  if constexpr (carries_derivatives<T>) {
    const T inverse_h = T(1) / step.h;
    increments_ad(m, step.q0, step.q1, w.displacement.data());
    for (T& d : w.displacement) d = inverse_h * d;
    w.users.add_forces(UserElement::Force, half, q, at_end ? w.d1 : w.d0, w.displacement.data(), w.user_impulse.data());
  } else {
    for (int i = 1; i < m.size(); ++i) {
      const Body& b = m.bodies[i];
      body_increment(b, step.q0, step.q1, &w.displacement[b.v]);
      for (int j = b.v; j < b.v + b.nv; ++j) w.displacement[j] /= step.h;
    }
    UserTerms t;
    for (const UserElement& u : m.users) {
      if (u.kind != UserElement::Force) continue;
      t.evaluate(u, 0, q, w.displacement.data());
      for (int k = 0; k < u.size(); ++k) w.user_impulse[u.v[k]] += half * t.value[k];
    }
  }
}

// w.r ← the residual after displace; of prescribed velocities it is kept in w.reaction instead. Returns the largest
// |r_j| relative to the size of the terms it is made of, and in `worst` which it is; of plain numbers only.
template <class T, class R>
double residual(StepWorkspace<T, R>& w, StepEnds<T> step, int& worst) {
  const ModelOf<R>& m = w.m;
  subtract_loads(w, step.h);
  double largest = 0;
  T t[6];
  for (int i = m.size() - 1; i > 0; --i) {
    const BodyOf<R>& body = m.bodies[i];
    const Spatial<T>& F = w.F[i];
    joint_terms<false>(w, i, step, t);
    for (int k = 0; k < body.nv; ++k) {
      const int j = body.v + k;
      const Spatial<T>& S = w.now->S[j];
      const T given = w.b[j] + w.impulse[j] + w.user_impulse[j];
      w.r[j] = given - t[k] - dot(S, F);
      if constexpr (!carries_derivatives<T>) {
        if (w.prescribed[j]) {
          w.reaction[j] = w.r[j];
          w.r[j] = 0, w.scale[j] = 1;
          continue;
        }
        const double scale = std::fabs(w.b[j]) + w.impulse_size[j] + std::fabs(t[k]) +
                             norm1(S.angular) * norm1(F.angular) + norm1(S.linear) * norm1(F.linear);
        w.scale[j] = scale + 1e-300;
        const double ratio = std::fabs(w.r[j]) / w.scale[j];
        if (exceeds(ratio, largest)) largest = ratio, worst = j;
      }
    }
    if (body.parent > 0) w.F[body.parent] += shift_force(F, w.now->pose[i].r);
  }
  return largest;
}

// p' from the momenta of the bodies, with loads and dampers at the end. Poses in w.next must be those of q'.
template <class Action, class T, class R>
void end_step(StepWorkspace<T, R>& w, StepEnds<T> step, const T* tau, const T* inputs, T* p) {
  const ModelOf<R>& m = w.m;
  const T half = T(0.5) * step.h;
  position_loads(w, *w.next, step.q1, tau, inputs);
  if constexpr (!is_pack<T>)  // steps of packs have no forces of the user's
    if (m.user_forces && !w.conservative) user_impulses(w, step, true);
  for (int i = 1; i < m.size(); ++i) {
    const Spatial<T>& mu = w.motion[i].momentum;
    w.F[i] = {mu.angular, mu.linear + (half * T(m.bodies[i].mass)) * Vec3<T>(m.gravity)};
    if constexpr (!Action::block_diagonal) w.F[i].angular -= cross(w.next->pose[i].x - w.now->pose[i].x, mu.linear);
    if (w.loads) w.F[i] += half * w.load[i];
  }
  add_pair_damping(w, true);
  T t[6];
  for (int i = m.size() - 1; i > 0; --i) {
    const BodyOf<R>& body = m.bodies[i];
    joint_terms<true>(w, i, step, t);
    for (int k = 0; k < body.nv; ++k) {
      const int j = body.v + k;
      const T carried = dot(w.next->S[j], w.F[i]);
      p[j] = carried + half * w.joint_load[j] + t[k] + w.user_impulse[j];
      if constexpr (!carries_derivatives<T>) w.carried[j] = carried, w.own[j] = t[k];
    }
    if (body.parent > 0) w.F[body.parent] += shift_force(w.F[i], w.next->pose[i].r);
  }
}

// p' under other forces after end_step, of plain numbers where nothing loads bodies.
inline void end_step_again(StepWorkspace<double, double>& w, double h, const double* q1, const double* tau,
                           const double* inputs, double* p) {
  const double half = 0.5 * h;
  position_loads(w, *w.next, q1, tau, inputs);
  for (int j = 0; j < w.m.nv; ++j) p[j] = w.carried[j] + half * w.joint_load[j] + w.own[j] + w.user_impulse[j];
}

}  // namespace symplectree
