// Sums Σ (wrench · twist) over bodies, whose twists U some velocities ν give at q, and their gradients in q and ν.
//
// Moving coordinate j moves all that it carries rigidly, twists included, and changes these twists by Z_j besides
// (velocity_change). With P_i and F_i what the sum's derivative is in U_i and in a rigid motion of body i, summed over
// all that a body carries, the gradient is P·Z_j + S_j·F in q and S_j·P in ν.
#pragma once

#include "constraints/constraint_rows.hpp"
#include "elements/element_forces.hpp"

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
          derivatives[row.input[k]] += T(factor) * dot(axes.column(k % 3), k < 3 ? turning : moving);
    }
  }

  // How a line's length changes.
  struct LineRate {
    T length, rate;
    Vec3<T> u, bend;  // derivatives in the line's vector: of the length, of the rate
  };
  LineRate line_rate(const Line& line, const Workspace<T>& at) const {
    using std::sqrt;
    const Vec3<T> a = position(line.a, at), b = position(line.b, at), d = b - a;
    const T length = sqrt(dot(d, d)), inverse = T(1) / length;
    const Vec3<T> u = inverse * d, change = velocity(b, line.b.body, at) - velocity(a, line.a.body, at);
    const T rate = dot(u, change);
    return {length, rate, u, inverse * (change - rate * u)};
  }

  // A sum that has the derivatives `by_length` and `by_rate` in a line's length and its rate.
  void add_line(const Line& line, const LineRate& r, const T& by_length, const T& by_rate, const Workspace<T>& at) {
    const Vec3<T> f = by_length * r.u + by_rate * r.bend, u = by_rate * r.u;
    const auto act = [&](const Point& p, const Vec3<T>& force, const Vec3<T>& along) {
      const Vec3<T> x = position(p, at);
      P_[p.body] += force_at(x, along, p.body, at);
      F_[p.body] += force_at(x, force, p.body, at);
      F_[p.body].angular += cross(velocity(x, p.body, at), along);
    };
    act(line.b, f, u), act(line.a, -f, -u);
  }

  // The same for a pair's gauge s and its rate ṡ for the twists U. When a body moves rigidly by η, its twist carried
  // along, Ds·U changes by η·(D_U Ds) and by the turn of its velocity.
  template <class Row>
  void add_pair(const Row& row, const Gauge<T>& g, const T& by_value, const T& by_rate, const Workspace<T>& at) {
    const int a = row.a.body, b = row.b.body;
    const Gauge<T> change = gauge_derivative(row, at, U[a], U[b]);
    const auto act = [&](int i, const Spatial<T>& on, const Spatial<T>& changed) {
      P_[i] += by_rate * on;
      F_[i] += by_value * on + by_rate * changed;
      F_[i].angular += by_rate * cross(U[i].linear, on.linear);
    };
    act(a, g.on_a, change.on_a), act(b, g.on_b, change.on_b);
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
