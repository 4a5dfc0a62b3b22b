// How the middle (q_m, v_m) of a step of the midpoint action moves with the ends, joint by joint.
#pragma once

#include <array>

#include "kinematics/so3_charts.hpp"

namespace symplectree {

template <class T, int N>
using Square = std::array<std::array<T, N>, N>;

// How the middle (q_m, v_m) of a joint with several coordinates moves with increments of the ends, and how components
// of a force at the middle are taken at the ends (see tests/reference/midpoint.py). Blocks of 6 × 6, of which a Ball
// uses 3 × 3.
template <class T>
struct MidpointBlock {
  Square<T, 6> q0{}, q1{}, v0{}, v1{}, carry0{}, carry1{};

  // Of n plain coordinates.
  void set_plain(int n, T h, T alpha) {
    for (int k = 0; k < n; ++k) {
      q0[k][k] = T(1) - alpha, q1[k][k] = alpha, v1[k][k] = T(1) / h, v0[k][k] = -v1[k][k];
      carry0[k][k] = carry1[k][k] = T(1);
    }
  }
};

template <class T>
void set3(Square<T, 6>& M, int row, int column, const Mat3<T>& B) {
  for (int j = 0; j < 3; ++j) {
    const Vec3<T>& c = B.column(j);
    M[row][column + j] = c.x, M[row + 1][column + j] = c.y, M[row + 2][column + j] = c.z;
  }
}

template <class T>
Mat3<T> scaled(const T& s, const Mat3<T>& B) {
  return {s * B.a, s * B.b, s * B.c};
}

// 3×3 matrix with columns f(e_j).
template <class T, class F>
Mat3<T> columns_of(F&& f) {
  return {f(Vec3<T>{T(1), T(0), T(0)}), f(Vec3<T>{T(0), T(1), T(0)}), f(Vec3<T>{T(0), T(0), T(1)})};
}

// exp(w) for a rotation vector w.
template <class T>
Mat3<T> rotation_matrix(const Vec3<T>& w) {
  const RotationCoefficients<T> k(dot(w, w));
  return columns_of<T>([&](const Vec3<T>& e) {
    const Vec3<T> we = cross(w, e), wwe = cross(w, we);
    return e + (T(1) - dot(w, w) * k.c) * we + k.b * wwe;  // sin θ/θ = 1 − θ² c
  });
}

// d: rotation vector from q to q'; shift: of a Free joint in the axes R_0 of the beginning.
template <class T>
MidpointBlock<T> midpoint_block(bool free, const Vec3<T>& d, const Vec3<T>& shift, T h, T alpha) {
  MidpointBlock<T> m;
  const Vec3<T> part = alpha * d, rest = (T(1) - alpha) * d;
  const Mat3<T> carry0 = rotation_matrix(-part), carry1 = rotation_matrix(rest);
  const Mat3<T> d0 = columns_of<T>([&](const Vec3<T>& e) { return -right_jacobian_inverse(-d, e); });
  const Mat3<T> d1 = columns_of<T>([&](const Vec3<T>& e) { return right_jacobian_inverse(d, e); });
  const auto turned = [&](const Mat3<T>& B) {
    return columns_of<T>([&](const Vec3<T>& e) { return alpha * right_jacobian(part, B * e); });
  };
  const Mat3<T> q0 = carry0 + turned(d0), q1 = turned(d1);
  const T inverse = T(1) / h;
  set3(m.carry0, 0, 0, carry0), set3(m.carry1, 0, 0, carry1);
  set3(m.q0, 0, 0, q0), set3(m.q1, 0, 0, q1);
  set3(m.v0, 0, 0, scaled(inverse, d0)), set3(m.v1, 0, 0, scaled(inverse, d1));
  if (!free) return m;
  const Vec3<T> v = inverse * (carry0 * shift);  // R_mᵀ (x' − x)/h
  set3(m.carry0, 3, 3, carry0), set3(m.carry1, 3, 3, carry1);
  set3(m.q0, 3, 3, scaled(T(1) - alpha, carry0)), set3(m.q1, 3, 3, scaled(alpha, carry1));
  set3(m.v0, 3, 3, scaled(-inverse, carry0)), set3(m.v1, 3, 3, scaled(inverse, carry1));
  set3(m.v0, 3, 0, columns_of<T>([&](const Vec3<T>& e) { return cross(v, q0 * e); }));
  set3(m.v1, 3, 0, columns_of<T>([&](const Vec3<T>& e) { return cross(v, q1 * e); }));
  return m;
}

}  // namespace symplectree
