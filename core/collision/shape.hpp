// Shapes that collide, with the kinds and sizes of symplectree/mechanism/shapes.py.
//
//   Sphere     size (radius); 0 is a point
//   Capsule    size (radius, length without caps), along z
//   Cylinder   size (radius, length), along z
//   Box        size (x, y, z)
//   Ellipsoid  size (three radii)
//   Mesh       the convex hull of `mesh`
//   Plane      endless, whatever its size; its normal is z, and all that is below is solid
#pragma once

#include <array>
#include <vector>

#include "model/body.hpp"
#include "spatial/vec3.hpp"

namespace symplectree {

enum class ShapeKind : unsigned char { Sphere, Capsule, Cylinder, Box, Ellipsoid, Mesh, Plane };

struct ConvexMesh {
  std::vector<Vec3<double>> vertices;
  std::vector<std::array<int, 3>> faces;  // triangles, counter-clockwise from outside
};

struct CollisionShape {
  ShapeKind kind = ShapeKind::Sphere;
  Vec3<double> size;
  Vec3<double> at;                               // its origin in its body
  Mat3<double> axes = Mat3<double>::identity();  // its axes in its body
  const ConvexMesh* mesh = nullptr;              // of a Mesh

  double radius() const { return size.x; }                                              // Sphere, Capsule, Cylinder
  double half_length() const { return 0.5 * size.y; }                                   // Capsule, Cylinder
  Vec3<double> half() const { return 0.5 * size; }                                      // Box
  Vec3<double> end(int k) const { return {0, 0, k ? half_length() : -half_length()}; }  // of a Capsule's axis
};

// Where a shape is in the world, of the pose of its body.
inline BodyPose<double> shape_pose(const CollisionShape& shape, const BodyPose<double>& body) {
  return {body.R * shape.axes, body.x + body.R * shape.at, {}};
}

}  // namespace symplectree
