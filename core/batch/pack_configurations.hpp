// Configurations of several runs side by side, and the increments between them; as kinematics/configurations.hpp, but
// for small rotations only: beyond kSmallTurn increments are wrong, and who asks for them has to look at their size.
#pragma once

#include "batch/lanes.hpp"
#include "model/model.hpp"
#include "spatial/so3.hpp"

namespace symplectree {

inline constexpr double kSmallTurn = 0.3;  // rad

// a⁻¹ b for unit quaternions, with the sign that makes its scalar part positive.
template <int W>
Quaternion<Pack<W>> between(const Quaternion<Pack<W>>& a, const Quaternion<Pack<W>>& b) {
  using P = Pack<W>;
  const P w = a.w * b.w + dot(a.v, b.v), sign(w.lanes < 0 ? P(-1.0).lanes : P(1.0).lanes);
  return {sign * w, sign * (a.w * b.v - b.w * a.v - cross(a.v, b.v))};
}

// Rotation vector of a unit quaternion of a small rotation: 2 atan(x)/x v/w with x = |v|/w.
template <int W>
Vec3<Pack<W>> small_rotation_vector(const Quaternion<Pack<W>>& q) {
  using P = Pack<W>;
  const P inverse = P(1) / q.w, square = dot(q.v, q.v) * inverse * inverse;
  P sum(0);
  for (int n = 10; n >= 0; --n) sum = P((n % 2 ? -2.0 : 2.0) / (2 * n + 1)) + square * sum;
  return (sum * inverse) * q.v;
}

// γ of dlog (DlogCoefficients) for the square of a small angle.
template <int W>
Pack<W> small_dlog_gamma(const Pack<W>& square) {
  using P = Pack<W>;
  const double c[] = {1.0 / 12, 1.0 / 720, 1.0 / 30240, 1.0 / 1209600, 1.0 / 47900160, 691.0 / 1307674368000.0};
  P sum(0);
  for (int n = 5; n >= 0; --n) sum = P(c[n]) + square * sum;
  return sum;
}

template <int W>
Mat3<Pack<W>> rotation_of(const Quaternion<Pack<W>>& q) {
  return quaternion_matrix(q.w, q.v.x, q.v.y, q.v.z);
}

// out ← the configurations reached from q by the increments d; quaternions stay normalised.
template <int W>
void retract(const Model& m, const Pack<W>* q, const Pack<W>* d, Pack<W>* out) {
  using P = Pack<W>;
  for (int i = 1; i < m.size(); ++i) {
    const Body& b = m.bodies[i];
    if (b.flat()) {
      for (int k = 0; k < b.nv; ++k) out[b.q + k] = q[b.q + k] + d[b.v + k];
      continue;
    }
    const int shift = b.kind == Kind::Free ? 3 : 0;
    const Quaternion<P> a = load_quaternion(q + b.q + shift);
    const Vec3<P> w = load3(d + b.v);
    const P square = dot(w, w), angle = sqrt(square), half = P(0.5) * angle;
    P s, c;
    sines_and_cosines(&half, 1, &s, &c);
    const LaneMask<W> small = angle.lanes < 1e-4;
    const auto unless_small = [&](const P& series, const P& number, const P& over) {
      return select<W>(small, series, number / select<W>(small, P(1), over));
    };
    if (shift) {  // R (1 + B ŵ + C ŵ²) u with the coefficients of the exponential on SE(3)
      const P B = unless_small(P(0.5) - P(1.0 / 24) * square, P(2) * s * s, square);
      const P C = unless_small(P(1.0 / 6) - P(1.0 / 120) * square, angle - P(2) * s * c, square * angle);
      const Vec3<P> u = load3(d + b.v + 3), wu = cross(w, u);
      const P n = P(1) / sqrt(a.w * a.w + dot(a.v, a.v));
      store3(load3(q + b.q) +
                 quaternion_matrix(n * a.w, n * a.v.x, n * a.v.y, n * a.v.z) * (u + B * wu + C * cross(w, wu)),
             out + b.q);
    }
    const Vec3<P> e = unless_small(P(0.5) - P(1.0 / 48) * square, s, angle) * w;
    const P qw = a.w * c - dot(a.v, e);
    const Vec3<P> qv = a.w * e + c * a.v + cross(a.v, e);
    const P n = P(1) / sqrt(qw * qw + dot(qv, qv));
    P* o = out + b.q + shift;
    o[0] = n * qw, o[1] = n * qv.x, o[2] = n * qv.y, o[3] = n * qv.z;
  }
}

// d (nv) ← the increments that lead from q0 to q1.
template <int W>
void increments(const Model& m, const Pack<W>* q0, const Pack<W>* q1, Pack<W>* d) {
  using P = Pack<W>;
  for (int i = 1; i < m.size(); ++i) {
    const Body& b = m.bodies[i];
    if (b.flat()) {
      for (int k = 0; k < b.nv; ++k) d[b.v + k] = q1[b.q + k] - q0[b.q + k];
      continue;
    }
    const int shift = b.kind == Kind::Free ? 3 : 0;
    const Quaternion<P> a = load_quaternion(q0 + b.q + shift);
    const Vec3<P> w = small_rotation_vector(between(a, load_quaternion(q1 + b.q + shift)));
    store3(w, d + b.v);
    if (!shift) continue;
    const Vec3<P> u = transposed_times(rotation_of(a), load3(q1 + b.q) - load3(q0 + b.q)), wu = cross(w, u);
    store3(u - P(0.5) * wu + small_dlog_gamma(dot(w, w)) * cross(w, wu), d + b.v + 3);
  }
}

// p ← p + what the root finder left over of a step from q0 to q1 (momentum_remainder.hpp).
template <int W>
void keep_remainder(const Model& m, const Pack<W>* left, const Pack<W>* q0, const Pack<W>* q1, Pack<W>* p) {
  using P = Pack<W>;
  for (int i = 1; i < m.size(); ++i) {
    const Body& b = m.bodies[i];
    const P* r = left + b.v;
    if (b.kind != Kind::Free) {
      for (int k = 0; k < b.nv; ++k) p[b.v + k] += r[k];
      continue;
    }
    const Mat3<P> R0 = rotation_of(load_quaternion(q0 + b.q + 3)), R1 = rotation_of(load_quaternion(q1 + b.q + 3));
    const Vec3<P> f = R0 * load3(r + 3), back = load3(q0 + b.q) - load3(q1 + b.q);
    store3(load3(p + b.v) + transposed_times(R1, R0 * load3(r) + cross(back, f)), p + b.v);
    store3(load3(p + b.v + 3) + transposed_times(R1, f), p + b.v + 3);
  }
}

// Invert the n × n matrices in `a` (n ≤ 6), whose pivots are where they should be; what has none becomes infinite.
template <int W>
bool invert_small(Pack<W>* a, int n) {
  using P = Pack<W>;
  for (int c = 0; c < n; ++c) {
    const P scale = P(1) / a[n * c + c];
    a[n * c + c] = P(1);
    for (int k = 0; k < n; ++k) a[n * c + k] = scale * a[n * c + k];
    for (int i = 0; i < n; ++i) {
      if (i == c) continue;
      const P f = a[n * i + c];
      a[n * i + c] = P(0);
      for (int k = 0; k < n; ++k) a[n * i + k] -= f * a[n * c + k];
    }
  }
  return true;
}

}  // namespace symplectree
