#include "collision/detect.hpp"

#include <utility>

#include "collision/pair_collector.hpp"

namespace symplectree {
namespace {

// Kinds in their order.
void detect_ordered(PairCollector& out) {
  using enum ShapeKind;
  const ShapeKind a = out.a.kind, b = out.b.kind;
  const auto ellipsoid = [](const CollisionShape& shape) {
    return ellipsoid_feature({0, 0, 0}, Mat3<double>::identity(), shape.size);
  };
  if (b == Plane) return detect_on_plane(out);
  if (a == Sphere && b != Mesh) {
    const Feature ball = sphere_feature({0, 0, 0}, out.a.radius());
    switch (b) {
      case Sphere: out.add(ball, sphere_feature({0, 0, 0}, out.b.radius()), 0); return;
      case Capsule: return detect_sphere_capsule(out);
      case Cylinder: return detect_sphere_cylinder(out);
      case Box: return detect_sphere_box(out);
      default: out.add(ball, ellipsoid(out.b), 0); return;
    }
  }
  if (a == Capsule && b == Capsule) return detect_capsule_capsule(out);
  if (a == Capsule && b == Box) return detect_capsule_box(out);
  if (a == Capsule && b == Ellipsoid) return detect_capsule_ellipsoid(out);
  if (a == Box && b == Box) return detect_box_box(out);
  if (a == Ellipsoid && b == Ellipsoid) {
    out.add(ellipsoid(out.a), ellipsoid(out.b), 0);
    return;
  }
  detect_convex(out);
}

}  // namespace

void detect(const CollisionShape& a, const BodyPose<double>& body_a, const CollisionShape& b,
            const BodyPose<double>& body_b, double margin, FeaturePairs& out) {
  if (a.kind <= b.kind) {
    PairCollector collector(a, body_a, b, body_b, margin, out);
    return detect_ordered(collector);
  }
  PairCollector collector(b, body_b, a, body_a, margin, out);
  detect_ordered(collector);
  for (int k = 0; k < out.count; ++k) {
    FeaturePair& pair = out.pairs[k];
    std::swap(pair.a, pair.b);
    pair.gap = swapped(pair.gap);
  }
}

}  // namespace symplectree
