#include "collision/convex_features.hpp"

#include <algorithm>

#include "collision/convex_distance.hpp"

namespace symplectree {
namespace {

constexpr double kFacing = 0.995;  // cosine from which a face faces a direction
constexpr double kAcross = 0.1;    // sine up to which an edge or side is across it
constexpr double kFlat = 1e-7;     // tilt (sine) above which a rim has a lowest point

// Twelve points of the rim, of which it stands on four, and the lowest, in their order round it.
Patch cylinder_cap(const CollisionShape& shape, const Vector& n) {
  Patch out;
  constexpr int corners = Patch::capacity - 1;
  const double r = shape.radius(), tilt = std::hypot(n.x, n.y), step = 2 * 3.14159265358979323846 / corners;
  const Vector centre = shape.end(n.z > 0);
  const double angle = std::atan2(n.y, n.x), lowest = angle < 0 ? angle + step * corners : angle;
  out.spread = 3;
  for (int k = 0; k < corners; ++k) {
    out.add(centre + Vector{r * std::cos(k * step), r * std::sin(k * step), 0}, k);
    if (tilt > kFlat && int(lowest / step) % corners == k) out.add(centre + (r / tilt) * Vector{n.x, n.y, 0}, corners);
  }
  out.normal = {0, 0, n.z > 0 ? 1.0 : -1.0};
  return out;
}

// All vertices in the plane of the triangle that faces n most, round their middle.
Patch mesh_face(const CollisionShape& shape, const Vector& n) {
  const ConvexMesh& mesh = *shape.mesh;
  Patch out;
  double best = kFacing, size = 0;
  const std::array<int, 3>* face = nullptr;
  for (const std::array<int, 3>& f : mesh.faces) {
    const Vector& a = mesh.vertices[f[0]];
    const Direction<double> m = direction_or(cross(mesh.vertices[f[1]] - a, mesh.vertices[f[2]] - a), {0, 0, 0});
    // Among parallel faces (those of other parts of the mesh) the outermost is wanted; it has the same normal.
    if (dot(m.unit, n) > best) best = dot(m.unit, n), out.normal = m.unit, face = &f;
  }
  if (!face) return {};
  double top = -HUGE_VAL;
  for (const Vector& v : mesh.vertices) top = std::fmax(top, dot(out.normal, v)), size = std::fmax(size, norm1(v));
  Vector middle;
  for (const Vector& v : mesh.vertices)
    if (dot(out.normal, v) > top - 1e-9 * size && out.count < Patch::capacity) middle += v, out.add(v);
  middle = (1.0 / out.count) * middle;
  const Vector u = across(out.normal), w = cross(out.normal, u);
  std::sort(out.corners.begin(), out.corners.begin() + out.count, [&](const Vector& p, const Vector& q) {
    return std::atan2(dot(w, p - middle), dot(u, p - middle)) < std::atan2(dot(w, q - middle), dot(u, q - middle));
  });
  return out;
}

Patch box_patch(const CollisionShape& shape, const Vector& n) {
  Patch out;
  const Vector h = shape.half();
  for (int k = 0; k < 3; ++k) {
    const double side = component(n, k) < 0 ? -1 : 1;
    const int u = (k + 1) % 3, w = (k + 2) % 3;
    if (std::fabs(component(n, k)) > kFacing) {
      const double x[] = {1, -1, -1, 1}, y[] = {1, 1, -1, -1};
      for (int i = 0; i < 4; ++i)
        out.add(along_axis(k, side * component(h, k)) + along_axis(u, x[i] * component(h, u)) +
                along_axis(w, y[i] * component(h, w)));
      out.normal = along_axis(k, side);
      return out;
    }
  }
  for (int k = 0; k < 3; ++k) {
    if (std::fabs(component(n, k)) > kAcross) continue;
    Vector end = farthest(shape, n);
    for (int i = 0; i < 2; ++i) end.lanes[k] = (i ? 1 : -1) * component(h, k), out.add(end);
    return out;
  }
  out.add(farthest(shape, n));
  return out;
}

}  // namespace

Patch facing_patch(const CollisionShape& shape, const Vector& n) {
  Patch out;
  switch (shape.kind) {
    case ShapeKind::Box: return box_patch(shape, n);
    case ShapeKind::Mesh: {
      out = mesh_face(shape, n);
      if (out.count < 3) out.count = 0, out.add(farthest(shape, n));
      return out;
    }
    case ShapeKind::Cylinder:
      if (std::fabs(n.z) > kFacing) return cylinder_cap(shape, n);
      [[fallthrough]];
    case ShapeKind::Capsule:
      out.radius = shape.radius();
      if (std::fabs(n.z) <= kAcross) {
        out.add(shape.end(0)), out.add(shape.end(1));
        out.rims = shape.kind == ShapeKind::Cylinder;
        return out;
      }
      out.radius = rounding(shape);
      out.add(farthest(shape, n));
      return out;
    default:
      out.radius = rounding(shape);
      out.add(farthest(shape, n));
      return out;
  }
}

}  // namespace symplectree
