// Constraints that are affine in coordinates, as of gears and screws. Their derivative G is constant and has two
// entries a row, so that M⁻¹ along the tree and a matrix as large as there are rows say all.
#pragma once

#include <vector>

#include "model/workspace.hpp"

namespace symplectree {

class AffineRows {
 public:
  struct Entry {
    int row, v;
    double factor;
  };
  std::vector<Entry> entries;       // of G
  std::vector<double> multipliers;  // of each row, of the last velocity or acceleration
  std::vector<double> W;            // G M⁻¹ (rows × nv), likewise

  explicit AffineRows(const Model& m);

  // Are all rows of a model such, and independent?
  static bool cover(const Model& m);

  // v with M v − Gᵀμ = p and G v = 0.
  void velocity(const double* q, const double* p, double* v);

  // a with M a − Gᵀλ = τ − bias and G a = 0.
  void acceleration(const double* q, const double* v, const double* tau, const double* inputs, double* a);

  // B (rows × columns, row by row) ← (G M⁻¹Gᵀ)⁻¹ B, at the configuration of the last velocity or acceleration.
  void solve(double* B, int columns) const;

 private:
  // M and W at q.
  void place(const double* q);
  // x ← x + M⁻¹Gᵀλ with G x = 0, and multipliers ← λ.
  void project(double* x);

  const Model& m_;
  Workspace<double> mass_, w_;
  std::vector<double> q_;  // of `mass_`, empty at first
  std::vector<double> matrix_, row_;
  mutable std::vector<double> scratch_;
};

}  // namespace symplectree
