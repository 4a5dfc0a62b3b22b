// Hamilton's equations in canonical coordinates z = (c, π) (see charts.hpp), for one state or for several side by side.
#pragma once

#include <vector>

#include "charts.hpp"
#include "hamilton.hpp"

namespace symplectree {

// How many states a scalar holds, and the parts of it.
template <class T>
inline constexpr int width_of = 1;
template <int W>
inline constexpr int width_of<Pack<W>> = W;

inline double part(double x, int) { return x; }
template <int W>
double part(const Pack<W>& x, int k) {
  return x[k];
}
inline void set_part(double& x, int, double value) { x = value; }
template <int W>
void set_part(Pack<W>& x, int k, double value) {
  x.set(k, value);
}

// The charts of all joints with a quaternion.
class Charts {
 public:
  explicit Charts(const Model& m) : m_(m), charts_(m.size(), Chart(identity)) {}

  // Charts around the state; true when they are those of before.
  bool centre(const double* q) {
    bool same = true;
    for (int i : m_.quaternions) {
      const Chart chart(q + quaternion_of(m_.bodies[i]));
      const Vec3<double> gap = chart.centre.v - charts_[i].centre.v;
      same &= chart.centre.w == charts_[i].centre.w && dot(gap, gap) == 0;
      charts_[i] = chart;
    }
    return same;
  }

  // z ← (c, π) of (q, p). Free joints: (rotation vector, position in base axes).
  void coordinates(const double* q, const double* p, double* z) const {
    for (int i = 1; i < m_.size(); ++i) {
      const Body& b = m_.bodies[i];
      double *c = z + b.v, *pi = z + m_.nv + b.v;
      if (b.flat()) {
        for (int k = 0; k < b.nv; ++k) c[k] = q[b.q + k], pi[k] = p[b.v + k];
        continue;
      }
      const double* y = q + quaternion_of(b);
      const Vec3<double> w = charts_[i].coordinates(y);
      store3(w, c);
      store3(right_jacobian_transposed(w, load3(p + b.v)), pi);
      if (b.kind != Kind::Free) continue;
      store3(load3(q + b.q), c + 3);
      store3(quaternion_matrix(y[0], y[1], y[2], y[3]) * load3(p + b.v + 3), pi + 3);
    }
  }

  // (q, p) of z = (c, π).
  template <class T>
  void state(const T* z, T* q, T* p) const {
    for (int i = 1; i < m_.size(); ++i) {
      const Body& b = m_.bodies[i];
      if (b.flat()) {
        for (int k = 0; k < b.nv; ++k) q[b.q + k] = z[b.v + k], p[b.v + k] = z[m_.nv + b.v + k];
        continue;
      }
      for (int k = 0; k < width_of<T>; ++k) {
        double c[6], pi[6], y[7], momentum[6];
        gather(z + b.v, b.nv, k, c), gather(z + m_.nv + b.v, b.nv, k, pi);
        joint_state(b, charts_[i], c, pi, y, momentum);
        scatter(y, b.nv + 1, k, q + b.q), scatter(momentum, b.nv, k, p + b.v);
      }
    }
  }

  // rate ← (ċ, π̇) at z, of which (q, p) is the state, v the velocity and f the rate of momentum without the chart.
  template <class T>
  void rates(const T* z, const T* q, const T* p, const T* v, const T* f, T* rate) const {
    for (int i = 1; i < m_.size(); ++i) {
      const Body& b = m_.bodies[i];
      if (b.flat()) {
        for (int k = 0; k < b.nv; ++k) rate[b.v + k] = v[b.v + k], rate[m_.nv + b.v + k] = f[b.v + k];
        continue;
      }
      for (int k = 0; k < width_of<T>; ++k) {
        double c[6], y[7], momentum[6], velocity[6], force[6], cdot[6], pidot[6];
        gather(z + b.v, b.nv, k, c), gather(q + b.q, b.nv + 1, k, y), gather(p + b.v, b.nv, k, momentum);
        gather(v + b.v, b.nv, k, velocity), gather(f + b.v, b.nv, k, force);
        joint_rates(b, c, y, momentum, velocity, force, cdot, pidot);
        scatter(cdot, b.nv, k, rate + b.v), scatter(pidot, b.nv, k, rate + m_.nv + b.v);
      }
    }
  }

 private:
  static constexpr double identity[4] = {1, 0, 0, 0};
  static int quaternion_of(const Body& b) { return b.q + (b.kind == Kind::Free ? 3 : 0); }

  template <class T>
  static void gather(const T* from, int n, int k, double* to) {
    for (int j = 0; j < n; ++j) to[j] = part(from[j], k);
  }
  template <class T>
  static void scatter(const double* from, int n, int k, T* to) {
    for (int j = 0; j < n; ++j) set_part(to[j], k, from[j]);
  }

  static void joint_state(const Body& b, const Chart& chart, const double* c, const double* pi, double* q, double* p) {
    const bool free = b.kind == Kind::Free;
    double* y = q + (free ? 3 : 0);
    const Vec3<double> w = load3(c);
    chart.place(w, y);
    store3(right_jacobian_inverse_transposed(w, load3(pi)), p);
    if (!free) return;
    std::copy(c + 3, c + 6, q);
    store3(transposed_times(quaternion_matrix(y[0], y[1], y[2], y[3]), load3(pi + 3)), p + 3);
  }

  static void joint_rates(const Body& b, const double* c, const double* q, const double* p, const double* v,
                          const double* f, double* cdot, double* pidot) {
    const Vec3<double> w = load3(c), wdot = right_jacobian_inverse(w, load3(v));
    Vec3<double> turning = load3(f);
    if (b.kind == Kind::Free) {
      const Mat3<double> R = quaternion_matrix(q[3], q[4], q[5], q[6]);
      store3(R * load3(v + 3), cdot + 3);
      store3(R * load3(f + 3), pidot + 3);
      turning += cross(load3(p + 3), load3(v + 3));
    }
    store3(wdot, cdot);
    store3(right_jacobian_transposed(w, turning) + right_jacobian_gradient(w, wdot, load3(p)), pidot);
  }

  const Model& m_;
  std::vector<Chart> charts_;  // of each body
};

// The flow: scratch memory for as many states as T holds.
template <class T>
struct ChartFlow {
  const Model& m;
  Workspace<T> w;
  std::vector<T> q, p, v, force;

  explicit ChartFlow(const Model& model) : m(model), w(m), q(m.nq), p(m.nv), v(m.nv), force(m.nv) {}

  // rate ← ż at z under forces(q, v) → (tau, inputs).
  template <class Forces>
  void evaluate(const Charts& charts, const T* z, T* rate, Forces&& forces) {
    charts.state(z, q.data(), p.data());
    velocity_of_momentum<1>(m, q.data(), p.data(), v.data(), w);
    const auto [tau, inputs] = forces(q.data(), v.data());
    momentum_rate(m, q.data(), v.data(), tau, inputs, force.data(), w);
    charts.rates(z, q.data(), p.data(), v.data(), force.data(), rate);
  }
};

}  // namespace symplectree
