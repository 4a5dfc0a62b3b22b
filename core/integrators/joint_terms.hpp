// Rotors and dampers on the joints themselves. Over a step they take from r at the beginning and give to p' at the end
//
//   t = (a/h ± c/2) (q' − q),   + at the beginning, − at the end,
//
// with a the rotor's inertia and c the damping; of quaternions with the vector part of twice the half turn.
#pragma once

#include <type_traits>

#include "kinematics/retract_ad.hpp"

namespace symplectree {

// The two ends of a step of length h.
template <class T>
struct StepEnds {
  T h;
  const T *q0, *q1;
};

// Numbers of the joints' own: rotor inertia and damping of each velocity.
template <class R>
struct JointNumbers {
  const R *armature, *damping;
};

// N (nv × nv) ← the derivative of t along the increments of the end.
template <class T>
void add_turn_derivative(const Quaternion<T>& d, int n, const T* rotor, const T* damper, T* N) {
  const T s[3] = {d.v.x, d.v.y, d.v.z}, zero(0);
  const T cross_row[3][3] = {{zero, -s[2], s[1]}, {s[2], zero, -s[0]}, {-s[1], s[0], zero}};
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      const T one = i == j ? d.w : zero;
      N[n * i + j] =
          rotor[i] * (-s[i] * s[j] + d.w * (one + cross_row[i][j])) + T(0.5) * damper[i] * (one + cross_row[i][j]);
    }
}

// t (nv) of one joint of several coordinates; with `N`, for numbers without derivatives only, also its derivative.
template <class T, class R>
void joint_block_terms(const JointNumbers<R>& numbers, const BodyOf<R>& body, StepEnds<T> step, bool at_end, T* t,
                       std::type_identity_t<T>* N) {
  const int n = body.nv;
  const T side(at_end ? -1 : 1);
  const auto factor = [&](int k) {
    return T(numbers.armature[body.v + k]) / step.h + T(0.5) * side * T(numbers.damping[body.v + k]);
  };
  if (body.flat()) {
    for (int k = 0; k < n; ++k) {
      const T c = factor(k);
      t[k] = c * (step.q1[body.q + k] - step.q0[body.q + k]);
      if constexpr (!carries_derivatives<T>)
        if (N) N[(n + 1) * k] = c;
    }
    return;
  }
  const bool free = body.kind == Kind::Free;
  const int shift = free ? 3 : 0;
  const Quaternion<T> z0 = load_quaternion(step.q0 + body.q + shift), z1 = load_quaternion(step.q1 + body.q + shift);
  const Quaternion<T> turn = between(z0, z1);
  const T s[3] = {turn.v.x, turn.v.y, turn.v.z};
  T rotor[3], damper[3];
  for (int i = 0; i < 3; ++i) {
    rotor[i] = T(numbers.armature[body.v + i]) / step.h, damper[i] = side * T(numbers.damping[body.v + i]);
    t[i] = rotor[i] * T(2) * turn.w * s[i] + damper[i] * s[i];
  }
  if constexpr (!carries_derivatives<T>)
    if (N) add_turn_derivative(turn, n, rotor, damper, N);
  if (!free) return;
  const T *p0 = step.q0 + body.q, *p1 = step.q1 + body.q;
  const Mat3<T> R0 = quaternion_matrix(z0.w, z0.v.x, z0.v.y, z0.v.z),
                R1 = quaternion_matrix(z1.w, z1.v.x, z1.v.y, z1.v.z);
  const Vec3<T> x = transposed_times(at_end ? R1 : R0, Vec3<T>{p1[0] - p0[0], p1[1] - p0[1], p1[2] - p0[2]});
  const T moved[3] = {x.x, x.y, x.z};
  for (int i = 0; i < 3; ++i) {
    const T k = factor(3 + i);
    t[3 + i] = k * moved[i];
    if constexpr (!carries_derivatives<T>)
      for (int j = 0; N && j < 3; ++j)
        N[n * (3 + i) + 3 + j] = k * dot(i == 0 ? R0.a : i == 1 ? R0.b : R0.c, R1.column(j));
  }
}

}  // namespace symplectree
