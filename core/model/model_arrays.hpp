// From the arrays of symplectree/mechanism/model.py and the rows of symplectree/elements/contract.py to the model as
// the core uses it: in the core's own axes, from centres of mass.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "model/model.hpp"
#include "scalar/dual.hpp"
#include "spatial/twist_wrench.hpp"

namespace symplectree {

// Arrays of numbers, as Python names them, and how many numbers a row has.
enum Array {
  kAxis,
  kPitch,
  kPlacement,
  kMass,
  kCom,
  kInertia,
  kArmature,
  kGravity,
  kJointSprings,
  kJointDampers,
  kJointForces,
  kLines,
  kWrenches,
  kPointRows,
  kAngleRows,
  kDistanceRows,
  kCoordinateRows,
  kArrays,
};

struct ArrayKind {
  const char* name;
  int width;
};

inline constexpr ArrayKind kArrayKinds[kArrays] = {
    {"axis", 3},
    {"pitch", 1},
    {"placement", 16},
    {"mass", 1},
    {"com", 3},
    {"inertia", 9},
    {"armature", 1},
    {"gravity", 3},
    {"joint_springs", 5},
    {"joint_dampers", 3},
    {"joint_forces", 4},
    {"lines", 13},
    {"wrenches", 27},
    {"point_rows", 14},
    {"angle_rows", 10},
    {"distance_rows", 13},
    {"coordinate_rows", 10},
};

template <class R>
struct ModelArrays {
  std::vector<std::int32_t> parent, kind;
  std::array<std::vector<R>, kArrays> numbers;

  const R* operator[](Array which) const { return numbers[which].data(); }

  // Call f with each row of an array.
  template <class F>
  void for_rows(Array which, F&& f) const {
    const std::vector<R>& all = numbers[which];
    for (std::size_t k = 0; k < all.size(); k += kArrayKinds[which].width) f(all.data() + k);
  }
};

template <class R>
Vec3<R> vector_at(const R* p) {
  return {p[0], p[1], p[2]};
}

template <class R>
Vec3<double> direction_at(const R* p) {
  return {value_of(p[0]), value_of(p[1]), value_of(p[2])};
}

// A rotation matrix from rows `stride` apart.
template <class R>
Mat3<double> rotation_at(const R* p, int stride) {
  return transposed(Mat3<double>{direction_at(p), direction_at(p + stride), direction_at(p + 2 * stride)});
}

template <class R>
int index_at(const R& x) {
  return static_cast<int>(value_of(x));
}

// A vector of the user's link frame in the body's axes.
template <class R>
Vec3<R> in_body(const BodyOf<R>& b, const Vec3<R>& v) {
  return transposed_times(cast<R>(b.axes), v);
}

// A point given in the user's link frame of a body (-1: the world), in the core's axes from the centre of mass.
template <class R>
PointOf<R> point_at(const ModelOf<R>& m, int body, const R* at) {
  const BodyOf<R>& b = m.bodies[body + 1];
  return {body + 1, in_body(b, vector_at(at) - b.link_centre)};
}

template <class R>
Mat3<double> axes_in_body(const ModelOf<R>& m, int body, const Mat3<double>& axes) {
  return transposed(m.bodies[body + 1].axes) * axes;
}

// Bodies, armature and gravity. The model's formulas must be there, in the order of bodies.
template <class R>
void set_bodies(ModelOf<R>& m, const ModelArrays<R>& from) {
  std::size_t formula = 0;
  int q = 0, v = 0;
  m.bodies.assign(1, {}), m.body_of.clear(), m.quaternions.clear();
  m.bodies[0].axes = Mat3<double>::identity();
  for (std::size_t i = 0; i < from.parent.size(); ++i) {
    BodyOf<R> b;
    b.parent = from.parent[i] + 1;
    b.kind = static_cast<Kind>(from.kind[i]);
    b.q = q, b.v = v;
    if (b.kind == Kind::Formula) b.formula = m.formulas[formula++].get();
    b.nv = b.formula ? b.formula->n : b.kind == Kind::Ball ? 3 : b.kind == Kind::Free ? 6 : 1;
    b.mass = from[kMass][i], b.pitch = from[kPitch][i];
    b.axes = b.flat() && !b.formula ? axes_with_z(direction_at(from[kAxis] + 3 * i)) : Mat3<double>::identity();
    b.link_centre = vector_at(from[kCom] + 3 * i);
    const BodyOf<R>& p = m.bodies[b.parent];
    const R* T = from[kPlacement] + 16 * i;
    b.base_axes = transposed(p.axes) * rotation_at(T, 4) * b.axes;
    b.base_point = in_body(p, Vec3<R>{T[3], T[7], T[11]} - p.link_centre);
    b.centre = in_body(b, b.link_centre);
    const R* J = from[kInertia] + 9 * i;
    b.inertia = rotated(cast<R>(transposed(b.axes)), Sym3<R>{J[0], J[4], J[8], J[1], J[2], J[5]});
    q += b.nq(), v += b.nv;
    for (int j = 0; j < b.nv; ++j) m.body_of.push_back(static_cast<int>(i) + 1);
    if (!b.flat()) m.quaternions.push_back(static_cast<int>(i) + 1);
    m.bodies.push_back(b);
  }
  m.nq = q, m.nv = v;
  m.armature = from.numbers[kArmature];
  m.gravity = vector_at(from[kGravity]);
}

template <class R>
void set_elements(ModelOf<R>& m, const ModelArrays<R>& from) {
  m.joint_springs.clear(), m.joint_dampers.clear(), m.joint_forces.clear(), m.lines.clear(), m.wrenches.clear();
  from.for_rows(kJointSprings, [&](const R* r) {
    m.joint_springs.push_back({index_at(r[0]), index_at(r[1]), r[2], r[3], index_at(r[4])});
  });
  from.for_rows(kJointDampers, [&](const R* r) { m.joint_dampers.push_back({index_at(r[0]), r[1], index_at(r[2])}); });
  from.for_rows(kJointForces,
                [&](const R* r) { m.joint_forces.push_back({index_at(r[0]), r[1], index_at(r[2]), index_at(r[3])}); });
  from.for_rows(kLines, [&](const R* r) {
    m.lines.push_back({point_at(m, index_at(r[0]), r + 1), point_at(m, index_at(r[4]), r + 5), index_at(r[8]), r[9],
                       r[10], r[11], index_at(r[12])});
  });
  from.for_rows(kWrenches, [&](const R* r) {
    WrenchOf<R> row{};
    row.point = point_at(m, index_at(r[0]), r + 1);
    row.axes = axes_in_body(m, index_at(r[0]), rotation_at(r + 4, 3));
    row.world_axes = value_of(r[13]) != 0;
    for (int k = 0; k < 6; ++k) row.value[k] = r[14 + k], row.input[k] = index_at(r[20 + k]);
    row.owner = index_at(r[26]);
    m.wrenches.push_back(row);
  });
}

template <class R>
void set_constraints(ModelOf<R>& m, const ModelArrays<R>& from) {
  const auto direction = [&m](int body, const R* n) {
    return transposed_times(m.bodies[body + 1].axes, direction_at(n));
  };
  m.point_rows.clear(), m.angle_rows.clear(), m.distance_rows.clear(), m.coordinate_rows.clear();
  from.for_rows(kPointRows, [&](const R* r) {
    const int body = index_at(r[8]);
    m.point_rows.push_back({point_at(m, index_at(r[0]), r + 1), point_at(m, index_at(r[4]), r + 5), body + 1,
                            direction(body, r + 9), index_at(r[12])});
  });
  from.for_rows(kAngleRows, [&](const R* r) {
    const int a = index_at(r[0]), b = index_at(r[4]);
    m.angle_rows.push_back({a + 1, direction(a, r + 1), b + 1, direction(b, r + 5), index_at(r[8])});
  });
  from.for_rows(kDistanceRows, [&](const R* r) {
    m.distance_rows.push_back({point_at(m, index_at(r[0]), r + 1), point_at(m, index_at(r[4]), r + 5), r[8],
                               index_at(r[9]), index_at(r[10]), index_at(r[11])});
  });
  from.for_rows(kCoordinateRows, [&](const R* r) {
    m.coordinate_rows.push_back({index_at(r[0]), index_at(r[1]), r[2], index_at(r[3]), index_at(r[4]), r[5],
                                 index_at(r[6]), r[7], index_at(r[8])});
  });
}

// All numbers of a model anew from its arrays; what they do not say stays as it is.
template <class R>
void set_numbers(ModelOf<R>& m, const ModelArrays<R>& from) {
  set_bodies(m, from);
  set_elements(m, from);
  set_constraints(m, from);
}

}  // namespace symplectree
