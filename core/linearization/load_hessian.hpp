// Gradients of the parts of σ (hessian_interface.hpp) that come from no energy and act on bodies: the power that loads
// and dampers between points have at the velocities `start` and `end`.
#pragma once

#include "elements/joint_force.hpp"
#include "linearization/local_hessian.hpp"
#include "linearization/power_gradient.hpp"
#include "scalar/jet.hpp"

namespace symplectree {

using Jets = std::vector<Jet>;

inline Jets as_jets(const std::vector<double>& x) { return Jets(x.begin(), x.end()); }

// g (size) += the gradient at q0 and q1.
class StepLoads {
 public:
  virtual ~StepLoads() = default;
  virtual void add(const StepPoint& at, const StepWeights& w, const Jet* q0, const Jet* q1, Jet* g) = 0;
};

// The part of forces at the two ends: loads, and dampers by the change of the gauge,
// −½ c (s' − s) (rate of s + of s').
class EndLoads final : public StepLoads {
 public:
  EndLoads(const Model& m, const StepLayout& layout) : m_(m), l_(layout), start_(m), end_(m), first_(m), last_(m) {
    damped_ = has_damped_pairs(m);
  }

  void add(const StepPoint& at, const StepWeights& w, const Jet* q0, const Jet* q1, Jet* g) override {
    if (m_.wrenches.empty() && !damped_) return;
    const double half = 0.5 * at.h;
    const Jets inputs = as_jets(at.inputs), nu0 = as_jets(w.start), nu1 = as_jets(w.end);
    compute_poses<1>(m_, q0, start_), compute_poses<1>(m_, q1, end_);
    first_.begin(start_, nu0.data()), last_.begin(end_, nu1.data());
    first_.add_wrenches(half, inputs.data(), start_, g + l_.force);
    last_.add_wrenches(half, inputs.data(), end_, g + l_.force);
    for_damped_pairs(m_, [&](const auto& row) {
      const auto a = first_.gauge(row, start_), b = last_.gauge(row, end_);
      const Jet by_rate = Jet(-0.5 * row.damping) * gauge_change(row, a.value.value, b.value.value);
      const Jet by_value = Jet(0.5 * row.damping) * (a.value.slope + b.value.slope);
      first_.add_pair(row, a, by_value, by_rate), last_.add_pair(row, b, -by_value, by_rate);
    });
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
class MidpointLoads final : public StepLoads {
 public:
  MidpointLoads(const Model& m, const StepLayout& layout, double alpha)
      : m_(m), l_(layout), alpha_(alpha), middle_(m, alpha), at_(m), power_(m), speed_(m) {
    for (Jets* x : {&nu_, &by_q_, &by_v_, &by_nu_}) x->resize(m.nv);
    loaded_ = has_damped_pairs(m) || !m.wrenches.empty() || !m.quaternions.empty();
  }

  void add(const StepPoint& at, const StepWeights& w, const Jet* q0, const Jet* q1, Jet* g) override {
    if (!loaded_) return;
    const StepEnds<Jet> step{at.h, q0, q1};
    for (int i = 1; i < m_.size(); ++i) {
      const Body& b = m_.bodies[i];
      middle_.place(b, i, step);
      for (int k = 0; k < b.nv; ++k) nu_[b.v + k] = carried(middle_.blocks[i], b, k, w);
    }
    for (Jets* x : {&by_q_, &by_v_, &by_nu_}) std::fill(x->begin(), x->end(), Jet());
    powers(at, g);
    joints(at, g);
    for (int i = 1; i < m_.size(); ++i) pull_back(at.h, m_.bodies[i], i, w, g);
  }

 private:
  void powers(const StepPoint& at, Jet* g) {
    const double half = 0.5 * at.h;
    const Jets inputs = as_jets(at.inputs);
    compute_poses<1>(m_, middle_.q.data(), at_);
    power_.begin(at_, nu_.data()), speed_.begin(at_, middle_.v.data());
    power_.add_wrenches(half, inputs.data(), at_, g + l_.force);
    for_damped_pairs(m_, [&](const auto& row) {
      const auto a = power_.gauge(row, at_), b = speed_.gauge(row, at_);
      const Jet drag(-half * row.damping);
      power_.add_pair(row, a, Jet(0), drag * b.value.slope), speed_.add_pair(row, b, Jet(0), drag * a.value.slope);
    });
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
      by_nu_[s.v] += Jet(half * (s.value + (s.input >= 0 ? s.gain * at.inputs[s.input] : 0)));
      if (s.input >= 0) g[l_.force + s.input] += Jet(half * s.gain) * nu_[s.v];
    }
  }

  // g += derivatives in the ends, from those in the middle of one joint and in ν. When the way d of a quaternion
  // changes by x, exp(w) a, with w = c d, changes by exp(w) (c J_r(w) x × a), and the sum by x·c J_r(−w) (a × exp(−w)
  // by_nu): that is a derivative in v = d/h.
  void pull_back(double h, const Body& b, int i, const StepWeights& w, Jet* g) {
    const MidpointBlock<Jet>& m = middle_.blocks[i];
    if (!b.flat()) {
      const auto three = [](const Jet* x) { return Vec3<Jet>{x[0], x[1], x[2]}; };
      const auto plain = [](const double* x) { return Vec3<Jet>{Jet(x[0]), Jet(x[1]), Jet(x[2])}; };
      const Vec3<Jet> d = Jet(h) * three(&middle_.v[b.v]);
      Vec3<Jet> sum{};
      for (int j = b.v; j < b.v + b.nv; j += 3) {
        const auto add = [&](double c, const double* a) {
          const Vec3<Jet> back = Jet(-c) * d;
          sum += Jet(c) * right_jacobian(back, cross(plain(a), rotation_matrix(back) * three(&by_nu_[j])));
        };
        add(-alpha_, &w.start[j]), add(1 - alpha_, &w.end[j]);
      }
      by_v_[b.v] += Jet(h) * sum.x, by_v_[b.v + 1] += Jet(h) * sum.y, by_v_[b.v + 2] += Jet(h) * sum.z;
    }
    for (int k = 0; k < b.nv; ++k)
      for (int l = 0; l < b.nv; ++l) {
        g[l_.q0 + b.v + k] += m.q0[l][k] * by_q_[b.v + l] + m.v0[l][k] * by_v_[b.v + l];
        g[l_.q1 + b.v + k] += m.q1[l][k] * by_q_[b.v + l] + m.v1[l][k] * by_v_[b.v + l];
      }
  }

  const Model& m_;
  const StepLayout& l_;
  double alpha_;
  MidpointState<Jet> middle_;
  Workspace<Jet> at_;
  PowerSum<Jet> power_, speed_;
  Jets nu_, by_q_, by_v_, by_nu_;
  bool loaded_ = false;
};

}  // namespace symplectree
