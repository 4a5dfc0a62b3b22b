// A dense set of linear equations that grows and shrinks: the front of an elimination over a tree with loops.
//
// Its unknowns are the motions η of some bodies (slots) and the multipliers λ of some rows:
//   force at slot b:  Σ_c A_bc η_c + Σ_k B_bk λ_k + g_b,    row k:  Σ_b C_bk · η_b + Σ_l E_kl λ_l = e_k.
#pragma once

#include <utility>
#include <vector>

#include "spatial/matrix6.hpp"

namespace symplectree {

// Strides are the capacities.
struct Front {
  int slots = 0, rows = 0, slot_capacity = 0, row_capacity = 0;
  std::vector<int> body, row;
  std::vector<Matrix6<double>> A;     // [slot][slot]
  std::vector<Spatial<double>> B, C;  // [slot][row]: force by a multiplier; row by a motion
  std::vector<double> E, e, natural;  // [row][row]; [row], natural: what a pivot of the row would be without loss
  std::vector<Spatial<double>> g;     // [slot]

  int slot_of(int what) const { return place(body, slots, what); }
  int place_of(int what) const { return place(row, rows, what); }

  // Room for so many slots and rows; what is there stays.
  void reserve(int most_slots, int most_rows) {
    if (most_slots <= slot_capacity && most_rows <= row_capacity) return;
    Front next;
    next.slots = slots, next.rows = rows;
    next.slot_capacity = std::max(most_slots, slot_capacity ? 2 * slot_capacity : 2);
    next.row_capacity = std::max(most_rows, row_capacity ? 2 * row_capacity : 8);
    const std::size_t s = next.slot_capacity, r = next.row_capacity;
    next.body.resize(s), next.g.resize(s), next.A.resize(s * s), next.B.resize(s * r), next.C.resize(s * r);
    next.row.resize(r), next.e.resize(r), next.natural.resize(r), next.E.resize(r * r);
    next.copy(*this, 0, 0);
    *this = std::move(next);
  }

  int add_slot(int what) {
    reserve(slots + 1, rows);
    const int n = slots++, s = slot_capacity, r = row_capacity;
    body[n] = what, g[n] = {};
    for (int b = 0; b <= n; ++b) A[b * s + n] = A[n * s + b] = {};
    for (int k = 0; k < rows; ++k) B[n * r + k] = C[n * r + k] = {};
    return n;
  }

  int add_row(int what, double compliance, double right) {
    reserve(slots, rows + 1);
    const int n = rows++, r = row_capacity;
    row[n] = what, e[n] = right, natural[n] = compliance;
    for (int k = 0; k <= n; ++k) E[k * r + n] = E[n * r + k] = 0;
    E[n * r + n] = compliance;
    for (int b = 0; b < slots; ++b) B[b * r + n] = C[b * r + n] = {};
    return n;
  }

  // Everything of another front, which has neither slots nor rows in common, and is empty after.
  void take(Front& other) {
    const int first_slot = slots, first_row = rows;
    reserve(slots + other.slots, rows + other.rows);
    for (int b = 0; b < other.slots; ++b) add_slot(other.body[b]);
    for (int k = 0; k < other.rows; ++k) add_row(other.row[k], 0, 0);
    copy(other, first_slot, first_row);
    other.slots = other.rows = 0;
  }

  void remove_slot(int n) {
    const int last = --slots, s = slot_capacity, r = row_capacity;
    if (n == last) return;
    body[n] = body[last], g[n] = g[last];
    for (int b = 0; b < last; ++b) A[b * s + n] = A[b * s + last];
    for (int b = 0; b < last; ++b) A[n * s + b] = A[last * s + b];
    A[n * s + n] = A[last * s + last];
    for (int k = 0; k < rows; ++k) B[n * r + k] = B[last * r + k], C[n * r + k] = C[last * r + k];
  }

  void remove_row(int l) {
    const int last = --rows, r = row_capacity;
    if (l == last) return;
    row[l] = row[last], e[l] = e[last], natural[l] = natural[last];
    for (int b = 0; b < slots; ++b) B[b * r + l] = B[b * r + last], C[b * r + l] = C[b * r + last];
    for (int k = 0; k < last; ++k) E[k * r + l] = E[k * r + last];
    for (int k = 0; k < last; ++k) E[l * r + k] = E[last * r + k];
    E[l * r + l] = E[last * r + last];
  }

 private:
  static int place(const std::vector<int>& list, int count, int what) {
    int n = 0;
    while (n < count && list[n] != what) ++n;
    return n;
  }

  // All numbers of another front into slots and rows from these on.
  void copy(const Front& o, int slot, int line) {
    const int s = slot_capacity, r = row_capacity;
    for (int b = 0; b < o.slots; ++b) {
      body[slot + b] = o.body[b], g[slot + b] = o.g[b];
      for (int c = 0; c < o.slots; ++c) A[(slot + b) * s + slot + c] = o.A[b * o.slot_capacity + c];
      for (int k = 0; k < o.rows; ++k) {
        B[(slot + b) * r + line + k] = o.B[b * o.row_capacity + k];
        C[(slot + b) * r + line + k] = o.C[b * o.row_capacity + k];
      }
    }
    for (int k = 0; k < o.rows; ++k) {
      row[line + k] = o.row[k], e[line + k] = o.e[k], natural[line + k] = o.natural[k];
      for (int l = 0; l < o.rows; ++l) E[(line + k) * r + line + l] = o.E[k * o.row_capacity + l];
    }
  }
};

}  // namespace symplectree
