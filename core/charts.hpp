// Coordinates around a point for joints with a quaternion, and their tangent map.
//
// A chart with centre (x_c, R_c) has coordinates c = (rotation vector w, shift u in base axes): R = R_c exp(w) and, for
// a Free joint, x = x_c + u. Velocities are v = T(c) ċ with T = J_r(w) for the rotation and Rᵀ for the shift; canonical
// momenta are π = Tᵀ p. For all other coordinates T is 1.
#pragma once

#include "dual.hpp"
#include "kinematics.hpp"
#include "so3.hpp"

namespace symplectree {

// Coefficients b, c, e of J_r = 1 − b ŵ + c ŵ² and J_r⁻¹ = 1 + ½ ŵ + e ŵ², functions of the squared angle.
template <class T>
struct RotationCoefficients {
  T b, c, e;

  explicit RotationCoefficients(const T& x) {
    using std::cos, std::sin, std::sqrt;
    if (value_of(x) < 0.01) {  // Taylor series; the first neglected terms are below 1e-17
      b = T(0.5) + x * (T(-1.0 / 24) + x * (T(1.0 / 720) + x * (T(-1.0 / 40320) + x * T(1.0 / 3628800))));
      c = T(1.0 / 6) + x * (T(-1.0 / 120) + x * (T(1.0 / 5040) + x * (T(-1.0 / 362880) + x * T(1.0 / 39916800))));
      e = T(1.0 / 12) + x * (T(1.0 / 720) + x * (T(1.0 / 30240) + x * (T(1.0 / 1209600) + x * T(1.0 / 47900160))));
      return;
    }
    const T angle = sqrt(x), s = sin(angle), half = T(0.5) * angle;
    b = (T(1) - cos(angle)) / x;
    c = (angle - s) / (x * angle);
    e = (T(1) - half * cos(half) / sin(half)) / x;
  }
};

template <class T>
Vec3<T> right_jacobian(const Vec3<T>& w, const Vec3<T>& u) {
  const RotationCoefficients<T> k(dot(w, w));
  const Vec3<T> wu = cross(w, u);
  return u - k.b * wu + k.c * cross(w, wu);
}
template <class T>
Vec3<T> right_jacobian_transposed(const Vec3<T>& w, const Vec3<T>& u) {
  return right_jacobian(-w, u);
}
template <class T>
Vec3<T> right_jacobian_inverse(const Vec3<T>& w, const Vec3<T>& u) {
  const RotationCoefficients<T> k(dot(w, w));
  const Vec3<T> wu = cross(w, u);
  return u + T(0.5) * wu + k.e * cross(w, wu);
}
template <class T>
Vec3<T> right_jacobian_inverse_transposed(const Vec3<T>& w, const Vec3<T>& u) {
  return right_jacobian_inverse(-w, u);
}

// ∂/∂w of p · J_r(w) u: what the curvature of the chart adds to the rate of the canonical momentum.
inline Vec3<double> right_jacobian_gradient(const Vec3<double>& w, const Vec3<double>& u, const Vec3<double>& p) {
  double out[3];
  for (int k = 0; k < 3; ++k) {
    const Vec3<Dual> x{Dual(w.x, k == 0), Dual(w.y, k == 1), Dual(w.z, k == 2)};
    out[k] = dot(Vec3<Dual>(p), right_jacobian(x, Vec3<Dual>(u))).slope;
  }
  return load3(out);
}

// The chart of one joint with a quaternion. Its centre is the quaternion rounded to a grid: it does not change with
// small changes of the state, so that what is symplectic in the chart is so for the state.
struct Chart {
  Quaternion<double> centre;

  explicit Chart(const double* q) {
    const double s = 4, n0 = std::round(s * q[0]), n1 = std::round(s * q[1]), n2 = std::round(s * q[2]),
                 n3 = std::round(s * q[3]);
    const double n = 1 / std::sqrt(n0 * n0 + n1 * n1 + n2 * n2 + n3 * n3);
    centre = {n0 * n, {n1 * n, n2 * n, n3 * n}};
  }

  Vec3<double> coordinates(const double* q) const { return rotation_vector(between(centre, load_quaternion(q))); }

  // Writes the quaternion centre ⊗ exp(w).
  void place(const Vec3<double>& w, double* q) const {
    const double angle2 = dot(w, w), angle = std::sqrt(angle2);
    const double s = angle < 1e-4 ? 0.5 - angle2 / 48 : std::sin(angle / 2) / angle, c = std::cos(angle / 2);
    const Vec3<double> e = s * w;
    const Vec3<double> v = centre.w * e + c * centre.v + cross(centre.v, e);
    q[0] = centre.w * c - dot(centre.v, e);
    store3(v, q + 1);
  }
};

}  // namespace symplectree
