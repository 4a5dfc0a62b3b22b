// All kinds of rows: to add one, write its header and its line here, and its class in symplectree/elements/rows.py.
#pragma once

#include "model/rows/angle_row.hpp"
#include "model/rows/coordinate_row.hpp"
#include "model/rows/distance_row.hpp"
#include "model/rows/joint_damper.hpp"
#include "model/rows/joint_force.hpp"
#include "model/rows/joint_spring.hpp"
#include "model/rows/line.hpp"
#include "model/rows/point_row.hpp"
#include "model/rows/wrench.hpp"

// Struct, and name of the array of its rows, which is also the member of RowsOf.
#define SYMPLECTREE_ELEMENT_KINDS(KIND) \
  KIND(JointSpringOf, joint_springs)    \
  KIND(JointDamperOf, joint_dampers)    \
  KIND(JointForceOf, joint_forces)      \
  KIND(LineOf, lines)                   \
  KIND(WrenchOf, wrenches)
#define SYMPLECTREE_CONSTRAINT_KINDS(KIND) \
  KIND(PointRowOf, point_rows)             \
  KIND(AngleRowOf, angle_rows)             \
  KIND(DistanceRowOf, distance_rows)       \
  KIND(CoordinateRowOf, coordinate_rows)
#define SYMPLECTREE_ROW_KINDS(KIND) SYMPLECTREE_ELEMENT_KINDS(KIND) SYMPLECTREE_CONSTRAINT_KINDS(KIND)

namespace symplectree {

template <class R>
struct RowsOf {
#define SYMPLECTREE_MEMBER(Row, name) std::vector<Row<R>> name;
  SYMPLECTREE_ROW_KINDS(SYMPLECTREE_MEMBER)
#undef SYMPLECTREE_MEMBER

  bool has_lines_or_wrenches() const { return !lines.empty() || !wrenches.empty(); }

  // Constraint rows, those of the user's own not counted.
  int constraint_rows() const {
    std::size_t count = 0;
#define SYMPLECTREE_COUNT(Row, name) count += name.size();
    SYMPLECTREE_CONSTRAINT_KINDS(SYMPLECTREE_COUNT)
#undef SYMPLECTREE_COUNT
    return static_cast<int>(count);
  }
};

}  // namespace symplectree
