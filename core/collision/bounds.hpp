// Boxes along the axes of the world that enclose shapes.
#pragma once

#include <cmath>

#include "collision/shape.hpp"

namespace symplectree {

struct Bounds {
  Vec3<double> middle, half;
};

inline Vec3<double> absolute(const Vec3<double>& v) { return {std::fabs(v.x), std::fabs(v.y), std::fabs(v.z)}; }

// The smallest such box at the pose of the shape's body; of a mesh, that of its own box. A plane has none.
inline Bounds bounds(const CollisionShape& shape, const Bounds& mesh_box, const BodyPose<double>& body) {
  const BodyPose<double> at = shape_pose(shape, body);
  const Vec3<double> d = absolute(at.R.c);
  const double r = shape.radius();
  const auto boxed = [&at](const Vec3<double>& h) {
    return h.x * absolute(at.R.a) + h.y * absolute(at.R.b) + h.z * absolute(at.R.c);
  };
  switch (shape.kind) {
    case ShapeKind::Sphere: return {at.x, {r, r, r}};
    case ShapeKind::Capsule: return {at.x, shape.half_length() * d + Vec3<double>{r, r, r}};
    case ShapeKind::Cylinder: {
      const auto across = [r](double c) { return r * std::sqrt(std::fmax(0, 1 - c * c)); };
      return {at.x, shape.half_length() * d + Vec3<double>{across(d.x), across(d.y), across(d.z)}};
    }
    case ShapeKind::Box: return {at.x, boxed(shape.half())};
    case ShapeKind::Ellipsoid: {
      const Vec3<double> a = shape.size.x * at.R.a, b = shape.size.y * at.R.b, c = shape.size.z * at.R.c;
      const Lanes square = a.lanes * a.lanes + b.lanes * b.lanes + c.lanes * c.lanes;
      return {at.x, {std::sqrt(square[0]), std::sqrt(square[1]), std::sqrt(square[2])}};
    }
    case ShapeKind::Mesh: return {at.x + at.R * mesh_box.middle, boxed(mesh_box.half)};
    case ShapeKind::Plane: break;
  }
  return {at.x, {HUGE_VAL, HUGE_VAL, HUGE_VAL}};
}

// The box of a mesh in its own axes.
inline Bounds mesh_bounds(const ConvexMesh& mesh) {
  if (mesh.vertices.empty()) return {};
  Vec3<double> low = mesh.vertices[0], high = low;
  for (const Vec3<double>& v : mesh.vertices) {
    low = {std::fmin(low.x, v.x), std::fmin(low.y, v.y), std::fmin(low.z, v.z)};
    high = {std::fmax(high.x, v.x), std::fmax(high.y, v.y), std::fmax(high.z, v.z)};
  }
  return {0.5 * (low + high), 0.5 * (high - low)};
}

}  // namespace symplectree
