// Gaps and detection on arrays, for tests and benchmarks; the run calls the core directly.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include "bindings/native.hpp"
#include "collision/broad_phase.hpp"
#include "collision/detect.hpp"
#include "collision/gap.hpp"
#include "contact/unilateral.hpp"
#include "kinematics/poses_twists.hpp"
#include "model/rows/all_rows.hpp"

namespace symplectree {
namespace {

constexpr int kFeature = 16, kPair = 11 + 2 * kFeature;  // numbers of a feature, and of a pair

template <class T>
Mat3<T> rows_of(const double* p, int stride) {
  return {{T(p[0]), T(p[stride]), T(p[2 * stride])},
          {T(p[1]), T(p[stride + 1]), T(p[2 * stride + 1])},
          {T(p[2]), T(p[stride + 2]), T(p[2 * stride + 2])}};
}
Feature feature(const double* p) {
  return {FeatureKind(int(p[0])), {p[1], p[2], p[3]}, rows_of<double>(p + 4, 3), {p[13], p[14], p[15]}};
}
double* put(const Vec3<double>& v, double* out) {
  out[0] = v.x, out[1] = v.y, out[2] = v.z;
  return out + 3;
}
double* put(const Feature& f, double* out) {
  *out++ = int(f.kind);
  out = put(f.at, out);
  const Mat3<double> rows = transposed(f.axes);
  out = put(rows.a, out), out = put(rows.b, out), out = put(rows.c, out);
  return put(f.radii, out);
}

BodyPose<double> body_pose(const double* p) { return {rows_of<double>(p, 4), {p[3], p[7], p[11]}, {}}; }

// A pose moved by e times a twist in world axes about its origin, to second order.
template <class T>
BodyPose<T> moved(const double* p, const double* V, const T& e) {
  const Vec3<T> w{e * T(V[0]), e * T(V[1]), e * T(V[2])}, v{e * T(V[3]), e * T(V[4]), e * T(V[5])};
  const Mat3<T> R = rows_of<T>(p, 4);
  const auto turned = [&w](const Vec3<T>& c) {
    const Vec3<T> d = cross(w, c);
    return c + d + T(0.5) * cross(w, d);
  };
  return {{turned(R.a), turned(R.b), turned(R.c)}, Vec3<T>(T(p[3]), T(p[7]), T(p[11])) + v, {}};
}

template <class Value, class T>
double* put_gap(const Gap<T>& g, const Value& value, double* out) {
  *out++ = value(g.g);
  for (const Vec3<T>* v : {&g.n, &g.x_a, &g.x_b}) *out++ = value(v->x), *out++ = value(v->y), *out++ = value(v->z);
  return out;
}

// Rows g, n, x_a, x_b; their first and their second derivative along the twists.
void gaps(In features_a, In poses_a, In twists_a, In features_b, In poses_b, In twists_b, Out out) {
  for (std::size_t k = 0; k < out.size() / 30; ++k) {
    const Feature a = feature(features_a.data() + kFeature * k), b = feature(features_b.data() + kFeature * k);
    const double *p_a = poses_a.data() + 16 * k, *p_b = poses_b.data() + 16 * k;
    const double *V_a = twists_a.data() + 6 * k, *V_b = twists_b.data() + 6 * k;
    double* to = out.data() + 30 * k;
    to = put_gap(gap(a, body_pose(p_a), b, body_pose(p_b)), [](double x) { return x; }, to);
    const Dual e(0, 1);
    to = put_gap(gap(a, moved(p_a, V_a, e), b, moved(p_b, V_b, e)), [](const Dual& x) { return x.slope; }, to);
    const DualOf<Dual> ee({0, 1}, {1, 0});
    put_gap(
        gap(a, moved(p_a, V_a, ee), b, moved(p_b, V_b, ee)), [](const DualOf<Dual>& x) { return x.slope.slope; }, to);
  }
}

struct NativeShape {
  CollisionShape shape;
  ConvexMesh mesh;
};

void construct(NativeShape* self, int kind, const std::vector<double>& size, In pose, In vertices,
               const std::vector<std::vector<int>>& faces) {
  new (self) NativeShape();
  CollisionShape& s = self->shape;
  s.kind = ShapeKind(kind);
  for (std::size_t k = 0; k < size.size() && k < 3; ++k) s.size.lanes[k] = size[k];
  const BodyPose<double> at = body_pose(pose.data());
  s.at = at.x, s.axes = at.R;
  for (std::size_t k = 0; k < vertices.size() / 3; ++k) {
    const double* p = vertices.data() + 3 * k;
    self->mesh.vertices.push_back({p[0], p[1], p[2]});
  }
  for (const std::vector<int>& f : faces) self->mesh.faces.push_back({f.at(0), f.at(1), f.at(2)});
  s.mesh = &self->mesh;
}

// For each two poses the number of pairs, and of each pair its id, g, n, x_a, x_b and the two features.
void detect_rows(const NativeShape& a, In poses_a, const NativeShape& b, In poses_b, double margin, Out counts,
                 Out out) {
  FeaturePairs found;
  for (std::size_t k = 0; k < counts.size(); ++k) {
    detect(a.shape, body_pose(poses_a.data() + 16 * k), b.shape, body_pose(poses_b.data() + 16 * k), margin, found);
    counts.data()[k] = found.count;
    if (!out.size()) continue;
    double* to = out.data() + FeaturePairs::capacity * kPair * k;
    for (const FeaturePair& pair : found) {
      *to++ = pair.id;
      to = put_gap(pair.gap, [](double x) { return x; }, to);
      to = put(pair.b, put(pair.a, to));
    }
  }
}

// Shapes, each on a body of its own, and the pairs that may touch.
struct NativeBroadPhase {
  std::vector<NativeShape> shapes;
  std::vector<ShapePair> allowed;
  BroadPhase broad_phase;
  std::vector<BodyPose<double>> poses;

  NativeBroadPhase(const std::vector<const NativeShape*>& given, const std::vector<std::pair<int, int>>& pairs_given)
      : shapes(copies(given)), allowed(pairs(pairs_given)), broad_phase(plain(shapes), numbers(shapes.size()), allowed),
        poses(given.size()) {}

  std::vector<int> near(In at, double margin) {
    for (std::size_t k = 0; k < poses.size(); ++k) poses[k] = body_pose(at.data() + 16 * k);
    return broad_phase.near(poses.data(), margin);
  }

  static std::vector<NativeShape> copies(const std::vector<const NativeShape*>& given) {
    std::vector<NativeShape> out;
    for (const NativeShape* shape : given) out.push_back(*shape);
    for (NativeShape& shape : out) shape.shape.mesh = &shape.mesh;
    return out;
  }
  static std::vector<CollisionShape> plain(const std::vector<NativeShape>& shapes) {
    std::vector<CollisionShape> out;
    for (const NativeShape& shape : shapes) out.push_back(shape.shape);
    return out;
  }
  static std::vector<int> numbers(std::size_t n) {
    std::vector<int> out(n);
    for (std::size_t k = 0; k < n; ++k) out[k] = int(k);
    return out;
  }
  static std::vector<ShapePair> pairs(const std::vector<std::pair<int, int>>& allowed) {
    std::vector<ShapePair> out;
    for (const auto& [a, b] : allowed) out.push_back({a, b});
    return out;
  }
};

// Runs the broad phase and detection on all pairs that it leaves, `repeat` times; the number of contacts of the last.
int count_contacts(NativeBroadPhase& self, In at, double margin, int repeat) {
  FeaturePairs found;
  int count = 0;
  for (std::size_t k = 0; k < self.poses.size(); ++k) self.poses[k] = body_pose(at.data() + 16 * k);
  for (int r = 0; r < repeat; ++r) {
    count = 0;
    for (const int k : self.broad_phase.near(self.poses.data(), margin)) {
      const ShapePair& pair = self.allowed[k];
      detect(self.shapes[pair.a].shape, self.poses[pair.a], self.shapes[pair.b].shape, self.poses[pair.b], margin,
             found);
      count += found.count;
    }
  }
  return count;
}

// What is nearer than the margin at one configuration q of the tree: limits and contacts, each with the index of its
// row and its gap.
nb::tuple nearby(NativeModel& self, In q, double margin) {
  if (rows(q, self.model.nq) != 1) throw nb::value_error("wrong length");
  Workspace<double> at(self.model);
  compute_poses(self.model, q.data(), at);
  std::vector<Unilateral> found;
  UnilateralRows(self.model).find_all(q.data(), at, margin, found);
  nb::list limits, contacts;
  for (const Unilateral& u : found)
    (u.source == Unilateral::Source::Limit ? limits : contacts).append(nb::make_tuple(u.index, u.gap));
  return nb::make_tuple(limits, contacts);
}

}  // namespace

void bind_collision(nb::module_& module) {
  module.def("collision_gaps", &gaps);
  nb::class_<NativeShape>(module, "CollisionShape")
      .def("__init__", &construct, nb::kw_only(), nb::arg("kind"), nb::arg("size"), nb::arg("pose"),
           nb::arg("vertices"), nb::arg("faces"));
  module.def("collision_detect", &detect_rows);
  module.def("contacts_nearby", &nearby, nb::arg("model"), nb::arg("q"), nb::arg("margin"));
  nb::class_<NativeBroadPhase>(module, "BroadPhase")
      .def(nb::init<const std::vector<const NativeShape*>&, const std::vector<std::pair<int, int>>&>())
      .def("near", &NativeBroadPhase::near)
      .def("count_contacts", &count_contacts);
}

}  // namespace symplectree
