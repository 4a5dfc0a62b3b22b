#include "elements/actuator.hpp"

#include <algorithm>
#include <cmath>

#include "model/potential.hpp"
#include "model/rows/all_rows.hpp"
#include "model/user_elements.hpp"
#include "scalar/jet.hpp"

namespace symplectree {
namespace {

bool is_bounded(const double (&range)[2]) { return std::isfinite(range[0]) || std::isfinite(range[1]); }

constexpr double kWell = 0.8;  // of a limit: below, an estimate of the velocity will do

double force_at(const Model& m, const Actuator& a, JointState<double> at, const double* controls) {
  return unlimited_force(m, a, at, a.input >= 0 ? controls[a.input] : 0.0);
}

signed char side(double force, const double (&range)[2]) { return force < range[0] ? -1 : force > range[1] ? 1 : 0; }

bool is_well_within(double force, const double (&range)[2]) {
  return force > kWell * range[0] && force < kWell * range[1];
}

double rate_along(const Model& m, const Actuator& a, const double* v) {
  double rate = 0;
  for (int k = a.first; k < a.first + a.count; ++k) rate += m.transmissions[k].factor * v[m.transmissions[k].v];
  return rate;
}

// Of each velocity: is the sum of its actuators' forces at a limit?
template <class R>
std::vector<char> held_velocities(const ModelOf<R>& m, const ActuatorLimits& limits) {
  std::vector<char> held(m.nv);
  for (std::size_t k = 0; k < m.force_limits.size(); ++k)
    held[m.force_limits[k].v] |= limits[m.actuators.size() + k] != 0;
  return held;
}

// What by_length and by_rate of an actuator on several coordinates do, but for velocities whose sum is at a limit.
UserElement feedback_beside(const UserElement& whole, const std::vector<char>& held) {
  UserElement out = whole;
  out.tapes.clear();
  out.evaluate = [whole, held](int order, const double* q, const double* v, double* value, double* first,
                               double* second) {
    std::vector<double> all_q(whole.q.empty() ? 0 : *std::max_element(whole.q.begin(), whole.q.end()) + 1);
    std::vector<double> all_v(*std::max_element(whole.v.begin(), whole.v.end()) + 1);
    for (std::size_t i = 0; i < whole.q.size(); ++i) all_q[whole.q[i]] = q[i];
    for (std::size_t i = 0; i < whole.v.size(); ++i) all_v[whole.v[i]] = v[i];
    UserTerms terms;
    terms.evaluate(whole, order, all_q.data(), all_v.data());
    const std::size_t n = whole.v.size();
    for (std::size_t i = 0; i < n; ++i) {
      const bool acts = !held[whole.v[i]];
      value[i] = acts ? terms.value[i] : 0;
      for (std::size_t j = 0; j < n && order > 0 && first; ++j) first[n * i + j] = acts ? terms.first[n * i + j] : 0;
      for (std::size_t j = 0; j < n && order > 1 && second; ++j) second[n * i + j] = acts ? terms.second[n * i + j] : 0;
    }
  };
  return out;
}

}  // namespace

bool has_limits(const Actuator& a) {
  return (a.dynamics == kDirect && is_bounded(a.control_range)) || is_bounded(a.force_range);
}

bool has_limited_actuators(const Model& m) {
  return !m.force_limits.empty() || std::any_of(m.actuators.begin(), m.actuators.end(), has_limits);
}

void clamp_controls(const Model& m, const double* inputs, double* out) {
  std::copy(inputs, inputs + m.inputs, out);
  for (const Actuator& a : m.actuators)
    if (a.input >= 0) out[a.input] = clamped(inputs[a.input], input_range(a));
}

ActuatorLimits no_limits(const Model& m) { return ActuatorLimits(m.actuators.size() + m.force_limits.size()); }

ActuatorLimits limits_reached(const Model& m, JointState<double> at, const double* controls) {
  ActuatorLimits out;
  for (const Actuator& a : m.actuators)
    out.push_back(is_bounded(a.force_range) ? side(force_at(m, a, at, controls), a.force_range) : 0);
  for (const ForceLimit& limit : m.force_limits)
    out.push_back(side(joint_total(m, limit.v, at, controls), limit.force_range));
  return out;
}

std::vector<double> excess_powers(const Model& m, JointState<double> at, const double* inputs) {
  std::vector<double> out;
  for (const Actuator& a : m.actuators) {
    const double u = a.input >= 0 ? clamped(inputs[a.input], input_range(a)) : 0, force = unlimited_force(m, a, at, u);
    out.push_back((force - clamped(force, a.force_range)) * rate_along(m, a, at.v));
  }
  for (const ForceLimit& limit : m.force_limits) {
    const double total = joint_total(m, limit.v, at, inputs);
    out.push_back((total - clamped(total, limit.force_range)) * at.v[limit.v]);
  }
  return out;
}

bool is_within_limits(const Model& m, JointState<double> at, const double* controls) {
  const auto within = [&](const Actuator& a) {
    return !is_bounded(a.force_range) || is_well_within(force_at(m, a, at, controls), a.force_range);
  };
  return std::all_of(m.actuators.begin(), m.actuators.end(), within) &&
         std::all_of(m.force_limits.begin(), m.force_limits.end(), [&](const ForceLimit& limit) {
           return is_well_within(joint_total(m, limit.v, at, controls), limit.force_range);
         });
}

template <class R>
void keep_limits(ModelOf<R>& m) {
  if (m.limits.empty()) return;
  const std::vector<ActuatorOf<R>> actuators = m.actuators;
  const std::vector<ForceLimitOf<R>> sums = m.force_limits;
  const std::vector<char> held = held_velocities(m, m.limits);
  m.actuators.clear(), m.force_limits.clear();
  for (std::size_t k = 0; k < actuators.size(); ++k) {
    const ActuatorOf<R>& a = actuators[k];
    const bool limited = m.limits[k] != 0;
    const auto replaced = [&](const auto& row) { return row.owner == a.owner && (limited || held[row.v]); };
    std::erase_if(m.joint_springs, replaced), std::erase_if(m.joint_dampers, replaced);
    std::erase_if(m.joint_forces, replaced);
    if (!limited) m.actuators.push_back(a);
    for (int t = a.first; limited && t < a.first + a.count; ++t) {
      const TransmissionOf<R>& place = m.transmissions[t];
      if (!held[place.v])
        m.joint_forces.push_back({place.v, place.factor * R(a.force_range[m.limits[k] > 0]), -1, a.owner, R(0.0)});
    }
  }
  for (std::size_t k = 0; k < sums.size(); ++k)
    if (const signed char reached = m.limits[actuators.size() + k])
      m.joint_forces.push_back({sums[k].v, R(sums[k].force_range[reached > 0]), -1, sums[k].owner, R(0.0)});
}
template void keep_limits(Model& m);
template void keep_limits(ModelOf<Jet>& m);

Model at_limits(const Model& m, const ActuatorLimits& limits) {
  Model out = m;
  out.limits = limits;
  keep_limits(out);
  const std::vector<char> held = held_velocities(m, limits);
  for (std::size_t k = 0; k < m.actuators.size(); ++k) {
    const int owner = m.actuators[k].owner;
    if (limits[k] != 0) std::erase_if(out.users, [owner](const UserElement& u) { return u.owner == owner; });
    for (UserElement& u : out.users)
      if (u.owner == owner && std::any_of(u.v.begin(), u.v.end(), [&](int v) { return held[v]; }))
        u = feedback_beside(u, held);
  }
  out.user_forces = std::any_of(out.users.begin(), out.users.end(),
                                [](const UserElement& u) { return u.kind == UserElement::Force; });
  return out;
}

}  // namespace symplectree
