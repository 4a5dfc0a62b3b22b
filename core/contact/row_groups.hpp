// Which rows of a contact problem act on each other: groups of consecutive rows, and of each group those with which it
// shares something that moves. A matrix of such rows is stored in full, row by row, and is zero elsewhere.
#pragma once

#include <vector>

namespace symplectree {

struct RowGroups {
  std::vector<int> first{0};  // row of each group, and the number of rows at the end
  std::vector<int> start{0};  // where the list of each group begins in `others`, and the length of that
  std::vector<int> others;    // groups that it acts on, itself among them, in ascending order

  int size() const { return static_cast<int>(first.size()) - 1; }
  int rows() const { return first.back(); }
  bool operator==(const RowGroups&) const = default;

  // All rows act on each other.
  static RowGroups whole(int rows);
  // As many rows as the sizes of parts say, in groups by what of W (rows × rows, row by row) is not zero.
  static RowGroups of(const double* W, const std::vector<int>& sizes);

  // f(first column, end) of what is not zero in the rows of group g; blocks side by side are one.
  template <class F>
  void for_columns(int g, F&& f) const {
    for (int k = start[g]; k < start[g + 1]; ++k) {
      const int low = first[others[k]];
      while (k + 1 < start[g + 1] && others[k + 1] == others[k] + 1) ++k;
      f(low, first[others[k] + 1]);
    }
  }

  // to ← factor · from, matrices of these groups.
  void copy(const double* from, double factor, double* to) const;

  // y ← W x + y₀.
  void multiply(const double* W, const double* x, const double* y0, double* y) const;
};

}  // namespace symplectree
