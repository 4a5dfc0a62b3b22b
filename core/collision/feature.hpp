// Features: the pieces of shapes that touch, each fixed in a body and described in its axes.
//
//   Sphere     a ball round `at`; of radius 0 a point, such as a corner
//   Plane      through `at`, with the outward normal axes.c; what is behind it is solid
//   Line       through `at` along axes.c, endless, with a radius: an edge (radius 0), the side of a capsule or cylinder
//   Circle     round `at`, in the plane of axes.a and axes.b: the rim of a cylinder
//   Ellipsoid  round `at`, with the radii radii.x, .y, .z along the columns of `axes`
//
// Detection (detect.hpp) chooses features that face each other; gap.hpp has the smooth function of each pair, which is
// evaluated at other poses than the one where the pair was chosen.
#pragma once

#include "model/body.hpp"
#include "spatial/vec3.hpp"

namespace symplectree {

enum class FeatureKind : unsigned char { Sphere, Plane, Line, Circle, Ellipsoid };

// Lengths may carry derivatives (model/body.hpp); after `placed`, everything is in the world and may.
template <class R>
struct FeatureOf {
  FeatureKind kind = FeatureKind::Sphere;
  Vec3<R> at;
  Mat3<R> axes;   // Plane and Line: of these only the third column counts; Sphere: none
  Vec3<R> radii;  // Sphere, Line and Circle: of these the first; Plane: none

  const R& radius() const { return radii.x; }
  const Vec3<R>& direction() const { return axes.c; }
};
using Feature = FeatureOf<double>;

inline Feature sphere_feature(const Vec3<double>& centre, double radius = 0) {
  return {FeatureKind::Sphere, centre, {}, {radius, 0, 0}};
}
inline Feature plane_feature(const Vec3<double>& point, const Vec3<double>& normal) {
  return {FeatureKind::Plane, point, {{}, {}, normal}, {}};
}
inline Feature line_feature(const Vec3<double>& point, const Vec3<double>& along, double radius = 0) {
  return {FeatureKind::Line, point, {{}, {}, along}, {radius, 0, 0}};
}
inline Feature circle_feature(const Vec3<double>& centre, const Mat3<double>& axes, double radius) {
  return {FeatureKind::Circle, centre, axes, {radius, 0, 0}};
}
inline Feature ellipsoid_feature(const Vec3<double>& centre, const Mat3<double>& axes, const Vec3<double>& radii) {
  return {FeatureKind::Ellipsoid, centre, axes, radii};
}

// A feature in the world, at a pose with axes R and origin x (BodyPose, FramePose).
template <class T, class R, template <class> class Pose>
FeatureOf<T> placed(const FeatureOf<R>& f, const Pose<T>& pose) {
  FeatureOf<T> out;
  out.kind = f.kind;
  out.at = pose.x + pose.R * Vec3<T>(f.at);
  out.radii = Vec3<T>(f.radii);
  if (f.kind == FeatureKind::Sphere) return out;
  out.axes.c = pose.R * Vec3<T>(f.axes.c);
  if (f.kind == FeatureKind::Plane || f.kind == FeatureKind::Line) return out;
  out.axes.a = pose.R * Vec3<T>(f.axes.a);
  out.axes.b = pose.R * Vec3<T>(f.axes.b);
  return out;
}

}  // namespace symplectree
