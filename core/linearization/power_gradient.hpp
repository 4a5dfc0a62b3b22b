// Sums Σ (wrench · twist) over bodies, whose twists U some velocities ν give at q, and their gradients in q and ν.
//
// Moving coordinate j moves all that it carries rigidly, twists included, and changes these twists by Z_j besides
// (velocity_change). With P_i and F_i what the sum's derivative is in U_i and in a rigid motion of body i, summed over
// all that a body carries, the gradient is P·Z_j + S_j·F in q and S_j·P in ν.
#pragma once

#include "constraints/constraint_rows.hpp"
#include "elements/pair_elements.hpp"
#include "elements/wrench.hpp"
#include "kinematics/poses_twists.hpp"

namespace symplectree {

template <class T>
class PowerSum {
 public:
  std::vector<Spatial<T>> U;  // of each body

  explicit PowerSum(const Model& m) : U(m.size()), m_(m), P_(m.size()), F_(m.size()) {}

  // Twists of velocities nu (nv), and no power yet. Poses in `at` are those of q, with derivatives of S.
  void begin(const Workspace<T>& at, const T* nu) {
    nu_ = nu;
    for (int i = 1; i < m_.size(); ++i) {
      const Body& b = m_.bodies[i];
      U[i] = shift_motion(U[b.parent], at.pose[i].r) + joint_twist(b, at.S.data(), nu);
      P_[i] = F_[i] = {};
    }
  }

  // The power of loads, times factor; derivatives (inputs) += those in the inputs.
  void add_wrenches(double factor, const T* inputs, const Workspace<T>& at, T* derivatives) {
    for (const Wrench& row : m_.wrenches) {
      const int i = row.point.body;
      const Vec3<T> x = position(row.point, at), turning = U[i].angular, moving = velocity(x, i, at);
      const Spatial<T> given = T(factor) * world_wrench(row, inputs, at);
      P_[i] += {given.angular + cross(x - at.pose[i].x, given.linear), given.linear};
      const Mat3<T> axes = row.world_axes ? Mat3<T>::identity() : at.pose[i].R * cast<T>(row.axes);
      if (row.world_axes) F_[i].angular += cross(turning, given.angular) + cross(moving, given.linear);
      for (int k = 0; k < 6; ++k)
        if (row.input[k] >= 0)
          derivatives[row.input[k]] += T(factor * row.gain[k]) * dot(axes.column(k % 3), k < 3 ? turning : moving);
    }
  }

  // A pair's gauge while the bodies move by U.
  template <class Row>
  Gauge<DualOf<T>> gauge(const Row& row, const Workspace<T>& at) const {
    return moving_gauge(row, at, U[row.a.body], U[row.b.body]);
  }

  // A sum that has the derivatives `by_value` and `by_rate` in a pair's gauge s and its rate ṡ for the twists U. When a
  // body moves rigidly by η, its twist carried along, Ds·U changes by η·(D_U Ds) and by the turn of its velocity.
  template <class Row>
  void add_pair(const Row& row, const Gauge<DualOf<T>>& g, const T& by_value, const T& by_rate) {
    const auto act = [&](int i, const Spatial<DualOf<T>>& on) {
      const Spatial<T> Ds = value_parts(on);
      P_[i] += by_rate * Ds;
      F_[i] += by_value * Ds + by_rate * slope_parts(on);
      F_[i].angular += by_rate * cross(U[i].linear, Ds.linear);
    };
    act(row.a.body, g.on_a()), act(row.b.body, g.on_b());
  }

  // Momenta of bodies that move by the twists `other`.
  void add_momenta(const std::vector<Spatial<T>>& other, const Workspace<T>& at) {
    for (int i = 1; i < m_.size(); ++i) {
      const Body& b = m_.bodies[i];
      P_[i] += {rotated_columns(at.pose[i].R, cast<T>(b.inertia)) * other[i].angular, T(b.mass) * other[i].linear};
    }
  }

  // by_q and, unless null, by_nu (nv) += the gradients.
  void gather(const Workspace<T>& at, T* by_q, T* by_nu) {
    for (int i = m_.size() - 1; i > 0; --i) {
      const Body& b = m_.bodies[i];
      const Vec3<T>& r = at.pose[i].r;
      const Spatial<T> parent = shift_motion(U[b.parent], r);
      for (int k = 0; k < b.nv; ++k) {
        const Spatial<T>& S = at.S[b.v + k];
        by_q[b.v + k] += dot(P_[i], velocity_change(b, k, parent, nu_, at)) + dot(S, F_[i]);
        if (by_nu) by_nu[b.v + k] += dot(S, P_[i]);
      }
      P_[b.parent] += shift_force(P_[i], r), F_[b.parent] += shift_force(F_[i], r);
    }
    P_[0] = F_[0] = {};
  }

 private:
  // Of a world point that moves with body i.
  Vec3<T> velocity(const Vec3<T>& x, int i, const Workspace<T>& at) const {
    return U[i].linear + cross(U[i].angular, x - at.pose[i].x);
  }

  const Model& m_;
  std::vector<Spatial<T>> P_, F_;
  const T* nu_ = nullptr;
};

}  // namespace symplectree
