// Dense linear equations on plain arrays, compiled once: Eigen, on which they rest, takes long to compile.
#pragma once

#include <vector>

namespace symplectree {

// x (n) ← A⁻¹ b by LU factorisation; A (n × n) column by column, or row by row.
void solve_lu(const double* A, int n, const double* b, double* x);
void solve_lu_rows(const double* A, int n, const double* b, double* x);

// B (n × columns) ← A⁻¹ B, both row by row, of few equations; A is used up.
void solve_in_place(double* A, int n, double* B, int columns);

// x (n) ← A⁻¹ b of a symmetric A (n × n).
void solve_symmetric(const double* A, int n, const double* b, double* x);

// x (n) ← A⁻¹ x, or A⁻ᵀ x, of A (n × n, n ≤ 6) column by column.
void solve_small(const double* A, int n, double* x);
void solve_small_transposed(const double* A, int n, double* x);

// M ← M A, where M has n columns of `rows` numbers and A (n × n, n ≤ 6) is given column by column.
void multiply_small(double* M, int rows, const double* A, int n);

// x (columns) ← what makes |A x − b| least, A (rows × columns) column by column; columns that depend on others, to
// `threshold` relative to the largest, count as such.
void solve_least_squares(const double* A, int rows, int columns, double threshold, const double* b, double* x);

// λ (rows) ← the part of λ that G (rows × columns, row by row) does not take to zero, Gᵀλ.
void remove_null_part(const double* G, int rows, int columns, double threshold, double* lambda);

// N (n × n, column by column) with constraints: (δ, dλ) with N δ − leftᵀ dλ = r and right δ = e, of which r and e are
// `r` (n + rows) and left and right are rows × n, row by row. Prescribed δ are zero; of redundant rows the least dλ.
struct BorderedSystem {
  int n, rows;
  const double *N, *left, *right, *r;
  const std::vector<char>& prescribed;
};
void solve_bordered(const BorderedSystem& system, double* delta);

}  // namespace symplectree
