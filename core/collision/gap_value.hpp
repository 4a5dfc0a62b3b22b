// What a gap function returns, and directions that are defined everywhere.
#pragma once

#include <cmath>

#include "scalar/dual.hpp"
#include "spatial/vec3.hpp"

namespace symplectree {

template <class T>
struct Gap {
  T g;
  Vec3<T> n, x_a, x_b;

  // Where the contact is taken to be: midway between the witness points.
  Vec3<T> point() const { return T(0.5) * (x_a + x_b); }
};

// The same gap with a and b exchanged.
template <class T>
Gap<T> swapped(const Gap<T>& of) {
  return {of.g, -of.n, of.x_b, of.x_a};
}

template <class T>
struct Direction {
  T length;
  Vec3<T> unit;
};

// Length and direction of v; a vector that is too short to have one gets `otherwise`, and the length 0.
template <class T>
Direction<T> direction_or(const Vec3<T>& v, const Vec3<T>& otherwise) {
  using std::sqrt;
  const T square = dot(v, v);
  if (!(value_of(square) > 1e-30)) return {T(0), otherwise};
  const T length = sqrt(square);
  return {length, (T(1) / length) * v};
}

// A unit vector perpendicular to a unit vector.
template <class T>
Vec3<T> across(const Vec3<T>& d) {
  const double x = std::fabs(value_of(d.x)), y = std::fabs(value_of(d.y)), z = std::fabs(value_of(d.z));
  const Vec3<T> least = x <= y && x <= z ? Vec3<T>{T(1), T(0), T(0)}
                        : y <= z         ? Vec3<T>{T(0), T(1), T(0)}
                                         : Vec3<T>{T(0), T(0), T(1)};
  return direction_or(cross(d, least), least).unit;
}

}  // namespace symplectree
