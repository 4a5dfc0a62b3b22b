// Scratch memory of every kind of number.
#include "model/workspace.hpp"

#include "scalar/jet.hpp"

namespace symplectree {

template <class T>
template <class R>
Workspace<T>::Workspace(const ModelOf<R>& m)
    : pose(m.size()), S(m.nv), V(m.size()), bias(m.size()), acceleration(m.size()), force(m.size()),
      articulated(m.size()), composite(m.size()), W(m.nv), pivot_inverse(m.nv), u(m.nv), joint_force(m.nv), sine(m.nq),
      cosine(m.nq) {
  pose[0].R = Mat3<T>::identity();
  formula.reserve(m.formulas);
}

template Workspace<double>::Workspace(const Model&);
template Workspace<Dual>::Workspace(const Model&);
template Workspace<Jet>::Workspace(const Model&);
template Workspace<Jet>::Workspace(const ModelOf<Jet>&);
template Workspace<DualOf<Jet>>::Workspace(const Model&);
template Workspace<Pack<2>>::Workspace(const Model&);
template Workspace<Pack<4>>::Workspace(const Model&);
template Workspace<Pack<8>>::Workspace(const Model&);

}  // namespace symplectree
