// One of the actions cayley, chord and exp on a tree, as a scheme for NewtonRun.
#pragma once

#include "integrators/body_action/root_direction.hpp"
#include "integrators/run_memory.hpp"

namespace symplectree {

template <class Action>
class TreeScheme {
 public:
  static constexpr bool implicit_potentials = false;

  TreeScheme(const Model& m, Solver solver) : w_(m), direction_(m), solver_(solver) {}

  void place(const double* q) {
    compute_poses(w_.m, q, *w_.now);
    noise_age_ = kNoiseLasts;
  }
  void set_prescribed(const std::vector<char>& velocities) {
    w_.prescribed = velocities;
    direction_.set_prescribed(velocities);
  }
  void begin(double h, const double* q, const double* p, const double* tau, const double* inputs) {
    begin_step(w_, h, q, p, tau, inputs);
    noise_age_ = h == noise_h_ ? std::min(noise_age_ + 1, kNoiseLasts) : kNoiseLasts;
    noise_h_ = h;
    estimated_ = false;
    if (!quick()) hold_bodies<Action>(w_);
    direction_.begin(solver_, w_, h, q);
    StepRows& rows = direction_.rows;
    if (rows.structure.rows() == 0) return;
    evaluate_rows<true>(w_.m, rows.structure, q, *w_.now, rows.now);
    evaluate_dampers(w_.m, rows.structure, *w_.now, rows.now);
  }
  // The impulses of constraints, which the residual includes.
  void set_multipliers(const double* lambda) {
    StepRows& rows = direction_.rows;
    transposed_rows(w_.m, rows.structure, {rows.now, *w_.now}, lambda, {rows.force, rows.bound},
                    {w_.impulse.data(), w_.impulse_size.data()});
  }
  // The residual at q1, ready for `direction` when `WithDerivative`; relative size, and the worst coordinate.
  template <bool WithDerivative>
  double evaluate(double h, const double* q0, const double* q1, int& worst) {
    const StepEnds<double> step{h, q0, q1};
    displace<Action>(w_, h, q1);
    if constexpr (WithDerivative) body_derivatives<Action>(w_, h);
    if (w_.m.user_forces) user_impulses(w_, step, false);
    const double largest = symplectree::residual(w_, step, worst);
    if (w_.m.rows == 0) return largest;
    return direction_.rows.add_residual<WithDerivative>(step, *w_.next, w_.r, w_.scale, largest, worst);
  }
  // A Newton step from q1 in one go, where there is one: the residual at q1 itself is not formed.
  bool quick_direction(double h, const double* q0, const double* q1, double* delta) {
    if (!quick()) return false;
    displace<Action, true>(w_, h, q1);
    newton_sweep<Action>(w_, {h, q0, q1}, delta);
    return true;
  }
  // The next one, after `evaluate<false>` at q1; sweeps have used up w.F.
  void next_direction(double h, const double* q0, const double* q1, double* delta) {
    restore_impulses(w_, h);
    newton_sweep<Action>(w_, {h, q0, q1}, delta);
  }
  bool at_floor(double h, const double*, const double* q1, double factor) {
    if (!direction_.rows.at_floor(factor)) return false;
    if (noise_age_ < kNoiseLasts && within_noise(w_, factor)) return true;
    estimate_noise(w_, h, q1);
    noise_age_ = kNoiseLasts, estimated_ = within_noise(w_, factor);
    return estimated_;
  }
  void direction(double h, const double* q0, const double* q1, double* delta) {
    direction_.compute(w_, h, q0, q1, delta);
  }
  void learn(double h, const double* s, const double* before) { direction_.learn(w_, h, s, before); }
  void finish(double h, const double* q0, const double* q1, const double* tau, const double* inputs, double* p) {
    end_step<Action>(w_, StepEnds<double>{h, q0, q1}, tau, inputs, p);
  }
  // The same once more under other forces.
  void finish_again(double h, const double* q0, const double* q1, const double* tau, const double* inputs, double* p) {
    if (w_.loads) return finish(h, q0, q1, tau, inputs, p);
    end_step_again(w_, h, q1, tau, inputs, p);
  }
  // The end of a step becomes the beginning of the next. The noise of a root that is taken serves the next steps; that
  // of an iterate far from one, or of a root that is not taken, would hide what these leave over.
  void flip() {
    std::swap(w_.now, w_.next);
    if (std::exchange(estimated_, false)) noise_age_ = 0;
  }
  // After a step, and `flip`: how its end changes with the momentum at its beginning, by Newton's matrix of the last
  // iterate; false where the tree alone does not give it.
  bool end_by_momentum(const double* p, double* q1) {
    if (!quick()) return false;
    flip();
    solve_tree(w_, p, q1);
    flip();
    return true;
  }
  // Poses at the step's beginning.
  Workspace<double>& placed() { return *w_.now; }
  void carry(RunMemory& memory) { memory(w_.noise, noise_age_, noise_h_); }
  double turned(const double*, const double*) const { return formula_turn(w_.m, *w_.now, *w_.next); }

  // Of velocities, then of rows; of prescribed ones what the residual would be is in `reaction`.
  const std::vector<double>& residual() const { return w_.r; }
  const std::vector<double>& reaction() const { return w_.reaction; }
  const std::vector<double>& scale() const { return w_.scale; }

 private:
  // Does the tree alone give Newton's direction?
  bool quick() const { return solver_ == Solver::Newton && !direction_.coupled(); }

  NewtonWorkspace w_;
  static constexpr int kNoiseLasts = 16;  // how many steps an estimate of the noise serves: it changes slowly

  Direction direction_;
  Solver solver_;
  int noise_age_ = kNoiseLasts;
  double noise_h_ = 0;
  bool estimated_ = false;  // is the noise that of the last root found?
};

}  // namespace symplectree
