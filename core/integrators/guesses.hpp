// Where the root finder of a step starts, LLPS16 section 4.3: at the present configuration, where velocity or
// acceleration lead, or where the last steps extrapolate to.
#pragma once

#include <array>

#include "integrators/method_options.hpp"
#include "integrators/run_interface.hpp"
#include "integrators/state_dynamics.hpp"

namespace symplectree {

class StepGuesses {
 public:
  StepGuesses(const Model& m, const PrescribedCoordinates& prescribed, StateDynamics& dynamics);

  // q1 (nq) ← a guess for the end of a step of h; prescribed coordinates are at `target`. Without three steps to
  // extrapolate, the guess is that of the acceleration.
  void guess(Guess kind, double h, const RunState& at, const ForceSource& forces, const double* target, double* q1);

  // Keep the increment from q0 to q1 for the next guess, and return it.
  const std::vector<double>& remember(const double* q0, const double* q1);
  // The last increment was not to be.
  void take_back() {
    for (int k = 0; k < 3; ++k) std::swap(increment_[k], increment_[k + 1]);
    if (known_ > 0) --known_;
  }
  void forget() { known_ = 0; }
  void carry(RunMemory& memory) { memory(increment_, known_); }

 private:
  // a_ ← the acceleration in the state at its velocity v_, with which prescribed coordinates reach their target.
  void accelerate(double h, const RunState& at, const ForceSource& forces, const double* target);

  const Model& m_;
  const PrescribedCoordinates& prescribed_;
  StateDynamics& dynamics_;
  std::array<std::vector<double>, 4> increment_;  // the last, newest first: one more than guesses need
  int known_ = 0;                                 // how many of these there are
  std::vector<double> d_, v_, a_;
};

}  // namespace symplectree
