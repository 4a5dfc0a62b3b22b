// The frozen model as the core uses it: bodies (body.hpp), rows of elements and constraints (rows/), the user's own
// elements.
//
// Masses, lengths and strengths are of type R: plain numbers in `Model`, numbers that carry derivatives where a step is
// differentiated in them (parameter_sensitivity.hpp).
//
// Rows, functions and the user's elements are declared only; who looks into them includes their headers
// (rows/all_rows.hpp, potential.hpp, user_elements.hpp), and who makes, copies or destroys a model all of these.
#pragma once

#include <memory>
#include <vector>

#include "model/body.hpp"
#include "model/rows/kinds.hpp"

namespace symplectree {

struct PoseFormula;
struct Potential;
struct UserElement;

// What no mass or length changes.
struct ModelStructure {
  int nq = 0, nv = 0, inputs = 0;
  std::vector<int> body_of;      // body of each velocity
  std::vector<int> quaternions;  // bodies with a Ball or Free joint
  std::vector<int> formula_bodies;
  std::vector<std::shared_ptr<PoseFormula>> formulas;
  double ground_energy = 0;
  std::vector<Potential> potentials;
  std::vector<UserElement> users;
  bool user_forces = false;  // is any of these a force?
  int rows = 0;              // of constraints
  // Limits that the actuators of a variant of a model are at (elements/actuator.hpp); none where they are free.
  std::vector<signed char> limits;
};

template <class R>
struct ModelOf : ModelStructure, RowsOf<R> {
  BodiesOf<R> bodies;       // [0] is the world
  std::vector<R> armature;  // of each velocity
  Vec3<R> gravity;

  int size() const { return static_cast<int>(bodies.size()); }
};
using Model = ModelOf<double>;

}  // namespace symplectree
