// The discrete action of a free-floating mechanism between two configurations, K (1)–(6): what its two ends say. The
// equations are in tests/reference/reduced.py.
#pragma once

#include <algorithm>
#include <array>

#include "dense/dense_solvers.hpp"
#include "dynamics/floating_base.hpp"
#include "kinematics/retraction.hpp"

namespace symplectree {

// One step from q0 to q1 and what its action says of it, for any scalar.
template <class T>
struct ReducedMotion {
  const Model& m;
  double alpha;
  Retraction kind;
  ShapeState<T> now, next;
  // (hξ, h u) of the step, of plain coordinates zero; velocity (ξ, u); −D₁L_d without potentials; impulses at one end
  std::vector<T> x, v, left, load;
  T Omega[kBase], mu[kBase], c0[kBase], c1[kBase];

  ReducedMotion(const Model& model, double part, Retraction retraction)
      : m(model), alpha(part), kind(retraction), now(m), next(m), x(m.nv), v(m.nv), left(m.nv), load(m.nv),
        force_(m.nv) {}

  // Ω, μ and −D₁L_d after x, and u of plain coordinates, are in place.
  void evaluate(double h) {
    for (int i : m.quaternions)
      for (int j = m.bodies[i].v; j < m.bodies[i].v + m.bodies[i].nv; ++j) v[j] = T(1 / h) * x[j];
    now.move(v.data()), next.move(v.data());
    const T w0(1 - alpha), w1(alpha);
    for (int k = 0; k < kBase; ++k) {
      Omega[k] = v[k] + w0 * now.Au[k] + w1 * next.Au[k];
      mu[k] = T(0);
    }
    now.locked.add_product(w0, Omega, mu), next.locked.add_product(w1, Omega, mu);
    for (int k = 0; k < kBase; ++k) c0[k] = c1[k] = mu[k];
    now.locked.solve(c0), next.locked.solve(c1);
    end_of_step(T(1), T(-h) * w0, T(0), left.data());
  }

  // p (nv) ← D₂L_d without potentials.
  void right(double h, T* p) { end_of_step(T(-1), T(0), T(h * alpha), p); }

 private:
  // out ← (dτ⁻¹_{sign x})ᵀ (μ, π), where dτ⁻¹ = 1 for plain coordinates, plus the shape's forces at both ends times
  // their parts.
  void end_of_step(const T& sign, const T& force_now, const T& force_next, T* out) {
    std::copy(mu, mu + kBase, out);
    std::fill(out + kBase, out + m.nv, T(0));
    std::fill(force_.begin(), force_.end(), T(0));
    now.add_shape_terms(v.data(), c0, Omega, {.momentum = T(1 - alpha), .force = force_now}, out, force_.data());
    next.add_shape_terms(v.data(), c1, Omega, {.momentum = T(alpha), .force = force_next}, out, force_.data());
    T turned[kBase];
    for (int i : m.quaternions) {
      const Body& b = m.bodies[i];
      for (int k = 0; k < b.nv; ++k) turned[k] = sign * x[b.v + k];
      carry_back(kind, b.nv, turned, out + b.v);
    }
    for (int j = kBase; j < m.nv; ++j) out[j] += force_[j];
  }

  std::vector<T> force_;
};

// dτ⁻¹ of a joint at `sign` times its twist in x (nv), column by column.
inline std::array<double, kBase * kBase> tangent_inverse(Retraction kind, const Body& b, double sign,
                                                         const std::vector<double>& x) {
  double twist[kBase], row[kBase];
  for (int k = 0; k < b.nv; ++k) twist[k] = sign * x[b.v + k];
  std::array<double, kBase * kBase> D;
  for (int k = 0; k < b.nv; ++k) {
    std::fill(row, row + b.nv, 0.0);
    row[k] = 1;
    carry_back(kind, b.nv, twist, row);
    for (int j = 0; j < b.nv; ++j) D[b.nv * j + k] = row[j];
  }
  return D;
}

// A change of x becomes the increment of the joint's end that makes it: δx = dτ⁻¹_{−x} η.
inline void to_end_increment(Retraction kind, const Body& b, const std::vector<double>& x, double* change) {
  solve_small(tangent_inverse(kind, b, -1, x).data(), b.nv, change);
}

}  // namespace symplectree
