// Activations of actuators, which act in place of controls and follow them: a filter ȧ = (u − a)/τ or an integrator
// ȧ = u, kept within a range, at whose ends they stay. Under a constant control they are known functions of time, which
// are monotonous: a range cuts them off.
#pragma once

#include <cmath>
#include <vector>

#include "elements/actuator.hpp"

namespace symplectree {

// Places of actuators with activations.
std::vector<int> active_actuators(const Model& m);

// (1 − e⁻ˣ)/x, the mean of e⁻ˢ over [0, x].
inline double mean_decay(double x) { return std::fabs(x) < 1e-8 ? 1 - 0.5 * x : -std::expm1(-x) / x; }

// An activation that was `a` before the time h, under the control u and without its range.
template <class T>
T free_activation(const Actuator& of, const T& a, const T& u, double h) {
  if (of.dynamics == kIntegrator) return a + T(h) * u;
  return u + T(std::exp(-h / of.time_constant)) * (a - u);
}

// The same within its range.
template <class T>
T activation_after(const Actuator& of, const T& a, const T& u, double h) {
  return clamped(free_activation(of, a, u, h), of.activation_range);
}

// Its mean over the time h > 0.
template <class T>
T mean_activation(const Actuator& of, const T& a, const T& u, double h) {
  const auto free_mean = [&](const T& time) {
    if (of.dynamics == kIntegrator) return a + T(0.5) * time * u;
    const T x = time / T(of.time_constant);
    return u + (a - u) * T(mean_decay(value_of(x)));
  };
  const T end = free_activation(of, a, u, h);
  if (value_of(end) >= of.activation_range[0] && value_of(end) <= of.activation_range[1]) return free_mean(T(h));
  // The time until it reaches the end of its range; as the activation is continuous there, its derivatives in that time
  // do not count.
  const double edge = of.activation_range[value_of(end) > of.activation_range[1]], from = value_of(a), to = value_of(u);
  const double time =
      of.dynamics == kIntegrator ? (edge - from) / to : -of.time_constant * std::log((edge - to) / (from - to));
  if (!(time > 0)) return T(edge);
  const T share(time / h);
  return share * free_mean(T(time)) + (T(1) - share) * T(edge);
}

// An activation that was `a` before the time h, in which the control went straight from u0 to u1.
inline double activation_along(const Actuator& of, double a, double u0, double u1, double h) {
  const double x = h / of.time_constant;
  const double free =
      of.dynamics == kIntegrator ? a + 0.5 * h * (u0 + u1) : u1 + std::exp(-x) * (a - u0) - (u1 - u0) * mean_decay(x);
  return clamped(free, of.activation_range);
}

}  // namespace symplectree
