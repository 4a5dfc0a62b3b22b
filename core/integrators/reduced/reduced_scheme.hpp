// The reduced variational integrator of a free-floating mechanism, K (1)–(6); the equations are in
// tests/reference/reduced.py. The residual takes O(n), and so does the direction of quasi-Newton: the mass matrix
// half-way, corrected by what the iterations before have shown (Broyden). Where that is slow (long steps, much
// damping), and with constraints or prescribed coordinates, Newton's matrix by dual numbers, O(n³).
#pragma once

#include <array>
#include <memory>

#include "integrators/body_action/step_rows.hpp"
#include "integrators/momentum_noise.hpp"
#include "integrators/reduced/reduced_newton.hpp"
#include "integrators/run_memory.hpp"

namespace symplectree {

// A scheme for NewtonRun.
class ReducedScheme {
 public:
  static constexpr bool implicit_potentials = true;  // as MidpointScheme

  ReducedScheme(const Model& m, double alpha, Retraction kind)
      : m_(m), alpha_(alpha), kind_(kind), step_(m, alpha, kind), half_(m), middle_(m.nq), q1_(m.nq), p0_(m.nv),
        tau_(m.nv), inputs_(m.inputs + 1), r_(m.nv + m.rows), scale_(m.nv + m.rows), side_(m.nv), impulse_(m.nv),
        impulse_size_(m.nv), reaction_(m.nv), noise_(m), prescribed_(m.nv), rows_(m), last_r_(m.nv), last_at_(m.nv),
        at_(m.nv), number_(m.nv, -1) {
    for (Pair& p : pairs_) p.s.resize(m.nv), p.a.resize(m.nv);
    for (int i = 2; i < m.size(); ++i)
      for (int k = 0; k < m.bodies[i].nv && m.bodies[i].flat(); ++k) number_[m.bodies[i].v + k] = m.bodies[i].q + k;
  }

  void place(const double*) { known_ = 0; }
  void flip() {}
  bool end_by_momentum(const double*, double*) { return false; }
  void carry(RunMemory& memory) {
    for (Pair& pair : pairs_) memory(pair.s, pair.a);
    memory(begun_, known_);
  }
  double turned(const double*, const double*) const { return 0; }  // nothing depends on it
  void set_prescribed(const std::vector<char>& velocities) {
    prescribed_ = velocities;
    coupled_ = m_.rows > 0 || std::find(velocities.begin(), velocities.end(), char(1)) != velocities.end();
  }
  void learn(double, const double*, const double*) {}

  void begin(double h, const double* q, const double* p, const double* tau, const double* inputs) {
    std::copy(p, p + m_.nv, p0_.begin());
    std::copy(tau, tau + m_.nv, tau_.begin());
    std::copy(inputs, inputs + m_.inputs, inputs_.begin());
    step_.now.place(q);
    if (m_.rows > 0) evaluate_rows<true>(m_, rows_.structure, q, step_.now.w, rows_.now);
    // What was learned holds for the next steps as well, until it fills the memory.
    if (h != begun_ || known_ == static_cast<int>(pairs_.size())) known_ = 0;
    h_ = 0, begun_ = h, factorized_ = exact_ = false, directions_ = 0;
  }

  // The impulses of constraints, which the residual includes.
  void set_multipliers(const double* lambda) {
    transposed_rows(m_, rows_.structure, {rows_.now, step_.now.w}, lambda, {rows_.force, rows_.bound},
                    {impulse_.data(), impulse_size_.data()});
  }

  // The residual at q1; the largest entry relative to what it is made of. Where it is known already it is not formed
  // again.
  template <bool WithDerivative>
  double evaluate(double h, const double* q0, const double* q1, int& worst) {
    if (WithDerivative && m_.rows == 0 && h == h_ && std::equal(q1_.begin(), q1_.end(), q1))
      return worst = worst_, largest_;
    h_ = h;
    std::copy(q1, q1 + m_.nq, q1_.begin());
    for (int i : m_.quaternions) {
      const Body& b = m_.bodies[i];
      retraction_inverse(kind_, b.kind == Kind::Free, q0 + b.q, q1 + b.q, &step_.x[b.v]);
    }
    for (int j = kBase; j < m_.nv; ++j)
      if (number_[j] >= 0) step_.v[j] = (q1[number_[j]] - q0[number_[j]]) / h;
    step_.next.place(q1);
    step_.evaluate(h);
    step_.now.loads({q0, step_.v.data()}, {tau_.data(), inputs_.data()},
                    {.conservative = h * (1 - alpha_), .other = 0.5 * h}, step_.load.data());
    largest_ = 0;
    for (int j = 0; j < m_.nv; ++j) {
      const double left = step_.left[j], load = step_.load[j];
      r_[j] = p0_[j] + impulse_[j] - left + load;
      scale_[j] = std::fabs(p0_[j]) + impulse_size_[j] + std::fabs(left) + std::fabs(load) + 1e-300;
      if (prescribed_[j]) reaction_[j] = r_[j], r_[j] = 0;
      const double ratio = std::fabs(r_[j]) / scale_[j];
      if (exceeds(ratio, largest_)) largest_ = ratio, worst_ = j;
    }
    if (m_.rows > 0)
      largest_ = rows_.add_residual<WithDerivative>({h, q0, q1}, step_.next.w, r_, scale_, largest_, worst_);
    worst = worst_;
    return largest_;
  }

  bool quick_direction(double h, const double* q0, const double* q1, double* delta) {
    if (coupled_) return false;
    int worst = 0;
    evaluate<true>(h, q0, q1, worst);
    direction(h, q0, q1, delta);
    return true;
  }
  void next_direction(double h, const double* q0, const double* q1, double* delta) { direction(h, q0, q1, delta); }

  bool at_floor(double h, const double*, const double* q1, double factor) {
    return rows_.at_floor(factor) &&
           noise_.covers({h, q1, step_.v.data(), step_.next.w}, r_, scale_, factor,
                         [&](const Body& b, int j) { return coordinate_rounding(b, j, step_.v[j], h, q1); });
  }

  void direction(double h, const double* q0, const double* q1, double* delta) {
    for (int j = 0; j < m_.nv; ++j) at_[j] = number_[j] < 0 ? step_.x[j] : q1[number_[j]];
    const bool again = directions_ > 0 && at_ == last_at_;
    if (directions_ > 1 && !again && largest_ > kSlow * before_) exact_ = true;
    if (exact_ || coupled_) return exact_direction(h, q0, q1, delta);
    if (!factorized_) {
      std::copy(q0, q0 + m_.nq, middle_.begin());  // of joints with quaternions the beginning will do
      for (int k : number_)
        if (k >= 0) middle_[k] = 0.5 * (q0[k] + q1[k]);
      factorize_mass(m_, middle_.data(), half_);
      factorized_ = true;
    }
    if (directions_ > 0 && !again) learn_from_last(h);
    apply_inverse(h, r_.data(), delta);
    before_ = largest_, last_r_ = r_, last_at_ = at_;
    ++directions_;
    to_increment(delta);
  }

  // p' = D₂L_d + f⁺, at the last evaluation.
  void finish(double h, const double*, const double* q1, const double* tau, const double* inputs, double* p) {
    step_.right(h, p);
    step_.next.loads({q1, step_.v.data()}, {tau, inputs}, {.conservative = h * alpha_, .other = 0.5 * h},
                     step_.load.data());
    for (int j = 0; j < m_.nv; ++j) p[j] += step_.load[j];
  }

  const std::vector<double>& residual() const { return r_; }
  const std::vector<double>& reaction() const { return reaction_; }
  const std::vector<double>& scale() const { return scale_; }

 private:
  // Newton's own, with constraints and prescribed coordinates.
  void exact_direction(double h, const double* q0, const double* q1, double* delta) {
    if (!newton_) newton_ = std::make_unique<ReducedNewton>(m_, alpha_, kind_);
    newton_->tau = tau_, newton_->inputs = inputs_;
    const double* N = newton_->matrix(h, q0, q1, step_);
    if (coupled_) return rows_.solve_dense(N, prescribed_, step_.now.w, step_.next.w, r_.data(), delta);
    solve_lu(N, m_.nv, r_.data(), delta);
  }

  // d ← H r, where H is the inverse of −∂r/∂(x, r') ≈ [D 0; 0 1]ᵀ M/h with D = dτ⁻¹_x, corrected by the pairs.
  void apply_inverse(double h, const double* r, double* d) {
    std::copy(r, r + m_.nv, side_.begin());
    for (int i : m_.quaternions) {
      const Body& b = m_.bodies[i];
      solve_small_transposed(tangent_inverse(kind_, b, 1, step_.x).data(), b.nv, &side_[b.v]);
    }
    solve_mass(m_, side_.data(), d, half_);
    for (int j = 0; j < m_.nv; ++j) d[j] *= h;
    for (int k = 0; k < known_; ++k) {
      const Pair& pair = pairs_[k];
      double along = 0;
      for (int j = 0; j < m_.nv; ++j) along += pair.s[j] * d[j];
      for (int j = 0; j < m_.nv; ++j) d[j] += along * pair.a[j];
    }
  }

  // Broyden's update: the last change s of (x, r') has changed the residual by −y, so H y shall be s:
  // H ← H + a sᵀH with a = (s − H y)/(sᵀH y).
  void learn_from_last(double h) {
    if (known_ == static_cast<int>(pairs_.size())) return;
    Pair& pair = pairs_[known_];
    for (int j = 0; j < m_.nv; ++j) pair.s[j] = at_[j] - last_at_[j], last_r_[j] -= r_[j];
    apply_inverse(h, last_r_.data(), pair.a.data());
    double along = 0, square = 0;
    for (int j = 0; j < m_.nv; ++j) along += pair.s[j] * pair.a[j], square += pair.s[j] * pair.s[j];
    if (!(along > 0.1 * square)) return;
    for (int j = 0; j < m_.nv; ++j) pair.a[j] = (pair.s[j] - pair.a[j]) / along;
    ++known_;
  }

  // A change of x becomes the increment of the joint's end that makes it.
  void to_increment(double* delta) const {
    for (int i : m_.quaternions) to_end_increment(kind_, m_.bodies[i], step_.x, delta + m_.bodies[i].v);
  }

  struct Pair {
    std::vector<double> s, a;
  };

  static constexpr double kSlow = 0.2;  // an iteration that leaves more of the residual than this calls for Newton's

  const Model& m_;
  double alpha_;
  Retraction kind_;
  ReducedMotion<double> step_;
  Workspace<double> half_;
  std::vector<double> middle_, q1_, p0_, tau_, inputs_, r_, scale_, side_, impulse_, impulse_size_, reaction_;
  MomentumNoise noise_;
  std::vector<char> prescribed_;  // of each velocity: its coordinate is prescribed
  bool coupled_ = false;          // are there constraint rows or prescribed velocities?
  StepRows rows_;
  std::vector<double> last_r_, last_at_, at_;  // residual and (x, r') of the direction before; (x, r') now
  std::vector<int> number_;                    // of each velocity: its plain coordinate, −1 of joints with quaternions
  std::array<Pair, 8> pairs_;
  std::unique_ptr<ReducedNewton> newton_;                // made when it is needed
  double begun_ = 0, h_ = 0, largest_ = 0, before_ = 0;  // of the last evaluation; of the direction before
  int worst_ = 0, known_ = 0, directions_ = 0;
  bool factorized_ = false, exact_ = false;
};

}  // namespace symplectree
