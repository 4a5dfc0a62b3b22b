// Bodies, and what is fixed in them: points, directions and axes.
//
// The core chooses its own body axes, so that every axis of a one-coordinate joint is the body's z: then a rotation
// costs two columns, and the axis in the world is a column of R. A body's reference point is its centre of mass.
// Body 0 is the world.
//
// Masses and lengths are of type R: plain numbers, or numbers that carry derivatives where a step is differentiated in
// them (parameter_sensitivity.hpp). Directions are plain always.
#pragma once

#include <cmath>
#include <vector>

#include "spatial/vec3.hpp"

namespace symplectree {

struct PoseFormula;

enum class Kind { Revolute, Prismatic, Screw, Ball, Free, Formula };

template <class R>
struct BodyOf {
  int parent = 0;
  Kind kind = Kind::Revolute;
  int q = 0, v = 0, nv = 0;  // where its coordinates begin, and how many velocities it has
  const PoseFormula* formula = nullptr;
  R mass{}, pitch{};
  Mat3<double> base_axes;  // the joint's base axes in the parent's axes
  Vec3<R> base_point;      // the joint's base origin from the parent's centre, in the parent's axes
  Vec3<R> centre;          // centre of mass from the joint's moving origin, in this body's axes
  Sym3<R> inertia;         // about the centre of mass, in this body's axes
  Mat3<double> axes;       // this body's axes in the axes of the user's link frame
  Vec3<R> link_centre;     // centre of mass in the user's link frame

  // Are its coordinates plain numbers, as many as velocities, or do they hold a quaternion?
  bool flat() const { return kind != Kind::Ball && kind != Kind::Free; }
  int nq() const { return flat() ? nv : nv + 1; }
};
using Body = BodyOf<double>;

template <class R>
using BodiesOf = std::vector<BodyOf<R>>;

// Where a body is: its axes and centre in the world, and the way from its parent's centre to its own.
template <class T>
struct BodyPose {
  Mat3<T> R;
  Vec3<T> x, r;
};

// A point fixed in a body: from its centre, in its axes.
template <class R>
struct PointOf {
  int body;
  Vec3<R> at;
};
using Point = PointOf<double>;

// A unit vector fixed in a body, in its axes.
struct Axis {
  int body;
  Vec3<double> along;
};

// A rotation whose third column is the unit vector `axis`.
inline Mat3<double> axes_with_z(const Vec3<double>& axis) {
  const double ax = std::fabs(axis.x), ay = std::fabs(axis.y), az = std::fabs(axis.z);
  // The letter axes keep exact zeros and ones.
  Vec3<double> first = ax >= ay && ax >= az ? Vec3<double>{0, 1, 0}
                       : ay >= az           ? Vec3<double>{0, 0, 1}
                                            : Vec3<double>{1, 0, 0};
  first -= dot(first, axis) * axis;
  first = (1 / std::sqrt(dot(first, first))) * first;
  return {first, cross(axis, first), axis};
}

// A vector of the user's link frame in the body's axes.
template <class R>
Vec3<R> in_body(const BodyOf<R>& b, const Vec3<R>& v) {
  return transposed_times(cast<R>(b.axes), v);
}

// From the user's link frames, where bodies are counted without the world (-1), to the core's axes and centres.

template <class R>
PointOf<R> placed(const BodiesOf<R>& bodies, const PointOf<R>& p) {
  const BodyOf<R>& b = bodies[p.body + 1];
  return {p.body + 1, in_body(b, p.at - b.link_centre)};
}

template <class R>
Axis placed(const BodiesOf<R>& bodies, const Axis& d) {
  return {d.body + 1, transposed_times(bodies[d.body + 1].axes, d.along)};
}

// Axes on `body`, which is counted without the world, too.
template <class R>
Mat3<double> placed(const BodiesOf<R>& bodies, int body, const Mat3<double>& axes) {
  return transposed(bodies[body + 1].axes) * axes;
}

}  // namespace symplectree
