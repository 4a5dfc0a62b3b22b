// The reduced variational integrator of a free-floating mechanism, K (1)–(6); the equations are in
// symplectree/reference/reduced.py. The residual takes O(n), and so does the direction of quasi-Newton: the mass matrix
// half-way, corrected by what the iterations before have shown (Broyden). Where that is slow (long steps, much
// damping), Newton's matrix by dual numbers, O(n³).
#pragma once

#include <Eigen/LU>
#include <algorithm>
#include <array>
#include <memory>

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
      : m(model),
        alpha(part),
        kind(retraction),
        now(m),
        next(m),
        x(m.nv),
        v(m.nv),
        left(m.nv),
        load(m.nv),
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
    now.add_shape_terms(v.data(), c0, Omega, T(1 - alpha), force_now, out, force_.data());
    next.add_shape_terms(v.data(), c1, Omega, T(alpha), force_next, out, force_.data());
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
        at_(m.nv),
        number_(m.nv, -1) {
    for (Pair& p : pairs_) p.s.resize(m.nv), p.a.resize(m.nv);
    for (int i = 2; i < m.size(); ++i)
      for (int k = 0; k < m.bodies[i].nv && m.bodies[i].flat(); ++k) number_[m.bodies[i].v + k] = m.bodies[i].q + k;
    size_ = number_;
    for (int i : m.quaternions)
      for (int k = 3; k < m.bodies[i].nv; ++k) size_[m.bodies[i].v + k] = m.bodies[i].q + k - 3;
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
    for (int i : m_.quaternions) {
      const Body& b = m_.bodies[i];
      retraction_inverse(kind_, b.kind == Kind::Free, q0 + b.q, q1 + b.q, &step_.x[b.v]);
    }
    for (int j = kBase; j < m_.nv; ++j)
      if (number_[j] >= 0) step_.v[j] = (q1[number_[j]] - q0[number_[j]]) / h;
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
    for (int j = 0; j < m_.nv; ++j) at_[j] = number_[j] < 0 ? step_.x[j] : q1[number_[j]];
    const bool again = directions_ > 0 && at_ == last_at_;
    if (directions_ > 1 && !again && largest_ > kSlow * before_) exact_ = true;
    if (exact_) return newton(h, q0, q1, delta);
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
    step_.next.loads(q1, step_.v.data(), tau, inputs, h * alpha_, 0.5 * h, step_.load.data());
    for (int j = 0; j < m_.nv; ++j) p[j] += step_.load[j];
  }

  const std::vector<double>& residual() const { return r_; }
  const std::vector<double>& reaction() const { return reaction_; }
  const std::vector<double>& scale() const { return scale_; }

 private:
  using Column = Eigen::Matrix<double, Eigen::Dynamic, 1, 0, kBase, 1>;  // of one joint
  using Square = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, kBase, kBase>;

  struct DualStep {
    ReducedMotion<Dual> step;
    std::vector<Dual> q0, q1;
    std::vector<double> along, rate;
    Eigen::MatrixXd matrix;
    DualStep(const Model& m, double alpha, Retraction kind)
        : step(m, alpha, kind), q0(m.nq), q1(m.nq), along(m.nv), rate(m.nq), matrix(m.nv, m.nv) {}
  };

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
    const double coordinate = size_[j] < 0 ? 1.0 : q1[size_[j]];
    return std::fabs(step_.v[j]) + std::max(1e-3, std::fabs(coordinate)) / h;
  }

  // dτ⁻¹ at x of a joint times `sign`.
  Square tangent_inverse(const Body& b, double sign) const {
    double twist[kBase], row[kBase];
    for (int k = 0; k < b.nv; ++k) twist[k] = sign * step_.x[b.v + k];
    Square D(b.nv, b.nv);
    for (int k = 0; k < b.nv; ++k) {
      std::fill(row, row + b.nv, 0.0);
      row[k] = 1;
      carry_back(kind_, b.nv, twist, row);
      for (int j = 0; j < b.nv; ++j) D(k, j) = row[j];
    }
    return D;
  }

  // d ← H r, where H is the inverse of −∂r/∂(x, r') ≈ [D 0; 0 1]ᵀ M/h with D = dτ⁻¹_x, corrected by the pairs.
  void apply_inverse(double h, const double* r, double* d) {
    std::copy(r, r + m_.nv, side_.begin());
    for (int i : m_.quaternions) {
      const Body& b = m_.bodies[i];
      Eigen::Map<Column> side(&side_[b.v], b.nv);
      side = tangent_inverse(b, 1).transpose().partialPivLu().solve(Column(side));
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

  // A change of x becomes the increment of the joint's end that makes it: δx = dτ⁻¹_{−x} η.
  void to_increment(double* delta) const {
    for (int i : m_.quaternions) {
      const Body& b = m_.bodies[i];
      Eigen::Map<Column> own(delta + b.v, b.nv);
      own = tangent_inverse(b, -1).partialPivLu().solve(Column(own));
    }
  }

  // The exact direction: derivatives of the residual in x and in plain coordinates at the end, by dual numbers.
  void newton(double h, const double* q0, const double* q1, double* delta) {
    const int n = m_.nv;
    if (!dual_) dual_ = std::make_unique<DualStep>(m_, alpha_, kind_);
    DualStep& d = *dual_;
    for (int k = 0; k < m_.nq; ++k) d.q0[k] = q0[k], d.q1[k] = q1[k];
    for (int j = 0; j < n; ++j) d.step.x[j] = step_.x[j], d.step.v[j] = step_.v[j];
    d.step.now.place(d.q0.data()), d.step.next.place(d.q1.data());
    for (int i = 1; i < m_.size(); ++i)
      for (int k = 0; k < m_.bodies[i].nv; ++k) column(h, q0, q1, m_.bodies[i], k, d);
    add_user_forces_change(q0, d.matrix);
    Eigen::Map<Eigen::VectorXd>(delta, n) = d.matrix.partialPivLu().solve(Eigen::Map<Eigen::VectorXd>(r_.data(), n));
    to_increment(delta);
  }

  // The column of Newton's matrix for number k of a joint. The residual does not depend on where the root ends but by
  // x.
  void column(double h, const double* q0, const double* q1, const Body& b, int k, DualStep& d) {
    const int s = b.v + k;
    if (b.flat()) {
      d.q1[b.q + k].slope = 1, d.step.v[s].slope = 1 / h;
    } else {
      d.step.x[s].slope = 1;
      if (b.parent != 0) turn_end(q1, b, k, d);
    }
    if (b.parent != 0) d.step.next.place(d.q1.data());
    d.step.evaluate(h);
    d.step.now.loads(d.q0.data(), d.step.v.data(), tau_.data(), inputs_.data(), h * (1 - alpha_), 0.5 * h,
                     d.step.load.data());
    for (int j = 0; j < m_.nv; ++j) d.matrix(j, s) = d.step.left[j].slope - d.step.load[j].slope;
    d.step.x[s].slope = d.step.v[s].slope = 0;
    for (int j = b.q; j < b.q + b.nq(); ++j) d.q1[j].slope = 0;
    if (b.parent != 0 && k + 1 == b.nv) d.step.next.place(d.q1.data());
  }

  // How the end of a joint with a quaternion moves with x_k: by the increment η with dτ⁻¹_{−x} η = e_k.
  void turn_end(const double* q1, const Body& b, int k, DualStep& d) const {
    std::fill(d.along.begin(), d.along.end(), 0.0);
    Eigen::Map<Column>(&d.along[b.v], b.nv) =
        tangent_inverse(b, -1).partialPivLu().solve(Column(Column::Unit(b.nv, k)));
    configuration_rate(m_, q1, d.along.data(), d.rate.data());
    for (int j = b.q; j < b.q + b.nq(); ++j) d.q1[j].slope = d.rate[j];
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
  std::vector<int> number_;                    // of each velocity: its plain coordinate, −1 of joints with quaternions
  std::vector<int> size_;                      // of each velocity: the number that says how far it is, −1 of rotations
  std::array<Pair, 8> pairs_;
  std::unique_ptr<DualStep> dual_;
  UserTerms user_;
  double begun_ = 0, h_ = 0, largest_ = 0, before_ = 0;  // of the last evaluation; of the direction before
  int worst_ = 0, known_ = 0, directions_ = 0;
  bool factorized_ = false, exact_ = false;
};

}  // namespace symplectree
