// How the values y of a step change with the impulses x at its beginning, ∂y/∂x: J ∂q'/∂p Jᵀ by Newton's matrix of the
// step where that is known, else h J M⁻¹ Jᵀ (LLPS16's approximation of it); corrected by what the steps themselves show
// (Broyden), and kept from step to step.
#pragma once

#include <array>

#include "integrators/contact_system.hpp"
#include "integrators/run_interface.hpp"

namespace symplectree {

class ImpulseSlope {
 public:
  bool is_known() const { return !numbers_.empty(); }
  const double* data() const { return numbers_.data(); }
  void forget() { numbers_.clear(); }
  // Forget it unless it is that of steps of h with these parts.
  void keep_for(double h, const std::vector<Unilateral>& parts);

  // Of the last step of `run`, of h, with these parts, whose rows are in `system`.
  void find(double h, const std::vector<Unilateral>& parts, const ContactSystem& system, Run& run);
  // Broyden's update by changes dx of impulses and dy of values, in each row where it is not zero (Schubert 1970).
  void learn(const RowGroups& groups, const std::vector<double>& dx, const std::vector<double>& dy);

  void carry(RunMemory& memory) { memory(numbers_, h_, parts_); }

 private:
  using Key = std::array<int, 3>;  // source, index and id of a part
  static Key key(const Unilateral& u) { return {static_cast<int>(u.source), u.index, u.id}; }

  std::vector<double> numbers_;  // rows × rows, in groups
  double h_ = 0;
  std::vector<Key> parts_;
  std::vector<double> column_, off_;
};

}  // namespace symplectree
