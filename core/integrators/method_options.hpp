// How steps are taken: what symplectree/integrators/variational.py and reduced.py let users choose, by the same names.
#pragma once

namespace symplectree {

enum class Retraction;  // kinematics/retraction.hpp
enum class Action { Cayley, Chord, Exponential, Midpoint, Reduced };
enum class Solver { Newton, Riqn, Broyden, Dense };
enum class Guess { Extrapolate, Current, Velocity, Acceleration };

struct MethodOptions {
  Action action = Action::Cayley;
  double alpha = 0.5;       // of Midpoint and Reduced: weight of a step's end
  Retraction retraction{};  // of Reduced
  Solver solver = Solver::Newton;
  Guess guess = Guess::Extrapolate;
  double tolerance = 1e-11;  // what may be left of each equation, relative to the size of the terms it is made of
  int max_iterations = 50;   // from one guess
  int substeps = 6;          // how often a step that is too long, or without solution, may be halved
  double accuracy = 0;       // of the energy, relative; 0: steps are divided only where they are out of range
  int order = 2;
  bool located = true;  // are impacts located in time, or do they take whole steps?
};

}  // namespace symplectree
