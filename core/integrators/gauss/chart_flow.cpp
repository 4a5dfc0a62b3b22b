// The flow in charts, on numbers and on packs.
#include "integrators/gauss/chart_flow.hpp"

#include "dynamics/hamiltonian_flow.hpp"

namespace symplectree {
namespace {

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

Mat3<double> rotation(const double* y) { return quaternion_matrix(y[0], y[1], y[2], y[3]); }

// x with Rᵀ x = y. The length of a quaternion is rounded always to the same side, and R y would grow in every step.
Vec3<double> to_base_axes(const Mat3<double>& R, const Vec3<double>& y) {
  const Vec3<double> x = R * y;
  return x + R * (y - transposed_times(R, x));
}

int quaternion_of(const Body& b) { return b.q + (b.kind == Kind::Free ? 3 : 0); }

template <class T>
void gather(const T* from, int n, int k, double* to) {
  for (int j = 0; j < n; ++j) to[j] = part(from[j], k);
}
template <class T>
void scatter(const double* from, int n, int k, T* to) {
  for (int j = 0; j < n; ++j) set_part(to[j], k, from[j]);
}

void joint_state(const Body& b, const Chart& chart, const double* c, const double* pi, double* q, double* p) {
  const bool free = b.kind == Kind::Free;
  double* y = q + (free ? 3 : 0);
  const Vec3<double> w = load3(c);
  const Quaternion<double> turn = turned(chart.centre, w);
  y[0] = turn.w;
  store3(turn.v, y + 1);
  store3(right_jacobian_inverse_transposed(w, load3(pi)), p);
  if (!free) return;
  std::copy(c + 3, c + 6, q);
  store3(transposed_times(rotation(y), load3(pi + 3)), p + 3);
}

// Of one joint with a quaternion: coordinates, state, velocity and force; and its rates.
struct JointMotion {
  const double *c, *q, *p, *v, *f;
};
struct JointRates {
  double *c, *pi, *G;
};

void joint_rates(const Body& b, const JointMotion& motion, const JointRates& rate) {
  const auto [c, q, p, v, f] = motion;
  const auto [cdot, pidot, torque] = rate;
  const Vec3<double> w = load3(c), wdot = right_jacobian_inverse(w, load3(v));
  Vec3<double> turning = load3(f);
  if (b.kind == Kind::Free) {
    const Mat3<double> R = rotation(q + 3);
    store3(R * load3(v + 3), cdot + 3);
    store3(R * load3(f + 3), pidot + 3);
    turning += cross(load3(p + 3), load3(v + 3));
  }
  store3(wdot, cdot);
  store3(rotated(w, turning), torque);
  store3(right_jacobian_transposed(w, turning) + right_jacobian_gradient(w, wdot, load3(p)), pidot);
}

template <class T>
Vec3<double> chart_part(const T* c, int k) {
  return {part(c[0], k), part(c[1], k), part(c[2], k)};
}
template <class T>
Mat3<double> rotation_part(const T* y, int k) {
  return quaternion_matrix(part(y[0], k), part(y[1], k), part(y[2], k), part(y[3], k));
}

}  // namespace

void Charts::begin(const double* q, const double* p, double* z) {
  for (int i = 1; i < m_.size(); ++i) {
    const Body& b = m_.bodies[i];
    double *c = z + b.v, *pi = z + m_.nv + b.v;
    if (b.flat()) {
      for (int k = 0; k < b.nv; ++k) c[k] = q[b.q + k], pi[k] = p[b.v + k];
      continue;
    }
    const double* y = q + quaternion_of(b);
    charts_[i].start = load_quaternion(y);
    charts_[i].momentum = load3(p + b.v);
    if (b.kind != Kind::Free) continue;
    store3(load3(q + b.q), c + 3);
    store3(to_base_axes(rotation(y), load3(p + b.v + 3)), pi + 3);
  }
}

void Charts::centre(const double* change, double* z) {
  for (std::size_t n = 0; n < m_.quaternions.size(); ++n) {
    const int i = m_.quaternions[n], v = m_.bodies[i].v;
    const double* G = change + 2 * m_.nv + 3 * n;
    charts_[i].begin(load3(change + v), load3(change + m_.nv + v), load3(G), z + v, z + m_.nv + v);
  }
}

void Charts::finish(const double* change, const double* z, double* q, double* p) const {
  state(z, q, p);
  for (std::size_t n = 0; n < m_.quaternions.size(); ++n) {
    const int i = m_.quaternions[n], v = m_.bodies[i].v;
    store3(charts_[i].end(load3(change + v), load3(change + 2 * m_.nv + 3 * n)), p + v);
    double* y = q + quaternion_of(m_.bodies[i]);
    const double size = 1 / std::sqrt(y[0] * y[0] + y[1] * y[1] + y[2] * y[2] + y[3] * y[3]);
    for (int k = 0; k < 4; ++k) y[k] *= size;
    if (m_.bodies[i].kind == Kind::Free) store3(transposed_times(rotation(y), load3(z + m_.nv + v + 3)), p + v + 3);
  }
}

template <class T>
void Charts::state(const T* z, T* q, T* p) const {
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

template <class T>
void Charts::rates(const T* z, const T* q, const T* p, const T* v, const T* f, T* rate) const {
  T* push = rate + 2 * m_.nv;
  for (int i = 1; i < m_.size(); ++i) {
    const Body& b = m_.bodies[i];
    if (b.flat()) {
      for (int k = 0; k < b.nv; ++k) rate[b.v + k] = v[b.v + k], rate[m_.nv + b.v + k] = f[b.v + k];
      continue;
    }
    for (int k = 0; k < width_of<T>; ++k) {
      double c[6], y[7], momentum[6], velocity[6], force[6], cdot[6], pidot[6], torque[3];
      gather(z + b.v, b.nv, k, c), gather(q + b.q, b.nv + 1, k, y), gather(p + b.v, b.nv, k, momentum);
      gather(v + b.v, b.nv, k, velocity), gather(f + b.v, b.nv, k, force);
      joint_rates(b, {.c = c, .q = y, .p = momentum, .v = velocity, .f = force}, {.c = cdot, .pi = pidot, .G = torque});
      scatter(cdot, b.nv, k, rate + b.v), scatter(pidot, b.nv, k, rate + m_.nv + b.v), scatter(torque, 3, k, push);
    }
    push += 3;
  }
}

// out ← in, but for joints with a quaternion, of which map(body, lane, in, out) says it.
template <class T, class Map>
void Charts::each_joint(const T* in, T* out, Map&& map) const {
  for (int j = 0; j < m_.nv; ++j) out[j] = in[j];
  for (const int i : m_.quaternions) {
    const Body& b = m_.bodies[i];
    for (int k = 0; k < width_of<T>; ++k) {
      double from[6], to[6];
      gather(in + b.v, b.nv, k, from);
      map(b, k, from, to);
      scatter(to, b.nv, k, out + b.v);
    }
  }
}

template <class T>
void Charts::chart_velocity(const T* z, const T* q, const T* v, T* cdot) const {
  each_joint(v, cdot, [&](const Body& b, int k, const double* velocity, double* out) {
    store3(right_jacobian_inverse(chart_part(z + b.v, k), load3(velocity)), out);
    if (b.kind == Kind::Free) store3(rotation_part(q + b.q + 3, k) * load3(velocity + 3), out + 3);
  });
}

template <class T>
void Charts::joint_velocity(const T* z, const T* q, const T* cdot, T* v) const {
  each_joint(cdot, v, [&](const Body& b, int k, const double* rate, double* out) {
    store3(right_jacobian(chart_part(z + b.v, k), load3(rate)), out);
    if (b.kind == Kind::Free) store3(transposed_times(rotation_part(q + b.q + 3, k), load3(rate + 3)), out + 3);
  });
}

template <class T>
void Charts::chart_force(const T* z, const T* q, const T* f, T* rate, T* push) const {
  each_joint(f, rate, [&](const Body& b, int k, const double* force, double* out) {
    store3(right_jacobian_transposed(chart_part(z + b.v, k), load3(force)), out);
    if (b.kind == Kind::Free) store3(rotation_part(q + b.q + 3, k) * load3(force + 3), out + 3);
  });
  for (const int i : m_.quaternions) {
    const Body& b = m_.bodies[i];
    for (int k = 0; k < width_of<T>; ++k) {
      double torque[3], G[3];
      gather(f + b.v, 3, k, torque);
      store3(rotated(chart_part(z + b.v, k), load3(torque)), G);
      scatter(G, 3, k, push);
    }
    push += 3;
  }
}

// Inlined as a whole: packs then stay in registers.
template <class T>
[[gnu::flatten]] void ChartFlow<T>::place(const Charts& charts, const T* z) {
  charts.state(z, q.data(), p.data());
  velocity_of_momentum<1>(m, q.data(), p.data(), v.data(), w);
}

template <class T>
[[gnu::flatten]] void ChartFlow<T>::rates(const Charts& charts, const T* z, AppliedForces<double> forces, T* rate) {
  momentum_rate(m, {q.data(), v.data()}, forces, force.data(), w);
  charts.rates(z, q.data(), p.data(), v.data(), force.data(), rate);
}

template <class T>
void ChartFlow<T>::velocity(const T* at, const T* momentum, T* out) {
  velocity_of_momentum(m, at, momentum, out, w);
}

template <class T>
T ChartFlow<T>::twice_kinetic_energy(const T* momentum) {
  return symplectree::twice_kinetic_energy(m, momentum, w);
}

#define SYMPLECTREE_CHARTS(T)                                                              \
  template struct ChartFlow<T>;                                                            \
  template void Charts::state(const T*, T*, T*) const;                                     \
  template void Charts::rates(const T*, const T*, const T*, const T*, const T*, T*) const; \
  template void Charts::chart_velocity(const T*, const T*, const T*, T*) const;            \
  template void Charts::joint_velocity(const T*, const T*, const T*, T*) const;            \
  template void Charts::chart_force(const T*, const T*, const T*, T*, T*) const;
SYMPLECTREE_CHARTS(double)
SYMPLECTREE_CHARTS(Pack<2>)
SYMPLECTREE_CHARTS(Pack<4>)
SYMPLECTREE_CHARTS(Pack<8>)
#undef SYMPLECTREE_CHARTS

}  // namespace symplectree
