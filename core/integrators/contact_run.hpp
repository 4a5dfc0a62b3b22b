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
// x is found by a quasi-Newton iteration, ∂y/∂x ≈ J ∂q'/∂p Jᵀ by Newton's matrix of the step, or else h J M⁻¹ Jᵀ
// (LLPS16's approximation of it), corrected by what the steps themselves show (Broyden), and kept from step to step.
//
// Impacts are located in time, where asked for: at the instant t when a gap closes the momentum changes as impact.hpp
// says. In free flight without dissipation the step is then taken as a whole from Φ₋ₜ ∘ R ∘ Φₜ (z) (after Pekarek and
// Murphey 2014), so that every step that is executed is one of the same symplectic map; otherwise its rest is taken.
#pragma once

#include <array>
#include <memory>

#include "contact/contact_matrix.hpp"
#include "contact/contact_trace.hpp"
#include "contact/impact.hpp"
#include "contact/unilateral.hpp"
#include "integrators/run_interface.hpp"
#include "integrators/state_dynamics.hpp"

namespace symplectree {

class ContactRun final : public Run {
 public:
  // `located`: are impacts located in time?
  ContactRun(const Model& m, std::unique_ptr<Run> free, bool located);

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
  const RunReport& report() const override { return run_->report(); }

  // Keep what the last step was made of.
  void keep_trace(ContactTrace& out) { trace_ = &out; }

 private:
  // A step, or what is left of it, and what drives it.
  struct Span {
    double t, h;
    const ForceSource* forces;
    PrescribedMotion motion;

    Span part(double from, double length) const { return {t + from, length, forces, motion.over(t + from, length)}; }
  };

  bool advance(const Span& whole);
  // Who touches at the present state, and who always rubs; false where something that touches approaches.
  bool find_closed();
  bool meets_at_end();
  bool approaches(const std::vector<Unilateral>& parts, const std::vector<double>& rate) const;
  void drop_separating(const std::vector<double>& rate);
  // The step from `start_` with impulses at its beginning; false where there is none. What overlaps at its end besides
  // is left in `met_`, or, unless `only_closed`, gets impulses as well.
  bool take(const Span& span, bool only_closed);
  // From `start_`, to where the first of `met_` touches, after `from` at least; how long that takes, negative where
  // that is not found.
  double find_impact(const Span& span, double from);
  // The impact at the present state, `rest` before the end of the step; false where there is none to be found.
  bool impact(const Span& span, double elapsed, double rest);
  // `y_` of the last step; does anything new get impulses?
  bool evaluate_step(bool only_closed);
  bool is_solved() const;
  void keep_impulses();
  void begin_problem(double h);
  void find_slope(double h);
  bool same_parts() const;
  void learn();
  // Impulses at the end, by velocities there.
  bool project_end(double h);
  // J_ and W_ = J M⁻¹ Jᵀ of some parts, where they are held, at the configuration q.
  void build(const std::vector<Unilateral>& parts, const double* q, const Workspace<double>& at);
  // impulse_ ← Jᵀ x.
  void sum_impulses(const std::vector<double>& x);
  // out ← J v_, in rows of J_.
  void rates(std::vector<double>& out) const;
  void place(const double* q, Workspace<double>& at) const;
  // A step that was taken last, or is about to be taken back.
  void note_stage(ContactStage::Kind kind, const RunState& from, double length);

  const Model& m_;
  std::unique_ptr<Run> run_;
  bool located_, conservative_;
  double begun_ = 0;  // when the present step began
  double still_;      // what may be left of gaps and displacements, where no less is found [m or rad]
  UnilateralRows unilateral_;
  StateDynamics dynamics_;
  RunState start_, first_;
  Workspace<double> begin_, end_;   // poses at the beginning and at the end of a step, where there are contacts
  std::vector<Unilateral> active_;  // with impulses in this step, held at its beginning
  ContactTrace* trace_ = nullptr;
  std::vector<Unilateral> touching_, met_;  // at the end of the last step; what overlaps there without an impulse
  bool stays_ = false;                      // did the last impact leave something at rest?
  bool known_ = false, built_ = false;      // is active_ that of the present state; are J_ and W_ those of active_?
  ConeProblem problem_;
  Impact impact_;
  ContactMatrix matrix_;
  std::vector<double> J_, W_;  // rows × nv; rows × rows, in groups_
  RowGroups groups_;
  std::vector<ContactMatrix::Part> rows_;
  std::vector<double> x_, y_, last_x_, last_y_, slope_;  // slope_: ∂y/∂x of the step, in groups_
  double slope_h_ = 0;
  std::vector<std::array<int, 3>> slope_parts_;  // source, index and id of the parts that it is of
  std::vector<double> impulse_, column_, no_rates_, moved_, v_, a_, change_;
};

}  // namespace symplectree
