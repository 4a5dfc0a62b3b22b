// Two boxes.
//
// The largest separation along the normals of faces and the products of edges (the separating axes) tells which
// features face each other: a face and what of the other box's face lies over it, or two edges. Boxes that are apart
// may be nearest at two corners, or at a corner and an edge, along no such axis; then all features are compared.
#include <algorithm>

#include "collision/box_features.hpp"
#include "collision/polygon_clip.hpp"

namespace symplectree {
namespace {

constexpr double kParallel = 0.2;  // sine below which two edges have no well-defined perpendicular
constexpr double kAlike = 0.995;   // cosine from which the normals of edges and faces are alike
constexpr double kSame = 1e-10;    // separations that differ by less (relative to the size) are the same
constexpr double kEdge = 1e-8;     // how far over an edge (relative) a corner still counts as inside
constexpr double kNear = 1e-3;     // corners of a contact area that are nearer (relative) are one

// ids: of areas below 4608, of two edges from 5000, of nearest points from 6000.
constexpr int kEdges = 5000, kPoints = 6000;

struct Boxes {
  PairCollector& out;
  Vector half_a = out.a.half(), half_b = out.b.half();
  Mat3<double> C = transposed(out.pose_a.R) * out.pose_b.R;  // axes of b in those of a
  Vector t = out.in_a(out.pose_b.x);                         // middle of b in the axes of a
  double size = norm1(half_a) + norm1(half_b);
};

struct FaceAxis {
  double separation = -HUGE_VAL;
  bool of_b = false;
  int axis = 0, side = 1;  // the face of that box
};

struct EdgeAxis {
  double separation = -HUGE_VAL;
  int i = 0, j = 0;  // along axis i of a, j of b
  Vector n;          // from b to a, in the axes of a
};

FaceAxis largest_face_separation(const Boxes& boxes) {
  FaceAxis best;
  const Vector back = -transposed_times(boxes.C, boxes.t);  // middle of a in the axes of b
  const Mat3<double> Ct = transposed(boxes.C);
  const auto look = [&best](bool of_b, const Vector& middle, const Vector& own, const Vector& other,
                            const Mat3<double>& turn) {
    const Vector reach = own +
                         std::fabs(other.x) * Vector{std::fabs(turn.a.x), std::fabs(turn.a.y), std::fabs(turn.a.z)} +
                         std::fabs(other.y) * Vector{std::fabs(turn.b.x), std::fabs(turn.b.y), std::fabs(turn.b.z)} +
                         std::fabs(other.z) * Vector{std::fabs(turn.c.x), std::fabs(turn.c.y), std::fabs(turn.c.z)};
    for (int k = 0; k < 3; ++k) {
      const double s = std::fabs(component(middle, k)) - component(reach, k);
      // Of faces that are as good, always the same: the first of a.
      if (s > best.separation + (of_b ? 1e-9 * norm1(own) : 0)) best = {s, of_b, k, component(middle, k) < 0 ? -1 : 1};
    }
  };
  look(false, boxes.t, boxes.half_a, boxes.half_b, boxes.C);
  look(true, back, boxes.half_b, boxes.half_a, Ct);
  return best;
}

EdgeAxis largest_edge_separation(const Boxes& boxes) {
  EdgeAxis best;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      const Vector m = cross(along_axis(i, 1), boxes.C.column(j));
      const double sine2 = dot(m, m);
      if (sine2 < 1e-10) continue;
      const Vector in_b = transposed_times(boxes.C, m);
      double reach = 0;
      for (int k = 0; k < 3; ++k)
        reach += component(boxes.half_a, k) * std::fabs(component(m, k)) +
                 component(boxes.half_b, k) * std::fabs(component(in_b, k));
      const double way = dot(boxes.t, m), scale = 1 / std::sqrt(sine2), s = (std::fabs(way) - reach) * scale;
      if (s > best.separation) best = {s, i, j, (way < 0 ? scale : -scale) * m};
    }
  return best;
}

// The contact area over a face of the reference box: corners of the other box's most opposite face, cut by the sides of
// the reference face, each as a point of the other box against the plane of the face.
void add_area(const Boxes& boxes, const FaceAxis& face) {
  PairCollector& out = boxes.out;
  const Vector &half = face.of_b ? boxes.half_b : boxes.half_a, &other_half = face.of_b ? boxes.half_a : boxes.half_b;
  const Mat3<double> turn = face.of_b ? transposed(boxes.C) : boxes.C;  // axes of the other in those of the reference
  const Vector middle = face.of_b ? -transposed_times(boxes.C, boxes.t) : boxes.t;
  const int k = face.axis, u = (k + 1) % 3, w = (k + 2) % 3;

  int j = 0;  // the axis of the opposite face
  for (int i = 1; i < 3; ++i)
    if (std::fabs(component(turn.column(i), k)) > std::fabs(component(turn.column(j), k)) + 1e-9) j = i;
  const int other_side = component(turn.column(j), k) * face.side > 0 ? -1 : 1;
  const int ju = (j + 1) % 3, jw = (j + 2) % 3;
  const double x[] = {1, -1, -1, 1}, y[] = {1, 1, -1, -1};
  Vector corner[4];  // in the other box's axes
  Polygon area;
  for (int i = 0; i < 4; ++i) {
    corner[i] = along_axis(j, other_side * component(other_half, j)) +
                along_axis(ju, x[i] * component(other_half, ju)) + along_axis(jw, y[i] * component(other_half, jw));
    const Vector at = middle + turn * corner[i];
    area.add({component(at, u), component(at, w), face.side * component(at, k), (i + 3) % 4, i});
  }
  const double slack = kEdge * boxes.size;
  area = cut(area, 1, 0, component(half, u), slack, 4);
  area = cut(area, -1, 0, component(half, u), slack, 5);
  area = cut(area, 0, 1, component(half, w), slack, 6);
  area = cut(area, 0, -1, component(half, w), slack, 7);
  std::sort(area.corners.begin(), area.corners.begin() + area.count,
            [](const PolygonCorner& p, const PolygonCorner& q) { return p.z < q.z; });

  BoxRegion region;
  region.side[k] = face.side;
  const Feature plane = box_feature(region, half);
  const int base = ((face.of_b ? 6 : 0) + 2 * k + (face.side > 0)) * 6 + 2 * j + (other_side > 0);
  for (int c = 0; c < area.count; ++c) {
    const PolygonCorner& p = area.corners[c];
    if (p.z - component(half, k) >= out.margin) break;
    const auto near = [&](const PolygonCorner& q) {
      return std::fabs(p.x - q.x) + std::fabs(p.y - q.y) < kNear * boxes.size;
    };
    if (std::any_of(area.corners.begin(), area.corners.begin() + c, near)) continue;
    Vector at = along_axis(u, p.x) + along_axis(w, p.y) + along_axis(k, face.side * p.z);
    at = p.before < 4 && p.after < 4 ? corner[p.after] : transposed_times(turn, at - middle);
    const int id = (base * 8 + p.before) * 8 + p.after;
    if (face.of_b)
      out.add(sphere_feature(at), plane, id);
    else
      out.add(plane, sphere_feature(at), id);
  }
}

// Two edges; the normal from b to a, in the axes of a.
void add_edges(const Boxes& boxes, const BoxRegion& edge_a, const BoxRegion& edge_b, const Vector& n, int id) {
  PairCollector& out = boxes.out;
  const int i = edge_a.free_axis(), j = edge_b.free_axis();
  const Vector d_a = along_axis(i, 1), d_b = boxes.C.column(j), m = cross(d_a, d_b);
  const double turn = dot(m, n) < 0 ? -1 : 1;
  const Feature a = line_feature(edge_a.point(boxes.half_a), d_a);
  const Feature b = line_feature(edge_b.point(boxes.half_b), along_axis(j, turn));
  const Gap<double> at = out.gap_of(a, b);
  if (dot(m, m) > kParallel * kParallel)
    out.add(a, b, id, at);
  else
    out.add_tangent(at.x_a, at.x_b, at.n, id);
}

bool within(double x, double half, double slack) { return std::fabs(x) <= half + slack; }

// The edges that are farthest along n, if the feet of their perpendicular lie on both.
bool add_supporting_edges(const Boxes& boxes, const EdgeAxis& axis) {
  BoxRegion edge_a, edge_b;
  const Vector in_b = transposed_times(boxes.C, axis.n);
  for (int k = 0; k < 3; ++k) {
    if (k != axis.i) edge_a.side[k] = component(axis.n, k) > 0 ? -1 : 1;
    if (k != axis.j) edge_b.side[k] = component(in_b, k) > 0 ? 1 : -1;
  }
  const Vector d_b = boxes.C.column(axis.j), d_a = along_axis(axis.i, 1), m = cross(d_a, d_b);
  const Vector p = edge_a.point(boxes.half_a), q = boxes.t + boxes.C * edge_b.point(boxes.half_b), r = p - q;
  const double mm = dot(m, m), slack = kEdge * boxes.size;
  const double s = -dot(cross(r, d_b), m) / mm, t = -dot(cross(r, d_a), m) / mm;
  if (!within(s, component(boxes.half_a, axis.i), slack) || !within(t, component(boxes.half_b, axis.j), slack))
    return false;
  add_edges(boxes, edge_a, edge_b, axis.n, kEdges + 27 * edge_a.id() + edge_b.id());
  return true;
}

// The nearest points of boxes that are apart, by comparing every corner with the other box and every two edges.
void add_nearest(const Boxes& boxes) {
  PairCollector& out = boxes.out;
  double best = HUGE_VAL;
  Vector x_a, x_b;  // in the axes of a
  int id = 0, edge_a = -1, edge_b = -1;
  const auto clamped = [](const Vector& x, const Vector& half) {
    return Vector{std::clamp(x.x, -half.x, half.x), std::clamp(x.y, -half.y, half.y), std::clamp(x.z, -half.z, half.z)};
  };
  for (int v = 0; v < 8; ++v) {
    const Vector a = box_corner(v).point(boxes.half_a), in_b = transposed_times(boxes.C, a - boxes.t);
    const Vector on_b = boxes.t + boxes.C * clamped(in_b, boxes.half_b);
    if (const double d = dot(a - on_b, a - on_b); d < best)
      best = d, x_a = a, x_b = on_b, id = v * 27 + box_region(in_b, boxes.half_b).id();
    const Vector b = boxes.t + boxes.C * box_corner(v).point(boxes.half_b), on_a = clamped(b, boxes.half_a);
    if (const double d = dot(b - on_a, b - on_a); d < best)
      best = d, x_a = on_a, x_b = b, id = (8 + v) * 27 + box_region(b, boxes.half_a).id();
  }
  // Edges that may be nearer than what was found: by how far they are from the other box along its axes.
  int edges_a[12], edges_b[12], count_a = 0, count_b = 0;
  const auto squared_bound = [](const Vector& middle, const Vector& reach, const Vector& half) {
    double way = 0;
    for (int k = 0; k < 3; ++k)
      way = std::fmax(way, std::fabs(component(middle, k)) - std::fabs(component(reach, k)) - component(half, k));
    return way * way;
  };
  for (int e = 0; e < 12; ++e) {
    const Vector a = transposed_times(boxes.C, box_edge(e).point(boxes.half_a) - boxes.t);
    const Vector along_a = transposed_times(boxes.C, along_axis(e / 4, component(boxes.half_a, e / 4)));
    if (squared_bound(a, along_a, boxes.half_b) < best) edges_a[count_a++] = e;
    const Vector b = boxes.t + boxes.C * box_edge(e).point(boxes.half_b);
    if (squared_bound(b, component(boxes.half_b, e / 4) * boxes.C.column(e / 4), boxes.half_a) < best)
      edges_b[count_b++] = e;
  }
  for (int i = 0; i < count_a; ++i)
    for (int j = 0; j < count_b; ++j) {
      const int e = edges_a[i], f = edges_b[j];
      const BoxRegion a = box_edge(e), b = box_edge(f);
      const double h = component(boxes.half_a, e / 4), l = component(boxes.half_b, f / 4);
      const Vector u = along_axis(e / 4, 2 * h), w = (2 * l) * boxes.C.column(f / 4);
      const Vector p = a.point(boxes.half_a) - 0.5 * u, q = boxes.t + boxes.C * b.point(boxes.half_b) - 0.5 * w;
      const SegmentPoints at = nearest_on_segments(p, u, q, w);
      if (!(at.s > 0 && at.s < 1 && at.t > 0 && at.t < 1)) continue;
      const Vector on_a = p + at.s * u, on_b = q + at.t * w;
      if (const double d = dot(on_a - on_b, on_a - on_b); d < best * (1 - 1e-12))
        best = d, x_a = on_a, x_b = on_b, edge_a = e, edge_b = f;
    }
  const Vector n = direction_or(x_a - x_b, {0, 0, 1}).unit;
  const auto world = [&out](const Vector& x) { return out.pose_a.x + out.pose_a.R * x; };
  if (edge_a >= 0) {
    const BoxRegion a = box_edge(edge_a), b = box_edge(edge_b);
    add_edges(boxes, a, b, n, kEdges + 27 * a.id() + b.id());
  } else {
    out.add_tangent(world(x_a), world(x_b), out.pose_a.R * n, kPoints + id);
  }
}

}  // namespace

void detect_box_box(PairCollector& out) {
  const Boxes boxes{out};
  const FaceAxis face = largest_face_separation(boxes);
  if (face.separation >= out.margin) return;
  const EdgeAxis edge = largest_edge_separation(boxes);
  if (edge.separation >= out.margin) return;
  const double same = kSame * boxes.size, separation = std::fmax(face.separation, edge.separation);
  const bool edges_lead = edge.separation > face.separation + same;
  // Edges that lead by a slight tilt alone may be those where the outlines of an area cross.
  const double alike = std::fabs(component(face.of_b ? transposed_times(boxes.C, edge.n) : edge.n, face.axis));
  if (!edges_lead || alike > kAlike) add_area(boxes, face);
  if (out.least() <= separation + same) return;
  if (edges_lead && add_supporting_edges(boxes, edge)) return;
  if (separation > 0)
    add_nearest(boxes);
  else
    add_area(boxes, face);
}

}  // namespace symplectree
