// The reduced variational integrator of a free-floating mechanism, K (1)–(6); the equations are in
// symplectree/reference/reduced.py. The residual takes O(n), and so does the direction of quasi-Newton: the mass matrix
// half-way, corrected by what the iterations before have shown (Broyden). Where that is slow (long steps, much
// damping), Newton's matrix by dual numbers, O(n³).
#pragma once

#include <Eigen/LU>
#include <algorithm>
#include <array>
#include <memory>

#include "retraction.hpp"
#include "shape.hpp"

namespace symplectree {

// One step from q0 to q1 and what its action says of it, for any scalar.
template <class T>
struct ReducedMotion {
  const Model& m;
  double alpha;
  Retraction kind;
  ShapeState<T> now, next;
  std::vector<T> v, left, load;  // velocity (ξ, u) of the step; −D₁L_d without potentials; impulses at one end
  T x[kBase], Omega[kBase], mu[kBase], c0[kBase], c1[kBase];

  ReducedMotion(const Model& model, double part, Retraction retraction)
      : m(model), alpha(part), kind(retraction), now(m), next(m), v(m.nv), left(m.nv), load(m.nv) {}

  // Ω, μ and −D₁L_d after x = hξ and u are in place.
  void evaluate(double h) {
    for (int k = 0; k < kBase; ++k) v[k] = T(1 / h) * x[k];
    now.move(v.data()), next.move(v.data());
    const T w0(1 - alpha), w1(alpha);
    for (int k = 0; k < kBase; ++k) {
      Omega[k] = v[k] + w0 * now.Au[k] + w1 * next.Au[k];
      mu[k] = T(0);
    }
    now.locked.add_product(w0, Omega, mu), next.locked.add_product(w1, Omega, mu);
    for (int k = 0; k < kBase; ++k) c0[k] = c1[k] = mu[k];
    now.locked.solve(c0), next.locked.solve(c1);
    base_momentum(T(1), left.data());
    std::fill(left.begin() + kBase, left.end(), T(0));
    now.add_shape_terms(v.data(), c0, Omega, w0, T(-h) * w0, left.data());
    next.add_shape_terms(v.data(), c1, Omega, w1, T(0), left.data());
  }

  // p (nv) ← D₂L_d without potentials.
  void right(double h, T* p) {
    base_momentum(T(-1), p);
    std::fill(p + kBase, p + m.nv, T(0));
    now.add_shape_terms(v.data(), c0, Omega, T(1 - alpha), T(0), p);
    next.add_shape_terms(v.data(), c1, Omega, T(alpha), T(h * alpha), p);
  }

 private:
  // (dτ⁻¹_{sign x})ᵀ μ
  void base_momentum(const T& sign, T* out) const {
    const Spatial<T> twist{{sign * x[0], sign * x[1], sign * x[2]}, {sign * x[3], sign * x[4], sign * x[5]}};
    const Spatial<T> p = tangent_inverse_transposed(kind, twist, {{mu[0], mu[1], mu[2]}, {mu[3], mu[4], mu[5]}});
    const T all[kBase] = {p.angular.x, p.angular.y, p.angular.z, p.linear.x, p.linear.y, p.linear.z};
    std::copy(all, all + kBase, out);
  }
};

// A scheme for VariationalRun.
class ReducedScheme {
 public:
  static constexpr bool several_roots = false;  // as MidpointScheme: a guess may be far off and Newton still right

  ReducedScheme(const Model& m, double alpha, Retraction kind)
      : m_(m),
        alpha_(alpha),
        kind_(kind),
        step_(m, alpha, kind),
        half_(m),
        middle_(m.nq),
        q1_(m.nq),
        p0_(m.nv),
        tau_(m.nv),
        inputs_(m.inputs + 1),
        r_(m.nv),
        scale_(m.nv),
        side_(m.nv),
        reaction_(m.nv),
        noise_(m.size()),
        last_r_(m.nv),
        last_at_(m.nv),
        at_(m.nv) {
    for (Pair& p : pairs_) p.s.resize(m.nv), p.a.resize(m.nv);
  }

  void place(const double*) {}
  void flip() {}
  double turned(const double*, const double*) const { return 0; }  // nothing depends on it
  void drive(const std::vector<char>&) {}
  void set_multipliers(const double*) {}
  void learn(double, const double*, const double*) {}

  void begin(double h, const double* q, const double* p, const double* tau, const double* inputs) {
    std::copy(p, p + m_.nv, p0_.begin());
    std::copy(tau, tau + m_.nv, tau_.begin());
    std::copy(inputs, inputs + m_.inputs, inputs_.begin());
    step_.now.place(q);
    // What was learned holds for the next steps as well, until it fills the memory.
    if (h != begun_ || known_ == static_cast<int>(pairs_.size())) known_ = 0;
    h_ = 0, begun_ = h, factorized_ = exact_ = false, directions_ = 0;
  }

  // The residual at q1; the largest entry relative to what it is made of. Where it is known already it is not formed
  // again.
  template <bool WithDerivative>
  double evaluate(double h, const double* q0, const double* q1, int& worst) {
    if (WithDerivative && h == h_ && std::equal(q1_.begin(), q1_.end(), q1)) return worst = worst_, largest_;
    h_ = h;
    std::copy(q1, q1 + m_.nq, q1_.begin());
    retraction_inverse(kind_, q0, q1, step_.x);
    for (int j = kBase; j < m_.nv; ++j) step_.v[j] = (q1[j + 1] - q0[j + 1]) / h;
    step_.next.place(q1);
    step_.evaluate(h);
    step_.now.loads(q0, step_.v.data(), tau_.data(), inputs_.data(), h * (1 - alpha_), 0.5 * h, step_.load.data());
    largest_ = 0;
    for (int j = 0; j < m_.nv; ++j) {
      const double left = step_.left[j], load = step_.load[j];
      r_[j] = p0_[j] - left + load;
      scale_[j] = std::fabs(p0_[j]) + std::fabs(left) + std::fabs(load) + 1e-300;
      const double ratio = std::fabs(r_[j]) / scale_[j];
      if (exceeds(ratio, largest_)) largest_ = ratio, worst_ = j;
    }
    worst = worst_;
    return largest_;
  }

  bool quick_direction(double h, const double* q0, const double* q1, double* delta) {
    int worst = 0;
    evaluate<true>(h, q0, q1, worst);
    direction(h, q0, q1, delta);
    return true;
  }
  void next_direction(double h, const double* q0, const double* q1, double* delta) { direction(h, q0, q1, delta); }

  // Momenta carry the rounding of coordinates, M ε |q|/h, and of their own terms; see MidpointScheme. Of a body's twist
  // the squares of independent roundings are summed, and what they make of its momentum is swept back.
  bool at_floor(double h, const double*, const double* q1, double factor) {
    const Workspace<double>& w = step_.next.w;
    for (int i = 1; i < m_.size(); ++i) gather_noise(m_.bodies[i], i, h, q1);
    for (int i = m_.size() - 1; i > 0; --i) {
      const Body& b = m_.bodies[i];
      const Noise& n = noise_[i];
      for (int j = b.v; j < b.v + b.nv; ++j) {
        const double noise = size(w.S[j].angular) * n.torque + size(w.S[j].linear) * n.force +
                             m_.armature[j] * rounding(j, h, q1) + scale_[j];
        if (!(std::fabs(r_[j]) <= factor * 2.2e-16 * noise)) return false;
      }
      if (b.parent == 0) continue;
      noise_[b.parent].torque += n.torque + size(w.pose[i].r) * n.force;
      noise_[b.parent].force += n.force;
    }
    return true;
  }

  void direction(double h, const double* q0, const double* q1, double* delta) {
    for (int j = 0; j < m_.nv; ++j) at_[j] = j < kBase ? step_.x[j] : q1[j + 1];
    const bool again = directions_ > 0 && at_ == last_at_;
    if (directions_ > 1 && !again && largest_ > kSlow * before_) exact_ = true;
    if (exact_) return newton(h, q0, q1, delta);
    if (!factorized_) {
      for (int k = 0; k < m_.nq; ++k) middle_[k] = k <= kBase ? q0[k] : 0.5 * (q0[k] + q1[k]);
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
    step_.next.loads(q1, step_.v.data(), tau, inputs, h * alpha_, 0.5 * h, step_.load.data());
    for (int j = 0; j < m_.nv; ++j) p[j] += step_.load[j];
  }

  const std::vector<double>& residual() const { return r_; }
  const std::vector<double>& reaction() const { return reaction_; }
  const std::vector<double>& scale() const { return scale_; }

 private:
  using Base = Eigen::Matrix<double, kBase, 1>;
  using Base6 = Eigen::Matrix<double, kBase, kBase>;

  // What rounding makes of a body: sums of squared rates of rotation and of velocities, and the momenta of all that it
  // carries.
  struct Noise {
    double rotation = 0, velocity = 0, torque = 0, force = 0;
  };

  static double size(const Vec3<double>& a) { return std::sqrt(dot(a, a)); }

  void gather_noise(const Body& b, int i, double h, const double* q1) {
    const Workspace<double>& w = step_.next.w;
    const Noise& parent = noise_[b.parent];
    const double carried = std::sqrt(parent.velocity) + size(w.pose[i].r) * std::sqrt(parent.rotation);
    Noise n{parent.rotation, b.parent == 0 ? 0.0 : carried * carried, 0, 0};
    for (int j = b.v; j < b.v + b.nv; ++j) {
      const double e = rounding(j, h, q1);
      n.rotation += e * e * dot(w.S[j].angular, w.S[j].angular);
      n.velocity += e * e * dot(w.S[j].linear, w.S[j].linear);
    }
    n.torque = (b.inertia.xx + b.inertia.yy + b.inertia.zz) * std::sqrt(n.rotation);
    n.force = b.mass * std::sqrt(n.velocity);
    noise_[i] = n;
  }

  // Of velocity j, in units of ε.
  double rounding(int j, double h, const double* q1) const {
    const double coordinate = j < 3 ? 1.0 : j < kBase ? q1[j - 3] : q1[j + 1];
    return std::fabs(step_.v[j]) + std::max(1e-3, std::fabs(coordinate)) / h;
  }

  // dτ⁻¹ at x times `sign`.
  Base6 tangent_inverse(double sign) const {
    const double* x = step_.x;
    const Spatial<double> twist{{sign * x[0], sign * x[1], sign * x[2]}, {sign * x[3], sign * x[4], sign * x[5]}};
    Base6 D;
    for (int k = 0; k < kBase; ++k) {
      double e[kBase] = {};
      e[k] = 1;
      const Spatial<double> row = tangent_inverse_transposed(kind_, twist, {load3(e), load3(e + 3)});
      D.row(k) << row.angular.x, row.angular.y, row.angular.z, row.linear.x, row.linear.y, row.linear.z;
    }
    return D;
  }

  // d ← H r, where H is the inverse of −∂r/∂(x, r') ≈ [D 0; 0 1]ᵀ M/h with D = dτ⁻¹_x, corrected by the pairs.
  void apply_inverse(double h, const double* r, double* d) {
    std::copy(r, r + m_.nv, side_.begin());
    Eigen::Map<Base> side(side_.data());
    side = tangent_inverse(1).transpose().partialPivLu().solve(Base(side));
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

  // A change of x = hξ becomes the increment of the root's end that makes it: δx = dτ⁻¹_{−x} η.
  void to_increment(double* delta) const {
    Eigen::Map<Base> base(delta);
    base = tangent_inverse(-1).partialPivLu().solve(Base(base));
  }

  // The exact direction: derivatives of the residual in x and in the shape at the end, by dual numbers.
  void newton(double h, const double* q0, const double* q1, double* delta) {
    const int n = m_.nv;
    if (!dual_) dual_ = std::make_unique<DualStep>(m_, alpha_, kind_);
    DualStep& d = *dual_;
    for (int k = 0; k < m_.nq; ++k) d.q0[k] = q0[k], d.q1[k] = q1[k];
    for (int k = 0; k < kBase; ++k) d.step.x[k] = step_.x[k];
    for (int j = kBase; j < n; ++j) d.step.v[j] = step_.v[j];
    d.step.now.place(d.q0.data());
    for (int s = 0; s < n; ++s) {
      Dual& seed = s < kBase ? d.step.x[s] : d.q1[s + 1];
      seed.slope = 1;
      if (s >= kBase) d.step.v[s].slope = 1 / h;
      if (s == 0 || s >= kBase) d.step.next.place(d.q1.data());
      d.step.evaluate(h);
      d.step.now.loads(d.q0.data(), d.step.v.data(), tau_.data(), inputs_.data(), h * (1 - alpha_), 0.5 * h,
                       d.step.load.data());
      for (int j = 0; j < n; ++j) d.matrix(j, s) = d.step.left[j].slope - d.step.load[j].slope;
      seed.slope = 0;
      if (s >= kBase) d.step.v[s].slope = 0;
    }
    add_user_forces_change(q0, d.matrix);
    Eigen::Map<Eigen::VectorXd>(delta, n) = d.matrix.partialPivLu().solve(Eigen::Map<Eigen::VectorXd>(r_.data(), n));
    to_increment(delta);
  }

  // Dual numbers do not reach the user's forces: f⁻ = (h/2) f(q, v), and h v is what the columns stand for.
  void add_user_forces_change(const double* q0, Eigen::MatrixXd& matrix) {
    for (const UserElement& u : m_.users) {
      if (u.kind != UserElement::Force) continue;
      user_.evaluate(u, 2, q0, step_.v.data());
      for (int i = 0; i < u.size(); ++i)
        for (int k = 0; k < u.size(); ++k) matrix(u.v[i], u.v[k]) -= 0.5 * user_.second[u.size() * i + k];
    }
  }

  struct DualStep {
    ReducedMotion<Dual> step;
    std::vector<Dual> q0, q1;
    Eigen::MatrixXd matrix;
    DualStep(const Model& m, double alpha, Retraction kind)
        : step(m, alpha, kind), q0(m.nq), q1(m.nq), matrix(m.nv, m.nv) {}
  };

  struct Pair {
    std::vector<double> s, a;
  };

  static constexpr double kSlow = 0.2;  // an iteration that leaves more of the residual than this calls for Newton's

  const Model& m_;
  double alpha_;
  Retraction kind_;
  ReducedMotion<double> step_;
  Workspace<double> half_;
  std::vector<double> middle_, q1_, p0_, tau_, inputs_, r_, scale_, side_, reaction_;
  std::vector<Noise> noise_;
  std::vector<double> last_r_, last_at_, at_;  // residual and (x, r') of the direction before; (x, r') now
  std::array<Pair, 8> pairs_;
  std::unique_ptr<DualStep> dual_;
  UserTerms user_;
  double begun_ = 0, h_ = 0, largest_ = 0, before_ = 0;  // of the last evaluation; of the direction before
  int worst_ = 0, known_ = 0, directions_ = 0;
  bool factorized_ = false, exact_ = false;
};

}  // namespace symplectree
