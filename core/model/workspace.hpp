// Scratch memory of the algorithms, allocated once per model and thread.
#pragma once

#include <vector>

#include "formula/formula_workspace.hpp"
#include "model/model.hpp"
#include "spatial/articulated_inertia.hpp"

namespace symplectree {

// Of the world (body 0) pose, twist and acceleration are never written and stay zero.
template <class T>
struct Workspace {
  std::vector<BodyPose<T>> pose;         // of each body
  std::vector<Spatial<T>> S;             // of each velocity: the twist it gives its body, at the body's centre
  std::vector<Spatial<T>> V;             // twist of each body
  std::vector<Spatial<T>> bias;          // acceleration of each body that velocity alone causes
  std::vector<Spatial<T>> acceleration;  // of each body
  std::vector<Spatial<T>> force;         // wrench on each body
  std::vector<ArticulatedInertia<T>> articulated;
  std::vector<RigidInertia<T>> composite;
  std::vector<Spatial<T>> W;        // of each velocity: articulated inertia times S
  std::vector<T> pivot_inverse, u;  // of each velocity
  std::vector<T> joint_force;       // of each velocity: what elements apply to it
  std::vector<T> sine, cosine;      // of each coordinate
  FormulaWorkspace<T> formula;

  template <class R>
  explicit Workspace(const ModelOf<R>& m);
};

}  // namespace symplectree
