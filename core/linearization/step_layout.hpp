// Where a step was taken, and its unknowns and parameters in a row.
#pragma once

#include "model/model.hpp"

namespace symplectree {

// Where a step was taken: everything that its equations are evaluated at. λ are impulses; v and μ, with which p' goes
// along the constraints, count when there are constraints, prescribed coordinates or strong dampers.
struct StepPoint {
  double h;
  std::vector<double> q0, q1, lambda, tau, inputs, v, mu;
};

// The unknowns and parameters z = (q, q', λ, forces, v, μ) in a row, and what belongs to what.
struct StepLayout {
  int nv, rows, forces;  // forces: inputs of the model, or its velocities when it has none
  bool inputs;           // are these inputs?
  bool projected;        // is p' that of a velocity v along constraints?
  bool damped;           // are dampers strong (end_damping.hpp), or may the user's be?
  int q0 = 0, q1, lambda, force, v, mu, size;
  int equations, outputs;

  StepLayout(const Model& m, bool prescribed, bool strong_dampers = false)
      : nv(m.nv), rows(m.rows), forces(m.inputs ? m.inputs : m.nv), inputs(m.inputs > 0),
        projected(m.rows > 0 || prescribed || strong_dampers), damped(strong_dampers) {
    q1 = nv, lambda = q1 + nv, force = lambda + rows, v = force + forces, mu = v + (projected ? nv : 0);
    size = mu + (projected ? rows : 0);
    equations = (nv + rows) * (projected ? 2 : 1);
    outputs = nv;  // p'; q' is an unknown
  }
};

}  // namespace symplectree
