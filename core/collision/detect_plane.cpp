// Shapes on a plane.
#include <algorithm>

#include "collision/pair_collector.hpp"

namespace symplectree {
namespace {

const Feature kPlane = plane_feature({0, 0, 0}, {0, 0, 1});

// Beyond the first tilt (sine) between rim and plane the lowest point of the rim is a smooth function of the pose;
// below it is a point fixed in the cylinder until the next detection. Below the second it is not defined well enough.
constexpr double kRolling = 0.02, kFlat = 1e-7, kStanding = 0.3;

// A cylinder stands on four points of its rim, fixed in it at the ends of its x and y axes, so that they turn with it
// when it spins, and on the lowest point of the rim as soon as it tilts: the area that it stands on is then the whole
// disc. It rolls on its rim, or lies on its two rims, as smooth functions.
void cylinder_on_plane(PairCollector& out) {
  const double radius = out.a.radius();
  const Vector n = transposed_times(out.pose_a.R, out.pose_b.R.c);
  const double tilt = std::hypot(n.x, n.y);
  for (int k = 0; k < 2; ++k) {
    const Vector centre = out.a.end(k);
    const int id = 5 * k;
    if (tilt > kRolling)
      out.add(circle_feature(centre, Mat3<double>::identity(), radius), kPlane, id);
    else if (tilt > kFlat)
      out.add(sphere_feature(centre - (radius / tilt) * Vector{n.x, n.y, 0}), kPlane, id);
    if (tilt > kStanding) continue;
    const double x[] = {radius, 0, -radius, 0}, y[] = {0, radius, 0, -radius};
    for (int j = 0; j < 4; ++j) out.add(sphere_feature(centre + Vector{x[j], y[j], 0}), kPlane, id + 1 + j);
  }
}

// The lowest vertex, and of those below the margin the farthest in directions fixed in the mesh.
void mesh_on_plane(PairCollector& out) {
  const std::vector<Vector>& vertices = out.a.mesh->vertices;
  const Vector n = transposed_times(out.pose_a.R, out.pose_b.R.c);
  const double height = dot(out.pose_b.R.c, out.pose_a.x - out.pose_b.x);
  const Vector u = across(n), w = cross(n, u);
  constexpr int directions = FeaturePairs::capacity - 1;
  int chosen[directions + 1];
  double best[directions + 1], cosine[directions], sine[directions];
  for (int k = 0; k < directions; ++k) {
    const double angle = 2 * 3.14159265358979323846 * k / directions + 0.1;
    cosine[k] = std::cos(angle), sine[k] = std::sin(angle);
  }
  std::fill(chosen, chosen + directions + 1, -1);
  for (int i = 0; i < int(vertices.size()); ++i) {
    const double g = height + dot(n, vertices[i]);
    if (!(g < out.margin)) continue;
    const double x = dot(u, vertices[i]), y = dot(w, vertices[i]);
    for (int k = 0; k <= directions; ++k) {
      const double reach = k == directions ? -g : cosine[k] * x + sine[k] * y;
      if (chosen[k] < 0 || reach > best[k]) chosen[k] = i, best[k] = reach;
    }
  }
  for (int k = directions; k >= 0; --k)
    if (chosen[k] >= 0) out.add(sphere_feature(vertices[chosen[k]]), kPlane, chosen[k]);
}

}  // namespace

void detect_on_plane(PairCollector& out) {
  switch (out.a.kind) {
    case ShapeKind::Sphere: out.add(sphere_feature({0, 0, 0}, out.a.radius()), kPlane, 0); break;
    case ShapeKind::Capsule:
      for (int k = 0; k < 2; ++k) out.add(sphere_feature(out.a.end(k), out.a.radius()), kPlane, k);
      break;
    case ShapeKind::Box: {
      const Vector h = out.a.half();
      for (int k = 0; k < 8; ++k)
        out.add(sphere_feature({k & 1 ? h.x : -h.x, k & 2 ? h.y : -h.y, k & 4 ? h.z : -h.z}), kPlane, k);
      break;
    }
    case ShapeKind::Ellipsoid:
      out.add(ellipsoid_feature({0, 0, 0}, Mat3<double>::identity(), out.a.size), kPlane, 0);
      break;
    case ShapeKind::Cylinder: cylinder_on_plane(out); break;
    case ShapeKind::Mesh: mesh_on_plane(out); break;
    case ShapeKind::Plane: break;
  }
}

}  // namespace symplectree
