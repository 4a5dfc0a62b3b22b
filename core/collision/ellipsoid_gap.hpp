// Gaps of ellipsoids, by their support function: the ellipsoid with matrix A = R diag(radii²) Rᵀ reaches sqrt(nᵀAn)
// from its centre along n, at the point A n/sqrt(nᵀAn).
//
// Where an equation has to be solved, it is in plain numbers first; steps of Newton's method on numbers that carry
// derivatives then give these, since each step makes one more order exact.
#pragma once

#include <algorithm>

#include "collision/feature.hpp"
#include "collision/gap_value.hpp"

namespace symplectree {

template <class T>
Sym3<T> ellipsoid_matrix(const FeatureOf<T>& e) {
  const Vec3<T>& r = e.radii;
  if (e.kind == FeatureKind::Circle) return rotated(e.axes, Sym3<T>{r.x * r.x, r.x * r.x, T(0)});
  return rotated(e.axes, Sym3<T>{r.x * r.x, r.y * r.y, r.z * r.z});
}

template <class T>
Gap<T> ellipsoid_plane(const FeatureOf<T>& a, const FeatureOf<T>& b) {
  using std::sqrt;
  const Vec3<T>& n = b.direction();
  const Vec3<T> An = ellipsoid_matrix(a) * n;
  const T reach = sqrt(dot(n, An));
  const Vec3<T> lowest = a.at - (T(1) / reach) * An;
  const T g = dot(n, lowest - b.at);
  return {g, n, lowest, lowest - g * n};
}

// S(t) and its derivative.
template <class T>
struct Secular {
  T value, slope;
};

// The root of S(t) = 1 for S = yᵀ(A + t)⁻¹ A (A + t)⁻¹ y, given as a function of t, from a start with S ≥ 1. 1/√S is
// concave, so Newton's method on it stays on that side, and it is nearly straight, so few steps are enough.
template <class Function>
double secular_root(double t, const Function& S) {
  for (int k = 0; k < 60; ++k) {
    const Secular<double> s = S(t);
    const double step = 2 * s.value * (1 - std::sqrt(s.value)) / s.slope, next = t + step;
    if (!(step > 0) || next == t) break;
    t = next;
  }
  return t;
}

// The same root as a number that carries derivatives, of which the value is known.
template <class T, class Function>
T secular_derivatives(double root, const Function& S) {
  T t(root);
  if constexpr (carries_derivatives<T>)
    for (int k = 0; k < 2; ++k) {
      const Secular<T> s = S(t);
      t -= (s.value - T(1)) / s.slope;
    }
  return t;
}

// From the nearest point of the surface; from inside beyond the reach of the surface's curvature (S < 1 at every t),
// along the shortest axis. With y the centre of b in the axes of a, that point is A z for z = (A + t)⁻¹ y, and the
// normal is along z.
template <class T>
Gap<T> ellipsoid_sphere(const FeatureOf<T>& a, const FeatureOf<T>& b) {
  using std::sqrt;
  const Vec3<T> y = transposed_times(a.axes, b.at - a.at);
  const Vec3<T> A{a.radii.x * a.radii.x, a.radii.y * a.radii.y, a.radii.z * a.radii.z};
  const auto S = []<class U>(const Vec3<U>& y, const Vec3<U>& A, const U& t) {
    const Vec3<U> inverse{U(1) / (A.x + t), U(1) / (A.y + t), U(1) / (A.z + t)};
    const Vec3<U> z{inverse.x * y.x, inverse.y * y.y, inverse.z * y.z};
    const Vec3<U> s{A.x * z.x * z.x, A.y * z.y * z.y, A.z * z.z * z.z};
    return Secular<U>{s.x + s.y + s.z, U(-2) * dot(s, inverse)};
  };
  const Vec3<double> y0{value_of(y.x), value_of(y.y), value_of(y.z)}, A0{value_of(A.x), value_of(A.y), value_of(A.z)};
  const double shortest = std::min({A0.x, A0.y, A0.z});
  const double start = std::max({std::sqrt(A0.x) * std::fabs(y0.x) - A0.x, std::sqrt(A0.y) * std::fabs(y0.y) - A0.y,
                                 std::sqrt(A0.z) * std::fabs(y0.z) - A0.z, -shortest * (1 - 1e-9)});
  const double root = secular_root(start, [&](double t) { return S(y0, A0, t); });
  const bool beyond = S(y0, A0, root).value < 0.5;
  Vec3<T> m, surface;  // the outward normal, and the point of the surface, in the axes of a
  T g;
  if (beyond) {
    const int k = A0.x == shortest ? 0 : A0.y == shortest ? 1 : 2;
    const double side = (k == 0 ? y0.x : k == 1 ? y0.y : y0.z) < 0 ? -1 : 1;
    m = {T(k == 0 ? side : 0), T(k == 1 ? side : 0), T(k == 2 ? side : 0)};
    const T depth = (k == 0 ? a.radii.x : k == 1 ? a.radii.y : a.radii.z) - dot(m, y);
    g = -depth, surface = y + depth * m;
  } else {
    const T t = secular_derivatives<T>(root, [&](const T& at) { return S(y, A, at); });
    const Vec3<T> z{y.x / (A.x + t), y.y / (A.y + t), y.z / (A.z + t)};
    const T length = sqrt(dot(z, z));
    m = (T(1) / length) * z, g = t * length;
    surface = {A.x * z.x, A.y * z.y, A.z * z.z};
  }
  const Vec3<T> n = -(a.axes * m), x_a = a.at + a.axes * surface;
  g -= b.radius();
  return {g, n, x_a, x_a - g * n};
}

// The shadow of a along the line is an ellipse, of which the nearest point is sought as above, in two dimensions. From
// inside beyond the reach of its curvature, the gap is that of the line through its centre along the shorter axis.
template <class T>
Gap<T> ellipsoid_line(const FeatureOf<T>& a, const FeatureOf<T>& b) {
  using std::sqrt;
  const Vec3<T>& d = b.direction();
  const Vec3<T> u = across(d), w = cross(d, u), r = b.at - a.at;
  const Sym3<T> A = ellipsoid_matrix(a);
  const Vec3<T> Au = A * u;
  struct Shadow {
    T xx, xy, yy, y1, y2;
  };
  const Shadow shadow{dot(u, Au), dot(w, Au), dot(w, A * w), dot(u, r), dot(w, r)};
  // z = (A + t)⁻¹ y, the inverse written out.
  const auto S = []<class U>(const U& xx, const U& xy, const U& yy, const U& y1, const U& y2, const U& t) {
    const U p = xx + t, q = yy + t, scale = U(1) / (p * q - xy * xy);
    const U z1 = scale * (q * y1 - xy * y2), z2 = scale * (p * y2 - xy * y1);
    const U m1 = xx * z1 + xy * z2, m2 = xy * z1 + yy * z2;  // A z
    return Secular<U>{z1 * m1 + z2 * m2, U(-2) * scale * (m1 * (q * z1 - xy * z2) + m2 * (p * z2 - xy * z1))};
  };
  const double xx = value_of(shadow.xx), xy = value_of(shadow.xy), yy = value_of(shadow.yy);
  const double y1 = value_of(shadow.y1), y2 = value_of(shadow.y2);
  const double half = 0.5 * (xx - yy), shortest = 0.5 * (xx + yy) - std::sqrt(half * half + xy * xy);
  // The eigenvector of the shorter axis, from the longer of two forms of it.
  double e1 = xy, e2 = shortest - xx;
  if (half > 0) e1 = shortest - yy, e2 = xy;
  const double size = std::hypot(e1, e2);
  const double reach = size > 0 ? std::fabs(e1 * y1 + e2 * y2) / size : std::hypot(y1, y2);
  const auto S0 = [&](double t) { return S(xx, xy, yy, y1, y2, t); };
  const double inside = std::max(std::sqrt(shortest) * reach - shortest, -shortest * (1 - 1e-9));
  const double root = secular_root(S0(0).value >= 1 ? 0 : inside, S0);
  Vec3<T> m;
  if (S0(root).value < 0.5) {
    const double side = e1 * y1 + e2 * y2 < 0 ? -1 : 1;
    m = size > 0 ? T(side * e1 / size) * u + T(side * e2 / size) * w : u;
  } else {
    const T t = secular_derivatives<T>(
        root, [&](const T& at) { return S(shadow.xx, shadow.xy, shadow.yy, shadow.y1, shadow.y2, at); });
    const T p = shadow.xx + t, q = shadow.yy + t;
    m = (q * shadow.y1 - shadow.xy * shadow.y2) * u + (p * shadow.y2 - shadow.xy * shadow.y1) * w;
    m = (T(1) / sqrt(dot(m, m))) * m;
    if (value_of(p) * value_of(q) < xy * xy) m = -m;
  }
  // With the normal known, the gap is that of the supporting plane.
  const Vec3<T> Am = A * m;
  const Vec3<T> x_a = a.at + (T(1) / sqrt(dot(m, Am))) * Am;
  const T g = dot(m, b.at - x_a) - b.radius();
  return {g, -m, x_a, x_a + g * m};
}

// The unit n along which n·d − sqrt(nᵀAn) − sqrt(nᵀBn) is largest.
Vec3<double> ellipsoid_normal(const Sym3<double>& A, const Sym3<double>& B, const Vec3<double>& d);

// The gap along n is n·d − sqrt(nᵀAn) − sqrt(nᵀBn), d from b to a; it is the largest there is along the true normal. Of
// overlapping ellipsoids it is minus the shortest way apart, as long as the overlap is slight.
template <class T>
Gap<T> ellipsoid_ellipsoid(const FeatureOf<T>& a, const FeatureOf<T>& b) {
  using std::sqrt;
  const Sym3<T> A = ellipsoid_matrix(a), B = ellipsoid_matrix(b);
  const Vec3<T> d = a.at - b.at;
  const auto plain = [](const Sym3<T>& s) {
    return Sym3<double>{value_of(s.xx), value_of(s.yy), value_of(s.zz), value_of(s.xy), value_of(s.xz), value_of(s.yz)};
  };
  const Sym3<double> A0 = plain(A), B0 = plain(B);
  const Vec3<double> d0{value_of(d.x), value_of(d.y), value_of(d.z)};
  const Vec3<double> n0 = ellipsoid_normal(A0, B0, d0);
  Vec3<T> n(n0.x, n0.y, n0.z);
  if constexpr (carries_derivatives<T>) {
    // The matrix of the step in plain numbers: each step makes one more order of derivatives exact.
    const Vec3<double> u = across(n0), w = cross(n0, u);
    const Vec3<double> An = A0 * n0, Bn = B0 * n0;
    const double alpha = std::sqrt(dot(n0, An)), beta = std::sqrt(dot(n0, Bn)), g0 = dot(n0, d0) - alpha - beta;
    const auto curvature = [&](const Vec3<double>& p, const Vec3<double>& q) {
      return dot(p, A0 * q) / alpha - dot(p, An) * dot(q, An) / (alpha * alpha * alpha) + dot(p, B0 * q) / beta -
             dot(p, Bn) * dot(q, Bn) / (beta * beta * beta) + g0 * dot(p, q);
    };
    const double uu = curvature(u, u), uw = curvature(u, w), ww = curvature(w, w), scale = 1 / (uu * ww - uw * uw);
    const Vec3<T> U(u.x, u.y, u.z), W(w.x, w.y, w.z);
    for (int k = 0; k < 2; ++k) {
      const Vec3<T> Pn = A * n, Qn = B * n;
      const T p = sqrt(dot(n, Pn)), q = sqrt(dot(n, Qn));
      const Vec3<T> r = d - (T(1) / p) * Pn - (T(1) / q) * Qn - (dot(n, d) - p - q) * n;
      const T r_u = dot(U, r), r_w = dot(W, r);
      n += T(scale) * ((T(ww) * r_u - T(uw) * r_w) * U + (T(uu) * r_w - T(uw) * r_u) * W);
      n = (T(1) / sqrt(dot(n, n))) * n;
    }
  }
  const Vec3<T> An = A * n, Bn = B * n;
  const T alpha = sqrt(dot(n, An)), beta = sqrt(dot(n, Bn)), g = dot(n, d) - alpha - beta;
  return {g, n, a.at - (T(1) / alpha) * An, b.at + (T(1) / beta) * Bn};
}

}  // namespace symplectree
