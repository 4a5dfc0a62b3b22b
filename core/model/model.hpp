// The frozen model as the core uses it.
//
// The core chooses its own body axes, so that every axis of a one-coordinate joint is the body's z: then a rotation
// costs two columns, and the axis in the world is a column of R. A body's reference point is its centre of mass.
// Body 0 is the world.
//
// Masses, lengths and strengths are of type R: plain numbers in `Model`, numbers that carry derivatives where a step is
// differentiated in them (parameter_sensitivity.hpp). Directions are plain always.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "formula/pose_formula.hpp"
#include "formula/tape.hpp"
#include "spatial/vec3.hpp"

namespace symplectree {

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
struct JointSpringOf {
  int q, v;
  R stiffness, rest;
  int owner;
};
using JointSpring = JointSpringOf<double>;

template <class R>
struct JointDamperOf {
  int v;
  R damping;
  int owner;
};
using JointDamper = JointDamperOf<double>;

template <class R>
struct JointForceOf {
  int v;
  R value;
  int input, owner;
};
using JointForce = JointForceOf<double>;

// A point fixed in a body: from its centre, in its axes.
template <class R>
struct PointOf {
  int body;
  Vec3<R> at;
};
using Point = PointOf<double>;

template <class R>
struct LineOf {
  PointOf<R> a, b;
  int function;  // -1: linear spring
  R stiffness, length, damping;
  int owner;
};
using Line = LineOf<double>;

template <class R>
struct WrenchOf {
  PointOf<R> point;
  Mat3<double> axes;  // the frame's axes in the body's
  bool world_axes;
  R value[6];
  int input[6];
  int owner;
};
using Wrench = WrenchOf<double>;

// Rows h(q) = 0 of holonomic constraints, as in symplectree/elements/constraint.py; `row` is each one's number.
template <class R>
struct PointRowOf {  // n · (x_b − x_a), n fixed in `body`
  PointOf<R> a, b;
  int body;
  Vec3<double> n;
  int row;
};
using PointRow = PointRowOf<double>;

struct AngleRow {  // u · w, u fixed in body a and w in body b
  int a;
  Vec3<double> u;
  int b;
  Vec3<double> w;
  int row;
};

template <class R>
struct DistanceRowOf {  // |x_b − x_a| − length − q
  PointOf<R> a, b;
  R length;
  int q, v;  // -1: no coordinate
  int row;
};
using DistanceRow = DistanceRowOf<double>;

template <class R>
struct CoordinateRowOf {  // c1 q1 (or c1 φ(q1)) + c2 q2 − constant
  int q1, v1;
  R c1;
  int q2, v2;
  R c2;
  int function;  // -1: none
  R constant;
  int row;
};
using CoordinateRow = CoordinateRowOf<double>;

// φ(ℓ) and its first three derivatives, by a tape or by piecewise cubics.
struct Potential {
  Tape tape;
  std::vector<double> breaks, coefficients;

  void evaluate(double length, double out[4]) const;
};

// An element of the user's own: functions of Python, or formulas. `evaluate`, or the tape of that order, which has the
// same results in a row, gives value and derivatives up to `order`:
// potential: V, gradient (k), Hessian (k × k); force: f (k), ∂f/∂q and ∂f/∂v (k × k); constraint: h (rows), Dh, and of
// formulas D²h(v, v) (rows). A formula's tapes take (q, v).
// A nonholonomic constraint P(q) v = 0 has h = 0, Dh = P, and d(P)/dt v in place of D²h(v, v). Of a step from q to q'
// it asks that P(q_m) (q' − q) = 0 with q_m half-way; `step` takes (q_m, q' − q) and gives that and its derivative in
// q'.
struct UserElement {
  enum Kind { Potential, Force, Constraint } kind;
  std::vector<int> q, v;  // places of its coordinates
  int first_row, rows, owner;
  std::vector<Tape> tapes;  // of orders 0, 1, 2; none of functions of Python
  Tape step;                // of nonholonomic constraints only
  std::function<void(int order, const double* q, const double* v, double* value, double* first, double* second)>
      evaluate;
  int size() const { return static_cast<int>(v.size()); }
};

// What no mass or length changes.
struct ModelStructure {
  int nq = 0, nv = 0, inputs = 0;
  std::vector<int> body_of;      // body of each velocity
  std::vector<int> quaternions;  // bodies with a Ball or Free joint
  std::vector<int> formula_bodies;
  std::vector<std::shared_ptr<PoseFormula>> formulas;
  double ground_energy = 0;
  std::vector<Potential> potentials;
  std::vector<AngleRow> angle_rows;
  std::vector<UserElement> users;
  bool user_forces = false;  // is any of these a force?
  int rows = 0;              // of constraints
};

template <class R>
struct ModelOf : ModelStructure {
  std::vector<BodyOf<R>> bodies;  // [0] is the world
  std::vector<R> armature;        // of each velocity
  Vec3<R> gravity;
  std::vector<JointSpringOf<R>> joint_springs;
  std::vector<JointDamperOf<R>> joint_dampers;
  std::vector<JointForceOf<R>> joint_forces;
  std::vector<LineOf<R>> lines;
  std::vector<WrenchOf<R>> wrenches;
  std::vector<PointRowOf<R>> point_rows;
  std::vector<DistanceRowOf<R>> distance_rows;
  std::vector<CoordinateRowOf<R>> coordinate_rows;

  int size() const { return static_cast<int>(bodies.size()); }
  bool has_lines_or_wrenches() const { return !lines.empty() || !wrenches.empty(); }
};
using Model = ModelOf<double>;

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

inline void Potential::evaluate(double length, double out[4]) const {
  if (!tape.code.empty()) {
    thread_local std::vector<double> work;
    if (work.size() < static_cast<std::size_t>(tape.work_size)) work.resize(tape.work_size);
    tape.run(&length, out, work.data());
    return;
  }
  const int pieces = static_cast<int>(breaks.size()) - 1;
  int low = 0, high = pieces - 1;
  while (low < high) {
    const int middle = (low + high + 1) / 2;
    if (breaks[middle] <= length) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  const double* c = &coefficients[4 * low];
  // Beyond the ends the function goes on with the end's value, slope and curvature.
  const double inside = length < breaks.front() ? breaks.front() : length > breaks.back() ? breaks.back() : length;
  const double x = inside - breaks[low], beyond = length - inside;
  out[3] = beyond == 0 ? 6 * c[0] : 0;
  out[2] = 6 * c[0] * x + 2 * c[1];
  out[1] = (3 * c[0] * x + 2 * c[1]) * x + c[2];
  out[0] = ((c[0] * x + c[1]) * x + c[2]) * x + c[3];
  out[0] += (out[1] + 0.5 * out[2] * beyond) * beyond;
  out[1] += out[2] * beyond;
}

}  // namespace symplectree
