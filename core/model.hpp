// The frozen model as the core uses it.
//
// The core chooses its own body axes, so that every axis of a one-coordinate joint is the body's z: then a rotation
// costs two columns, and the axis in the world is a column of R. A body's reference point is its centre of mass.
// Body 0 is the world.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "formula.hpp"
#include "math.hpp"
#include "tape.hpp"

namespace symplectree {

enum class Kind { Revolute, Prismatic, Screw, Ball, Free, Formula };

struct Body {
  int parent = 0;
  Kind kind = Kind::Revolute;
  int q = 0, v = 0, nv = 0;  // where its coordinates begin, and how many velocities it has
  const PoseFormula* formula = nullptr;
  double mass = 0, pitch = 0;
  Mat3<double> base_axes;    // the joint's base axes in the parent's axes
  Vec3<double> base_point;   // the joint's base origin from the parent's centre, in the parent's axes
  Vec3<double> centre;       // centre of mass from the joint's moving origin, in this body's axes
  Sym3<double> inertia;      // about the centre of mass, in this body's axes
  Mat3<double> axes;         // this body's axes in the axes of the user's link frame
  Vec3<double> link_centre;  // centre of mass in the user's link frame

  // Are its coordinates plain numbers, as many as velocities, or do they hold a quaternion?
  bool flat() const { return kind != Kind::Ball && kind != Kind::Free; }
  int nq() const { return flat() ? nv : nv + 1; }
};

struct JointSpring {
  int q, v;
  double stiffness, rest;
  int owner;
};

struct JointDamper {
  int v;
  double damping;
  int owner;
};

struct JointForce {
  int v;
  double value;
  int input, owner;
};

// A point fixed in a body: from its centre, in its axes.
struct Point {
  int body;
  Vec3<double> at;
};

struct Line {
  Point a, b;
  int function;  // -1: linear spring
  double stiffness, length, damping;
  int owner;
};

struct Wrench {
  Point point;
  Mat3<double> axes;  // the frame's axes in the body's
  bool world_axes;
  double value[6];
  int input[6];
  int owner;
};

// Rows h(q) = 0 of holonomic constraints, as in symplectree/elements/constraint.py; `row` is each one's number.
struct PointRow {  // n · (x_b − x_a), n fixed in `body`
  Point a, b;
  int body;
  Vec3<double> n;
  int row;
};

struct AngleRow {  // u · w, u fixed in body a and w in body b
  int a;
  Vec3<double> u;
  int b;
  Vec3<double> w;
  int row;
};

struct DistanceRow {  // |x_b − x_a| − length − q
  Point a, b;
  double length;
  int q, v;  // -1: no coordinate
  int row;
};

struct CoordinateRow {  // c1 q1 (or c1 φ(q1)) + c2 q2 − constant
  int q1, v1;
  double c1;
  int q2, v2;
  double c2;
  int function;  // -1: none
  double constant;
  int row;
};

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

struct Model {
  int nq = 0, nv = 0, inputs = 0;
  std::vector<Body> bodies;      // [0] is the world
  std::vector<double> armature;  // of each velocity
  std::vector<int> body_of;      // body of each velocity
  std::vector<int> quaternions;  // bodies with a Ball or Free joint
  std::vector<int> formula_bodies;
  std::vector<std::unique_ptr<PoseFormula>> formulas;
  Vec3<double> gravity;
  double ground_energy = 0;
  std::vector<JointSpring> joint_springs;
  std::vector<JointDamper> joint_dampers;
  std::vector<JointForce> joint_forces;
  std::vector<Line> lines;
  std::vector<Wrench> wrenches;
  std::vector<Potential> potentials;
  std::vector<PointRow> point_rows;
  std::vector<AngleRow> angle_rows;
  std::vector<DistanceRow> distance_rows;
  std::vector<CoordinateRow> coordinate_rows;
  std::vector<UserElement> users;
  bool user_forces = false;  // is any of these a force?
  int rows = 0;              // of constraints

  int size() const { return static_cast<int>(bodies.size()); }
  bool has_lines_or_wrenches() const { return !lines.empty() || !wrenches.empty(); }
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
