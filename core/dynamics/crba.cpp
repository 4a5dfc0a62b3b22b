// Composite bodies.
#include "dynamics/crba.hpp"

#include "kinematics/poses_twists.hpp"
#include "scalar/dual.hpp"

namespace symplectree {

template <class T>
void composite_inertias(const Model& m, Workspace<T>& w) {
  for (int i = 1; i < m.size(); ++i) {
    const Body& body = m.bodies[i];
    w.composite[i] = {T(body.mass), Vec3<T>{}, rotated(w.pose[i].R, cast<T>(body.inertia))};
  }
  for (int i = m.size() - 1; i > 0; --i) {
    const int parent = m.bodies[i].parent;
    if (parent > 0) w.composite[parent] += shifted(w.composite[i], w.pose[i].r);
  }
}

template <class T>
void mass_matrix(const Model& m, const T* q, T* M, Workspace<T>& w) {
  compute_poses(m, q, w);
  composite_inertias(m, w);
  for (int k = 0; k < m.nv * m.nv; ++k) M[k] = T(0);
  for (int i = 1; i < m.size(); ++i) {
    const Body& body = m.bodies[i];
    for (int j = body.v; j < body.v + body.nv; ++j) {
      Spatial<T> f = w.composite[i] * w.S[j];
      for (int l = body.v; l <= j; ++l) M[j * m.nv + l] = M[l * m.nv + j] = dot(w.S[l], f);
      M[j * m.nv + j] += T(m.armature[j]);
      for (int above = i; (f = shift_force(f, w.pose[above].r), above = m.bodies[above].parent) > 0;) {
        const Body& b = m.bodies[above];
        for (int l = b.v; l < b.v + b.nv; ++l) M[j * m.nv + l] = M[l * m.nv + j] = dot(w.S[l], f);
      }
    }
  }
}

template void composite_inertias(const Model&, Workspace<double>&);
template void composite_inertias(const Model&, Workspace<Dual>&);
template void mass_matrix(const Model&, const double*, double*, Workspace<double>&);
template void mass_matrix(const Model&, const Dual*, Dual*, Workspace<Dual>&);

}  // namespace symplectree
