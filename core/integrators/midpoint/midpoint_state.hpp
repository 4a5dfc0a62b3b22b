// The middle (q_m, v_m) of a step of the midpoint action, with D L, p = ∂L/∂v and the forces there, in O(n).
//
// D_j L = P·Z_j + S_j·F, p_j = S_j·P, with P, F momentum and conservative wrench of all that the body carries and
// Z_j of velocity_change: relative to the rigid motion by S_j, every velocity at or beyond j changes by it (JM08 (16)).
#pragma once

#include "elements/element_forces.hpp"
#include "kinematics/so3_charts.hpp"

namespace symplectree {

template <class T, int N>
using Square = std::array<std::array<T, N>, N>;

// How the middle (q_m, v_m) of a joint with several coordinates moves with increments of the ends, and how components
// of a force at the middle are taken at the ends (see reference/midpoint.py). Blocks of 6 × 6, of which a Ball uses 3
// × 3.
template <class T>
struct MiddleBlock {
  Square<T, 6> q0{}, q1{}, v0{}, v1{}, carry0{}, carry1{};

  // Of n plain coordinates.
  void set_plain(int n, T h, T alpha) {
    for (int k = 0; k < n; ++k) {
      q0[k][k] = T(1) - alpha, q1[k][k] = alpha, v1[k][k] = T(1) / h, v0[k][k] = -v1[k][k];
      carry0[k][k] = carry1[k][k] = T(1);
    }
  }
};

template <class T>
void set3(Square<T, 6>& M, int row, int column, const Mat3<T>& B) {
  for (int j = 0; j < 3; ++j) {
    const Vec3<T>& c = B.column(j);
    M[row][column + j] = c.x, M[row + 1][column + j] = c.y, M[row + 2][column + j] = c.z;
  }
}

template <class T>
Mat3<T> scaled(const T& s, const Mat3<T>& B) {
  return {s * B.a, s * B.b, s * B.c};
}

// 3×3 matrix with columns f(e_j).
template <class T, class F>
Mat3<T> columns_of(F&& f) {
  return {f(Vec3<T>{T(1), T(0), T(0)}), f(Vec3<T>{T(0), T(1), T(0)}), f(Vec3<T>{T(0), T(0), T(1)})};
}

// exp(w) for a rotation vector w.
template <class T>
Mat3<T> rotation_matrix(const Vec3<T>& w) {
  const RotationCoefficients<T> k(dot(w, w));
  return columns_of<T>([&](const Vec3<T>& e) {
    const Vec3<T> we = cross(w, e), wwe = cross(w, we);
    return e + (T(1) - dot(w, w) * k.c) * we + k.b * wwe;  // sin θ/θ = 1 − θ² c
  });
}

// d: rotation vector from q to q'; shift: of a Free joint in the axes R_0 of the beginning.
template <class T>
MiddleBlock<T> middle_block(bool free, const Vec3<T>& d, const Vec3<T>& shift, T h, T alpha) {
  MiddleBlock<T> m;
  const Vec3<T> part = alpha * d, rest = (T(1) - alpha) * d;
  const Mat3<T> carry0 = rotation_matrix(-part), carry1 = rotation_matrix(rest);
  const Mat3<T> d0 = columns_of<T>([&](const Vec3<T>& e) { return -right_jacobian_inverse(-d, e); });
  const Mat3<T> d1 = columns_of<T>([&](const Vec3<T>& e) { return right_jacobian_inverse(d, e); });
  const auto turned = [&](const Mat3<T>& B) {
    return columns_of<T>([&](const Vec3<T>& e) { return alpha * right_jacobian(part, B * e); });
  };
  const Mat3<T> q0 = carry0 + turned(d0), q1 = turned(d1);
  const T inverse = T(1) / h;
  set3(m.carry0, 0, 0, carry0), set3(m.carry1, 0, 0, carry1);
  set3(m.q0, 0, 0, q0), set3(m.q1, 0, 0, q1);
  set3(m.v0, 0, 0, scaled(inverse, d0)), set3(m.v1, 0, 0, scaled(inverse, d1));
  if (!free) return m;
  const Vec3<T> v = inverse * (carry0 * shift);  // R_mᵀ (x' − x)/h
  set3(m.carry0, 3, 3, carry0), set3(m.carry1, 3, 3, carry1);
  set3(m.q0, 3, 3, scaled(T(1) - alpha, carry0)), set3(m.q1, 3, 3, scaled(alpha, carry1));
  set3(m.v0, 3, 3, scaled(-inverse, carry0)), set3(m.v1, 3, 3, scaled(inverse, carry1));
  set3(m.v0, 3, 0, columns_of<T>([&](const Vec3<T>& e) { return cross(v, q0 * e); }));
  set3(m.v1, 3, 0, columns_of<T>([&](const Vec3<T>& e) { return cross(v, q1 * e); }));
  return m;
}

// The way of a Ball or Free joint from q0 to q1, as middle_block takes it.
inline void displacement(const Body& b, const double* q0, const double* q1, Vec3<double>& d, Vec3<double>& shift) {
  const bool free = b.kind == Kind::Free;
  const Quaternion<double> a = load_quaternion(q0 + b.q + (free ? 3 : 0)),
                           c = load_quaternion(q1 + b.q + (free ? 3 : 0));
  d = rotation_vector(between(a, c));
  if (free) shift = transposed_times(quaternion_matrix(a.w, a.v.x, a.v.y, a.v.z), load3(q1 + b.q) - load3(q0 + b.q));
}

// The middle of one step, allocated once. Sums of a body are over all that it carries, about its own centre.
struct Middle {
  const Model& m;
  double alpha;
  Workspace<double> at;                 // poses, S and twists
  std::vector<double> q, v, dq, dv, f;  // D L, ∂L/∂v, and forces that come from no energy
  std::vector<double> tau, inputs;
  std::vector<MiddleBlock<double>> blocks;  // of Ball and Free joints, and of formulas
  std::vector<Mat3<double>> inertia;        // of each body alone, in world axes
  std::vector<Spatial<double>> Z;           // of each velocity
  std::vector<Spatial<double>> P;           // of each body: momentum
  std::vector<double> mass;                 // of each body, and its first moment
  std::vector<Vec3<double>> moment;
  std::vector<Spatial<double>> springs, loads;  // of each body: wrench of line springs; of line dampers and wrenches

  Middle(const Model& model, double part)
      : m(model),
        alpha(part),
        at(m),
        q(m.nq),
        v(m.nv),
        dq(m.nv),
        dv(m.nv),
        f(m.nv),
        tau(m.nv),
        inputs(m.inputs),
        blocks(m.size()),
        inertia(m.size()),
        Z(m.nv),
        P(m.size()),
        mass(m.size()),
        moment(m.size()),
        springs(m.size()),
        loads(m.size()) {
    for (int i = m.size() - 1; i > 0; --i) {
      mass[i] += m.bodies[i].mass;
      mass[m.bodies[i].parent] += mass[i];
    }
  }

  // Everything at the middle of q0 and q1; with `WithDerivative`, ready for Newton's matrix.
  template <bool WithDerivative>
  void evaluate(double h, const double* q0, const double* q1) {
    for (int i = 1; i < m.size(); ++i) place(m.bodies[i], i, h, q0, q1);
    sines_and_cosines(q.data(), m.nq, at.sine.data(), at.cosine.data());
    for (int i = 1; i < m.size(); ++i) move<WithDerivative ? 2 : 1>(m.bodies[i], i);
    forces();
  }

  // D L, ∂L/∂v and f, where everything has been placed.
  void forces() {
    joint_elements();
    if (m.has_lines_or_wrenches()) body_elements();
    for (int i = 1; i < m.size(); ++i) {
      P[i] = {inertia[i] * at.V[i].angular, m.bodies[i].mass * at.V[i].linear};
      moment[i] = {};
    }
    for (int i = m.size() - 1; i > 0; --i) collect(m.bodies[i], i);
  }

 private:
  // (q_m, v_m) of a joint, and its blocks.
  void place(const Body& b, int i, double h, const double* q0, const double* q1) {
    if (b.flat()) {
      for (int k = 0; k < b.nv; ++k) {
        const double way = q1[b.q + k] - q0[b.q + k];
        q[b.q + k] = q0[b.q + k] + alpha * way;
        v[b.v + k] = way / h;
      }
      if (b.formula) blocks[i].set_plain(b.nv, h, alpha);
      return;
    }
    const bool free = b.kind == Kind::Free;
    Vec3<double> d, shift;
    displacement(b, q0, q1, d, shift);
    blocks[i] = middle_block<double>(free, d, shift, h, alpha);
    const int first = b.q + (free ? 3 : 0);
    const Quaternion<double> turn = turned(load_quaternion(q0 + first), alpha * d);
    q[first] = turn.w;
    store3(turn.v, &q[first + 1]);
    store3((1 / h) * d, &v[b.v]);
    if (!free) return;
    for (int k = 0; k < 3; ++k) q[b.q + k] = q0[b.q + k] + alpha * (q1[b.q + k] - q0[b.q + k]);
    store3((1 / h) * (rotation_matrix(-alpha * d) * shift), &v[b.v + 3]);
  }

  // Pose and twist of a body, and derivatives of a formula up to `Order`.
  template <int Order>
  void move(const Body& b, int i) {
    place_body<Order>(b, q.data(), at.pose[i], at);
    const Spatial<double> parent = shift_motion(at.V[b.parent], at.pose[i].r);
    for (int k = 0; k < b.nv; ++k) Z[b.v + k] = velocity_change(b, k, parent, v.data(), at);
    at.V[i] = parent + joint_twist(b, at.S.data(), v.data());
    inertia[i] = rotated_columns(at.pose[i].R, b.inertia);
  }

  void joint_elements() {
    std::fill(dq.begin(), dq.end(), 0.0);
    std::copy(tau.begin(), tau.end(), f.begin());
    for (const JointSpring& s : m.joint_springs) dq[s.v] -= s.stiffness * (q[s.q] - s.rest);
    for (const UserElement& u : m.users) {
      if (u.kind == UserElement::Constraint) continue;
      user_.evaluate(u, u.kind == UserElement::Potential ? 1 : 0, q.data(), v.data());
      for (int k = 0; k < u.size(); ++k)
        if (u.kind == UserElement::Potential) {
          dq[u.v[k]] -= user_.first[k];
        } else {
          f[u.v[k]] += user_.value[k];
        }
    }
    for (const JointDamper& d : m.joint_dampers) f[d.v] -= d.damping * v[d.v];
    for (const JointForce& e : m.joint_forces) f[e.v] += e.value + (e.input >= 0 ? inputs[e.input] : 0);
  }

  void body_elements() {
    for (int i = 1; i < m.size(); ++i) springs[i] = loads[i] = {};
    const auto act = [&](std::vector<Spatial<double>>& on, const Point& p, const Vec3<double>& x,
                         const Vec3<double>& force) { on[p.body] += {cross(x - at.pose[p.body].x, force), force}; };
    for (const Line& line : m.lines) {
      const Vec3<double> a = position(line.a, at), b = position(line.b, at);
      const LineState<double> s = line_state(line, m.potentials, b - a);
      const Vec3<double> tension = s.slope_over_length * s.d;
      act(springs, line.a, a, tension), act(springs, line.b, b, -tension);
      if (line.damping == 0) continue;
      const double rate = dot(s.u, velocity_at(b, line.b.body, at) - velocity_at(a, line.a.body, at));
      const Vec3<double> drag = (line.damping * rate) * s.u;
      act(loads, line.a, a, drag), act(loads, line.b, b, -drag);
    }
    for (const Wrench& row : m.wrenches) {
      const Spatial<double> wrench = world_wrench(row, inputs.data(), at);
      act(loads, row.point, position(row.point, at), wrench.linear);
      loads[row.point.body].angular += wrench.angular;
    }
  }

  // What a body with all that it carries gives its joint, and hands to its parent.
  void collect(const Body& b, int i) {
    const Vec3<double>& r = at.pose[i].r;
    Spatial<double> F{cross(moment[i], m.gravity), mass[i] * m.gravity};
    const bool elements = m.has_lines_or_wrenches();
    if (elements) F += springs[i];
    for (int j = b.v; j < b.v + b.nv; ++j) {
      dv[j] = dot(at.S[j], P[i]) + m.armature[j] * v[j];
      dq[j] += dot(P[i], Z[j]) + dot(at.S[j], F);
      if (elements) f[j] += dot(at.S[j], loads[i]);
    }
    if (b.parent == 0) return;
    P[b.parent] += shift_force(P[i], r);
    moment[b.parent] += moment[i] + mass[i] * r;
    if (!elements) return;
    springs[b.parent] += shift_force(springs[i], r);
    loads[b.parent] += shift_force(loads[i], r);
  }

  UserTerms user_;
};

// N (nv × nv) ← N − ∂/∂q' of the blocks in r, with D L, p and f held, by dual numbers: an increment ε of the end
// changes d by J_r⁻¹ε and a Free joint's shift by R_0ᵀ R_1 ε. `stride` is that of N's rows.
inline void add_chart_change(const Middle& mid, const Body& b, double h, const double* q0, const double* q1, double* N,
                             int stride) {
  const bool free = b.kind == Kind::Free;
  Vec3<double> d, shift;
  displacement(b, q0, q1, d, shift);
  const Mat3<double> turn = rotation_matrix(d);
  for (int c = 0; c < b.nv; ++c) {
    const Vec3<double> e{double(c % 3 == 0), double(c % 3 == 1), double(c % 3 == 2)};
    const Vec3<double> dd = c < 3 ? right_jacobian_inverse(d, e) : Vec3<double>{},
                       ds = c < 3 ? Vec3<double>{} : turn * e;
    const Vec3<Dual> x{{d.x, dd.x}, {d.y, dd.y}, {d.z, dd.z}}, s{{shift.x, ds.x}, {shift.y, ds.y}, {shift.z, ds.z}};
    const MiddleBlock<Dual> m = middle_block<Dual>(free, x, s, Dual(h), Dual(mid.alpha));
    for (int k = 0; k < b.nv; ++k)
      for (int l = 0; l < b.nv; ++l)
        N[stride * k + c] -= h * (m.q0[l][k].slope * mid.dq[b.v + l] + m.v0[l][k].slope * mid.dv[b.v + l] +
                                  0.5 * m.carry0[l][k].slope * mid.f[b.v + l]);
  }
}

}  // namespace symplectree
