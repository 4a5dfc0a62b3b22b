// Steps that are divided where they are too long for the motion: in halves, these again, as often as it takes, by what
// both ends of each part and its inside say. A part is judged alike forwards and backwards in time, so that a reversed
// run divides its steps alike (but for parts so near to a bound that the error of one step decides), and the energy of
// reversible motions does not drift.
#pragma once

#include <memory>
#include <optional>

#include "integrators/local_error.hpp"

namespace symplectree {

struct Subdivision {
  enum class Method { Newton, Composition, Collocation };

  double accuracy = 0;  // of the energy, relative; 0: only steps out of the method's range are divided
  int order = 2;        // of the steps
  int depth = 6;        // how often a part may be halved
  Method method = Method::Newton;
  bool turning = false;  // see LocalError
};

// The angle [rad] below which fixed steps are within their range, whatever else.
inline constexpr double kLongestTurn = 0.25;

class SubdividedRun final : public Run {
 public:
  SubdividedRun(const Model& m, std::unique_ptr<Run> whole, const Subdivision& options);

  void set_prescribed(const std::vector<char>& velocities) override;
  void reset(const double* q, const double* x, const double* rates) override;
  void set_last_step_length(double h) override { run_->set_last_step_length(h); }
  bool step(double t, double h, const ForceSource& forces, const PrescribedMotion& motion) override;
  void velocity(double* v) override { run_->velocity(v); }
  void carry(RunMemory& memory) override {
    run_->carry(memory);
    int known = known_ + 2 * here_.touches;
    memory(here_.energy, here_.scale, here_.per_square, here_.excess, known, tau_, inputs_);
    known_ = known % 2 == 1, here_.touches = known >= 2;
  }
  const RunState& state() const override { return run_->state(); }
  const RunReport& report() const override { return report_; }

 private:
  struct Part {
    double t, h;
    PrescribedMotion motion;
    int depth;  // how often it may be halved
  };

  // One part, whole or in halves; false where it cannot be taken.
  bool take(const Part& part, const ForceSource& forces);
  bool take_in_halves(const Part& part, const ForceSource& forces);
  // The part is done, from `start` to the present state: is it short enough? `begin` is known when accuracy is asked.
  bool is_accurate(const Part& part, const RunState& start, ShadowEnergy begin, const ForceSource& forces);
  // Is h² H₂ small enough at an end of a part?
  bool is_short(const ShadowEnergy& end, double h) const {
    return h * h * end.per_square <= (end.touches ? touching_bound_ : bound_) * end.scale;
  }
  static double change_of_limits(const ShadowEnergy& begin, const ShadowEnergy& end);
  bool accept(const Part& part);
  void restore(const RunState& state);
  double largest_turn(const double* q0, const double* q1);
  void copy_report();
  // Notes under which forces states are judged; what was known under others is forgotten.
  void note_forces(const ForceSource& forces);

  const Model& m_;
  std::unique_ptr<Run> run_;
  Subdivision options_;
  double bound_;           // of h² H₂ over the scale of energies, at the ends of a part
  double touching_bound_;  // the same where something touches
  double unresolved_;      // of the unresolved energy over that scale
  double largest_change_;  // of the energy over that scale in a part, where forces keep it
  LocalError error_;
  RunReport report_;
  ShadowEnergy here_;                            // of the present state,
  bool known_ = false;                           // where it is known
  std::optional<std::pair<double, int>> whole_;  // residual and worst equation of the whole step, where it failed
  std::vector<RunState> starts_;                 // of parts, by how often they may be halved
  std::vector<double> tau_, inputs_, change_;
  std::vector<int> turning_;  // velocities that are of rotation
};

}  // namespace symplectree
