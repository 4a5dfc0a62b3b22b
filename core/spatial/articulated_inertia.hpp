// Articulated-body inertia: the symmetric 6×6 matrix [A, H; Hᵀ, M] of a body with all that hangs on it freely.
#pragma once

#include "spatial/twist_wrench.hpp"

namespace symplectree {

template <class T>
struct ArticulatedInertia {
  Sym3<T> A;
  Mat3<T> H;
  Sym3<T> M;

  ArticulatedInertia& operator+=(const ArticulatedInertia& b) {
    A += b.A, M += b.M;
    H.a += b.H.a, H.b += b.H.b, H.c += b.H.c;
    return *this;
  }
};

// The inertia of one body about its centre, given by columns.
template <class T>
ArticulatedInertia<T> articulated(const Mat3<T>& J, const T& mass) {
  return {{J.a.x, J.b.y, J.c.z, J.a.y, J.a.z, J.b.z}, {}, {mass, mass, mass, T(0), T(0), T(0)}};
}

template <class T>
Spatial<T> operator*(const ArticulatedInertia<T>& I, const Spatial<T>& V) {
  return {I.A * V.angular + I.H * V.linear, transposed_times(I.H, V.angular) + I.M * V.linear};
}

// S − u vᵀ for parallel u and v
template <class T>
void subtract_outer(Sym3<T>& S, const Vec3<T>& u, const Vec3<T>& v) {
  S.xx -= u.x * v.x, S.yy -= u.y * v.y, S.zz -= u.z * v.z;
  S.xy -= u.x * v.y, S.xz -= u.x * v.z, S.yz -= u.y * v.z;
}

// I − s u uᵀ
template <class T>
void subtract_outer(ArticulatedInertia<T>& I, const T& s, const Spatial<T>& u) {
  const Vec3<T> a = s * u.angular, l = s * u.linear;
  subtract_outer(I.A, a, u.angular);
  I.H.a -= u.linear.x * a, I.H.b -= u.linear.y * a, I.H.c -= u.linear.z * a;
  subtract_outer(I.M, l, u.linear);
}

// The inertia about a point that lies r before the present one: Xᵀ I X with X the shift of motion by r.
template <class T>
ArticulatedInertia<T> shifted(const ArticulatedInertia<T>& I, const Vec3<T>& r) {
  // H' = H + r̂ M, A' = A − H r̂ + r̂ H'ᵀ
  const Sym3<T>&A = I.A, &M = I.M;
  const Mat3<T>& H = I.H;
  const Mat3<T> N{H.a + cross(r, Vec3<T>{M.xx, M.xy, M.xz}), H.b + cross(r, Vec3<T>{M.xy, M.yy, M.yz}),
                  H.c + cross(r, Vec3<T>{M.xz, M.yz, M.zz})};
  return {{A.xx + r.y * (H.c.x + N.c.x) - r.z * (H.b.x + N.b.x), A.yy + r.z * (H.a.y + N.a.y) - r.x * (H.c.y + N.c.y),
           A.zz + r.x * (H.b.z + N.b.z) - r.y * (H.a.z + N.a.z),
           A.xy + r.y * H.c.y - r.z * H.b.y + r.z * N.a.x - r.x * N.c.x,
           A.xz + r.y * H.c.z - r.z * H.b.z + r.x * N.b.x - r.y * N.a.x,
           A.yz + r.z * H.a.z - r.x * H.c.z + r.x * N.b.y - r.y * N.a.y},
          N,
          M};
}

// Of numbers on their own: A and M in full, because columns are fast.
template <>
struct ArticulatedInertia<double> {
  Mat3<double> A, H, M;

  ArticulatedInertia& operator+=(const ArticulatedInertia& b) {
    A.a += b.A.a, A.b += b.A.b, A.c += b.A.c;
    H.a += b.H.a, H.b += b.H.b, H.c += b.H.c;
    M.a += b.M.a, M.b += b.M.b, M.c += b.M.c;
    return *this;
  }
};

// The inertia of one body about its centre.
inline ArticulatedInertia<double> articulated(const Mat3<double>& inertia, double mass) {
  return {inertia, {}, {{mass, 0, 0}, {0, mass, 0}, {0, 0, mass}}};
}

inline Spatial<double> operator*(const ArticulatedInertia<double>& I, const Spatial<double>& V) {
  return {I.A * V.angular + I.H * V.linear, transposed_times(I.H, V.angular) + I.M * V.linear};
}

// I − s u uᵀ
inline void subtract_outer(ArticulatedInertia<double>& I, double s, const Spatial<double>& u) {
  const Vec3<double> a = s * u.angular, l = s * u.linear;
  const Vec3<double>&p = u.angular, &q = u.linear;
  I.A.a -= p.x * a, I.A.b -= p.y * a, I.A.c -= p.z * a;
  I.H.a -= q.x * a, I.H.b -= q.y * a, I.H.c -= q.z * a;
  I.M.a -= q.x * l, I.M.b -= q.y * l, I.M.c -= q.z * l;
}

// The inertia about a point that lies r before the present one: Xᵀ I X with X the shift of motion by r.
inline ArticulatedInertia<double> shifted(const ArticulatedInertia<double>& I, const Vec3<double>& r) {
  // H' = H + r̂ M, A' = A − H r̂ + r̂ H'ᵀ
  const Mat3<double> H{I.H.a + cross(r, I.M.a), I.H.b + cross(r, I.M.b), I.H.c + cross(r, I.M.c)}, rows = transposed(H);
  return {
      {I.A.a - (r.z * I.H.b - r.y * I.H.c) + cross(r, rows.a), I.A.b - (r.x * I.H.c - r.z * I.H.a) + cross(r, rows.b),
       I.A.c - (r.y * I.H.a - r.x * I.H.b) + cross(r, rows.c)},
      H,
      I.M};
}

}  // namespace symplectree
