// All kinds of rows: to add one, write its header, which all_rows.hpp includes, its line here, and its class in
// symplectree/elements/rows.py. Rows are declared here only, so that few files are compiled again when one changes.
#pragma once

#include <cstddef>
#include <vector>

// Struct, and name of the array of its rows, which is also the member of RowsOf. Pairs are the elements between two
// bodies that pair_contract.hpp describes: for these the line here is all that the core needs beside their header.
#define SYMPLECTREE_PAIR_KINDS(KIND) \
  KIND(LineOf, lines)                \
  KIND(RotarySpringOf, rotary_springs)
#define SYMPLECTREE_ELEMENT_KINDS(KIND) \
  KIND(JointSpringOf, joint_springs)    \
  KIND(JointDamperOf, joint_dampers)    \
  KIND(JointForceOf, joint_forces)      \
  KIND(WrenchOf, wrenches)              \
  KIND(ActuatorOf, actuators)           \
  KIND(TransmissionOf, transmissions)   \
  KIND(ForceLimitOf, force_limits)      \
  SYMPLECTREE_PAIR_KINDS(KIND)
#define SYMPLECTREE_UNILATERAL_KINDS(KIND) \
  KIND(JointLimitOf, joint_limits)         \
  KIND(JointFrictionOf, joint_frictions)   \
  KIND(ShapeRowOf, collision_shapes)       \
  KIND(HullVertexOf, hull_vertices)        \
  KIND(HullFaceOf, hull_faces)             \
  KIND(ContactPairOf, contact_pairs)
#define SYMPLECTREE_CONSTRAINT_KINDS(KIND) \
  KIND(PointRowOf, point_rows)             \
  KIND(AngleRowOf, angle_rows)             \
  KIND(DistanceRowOf, distance_rows)       \
  KIND(CoordinateRowOf, coordinate_rows)
#define SYMPLECTREE_ROW_KINDS(KIND) \
  SYMPLECTREE_ELEMENT_KINDS(KIND) SYMPLECTREE_CONSTRAINT_KINDS(KIND) SYMPLECTREE_UNILATERAL_KINDS(KIND)

namespace symplectree {

#define SYMPLECTREE_DECLARE(Row, name) \
  template <class R>                   \
  struct Row;
SYMPLECTREE_ROW_KINDS(SYMPLECTREE_DECLARE)
#undef SYMPLECTREE_DECLARE

template <class R>
struct RowsOf {
#define SYMPLECTREE_MEMBER(Row, name) std::vector<Row<R>> name;
  SYMPLECTREE_ROW_KINDS(SYMPLECTREE_MEMBER)
#undef SYMPLECTREE_MEMBER

  // Does any element act on bodies, not on coordinates?
  bool acts_on_bodies() const { return !wrenches.empty() || has_pairs(); }

  bool has_pairs() const {
    bool any = false;
#define SYMPLECTREE_ANY(Row, name) any = any || !name.empty();
    SYMPLECTREE_PAIR_KINDS(SYMPLECTREE_ANY)
#undef SYMPLECTREE_ANY
    return any;
  }
  int pairs() const {
    std::size_t count = 0;
#define SYMPLECTREE_COUNT(Row, name) count += name.size();
    SYMPLECTREE_PAIR_KINDS(SYMPLECTREE_COUNT)
#undef SYMPLECTREE_COUNT
    return static_cast<int>(count);
  }
  // f(row) of every pair, kind by kind.
  template <class F>
  void for_pairs([[maybe_unused]] F&& f) const {
#define SYMPLECTREE_EACH(Row, name) \
  for (const Row<R>& row : name) f(row);
    SYMPLECTREE_PAIR_KINDS(SYMPLECTREE_EACH)
#undef SYMPLECTREE_EACH
  }

  // Is there anything that only pushes, or that rubs?
  bool has_unilateral() const { return !(joint_limits.empty() && joint_frictions.empty() && contact_pairs.empty()); }

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
