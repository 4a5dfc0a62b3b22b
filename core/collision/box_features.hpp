// Faces, edges and corners of a box, in its axes.
#pragma once

#include "collision/pair_collector.hpp"

namespace symplectree {

// On which side of a box something is along each of its axes: −1 or 1, or 0 between the two faces. One side that is not
// 0 is a face, two are an edge, three a corner.
struct BoxRegion {
  int side[3] = {0, 0, 0};

  int outside() const { return (side[0] != 0) + (side[1] != 0) + (side[2] != 0); }
  int id() const { return (side[0] + 1) + 3 * (side[1] + 1) + 9 * (side[2] + 1); }  // below 27
  int free_axis() const { return !side[0] ? 0 : !side[1] ? 1 : 2; }                 // of an edge
  Vector point(const Vector& half) const { return {side[0] * half.x, side[1] * half.y, side[2] * half.z}; }
};

// Where a point of the box's axes lies; from inside, the nearest face.
inline BoxRegion box_region(const Vector& x, const Vector& half) {
  BoxRegion out;
  for (int k = 0; k < 3; ++k)
    out.side[k] = component(x, k) > component(half, k) ? 1 : component(x, k) < -component(half, k) ? -1 : 0;
  if (out.outside()) return out;
  int nearest = 0;
  double depth = HUGE_VAL;
  for (int k = 0; k < 3; ++k) {
    const double d = component(half, k) - std::fabs(component(x, k));
    if (d < depth) depth = d, nearest = k;
  }
  out.side[nearest] = component(x, nearest) < 0 ? -1 : 1;
  return out;
}

inline Feature box_feature(const BoxRegion& region, const Vector& half) {
  const Vector point = region.point(half);
  switch (region.outside()) {
    case 1: return plane_feature(point, {double(region.side[0]), double(region.side[1]), double(region.side[2])});
    case 2: return line_feature(point, along_axis(region.free_axis(), 1));
    default: return sphere_feature(point);
  }
}

// The edges by number: along axis e / 4, at the sides e & 1 and e & 2 of the next two axes.
inline BoxRegion box_edge(int e) {
  BoxRegion out;
  const int k = e / 4;
  out.side[(k + 1) % 3] = e & 1 ? 1 : -1;
  out.side[(k + 2) % 3] = e & 2 ? 1 : -1;
  return out;
}
inline BoxRegion box_corner(int v) {
  BoxRegion out;
  for (int k = 0; k < 3; ++k) out.side[k] = v >> k & 1 ? 1 : -1;
  return out;
}

// Does a direction of the box's axes point away from all faces that meet at an edge or corner? `slack`: how much
// (cosine) it may fail to.
inline bool faces_outward(const BoxRegion& region, const Vector& n, double slack) {
  for (int k = 0; k < 3; ++k)
    if (region.side[k] * component(n, k) < -slack) return false;
  return true;
}

}  // namespace symplectree
