// How much energy a step puts wrong, judged in a state.
//
// A variational step of order 2 keeps H + h² H₂ + O(h⁴), and H₂ is what its energy errs by. Of the action cayley in the
// plane H₂ = Σ [m |a_c|²/24 + I ω̇²/24 − I ω⁴/12] + V̈/12 over the bodies, with a_c the acceleration of the centre of
// mass (backward error analysis; Hairer, Lubich, Wanner, IX). Taken here is the sum of the sizes of these terms, in
// space and with springs as all of V̈ that is counted: it is no less than |H₂| where the terms differ in sign, and the
// same when time runs backwards.
#pragma once

#include "integrators/contact_forces.hpp"
#include "integrators/run_interface.hpp"
#include "integrators/state_dynamics.hpp"

namespace symplectree {

// Of a state: its energy, what energies are measured against, and H₂, by h² of which a step of h errs.
struct ShadowEnergy {
  double energy = 0, scale = 0, per_square = 0;
  bool touches = false;        // does contact, a joint limit or dry friction act, where steps are of second order?
  std::vector<double> excess;  // of each actuator, where there are limits: the power that its limit keeps back
};

class LocalError {
 public:
  // `turning`: do steps turn bodies by another angle than they should (terms I ω⁴), as cayley and chord do?
  LocalError(const Model& m, bool turning);

  void set_prescribed(const std::vector<char>& velocities);

  // Is energy kept under forces tau and inputs: are there no dampers, forces or prescribed coordinates?
  bool is_conservative(const ForceSource& forces) const;
  // Are there springs between bodies, whose force may change within a step though joints turn little?
  bool has_pair_springs() const { return pair_springs_; }
  // h² V̈/12 of these springs over a step from q0 to q1, from their energies at its ends and half-way; the largest of
  // these energies, and what energies are measured against at least. Where a spring shortens to nothing and turns over,
  // V̈ is far below zero.
  struct Bend {
    double size = 0, energy = 0, scale = 0;
  };
  Bend spring_bend(const double* q0, const double* q1);
  // In a state of momenta at time t; `accelerations` (nv) of prescribed coordinates, null where there are none.
  ShadowEnergy in_state(const RunState& state, double t, const ForceSource& forces, const double* accelerations);

 private:
  // Potential energy that falls through the length of the mechanism would release.
  double weight_energy() const;
  // a_ ← acceleration in (q, v_), in which contact holds what rests; does any act?
  bool accelerate(const double* q, const ForceSource& forces);
  double spring_rates(const double* v) const;

  const Model& m_;
  bool turning_, dissipative_, limited_, pair_springs_ = false;
  double weight_;
  StateDynamics dynamics_;
  std::unique_ptr<ContactForces> contact_;  // where there may be any
  Workspace<double> w_;
  std::vector<double> v_, a_, free_, tau_, middle_;
};

}  // namespace symplectree
