#include "collision/ellipsoid_gap.hpp"

namespace symplectree {
namespace {

struct Reach {
  double g;             // along n
  Vec3<double> An, Bn;  // A n, B n
  double alpha, beta;   // sqrt(nᵀAn), sqrt(nᵀBn)
};

Reach reach_along(const Sym3<double>& A, const Sym3<double>& B, const Vec3<double>& d, const Vec3<double>& n) {
  const Vec3<double> An = A * n, Bn = B * n;
  // Along the axis of a disc it has no extent; the floor keeps quotients finite there.
  const double alpha = std::sqrt(std::fmax(dot(n, An), 1e-24)), beta = std::sqrt(std::fmax(dot(n, Bn), 1e-24));
  return {dot(n, d) - alpha - beta, An, Bn, alpha, beta};
}

// The direction of (A + B)⁻¹ d: the normal of an ellipsoid that is like the sum of the two.
Vec3<double> first_guess(const Sym3<double>& A, const Sym3<double>& B, const Vec3<double>& d) {
  const double xx = A.xx + B.xx, yy = A.yy + B.yy, zz = A.zz + B.zz, xy = A.xy + B.xy, xz = A.xz + B.xz,
               yz = A.yz + B.yz;
  const Vec3<double> adjugate_d{
      (yy * zz - yz * yz) * d.x + (xz * yz - xy * zz) * d.y + (xy * yz - xz * yy) * d.z,
      (xz * yz - xy * zz) * d.x + (xx * zz - xz * xz) * d.y + (xy * xz - xx * yz) * d.z,
      (xy * yz - xz * yy) * d.x + (xy * xz - xx * yz) * d.y + (xx * yy - xy * xy) * d.z,
  };
  const double length = std::sqrt(dot(adjugate_d, adjugate_d));
  return length > 0 ? (1 / length) * adjugate_d : Vec3<double>{0, 0, 1};
}

}  // namespace

// Newton's method on the sphere of directions. Where the function is not concave there, as between deep ellipsoids, the
// part of its matrix that is not is left out; a step that does not climb is halved.
Vec3<double> ellipsoid_normal(const Sym3<double>& A, const Sym3<double>& B, const Vec3<double>& d) {
  Vec3<double> n = first_guess(A, B, d);
  Reach at = reach_along(A, B, d, n);
  const double distance = std::sqrt(dot(d, d));
  if (distance > 0) {
    const Vec3<double> between = (1 / distance) * d;
    const Reach other = reach_along(A, B, d, between);
    if (other.g > at.g) n = between, at = other;
  }
  const double size = distance + at.alpha + at.beta;
  for (int k = 0; k < 100; ++k) {
    const Vec3<double> u = across(n), w = cross(n, u);
    const Vec3<double> r = d - (1 / at.alpha) * at.An - (1 / at.beta) * at.Bn;
    const double r_u = dot(u, r), r_w = dot(w, r);
    const double slope = std::hypot(r_u, r_w);
    if (!(slope > 1e-15 * size)) break;
    const auto curvature = [&](const Vec3<double>& p, const Vec3<double>& q) {
      return dot(p, A * q) / at.alpha - dot(p, at.An) * dot(q, at.An) / (at.alpha * at.alpha * at.alpha) +
             dot(p, B * q) / at.beta - dot(p, at.Bn) * dot(q, at.Bn) / (at.beta * at.beta * at.beta);
    };
    double uu = curvature(u, u), uw = curvature(u, w), ww = curvature(w, w);
    const double floor = 1e-3 * (uu + ww);
    if (at.g > 0 || ((uu + at.g) > floor && (uu + at.g) * (ww + at.g) - uw * uw > floor * floor))
      uu += at.g, ww += at.g;
    else
      uu += floor, ww += floor;
    const double scale = 1 / (uu * ww - uw * uw);
    double p = scale * (ww * r_u - uw * r_w), q = scale * (uu * r_w - uw * r_u);
    const double length = std::hypot(p, q);
    if (length > 1) p /= length, q /= length;
    bool climbed = false;
    for (int halving = 0; halving < 40 && !climbed; ++halving, p *= 0.5, q *= 0.5) {
      Vec3<double> next = n + p * u + q * w;
      next = (1 / std::sqrt(dot(next, next))) * next;
      const Reach there = reach_along(A, B, d, next);
      climbed = there.g > at.g || (length < 1e-6 && halving == 0);  // near the top differences of g are rounding
      if (climbed) n = next, at = there;
    }
    if (!climbed || length < 1e-15) break;
  }
  return n;
}

}  // namespace symplectree
