// Retractions τ from twists to rigid motions, and the transpose of dτ⁻¹, where δτ(x) τ(x)⁻¹ = [dτ_x δx]: the
// exponential and Cayley's (1 − [x]/2)⁻¹ (1 + [x]/2). Twists are x = (w, v) in body axes.
#pragma once

#include <algorithm>

#include "kinematics/poses_twists.hpp"
#include "scalar/dual.hpp"
#include "spatial/so3.hpp"

namespace symplectree {

enum class Retraction { Cayley, Exp };

// x (6) ← τ⁻¹(T0⁻¹ T1) of the poses T0 and T1 of a Free joint with coordinates q0 and q1; x (3) of a Ball joint.
inline void retraction_inverse(Retraction kind, bool free, const double* q0, const double* q1, double* x) {
  if (kind == Retraction::Exp) return local_increment(free, q0, q1, x);
  const int at = free ? 3 : 0;
  const Quaternion<double> a = load_quaternion(q0 + at), turn = between(a, load_quaternion(q1 + at));
  const Vec3<double> w = (2 / turn.w) * turn.v;
  store3(w, x);
  if (!free) return;
  const Vec3<double> u = transposed_times(quaternion_matrix(a.w, a.v.x, a.v.y, a.v.z), load3(q1) - load3(q0));
  store3(u - 0.5 * cross(w, u), x + 3);
}

// (dτ⁻¹_x)ᵀ y
template <class T>
Spatial<T> tangent_inverse_transposed(Retraction kind, const Spatial<T>& x, const Spatial<T>& y) {
  const Vec3<T>&w = x.angular, &v = x.linear;
  const T half(0.5);
  if (kind == Retraction::Cayley) {
    const Vec3<T> f = y.linear + half * cross(w, y.linear);
    return {y.angular + half * cross(w, y.angular) + (T(0.25) * dot(w, y.angular)) * w + half * cross(v, f), f};
  }
  // dexp⁻¹ = [G 0; G'v G] with G(w) = 1 − ½ [w] + γ [w]², γ a function of |w|²
  const T square = dot(w, w);
  const DlogCoefficients k = dlog_coefficients(value_of(square));
  // Of dual numbers first derivatives only.
  const T gamma = taylor(k.gamma, k.gamma1, k.gamma2, square), slope = taylor(k.gamma1, k.gamma2, 0, square);
  const auto turned = [&](const Vec3<T>& f) {
    const Vec3<T> wf = cross(w, f);
    return f + half * wf + gamma * cross(w, wf);
  };
  const Vec3<T> wf = cross(w, y.linear), vf = cross(v, y.linear);
  const Vec3<T> change = half * vf + (T(2) * slope * dot(w, v)) * cross(w, wf) + gamma * (cross(v, wf) + cross(w, vf));
  return {turned(y.angular) + change, turned(y.linear)};
}

// The same on n numbers: 6 of a rigid motion, or 3 of a rotation.
template <class T>
void carry_back(Retraction kind, int n, const T* x, T* y) {
  const auto twist = [n](const T* a) {
    return Spatial<T>{{a[0], a[1], a[2]}, n == 6 ? Vec3<T>{a[3], a[4], a[5]} : Vec3<T>{}};
  };
  const Spatial<T> p = tangent_inverse_transposed(kind, twist(x), twist(y));
  const T all[6] = {p.angular.x, p.angular.y, p.angular.z, p.linear.x, p.linear.y, p.linear.z};
  std::copy(all, all + n, y);
}

}  // namespace symplectree
