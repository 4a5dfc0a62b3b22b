// Coordinates around a point for joints with a quaternion, and their tangent map.
//
// A chart with centre R_c has coordinates c = (rotation vector w, position u in base axes): R = R_c exp(w) and, for a
// Free joint, x = u. Velocities are v = T(c) ċ with T = J_r(w) for the rotation and Rᵀ for the position; canonical
// momenta are π = Tᵀ p. For all other coordinates T is 1.
#pragma once

#include "spatial/so3.hpp"

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

// exp(w) u.
inline Vec3<double> rotated(const Vec3<double>& w, const Vec3<double>& u) {
  const double x = dot(w, w);
  const RotationCoefficients<double> k(x);
  const Vec3<double> wu = cross(w, u);
  return u + (1 - x * k.c) * wu + k.b * cross(w, wu);
}

// a ⊗ exp(w).
inline Quaternion<double> turned(const Quaternion<double>& a, const Vec3<double>& w) {
  const double angle2 = dot(w, w), angle = std::sqrt(angle2);
  const double s = angle < 1e-4 ? 0.5 - angle2 / 48 : std::sin(angle / 2) / angle, c = std::cos(angle / 2);
  const Vec3<double> e = s * w;
  return {a.w * c - dot(a.v, e), a.w * e + c * a.v + cross(a.v, e)};
}

// The chart of one joint with a quaternion, for one step: its centre is half-way from R₀, where the step begins, to its
// end R₁ = R₀ exp(c), so that it is the same forward and backward.
//
// In the chart the step is from −c/2 to c/2, and its action S has dS = ½ (π₀ + π₁)·dc. But the centre moves with the
// ends, as no coordinates are equal to all others, and S changes with it by G·δ, G = ∫ exp(w) N dt with N the torque on
// the joint at given velocities. With δc = J_r⁻¹(c) ε₁ − J_l⁻¹(c) ε₀ and δ = exp(−c/2) ε₀ + ½ J_r(c/2) δc the momenta
// are
//   p₁ = J_r⁻ᵀ(c) μ,  p₀ = J_l⁻ᵀ(c) μ − exp(c/2) G,  μ = ½ (π₀ + π₁) + ½ J_rᵀ(c/2) G:
// a discrete Lagrangian of R₀ and R₁ alone, so that the step is symplectic, and the same in every chart.
struct Chart {
  Quaternion<double> start{1, {}}, centre{1, {}};
  Vec3<double> momentum{};  // p₀

  // Writes −c/2 and π₀ of a step that turns by c, in which π changes by `kick` and torques give G.
  void begin(const Vec3<double>& c, const Vec3<double>& kick, const Vec3<double>& G, double* w, double* pi) {
    centre = turned(start, 0.5 * c);
    store3(-0.5 * c, w);
    store3(middle(c, G) - 0.5 * (right_jacobian_transposed(0.5 * c, G) + kick), pi);
  }

  // p₁.
  Vec3<double> end(const Vec3<double>& c, const Vec3<double>& G) const {
    return right_jacobian_inverse_transposed(c, middle(c, G));
  }

 private:
  Vec3<double> middle(const Vec3<double>& c, const Vec3<double>& G) const {
    return right_jacobian(c, momentum + rotated(0.5 * c, G));  // J_lᵀ(c) = J_r(c)
  }
};

}  // namespace symplectree
