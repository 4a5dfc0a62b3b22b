// How momenta, impulses and rates change with the configuration, by running them on jets, eight directions at a time.
#pragma once

#include "contact/unilateral.hpp"
#include "dense/row_matrix.hpp"
#include "linearization/row_equations.hpp"
#include "scalar/jet.hpp"

namespace symplectree {

// Derivatives in q, nv columns each.
struct ImpulseSlopes {
  RowMatrix momenta;  // of M(q) v (nv),
  RowMatrix bound;    // of Dh(q)ᵀ μ (nv),
  RowMatrix rates;    // of Dh(q) v (rows of constraints),
  RowMatrix push;     // of J(q)ᵀ x (nv),
  RowMatrix speeds;   // and of J(q) v (rows of the parts)
};

class ImpulseEquations {
 public:
  explicit ImpulseEquations(const Model& m);

  int count(const std::vector<Unilateral>& parts) const;

  // At q for velocities v, impulses μ of constraints and x of parts.
  ImpulseSlopes at(const std::vector<Unilateral>& parts, const double* q, const double* v, const double* mu,
                   const std::vector<double>& x);
  // Of J(q)ᵀ x alone.
  RowMatrix push(const std::vector<Unilateral>& parts, const double* q, const std::vector<double>& x);
  // Of the values y (rows of the parts) of a step from q to q1: nv columns for q, and nv for q1.
  RowMatrix values(const std::vector<Unilateral>& parts, const double* q, const double* q1);

 private:
  // A contact at poses that carry derivatives.
  struct Touch {
    int a, b;  // bodies
    Jet gap;
    Vec3<Jet> point, axes[3];
  };

  Touch touch(const Unilateral& u, const Workspace<Jet>& at) const;
  // Poses at q moved in directions `start` and the following.
  void place(const double* q, int start, std::vector<Jet>& moved, Workspace<Jet>& at);
  void add_push(const std::vector<Unilateral>& parts, const std::vector<double>& x, const Workspace<Jet>& at, Jet* out);
  void speeds(const std::vector<Unilateral>& parts, const double* v, const Workspace<Jet>& at, Jet* out) const;

  const Model& m_;
  UnilateralRows rows_;
  RowEquations<Jet> constraints_;
  Workspace<Jet> begin_, end_;
  std::vector<Jet> d_, q_, q1_, v_, mu_, moved_;
  std::vector<Spatial<Jet>> force_;
};

}  // namespace symplectree
