// Newton's matrix of a reduced step: derivatives of its residual in x and in plain coordinates at the end, by dual
// numbers, O(n³).
#pragma once

#include "integrators/reduced/reduced_motion.hpp"
#include "kinematics/configurations.hpp"
#include "model/user_elements.hpp"

namespace symplectree {

class ReducedNewton {
 public:
  ReducedNewton(const Model& m, double alpha, Retraction kind)
      : m_(m), alpha_(alpha), kind_(kind), step_(m, alpha, kind), q0_(m.nq), q1_(m.nq), along_(m.nv), rate_(m.nq),
        matrix_(static_cast<std::size_t>(m.nv) * m.nv) {}

  // −∂r/∂q' (column by column), by increments, of the residual r of the step `at`.
  const double* matrix(double h, const double* q0, const double* q1, const ReducedMotion<double>& at) {
    for (int k = 0; k < m_.nq; ++k) q0_[k] = q0[k], q1_[k] = q1[k];
    for (int j = 0; j < m_.nv; ++j) step_.x[j] = at.x[j], step_.v[j] = at.v[j];
    step_.now.place(q0_.data()), step_.next.place(q1_.data());
    for (int i = 1; i < m_.size(); ++i)
      for (int k = 0; k < m_.bodies[i].nv; ++k) add_column(h, q1, at, m_.bodies[i], k);
    add_user_forces_change(q0, at);
    for (int i : m_.quaternions) {  // δx = dτ⁻¹_{−x} η
      const Body& b = m_.bodies[i];
      multiply_small(&entry(0, b.v), m_.nv, tangent_inverse(kind_, b, -1, at.x).data(), b.nv);
    }
    return matrix_.data();
  }

  std::vector<double> tau, inputs;  // of the step's beginning

 private:
  double& entry(int i, int j) { return matrix_[static_cast<std::size_t>(m_.nv) * j + i]; }

  // The column of Newton's matrix for number k of a joint. The residual does not depend on where the root ends but by
  // x.
  void add_column(double h, const double* q1, const ReducedMotion<double>& at, const Body& b, int k) {
    const int s = b.v + k;
    if (b.flat()) {
      q1_[b.q + k].slope = 1, step_.v[s].slope = 1 / h;
    } else {
      step_.x[s].slope = 1;
      if (b.parent != 0) turn_end(q1, at, b, k);
    }
    if (b.parent != 0) step_.next.place(q1_.data());
    step_.evaluate(h);
    step_.now.loads({q0_.data(), step_.v.data()}, {tau.data(), inputs.data()},
                    {.conservative = h * (1 - alpha_), .other = 0.5 * h}, step_.load.data());
    for (int j = 0; j < m_.nv; ++j) entry(j, s) = step_.left[j].slope - step_.load[j].slope;
    step_.x[s].slope = step_.v[s].slope = 0;
    for (int j = b.q; j < b.q + b.nq(); ++j) q1_[j].slope = 0;
    if (b.parent != 0 && k + 1 == b.nv) step_.next.place(q1_.data());
  }

  // How the end of a joint with a quaternion moves with x_k: by the increment η with dτ⁻¹_{−x} η = e_k.
  void turn_end(const double* q1, const ReducedMotion<double>& at, const Body& b, int k) {
    std::fill(along_.begin(), along_.end(), 0.0);
    along_[b.v + k] = 1;
    to_end_increment(kind_, b, at.x, &along_[b.v]);
    configuration_rate(m_, q1, along_.data(), rate_.data());
    for (int j = b.q; j < b.q + b.nq(); ++j) q1_[j].slope = rate_[j];
  }

  // Dual numbers do not reach the user's forces: f⁻ = (h/2) f(q, v), and h v is what the columns stand for.
  void add_user_forces_change(const double* q0, const ReducedMotion<double>& at) {
    for (const UserElement& u : m_.users) {
      if (u.kind != UserElement::Force) continue;
      user_.evaluate(u, 2, q0, at.v.data());
      for (int i = 0; i < u.size(); ++i)
        for (int k = 0; k < u.size(); ++k) entry(u.v[i], u.v[k]) -= 0.5 * user_.second[u.size() * i + k];
    }
  }

  const Model& m_;
  double alpha_;
  Retraction kind_;
  ReducedMotion<Dual> step_;
  std::vector<Dual> q0_, q1_;
  std::vector<double> along_, rate_, matrix_;
  UserTerms user_;
};

}  // namespace symplectree
