// W = J M⁻¹ Jᵀ of rows that act on one or two bodies each, of models without constraints.
//
// M⁻¹ = Lᵀ D L, where L is the inward sweep of articulated bodies: so each row takes one sweep along the paths from its
// bodies to the roots, z = √D L Jᵀ, and W consists of products z·z of rows that share a tree.
#pragma once

#include <vector>

#include "contact/row_groups.hpp"
#include "model/workspace.hpp"

namespace symplectree {

class ContactMatrix {
 public:
  // Rows in sequence that act on the same bodies, 0 for none.
  struct Part {
    int rows, a, b;
  };

  explicit ContactMatrix(const Model& m);

  // W and groups ← those of J (rows × nv, row by row), with the mass matrix eliminated in `at`; outside its groups W
  // stays as it is where groups do so, and becomes zero otherwise.
  void form(const std::vector<Part>& parts, const double* J, const Workspace<double>& at, std::vector<double>& W,
            RowGroups& groups);

 private:
  struct Range {
    int low = 0, high = 0;  // velocities
  };
  struct Support {
    Range ranges[2];  // apart from each other
    bool operator==(const Support& o) const {
      return ranges[0].low == o.ranges[0].low && ranges[0].high == o.ranges[0].high &&
             ranges[1].low == o.ranges[1].low && ranges[1].high == o.ranges[1].high;
    }
  };

  Support support(const Part& p) const;
  void sweep(const Part& p, const double* J, const Workspace<double>& at, double* z) const;
  // f(low, high) of the velocities that both have.
  template <class F>
  static void for_shared(const Support& s, const Support& t, F&& f);

  const Model& m_;
  std::vector<Range> tree_;  // of each body
  std::vector<Support> supports_;
  std::vector<double> Z_, root_;
  RowGroups next_;
};

}  // namespace symplectree
