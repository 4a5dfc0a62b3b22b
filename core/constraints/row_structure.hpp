// Which bodies and coordinates the rows of constraints hold on to; this never changes.
#pragma once

#include "model/model.hpp"

namespace symplectree {

// Where the rows of a model hold on to it. Entries of row k are [start[k], start[k + 1]). After the constraints may
// follow rows whose multipliers are what dampers add to Newton's matrix: the gauges of damped pairs, and one for each
// coordinate of each of the user's forces.
struct RowIndices {
  std::vector<int> pull_start, pull_body, coefficient_start, coefficient_v;
  std::vector<int> user_forces;
  int damped_pairs = 0;  // how many

  template <class R>
  explicit RowIndices(const ModelOf<R>& m, bool with_dampers = false);

  int rows() const { return static_cast<int>(pull_start.size()) - 1; }
  // Constraints and damped pairs: the row at which the user's forces begin.
  template <class R>
  std::size_t first_user_force(const ModelOf<R>& m) const {
    return m.rows + damped_pairs;
  }
};

// The same, and which rows nothing that the mechanism can do changes, as out of the plane of a planar loop.
struct RowStructure : RowIndices {
  std::vector<char> idle;

  explicit RowStructure(const Model& m, bool with_dampers = false)
      : RowIndices(m, with_dampers), idle(static_cast<std::size_t>(rows())) {
    find_idle_rows(m);
  }

  void find_idle_rows(const Model& m);  // row_evaluation.cpp
};

}  // namespace symplectree
