// Where the bodies are and how they move (JM08 (1), (6)), in world axes at the centres of mass.
#pragma once

#include "formula/pose_formula.hpp"
#include "model/workspace.hpp"
#include "scalar/sincos.hpp"

namespace symplectree {

// A joint's frame on its parent: axes, and origin from the parent's centre.
template <class T>
struct JointBase {
  const Mat3<T>& axes;
  const Vec3<T>& origin;
};

// place_body for a joint that is a formula, with derivatives of S up to `order` (see FormulaWorkspace).
template <class R, class T>
void place_formula(const BodyOf<R>& body, const T* q, int order, const JointBase<T>& joint, BodyPose<T>& out,
                   Workspace<T>& w);

// Pose of a body in w and its columns of S, from the parent's pose and the sines and cosines in w; of formulas also
// derivatives of S up to `Order`.
template <int Order = 0, class R, class T>
inline void place_body(const BodyOf<R>& body, const T* q, BodyPose<T>& out, Workspace<T>& w) {
  using std::sqrt;
  const BodyPose<T>& parent = w.pose[body.parent];
  Spatial<T>* S = &w.S[body.v];
  const Mat3<T> base = parent.R * cast<T>(body.base_axes);
  Vec3<T> origin = parent.R * Vec3<T>(body.base_point);  // of the joint's moving frame, from the parent's centre
  const Vec3<T> centre(body.centre);
  Vec3<T> d;  // from the joint's moving origin to the centre of mass
  switch (body.kind) {
    case Kind::Revolute:
    case Kind::Screw: {
      const T c = w.cosine[body.q], s = w.sine[body.q];
      out.R = {c * base.a + s * base.b, c * base.b - s * base.a, base.c};
      d = out.R * centre;
      S[0] = {base.c, cross(base.c, d)};
      if (body.kind == Kind::Screw) {
        origin += (T(body.pitch) * q[body.q]) * base.c;
        S[0].linear += T(body.pitch) * base.c;
      }
      break;
    }
    case Kind::Prismatic:
      out.R = base;
      d = base * centre;
      origin += q[body.q] * base.c;
      S[0] = {Vec3<T>{}, base.c};
      break;
    case Kind::Ball:
    case Kind::Free: {
      const bool free = body.kind == Kind::Free;
      const T* p = q + body.q + (free ? 3 : 0);
      const T norm = sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2] + p[3] * p[3]);
      out.R = base * quaternion_matrix<T>(p[0] / norm, p[1] / norm, p[2] / norm, p[3] / norm);
      d = out.R * centre;
      for (int j = 0; j < 3; ++j) S[j] = {out.R.column(j), cross(out.R.column(j), d)};
      if (free) {
        origin += base * Vec3<T>{q[body.q], q[body.q + 1], q[body.q + 2]};
        for (int j = 0; j < 3; ++j) S[3 + j] = {Vec3<T>{}, out.R.column(j)};
      }
      break;
    }
    case Kind::Formula: return place_formula(body, q, Order, {base, origin}, out, w);
  }
  out.r = origin + d;
  out.x = parent.x + out.r;
}

// Poses and columns of S of all bodies, and derivatives of S up to `Order`.
template <int Order = 0, class R, class T>
void compute_poses(const ModelOf<R>& m, const T* q, Workspace<T>& w) {
  sines_and_cosines(q, m.nq, w.sine.data(), w.cosine.data());
  for (int i = 1; i < m.size(); ++i) place_body<Order>(m.bodies[i], q, w.pose[i], w);
}

// The twist that the joint's own velocities give body i.
template <class R, class T>
inline Spatial<T> joint_twist(const BodyOf<R>& body, const Spatial<T>* S, const T* v) {
  Spatial<T> s = v[body.v] * S[body.v];
  for (int j = body.v + 1; j < body.v + body.nv; ++j) s += v[j] * S[j];
  return s;
}

// Σ_i v_i E_ij: how the twist that a formula's own velocities give changes with its coordinate j, besides moving along.
template <class R, class T>
inline Spatial<T> formula_change(const BodyOf<R>& body, int j, const T* v, const Workspace<T>& w) {
  const Spatial<T>* E = &w.formula.E[body.formula->first + body.nv * j];
  Spatial<T> sum = v[body.v] * E[0];
  for (int i = 1; i < body.nv; ++i) sum += v[body.v + i] * E[i];
  return sum;
}

// How velocities at and beyond coordinate j of a body change with it, besides moving along as a rigid body does:
// Z_j = [V_λ, S_j] + Σ_i v_i E_ij, with `parent` the parent's twist at the body's centre. Needs place_body<1>.
template <class R, class T>
inline Spatial<T> velocity_change(const BodyOf<R>& body, int j, const Spatial<T>& parent, const T* v,
                                  const Workspace<T>& w) {
  const Spatial<T> Z = bracket(parent, w.S[body.v + j]);
  return body.formula ? Z + formula_change(body, j, v, w) : Z;
}

// Twist of body i. When S moves with the body, its bias acceleration is Ẋ V_λ + Ṡ v with Ẋ V_λ = (0, ω_λ × ṙ) and
// Ṡ v = ω_i × S v in both parts; a formula adds Σ v_j v_i E_ij. Needs place_body<1>.
template <class T>
inline void move_body(const Body& body, int i, const T* v, Workspace<T>& w) {
  const Spatial<T> s = joint_twist(body, w.S.data(), v);
  const Spatial<T>& parent = w.V[body.parent];
  const Spatial<T> V = shift_motion(parent, w.pose[i].r) + s;
  w.V[i] = V;
  w.bias[i] = {cross(V.angular, s.angular),
               cross(parent.angular, V.linear - parent.linear) + cross(V.angular, s.linear)};
  if (!body.formula) return;
  for (int j = 0; j < body.nv; ++j) w.bias[i] += v[body.v + j] * formula_change(body, j, v, w);
}

// Twists of all bodies.
template <class R, class T>
void compute_velocities(const ModelOf<R>& m, const T* v, Workspace<T>& w) {
  for (int i = 1; i < m.size(); ++i) {
    const BodyOf<R>& body = m.bodies[i];
    w.V[i] = shift_motion(w.V[body.parent], w.pose[i].r) + joint_twist(body, w.S.data(), v);
  }
}

// World position of a point fixed in a body.
template <class R, class T>
Vec3<T> position(const PointOf<R>& p, const Workspace<T>& w) {
  return w.pose[p.body].x + w.pose[p.body].R * Vec3<T>(p.at);
}

// A direction fixed in a body, in world axes.
template <class T>
Vec3<T> world_axis(const Axis& d, const Workspace<T>& w) {
  return w.pose[d.body].R * Vec3<T>(d.along);
}

// Velocity of a world point that moves with body i.
template <class T>
Vec3<T> velocity_at(const Vec3<T>& x, int i, const Workspace<T>& w) {
  return w.V[i].linear + cross(w.V[i].angular, x - w.pose[i].x);
}

// A force at a world point as a wrench about the centre of body i.
template <class T>
Spatial<T> force_at(const Vec3<T>& x, const Vec3<T>& f, int i, const Workspace<T>& at) {
  return {cross(x - at.pose[i].x, f), f};
}

// The largest angle by which a joint that is a formula turns from one state of the tree to another, up to π.
double formula_turn(const Model& m, const Workspace<double>& now, const Workspace<double>& next);

}  // namespace symplectree
