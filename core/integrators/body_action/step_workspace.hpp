// Scratch memory of a step's equations (step.hpp), allocated once.
#pragma once

#include <algorithm>

#include "elements/element_forces.hpp"
#include "elements/joint_damper.hpp"
#include "elements/pair_elements.hpp"
#include "elements/user_elements_ad.hpp"
#include "integrators/body_action/body_actions.hpp"
#include "integrators/joint_terms.hpp"

namespace symplectree {

// What a step knows of a body: its inertia at the beginning, its displacement and its momentum.
template <class T>
struct BodyMotion {
  HeldBody<T> held;
  MovedBody<T> moved;
  Spatial<T> momentum;
};

// Everything that the equations of a step need, allocated once.
template <class T, class R = double>
struct StepWorkspace {
  const ModelOf<R>& m;
  Workspace<T> first, second;
  Workspace<T>*now = &first, *next = &second;  // poses and S at the step's beginning and end
  const T *d0 = nullptr, *d1 = nullptr;        // increments by which q and q' differ from their values, if they do
  bool conservative = false;                   // leave out all that comes from no energy: loads, dampers, rotors
  std::vector<BodyMotion<T>> motion;           // of each body
  std::vector<Spatial<T>> F;                   // of each body: wrench carried to the joints
  std::vector<Spatial<T>> load;                // position-dependent wrench on each body at the beginning, or the end
  std::vector<T> joint_load;                   // the same on each velocity
  std::vector<T> b, r, zero;                   // of each velocity: the part of r that q' does not change; r
  std::vector<T> impulse;                      // of each velocity: what constraints give at the beginning
  std::vector<T> stiff;                        // of each velocity: a/h + c/2
  std::vector<Gauge<T>> gauge;                 // of each pair at the beginning
  std::vector<T> user_impulse, displacement;   // of each velocity: of the user's forces; of the step, over h
  std::vector<R> damping;                      // of each velocity: joint damping
  std::vector<char> has_block_terms;           // of each body: rotor inertia or damping on several coordinates
  bool damped_pairs = false, loads = false;
  UserElementsAD<T, R> users;
  // Of numbers without derivatives:
  std::vector<T> scale;          // of each velocity: size of the terms that r is made of
  std::vector<T> impulse_size;   // of each velocity: that of `impulse`
  std::vector<T> reaction;       // of each prescribed velocity: what r is there
  std::vector<T> carried, own;   // of each velocity: what p' has of bodies; of its rotor and damper
  std::vector<char> prescribed;  // of each velocity: its coordinate is prescribed

  explicit StepWorkspace(const ModelOf<R>& model)
      : m(model), first(m), second(m), motion(m.size()), F(m.size()), load(m.size()), joint_load(m.nv), b(m.nv),
        r(m.nv + m.rows), zero(m.nv), impulse(m.nv), stiff(m.nv), gauge(m.pairs()), user_impulse(m.nv),
        displacement(m.nv), damping(m.nv), has_block_terms(m.size()), users(m) {
    if constexpr (!carries_derivatives<T>) {
      scale.resize(m.nv + m.rows), impulse_size.resize(m.nv), reaction.resize(m.nv), prescribed.resize(m.nv);
      carried.resize(m.nv), own.resize(m.nv);
    }
    read_model();
  }

  JointNumbers<R> joint_numbers() const { return {m.armature.data(), damping.data()}; }

  // What follows from the model's numbers, which change where they carry derivatives.
  void read_model() {
    damping = joint_damping(m);
    for (int i = 1; i < m.size(); ++i)
      for (int j = m.bodies[i].v; j < m.bodies[i].v + m.bodies[i].nv; ++j)
        if (m.bodies[i].nv > 1 && !(vanishes(damping[j]) && vanishes(m.armature[j]))) has_block_terms[i] = 1;
    damped_pairs = has_damped_pairs(m);
    loads = m.acts_on_bodies();
  }
};

}  // namespace symplectree
