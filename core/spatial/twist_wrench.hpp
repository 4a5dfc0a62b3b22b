// Twists, wrenches and inertias in world axes about a moving point.
//
// Everywhere in the core a body's twist is (angular velocity, velocity of its reference point) and its wrench is
// (torque about that point, force), both in world axes. The reference point of a body is its centre of mass.
// Carrying from one body to another is then a shift by r = (point of child) − (point of parent), without rotation.
#pragma once

#include "spatial/vec3.hpp"

namespace symplectree {

template <class T>
struct Spatial {
  Vec3<T> angular, linear;

  Spatial& operator+=(const Spatial& b) {
    angular += b.angular, linear += b.linear;
    return *this;
  }
  Spatial& operator-=(const Spatial& b) {
    angular -= b.angular, linear -= b.linear;
    return *this;
  }
};

template <class T>
Spatial<T> operator+(const Spatial<T>& a, const Spatial<T>& b) {
  return {a.angular + b.angular, a.linear + b.linear};
}
template <class T>
Spatial<T> operator-(const Spatial<T>& a, const Spatial<T>& b) {
  return {a.angular - b.angular, a.linear - b.linear};
}
template <class T>
Spatial<T> operator*(const T& s, const Spatial<T>& a) {
  return {s * a.angular, s * a.linear};
}
// The pairing of a twist with a wrench, or of a column of S with either.
template <class T>
T dot(const Spatial<T>& a, const Spatial<T>& b) {
  return dot(a.angular, b.angular) + dot(a.linear, b.linear);
}
inline double dot(const Spatial<double>& a, const Spatial<double>& b) {
  const Lanes p = a.angular.lanes * b.angular.lanes + a.linear.lanes * b.linear.lanes;
  return (p[0] + p[2]) + p[1];
}

// The twist of a parent at the child's point, which lies r beyond the parent's.
template <class T>
Spatial<T> shift_motion(const Spatial<T>& V, const Vec3<T>& r) {
  return {V.angular, V.linear + cross(V.angular, r)};
}
// The wrench at the child's point, which lies r beyond the parent's, taken about the parent's point.
template <class T>
Spatial<T> shift_force(const Spatial<T>& f, const Vec3<T>& r) {
  return {f.angular + cross(r, f.linear), f.linear};
}

// [A, B] for twists about one fixed point (LLPS16 (15)).
template <class T>
Spatial<T> bracket(const Spatial<T>& A, const Spatial<T>& B) {
  return {cross(A.angular, B.angular), cross(A.linear, B.angular) + cross(A.angular, B.linear)};
}
// How a wrench about a fixed point changes when what it acts on is moved by the twist A: −ad_Aᵀ f.
template <class T>
Spatial<T> bracket_force(const Spatial<T>& A, const Spatial<T>& f) {
  return {cross(A.angular, f.angular) + cross(A.linear, f.linear), cross(A.angular, f.linear)};
}

// Inertia of rigidly joined bodies: mass, first moment and second moment about one point.
template <class T>
struct RigidInertia {
  T mass{};
  Vec3<T> moment;   // mass times (centre − point)
  Sym3<T> inertia;  // about the point

  RigidInertia& operator+=(const RigidInertia& b) {
    mass += b.mass, moment += b.moment, inertia += b.inertia;
    return *this;
  }
};

template <class T>
Spatial<T> operator*(const RigidInertia<T>& I, const Spatial<T>& V) {
  return {I.inertia * V.angular + cross(I.moment, V.linear), I.mass * V.linear - cross(I.moment, V.angular)};
}

// 2 (u·v) 1 − u vᵀ − v uᵀ = −(û v̂ + v̂ û)
template <class T>
Sym3<T> double_cross(const Vec3<T>& u, const Vec3<T>& v) {
  const T xx = u.x * v.x, yy = u.y * v.y, zz = u.z * v.z;
  return {T(2) * (yy + zz),         T(2) * (xx + zz),         T(2) * (xx + yy),
          -(u.x * v.y + u.y * v.x), -(u.x * v.z + u.z * v.x), -(u.y * v.z + u.z * v.y)};
}

// The same bodies about a point that lies r before the present one (as shift_force).
template <class T>
RigidInertia<T> shifted(const RigidInertia<T>& I, const Vec3<T>& r) {
  RigidInertia<T> out{I.mass, I.moment + I.mass * r, I.inertia};
  out.inertia += double_cross(r, I.moment + (T(0.5) * I.mass) * r);
  return out;
}

}  // namespace symplectree
