// Vectors and matrices of three, templated on the scalar (double, a dual number, later a SIMD pack).
#pragma once

#include <cmath>
#include <type_traits>

#include "scalar/lanes.hpp"

namespace symplectree {

// Is `size` the largest so far? What is not a number is, and stays.
inline bool exceeds(double size, double largest) { return !(size <= largest) && largest == largest; }

template <class T>
struct Vec3 {
  T x{}, y{}, z{};

  Vec3() = default;
  Vec3(T x_, T y_, T z_) : x(x_), y(y_), z(z_) {}
  template <class U>
    requires(!std::is_same_v<U, T>)
  explicit Vec3(const Vec3<U>& u) : x(u.x), y(u.y), z(u.z) {}

  Vec3& operator+=(const Vec3& b) {
    x += b.x, y += b.y, z += b.z;
    return *this;
  }
  Vec3& operator-=(const Vec3& b) {
    x -= b.x, y -= b.y, z -= b.z;
    return *this;
  }
};

// Four lanes, of which the last is zero: one vector instruction where the general form takes three.
template <>
struct alignas(32) Vec3<double> {
  union {
    Lanes lanes;
    struct {
      double x, y, z, pad;
    };
  };

  Vec3() : lanes{} {}
  Vec3(double x_, double y_, double z_) : lanes{x_, y_, z_, 0} {}
  explicit Vec3(Lanes l) : lanes(l) {}

  Vec3& operator+=(const Vec3& b) {
    lanes += b.lanes;
    return *this;
  }
  Vec3& operator-=(const Vec3& b) {
    lanes -= b.lanes;
    return *this;
  }
};

inline Vec3<double> operator+(const Vec3<double>& a, const Vec3<double>& b) { return Vec3<double>(a.lanes + b.lanes); }
inline Vec3<double> operator-(const Vec3<double>& a, const Vec3<double>& b) { return Vec3<double>(a.lanes - b.lanes); }
inline Vec3<double> operator-(const Vec3<double>& a) { return Vec3<double>(-a.lanes); }
inline Vec3<double> operator*(double s, const Vec3<double>& a) { return Vec3<double>(s * a.lanes); }
inline double dot(const Vec3<double>& a, const Vec3<double>& b) {
  const Lanes p = a.lanes * b.lanes;
  return (p[0] + p[2]) + p[1];
}
inline Vec3<double> cross(const Vec3<double>& a, const Vec3<double>& b) {
  const Lanes c = a.lanes * shuffled<1, 2, 0, 3>(b.lanes) - shuffled<1, 2, 0, 3>(a.lanes) * b.lanes;
  return Vec3<double>(shuffled<1, 2, 0, 3>(c));
}

inline double norm1(const Vec3<double>& v) { return std::fabs(v.x) + std::fabs(v.y) + std::fabs(v.z); }

template <class T>
Vec3<T> operator+(const Vec3<T>& a, const Vec3<T>& b) {
  return {a.x + b.x, a.y + b.y, a.z + b.z};
}
template <class T>
Vec3<T> operator-(const Vec3<T>& a, const Vec3<T>& b) {
  return {a.x - b.x, a.y - b.y, a.z - b.z};
}
template <class T>
Vec3<T> operator-(const Vec3<T>& a) {
  return {-a.x, -a.y, -a.z};
}
template <class T>
Vec3<T> operator*(const T& s, const Vec3<T>& a) {
  return {s * a.x, s * a.y, s * a.z};
}
template <class T>
T dot(const Vec3<T>& a, const Vec3<T>& b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}
template <class T>
Vec3<T> cross(const Vec3<T>& a, const Vec3<T>& b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

template <class T>
Vec3<T> load3(const T* p) {
  return {p[0], p[1], p[2]};
}
template <class T>
void store3(const Vec3<T>& v, T* p) {
  p[0] = v.x, p[1] = v.y, p[2] = v.z;
}

// 3×3 matrix by its columns.
template <class T>
struct Mat3 {
  Vec3<T> a, b, c;

  static Mat3 identity() { return {{T(1), T(0), T(0)}, {T(0), T(1), T(0)}, {T(0), T(0), T(1)}}; }
  const Vec3<T>& column(int j) const { return j == 0 ? a : j == 1 ? b : c; }
};

template <class T, class U>
Mat3<T> cast(const Mat3<U>& m) {
  return {Vec3<T>(m.a), Vec3<T>(m.b), Vec3<T>(m.c)};
}
template <class T>
Vec3<T> operator*(const Mat3<T>& m, const Vec3<T>& v) {
  return v.x * m.a + v.y * m.b + v.z * m.c;
}
template <class T>
Mat3<T> operator*(const Mat3<T>& m, const Mat3<T>& n) {
  return {m * n.a, m * n.b, m * n.c};
}
// mᵀ v
template <class T>
Vec3<T> transposed_times(const Mat3<T>& m, const Vec3<T>& v) {
  return {dot(m.a, v), dot(m.b, v), dot(m.c, v)};
}
template <class T>
Mat3<T> transposed(const Mat3<T>& m) {
  return {{m.a.x, m.b.x, m.c.x}, {m.a.y, m.b.y, m.c.y}, {m.a.z, m.b.z, m.c.z}};
}
inline Mat3<double> transposed(const Mat3<double>& m) {
  const Lanes even = shuffled<0, 4, 2, 6>(m.a.lanes, m.b.lanes);
  const Lanes odd = shuffled<1, 5, 3, 7>(m.a.lanes, m.b.lanes);
  return {Vec3<double>(shuffled<0, 1, 4, 7>(even, m.c.lanes)), Vec3<double>(shuffled<0, 1, 5, 7>(odd, m.c.lanes)),
          Vec3<double>(shuffled<2, 3, 6, 7>(even, m.c.lanes))};
}
inline Vec3<double> transposed_times(const Mat3<double>& m, const Vec3<double>& v) { return transposed(m) * v; }
template <class T>
Mat3<T> operator+(const Mat3<T>& m, const Mat3<T>& n) {
  return {m.a + n.a, m.b + n.b, m.c + n.c};
}

// Symmetric 3×3 matrix.
template <class T>
struct Sym3 {
  T xx{}, yy{}, zz{}, xy{}, xz{}, yz{};

  Sym3& operator+=(const Sym3& s) {
    xx += s.xx, yy += s.yy, zz += s.zz, xy += s.xy, xz += s.xz, yz += s.yz;
    return *this;
  }
};

template <class T>
Vec3<T> operator*(const Sym3<T>& s, const Vec3<T>& v) {
  return {s.xx * v.x + s.xy * v.y + s.xz * v.z, s.xy * v.x + s.yy * v.y + s.yz * v.z,
          s.xz * v.x + s.yz * v.y + s.zz * v.z};
}
template <class T, class U>
Sym3<T> cast(const Sym3<U>& s) {
  return {T(s.xx), T(s.yy), T(s.zz), T(s.xy), T(s.xz), T(s.yz)};
}

// R s Rᵀ by columns.
template <class T>
inline Mat3<T> rotated_columns(const Mat3<T>& R, const Sym3<T>& s) {
  const Vec3<T> p = s.xx * R.a + s.xy * R.b + s.xz * R.c;
  const Vec3<T> q = s.xy * R.a + s.yy * R.b + s.yz * R.c;
  const Vec3<T> r = s.xz * R.a + s.yz * R.b + s.zz * R.c;
  return {R.a.x * p + R.b.x * q + R.c.x * r, R.a.y * p + R.b.y * q + R.c.y * r, R.a.z * p + R.b.z * q + R.c.z * r};
}

// R s Rᵀ
template <class T>
Sym3<T> rotated(const Mat3<T>& R, const Sym3<T>& s) {
  const Mat3<T> m = rotated_columns(R, s);
  return {m.a.x, m.b.y, m.c.z, m.a.y, m.a.z, m.b.z};
}

// Rotation matrix of a unit quaternion (w, x, y, z).
template <class T>
Mat3<T> quaternion_matrix(const T& w, const T& x, const T& y, const T& z) {
  const T one(1), two(2);
  return {{one - two * (y * y + z * z), two * (x * y + w * z), two * (x * z - w * y)},
          {two * (x * y - w * z), one - two * (x * x + z * z), two * (y * z + w * x)},
          {two * (x * z + w * y), two * (y * z - w * x), one - two * (x * x + y * y)}};
}

}  // namespace symplectree
