// Constraints at the stages of a step: their values, what they pull with, and how impulses answer them. Prescribed
// coordinates count as constraints after all others.
#pragma once

#include <vector>

#include "constraints/row_evaluation.hpp"
#include "integrators/lobatto/lobatto_pair.hpp"
#include "scalar/simd_pack.hpp"

namespace symplectree {

template <int W>
class StageConstraints {
 public:
  // Are all constraints of the model ones of positions?
  static bool covers(const Model& m);

  StageConstraints(const Model& m, const LobattoPair& pair);

  // Marks of velocities; those of joints with a quaternion are not taken.
  void set_prescribed(const std::vector<char>& velocities);
  int count() const { return rows_ + static_cast<int>(prescribed_.size()); }

  // The poses of all stages are those in w, of configurations q; `targets` (s − 1 rows of nq) are where prescribed
  // coordinates go. With `measure` their rounding is looked at, too.
  void place(const Workspace<Pack<W>>& w, const Pack<W>* q, const double* targets, bool measure);

  // force (nv) ← Σ λ Dh at all stages but the last, by λ (count) of each in turn.
  void pull(const Workspace<Pack<W>>& w, const double* lambda, Pack<W>* force);

  // out ← h + Dh δ at all stages but the first, one after the other, for increments δ (nv).
  void changed(const Workspace<Pack<W>>& w, const Pack<W>* delta, double* out);

  // Dh M⁻¹ Dhᵀ at q; false where M has no inverse.
  bool factorize(const double* q);

  // How far the constraints are from being dependent there, between 0 and 1.
  double weakest() const { return weakest_; }

  // λ ← λ + what answers the values of `changed` in a step of h.
  void answer(double h, const double* values, double* lambda);

  // λ (count, the first `rows` of which count) ← least of those that pull alike at the configuration of the last
  // factorization.
  void share(double* lambda) const;

  // out (nv) ← the forces on prescribed coordinates of λ (count).
  void reactions(const double* lambda, std::vector<double>& out) const;

  // Prescribed coordinates of q ← those of the target.
  void settle(const double* target, double* q) const {
    for (const int k : places_) q[k] = target[k];
  }

  // rounding (2 nv) of positions and momenta in a step of h, in units of the rounding of numbers.
  void rounding(double h, std::vector<double>& out) const;

 private:
  void gather(const Workspace<Pack<W>>& w, const Pack<W>* q, int lane, bool all);

  const Model& m_;
  const LobattoPair& pair_;
  int rows_;
  RowStructure structure_;
  std::vector<RowValues> values_;  // of each stage
  std::vector<int> prescribed_;    // velocities,
  std::vector<int> places_;        // and where these are in q
  std::vector<int> held_;          // bodies that rows hold on to
  bool users_ = false;             // are there rows of the user's?
  Workspace<double> at_;
  RowValues middle_;
  std::vector<double> q_, gap_;  // gap_: of prescribed coordinates from where they go, stage by stage
  std::vector<Spatial<Pack<W>>> wrench_, motion_;
  std::vector<double> G_, W_, S_, inverse_, noise_, scratch_;
  double weakest_ = 1;
  bool dependent_ = false;
};

}  // namespace symplectree
