// The variational one-step map (q, p) → (q', p') on trees in linear time (LLPS16 Algorithm 2; design section 7).
//
// Residual of the step, in which μ⁻ depends on the unknown q':
//   r = p − Jᵀμ⁻ + (h/2) Q(q) + f⁻ = 0,   then   p' = J'ᵀμ⁺ + (h/2) Q(q') + f⁺,
// with Q all forces that depend on position only (gravity, springs, loads). Dampers act through the displacement of the
// step, half at each end. Newton's matrix −∂r/∂δ couples a body's motion at the end, carried by the joints at the end,
// with its wrench at the beginning, carried by the joints at the beginning: a tree again, eliminated leaves to root.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "dynamics/dynamics.hpp"
#include "integrators/body_action/body_actions.hpp"
#include "spatial/so3.hpp"

namespace symplectree {

inline constexpr double kRounding = 2.2e-16;

// What a step knows of a body: its inertia at the beginning, its displacement and its momentum.
struct Motion {
  Held held;
  Displacement moved;
  Spatial<double> momentum;
};

// Everything that a step needs, allocated once.
struct VariationalWorkspace {
  const Model& m;
  Workspace<double> first, second;
  Workspace<double>*now = &first, *next = &second;  // poses and S at the step's beginning and end
  std::vector<Motion> motion;                       // of each body
  std::vector<Spatial<double>> F;                   // of each body: wrench carried to the joints
  std::vector<Spatial<double>> load;       // position-dependent wrench on each body at the beginning, or the end
  std::vector<double> joint_load;          // the same on each velocity
  std::vector<General6<double>> A;         // articulated Newton matrix of each body
  std::vector<General6<double>> gathered;  // what children of a body add to it, in as few places as will do
  std::vector<int> place;                  // of each body: its place there, -1 for a leaf
  std::vector<char> opens;                 // of each body: is it the first child that its parent hears of?
  std::vector<Spatial<double>> W, Z, eta;  // of each velocity: A S', Aᵀ S; of each body: motion of the end
  std::vector<double> pivot_inverse, u, b, r, zero;
  std::vector<double> scale;                  // of each velocity: size of the terms that r is made of
  std::vector<double> impulse, impulse_size;  // of each velocity: what constraints give at the beginning, and its terms
  std::vector<double> reaction;               // of each driven velocity: what r is there
  std::vector<char> driven;                   // of each velocity: its coordinate is prescribed
  std::vector<double> damping, stiff;         // of each velocity: joint damping; a/h + c/2
  std::vector<std::array<double, 36>> block;  // of bodies with several coordinates: inverse of their pivot block
  std::vector<double> noise;                  // of each velocity: what rounding makes of r
  std::vector<std::array<double, 2>> body_noise;   // of each body: the same of torque and force
  std::vector<double> line_length;                 // of each line at the beginning
  std::vector<char> has_block_terms;               // of each body: rotor inertia or damping on several coordinates
  std::vector<double> user_impulse, displacement;  // of each velocity: of the user's forces; of the step, over h
  bool damped_lines = false, loads = false;

  explicit VariationalWorkspace(const Model& model)
      : m(model),
        first(m),
        second(m),
        motion(m.size()),
        F(m.size()),
        load(m.size()),
        joint_load(m.nv),
        A(m.size()),
        place(m.size(), -1),
        opens(m.size()),
        W(m.nv),
        Z(m.nv),
        eta(m.size()),
        pivot_inverse(m.nv),
        u(m.nv),
        b(m.nv),
        r(m.nv + m.rows),
        zero(m.nv),
        scale(m.nv + m.rows),
        impulse(m.nv),
        impulse_size(m.nv),
        reaction(m.nv),
        driven(m.nv),
        damping(m.nv),
        stiff(m.nv),
        block(m.size()),
        noise(m.nv),
        body_noise(m.size()),
        line_length(m.lines.size()),
        has_block_terms(m.size()),
        user_impulse(m.nv),
        displacement(m.nv) {
    std::vector<int> idle;  // places that no body nearer to the root needs yet
    int places = 0;
    for (int i = m.size() - 1; i > 0; --i) {
      const int parent = m.bodies[i].parent;
      if (place[i] >= 0) idle.push_back(place[i]);  // it is read before anything is added to the parent's
      if (parent == 0 || place[parent] >= 0) continue;
      opens[i] = 1;
      if (idle.empty()) idle.push_back(places++);
      place[parent] = idle.back();
      idle.pop_back();
    }
    gathered.resize(places);
    for (const JointDamper& d : m.joint_dampers) damping[d.v] += d.damping;
    for (int i = 1; i < m.size(); ++i)
      for (int j = m.bodies[i].v; j < m.bodies[i].v + m.bodies[i].nv; ++j)
        if (m.bodies[i].nv > 1 && (damping[j] != 0 || m.armature[j] != 0)) has_block_terms[i] = 1;
    for (const Line& line : m.lines) damped_lines |= line.damping != 0;
    loads = m.has_lines_or_wrenches();
  }
};

// w.load, w.joint_load ← all forces that depend on position only, at the poses in `at`, except gravity.
inline void position_loads(VariationalWorkspace& w, Workspace<double>& at, const double* q, const double* tau,
                           const double* inputs) {
  joint_element_forces(w.m, q, w.zero.data(), inputs, at, false);
  for (int j = 0; j < w.m.nv; ++j) w.joint_load[j] = at.joint_force[j] + tau[j];
  if (!w.loads) return;
  for (auto& f : at.force) f = {};
  subtract_element_wrenches(w.m, inputs, at);  // velocities in `at` are zero: no damping
  for (int i = 1; i < w.m.size(); ++i) w.load[i] = -1.0 * at.force[i];
}

// Momentum and damping impulse of the own rotor and damper of a joint with several coordinates, of which r loses `t` at
// the beginning and p' gains it at the end; with `N`, also the derivative of t along the increments of the end (nv ×
// nv).
inline void joint_block_terms(const VariationalWorkspace& w, const Body& body, const double* q0, const double* q1,
                              double h, bool end, double* t, double* N) {
  const bool free = body.kind == Kind::Free;
  const int n = body.nv, shift = free ? 3 : 0;
  if (body.flat()) {
    for (int k = 0; k < n; ++k) {
      const double c = w.m.armature[body.v + k] / h + (end ? -0.5 : 0.5) * w.damping[body.v + k];
      t[k] = c * (q1[body.q + k] - q0[body.q + k]);
      if (N) N[(n + 1) * k] = c;
    }
    return;
  }
  const Quaternion<double> a = load_quaternion(q0 + body.q + shift), c = load_quaternion(q1 + body.q + shift);
  const Quaternion<double> d = between(a, c);
  const double side = end ? -1 : 1, s[3] = {d.v.x, d.v.y, d.v.z};
  for (int i = 0; i < 3; ++i) {
    const double rotor = w.m.armature[body.v + i] / h, damper = side * w.damping[body.v + i];
    t[i] = rotor * 2 * d.w * s[i] + damper * s[i];
    if (!N) continue;
    const double cross_row[3][3] = {{0, -s[2], s[1]}, {s[2], 0, -s[0]}, {-s[1], s[0], 0}};
    for (int j = 0; j < 3; ++j) {
      const double one = i == j ? d.w : 0;
      N[n * i + j] = rotor * (-s[i] * s[j] + d.w * (one + cross_row[i][j])) + 0.5 * damper * (one + cross_row[i][j]);
    }
  }
  if (!free) return;
  const double *p0 = q0 + body.q, *p1 = q1 + body.q;
  const Mat3<double> R0 = quaternion_matrix(a.w, a.v.x, a.v.y, a.v.z), R1 = quaternion_matrix(c.w, c.v.x, c.v.y, c.v.z);
  const Vec3<double> x = transposed_times(end ? R1 : R0, {p1[0] - p0[0], p1[1] - p0[1], p1[2] - p0[2]});
  const double moved[3] = {x.x, x.y, x.z};
  for (int i = 0; i < 3; ++i) {
    const double k = w.m.armature[body.v + 3 + i] / h + 0.5 * side * w.damping[body.v + 3 + i];
    t[3 + i] = k * moved[i];
    if (!N) continue;
    for (int j = 0; j < 3; ++j) N[n * (3 + i) + 3 + j] = k * dot(i == 0 ? R0.a : i == 1 ? R0.b : R0.c, R1.column(j));
  }
}

// Take hold of all bodies at the step's beginning. Poses in w.now must be there.
template <class Action>
void hold_bodies(VariationalWorkspace& w) {
  for (int i = 1; i < w.m.size(); ++i) Action::hold(w.m.bodies[i], w.now->pose[i], w.motion[i].held);
}

// The step's beginning: b, the part of r that q' does not change. Poses in w.now must be there.
inline void begin_step(VariationalWorkspace& w, double h, const double* q, const double* p, const double* tau,
                       const double* inputs) {
  const Model& m = w.m;
  position_loads(w, *w.now, q, tau, inputs);
  for (int j = 0; j < m.nv; ++j) {
    w.b[j] = p[j] + 0.5 * h * w.joint_load[j];
    w.stiff[j] = m.armature[j] / h + 0.5 * w.damping[j];
  }
  if (w.damped_lines)
    for (std::size_t l = 0; l < m.lines.size(); ++l) {
      const Vec3<double> d = position(m.lines[l].b, *w.now) - position(m.lines[l].a, *w.now);
      w.line_length[l] = std::sqrt(dot(d, d));
    }
}

// The Newton matrix of body i alone, after its displacement.
template <class Action>
inline General6<double> body_derivative(const VariationalWorkspace& w, const Body& body, int i, double inverse_h) {
  if constexpr (Action::block_diagonal) {
    const double d = body.mass * inverse_h;
    return {Action::derivative(w.motion[i].held, w.next->pose[i].R, w.motion[i].moved, inverse_h),
            {},
            {},
            {{d, 0, 0}, {0, d, 0}, {0, 0, d}}};
  } else {
    const Spatial<double> moved = Action::logarithm(w.now->pose[i], w.next->pose[i]);
    return Action::derivative(body, moved, w.now->pose[i].R, inverse_h);
  }
}

// Poses at q', the momenta of all bodies, and w.F, these less what gravity supplies at the beginning; with
// `WithDerivative` also their Newton matrices. `Holding`: first take hold of the bodies at the step's beginning.
template <class Action, bool WithDerivative, bool Holding = false>
void displace(VariationalWorkspace& w, double h, const double* q_next) {
  const Model& m = w.m;
  const double inverse_h = 1 / h;
  sines_and_cosines(q_next, m.nq, w.next->sine.data(), w.next->cosine.data());
  for (int i = 1; i < m.size(); ++i) {
    const Body& body = m.bodies[i];
    BodyPose<double>& end = w.next->pose[i];
    const BodyPose<double>& start = w.now->pose[i];
    place_body(body, q_next, end, *w.next);
    if constexpr (Holding) Action::hold(body, start, w.motion[i].held);
    Spatial<double> mu;
    if constexpr (Action::block_diagonal) {
      mu = {Action::angular(w.motion[i].held, start.R, end.R, inverse_h, w.motion[i].moved),
            (body.mass * inverse_h) * (end.x - start.x)};
    } else {
      mu = Action::momentum(body, Action::logarithm(start, end), start.R, inverse_h);
    }
    w.motion[i].momentum = mu;
    w.F[i] = {mu.angular, mu.linear - (0.5 * h * body.mass) * m.gravity};
    if constexpr (WithDerivative) w.A[i] = body_derivative<Action>(w, body, i, inverse_h);
  }
}

// w.F as displace leaves it.
inline void restore_impulses(VariationalWorkspace& w, double h) {
  for (int i = 1; i < w.m.size(); ++i)
    w.F[i] = {w.motion[i].momentum.angular, w.motion[i].momentum.linear - (0.5 * h * w.m.bodies[i].mass) * w.m.gravity};
}

// Less what loads and damped lines supply at the beginning, after displace.
inline void subtract_loads(VariationalWorkspace& w, double h) {
  const Model& m = w.m;
  if (!w.loads) return;
  for (int i = 1; i < m.size(); ++i) w.F[i] -= (0.5 * h) * w.load[i];
  if (!w.damped_lines) return;
  for (std::size_t l = 0; l < m.lines.size(); ++l) {
    const Line& line = m.lines[l];
    if (line.damping == 0 || w.line_length[l] == 0) continue;
    const Vec3<double> a = position(line.a, *w.now), b = position(line.b, *w.now);
    const Vec3<double> d = position(line.b, *w.next) - position(line.a, *w.next);
    const double tension = 0.5 * line.damping * (std::sqrt(dot(d, d)) - w.line_length[l]);
    const Vec3<double> f = (tension / w.line_length[l]) * (b - a);  // on a; −f on b
    w.F[line.a.body] -= {cross(a - w.now->pose[line.a.body].x, f), f};
    w.F[line.b.body] += {cross(b - w.now->pose[line.b.body].x, f), f};
  }
}

// What the joint's own rotor and damper take from the residual of body's coordinates.
inline void joint_terms(const VariationalWorkspace& w, const Body& body, int i, double h, const double* q0,
                        const double* q1, double* t) {
  if (body.nv == 1) {
    t[0] = w.stiff[body.v] * (q1[body.q] - q0[body.q]);
  } else if (w.has_block_terms[i]) {
    joint_block_terms(w, body, q0, q1, h, false, t, nullptr);
  } else {
    std::fill(t, t + body.nv, 0.0);
  }
}

// w.user_impulse ← (h/2) f(q_at, (q1 ⊖ q0)/h) of the user's forces.
inline void user_impulses(VariationalWorkspace& w, double h, const double* q0, const double* q1, const double* q_at) {
  const Model& m = w.m;
  for (int i = 1; i < m.size(); ++i) {
    const Body& b = m.bodies[i];
    body_increment(b, q0, q1, &w.displacement[b.v]);
    for (int j = b.v; j < b.v + b.nv; ++j) w.displacement[j] /= h;
  }
  std::fill(w.user_impulse.begin(), w.user_impulse.end(), 0.0);
  UserTerms t;
  for (const UserElement& u : m.users) {
    if (u.kind != UserElement::Force) continue;
    t.evaluate(u, 0, q_at, w.displacement.data());
    for (int k = 0; k < u.size(); ++k) w.user_impulse[u.v[k]] += 0.5 * h * t.value[k];
  }
}

// w.r ← the residual after displace; of driven velocities it is kept in w.reaction instead. Returns the largest |r_j|
// relative to the size of the terms it is made of, and in `worst` which it is.
inline double residual(VariationalWorkspace& w, double h, const double* q0, const double* q1, int& worst) {
  const Model& m = w.m;
  subtract_loads(w, h);
  double largest = 0, t[6];
  for (int i = m.size() - 1; i > 0; --i) {
    const Body& body = m.bodies[i];
    const Spatial<double>& F = w.F[i];
    joint_terms(w, body, i, h, q0, q1, t);
    for (int k = 0; k < body.nv; ++k) {
      const int j = body.v + k;
      const Spatial<double>& S = w.now->S[j];
      const double given = w.b[j] + w.impulse[j] + w.user_impulse[j];
      w.r[j] = given - t[k] - dot(S, F);
      if (w.driven[j]) {
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
    if (body.parent > 0) w.F[body.parent] += shift_force(F, w.now->pose[i].r);
  }
  return largest;
}

// Add to w.body_noise what `rounding` of positions, relative to them, makes of the impulses of damped lines.
inline void add_line_noise(VariationalWorkspace& w, double rounding) {
  for (const Line& line : w.m.lines) {
    if (line.damping == 0) continue;
    const Vec3<double> a = position(line.a, *w.next), b = position(line.b, *w.next);
    const double force = 0.5 * rounding * std::fabs(line.damping) * (norm1(a) + norm1(b));
    for (const auto& [end, x] : {std::pair{line.a.body, a}, std::pair{line.b.body, b}}) {
      w.body_noise[end][0] += norm1(x - w.next->pose[end].x) * force;
      w.body_noise[end][1] += force;
    }
  }
}

// w.noise ← of each velocity what rounding makes of w.r. Positions are rounded to ε |x| and angles to ε |q|, so momenta
// carry noise of about (ε/h) m |x|, which is swept to the joints here with absolute values; rotors and dampers on the
// joints themselves make theirs of ε |q|.
inline void estimate_noise(VariationalWorkspace& w, double h, const double* q1) {
  const Model& m = w.m;
  double turn = 1;
  for (int k = 0; k < m.nq; ++k) turn = std::max(turn, std::fabs(q1[k]));
  const double unit = kRounding * turn / std::fabs(h);
  std::fill(w.body_noise.begin(), w.body_noise.end(), std::array<double, 2>{});
  if (w.damped_lines) add_line_noise(w, unit * std::fabs(h));
  for (int i = m.size() - 1; i > 0; --i) {
    const Body& body = m.bodies[i];
    const double torque = w.body_noise[i][0] + unit * (body.inertia.xx + body.inertia.yy + body.inertia.zz);
    const double force = w.body_noise[i][1] + unit * body.mass * (1e-3 + norm1(w.next->pose[i].x));
    for (int j = body.v; j < body.v + body.nv; ++j)
      w.noise[j] = norm1(w.now->S[j].angular) * torque + norm1(w.now->S[j].linear) * force +
                   unit * (m.armature[j] + 0.5 * std::fabs(h * w.damping[j]));
    w.body_noise[body.parent][0] += torque + norm1(w.now->pose[i].r) * force;
    w.body_noise[body.parent][1] += force;
  }
}

// Is every entry of w.r, after residual, within `factor` of w.noise and of the rounding of what it is made of?
inline bool within_noise(const VariationalWorkspace& w, double factor) {
  for (int j = 0; j < w.m.nv; ++j)
    if (!(std::fabs(w.r[j]) <= factor * (w.noise[j] + kRounding * (std::fabs(w.b[j]) + w.impulse_size[j]))))
      return false;
  return true;
}

// p' from the momenta of the bodies, with loads and dampers at the end. Poses in w.next must be those of q'.
template <class Action>
void end_step(VariationalWorkspace& w, double h, const double* q0, const double* q1, const double* tau,
              const double* inputs, double* p) {
  const Model& m = w.m;
  position_loads(w, *w.next, q1, tau, inputs);
  if (m.user_forces) user_impulses(w, h, q0, q1, q1);
  for (int i = 1; i < m.size(); ++i) {
    w.F[i] = {w.motion[i].momentum.angular, w.motion[i].momentum.linear + (0.5 * h * m.bodies[i].mass) * m.gravity};
    if constexpr (!Action::block_diagonal)
      w.F[i].angular -= cross(w.next->pose[i].x - w.now->pose[i].x, w.motion[i].momentum.linear);
    if (w.loads) w.F[i] += (0.5 * h) * w.load[i];
  }
  if (w.damped_lines)
    for (std::size_t l = 0; l < m.lines.size(); ++l) {
      const Line& line = m.lines[l];
      const Vec3<double> a = position(line.a, *w.next), b = position(line.b, *w.next), d = b - a;
      const double length = std::sqrt(dot(d, d));
      if (line.damping == 0 || length == 0) continue;
      const Vec3<double> f = (0.5 * line.damping * (length - w.line_length[l]) / length) * d;  // on a; −f on b
      w.F[line.a.body] += {cross(a - w.next->pose[line.a.body].x, f), f};
      w.F[line.b.body] -= {cross(b - w.next->pose[line.b.body].x, f), f};
    }
  for (int i = m.size() - 1; i > 0; --i) {
    const Body& body = m.bodies[i];
    double t[6] = {};
    if (body.nv == 1) {
      t[0] = (m.armature[body.v] / h - 0.5 * w.damping[body.v]) * (q1[body.q] - q0[body.q]);
    } else if (w.has_block_terms[i]) {
      joint_block_terms(w, body, q0, q1, h, true, t, nullptr);
    }
    for (int k = 0; k < body.nv; ++k)
      p[body.v + k] =
          dot(w.next->S[body.v + k], w.F[i]) + 0.5 * h * w.joint_load[body.v + k] + t[k] + w.user_impulse[body.v + k];
    if (body.parent > 0) w.F[body.parent] += shift_force(w.F[i], w.next->pose[i].r);
  }
}

}  // namespace symplectree
