// Gradients of the parts of σ (step_curvature.hpp) that come from no energy and act on bodies: the power that loads and
// dampers between points have at the velocities `start` and `end`.
#pragma once

#include "jet.hpp"
#include "local_curvature.hpp"
#include "power.hpp"

namespace symplectree {

using Jets = std::vector<Jet>;

inline Jets as_jets(const std::vector<double>& x) { return Jets(x.begin(), x.end()); }

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

}  // namespace symplectree
