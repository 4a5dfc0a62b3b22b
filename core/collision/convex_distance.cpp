#include "collision/convex_distance.hpp"

#include <algorithm>
#include <array>

namespace symplectree {
namespace {

using Vector = Vec3<double>;

// A point of the difference of the shapes, w = a − b.
struct Vertex {
  Vector a, b, w;
};

// The difference of two shapes, seen from the origin of a, and rounded by a radius.
struct Difference {
  const CollisionShape &a, &b;
  const BodyPose<double>&pose_a, &pose_b;
  double radius = 0;

  Vertex farthest_along(const Vector& d) const {
    Vector x_a = pose_a.R * farthest(a, transposed_times(pose_a.R, d));
    if (radius > 0) x_a += radius * direction_or(d, {0, 0, 1}).unit;
    const Vector x_b = pose_b.x - pose_a.x + pose_b.R * farthest(b, -transposed_times(pose_b.R, d));
    return {x_a, x_b, x_a - x_b};
  }
};

// Up to four vertices, and the weights of the point of their hull that is nearest to the origin.
struct Simplex {
  std::array<Vertex, 4> vertices;
  std::array<double, 4> weights{1, 0, 0, 0};
  int count = 0;

  Vector mean(Vector Vertex::* part) const {
    Vector out;
    for (int k = 0; k < count; ++k) out += weights[k] * (vertices[k].*part);
    return out;
  }
};

// Weights of the origin's foot on the hull of the vertices `which`, all positive; false where there are none.
bool foot(const Simplex& s, const int* which, int n, double* weights) {
  const auto w = [&](int k) -> const Vector& { return s.vertices[which[k]].w; };
  switch (n) {
    case 1: weights[0] = 1; return true;
    case 2: {
      const Vector d = w(1) - w(0);
      const double dd = dot(d, d), t = -dot(w(0), d);
      if (!(t > 0 && t < dd)) return false;
      weights[1] = t / dd, weights[0] = 1 - weights[1];
      return true;
    }
    case 3: {
      const Vector m = cross(w(1) - w(0), w(2) - w(0));
      const double p = dot(m, cross(w(1), w(2))), q = dot(m, cross(w(2), w(0))), r = dot(m, cross(w(0), w(1)));
      if (!(p > 0 && q > 0 && r > 0)) return false;
      const double sum = p + q + r;  // |m|², but for rounding
      weights[0] = p / sum, weights[1] = q / sum, weights[2] = r / sum;
      return true;
    }
    default: {
      const auto volume = [](const Vector& a, const Vector& b, const Vector& c) { return dot(a, cross(b, c)); };
      const double p = volume(w(1), w(2), w(3)), q = -volume(w(0), w(2), w(3)), r = volume(w(0), w(1), w(3)),
                   t = -volume(w(0), w(1), w(2)), sum = p + q + r + t;
      if (!((p > 0 && q > 0 && r > 0 && t > 0) || (p < 0 && q < 0 && r < 0 && t < 0))) return false;
      weights[0] = p / sum, weights[1] = q / sum, weights[2] = r / sum, weights[3] = t / sum;
      return true;
    }
  }
}

// Keeps the part of the simplex that holds the point nearest to the origin; the newest vertex is the last.
void reduce(Simplex& s) {
  double best = HUGE_VAL;
  Simplex kept;
  for (int mask = 1 << (s.count - 1); mask < 1 << s.count; ++mask) {  // the newest is part of it
    int which[4], n = 0;
    for (int k = 0; k < s.count; ++k)
      if (mask >> k & 1) which[n++] = k;
    double weights[4];
    if (!foot(s, which, n, weights)) continue;
    Vector v;
    for (int k = 0; k < n; ++k) v += weights[k] * s.vertices[which[k]].w;
    const double distance2 = n == 4 ? 0 : dot(v, v);
    if (distance2 >= best) continue;
    best = distance2;
    kept.count = n;
    for (int k = 0; k < n; ++k) kept.vertices[k] = s.vertices[which[k]], kept.weights[k] = weights[k];
  }
  s = kept;
}

// The nearest simplex of the difference; four vertices where it holds the origin. It is given up where the distance is
// known to be larger than `beyond`.
Simplex nearest_simplex(const Difference& difference, double size, double beyond, double accuracy) {
  Simplex s;
  s.vertices[s.count++] = difference.farthest_along(difference.pose_b.x - difference.pose_a.x);
  Vector v = s.vertices[0].w;
  double vv = dot(v, v), bound = 0;  // below which the square of the distance cannot be
  for (int k = 0; k < 200; ++k) {
    if (vv < 1e-28 * size * size) break;
    const Vertex next = difference.farthest_along(-v);
    const double vw = dot(v, next.w);
    if (vv - vw <= 1e-14 * vv || (vw > 0 && vv - vw <= accuracy * std::sqrt(vv))) break;
    if (vw > 0 && vw * vw > beyond * beyond * vv) break;
    if (vw > 0) bound = std::fmax(bound, vw * vw / vv);
    const auto known = [&next](const Vertex& vertex) {
      const Vector d = vertex.w - next.w;
      return dot(d, d) == 0;
    };
    if (std::any_of(s.vertices.begin(), s.vertices.begin() + s.count, known)) break;
    Simplex larger = s;
    larger.vertices[larger.count++] = next;
    reduce(larger);
    if (larger.count == 4) return larger;
    const Vector w = larger.mean(&Vertex::w);
    const double ww = dot(w, w);
    if (!(ww < vv) || ww < bound * (1 - 1e-12)) break;  // what is left is rounding
    s = larger, v = w, vv = ww;
  }
  return s;
}

class Polytope {
 public:
  Polytope(const Difference& difference, double size, double accuracy)
      : difference_(difference), size_(size), accuracy_(accuracy) {}

  // Grows from a simplex round the origin, or one that has it on its surface; returns the nearest face's gap.
  Gap<double> grow(const Simplex& start) {
    for (int k = 0; k < start.count; ++k) vertices_[count_++] = start.vertices[k];
    if (!enclose()) return degenerate();
    const int corners[4][3] = {{0, 1, 2}, {0, 3, 1}, {0, 2, 3}, {1, 3, 2}};
    for (const auto& c : corners) add_face(c[0], c[1], c[2]);
    Gap<double> best;
    for (double least = -HUGE_VAL;;) {
      const auto nearer = [](const Face& f, const Face& g) { return f.distance < g.distance; };
      const Face face = *std::min_element(faces_.begin(), faces_.begin() + face_count_, nearer);
      // The nearest face can only move outward; where it does not, faces have become too small for rounding.
      if (face.distance < least - 1e-12 * size_) return best;
      least = face.distance, best = gap_of(face);
      if (count_ == kVertices) return best;
      const Vertex next = difference_.farthest_along(face.normal);
      if (dot(next.w, face.normal) - face.distance < accuracy_) return best;
      vertices_[count_++] = next;
      if (!replace_visible(next.w)) return best;
    }
  }

 private:
  static constexpr int kVertices = 128, kFaces = 2 * kVertices;
  struct Face {
    int a, b, c;
    Vector normal;
    double distance;
  };
  const Difference& difference_;
  const double size_, accuracy_;
  std::array<Vertex, kVertices> vertices_;
  std::array<Face, kFaces> faces_;
  std::array<std::pair<int, int>, 3 * kFaces> edges_;
  int count_ = 0, face_count_ = 0;

  // Adds vertices until there are four that are not flat.
  bool enclose() {
    const double flat = 1e-10 * size_;
    const Vector axes[] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    if (count_ == 1)
      for (int k = 0; k < 6 && count_ == 1; ++k) {
        const Vertex next = difference_.farthest_along((k % 2 ? -1.0 : 1.0) * axes[k / 2]);
        const Vector d = next.w - vertices_[0].w;
        if (dot(d, d) > flat * flat) vertices_[count_++] = next;
      }
    if (count_ == 2) {
      const Vector d = direction_or(vertices_[1].w - vertices_[0].w, axes[2]).unit, u = across(d), w = cross(d, u);
      const Vector ways[] = {u, -u, w, -w};
      for (int k = 0; k < 4 && count_ == 2; ++k) {
        const Vertex next = difference_.farthest_along(ways[k]);
        const Vector m = cross(next.w - vertices_[0].w, d);
        if (dot(m, m) > flat * flat) vertices_[count_++] = next;
      }
    }
    if (count_ == 3) {
      const Vector m = cross(vertices_[1].w - vertices_[0].w, vertices_[2].w - vertices_[0].w);
      const Vector n = direction_or(m, axes[2]).unit;
      for (int k = 0; k < 2 && count_ == 3; ++k) {
        const Vertex next = difference_.farthest_along(k ? -n : n);
        if (std::fabs(dot(n, next.w - vertices_[0].w)) > flat) vertices_[count_++] = next;
      }
    }
    if (count_ < 4) return false;
    const Vector d = vertices_[3].w - vertices_[0].w;
    const Vector m = cross(vertices_[1].w - vertices_[0].w, vertices_[2].w - vertices_[0].w);
    if (dot(m, d) > 0) std::swap(vertices_[1], vertices_[2]);  // so that the face 0, 1, 2 looks outward
    return true;
  }

  bool add_face(int a, int b, int c) {
    if (face_count_ == kFaces) return false;
    const Vector m = cross(vertices_[b].w - vertices_[a].w, vertices_[c].w - vertices_[a].w);
    const double length = std::sqrt(dot(m, m));
    if (!(length > 1e-18 * size_ * size_)) return false;
    const Vector n = (1 / length) * m;
    faces_[face_count_++] = {a, b, c, n, dot(n, vertices_[a].w)};
    return true;
  }

  // Takes out the faces that see the newest vertex, and joins it to the edge of the hole; false where rounding prevents
  // it.
  bool replace_visible(const Vector& w) {
    int edge_count = 0, kept = 0;
    for (int f = 0; f < face_count_; ++f) {
      const Face& face = faces_[f];
      if (dot(face.normal, w) - face.distance <= 1e-14 * size_) {
        faces_[kept++] = face;
        continue;
      }
      for (const auto& [p, q] : {std::pair(face.a, face.b), std::pair(face.b, face.c), std::pair(face.c, face.a)}) {
        const auto twin = std::find(edges_.begin(), edges_.begin() + edge_count, std::pair(q, p));
        if (twin != edges_.begin() + edge_count)
          *twin = edges_[--edge_count];
        else
          edges_[edge_count++] = {p, q};
      }
    }
    face_count_ = kept;
    for (int e = 0; e < edge_count; ++e)
      if (!add_face(edges_[e].first, edges_[e].second, count_ - 1)) return false;
    return edge_count > 2;
  }

  Gap<double> gap_of(const Face& face) const {
    Simplex s;
    s.count = 3;
    s.vertices[0] = vertices_[face.a], s.vertices[1] = vertices_[face.b], s.vertices[2] = vertices_[face.c];
    for (Vertex& v : s.vertices) v.w = v.w - face.distance * face.normal;  // the foot of the origin is then the origin
    const int all[] = {0, 1, 2};
    if (!foot(s, all, 3, s.weights.data())) s.weights = {1.0 / 3, 1.0 / 3, 1.0 / 3, 0};
    const Vector x_a = s.mean(&Vertex::a);
    return {-face.distance, -face.normal, x_a, x_a - face.distance * face.normal};
  }

  // The difference is flat: shapes without extent that touch.
  Gap<double> degenerate() const { return {0, {0, 0, 1}, vertices_[0].a, vertices_[0].a}; }
};

}  // namespace

Vec3<double> farthest(const CollisionShape& shape, const Vec3<double>& d) {
  const auto end = [](double along, double length) { return along < 0 ? -length : length; };
  switch (shape.kind) {
    case ShapeKind::Capsule: return {0, 0, end(d.z, shape.half_length())};
    case ShapeKind::Cylinder: {
      const double rho = std::hypot(d.x, d.y), scale = rho > 0 ? shape.radius() / rho : 0;
      return {scale * d.x, scale * d.y, end(d.z, shape.half_length())};
    }
    case ShapeKind::Box: {
      const Vec3<double> h = shape.half();
      return {end(d.x, h.x), end(d.y, h.y), end(d.z, h.z)};
    }
    case ShapeKind::Ellipsoid: {
      const Vec3<double>& r = shape.size;
      const Vec3<double> Ad{r.x * r.x * d.x, r.y * r.y * d.y, r.z * r.z * d.z};
      const double reach = std::sqrt(dot(d, Ad));
      return reach > 0 ? (1 / reach) * Ad : Vec3<double>{r.x, 0, 0};
    }
    case ShapeKind::Mesh: {
      const std::vector<Vec3<double>>& all = shape.mesh->vertices;
      std::size_t best = 0;
      double most = -HUGE_VAL;
      for (std::size_t k = 0; k < all.size(); ++k)
        if (const double reach = dot(all[k], d); reach > most) most = reach, best = k;
      return all[best];
    }
    default: return {};
  }
}

Gap<double> convex_gap(const CollisionShape& a, const BodyPose<double>& pose_a, const CollisionShape& b,
                       const BodyPose<double>& pose_b, const ConvexSearch& search) {
  const Difference difference{a, b, pose_a, pose_b};
  const double r_a = rounding(a), r_b = rounding(b), accuracy = search.accuracy * search.size;
  const Simplex s = nearest_simplex(difference, search.size, std::fmax(search.beyond, 0) + r_a + r_b, accuracy);
  const Vector v = s.mean(&Vertex::w);
  const double distance = std::sqrt(dot(v, v));
  Gap<double> out;
  if (s.count < 4 && distance > 1e-7 * search.size) {
    out = {distance, (1 / distance) * v, s.mean(&Vertex::a), s.mean(&Vertex::b)};
  } else {
    // Rounded a little, so that the origin is well inside also when the shapes just touch.
    const Difference rounded{a, b, pose_a, pose_b, 1e-6 * search.size};
    const Simplex inside = nearest_simplex(rounded, search.size, HUGE_VAL, 0);
    out = Polytope(rounded, search.size, std::fmax(accuracy, 1e-10 * search.size)).grow(inside);
    out.g += rounded.radius, out.x_a += rounded.radius * out.n;
  }
  out.g -= r_a + r_b;
  out.x_a = pose_a.x + out.x_a - r_a * out.n;
  out.x_b = pose_a.x + out.x_b + r_b * out.n;
  return out;
}

}  // namespace symplectree
