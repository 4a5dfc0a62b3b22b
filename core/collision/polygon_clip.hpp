// Convex polygons, cut by planes that stand on a common base.
#pragma once

#include <algorithm>
#include <array>

namespace symplectree {

// A corner over the base: x and y in it, z above. It stands between the edges `before` and `after`, which keep their
// numbers when the polygon is cut: a corner is known by the two, also as it moves.
struct PolygonCorner {
  double x, y, z;
  int before, after;
};

// Corners counter-clockwise or clockwise; two are a segment, one is a point.
struct Polygon {
  static constexpr int capacity = 24;
  std::array<PolygonCorner, capacity> corners;
  int count = 0;

  void add(const PolygonCorner& c) {
    if (count < capacity) corners[count++] = c;
  }
};

// Keeps what of a polygon lies where a x + b y ≤ c; the new edge gets the number `edge`. Corners that are
// beyond by up to `slack` stay. (Sutherland and Hodgman 1974.)
inline Polygon cut(const Polygon& p, double a, double b, double c, double slack, int edge) {
  Polygon out;
  for (int k = 0; k < p.count; ++k) {
    const PolygonCorner &from = p.corners[k], &to = p.corners[k + 1 == p.count ? 0 : k + 1];
    const double over = a * from.x + b * from.y - c, next = a * to.x + b * to.y - c;
    if (over <= slack) out.add(from);
    if ((over <= slack) == (next <= slack) || (p.count == 2 && k == 1))
      continue;  // a segment is cut on its way there only
    const double t = std::clamp(over / (over - next), 0.0, 1.0);
    const double x = from.x + t * (to.x - from.x), y = from.y + t * (to.y - from.y), z = from.z + t * (to.z - from.z);
    if (over <= slack)
      out.add({x, y, z, from.after, edge});
    else
      out.add({x, y, z, edge, from.after});
  }
  return out;
}

}  // namespace symplectree
