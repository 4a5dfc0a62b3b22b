// Vectors and matrices made of 3-vectors and 3×3 blocks, for elimination along the tree.
//
// Blocks 0 and 1, 2 and 3, … of a vector are the angular and linear parts of a twist (or of a wrench); a last block
// without partner is an angular part alone, which a shift leaves as it is.
#pragma once

#include "spatial/twist_wrench.hpp"

namespace symplectree {

template <int B>
struct BlockVector {
  Vec3<double> at[B];

  // a += s · (twist or wrench at blocks k, k + 1), as far as there are such.
  void add(int k, double s, const Spatial<double>& a) {
    if (k < B) at[k] += s * a.angular;
    if (k + 1 < B) at[k + 1] += s * a.linear;
  }
  void add(double s, const BlockVector& a) {
    for (int k = 0; k < B; ++k) at[k] += s * a.at[k];
  }
};

template <int B>
inline double dot(const BlockVector<B>& a, const BlockVector<B>& b) {
  Lanes p = a.at[0].lanes * b.at[0].lanes;
  for (int k = 1; k < B; ++k) p += a.at[k].lanes * b.at[k].lanes;
  return (p[0] + p[2]) + p[1];
}

template <int B>
inline BlockVector<B> shift_motion(BlockVector<B> x, const Vec3<double>& r) {
  for (int k = 0; k + 1 < B; k += 2) x.at[k + 1] += cross(x.at[k], r);
  return x;
}
template <int B>
inline BlockVector<B> shift_force(BlockVector<B> g, const Vec3<double>& r) {
  for (int k = 0; k + 1 < B; k += 2) g.at[k] += cross(r, g.at[k + 1]);
  return g;
}

inline Mat3<double>& operator+=(Mat3<double>& M, const Mat3<double>& N) {
  M.a += N.a, M.b += N.b, M.c += N.c;
  return M;
}
// u vᵀ
inline Mat3<double> outer(const Vec3<double>& u, const Vec3<double>& v) { return {v.x * u, v.y * u, v.z * u}; }
// M v̂
inline Mat3<double> times_hat(const Mat3<double>& M, const Vec3<double>& v) {
  return {v.z * M.b - v.y * M.c, v.x * M.c - v.z * M.a, v.y * M.a - v.x * M.b};
}
// v̂ M
inline Mat3<double> hat_times(const Vec3<double>& v, const Mat3<double>& M) {
  return {cross(v, M.a), cross(v, M.b), cross(v, M.c)};
}

template <int R, int C>
struct BlockMatrix {
  Mat3<double> at[R][C];
};

template <int R, int C>
inline BlockVector<R> operator*(const BlockMatrix<R, C>& M, const BlockVector<C>& x) {
  BlockVector<R> out;
  for (int i = 0; i < R; ++i)
    for (int j = 0; j < C; ++j) out.at[i] += M.at[i][j] * x.at[j];
  return out;
}
// Mᵀ y
template <int R, int C>
inline BlockVector<C> transposed_times(const BlockMatrix<R, C>& M, const BlockVector<R>& y) {
  BlockVector<C> out;
  for (int i = 0; i < R; ++i)
    for (int j = 0; j < C; ++j) out.at[j] += transposed_times(M.at[i][j], y.at[i]);
  return out;
}
// M − u zᵀ
template <int R, int C>
inline void subtract_outer(BlockMatrix<R, C>& M, const BlockVector<R>& u, const BlockVector<C>& z) {
  for (int j = 0; j < C; ++j)
    for (int i = 0; i < R; ++i) {
      Mat3<double>& B = M.at[i][j];
      B.a -= z.at[j].x * u.at[i], B.b -= z.at[j].y * u.at[i], B.c -= z.at[j].z * u.at[i];
    }
}

// P + Xᵀ M X added to P, with X the shift of motion by r.
template <int R, int C>
inline void add_shifted(BlockMatrix<R, C>& P, const BlockMatrix<R, C>& M, const Vec3<double>& r) {
  for (int j = 0; j < C; ++j) {
    const bool shifts = j % 2 == 0 && j + 1 < C;
    Mat3<double> column[R];
    for (int i = 0; i < R; ++i) {
      column[i] = M.at[i][j];
      if (!shifts) continue;
      const Mat3<double> turned = times_hat(M.at[i][j + 1], r);
      column[i].a -= turned.a, column[i].b -= turned.b, column[i].c -= turned.c;
    }
    for (int i = 0; i < R; ++i) P.at[i][j] += column[i];
    for (int i = 0; i + 1 < R; i += 2) P.at[i][j] += hat_times(r, column[i + 1]);
  }
}

}  // namespace symplectree
