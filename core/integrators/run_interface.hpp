// One integration, whatever its method: a state that is taken from step to step under forces and prescribed motions.
#pragma once

#include <limits>
#include <memory>
#include <vector>

#include "integrators/prescribed_motion.hpp"
#include "integrators/run_memory.hpp"
#include "model/model.hpp"

namespace symplectree {

// Generalized forces (nv) and inputs of a step: constant, or of an instant where `varies`.
class ForceSource {
 public:
  const double *tau, *inputs;

  ForceSource(const double* generalized, const double* of_inputs) : tau(generalized), inputs(of_inputs) {}
  virtual ~ForceSource() = default;
  virtual bool varies() const { return false; }
  // tau and inputs ← those at time t in the state (q, v).
  virtual void update(double, const double*, const double*) const {}
  // What a step of second order takes from t to t + h instead, where these are known functions of time: their means,
  // constant; null where they are not.
  virtual const ForceSource* means(double t, double h) const { return (void)t, (void)h, nullptr; }
};

// x: momenta without the impulses of constraints at q, or velocities of methods on (q, v). rates (nv): velocities of
// prescribed coordinates. last_step_length: of the step (or part of one) that led to the state, 0 at a start.
struct RunState {
  std::vector<double> q, x, rates;
  double last_step_length = 0;

  explicit RunState(const Model& m) : q(m.nq), x(m.nv), rates(m.nv) {}
  void carry(RunMemory& memory) { memory(q, x, rates, last_step_length); }
};

// An impact: when, and when its step began, of which row of contact pairs (contact 1) or joint limits (0), its normal
// impulse, where it was and the impulse on the first of the two shapes, and the energy that it took.
struct ImpactRecord {
  double t, begin;
  int contact, index;
  double normal;
  Vec3<double> point, impulse;
  double lost;
};

// What there is to say of the steps so far.
struct RunReport {
  std::vector<double> multipliers;    // of the last step, at its beginning: forces of the constraints
  std::vector<double> reactions;      // of the last step, at its beginning: forces on prescribed coordinates
  long iterations = 0, halvings = 0;  // in all; halvings counts steps taken as two shorter ones
  long lowered = 0;                   // steps of a composition that were taken as steps of order 2
  int feeding =
      -1;  // velocity that a force function drives the harder the faster it is, beyond all bounds in a few steps
  bool stiff_end = false;             // did forces at the end of the last step depend strongly on the velocity there?
  double turn = 0, largest_turn = 0;  // largest angle by which a joint turned in the last step, and in one step [rad]
  double shortest = std::numeric_limits<double>::infinity();  // part of a step that was divided [s]
  // Of the step that failed: relative residual (NaN where there is none), and its worst velocity or nv and the number
  // of a constraint row.
  double residual = std::numeric_limits<double>::quiet_NaN();
  int worst = 0;
  std::vector<double> parts;  // lengths of those that the last step was taken in, where it was divided

  explicit RunReport(const Model& m) : multipliers(m.rows), reactions(m.nv) {}
};

class Run {
 public:
  bool may_throw = false;  // does a step call elements that are functions of Python?
  // Impacts so far, in the order of time, of runs that have such; whoever reads them may empty it.
  std::shared_ptr<std::vector<ImpactRecord>> impacts;

  virtual ~Run() = default;
  // Mark velocities whose coordinates are prescribed.
  virtual void set_prescribed(const std::vector<char>& velocities) = 0;
  // Start at (q, x); of `rates` (nv) the velocities of prescribed coordinates count.
  virtual void reset(const double* q, const double* x, const double* rates) = 0;
  // The state was reached by a step of this length, so that x leaves out half a step's impulses of constraints.
  virtual void set_last_step_length(double) {}
  // One step of h from time t; false when it cannot be taken. The state then stays, but of explicit methods it shows
  // what is not finite.
  virtual bool step(double t, double h, const ForceSource& forces, const PrescribedMotion& motion) = 0;
  // Are there dampers, or functions that act as such, which end motions within a step of h?
  virtual bool is_strong(double, double, const ForceSource&) { return false; }
  // v (nv) ← the velocity of the state, which meets constraints and prescribed coordinates.
  virtual void velocity(double* v) = 0;
  // Of the last step, the energy in the highest mode of momenta that it can tell, 0 where it has none: what is not
  // resolved is less. `scale`: of energies.
  virtual double unresolved_energy(double) { return 0; }
  // Steps that are seen to have far more than `energy` of it need not be taken; 0: take all.
  virtual void limit_unresolved(double energy, double scale) { (void)energy, (void)scale; }
  // Go back to a state that the run was in before steps that are not to be.
  virtual void go_back(const RunState& state) {
    reset(state.q.data(), state.x.data(), state.rates.data());
    set_last_step_length(state.last_step_length);
  }
  // q1 (nv) ← how the end of the last step changes with a change p (nv) of the momentum at its beginning, to first
  // order and nearly; false where that is not known.
  virtual bool end_by_momentum(const double* p, double* q1) {
    (void)p, (void)q1;
    return false;
  }
  // x += impulse (nv), and nothing else changes.
  virtual void kick(const double* impulse) {
    RunState kicked = state();
    for (std::size_t j = 0; j < kicked.x.size(); ++j) kicked.x[j] += impulse[j];
    go_back(kicked);
  }
  // Activations of actuators, in their order; they are part of the state, and `reset` leaves them as they are.
  virtual std::vector<double>* activations() { return nullptr; }
  // Save the state and all else that the next steps depend on, or go back there.
  virtual void carry(RunMemory& memory) = 0;
  virtual const RunState& state() const = 0;
  virtual const RunReport& report() const = 0;
};

}  // namespace symplectree
