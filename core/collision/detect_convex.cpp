// Any two convex shapes: the nearest points by convex_distance.hpp, refined by the smooth gap of the features that meet
// there; and where flat sides face each other, the corners of the area that they share.
//
// The area of a cylinder's cap is that of four points of its rim and its lowest one; the side of a cylinder on a flat
// side is a row of balls within it; a mesh has points and planes, no edges. All are exact to first order where they are
// found.
#include <algorithm>

#include "collision/convex_distance.hpp"
#include "collision/convex_features.hpp"
#include "collision/polygon_clip.hpp"

namespace symplectree {
namespace {

constexpr double kRolling = 0.02;  // tilt (sine) below which the nearest point of a rim is not smooth
constexpr double kFirst = 1e-8;    // accuracy (relative) that is enough to tell which features are nearest
constexpr double kDeeper = 1e-5;   // how much deeper (relative) features may be than the polytope that was grown
constexpr double kParallel = 0.2;  // sine below which two lines have no well-defined perpendicular
constexpr double kNear = 1e-3;     // points that are nearer than this (relative to the size) are one
constexpr int kEnough = 6;         // points of an area that has more corners than there is room for
constexpr int kBase = 16;          // numbers of edges of the base begin here, above those of what lies over it
constexpr int kArea = 1 << 12;     // ids of areas begin here; those of nearest points are below

double size_of(const CollisionShape& shape) {
  if (shape.kind != ShapeKind::Mesh) return norm1(shape.size);
  double out = 0;
  for (const Vector& v : shape.mesh->vertices) out = std::fmax(out, norm1(v));
  return 2 * out;
}

// Is the gap of two features a distance without sign?
bool unsigned_gap(const Feature& a, const Feature& b) {
  const auto thin = [](const Feature& f) {
    return (f.kind == FeatureKind::Sphere || f.kind == FeatureKind::Line) && f.radius() == 0;
  };
  const auto point = [](const Feature& f) { return f.kind == FeatureKind::Sphere; };
  const auto rim = [](const Feature& f) { return f.kind == FeatureKind::Circle; };
  return ((point(a) || point(b)) && thin(a) && thin(b)) || (point(a) && thin(a) && rim(b)) ||
         (point(b) && thin(b) && rim(a));
}

// Does the normal between two features turn much faster than they do?
bool turns_swiftly(const PairCollector& out, const Feature& a, const Feature& b) {
  const auto thin = [](const Feature& f) {
    return f.kind == FeatureKind::Circle || (f.kind == FeatureKind::Line && f.radius() == 0);
  };
  if (a.kind == FeatureKind::Line && b.kind == FeatureKind::Line) {
    const Vector m = cross(out.pose_a.R * a.axes.c, out.pose_b.R * b.axes.c);
    return dot(m, m) < kParallel * kParallel;
  }
  return thin(a) && thin(b);
}

class ConvexPair {
 public:
  explicit ConvexPair(PairCollector& out)
      : out_(out), size_(size_of(out.a) + size_of(out.b)), nearest_(search(kFirst)) {}

  void add_all() {
    if (nearest_.g - 2 * kFirst * size_ >= out_.margin) return;
    const bool refined = refine();
    if (!refined) nearest_ = search(0);
    if (refined && best_.g >= out_.margin) return;
    add_area();
    const double g = refined ? best_.g : nearest_.g;
    if (out_.least() <= g + 1e-9 * size_) return;
    if (!refined)
      out_.add(round_side(), plane_feature(out_.in_b(nearest_.x_b), transposed_times(out_.pose_b.R, nearest_.n)),
               kArea - 1);
    else if (tangent_)
      out_.add_tangent(best_.x_a, best_.x_b, best_.n, id_);
    else
      out_.add(best_a_, best_b_, id_, best_);
  }

 private:
  PairCollector& out_;
  const double size_;
  Gap<double> nearest_;
  Feature best_a_, best_b_;
  Gap<double> best_;
  int id_ = 0;
  bool tangent_ = false;

  Gap<double> search(double accuracy) const {
    return convex_gap(out_.a, out_.pose_a, out_.b, out_.pose_b, {size_, out_.margin + kFirst * size_, accuracy});
  }

  // What of a is at its nearest point, with its curvature where it is round everywhere.
  Feature round_side() const {
    if (out_.a.kind == ShapeKind::Ellipsoid) return ellipsoid_feature({0, 0, 0}, Mat3<double>::identity(), out_.a.size);
    const double r = rounding(out_.a);
    return sphere_feature(out_.in_a(nearest_.x_a + r * nearest_.n), r);
  }

  // Looks for the features that the nearest points belong to.
  bool refine() {
    const Pieces of_a = pieces_near(out_.a, out_.in_a(nearest_.x_a), kNear * size_);
    const Pieces of_b = pieces_near(out_.b, out_.in_b(nearest_.x_b), kNear * size_);
    double least = 1e-9 * size_;
    bool found = false;
    for (int i = 0; i < of_a.count; ++i)
      for (int j = 0; j < of_b.count; ++j) found |= try_pieces(of_a.pieces[i], of_b.pieces[j], least);
    return found;
  }

  bool try_pieces(const Piece& a, const Piece& b, double& least) {
    if (!has_gap(a.feature.kind, b.feature.kind)) return false;
    Feature f_b = b.feature;
    if (a.feature.kind == FeatureKind::Line && f_b.kind == FeatureKind::Line) {
      const Vector m = cross(out_.pose_a.R * a.feature.axes.c, out_.pose_b.R * f_b.axes.c);
      if (dot(m, nearest_.n) < 0) f_b.axes.c = -f_b.axes.c;
    }
    const Gap<double> at = out_.gap_of(a.feature, f_b);
    if (!(std::fabs(at.g - nearest_.g) < kNear * size_)) return false;
    if (nearest_.g < 0 && at.g < nearest_.g - kDeeper * size_) return false;  // there is a shorter way out
    const Vector n_a = transposed_times(out_.pose_a.R, at.n), n_b = transposed_times(out_.pose_b.R, at.n);
    const double misfit =
        std::fmax(misfit_of(out_.a, a, out_.in_a(at.x_a), -n_a), misfit_of(out_.b, b, out_.in_b(at.x_b), n_b));
    if (!(misfit < least)) return false;
    const auto flat = [](const Feature& f, const Vector& n) {
      return f.kind == FeatureKind::Circle && std::hypot(n.x, n.y) < kRolling;
    };
    const bool flat_rim = flat(a.feature, n_a) || flat(f_b, n_b);
    const bool on_plane = a.feature.kind == FeatureKind::Plane || f_b.kind == FeatureKind::Plane;
    if (flat_rim && !on_plane) return false;  // the cap counts, not the rim
    const bool without_sign = unsigned_gap(a.feature, f_b);
    const bool swift = turns_swiftly(out_, a.feature, f_b);
    if (without_sign && nearest_.g < 0) return false;
    least = misfit, best_ = at, best_a_ = a.feature, best_b_ = f_b, id_ = 27 * a.id + b.id;
    tangent_ = without_sign || flat_rim || swift;
    return true;
  }

  void add_area() {
    const Vector &n = nearest_.n, to_a = transposed_times(out_.pose_a.R, n), to_b = transposed_times(out_.pose_b.R, n);
    const Patch a = facing_patch(out_.a, -to_a), b = facing_patch(out_.b, to_b);
    // What lies over a base is what faces its normal, which is exact.
    if (b.count >= 3 && a.count >= 2)
      add_over(b, facing_patch(out_.a, -transposed_times(out_.pose_a.R, out_.pose_b.R * b.normal)), false);
    else if (a.count >= 3 && b.count >= 2)
      add_over(a, facing_patch(out_.b, -transposed_times(out_.pose_b.R, out_.pose_a.R * a.normal)), true);
    else if (a.count == 2 && b.count == 2)
      add_along(a, b);
  }

  // Corners of one patch over a polygon of the other shape, each against the plane of that. `of_a`: the polygon is of
  // a.
  void add_over(const Patch& base, const Patch& over, bool of_a) {
    const Vector &k = base.normal, u = across(k), w = cross(k, u);
    const auto carried = [&](const Vector& x) { return of_a ? out_.b_in_a(x) : out_.a_in_b(x); };
    Polygon area;
    for (int i = 0; i < over.count; ++i) {
      const Vector x = carried(over.corners[i]);
      const int before = over.number[(i + over.count - 1) % over.count];
      area.add({dot(u, x), dot(w, x), dot(k, x), before, over.number[i]});
    }
    // Round the base in the sense of u and w.
    const auto corner = [&](int i) -> const Vector& { return base.corners[i % base.count]; };
    const double turn = dot(k, cross(corner(1) - corner(0), corner(2) - corner(1))) < 0 ? -1 : 1;
    std::array<Feature, Patch::capacity> walls;  // planes round the base
    int wall_count = 0;
    for (int i = 0; i < base.count; ++i) {
      const Vector side = corner(i + 1) - corner(i), m = turn * cross(side, k);
      const double length = std::sqrt(dot(m, m));
      if (!(length > 0)) continue;
      walls[wall_count++] = plane_feature(corner(i), (1 / length) * m);
      area = cut(area, dot(m, u) / length, dot(m, w) / length, dot(m, corner(i)) / length, 1e-8 * size_,
                 kBase + base.number[i]);
    }
    std::sort(area.corners.begin(), area.corners.begin() + area.count,
              [](const PolygonCorner& p, const PolygonCorner& q) { return p.z < q.z; });
    const double floor = dot(k, base.corners[0]);
    const Vector up =
        of_a ? transposed_times(out_.pose_b.R, out_.pose_a.R * k) : transposed_times(out_.pose_a.R, out_.pose_b.R * k);
    const double slant = std::hypot(up.x, up.y);  // cosine between the plane's normal and that of a cylinder's side
    const Feature plane = plane_feature(base.corners[0], k);
    // Of a round outline some corners are spare, unless they are the lowest.
    const auto spare = [&over](const PolygonCorner& p) { return is_own(p) && p.after % over.spread != 0; };
    double lowest = HUGE_VAL;
    for (int c = 0; c < area.count; ++c)
      if (!spare(area.corners[c])) lowest = std::fmin(lowest, area.corners[c].z);
    int kept = 0;
    for (int c = 0; c < area.count; ++c) {
      const PolygonCorner p = area.corners[c];
      if (p.z - floor - over.radius >= out_.margin) break;
      if (spare(p) && p.z > lowest - 1e-9 * size_) continue;
      const auto near = [&](const PolygonCorner& q) {
        return std::fabs(p.x - q.x) + std::fabs(p.y - q.y) < kNear * size_;
      };
      if (std::none_of(area.corners.begin(), area.corners.begin() + kept, near)) area.corners[kept++] = p;
    }
    area.count = kept;
    spread_out(area);
    for (int c = 0; c < area.count; ++c) {
      const PolygonCorner& p = area.corners[c];
      const bool own = is_own(p);
      const Vector x = p.x * u + p.y * w + p.z * k;
      const Vector at = own ? over.corner_of(p.after) : of_a ? out_.a_in_b(x) : out_.b_in_a(x);
      const Feature ball = over.feature_at(at, own, slant);
      if (ball.kind == FeatureKind::Circle) {  // its lowest point may be beside the base
        const Gap<double> rim = of_a ? swapped(out_.gap_of(plane, ball)) : out_.gap_of(ball, plane);
        const Vector lowest = of_a ? out_.in_a(rim.x_a) : out_.in_b(rim.x_a);
        const auto beyond = [&](const Feature& wall) { return dot(wall.axes.c, lowest - wall.at) > 1e-9 * size_; };
        if (std::any_of(walls.begin(), walls.begin() + wall_count, beyond)) continue;
      }
      const int id = kArea + ((of_a ? 32 : 0) + (own ? p.after : p.before)) * 32 + p.after;
      if (of_a)
        out_.add(plane, ball, id);
      else
        out_.add(ball, plane, id);
    }
  }

  static bool is_own(const PolygonCorner& p) { return p.before < kBase && p.after < kBase; }

  // Of many corners, sorted by height, the lowest and those that are farthest from the ones that are kept.
  void spread_out(Polygon& area) const {
    if (area.count <= FeaturePairs::capacity) return;
    const auto number = [](const PolygonCorner& p) { return 32 * p.before + p.after; };
    for (int c = 1; c < area.count && area.corners[c].z < area.corners[0].z + 1e-9 * size_; ++c)
      if (number(area.corners[c]) < number(area.corners[0])) std::swap(area.corners[0], area.corners[c]);
    for (int kept = 1; kept < kEnough; ++kept) {
      int farthest = kept;
      double most = -1;
      for (int c = kept; c < area.count; ++c) {
        double least = HUGE_VAL;
        for (int i = 0; i < kept; ++i)
          least = std::fmin(least,
                            std::hypot(area.corners[c].x - area.corners[i].x, area.corners[c].y - area.corners[i].y));
        if (least > most + 1e-9 * size_) most = least, farthest = c;
      }
      std::swap(area.corners[kept], area.corners[farthest]);
    }
    area.count = kEnough;
  }

  // Two sides that are nearly parallel: the ends of the stretch that they share, each end against the other's line.
  void add_along(const Patch& a, const Patch& b) {
    const Vector p = out_.a_in_b(a.corners[0]), q = out_.a_in_b(a.corners[1]), u = q - p;
    const Direction<double> d = direction_or(b.corners[1] - b.corners[0], {0, 0, 1});
    const double length = std::sqrt(dot(u, u)), slope = dot(d.unit, u);
    if (!(std::fabs(slope) > kFacingAlong * length) || a.radius + b.radius == 0) return;
    const Vector along_a = (1 / length) * (a.corners[1] - a.corners[0]);
    const Feature line_a = line_feature(a.corners[0], along_a, a.radius);
    const Feature line_b = line_feature(b.corners[0], d.unit, b.radius);
    for (int k = 0; k < 2; ++k) {
      const double z_a = dot(d.unit, (k ? q : p) - b.corners[0]);
      if (z_a >= 0 && z_a <= d.length) out_.add(a.feature_at(a.corners[k], true, 1), line_b, kArea + 4096 + k);
      const double z_b = dot(along_a, out_.b_in_a(b.corners[k]) - a.corners[0]);
      if (z_b > 0 && z_b < length) out_.add(line_a, b.feature_at(b.corners[k], true, 1), kArea + 4098 + k);
    }
  }

  static constexpr double kFacingAlong = 0.995;
};

}  // namespace

void detect_convex(PairCollector& out) { ConvexPair(out).add_all(); }

}  // namespace symplectree
