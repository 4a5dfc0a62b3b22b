// A free-floating mechanism, its root's pose and its shape apart: locked inertia I, mechanical connection A and shape
// metric m − AᵀIA of K (1), (2). The root is body 1, its velocities are the first six; u are those of the shape.
#pragma once

#include "dynamics/crba.hpp"
#include "elements/element_forces.hpp"
#include "kinematics/poses_twists.hpp"
#include "model/user_elements.hpp"

namespace symplectree {

constexpr int kBase = 6;  // velocities of the root

// A symmetric positive 6×6 matrix and its factors L D Lᵀ.
template <class T>
struct LockedInertia {
  T I[kBase][kBase], L[kBase][kBase], inverse[kBase];

  void factorize() {
    for (int i = 0; i < kBase; ++i)
      for (int j = 0; j <= i; ++j) {
        T s = I[i][j];
        for (int k = 0; k < j; ++k) s -= L[i][k] * L[j][k] * inverse[k];  // L holds L D
        L[i][j] = s;
        if (i == j) inverse[i] = T(1) / s;
      }
  }

  // b ← I⁻¹ b
  void solve(T* b) const {
    for (int i = 0; i < kBase; ++i)
      for (int k = 0; k < i; ++k) b[i] -= L[i][k] * inverse[k] * b[k];
    for (int i = kBase - 1; i >= 0; --i) {
      b[i] *= inverse[i];
      for (int k = i + 1; k < kBase; ++k) b[i] -= L[k][i] * inverse[i] * b[k];
    }
  }

  // out ← out + part · I x
  void add_product(const T& part, const T* x, T* out) const {
    for (int i = 0; i < kBase; ++i)
      for (int k = 0; k < kBase; ++k) out[i] += part * I[i][k] * x[k];
  }
};

// I (6 × 6), A (6 × n) and m − AᵀIA (n × n) from the mass matrix M = [I IA; AᵀI m].
template <class T>
void reduce_mass(int nv, const T* M, T* inertia, T* connection, T* metric) {
  const int n = nv - kBase;
  LockedInertia<T> locked;
  for (int i = 0; i < kBase; ++i)
    for (int k = 0; k < kBase; ++k) inertia[kBase * i + k] = locked.I[i][k] = M[nv * i + k];
  locked.factorize();
  T column[kBase];
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < kBase; ++i) column[i] = M[nv * i + kBase + j];
    locked.solve(column);
    for (int i = 0; i < kBase; ++i) connection[n * i + j] = column[i];
  }
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      T s = M[nv * (kBase + i) + kBase + j];
      for (int k = 0; k < kBase; ++k) s -= M[nv * k + kBase + i] * connection[n * k + j];
      metric[n * i + j] = s;
    }
}

// By how much the shape's momenta count, and by how much its forces.
template <class T>
struct ShapeParts {
  T momentum, force;
};

// The mechanism in one configuration with shape velocity u: all that a step needs of A and its derivatives, in O(n).
// The kinetic energy is a form in (base twist, u), and A u the twist that makes the base's momentum of (−A u, u) zero.
template <class T>
struct ShapeState {
  const Model& m;
  Workspace<T> w;  // poses, S and composite inertias
  LockedInertia<T> locked;
  std::vector<Spatial<T>> V, P;  // of each body: twist, and momentum of all that it carries, with the root held
  T Au[kBase];

  explicit ShapeState(const Model& model) : m(model), w(m), V(m.size()), P(m.size()), Y_(m.size()), D_(Y_), E_(Y_) {}

  void place(const T* q) {
    compute_poses<1>(m, q, w);
    composite_inertias(m, w);
    for (int k = 0; k < kBase; ++k) {
      const Spatial<T> f = w.composite[1] * w.S[k];
      for (int i = 0; i < kBase; ++i) locked.I[i][k] = dot(w.S[i], f);
      locked.I[k][k] += T(m.armature[k]);
    }
    locked.factorize();
  }

  // V, P and A u of the velocity v, of which only the shape's part counts.
  void move(const T* v) {
    V[1] = P[1] = {};
    for (int i = 2; i < m.size(); ++i) {
      const Body& b = m.bodies[i];
      V[i] = shift_motion(V[b.parent], w.pose[i].r) + joint_twist(b, w.S.data(), v);
      const Vec3<T> turning = transposed_times(w.pose[i].R, V[i].angular);
      P[i] = {w.pose[i].R * (cast<T>(b.inertia) * turning), T(b.mass) * V[i].linear};
    }
    for (int i = m.size() - 1; i > 1; --i) P[m.bodies[i].parent] += shift_force(P[i], w.pose[i].r);
    for (int k = 0; k < kBase; ++k) Au[k] = dot(w.S[k], P[1]);
    locked.solve(Au);
  }

  // With c = I⁻¹μ: the shape's momenta of the velocity (c − A u, u), which are (m − AᵀIA) u + Aᵀμ, and
  // ∂_r ℓ + μᵀ ∂A u = ∂_r T(c − A u, u) − ½ (c − Ω)ᵀ ∂I (c + Ω), along increments of the shape; each is added times its
  // part.
  void add_shape_terms(const T* v, const T* c, const T* Omega, const ShapeParts<T>& part, T* momenta, T* force) {
    Y_[1] = D_[1] = E_[1] = {};
    for (int k = 0; k < kBase; ++k) {
      Y_[1] += (c[k] - Au[k]) * w.S[k];
      D_[1] += (c[k] - Omega[k]) * w.S[k];
      E_[1] += (c[k] + Omega[k]) * w.S[k];
    }
    const bool forces = value_of(part.force) != 0;
    for (int i = 2; i < m.size(); ++i) {
      const Body& b = m.bodies[i];
      const Vec3<T>& r = w.pose[i].r;
      Y_[i] = shift_motion(Y_[b.parent], r), D_[i] = shift_motion(D_[b.parent], r),
      E_[i] = shift_motion(E_[b.parent], r);
      const RigidInertia<T>& C = w.composite[i];
      const Spatial<T> momentum = P[i] + C * Y_[i], CD = C * D_[i], CE = C * E_[i];
      const Spatial<T> parent = Y_[i] + shift_motion(V[b.parent], r);
      for (int k = 0; k < b.nv; ++k) {
        const Spatial<T>& S = w.S[b.v + k];
        momenta[b.v + k] += part.momentum * (dot(S, momentum) + T(m.armature[b.v + k]) * v[b.v + k]);
        if (!forces) continue;
        const T rigid = dot(CD, bracket(E_[i], S)) + dot(CE, bracket(D_[i], S));
        force[b.v + k] += part.force * (dot(momentum, velocity_change(b, k, parent, v, w)) - T(0.5) * rigid);
      }
    }
  }

  // out ← the forces of gravity and springs, which are conservative, plus all others, times their shares; the shape's
  // part of the velocity is that of `move`.
  void loads(JointState<T> at, AppliedForces<double> forces, ForceShares shares, T* out) {
    for (int j = 0; j < m.nv; ++j) out[j] = T(shares.other * forces.tau[j]);
    joint_loads(at, forces.inputs, shares, out);
    const Vec3<T> gravity(shares.conservative * m.gravity);
    for (int i = 1; i < m.size(); ++i) w.force[i] = {{}, T(m.bodies[i].mass) * gravity};
    if (m.acts_on_bodies()) {
      compute_velocities(m, at.v, w);
      add_element_wrenches(m, forces.inputs, shares, w);
    }
    for (int i = m.size() - 1; i > 0; --i) {
      const Body& b = m.bodies[i];
      for (int j = b.v; j < b.v + b.nv; ++j) out[j] += dot(w.S[j], w.force[i]);
      w.force[b.parent] += shift_force(w.force[i], w.pose[i].r);
    }
  }

 private:
  void joint_loads(JointState<T> at, const double* inputs, ForceShares shares, T* out) {
    add_spring_forces(m, at.q, shares.conservative, out);
    add_drive_forces(m, at.v, inputs, shares.other, out);
    if constexpr (std::is_same_v<T, double>)
      for (const UserElement& u : m.users) {
        const bool potential = u.kind == UserElement::Potential;
        user_.evaluate(u, potential ? 1 : 0, at.q, at.v);
        for (int k = 0; k < u.size(); ++k)
          out[u.v[k]] += potential ? -shares.conservative * user_.first[k] : shares.other * user_.value[k];
      }
  }

  std::vector<Spatial<T>> Y_, D_, E_;  // of each body: rigid twists of c − A u, c − Ω and c + Ω
  UserTerms user_;
};

}  // namespace symplectree
