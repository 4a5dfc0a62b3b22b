// Values and derivatives of constraint rows, for numbers of any kind (JM09 section IV-D). The user's own rows are not
// among these.
#pragma once

#include <vector>

#include "model/workspace.hpp"

namespace symplectree {

// Values of all rows, and their derivatives where RowStructure says: pulls on bodies, coefficients of coordinates.
template <class T>
struct RowTerms {
  std::vector<T> value;
  std::vector<Spatial<T>> pull;
  std::vector<T> coefficient;

  RowTerms(std::size_t rows, std::size_t pulls, std::size_t coefficients)
      : value(rows), pull(pulls), coefficient(coefficients) {}
};

// Entries of row k begin at pull_start[k] and coefficient_start[k]. Poses in `at` must be those of q.
template <bool WithDerivative, class R, class T>
void evaluate_row_terms(const ModelOf<R>& m, const std::vector<int>& pull_start,
                        const std::vector<int>& coefficient_start, const T* q, const Workspace<T>& at,
                        RowTerms<T>& out);

}  // namespace symplectree
