// Second derivatives of σ (step_curvature.hpp) in O(n) per eight of them.
//
// What comes from an energy is the gradient of one function Λ = L_d(q, q') + λ·h(q) − μ·h(q'), so that this part of σ is
// Λ's derivative ξ along (start, end), and its gradient the derivative along it of the equations themselves: along an
// increment b, b ξ Λ = ξ b Λ + [b, ξ] Λ, whose last term is there for increments of one quaternion, which do not
// commute. So one run of the equations on duals along (start, end) of jets gives eight columns of second derivatives.
// Loads and dampers come from no energy; their part of σ is the power that they have at the velocities `start` and
// `end` (power.hpp). In λ, forces, v and μ σ is linear.
#pragma once

#include "jet.hpp"
#include "local_curvature.hpp"
#include "power.hpp"
#include "step_curvature.hpp"

namespace symplectree {

using Jets = std::vector<Jet>;

inline Jets as_jets(const std::vector<double>& x) { return Jets(x.begin(), x.end()); }

// out (nv, of one or several joints) += how a gradient f changes when the order of b and the increment `along` is
// exchanged: f·[b, along].
template <class F>
void add_bracket(const Model& m, const std::vector<double>& along, F&& f, Jet* out) {
  for (int i : m.quaternions) {
    const Body& b = m.bodies[i];
    const auto three = [&](auto&& entry, int k) { return Vec3<Jet>{entry(k), entry(k + 1), entry(k + 2)}; };
    const auto a = [&](int j) { return Jet(along[j]); };
    Spatial<Jet> A{three(a, b.v), {}}, g{three(f, b.v), {}};
    if (b.kind == Kind::Free) A.linear = three(a, b.v + 3), g.linear = three(f, b.v + 3);
    const Spatial<Jet> c = bracket_force(A, g);
    out[b.v] += c.angular.x, out[b.v + 1] += c.angular.y, out[b.v + 2] += c.angular.z;
    if (b.kind == Kind::Free) out[b.v + 3] += c.linear.x, out[b.v + 4] += c.linear.y, out[b.v + 5] += c.linear.z;
  }
}

// The part of forces at the two ends: loads, and dampers by the change of length, −½ c (ℓ' − ℓ) (rate of ℓ + of ℓ').
class EndLoads {
 public:
  EndLoads(const Model& m, const StepLayout& layout, double)
      : m_(m), l_(layout), start_(m), end_(m), first_(m), last_(m) {
    for (const Line& line : m.lines) damped_ |= line.damping != 0;
  }

  // g (size) += the gradient at q0 and q1.
  void add(const StepPoint& at, const StepWeights& w, const Jet* q0, const Jet* q1, Jet* g) {
    if (m_.wrenches.empty() && !damped_) return;
    const double half = 0.5 * at.h;
    const Jets inputs = as_jets(at.inputs), nu0 = as_jets(w.start), nu1 = as_jets(w.end);
    compute_poses<1>(m_, q0, start_), compute_poses<1>(m_, q1, end_);
    first_.begin(start_, nu0.data()), last_.begin(end_, nu1.data());
    first_.add_wrenches(half, inputs.data(), start_, g + l_.force);
    last_.add_wrenches(half, inputs.data(), end_, g + l_.force);
    for (const Line& line : m_.lines) {
      if (line.damping == 0) continue;
      const auto a = first_.line_rate(line, start_), b = last_.line_rate(line, end_);
      if (a.length.value == 0 || b.length.value == 0) continue;
      const Jet by_rate = Jet(-0.5 * line.damping) * (b.length - a.length);
      const Jet by_length = Jet(0.5 * line.damping) * (a.rate + b.rate);
      first_.add_line(line, a, by_length, by_rate, start_), last_.add_line(line, b, -by_length, by_rate, end_);
    }
    first_.gather(start_, g + l_.q0, nullptr), last_.gather(end_, g + l_.q1, nullptr);
  }

 private:
  const Model& m_;
  const StepLayout& l_;
  Workspace<Jet> start_, end_;
  PowerSum<Jet> first_, last_;
  bool damped_ = false;
};

// The part of forces at the middle: half a step's impulse at the velocity ν, to which `start` and `end` are carried.
class MiddleLoads {
 public:
  MiddleLoads(const Model& m, const StepLayout& layout, double alpha)
      : m_(m), l_(layout), alpha_(alpha), middle_(m, alpha), moved_(m, alpha), at_(m), power_(m), speed_(m) {
    for (Jets* x : {&nu_, &by_q_, &by_v_, &by_nu_}) x->resize(m.nv);
    for (auto* x : {&q0_, &q1_}) x->resize(m.nq);
    for (const Line& line : m.lines) loaded_ |= line.damping != 0;
    loaded_ |= !m.wrenches.empty() || !m.quaternions.empty();
  }

  void add(const StepPoint& at, const StepWeights& w, const Jet* q0, const Jet* q1, Jet* g) {
    if (!loaded_) return;
    const StepArguments<Jet> a{at.h, q0, q1, nullptr, nullptr, nullptr, nullptr, nullptr};
    for (int i = 1; i < m_.size(); ++i) {
      const Body& b = m_.bodies[i];
      middle_.place(a, b, i);
      for (int k = 0; k < b.nv; ++k) nu_[b.v + k] = carried(middle_.blocks[i], b, k, w);
    }
    for (Jets* x : {&by_q_, &by_v_, &by_nu_}) std::fill(x->begin(), x->end(), Jet());
    powers(at, g);
    joints(at, g);
    for (int i = 1; i < m_.size(); ++i) pull_back(at.h, m_.bodies[i], i, w, q0, q1, g);
  }

 private:
  void powers(const StepPoint& at, Jet* g) {
    const double half = 0.5 * at.h;
    const Jets inputs = as_jets(at.inputs);
    compute_poses<1>(m_, middle_.q.data(), at_);
    power_.begin(at_, nu_.data()), speed_.begin(at_, middle_.v.data());
    power_.add_wrenches(half, inputs.data(), at_, g + l_.force);
    for (const Line& line : m_.lines) {
      if (line.damping == 0) continue;
      const auto a = power_.line_rate(line, at_), b = speed_.line_rate(line, at_);
      if (a.length.value == 0) continue;
      power_.add_line(line, a, Jet(0), Jet(-half * line.damping) * b.rate, at_);
      speed_.add_line(line, b, Jet(0), Jet(-half * line.damping) * a.rate, at_);
    }
    power_.gather(at_, by_q_.data(), by_nu_.data()), speed_.gather(at_, by_q_.data(), by_v_.data());
  }

  // Forces on joints, where ν is not linear in q and q'.
  void joints(const StepPoint& at, Jet* g) {
    const double half = 0.5 * at.h;
    const auto bends = [this](int j) { return !m_.bodies[m_.body_of[j]].flat(); };
    for (int i : m_.quaternions)
      for (int j = m_.bodies[i].v; j < m_.bodies[i].v + m_.bodies[i].nv; ++j) {
        by_nu_[j] += Jet(half * at.tau[j]);
        if (!l_.inputs) g[l_.force + j] += Jet(half) * nu_[j];
      }
    for (const JointDamper& s : m_.joint_dampers) {
      if (!bends(s.v)) continue;
      by_nu_[s.v] -= Jet(half * s.damping) * middle_.v[s.v];
      by_v_[s.v] -= Jet(half * s.damping) * nu_[s.v];
    }
    for (const JointForce& s : m_.joint_forces) {
      if (!bends(s.v)) continue;
      by_nu_[s.v] += Jet(half * (s.value + (s.input >= 0 ? at.inputs[s.input] : 0)));
      if (s.input >= 0) g[l_.force + s.input] += Jet(half) * nu_[s.v];
    }
  }

  // g += derivatives in the ends, from those in the middle of one joint and in ν; of quaternions one by one, by duals.
  void pull_back(double h, const Body& b, int i, const StepWeights& w, const Jet* q0, const Jet* q1, Jet* g) {
    using Second = DualOf<Jet>;
    if (b.flat()) {
      for (int j = b.v; j < b.v + b.nv; ++j) {
        const Jet rate = Jet(1 / h) * by_v_[j];
        g[l_.q0 + j] += Jet(1 - alpha_) * by_q_[j] - rate, g[l_.q1 + j] += Jet(alpha_) * by_q_[j] + rate;
      }
      return;
    }
    const auto widen = [&b](const Jet* q, std::vector<Second>& out) {
      for (int k = b.q; k < b.q + b.nq(); ++k) out[k] = Second(q[k], Jet());
    };
    const StepArguments<Second> a{h, q0_.data(), q1_.data(), nullptr, nullptr, nullptr, nullptr, nullptr};
    for (int end = 0; end < 2; ++end)
      for (int c = 0; c < b.nv; ++c) {
        Second d[6];
        d[c].slope = Jet(1);
        widen(q0, q0_), widen(q1, q1_);
        std::vector<Second>& q = end ? q1_ : q0_;
        Body own = b;
        own.v = 0;
        retract_lifted(own, q.data(), d, q.data());
        moved_.place(a, b, i);
        Jet& sum = g[(end ? l_.q1 : l_.q0) + b.v + c];
        Jet turned[6];
        turn(b, moved_.q.data(), turned);
        for (int k = 0; k < b.nv; ++k) {
          const int j = b.v + k;
          sum += by_q_[j] * turned[k] + by_v_[j] * moved_.v[j].slope +
                 by_nu_[j] * carried(moved_.blocks[i], b, k, w).slope;
        }
      }
  }

  // d ← the increment that the slopes of a joint's q are.
  static void turn(const Body& b, const DualOf<Jet>* q, Jet* d) {
    const bool free = b.kind == Kind::Free;
    const DualOf<Jet>* z = q + b.q + (free ? 3 : 0);
    const Quaternion<Jet> a{z[0].value, {z[1].value, z[2].value, z[3].value}};
    const Vec3<Jet> v{z[1].slope, z[2].slope, z[3].slope};
    const Vec3<Jet> w = Jet(2) * (a.w * v - z[0].slope * a.v - cross(a.v, v));
    d[0] = w.x, d[1] = w.y, d[2] = w.z;
    if (!free) return;
    const Vec3<Jet> x{q[b.q].slope, q[b.q + 1].slope, q[b.q + 2].slope};
    const Vec3<Jet> u = transposed_times(quaternion_matrix(a.w, a.v.x, a.v.y, a.v.z), x);
    d[3] = u.x, d[4] = u.y, d[5] = u.z;
  }

  const Model& m_;
  const StepLayout& l_;
  double alpha_;
  MiddleEquations<Jet> middle_;
  MiddleEquations<DualOf<Jet>> moved_;
  Workspace<Jet> at_;
  PowerSum<Jet> power_, speed_;
  Jets nu_, by_q_, by_v_, by_nu_;
  std::vector<DualOf<Jet>> q0_, q1_;
  bool loaded_ = false;
};

// Equations: TreeEquations or MiddleEquations of duals of jets, with the loads and local terms that go with them.
template <class Equations>
class StepCurvature final : public AnyCurvature {
  using Second = DualOf<Jet>;

 public:
  template <class... A>
  StepCurvature(const Model& m, const StepLayout& layout, double alpha, A... equations)
      : m_(m),
        l_(layout),
        equations_(m, equations...),
        rows_(m),
        loads_(m, l_, alpha),
        local_(m, l_, equations_),
        end_(m),
        speed_(m),
        other_(m),
        dz_(2 * m.nv),
        q0_(m.nq),
        q1_(m.nq),
        g_(l_.size) {
    for (auto* x : {&a0_, &a1_}) x->resize(m.nq);
    for (auto* x : {&r_, &p_, &d_}) x->resize(m.nv);
    rows_.users = false;
    if (m.rows > 0) moving_ = std::make_unique<Workspace<Second>>(m);
  }

  void evaluate(const StepPoint& at, const StepWeights& w, RowMatrix& H) override {
    const int n = 2 * l_.nv, rest = l_.size - n;
    H.setZero(l_.size, l_.size);
    equations_.conservative = true;
    for (int first = 0; first < n; first += Jet::width) {
      const int count = std::min(Jet::width, n - first);
      std::fill(dz_.begin(), dz_.end(), Jet());
      for (int k = 0; k < count; ++k) dz_[first + k].slope.set(k, 1);
      retract_lifted(m_, at.q0.data(), dz_.data() + l_.q0, q0_.data());
      retract_lifted(m_, at.q1.data(), dz_.data() + l_.q1, q1_.data());
      std::fill(g_.begin(), g_.end(), Jet());
      energies(at, w);
      if (l_.projected) projection(at, w);
      loads_.add(at, w, q0_.data(), q1_.data(), g_.data());
      for (int z = 0; z < l_.size; ++z)
        for (int k = 0; k < count; ++k) H(z, first + k) = g_[z].slope[k];
    }
    equations_.conservative = false;
    // Of two increments of one quaternion, the mean of both orders.
    H.topLeftCorner(n, n) = (0.5 * (H.topLeftCorner(n, n) + H.topLeftCorner(n, n).transpose())).eval();
    H.topRightCorner(n, rest) = H.bottomLeftCorner(rest, n).transpose();
    local_.add(at, w, H);
  }

 private:
  // The part of Λ.
  void energies(const StepPoint& at, const StepWeights& w) {
    move(q0_, w.start, a0_), move(q1_, w.end, a1_);
    const StepArguments<Second> a{at.h, a0_.data(), a1_.data(), nullptr, nullptr, nullptr, nullptr, nullptr};
    equations_.evaluate(a, r_.data(), p_.data());
    if (m_.rows > 0) {
      lambda_.resize(m_.rows);
      for (int k = 0; k < m_.rows; ++k) lambda_[k] = Second(at.lambda[k]);
      rows_.add_impulses(a0_.data(), nullptr, lambda_.data(), equations_.start, r_.data());
      for (int k = 0; k < m_.rows; ++k) g_[l_.lambda + k] += rows_.value(k).slope;
      for (int k = 0; k < m_.rows; ++k) lambda_[k] = Second(-at.mu[k]);
      rows_.add_impulses(a1_.data(), nullptr, lambda_.data(), equations_.end, p_.data());
      for (int k = 0; k < m_.rows; ++k) g_[l_.mu + k] -= rows_.value(k).slope;
    }
    differentiate(r_, w.start, &g_[l_.q0]), differentiate(p_, w.end, &g_[l_.q1]);
  }

  // That of p' along constraints: momentum·M v, and rates·Dh v + rows·h, the derivative along v of (rates + ε rows)·h.
  void projection(const StepPoint& at, const StepWeights& w) {
    const Jets v = as_jets(at.v), c = as_jets(w.momentum);
    compute_poses<1>(m_, q1_.data(), end_);
    speed_.begin(end_, v.data()), other_.begin(end_, c.data());
    speed_.add_momenta(other_.U, end_), other_.add_momenta(speed_.U, end_);
    speed_.gather(end_, &g_[l_.q1], &g_[l_.v]), other_.gather(end_, &g_[l_.q1], nullptr);
    if (m_.rows == 0) return;
    move(q1_, at.v, a1_);
    compute_poses(m_, a1_.data(), *moving_);
    for (int k = 0; k < m_.rows; ++k) lambda_[k] = Second(Jet(w.rates[k]), Jet(w.rows[k]));
    std::fill(p_.begin(), p_.end(), Second());
    rows_.add_impulses(a1_.data(), nullptr, lambda_.data(), *moving_, p_.data());
    differentiate(p_, at.v, &g_[l_.q1]);
    for (int j = 0; j < l_.nv; ++j) g_[l_.v + j] += p_[j].value;
  }

  // out ← q, and how it changes along an increment.
  void move(const Jets& q, const std::vector<double>& along, std::vector<Second>& out) {
    for (int j = 0; j < l_.nv; ++j) d_[j] = Second(Jet(), Jet(along[j]));
    for (int k = 0; k < m_.nq; ++k) out[k] = Second(q[k], Jet());
    retract_lifted(m_, out.data(), d_.data(), out.data());
  }

  // out (nv) += the gradient of the derivative along `along` of the function whose gradient is f.
  void differentiate(const std::vector<Second>& f, const std::vector<double>& along, Jet* out) const {
    for (int j = 0; j < l_.nv; ++j) out[j] += f[j].slope;
    add_bracket(m_, along, [&f](int j) { return f[j].value; }, out);
  }

  const Model& m_;
  const StepLayout l_;
  Equations equations_;
  RowEquations<Second> rows_;
  std::conditional_t<Equations::at_middle, MiddleLoads, EndLoads> loads_;
  LocalCurvature<Equations> local_;
  Workspace<Jet> end_;
  std::unique_ptr<Workspace<Second>> moving_;
  PowerSum<Jet> speed_, other_;
  Jets dz_, q0_, q1_, g_;
  std::vector<Second> a0_, a1_, r_, p_, d_, lambda_;
};

}  // namespace symplectree
