// General 6×6 matrices that take twists to wrenches, and what eliminations do with them.
#pragma once

#include <algorithm>
#include <utility>

#include "spatial/twist_wrench.hpp"

namespace symplectree {

// A 6×6 matrix in blocks: (torque, force) = [A B; C D] (angular, linear).
template <class T>
struct Matrix6 {
  Mat3<T> A, B, C, D;
};

// (torque, force) of a general 6×6 matrix on a twist, and of its transpose on a column of S.
template <class T>
inline Spatial<T> operator*(const Matrix6<T>& M, const Spatial<T>& V) {
  return {M.A * V.angular + M.B * V.linear, M.C * V.angular + M.D * V.linear};
}
template <class T>
inline Spatial<T> transposed_times(const Matrix6<T>& M, const Spatial<T>& s) {
  return {transposed_times(M.A, s.angular) + transposed_times(M.C, s.linear),
          transposed_times(M.B, s.angular) + transposed_times(M.D, s.linear)};
}

// M − w zᵀ
template <class T>
inline void subtract_outer(Matrix6<T>& M, const Spatial<T>& w, const Spatial<T>& z) {
  const auto sub = [](Mat3<T>& B, const Vec3<T>& u, const Vec3<T>& v) {
    B.a -= v.x * u, B.b -= v.y * u, B.c -= v.z * u;
  };
  sub(M.A, w.angular, z.angular), sub(M.B, w.angular, z.linear);
  sub(M.C, w.linear, z.angular), sub(M.D, w.linear, z.linear);
}

// P + X_rᵀ M X_s added to P: force carried to the parent by r (beginning), motion from the parent by s (end).
template <class T>
inline void add_shifted(Matrix6<T>& P, const Matrix6<T>& M, const Vec3<T>& r, const Vec3<T>& s) {
  // M ŝ by columns: (s.z b − s.y c, s.x c − s.z a, s.y a − s.x b)
  const auto hat_right = [&s](const Mat3<T>& B) {
    return Mat3<T>{s.z * B.b - s.y * B.c, s.x * B.c - s.z * B.a, s.y * B.a - s.x * B.b};
  };
  const auto sub = [](const Mat3<T>& B, const Mat3<T>& C) { return Mat3<T>{B.a - C.a, B.b - C.b, B.c - C.c}; };
  const Mat3<T> C = sub(M.C, hat_right(M.D)), A = sub(M.A, hat_right(M.B));
  P.A.a += A.a + cross(r, C.a), P.A.b += A.b + cross(r, C.b), P.A.c += A.c + cross(r, C.c);
  P.B.a += M.B.a + cross(r, M.D.a), P.B.b += M.B.b + cross(r, M.D.b), P.B.c += M.B.c + cross(r, M.D.c);
  P.C.a += C.a, P.C.b += C.b, P.C.c += C.c;
  P.D.a += M.D.a, P.D.b += M.D.b, P.D.c += M.D.c;
}

// Invert the n × n matrix in `a` (n ≤ 6) with pivoting; false when it is singular.
inline bool invert_small(double* a, int n) {
  double inverse[36] = {};
  for (int i = 0; i < n; ++i) inverse[n * i + i] = 1;
  for (int c = 0; c < n; ++c) {
    int pivot = c;
    for (int i = c + 1; i < n; ++i)
      if (std::fabs(a[n * i + c]) > std::fabs(a[n * pivot + c])) pivot = i;
    if (!(std::fabs(a[n * pivot + c]) > 0)) return false;
    for (int k = 0; k < n; ++k)
      std::swap(a[n * c + k], a[n * pivot + k]), std::swap(inverse[n * c + k], inverse[n * pivot + k]);
    const double scale = 1 / a[n * c + c];
    for (int k = 0; k < n; ++k) a[n * c + k] *= scale, inverse[n * c + k] *= scale;
    for (int i = 0; i < n; ++i) {
      if (i == c) continue;
      const double f = a[n * i + c];
      for (int k = 0; k < n; ++k) a[n * i + k] -= f * a[n * c + k], inverse[n * i + k] -= f * inverse[n * c + k];
    }
  }
  std::copy(inverse, inverse + n * n, a);
  return true;
}

// P + M
template <class T>
inline void add(Matrix6<T>& P, const Matrix6<T>& M) {
  P.A = P.A + M.A, P.B = P.B + M.B, P.C = P.C + M.C, P.D = P.D + M.D;
}

// X_rᵀ M: the force side carried to the parent.
template <class T>
inline Matrix6<T> shifted_left(const Matrix6<T>& M, const Vec3<T>& r) {
  const auto moved = [&r](const Mat3<T>& A, const Mat3<T>& C) {
    return Mat3<T>{A.a + cross(r, C.a), A.b + cross(r, C.b), A.c + cross(r, C.c)};
  };
  return {moved(M.A, M.C), moved(M.B, M.D), M.C, M.D};
}

// M X_s: the motion side taken from the parent.
template <class T>
inline Matrix6<T> shifted_right(const Matrix6<T>& M, const Vec3<T>& s) {
  const auto moved = [&s](const Mat3<T>& A, const Mat3<T>& B) {
    return Mat3<T>{A.a - (s.z * B.b - s.y * B.c), A.b - (s.x * B.c - s.z * B.a), A.c - (s.y * B.a - s.x * B.b)};
  };
  return {moved(M.A, M.B), M.B, moved(M.C, M.D), M.D};
}

}  // namespace symplectree
