#include "elements/actuator.hpp"

#include <algorithm>
#include <cmath>

#include "model/potential.hpp"
#include "model/rows/all_rows.hpp"
#include "model/user_elements.hpp"

namespace symplectree {
namespace {

bool is_bounded(const double (&range)[2]) { return std::isfinite(range[0]) || std::isfinite(range[1]); }

constexpr double kWell = 0.8;  // of a limit: below, an estimate of the velocity will do

double force_at(const Model& m, const Actuator& a, JointState<double> at, const double* controls) {
  return unlimited_force(m, a, at, a.input >= 0 ? controls[a.input] : 0.0);
}

}  // namespace

bool has_limits(const Actuator& a) { return is_bounded(a.control_range) || is_bounded(a.force_range); }

bool has_limited_actuators(const Model& m) { return std::any_of(m.actuators.begin(), m.actuators.end(), has_limits); }

void clamp_controls(const Model& m, const double* inputs, double* out) {
  std::copy(inputs, inputs + m.inputs, out);
  for (const Actuator& a : m.actuators)
    if (a.input >= 0) out[a.input] = clamped(inputs[a.input], a.control_range);
}

ActuatorLimits limits_reached(const Model& m, JointState<double> at, const double* controls) {
  ActuatorLimits out(m.actuators.size());
  for (std::size_t k = 0; k < out.size(); ++k) {
    const Actuator& a = m.actuators[k];
    if (!is_bounded(a.force_range)) continue;
    const double force = force_at(m, a, at, controls);
    out[k] = force < a.force_range[0] ? -1 : force > a.force_range[1] ? 1 : 0;
  }
  return out;
}

double excess_power(const Model& m, const Actuator& a, JointState<double> at, const double* inputs) {
  const double u = a.input >= 0 ? clamped(inputs[a.input], a.control_range) : 0;
  const double force = unlimited_force(m, a, at, u), excess = force - clamped(force, a.force_range);
  double rate = 0;
  for (int k = a.first; k < a.first + a.count; ++k) rate += m.transmissions[k].factor * at.v[m.transmissions[k].v];
  return excess * rate;
}

bool is_within_limits(const Model& m, JointState<double> at, const double* controls) {
  return std::all_of(m.actuators.begin(), m.actuators.end(), [&](const Actuator& a) {
    if (!is_bounded(a.force_range)) return true;
    const double force = force_at(m, a, at, controls);
    return force > kWell * a.force_range[0] && force < kWell * a.force_range[1];
  });
}

Model at_limits(const Model& m, const ActuatorLimits& limits) {
  Model out = m;
  out.actuators.clear();
  for (std::size_t k = 0; k < limits.size(); ++k) {
    const Actuator& a = m.actuators[k];
    if (limits[k] == 0) {
      out.actuators.push_back(a);
      continue;
    }
    const auto own = [&a](const auto& row) { return row.owner == a.owner; };
    std::erase_if(out.joint_springs, own), std::erase_if(out.joint_dampers, own);
    std::erase_if(out.joint_forces, own), std::erase_if(out.users, own);
    for (int t = a.first; t < a.first + a.count; ++t)
      out.joint_forces.push_back(
          {m.transmissions[t].v, m.transmissions[t].factor * a.force_range[limits[k] > 0], -1, a.owner, 0});
  }
  out.user_forces = std::any_of(out.users.begin(), out.users.end(),
                                [](const UserElement& u) { return u.kind == UserElement::Force; });
  return out;
}

}  // namespace symplectree
