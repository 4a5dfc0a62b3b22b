// Arguments that go together: the state of all joints, and what acts on them.
#pragma once

namespace symplectree {

// Positions (nq) and velocities (nv).
template <class T>
struct JointState {
  const T *q, *v;
};

// Generalized forces (nv), and inputs of the model's elements.
template <class T>
struct AppliedForces {
  const T* tau;
  const double* inputs;
};

// By how much forces of potentials count, and by how much all others.
struct ForceShares {
  double conservative, other;
};

}  // namespace symplectree
