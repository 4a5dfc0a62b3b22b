// Quaternions and rotation vectors for numbers that carry derivatives up to the second.
#pragma once

#include "kinematics/configurations.hpp"
#include "kinematics/poses_twists.hpp"
#include "spatial/so3.hpp"

namespace symplectree {

// a⁻¹ b for unit quaternions, with the sign that makes its scalar part positive.
template <class T>
Quaternion<T> between(const Quaternion<T>& a, const Quaternion<T>& b) {
  const T w = a.w * b.w + dot(a.v, b.v);
  const Vec3<T> v = a.w * b.v - b.w * a.v - cross(a.v, b.v);
  return value_of(w) < 0 ? Quaternion<T>{-w, -v} : Quaternion<T>{w, v};
}

template <class T>
Quaternion<T> product(const Quaternion<T>& a, const Quaternion<T>& b) {
  return {a.w * b.w - dot(a.v, b.v), a.w * b.v + b.w * a.v + cross(a.v, b.v)};
}

template <class T>
void store(const Quaternion<T>& a, T* q) {
  q[0] = a.w, q[1] = a.v.x, q[2] = a.v.y, q[3] = a.v.z;
}

// Rotation vector of a unit quaternion with positive scalar part: (2/w) f(ζ) v with f = atan √ζ/√ζ, ζ = |v|²/w², for
// which 2ζ f' + f = 1/(1 + ζ).
template <class T>
Vec3<T> rotation_vector(const Quaternion<T>& q) {
  const T zeta = dot(q.v, q.v) / (q.w * q.w);
  const double x = value_of(zeta);
  double f = 0, f1 = 0, f2 = 0;
  if (x < 0.02) {
    double power[3] = {1, 0, 0};
    for (int n = 0; n < 12; ++n) {
      const double term = (n % 2 ? -1.0 : 1.0) / (2 * n + 1);
      f += term * power[0], f1 += term * power[1], f2 += term * power[2];
      for (int j = 2; j > 0; --j) power[j] = x * power[j] + j * power[j - 1];
      power[0] *= x;
    }
  } else {
    const double root = std::sqrt(x), s = 1 / (1 + x);
    f = std::atan(root) / root;
    f1 = (s - f) / (2 * x);
    f2 = (-s * s - 3 * f1) / (2 * x);
  }
  return (T(2) / q.w * taylor(f, f1, f2, zeta)) * q.v;
}

// The quaternion exp(w/2): cos(√x/2) and w sin(√x/2)/√x = w S with x = |w|², for which 2x S' + S = cos(√x/2)/2.
template <class T>
Quaternion<T> rotation_quaternion(const Vec3<T>& w) {
  const T square = dot(w, w);
  const double x = value_of(square), c = std::cos(0.5 * std::sqrt(x));
  double s = 0, s1 = 0, s2 = 0;
  if (x < 1) {
    double term = 0.5, power[3] = {1, 0, 0};
    for (int n = 0; n < 9; ++n) {
      s += term * power[0], s1 += term * power[1], s2 += term * power[2];
      for (int j = 2; j > 0; --j) power[j] = x * power[j] + j * power[j - 1];
      power[0] *= x;
      term *= -0.25 / ((2 * n + 2) * (2 * n + 3));
    }
  } else {
    s = std::sin(0.5 * std::sqrt(x)) / std::sqrt(x);
    s1 = (0.5 * c - s) / (2 * x);
    s2 = (-0.125 * s - 3 * s1) / (2 * x);
  }
  return {taylor(c, -0.25 * s, -0.25 * s1, square), taylor(s, s1, s2, square) * w};
}

// q turned by the rotation vector w, about its own axes.
template <class T>
Quaternion<T> turned(const Quaternion<T>& q, const Vec3<T>& w) {
  return product(q, rotation_quaternion(w));
}

// The configuration of one joint reached from q, plain numbers or such that carry derivatives, by the increment d,
// whose value is zero.
template <class R, class Q, class T>
void retract_ad(const BodyOf<R>& b, const Q* q, const T* d, T* out) {
  if (b.flat()) {
    for (int k = 0; k < b.nv; ++k) out[b.q + k] = T(q[b.q + k]) + d[b.v + k];
    return;
  }
  const bool free = b.kind == Kind::Free;
  const Q* z = q + b.q + (free ? 3 : 0);
  const Quaternion<T> a{T(z[0]), {T(z[1]), T(z[2]), T(z[3])}};
  const Vec3<T> w{d[b.v], d[b.v + 1], d[b.v + 2]};
  // exp(w/2) and exp(w) up to second order: w has no value
  store(product(a, Quaternion<T>{T(1) - T(0.125) * dot(w, w), T(0.5) * w}), out + b.q + (free ? 3 : 0));
  if (!free) return;
  const Vec3<T> u{d[b.v + 3], d[b.v + 4], d[b.v + 5]};
  const Vec3<T> x = quaternion_matrix(a.w, a.v.x, a.v.y, a.v.z) * (u + T(0.5) * cross(w, u));
  out[b.q] = T(q[b.q]) + x.x, out[b.q + 1] = T(q[b.q + 1]) + x.y, out[b.q + 2] = T(q[b.q + 2]) + x.z;
}

// The same of all joints.
template <class R, class Q, class T>
void retract_ad(const ModelOf<R>& m, const Q* q, const T* d, T* out) {
  for (int i = 1; i < m.size(); ++i) retract_ad(m.bodies[i], q, d, out);
}

// (q1 ⊖ q0), the increments from one configuration to the other (nv).
template <class R, class T>
void increments_ad(const ModelOf<R>& m, const T* q0, const T* q1, T* d) {
  for (int i = 1; i < m.size(); ++i) {
    const BodyOf<R>& b = m.bodies[i];
    if (b.flat()) {
      for (int k = 0; k < b.nv; ++k) d[b.v + k] = q1[b.q + k] - q0[b.q + k];
      continue;
    }
    const bool free = b.kind == Kind::Free;
    const Quaternion<T> a = load_quaternion(q0 + b.q + (free ? 3 : 0)), c = load_quaternion(q1 + b.q + (free ? 3 : 0));
    const Vec3<T> w = rotation_vector(between(a, c));
    d[b.v] = w.x, d[b.v + 1] = w.y, d[b.v + 2] = w.z;
    if (!free) continue;
    const Vec3<T> x{q1[b.q] - q0[b.q], q1[b.q + 1] - q0[b.q + 1], q1[b.q + 2] - q0[b.q + 2]};
    const Vec3<T> u = transposed_times(quaternion_matrix(a.w, a.v.x, a.v.y, a.v.z), x), wu = cross(w, u);
    const Vec3<T> v = u - T(0.5) * wu + dlog_momentum_coefficients(dot(w, w)).gamma * cross(w, wu);
    d[b.v + 3] = v.x, d[b.v + 4] = v.y, d[b.v + 5] = v.z;
  }
}

}  // namespace symplectree
