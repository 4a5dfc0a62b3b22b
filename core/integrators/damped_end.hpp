// The momentum at the end of a step with strong dampers (end_damping.hpp), in linear time along the tree.
#pragma once

#include <memory>

#include "constraints/loop_solver.hpp"
#include "integrators/joint_terms.hpp"

namespace symplectree {

template <class T, class R>
class EndDamping;

class DampedEnd {
 public:
  explicit DampedEnd(const Model& m);
  ~DampedEnd();

  void set_prescribed(const std::vector<char>& velocities) { prescribed_ = velocities; }

  // Is a damper strong in steps of h from the state (q, v)? Of the user's forces only those that are so there count.
  bool is_strong(double h, const double* q, const double* v);

  // v ← (M + (h/2) C)⁻¹ p at q, along constraints: about the velocity of a step of h.
  void guess(double h, const double* q, const double* p, const double* rates, double* v);

  // p ← p' of a step, p⁺ on entry; prescribed velocities at the end are those of `rates`.
  void settle(const StepEnds<double>& step, const double* rates, double* p);

 private:
  // Poses, inertias and rows at the end, and what they are to be solved for.
  void place(const double* q, const double* rates, const double* p);
  void place_pairs();
  void place_users();
  // v_ and lambda_ ← the solution.
  void solve(const double* rates);
  // How fast row k changes by prescribed velocities.
  double rate(int k, const double* rates) const;

  const Model& m_;
  std::unique_ptr<EndDamping<double, double>> damping_;
  RowStructure structure_;
  RowValues left_, right_;
  LoopSolver loops_;
  Workspace<double> start_, end_;
  std::vector<char> prescribed_;
  std::vector<Matrix6<double>> inertia_;
  std::vector<Spatial<double>> force_;
  std::vector<std::array<double, 2>> bound_;
  std::vector<std::array<double, 36>> block_;
  std::vector<double> stiff_, rhs_, compliance_, e_, lambda_, v_, momentum_, of_rows_, size_;
};

}  // namespace symplectree
