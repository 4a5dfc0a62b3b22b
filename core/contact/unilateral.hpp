// What only pushes or rubs: end stops of joints and dry friction, as parts of a ConeProblem over a step.
//
// A part has one row or three, each with a value y that a step from q to q' has (a gap at its end, a displacement over
// it) and a row J of velocities: J v is the rate of y, and Jᵀx is what the impulse x does to momenta.
#pragma once

#include <vector>

#include "contact/cone_problem.hpp"
#include "model/workspace.hpp"

namespace symplectree {

struct Unilateral {
  enum class Source : unsigned char { Limit, Friction };

  Source source;
  int index;                 // of its row in the model
  double allowed = 0;        // a gap that was negative at the beginning, and may stay so
  double approach = 0;       // the gap's rate at the beginning
  bool closed = false;       // did it touch at the beginning?
  double begin[3] = {}, end[3] = {};  // impulses at the beginning and at the end of the step

  int rows() const { return 1; }
  bool same(const Unilateral& other) const { return source == other.source && index == other.index; }
};

// A gap below which a start counts as overlapping, not as rounding [m or rad].
inline constexpr double kOverlap = 1e-9;

class UnilateralRows {
 public:
  explicit UnilateralRows(const Model& m) : m_(m) {}

  // All that always counts: dry friction.
  void add_frictions(std::vector<Unilateral>& to) const;

  // Whatever is closer than `margin` at q and not in `to` yet.
  void add_closed(const double* q, double margin, std::vector<Unilateral>& to) const;

  // The gap at q.
  double gap(const Unilateral& u, const double* q) const;

  ConeProblem::Part part(const Unilateral& u, double h) const;

  // y (rows) of a step from q0 to q1; `moved` (nv) is its increment.
  void value(const Unilateral& u, const double* q1, const double* moved, double* y) const;
  // What rounding makes of it.
  double noise(const Unilateral& u, const double* q1) const;

  // J (rows × nv), which is set.
  void jacobian(const Unilateral& u, double* J) const;

  double restitution(const Unilateral& u) const;

 private:
  const Model& m_;
};

}  // namespace symplectree
