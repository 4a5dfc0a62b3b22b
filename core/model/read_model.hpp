// From the arrays of symplectree/mechanism/model.py and the rows of symplectree/elements/rows.py to the model as
// the core uses it: in the core's own axes, from centres of mass.
#pragma once

#include <iterator>
#include <vector>

#include "formula/pose_formula.hpp"
#include "model/model.hpp"
#include "model/model_arrays.hpp"
#include "model/rows/all_rows.hpp"

namespace symplectree {

// An array as Python names it, and how many numbers a row of it has.
struct ArrayKind {
  const char* name;
  int width;
};

inline constexpr ArrayKind kArrayKinds[] = {{"axis", 3},
                                            {"pitch", 1},
                                            {"placement", 16},
                                            {"mass", 1},
                                            {"com", 3},
                                            {"inertia", 9},
                                            {"armature", 1},
                                            {"gravity", 3},
#define SYMPLECTREE_ARRAY(Row, name) {#name, row_width<Row<double>>()},
                                            SYMPLECTREE_ROW_KINDS(SYMPLECTREE_ARRAY)
#undef SYMPLECTREE_ARRAY
};
static_assert(std::size(kArrayKinds) == kArrays);

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
    b.axes = b.flat() && !b.formula ? axes_with_z(vector_at<double>(from[kAxis] + 3 * i)) : Mat3<double>::identity();
    b.link_centre = vector_at<R>(from[kCom] + 3 * i);
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
  m.gravity = vector_at<R>(from[kGravity]);
}

// Rows of one kind.
template <class R, class Row>
void set_rows(const BodiesOf<R>& bodies, const std::vector<R>& from, std::vector<Row>& to) {
  to.clear();
  for (std::size_t k = 0; k < from.size(); k += row_width<Row>()) to.push_back(read_row<Row>(from.data() + k, bodies));
}

// All numbers of a model anew from its arrays; what they do not say stays as it is.
template <class R>
void set_numbers(ModelOf<R>& m, const ModelArrays<R>& from) {
  set_bodies(m, from);
  int array = kFirstRows;
#define SYMPLECTREE_SET(Row, name) set_rows(m.bodies, from.numbers[array++], m.name);
  SYMPLECTREE_ROW_KINDS(SYMPLECTREE_SET)
#undef SYMPLECTREE_SET
}

}  // namespace symplectree
