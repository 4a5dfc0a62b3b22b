// Parts of σ (hessian_interface.hpp) that few coordinates have a share in, differentiated twice on their own: rotors
// and dampers of joints with quaternions, forces and constraints of the user's own.
#pragma once

#include "constraints/constraint_rows.hpp"
#include "constraints/row_structure.hpp"
#include "elements/joint_damper.hpp"
#include "integrators/midpoint/midpoint_state.hpp"
#include "linearization/hessian_interface.hpp"
#include "scalar/jet.hpp"

namespace symplectree {

// Coordinate l of `start` and `end` carried to the middle of joint b.
template <class T>
T carried(const MidpointBlock<T>& block, const Body& b, int l, const StepWeights& w) {
  T sum(0);
  for (int k = 0; k < b.nv; ++k)
    sum += block.carry0[l][k] * T(w.start[b.v + k]) + block.carry1[l][k] * T(w.end[b.v + k]);
  return sum;
}

class LocalHessian {
  using Second = DualOf<Jet>;

 public:
  // middle: that of the midpoint action, null of others.
  LocalHessian(const Model& m, const StepLayout& layout, MidpointState<Second>* middle)
      : m_(m), l_(layout), middle_(middle), damping_(joint_damping(m)), structure_(m),
        terms_(structure_.rows(), structure_.pull_body.size(), structure_.coefficient_v.size()), users_(m),
        dz_(l_.size), q0_(m.nq), q1_(m.nq), way_(m.nv), force_(m.nv), value_(m.rows) {
    std::vector<char> involved(l_.size);
    const auto mark = [&](int start, int count) {
      for (int k = start; k < start + count; ++k) involved[k] = 1;
    };
    for (const UserElement& u : m.users) {
      if (u.kind == UserElement::Potential) continue;
      for (int j : u.v) mark(l_.q0 + j, 1), mark(l_.q1 + j, 1);
      if (u.kind != UserElement::Constraint) continue;
      for (int j : u.v) mark(l_.v + j, 1);
      mark(l_.lambda + u.first_row, u.rows), mark(l_.mu + u.first_row, u.rows);
    }
    for (int z = 0; z < l_.size; ++z)
      if (involved[z]) involved_.push_back(z);
    for (int i : m.quaternions)
      if (!middle && has_rotor(m.bodies[i])) rotors_.push_back(i);
  }

  // H += second derivatives.
  void add(const StepPoint& at, const StepWeights& w, double* H) {
    for (int i : rotors_) {
      const Body& b = m_.bodies[i];
      std::vector<int> own;
      for (int start : {l_.q0, l_.q1})
        for (int j = b.v; j < b.v + b.nv; ++j) own.push_back(start + j);
      differentiate(own, H, [&] { return rotor(at, w, b); });
    }
    if (!involved_.empty()) differentiate(involved_, H, [&] { return users(at, w); });
  }

 private:
  bool has_rotor(const Body& b) const {
    for (int j = b.v; j < b.v + b.nv; ++j)
      if (m_.armature[j] != 0) return true;
    for (const JointDamper& d : m_.joint_dampers)
      if (d.v >= b.v && d.v < b.v + b.nv) return true;
    return false;
  }

  // H += second derivatives of sum() in some of z.
  template <class F>
  void differentiate(const std::vector<int>& which, double* H, F&& sum) {
    const int n = static_cast<int>(which.size());
    for (int i = 0; i < n; ++i)
      for (int first = 0; first < n; first += Jet::width) {
        const int count = std::min(Jet::width, n - first);
        for (int z : which) dz_[z] = Second();
        dz_[which[i]].slope = Jet(1);
        for (int k = 0; k < count; ++k) dz_[which[first + k]].value.slope.set(k, 1);
        const Second s = sum();
        for (int k = 0; k < count; ++k) H[l_.size * which[i] + which[first + k]] += s.slope.slope[k];
      }
    for (int z : which) dz_[z] = Second();
  }

  Second rotor(const StepPoint& at, const StepWeights& w, const Body& b) {
    retract_ad(b, at.q0.data(), dz_.data() + l_.q0, q0_.data());
    retract_ad(b, at.q1.data(), dz_.data() + l_.q1, q1_.data());
    Second sum(0), start[6], end[6];
    const StepEnds<Second> step{at.h, q0_.data(), q1_.data()};
    const JointNumbers<double> numbers{m_.armature.data(), damping_.data()};
    joint_block_terms(numbers, b, step, false, start, nullptr), joint_block_terms(numbers, b, step, true, end, nullptr);
    for (int k = 0; k < b.nv; ++k) sum += Second(w.end[b.v + k]) * end[k] - Second(w.start[b.v + k]) * start[k];
    return sum;
  }

  Second users(const StepPoint& at, const StepWeights& w) {
    retract_ad(m_, at.q0.data(), dz_.data() + l_.q0, q0_.data());
    retract_ad(m_, at.q1.data(), dz_.data() + l_.q1, q1_.data());
    Second sum(0);
    if (m_.user_forces) sum += user_forces(at, w);
    if (m_.rows > 0) sum += user_rows(at, w);
    return sum;
  }

  Second user_forces(const StepPoint& at, const StepWeights& w) {
    Second sum(0);
    const auto add = [&](const std::vector<Second>& q, const std::vector<Second>& v, auto&& weight) {
      std::fill(force_.begin(), force_.end(), Second());
      users_.add_forces(UserElement::Force, 0.5 * at.h, q.data(), nullptr, v.data(), force_.data());
      for (int j = 0; j < m_.nv; ++j) sum += force_[j] * weight(j);
    };
    if (middle_) {
      MidpointState<Second>& middle = *middle_;
      const StepEnds<Second> step{at.h, q0_.data(), q1_.data()};
      for (int i = 1; i < m_.size(); ++i) middle.place(m_.bodies[i], i, step);
      add(middle.q, middle.v, [&](int j) {
        const Body& b = m_.bodies[m_.body_of[j]];
        return carried(middle.blocks[m_.body_of[j]], b, j - b.v, w);
      });
    } else {
      increments_ad(m_, q0_.data(), q1_.data(), way_.data());
      for (Second& d : way_) d = Second(1 / at.h) * d;
      add(q0_, way_, [&](int j) { return Second(w.start[j]); });
      add(q1_, way_, [&](int j) { return Second(w.end[j]); });
    }
    return sum;
  }

  Second user_rows(const StepPoint& at, const StepWeights& w) {
    Second sum(0);
    const auto along = [&](int k, auto&& entry) {  // Dh of row k times a vector
      Second rate(0);
      for (int e = structure_.coefficient_start[k]; e < structure_.coefficient_start[k + 1]; ++e)
        rate += terms_.coefficient[e] * entry(structure_.coefficient_v[e]);
      return rate;
    };
    users_.add_rows(structure_.coefficient_start, q0_.data(), nullptr, terms_.value.data(), terms_.coefficient.data());
    for_rows([&](int k) {
      sum += (Second(at.lambda[k]) + dz_[l_.lambda + k]) * along(k, [&](int j) { return Second(w.start[j]); });
    });
    users_.add_rows(structure_.coefficient_start, q1_.data(), nullptr, terms_.value.data(), terms_.coefficient.data());
    for_rows([&](int k) { value_[k] = terms_.value[k]; });
    users_.add_steps(q0_.data(), q1_.data(), value_.data());
    for_rows([&](int k) {
      sum += Second(w.rows[k]) * value_[k];
      sum -= (Second(at.mu[k]) + dz_[l_.mu + k]) * along(k, [&](int j) { return Second(w.end[j]); });
      sum += Second(w.rates[k]) * along(k, [&](int j) { return Second(at.v[j]) + dz_[l_.v + j]; });
    });
    return sum;
  }

  template <class F>
  void for_rows(F&& f) const {
    for (const UserElement& u : m_.users)
      for (int k = u.first_row; u.kind == UserElement::Constraint && k < u.first_row + u.rows; ++k) f(k);
  }

  const Model& m_;
  const StepLayout& l_;
  MidpointState<Second>* middle_;
  std::vector<double> damping_;  // of each velocity: joint damping
  RowStructure structure_;
  RowTerms<Second> terms_;
  UserElementsAD<Second> users_;
  std::vector<int> involved_, rotors_;  // places in z; bodies
  std::vector<Second> dz_, q0_, q1_, way_, force_, value_;
};

}  // namespace symplectree
