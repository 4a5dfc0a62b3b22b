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
// x is found by a quasi-Newton iteration (impulse_slope.hpp). The kicks of a step may add to the energy no more than
// they take, to its accuracy: where they do, or are not found, the step is not taken, so that it is halved. Where that
// has not helped, it is taken without impulses at its beginning, and with those at its end that let nothing approach
// any more (Moreau), which take energy whatever they are; what overlaps then may stay so.
//
// Impacts are located in time, where asked for: at the instant t when a gap closes the momentum changes as impact.hpp
// says. In free flight without dissipation the step is then taken as a whole from Φ₋ₜ ∘ R ∘ Φₜ (z) (after Pekarek and
// Murphey 2014), so that every step that is executed is one of the same symplectic map; otherwise its rest is taken.
#pragma once

#include <memory>

#include "contact/contact_trace.hpp"
#include "contact/impact.hpp"
#include "integrators/impulse_slope.hpp"

namespace symplectree {

class ContactRun final : public Run {
 public:
  static constexpr double kResting = 1e-9;  // rates of gaps that count as rest [m/s or rad/s]
  static constexpr int kRough = 2;          // in place of `contact`, the record of a step that was taken roughly

  // `located`: are impacts located in time?
  // A step is halved so often, at most, before it is taken roughly; with 0 steps are as they are, or none.
  ContactRun(const Model& m, std::unique_ptr<Run> free, bool located, int halvings);

  void set_prescribed(const std::vector<char>& velocities) override;
  void reset(const double* q, const double* x, const double* rates) override;
  void set_last_step_length(double h) override { run_->set_last_step_length(h); }
  bool step(double t, double h, const ForceSource& forces, const PrescribedMotion& motion) override;
  bool is_strong(double t, double h, const ForceSource& forces) override { return run_->is_strong(t, h, forces); }
  void velocity(double* v) override { run_->velocity(v); }
  void go_back(const RunState& state) override;
  void kick(const double* impulse) override { run_->kick(impulse); }
  double unresolved_energy(double scale) override { return run_->unresolved_energy(scale); }
  void limit_unresolved(double energy, double scale) override {
    run_->limit_unresolved(energy, scale);
    last_ = energy == 0;
  }
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
  bool take_roughly(const Span& whole);
  // Did contact add energy in this step?
  bool gains() const;
  // Is it no more than strong dampers (end_damping.hpp) took in between of what the first kick added?
  bool is_damped(const Span& whole) { return added_ <= held_ && run_->is_strong(whole.t, whole.h, *whole.forces); }
  // Those of the present step.
  void forget_impacts();
  // Who touches at the present state, and who always rubs; false where something that touches approaches.
  bool find_closed();
  bool meets_at_end();
  bool approaches(const std::vector<Unilateral>& parts, const std::vector<double>& rate) const;
  void drop_separating(const std::vector<double>& rate);
  // The step from `start_` with impulses at its beginning; false where there is none. What overlaps at its end besides
  // is left in `met_`, or, unless `only_closed`, gets impulses as well.
  bool take(const Span& span, bool only_closed);
  // The least gap of these at the present state, whose poses are in `end_`, its rate, and what rounding makes of it.
  struct Approach {
    double gap = 0, rate = 0, noise = 0;
  };
  Approach nearest(const std::vector<Unilateral>& parts);
  // The step of the other run, from `start_`, where nothing acts.
  bool step_free(const Span& span);
  // From `start_`, to where the first of `met_` touches, after `from` at least; how long that takes, negative where
  // that is not found.
  double find_impact(const Span& span, double from);
  // The impact at the present state, `rest` before the end of the step; false where there is none to be found.
  bool impact(const Span& span, double elapsed, double rest);
  // `y_` of the last step; does anything new get impulses?
  bool evaluate_step(bool only_closed);
  bool is_solved() const;
  void keep_begin(double h);
  void keep_impulses(const std::vector<double>& x, double (Unilateral::*of)[3]);
  void take_impulses(double (Unilateral::*of)[3], std::vector<double>& x) const;
  // Impulses at the end, by velocities there; `rough`: the best there are.
  bool project_end(double h, bool rough);
  // What the impulses x add to the kinetic energy where rates are u without them.
  double work(const std::vector<double>& u, const std::vector<double>& x) const;
  // Where restitution counts although impacts are not located: of parts that were stopped in this step, those with
  // which they leave, as rates to which those at its end are brought.
  void find_bounces(double h);
  // rates += share · those.
  void add_bounces(double share, std::vector<double>& rates) const;
  void subdue(std::vector<double>& x, const std::vector<double>& u) const;
  void place(const double* q, Workspace<double>& at) const;
  // A step that was taken last, or is about to be taken back.
  void note_stage(ContactStage::Kind kind, const RunState& from, double length);

  const Model& m_;
  std::unique_ptr<Run> run_;
  bool located_, conservative_, bare_;
  bool last_ = false;  // is the present step one that nobody halves any more?
  double share_;       // of the longest step, of those that are not halved any more
  double begun_ = 0;   // when the present step began
  double longest_ = 0;
  double added_ = 0, held_ = 0;  // by the kicks of this step, where nothing was hit in it, and by the first of them
  double energy_ = 0;            // kinetic, before
  double still_;                 // what may be left of gaps and displacements, where no less is found [m or rad]
  UnilateralRows unilateral_;
  StateDynamics dynamics_;
  RunState start_, first_;
  Workspace<double> begin_, end_;   // poses at the beginning and at the end of a step, where there are contacts
  std::vector<Unilateral> active_;  // with impulses in this step, held at its beginning
  ContactTrace* trace_ = nullptr;
  const ForceSource* forces_ = nullptr;  // of the last step
  std::vector<std::pair<Unilateral, double>> bounces_;
  std::vector<Unilateral> touching_, met_;  // at the end of the last step; what overlaps there without an impulse
  bool stays_ = false, elastic_ = false;    // did the last impact leave something at rest; did it take no energy?
  bool known_ = false, built_ = false;      // is active_ that of the present state; is system_ that of active_?
  ConeProblem problem_, end_problem_;       // at a step's beginning and at its end
  Impact impact_;
  ContactSystem system_;  // of active_ where `built_`
  ImpulseSlope slope_;
  std::vector<double> x_, y_, last_x_, last_y_, rates_;
  std::vector<double> impulse_, moved_, v_, a_, change_, v0_, row_;
};

}  // namespace symplectree
