// Rotation vectors and quaternions (w, x, y, z).
#pragma once

#include <cmath>

#include "math.hpp"

namespace symplectree {

template <class T>
struct Quaternion {
  T w;
  Vec3<T> v;
};

template <class T>
Quaternion<T> load_quaternion(const T* p) {
  return {p[0], {p[1], p[2], p[3]}};
}

// a⁻¹ b for unit quaternions, with the sign that makes its scalar part positive.
inline Quaternion<double> between(const Quaternion<double>& a, const Quaternion<double>& b) {
  const double w = a.w * b.w + dot(a.v, b.v);
  const Vec3<double> v = a.w * b.v - b.w * a.v - cross(a.v, b.v);
  return w < 0 ? Quaternion<double>{-w, -v} : Quaternion<double>{w, v};
}

// Rotation vector of a unit quaternion with positive scalar part.
inline Vec3<double> rotation_vector(const Quaternion<double>& q) {
  const double s2 = dot(q.v, q.v), s = std::sqrt(s2);
  const double scale = s < 1e-5 ? 2 / q.w * (1 - s2 / (3 * q.w * q.w)) : 2 * std::atan2(s, q.w) / s;
  return scale * q.v;
}

// The increment d with retract(q0, d) = q1 for one Ball (rotation vector) or Free (twist) joint.
inline void local_increment(bool free, const double* q0, const double* q1, double* d) {
  const Quaternion<double> a = load_quaternion(q0 + (free ? 3 : 0)), b = load_quaternion(q1 + (free ? 3 : 0));
  const Vec3<double> w = rotation_vector(between(a, b));
  d[0] = w.x, d[1] = w.y, d[2] = w.z;
  if (!free) return;
  const Vec3<double> x{q1[0] - q0[0], q1[1] - q0[1], q1[2] - q0[2]};
  const Vec3<double> u = transposed_times(quaternion_matrix(a.w, a.v.x, a.v.y, a.v.z), x);
  // inverse of 1 + B ŵ + C ŵ²: 1 − ½ ŵ + c ŵ²
  const double angle2 = dot(w, w), half = 0.5 * std::sqrt(angle2);
  const double c = angle2 < 1e-6 ? 1.0 / 12 + angle2 / 720 : (1 - half / std::tan(half)) / angle2;
  const Vec3<double> wu = cross(w, u), v = u - 0.5 * wu + c * cross(w, wu);
  d[3] = v.x, d[4] = v.y, d[5] = v.z;
}

}  // namespace symplectree
