// Steps of a model under controls: its inputs, or forces on all velocities when it has none, and rates of prescribed
// coordinates.
//
// A prescribed coordinate s moves on a straight line, s' = s + dt c, and its rate c is the control.
#pragma once

#include "dense/row_matrix.hpp"
#include "dynamics/state_mechanics.hpp"
#include "integrators/run_interface.hpp"
#include "linearization/step_derivatives.hpp"

namespace symplectree {

// Places of a prescribed coordinate in q and v.
struct PrescribedPlace {
  int q, v;
};

struct ControlledModel {
  const Model& tree;
  const CoordinateMap* map;  // null where all coordinates are independent
  MethodOptions options;     // of steps in a row
  MethodOptions single;      // of steps that are differentiated by themselves
  double dt;
  int steps;
  std::vector<PrescribedPlace> prescribed;  // in the order of their controls, behind the forces

  const Model& layout() const { return map ? map->layout : tree; }
  int nq() const { return layout().nq; }
  int nv() const { return layout().nv; }
  int n() const { return 2 * nv(); }
  int forces() const { return tree.inputs ? tree.inputs : prescribed.empty() ? nv() : 0; }
  int m() const { return forces() + static_cast<int>(prescribed.size()); }
  bool is_free() const { return tree.rows == 0 && prescribed.empty(); }
  // Marks of the tree's velocities.
  std::vector<char> marks() const {
    std::vector<char> out(nv());
    for (const PrescribedPlace& place : prescribed) out[place.v] = 1;
    return map ? map->marks(out) : out;
  }
};

// States (steps + 1 rows) and controls (steps rows) of a motion, and what it costs. v of models without constraints and
// prescribed coordinates is left out: it is M⁻¹ p.
struct Motion {
  std::vector<double> q, p, v, u;
  double cost = 0;

  Motion() = default;
  explicit Motion(const ControlledModel& m)
      : q(static_cast<std::size_t>(m.steps + 1) * m.nq()), p(static_cast<std::size_t>(m.steps + 1) * m.nv()),
        v(m.is_free() ? 0 : p.size()), u(static_cast<std::size_t>(m.steps) * m.m()) {}
};

// What acts in a step under controls u from q: forces, and where prescribed coordinates end and how fast.
class StepControls {
 public:
  std::vector<double> tau, inputs, target, rates;

  explicit StepControls(const ControlledModel& m)
      : tau(m.nv()), inputs(m.tree.inputs + 1), target(m.nq()), rates(m.nv()), m_(m) {}

  void set(const double* q, const double* u) {
    std::copy(u, u + m_.forces(), m_.tree.inputs ? inputs.data() : tau.data());
    if (m_.prescribed.empty()) return;
    std::copy(q, q + m_.nq(), target.data());
    u += m_.forces();
    for (const PrescribedPlace& place : m_.prescribed) {
      target[place.q] = q[place.q] + m_.dt * *u;
      rates[place.v] = *u++;
    }
  }

 private:
  const ControlledModel& m_;
};

// Controls u_k + length · steps_k + gains_k [local(q_k, q); p − p_k] of a motion, within limits; what is null is left
// out.
struct Policy {
  const Motion* along;
  const double *steps, *gains;
  double length;
  const double *lower, *upper;
};

class RollOut {
 public:
  explicit RollOut(const ControlledModel& m);

  // The motion from (q, p), with v = M⁻¹ p where `Motion` keeps it, under a policy; returns how many steps were taken
  // before one had no solution, or before a control was not finite.
  int run(const double* q, const double* p, const double* v, const Policy& policy, Motion& out);

 private:
  void decide(int k, const double* q, const double* p, const Policy& policy, double* u);

  const ControlledModel& m_;
  DerivativeWorkspace<double> workspace_;
  StateMechanics mechanics_;
  std::unique_ptr<Run> run_;
  StepControls controls_;
  std::vector<double> off_, none_;
};

// Derivatives of steps of a motion; one thread.
class StepStages {
 public:
  explicit StepStages(const ControlledModel& m);

  // AB (n × n + m) ← derivatives of (q', p') of step k in (q, p, u); false when the step has no solution by itself.
  bool first(int k, const Motion& along, double* AB);
  // What acts in that step that only pushes or rubs, so that it has first derivatives only.
  const std::vector<UnilateralPlace>& acting() const { return step_->unilateral().acting; }
  // H (n + m × n + m) ← second derivatives of weights·(q', p') of that step.
  void bend(const double* weights, double* H);
  // The step differentiated last, to be put back before `bend`; where this can be done.
  bool can_keep() const { return step_->can_keep(); }
  void keep(StepRecord& out) const { step_->keep(out); }
  void put_back(const StepRecord& kept) { step_->put_back(kept); }

 private:
  const ControlledModel& m_;
  std::unique_ptr<StepDerivatives> step_;
  StepControls controls_;
  std::vector<double> q1_, p1_, first_, multipliers_, bent_;
  RowMatrix chain_;  // from (q, p, u) to the inputs of the step, where coordinates are prescribed
};

}  // namespace symplectree
