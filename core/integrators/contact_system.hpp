// The rows J of parts that only push or rub, where they are held, and how impulses along them change their velocities:
// W = J M⁻¹ Jᵀ, with M⁻¹ under constraints and prescribed coordinates where there are any.
#pragma once

#include "contact/contact_matrix.hpp"
#include "contact/unilateral.hpp"
#include "integrators/state_dynamics.hpp"

namespace symplectree {

class ContactSystem {
 public:
  std::vector<double> J, W;  // rows × nv; rows × rows, in groups
  RowGroups groups;

  ContactSystem(const Model& m, const UnilateralRows& unilateral, StateDynamics& dynamics)
      : m_(m), unilateral_(unilateral), dynamics_(dynamics), matrix_(m), column_(m.nv), no_rates_(m.nv) {}

  // Of these parts, at the configuration q, whose poses are in `at`.
  void build(const std::vector<Unilateral>& parts, const double* q, const Workspace<double>& at);

  // The problem of these parts over a step of h, with W; y₀ and x are left to the caller.
  void begin(const std::vector<Unilateral>& parts, double h, ConeProblem& problem) const;

  // out (nv) ← Jᵀ x,
  void impulse(const std::vector<double>& x, std::vector<double>& out) const;
  // out (rows) ← J v.
  void rates(const std::vector<double>& v, std::vector<double>& out) const;

  // out (nv) ← the change of velocity by an impulse p (nv) at q.
  void velocity(const double* q, const double* p, double* out) { dynamics_.velocity(q, p, no_rates_.data(), out); }

 private:
  const Model& m_;
  const UnilateralRows& unilateral_;
  StateDynamics& dynamics_;
  ContactMatrix matrix_;
  std::vector<ContactMatrix::Part> rows_;
  std::vector<double> column_, no_rates_;
};

}  // namespace symplectree
