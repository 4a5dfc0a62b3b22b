// The arrays of symplectree/mechanism/model.py and the rows of symplectree/elements/rows.py, of which a model is made
// (read_model.hpp).
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "model/rows/kinds.hpp"

namespace symplectree {

// Arrays of numbers: those of bodies, then one of each kind of row.
enum Array {
  kAxis,
  kPitch,
  kPlacement,
  kMass,
  kCom,
  kInertia,
  kArmature,
  kGravity,
  kFirstRows,
};

#define SYMPLECTREE_COUNT(Row, name) +1
inline constexpr int kArrays = kFirstRows SYMPLECTREE_ROW_KINDS(SYMPLECTREE_COUNT);
#undef SYMPLECTREE_COUNT

template <class R>
struct ModelArrays {
  std::vector<std::int32_t> parent, kind;
  std::array<std::vector<R>, kArrays> numbers;

  const R* operator[](Array which) const { return numbers[which].data(); }
};

}  // namespace symplectree
