// LU factorisation of matrices of grouped rows (row_groups.hpp), of which some rows of each group may be left out.
//
// Groups are eliminated in an order of least degree, with pivots inside each group; blocks that stay zero are not
// touched. A stack of boxes, whose groups are the layers between them, takes time in proportion to its height.
#pragma once

#include <vector>

#include "contact/row_groups.hpp"

namespace symplectree {

class GroupedLu {
 public:
  void plan(const RowGroups& groups);

  // The matrix (rows × rows, row by row): of group g its first `count[g]` rows and columns are used.
  double* row(int i) { return &A_[static_cast<std::size_t>(n_) * i]; }
  std::vector<int> count;

  // Zero in blocks that only elimination fills; to be called before the matrix is written.
  void clear();
  // False where a pivot is zero, or nearly so.
  bool factorize();
  // b ← A⁻¹ b, in the places of the rows.
  void solve(double* b) const;

  // The factors, of a matrix of the same plan.
  template <class Memory>
  void carry(Memory& memory) {
    memory(A_, inverse_, swap_, count);
  }

 private:
  bool factorize_diagonal(int g);

  const double* row(int i) const { return &A_[static_cast<std::size_t>(n_) * i]; }

  int n_ = 0;
  std::vector<int> first_, order_;
  std::vector<std::vector<int>> later_;    // of each group: those after it that it acts on when it is eliminated
  std::vector<std::pair<int, int>> fill_;  // blocks that elimination fills
  std::vector<double> A_, inverse_;        // inverse_: of the pivots
  std::vector<int> swap_;
  mutable std::vector<double> work_;
};

}  // namespace symplectree
