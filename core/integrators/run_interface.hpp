// What a run of variational steps shows, whatever its scheme, and its settings.
#pragma once

#include "model/model.hpp"

namespace symplectree {

enum class Guess { Extrapolate, Current, Velocity, Acceleration };

struct Settings {
  Guess guess = Guess::Extrapolate;
  double tolerance = 1e-11;
  int max_iterations = 50, substeps = 6;
};

// What a run shows, whatever its scheme.
class AnyRun {
 public:
  std::vector<double> q, p;           // the state; p without the impulses of constraints at q
  std::vector<double> rate;           // of the state: velocities of prescribed coordinates
  double last_h = 0;                  // of the step (or part of one) that led to the state, 0 at a start
  std::vector<double> multipliers;    // of the last step, at its beginning: forces of the constraints
  std::vector<double> reaction;       // of the last step, at its beginning: what drives prescribed coordinates
  long iterations = 0, halvings = 0;  // in all; halvings counts steps taken as two shorter ones
  double fastest = 0;                 // largest angle by which a joint turned in one step [rad]
  double last_residual = 0;           // of the step that failed, relative
  int worst = 0;                      // its worst velocity, or nv and the number of a constraint row

  explicit AnyRun(const Model& m) : q(m.nq), p(m.nv), rate(m.nv), multipliers(m.rows), reaction(m.nv) {}
  virtual ~AnyRun() = default;
  // Mark velocities whose coordinates are prescribed.
  virtual void drive(const std::vector<char>& driven) = 0;
  // Start at (q, p); of `rates` (nv) the velocities of prescribed coordinates count.
  virtual void reset(const double* q0, const double* p0, const double* rates) = 0;
  // `target` (nq) and `rates` (nv): where prescribed coordinates are at the end of the step, and how fast.
  virtual bool step(double h, const double* tau, const double* inputs, const double* target, const double* rates) = 0;
  virtual void end_again(const double* tau, const double* inputs) = 0;
  virtual void velocity(double* v) = 0;
};

}  // namespace symplectree
