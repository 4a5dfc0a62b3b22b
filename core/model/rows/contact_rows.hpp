// Shapes that collide, and pairs of them that may touch: at each point of contact 0 ≤ n ⟂ gap ≥ 0, and a friction force
// of at most µ n against sliding there.
#pragma once

#include "model/rows/row_fields.hpp"

namespace symplectree {

// collision/shape.hpp says what kinds and sizes are; mesh −1: none.
template <class R>
struct ShapeRowOf {
  int owner, kind, mesh;
  PointOf<R> at;  // its origin
  Mat3<double> axes;
  double size[3];

  static constexpr auto fields() {
    using Row = ShapeRowOf;
    return std::tuple{Field{"owner", &Row::owner}, Field{"kind", &Row::kind}, Field{"mesh", &Row::mesh},
                      Field{"at", &Row::at},       Field{"axes", &Row::axes}, Field{"size", &Row::size}};
  }
  void place(const BodiesOf<R>& bodies) {
    axes = placed(bodies, at.body, axes);
    at = placed(bodies, at);
  }
};
using ShapeRow = ShapeRowOf<double>;

// The convex hull of a mesh, in its own axes: its vertices, and its triangles by these, counter-clockwise from outside.
template <class R>
struct HullVertexOf {
  int owner, mesh;
  Vec3<double> at;

  static constexpr auto fields() {
    using Row = HullVertexOf;
    return std::tuple{Field{"owner", &Row::owner}, Field{"mesh", &Row::mesh}, Field{"at", &Row::at}};
  }
};
using HullVertex = HullVertexOf<double>;

template <class R>
struct HullFaceOf {
  int owner, mesh, a, b, c;

  static constexpr auto fields() {
    using Row = HullFaceOf;
    return std::tuple{Field{"owner", &Row::owner}, Field{"mesh", &Row::mesh}, Field{"a", &Row::a}, Field{"b", &Row::b},
                      Field{"c", &Row::c}};
  }
};
using HullFace = HullFaceOf<double>;

template <class R>
struct ContactPairOf {
  int owner, a, b;  // indices of shapes
  double friction, restitution;

  static constexpr auto fields() {
    using Row = ContactPairOf;
    return std::tuple{Field{"owner", &Row::owner}, Field{"a", &Row::a}, Field{"b", &Row::b},
                      Field{"friction", &Row::friction}, Field{"restitution", &Row::restitution}};
  }
};
using ContactPair = ContactPairOf<double>;

}  // namespace symplectree
