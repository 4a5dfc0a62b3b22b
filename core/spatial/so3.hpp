// Rotation vectors, quaternions (w, x, y, z), and the differential of the logarithm of rotations.
#pragma once

#include <array>
#include <cmath>

#include "scalar/dual.hpp"
#include "spatial/vec3.hpp"

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

// Rotation vector of R1 R0ᵀ, in world axes.
inline Vec3<double> rotation_vector(const Mat3<double>& R0, const Mat3<double>& R1) {
  const Vec3<double> axis = 0.5 * (cross(R0.a, R1.a) + cross(R0.b, R1.b) + cross(R0.c, R1.c));  // sin θ long
  const double trace = dot(R0.a, R1.a) + dot(R0.b, R1.b) + dot(R0.c, R1.c);
  const double x = 0.25 * (3 - trace);  // sin²(θ/2)
  if (x < 1.0 / 32) {                   // θ/sin θ = Σ 2·4···2n/(3·5···(2n+1)) xⁿ; what is left out is below 1e-17
    double scale = 1;
    for (int n = 10; n > 0; --n) scale = 1 + 2.0 * n / (2 * n + 1) * x * scale;
    return scale * axis;
  }
  const double sine = std::sqrt(dot(axis, axis));
  return (std::atan2(sine, 0.5 * (trace - 1)) / sine) * axis;
}

// Coefficients of dlog_ω = 1 − ½ [ω] + γ [ω]² and of dlogᵀ dlog = 1 − k [ω]² on SO(3), with their derivatives in |ω|².
struct DlogCoefficients {
  double gamma, gamma1;
  double k, k1, k2;
  double gamma2;
};

// γ = (1 − (θ/2) cot(θ/2))/θ² = Σ_n 2/((2πn)² − θ²) for θ² = angle2 ≤ π²: the first pole as it is, of the others the
// Taylor series Σ_j (ζ(2j+2) − 1) yʲ, y = θ²/4π² ≤ ¼. k = 1/(4 sin²(θ/2)) − 1/θ² = γ + 2θ²γ'. All terms are positive,
// so nothing cancels, at any angle.
inline DlogCoefficients dlog_coefficients(double angle2) {
  static constexpr int terms = 15;  // what is left out is below 1e-17
  // Of yʲ in the series and its first three derivatives.
  static constexpr auto series = [] {
    constexpr double zeta[terms + 3] = {0.6449340668482264,     0.08232323371113819,   0.01734306198444914,
                                        0.00407735619794434,    0.0009945751278180853, 0.0002460865533080483,
                                        6.124813505870483e-05,  1.528225940865187e-05, 3.81729326499984e-06,
                                        9.539620338727962e-07,  2.38450502727733e-07,  5.960818905125948e-08,
                                        1.4901554828365043e-08, 3.725334024788457e-09, 9.313274324196682e-10,
                                        2.3283118336765053e-10, 5.820772087902701e-11, 1.4551921891041985e-11};
    std::array<Lanes, terms> c{};
    for (int j = 0; j < terms; ++j)
      c[j] = Lanes{zeta[j], (j + 1) * zeta[j + 1], (j + 2) * (j + 1) * zeta[j + 2],
                   (j + 3) * (j + 2) * (j + 1) * zeta[j + 3]};
    return c;
  }();
  constexpr double unit = 0.025330295910584444;  // 1/4π²
  const double y = unit * angle2, y2 = y * y, pole = 1 / (1 - y), pole2 = pole * pole;
  Lanes even = series[terms - 1], odd = series[terms - 2];  // two chains that run side by side
  for (int j = terms - 3; j > 0; j -= 2) even = even * y2 + series[j], odd = odd * y2 + series[j - 1];
  even = even * y2 + series[0];
  const Lanes sum = even + y * odd + Lanes{pole, pole2, 2 * pole * pole2, 6 * pole2 * pole2};
  const Lanes g = Lanes{2 * unit, 2 * unit * unit, 2 * unit * unit * unit, 2 * unit * unit * unit * unit} * sum;
  const double twice = 2 * angle2;
  return {g[0], g[1], g[0] + twice * g[1], 3 * g[1] + twice * g[2], 5 * g[2] + twice * g[3], g[2]};
}

// Of these, what momenta take.
inline DlogCoefficients dlog_momentum_coefficients(double angle2) { return dlog_coefficients(angle2); }

template <class T>
struct DlogMomentum {
  T gamma, k, k1;
};

// The same for numbers that carry derivatives up to the second.
template <class T>
DlogMomentum<T> dlog_momentum_coefficients(const T& angle2) {
  constexpr double unit = 0.025330295910584444;  // 1/4π²
  const double x = value_of(angle2);
  const DlogCoefficients f = dlog_coefficients(x);
  double g[3] = {};  // second to fourth derivative of γ: Σ_n 2 j!/((2πn)² − θ²)^(j+1)
  for (int n = 1; n < 100; ++n) {
    const double pole = unit / (double(n) * n - unit * x);
    double term = 2 * 2 * pole * pole * pole;
    for (int j = 0; j < 3; ++j) g[j] += term, term *= (j + 3) * pole;
  }
  const double k3 = 7 * g[1] + 2 * x * g[2];
  return {taylor(f.gamma, f.gamma1, g[0], angle2), taylor(f.k, f.k1, f.k2, angle2), taylor(f.k1, f.k2, k3, angle2)};
}

// Rotation vector of R1 R0ᵀ for numbers that carry derivatives: θ/sin θ as a function f of x = sin²(θ/2), for which
// df/dx = 2 (1 − c f)/s², c = cos θ, s = sin θ.
template <class T>
Vec3<T> rotation_vector(const Mat3<T>& R0, const Mat3<T>& R1) {
  const Vec3<T> axis = T(0.5) * (cross(R0.a, R1.a) + cross(R0.b, R1.b) + cross(R0.c, R1.c));
  const T x = T(0.25) * (T(3) - (dot(R0.a, R1.a) + dot(R0.b, R1.b) + dot(R0.c, R1.c)));
  const double at = value_of(x);
  double f = 0, f1 = 0, f2 = 0;
  if (at < 1.0 / 32) {                      // Σ 2·4···2n/(3·5···(2n+1)) xⁿ
    double term = 1, power[3] = {1, 0, 0};  // xⁿ and its derivatives
    for (int n = 0; n < 16; ++n) {
      f += term * power[0], f1 += term * power[1], f2 += term * power[2];
      for (int j = 2; j > 0; --j) power[j] = at * power[j] + j * power[j - 1];
      power[0] *= at;
      term *= 2.0 * (n + 1) / (2 * n + 3);
    }
  } else {
    const double c = 1 - 2 * at, s2 = 4 * at * (1 - at), sine = std::sqrt(s2);
    f = std::atan2(sine, c) / sine;
    f1 = 2 * (1 - c * f) / s2;
    f2 = -8 * c / (s2 * s2) * (1 - c * f) + 2 / s2 * (2 * f - c * f1);
  }
  return taylor(f, f1, f2, x) * axis;
}

// The increment d with retract(q0, d) = q1 for one Ball (rotation vector) or Free (twist) joint.
inline void local_increment(bool free, const double* q0, const double* q1, double* d) {
  const Quaternion<double> a = load_quaternion(q0 + (free ? 3 : 0)), b = load_quaternion(q1 + (free ? 3 : 0));
  const Vec3<double> w = rotation_vector(between(a, b));
  d[0] = w.x, d[1] = w.y, d[2] = w.z;
  if (!free) return;
  const Vec3<double> x{q1[0] - q0[0], q1[1] - q0[1], q1[2] - q0[2]};
  const Vec3<double> u = transposed_times(quaternion_matrix(a.w, a.v.x, a.v.y, a.v.z), x);
  const Vec3<double> wu = cross(w, u), v = u - 0.5 * wu + dlog_coefficients(dot(w, w)).gamma * cross(w, wu);
  d[3] = v.x, d[4] = v.y, d[5] = v.z;
}

}  // namespace symplectree
