// Spheres and capsules against boxes.
#include <algorithm>

#include "collision/box_features.hpp"

namespace symplectree {
namespace {

// A ball of shape a, with its centre in the axes of the box too, against what it is nearest to. A point (radius 0) has
// no sign against edges and corners: there it has the plane across the shortest way.
void add_ball(PairCollector& out, const Feature& ball, const Vector& centre, int id) {
  const BoxRegion region = box_region(centre, out.b.half());
  const Feature of_box = box_feature(region, out.b.half());
  const Gap<double> at = out.gap_of(ball, of_box);
  if (ball.radius() > 0 || region.outside() == 1)
    out.add(ball, of_box, id + region.id(), at);
  else
    out.add_tangent(at.x_a, at.x_b, at.n, id + region.id());
}

// Does a segment p + t u pass through the inside of a box?
bool crosses(const Vector& p, const Vector& u, const Vector& half) {
  double enter = 0, leave = 1;
  for (int k = 0; k < 3; ++k) {
    const double at = component(p, k), slope = component(u, k), h = component(half, k);
    if (slope == 0) {
      if (std::fabs(at) >= h) return false;
      continue;
    }
    const double first = (-h - at) / slope, second = (h - at) / slope;
    enter = std::max(enter, std::min(first, second)), leave = std::min(leave, std::max(first, second));
  }
  return enter < leave;
}

constexpr double kParallel = 0.1;  // sine below which edge and capsule touch along a stretch
constexpr double kSlack = 0.1;     // of directions away from an edge

// The ends of the capsule, whose middle may be far off: ids 0 to 26 and 27 to 53 by region. The crossing of its axis
// with an edge: 54 to 65; where these are parallel, the ends of the stretch that they share: 66 to 89.
void add_edges(PairCollector& out, const Vector& p, const Vector& u) {
  const Vector half = out.b.half();
  const double length = 2 * out.a.half_length();
  const Vector along = (1 / length) * u;
  for (int e = 0; e < 12; ++e) {
    const BoxRegion edge = box_edge(e);
    const int k = edge.free_axis();
    const double h = component(half, k);
    const Vector start = edge.point(half) - along_axis(k, h);
    const SegmentPoints at = nearest_on_segments(p, u, start, along_axis(k, 2 * h));
    const Vector between = p + at.s * u - start - along_axis(k, 2 * h * at.t);
    const double distance2 = dot(between, between), reach = out.margin + out.a.radius();
    if (distance2 >= reach * reach || !(distance2 > 0)) continue;
    if (!faces_outward(edge, (1 / std::sqrt(distance2)) * between, kSlack)) continue;
    const double cosine = component(along, k), sine2 = 1 - cosine * cosine;
    if (sine2 > kParallel * kParallel) {
      if (!(at.s > 0 && at.s < 1 && at.t > 0 && at.t < 1)) continue;
      const double turn = dot(cross(along, along_axis(k, 1)), between) < 0 ? -1 : 1;
      out.add(line_feature({0, 0, 0}, {0, 0, 1}, out.a.radius()), line_feature(edge.point(half), along_axis(k, turn)),
              54 + e);
      continue;
    }
    for (int j = 0; j < 2; ++j) {  // where the axis passes the ends of the edge
      const double s = ((j ? h : -h) - component(p, k)) / component(u, k);
      if (!(s > 0 && s < 1)) continue;
      out.add(sphere_feature({0, 0, (s - 0.5) * length}, out.a.radius()), box_feature(edge, half), 66 + 2 * e + j);
    }
    if (at.s > 0 && at.s < 1 && at.t > 0 && at.t < 1)
      out.add(sphere_feature({0, 0, (at.s - 0.5) * length}, out.a.radius()), box_feature(edge, half), 54 + e);
  }
}

// Corners that are nearest to the side of the capsule, ids 90 to 97.
void add_corners(PairCollector& out, const Vector& p, const Vector& u) {
  const Vector half = out.b.half();
  const double length2 = dot(u, u), reach = out.margin + out.a.radius();
  for (int v = 0; v < 8; ++v) {
    const BoxRegion corner = box_corner(v);
    const Vector at = corner.point(half);
    const double s = dot(at - p, u) / length2;
    if (!(s > 0 && s < 1)) continue;
    const Vector between = p + s * u - at;
    const double distance = std::sqrt(dot(between, between));
    if (distance >= reach || !(distance > 0) || !faces_outward(corner, (1 / distance) * between, 0)) continue;
    out.add(line_feature({0, 0, 0}, {0, 0, 1}, out.a.radius()), sphere_feature(at), 90 + v);
  }
}

}  // namespace

void detect_sphere_box(PairCollector& out) {
  add_ball(out, sphere_feature({0, 0, 0}, out.a.radius()), out.a_in_b({0, 0, 0}), 0);
}

void detect_capsule_box(PairCollector& out) {
  const Vector p = out.a_in_b(out.a.end(0)), q = out.a_in_b(out.a.end(1)), u = q - p, half = out.b.half();
  const Vector ends[] = {p, q};
  if (out.a.half_length() > 0 && crosses(p, u, half)) {  // deep: out through the face that is nearest for both ends
    int nearest = 0, side = 1;
    double depth = HUGE_VAL;
    for (int k = 0; k < 3; ++k)
      for (int s = -1; s <= 1; s += 2) {
        const double d = component(half, k) - std::min(s * component(p, k), s * component(q, k));
        if (d < depth) depth = d, nearest = k, side = s;
      }
    BoxRegion face;
    face.side[nearest] = side;
    for (int k = 0; k < 2; ++k)
      out.add(sphere_feature(out.a.end(k), out.a.radius()), box_feature(face, half), 27 * k + face.id());
    return;
  }
  for (int k = 0; k < 2; ++k) add_ball(out, sphere_feature(out.a.end(k), out.a.radius()), ends[k], 27 * k);
  if (!(out.a.half_length() > 0)) return;
  add_edges(out, p, u);
  add_corners(out, p, u);
}

}  // namespace symplectree
