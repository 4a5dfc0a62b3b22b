// Forces of contacts, joint limits and dry friction in a state: those that keep what touches from approaching in the
// next instant τ, in which velocities change by τ a. So what rests is held, and what slides is braked against its
// motion.
#pragma once

#include "integrators/contact_system.hpp"

namespace symplectree {

// One point of contact, joint limit or friction: where it is (of contacts), the force on the first shape in world axes,
// or the force on the coordinate in `force.x`, and whether it slides.
struct ContactForce {
  Unilateral::Source source;
  int index;
  double gap;
  Vec3<double> point, normal, force;
  bool slides;
};

class ContactForces {
 public:
  explicit ContactForces(const Model& m);

  std::vector<ContactForce> all;  // in the last state
  std::vector<double> joint;      // (nv) what they do to velocities

  void set_prescribed(const std::vector<char>& velocities) { dynamics_.set_prescribed(velocities); }

  // In the state (q, v) under forces; of `a` (nv), accelerations of prescribed coordinates are read. False where they
  // are not found.
  bool find(const double* q, const double* v, const double* tau, const double* inputs, const double* a);

 private:
  const Model& m_;
  UnilateralRows unilateral_;
  StateDynamics dynamics_;
  ContactSystem system_;
  Workspace<double> at_, next_;
  ConeProblem problem_;
  std::vector<double> a_, d_, q1_;
};

}  // namespace symplectree
