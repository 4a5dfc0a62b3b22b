#include "contact/unilateral.hpp"

#include <algorithm>
#include <cmath>

#include "collision/gap.hpp"
#include "kinematics/poses_twists.hpp"
#include "model/rows/joint_friction.hpp"
#include "model/rows/joint_limit.hpp"

namespace symplectree {
namespace {

using Source = Unilateral::Source;

constexpr double kOverlap = 1e-9;  // a gap below minus this is an overlap, not rounding [m or rad]
constexpr double kHeld = 1e-6;     // rate of a gap over the speed of what touches there: one that joints hold,
constexpr double kArm = 1e-12;     // and the same as an arm about a joint [m], where that is in the point itself

double gap_of(const JointLimit& limit, const double* q) { return limit.side * (q[limit.q] - limit.bound); }

std::vector<ConvexMesh> hulls(const Model& m) {
  std::vector<ConvexMesh> out;
  for (const HullVertex& vertex : m.hull_vertices) {
    out.resize(std::max<std::size_t>(out.size(), vertex.mesh + 1));
    out[vertex.mesh].vertices.push_back(vertex.at);
  }
  for (const HullFace& face : m.hull_faces) out[face.mesh].faces.push_back({face.a, face.b, face.c});
  return out;
}

std::vector<CollisionShape> shapes(const Model& m, const std::vector<ConvexMesh>& meshes) {
  std::vector<CollisionShape> out;
  for (const ShapeRow& row : m.collision_shapes) {
    CollisionShape shape;
    shape.kind = static_cast<ShapeKind>(row.kind);
    shape.size = {row.size[0], row.size[1], row.size[2]};
    shape.at = row.at.at, shape.axes = row.axes;
    if (row.mesh >= 0) shape.mesh = &meshes[row.mesh];
    out.push_back(shape);
  }
  return out;
}

std::vector<int> shape_bodies(const Model& m) {
  std::vector<int> out;
  for (const ShapeRow& row : m.collision_shapes) out.push_back(row.at.body);
  return out;
}

std::vector<ShapePair> shape_pairs(const Model& m) {
  std::vector<ShapePair> out;
  for (const ContactPair& pair : m.contact_pairs) out.push_back({pair.a, pair.b});
  return out;
}

}  // namespace

UnilateralRows::UnilateralRows(const Model& m)
    : m_(m), prescribed_(m.nv), meshes_(hulls(m)), broad_phase_(shapes(m, meshes_), shape_bodies(m), shape_pairs(m)) {}

void UnilateralRows::find(const double* q, const Workspace<double>& at, double margin, std::vector<Unilateral>& to) {
  const std::size_t before = to.size();
  find_all(q, at, margin, to);
  const auto held = [&](const Unilateral& u) {
    return u.source == Source::Contact ? !can_open(u, at) : prescribed_[m_.joint_limits[u.index].v] != 0;
  };
  to.erase(std::remove_if(to.begin() + before, to.end(), held), to.end());
}

// Without loops taken into account, and without other contacts.
bool UnilateralRows::can_open(const Unilateral& u, const Workspace<double>& at) const {
  const auto moves = [&](int body) {
    const Vec3<double> arm = u.point - at.pose[body].x;
    const Spatial<double> wrench{cross(arm, u.n), u.n};
    const double length = std::sqrt(dot(arm, arm));
    for (int j = m_.bodies[body].v; j < m_.bodies[body].v + m_.bodies[body].nv; ++j) {
      if (prescribed_[j]) continue;
      const Spatial<double>& S = at.S[j];
      const double turn = std::sqrt(dot(S.angular, S.angular)), slide = std::sqrt(dot(S.linear, S.linear));
      if (std::fabs(dot(S, wrench)) > kHeld * (turn * length + slide) + kArm * turn) return true;
    }
    return false;
  };
  auto [a, b] = bodies(u);
  while (a != b) {  // up to where both hang
    int& lower = a > b ? a : b;
    if (moves(lower)) return true;
    lower = m_.bodies[lower].parent;
  }
  return false;
}

void UnilateralRows::find_all(const double* q, const Workspace<double>& at, double margin,
                              std::vector<Unilateral>& to) {
  for (std::size_t k = 0; k < m_.joint_limits.size(); ++k) {
    if (gap_of(m_.joint_limits[k], q) >= margin) continue;
    to.push_back({Source::Limit, static_cast<int>(k)});
    hold(to.back(), q, at);
  }
  if (m_.contact_pairs.empty()) return;
  const std::vector<CollisionShape>& shapes = broad_phase_.shapes();
  for (const int k : broad_phase_.near(at.pose.data(), margin)) {
    const ContactPair& pair = m_.contact_pairs[k];
    const int a = m_.collision_shapes[pair.a].at.body, b = m_.collision_shapes[pair.b].at.body;
    detect(shapes[pair.a], at.pose[a], shapes[pair.b], at.pose[b], margin, found_);
    int order[FeaturePairs::capacity];  // by their ids, so that it stays as long as they touch
    for (int i = 0; i < found_.count; ++i) {
      int j = i;
      for (; j > 0 && found_.pairs[order[j - 1]].id > found_.pairs[i].id; --j) order[j] = order[j - 1];
      order[j] = i;
    }
    for (int i = 0; i < found_.count; ++i) {
      const FeaturePair& features = found_.pairs[order[i]];
      Unilateral u{Source::Contact, k};
      u.id = features.id, u.a = features.a, u.b = features.b;
      hold(u, q, at);
      to.push_back(u);
    }
  }
}

void UnilateralRows::add_frictions(std::vector<Unilateral>& to) const {
  for (std::size_t k = 0; k < m_.joint_frictions.size(); ++k) to.push_back({Source::Friction, static_cast<int>(k)});
}

void UnilateralRows::hold(Unilateral& u, const double* q, const Workspace<double>& at) const {
  if (u.source == Source::Friction) return;
  if (u.source == Source::Limit) {
    u.gap = gap_of(m_.joint_limits[u.index], q);
  } else {
    const ContactPair& pair = m_.contact_pairs[u.index];
    const BodyPose<double>& a = at.pose[m_.collision_shapes[pair.a].at.body];
    const BodyPose<double>& b = at.pose[m_.collision_shapes[pair.b].at.body];
    const Gap<double> gap = symplectree::gap(u.a, a, u.b, b);
    const Mat3<double> axes = axes_with_z(gap.n);
    u.gap = gap.g, u.point = gap.point(), u.n = gap.n, u.t1 = axes.a, u.t2 = axes.b;
    u.on_a = transposed_times(a.R, u.point - a.x), u.on_b = transposed_times(b.R, u.point - b.x);
  }
  u.allowed = u.gap < -kOverlap ? u.gap : 0;
}

ConeProblem::Part UnilateralRows::part(const Unilateral& u, double h) const {
  if (u.source == Source::Friction)
    return {ConeProblem::Kind::Friction, 0.5 * std::fabs(h) * m_.joint_frictions[u.index].force};
  if (rows(u) == 1) return {ConeProblem::Kind::Limit, 0};
  return {ConeProblem::Kind::Contact, friction(u)};
}

void UnilateralRows::value(const Unilateral& u, const Workspace<double>& from, const double* q1,
                           const Workspace<double>& at, const double* moved, double* y) const {
  if (u.source == Source::Friction) {
    y[0] = moved[m_.joint_frictions[u.index].v];
  } else if (u.source == Source::Limit) {
    y[0] = gap_of(m_.joint_limits[u.index], q1) - u.allowed;
  } else {
    const ContactPair& pair = m_.contact_pairs[u.index];
    const int i = m_.collision_shapes[pair.a].at.body, k = m_.collision_shapes[pair.b].at.body;
    const BodyPose<double>&a = at.pose[i], &b = at.pose[k], &a0 = from.pose[i], &b0 = from.pose[k];
    const Gap<double> end = symplectree::gap(u.a, a, u.b, b);
    y[0] = end.g - u.allowed;
    if (pair.friction == 0) return;
    const Vec3<double> point = end.point();
    const Vec3<double> first = (a.x + a.R * u.on_a) - (b.x + b.R * u.on_b);
    const Vec3<double> last =
        (b0.x + b0.R * transposed_times(b.R, point - b.x)) - (a0.x + a0.R * transposed_times(a.R, point - a.x));
    const Vec3<double> apart = 0.5 * (first + last);
    y[1] = dot(u.t1, apart), y[2] = dot(u.t2, apart);
  }
}

double UnilateralRows::noise(const Unilateral& u, const double* q1, const Workspace<double>& at) const {
  constexpr double rounding = 1e-15;
  if (u.source == Source::Friction) return rounding;
  if (u.source == Source::Limit) {
    const JointLimit& limit = m_.joint_limits[u.index];
    return rounding * (1 + std::fabs(q1[limit.q]) + std::fabs(limit.bound));
  }
  const ContactPair& pair = m_.contact_pairs[u.index];
  double size = 1 + norm1(u.point);
  for (const int shape : {pair.a, pair.b}) size += norm1(at.pose[m_.collision_shapes[shape].at.body].x);
  return rounding * size;
}

// J += sign · what a force f at x on a body does to each velocity.
void UnilateralRows::add_force(int body, const Vec3<double>& x, const Vec3<double>& f, double sign,
                               const Workspace<double>& at, double* J) const {
  if (body == 0) return;
  Spatial<double> wrench = sign * force_at(x, f, body, at);
  for (int i = body; i > 0; wrench = shift_force(wrench, at.pose[i].r), i = m_.bodies[i].parent)
    for (int j = m_.bodies[i].v; j < m_.bodies[i].v + m_.bodies[i].nv; ++j) J[j] += dot(at.S[j], wrench);
}

void UnilateralRows::jacobian(const Unilateral& u, const Workspace<double>& at, double* J) const {
  const int n = rows(u);
  std::fill(J, J + static_cast<std::size_t>(n) * m_.nv, 0.0);
  if (u.source == Source::Limit) {
    J[m_.joint_limits[u.index].v] = m_.joint_limits[u.index].side;
  } else if (u.source == Source::Friction) {
    J[m_.joint_frictions[u.index].v] = 1;
  } else {
    const ContactPair& pair = m_.contact_pairs[u.index];
    const Vec3<double>* axes[3] = {&u.n, &u.t1, &u.t2};
    for (int k = 0; k < n; ++k, J += m_.nv) {
      add_force(m_.collision_shapes[pair.a].at.body, u.point, *axes[k], 1, at, J);
      add_force(m_.collision_shapes[pair.b].at.body, u.point, *axes[k], -1, at, J);
    }
  }
}

std::pair<int, int> UnilateralRows::bodies(const Unilateral& u) const {
  if (u.source == Source::Contact) {
    const ContactPair& pair = m_.contact_pairs[u.index];
    return {m_.collision_shapes[pair.a].at.body, m_.collision_shapes[pair.b].at.body};
  }
  const int v = u.source == Source::Limit ? m_.joint_limits[u.index].v : m_.joint_frictions[u.index].v;
  int body = m_.size() - 1;
  while (!(m_.bodies[body].v <= v && v < m_.bodies[body].v + m_.bodies[body].nv)) --body;
  return {body, 0};
}

double UnilateralRows::restitution(const Unilateral& u) const {
  if (u.source == Source::Limit) return m_.joint_limits[u.index].restitution;
  return u.source == Source::Contact ? m_.contact_pairs[u.index].restitution : 0;
}

}  // namespace symplectree
