// A line between two points, d = x_b − x_a of length ℓ: V = φ(ℓ), tension φ'(ℓ) + c ℓ̇ (JM09 section IV-C).
#pragma once

#include "kinematics/poses_twists.hpp"
#include "model/model.hpp"
#include "scalar/dual.hpp"
#include "scalar/simd_pack.hpp"

namespace symplectree {

// A line element's length and what its potential says there.
template <class T>
struct LineState {
  Vec3<T> d, u;  // from a to b; unit vector of it, zero where the length is zero
  T length, energy, slope, curvature;
  T slope_over_length;  // φ'/ℓ, finite at ℓ = 0 where φ' vanishes there
};

template <class R, class T>
LineState<T> line_state(const LineOf<R>& line, const std::vector<Potential>& potentials, const Vec3<T>& d) {
  using std::sqrt;
  LineState<T> s;
  s.d = d;
  const T square = dot(d, d);
  const bool zero = value_of(square) == 0;
  s.length = zero ? T(0) : sqrt(square);
  if (line.function < 0) {
    const T stretch = s.length - T(line.length);
    s.slope = T(line.stiffness) * stretch;
    s.energy = T(0.5) * s.slope * stretch;
    s.curvature = T(line.stiffness);
  } else {
    double phi[4] = {};
    potentials[line.function].evaluate(value_of(s.length), phi);
    s.energy = taylor(phi[0], phi[1], phi[2], s.length);
    s.slope = taylor(phi[1], phi[2], phi[3], s.length);
    s.curvature = taylor(phi[2], phi[3], 0, s.length);
  }
  const T inverse = zero ? T(0) : T(1) / s.length;
  s.u = inverse * d;
  const bool smooth = value_of(s.slope) == 0 && std::isfinite(value_of(s.curvature));
  s.slope_over_length = !zero ? s.slope * inverse : smooth ? s.curvature : T(0);
  return s;
}

// One after the other: lengths may vanish, and potentials are functions, in each on its own.
template <int W>
LineState<Pack<W>> line_state(const Line& line, const std::vector<Potential>& potentials, const Vec3<Pack<W>>& d) {
  LineState<Pack<W>> out;
  out.d = d;
  for (int k = 0; k < W; ++k) {
    const LineState<double> s = line_state(line, potentials, Vec3<double>{d.x[k], d.y[k], d.z[k]});
    out.u.x.set(k, s.u.x), out.u.y.set(k, s.u.y), out.u.z.set(k, s.u.z);
    out.length.set(k, s.length), out.energy.set(k, s.energy), out.slope.set(k, s.slope);
    out.curvature.set(k, s.curvature), out.slope_over_length.set(k, s.slope_over_length);
  }
  return out;
}

template <class R, class T>
void add_energy(const LineOf<R>& line, const std::vector<Potential>& potentials, const Workspace<T>& w, T& energy) {
  energy += line_state(line, potentials, position(line.b, w) - position(line.a, w)).energy;
}

// act(point, its world position, force) at both ends, with `spring` times the potential's tension and `damper` times
// the damper's; poses and velocities must be there.
template <class R, class T, class F>
void apply_tension(const LineOf<R>& line, const std::vector<Potential>& potentials, const Workspace<T>& w,
                   double spring, double damper, F&& act) {
  const Vec3<T> a = position(line.a, w), b = position(line.b, w);
  const LineState<T> s = line_state(line, potentials, b - a);
  const T rate = dot(s.u, velocity_at(b, line.b.body, w) - velocity_at(a, line.a.body, w));
  const Vec3<T> tension = (T(spring) * s.slope_over_length) * s.d + (T(damper * line.damping) * rate) * s.u;
  act(line.a, a, tension), act(line.b, b, -tension);
}

template <class R>
bool has_damped_lines(const ModelOf<R>& m) {
  for (const LineOf<R>& line : m.lines)
    if (value_of(line.damping) != 0) return true;
  return false;
}

}  // namespace symplectree
