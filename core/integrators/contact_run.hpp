// Runs of models with what only pushes or rubs (contact/unilateral.hpp): two impulses about each step of another run,
// which is taken as it is.
//
//   p⁺ = p + J(q)ᵀ x,   (q', p'⁻) = Φ_h(q, p⁺),   p' = p'⁻ + J(q')ᵀ x',
//
// in which x and the step's values y(q, q') solve the problem of contact/cone_problem.hpp: gaps at the end are not
// negative, what sticks has not moved. At the end x' solves the same problem with velocities, as RATTLE projects
// momenta. So positions do not drift apart, friction that holds does not creep, and where nothing touches, steps are
// those of the other run, whatever its order.
//
// x is found by a quasi-Newton iteration, ∂y/∂x ≈ h J M⁻¹ Jᵀ (LLPS16's approximation of Newton's matrix), corrected by
// what the steps themselves show (Broyden).
#pragma once

#include <memory>

#include "contact/unilateral.hpp"
#include "integrators/run_interface.hpp"
#include "integrators/state_dynamics.hpp"

namespace symplectree {

class ContactRun final : public Run {
 public:
  ContactRun(const Model& m, std::unique_ptr<Run> free);

  void set_prescribed(const std::vector<char>& velocities) override;
  void reset(const double* q, const double* x, const double* rates) override;
  void set_last_step_length(double h) override { run_->set_last_step_length(h); }
  bool step(double t, double h, const ForceSource& forces, const PrescribedMotion& motion) override;
  bool is_strong(double t, double h, const ForceSource& forces) override { return run_->is_strong(t, h, forces); }
  void velocity(double* v) override { run_->velocity(v); }
  void go_back(const RunState& state) override;
  void kick(const double* impulse) override { run_->kick(impulse); }
  double unresolved_energy(double scale) override { return run_->unresolved_energy(scale); }
  void limit_unresolved(double energy, double scale) override { run_->limit_unresolved(energy, scale); }
  void carry(RunMemory& memory) override;
  const RunState& state() const override { return run_->state(); }
  const RunReport& report() const override { return report_; }

 private:
  // Who touches at the present state, and who always rubs.
  void find_closed();
  // The step with impulses at its beginning; false where there is none.
  bool take(double t, double h, const ForceSource& forces, const PrescribedMotion& motion);
  // y_ of the last step; does anything new overlap at its end?
  bool evaluate_step();
  bool is_solved(double h) const;
  // Impulses at the end, by velocities there.
  void project_end(double h);
  // J_ and W_ = J M⁻¹ Jᵀ of all active parts, at the configuration q.
  void build(const double* q);
  // impulse_ ← Jᵀ x_.
  void sum_impulses();
  int rows() const { return static_cast<int>(x_.size()); }

  const Model& m_;
  std::unique_ptr<Run> run_;
  UnilateralRows unilateral_;
  StateDynamics dynamics_;
  RunReport report_;
  RunState start_;
  std::vector<Unilateral> active_;
  bool built_ = false;  // are J_ and W_ those of `active_` at the present state?
  ConeProblem problem_;
  std::vector<double> J_, W_;               // rows × nv; rows × rows
  std::vector<double> x_, y_, last_x_, last_y_, slope_;  // slope_: ∂y/∂x of the step
  std::vector<double> impulse_, column_, no_rates_, moved_, v_, change_;
  bool known_ = false;  // has find_closed looked at the present state?
};

}  // namespace symplectree
