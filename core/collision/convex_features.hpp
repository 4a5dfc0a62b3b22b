// The smooth pieces of a shape near a point of its surface, and the flat piece that faces a direction.
#pragma once

#include "collision/box_features.hpp"

namespace symplectree {

// A feature in the axes of its shape, with what bounds it there.
struct Piece {
  Feature feature;
  int id;         // of the piece in its shape, below 27
  double misfit;  // what `misfit_of` says of a point and normal
};

constexpr int kPieces = 8;

// All features of a shape that meet near a point of its surface (in its axes). Of a mesh there are none: it has too
// many.
struct Pieces {
  std::array<Piece, kPieces> pieces;
  int count = 0;

  void add(const Feature& feature, int id) {
    if (count < kPieces) pieces[count++] = {feature, id, 0};
  }
};

inline Pieces pieces_near(const CollisionShape& shape, const Vector& x, double near) {
  Pieces out;
  const double half = shape.half_length(), r = shape.radius();
  const int top = x.z > 0;
  switch (shape.kind) {
    case ShapeKind::Sphere: out.add(sphere_feature({0, 0, 0}, r), 0); break;
    case ShapeKind::Capsule:
      if (std::fabs(x.z) < half + near) out.add(line_feature({0, 0, 0}, {0, 0, 1}, r), 0);
      if (std::fabs(x.z) > half - near) out.add(sphere_feature(shape.end(top), r), 1 + top);
      break;
    case ShapeKind::Cylinder: {
      const bool beside = std::hypot(x.x, x.y) > r - near, over = std::fabs(x.z) > half - near;
      if (beside) out.add(line_feature({0, 0, 0}, {0, 0, 1}, r), 0);
      if (over) out.add(plane_feature(shape.end(top), {0, 0, top ? 1.0 : -1.0}), 1 + top);
      if (beside && over) out.add(circle_feature(shape.end(top), Mat3<double>::identity(), r), 3 + top);
      break;
    }
    case ShapeKind::Box: {
      const Vector h = shape.half();
      BoxRegion all;
      for (int k = 0; k < 3; ++k)
        if (std::fabs(component(x, k)) > component(h, k) - near) all.side[k] = component(x, k) < 0 ? -1 : 1;
      for (int mask = 1; mask < 8; ++mask) {
        BoxRegion part;
        bool is_part = true;
        for (int k = 0; k < 3; ++k)
          if (mask >> k & 1) part.side[k] = all.side[k], is_part &= all.side[k] != 0;
        if (is_part) out.add(box_feature(part, h), part.id());
      }
      break;
    }
    case ShapeKind::Ellipsoid: out.add(ellipsoid_feature({0, 0, 0}, Mat3<double>::identity(), shape.size), 0); break;
    default: break;
  }
  return out;
}

// How far a witness point and the outward normal there (in the shape's axes) are from belonging to a piece: length
// beyond its bounds, or how much the normal points into the shape's neighbouring pieces.
inline double misfit_of(const CollisionShape& shape, const Piece& piece, const Vector& x, const Vector& n) {
  const double half = shape.half_length(), r = shape.radius(), size = norm1(shape.size);
  const double up = x.z > 0 ? 1 : -1;
  switch (shape.kind) {
    case ShapeKind::Capsule: return piece.id == 0 ? std::fabs(x.z) - half : -size * n.z * (piece.id == 2 ? 1 : -1);
    case ShapeKind::Cylinder: {
      if (piece.id == 0) return std::fabs(x.z) - half;
      const double rho = std::hypot(x.x, x.y);
      if (piece.id < 3) return rho - r;
      return -size * std::fmin(n.z * up, rho > 0 ? (n.x * x.x + n.y * x.y) / rho : 0);
    }
    case ShapeKind::Box: {
      double worst = -HUGE_VAL;
      const Vector h = shape.half();
      const int side[] = {piece.id % 3 - 1, piece.id / 3 % 3 - 1, piece.id / 9 - 1};
      for (int k = 0; k < 3; ++k)
        worst = std::fmax(worst,
                          side[k] ? -size * side[k] * component(n, k) : std::fabs(component(x, k)) - component(h, k));
      return worst;
    }
    default: return -HUGE_VAL;
  }
}

// What of a shape faces a direction n of its axes: a polygon (three corners or more), a segment or a point, fixed in
// the shape, with a radius round it where it is the axis of a capsule or cylinder.
struct Patch {
  static constexpr int capacity = 13;
  std::array<Vector, capacity> corners;
  int count = 0;
  double radius = 0;
  Vector normal;      // of a polygon
  bool rims = false;  // does the radius end with rims, as that of a cylinder?
  int spread = 1;     // of a polygon with many corners, each so many are enough to stand on

  // Corners have numbers, which stay the same when another appears between them.
  std::array<int, capacity> number;

  void add(const Vector& x, int own_number) {
    if (count < capacity) corners[count] = x, number[count++] = own_number;
  }
  void add(const Vector& x) { add(x, count); }
  const Vector& corner_of(int its_number) const {
    int k = 0;
    while (k + 1 < count && number[k] != its_number) ++k;
    return corners[k];
  }

  // What is at a point of the patch: a ball, or the rim at the end of a cylinder. Within a cylinder's side the ball is
  // so small that it does not reach lower than the side does there, which is slanted (cosine).
  Feature feature_at(const Vector& x, bool end, double slant) const {
    if (rims && end) return circle_feature(x, Mat3<double>::identity(), radius);
    return sphere_feature(x, rims ? slant * radius : radius);
  }
};

Patch facing_patch(const CollisionShape& shape, const Vector& n);

}  // namespace symplectree
