// Scratch memory of the algorithms, allocated once per model and thread.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

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

// Workspaces W of one model, lent to one call at a time; threads get their own. W may be declared only where none is
// borrowed.
template <class W>
class Pool {
 public:
  explicit Pool(const Model& m) : model_(m) {}

  class Loan {
   public:
    Loan(Pool& pool, std::shared_ptr<W> w) : pool_(pool), workspace_(std::move(w)) {}
    ~Loan() {
      std::lock_guard lock(pool_.mutex_);
      pool_.idle_.push_back(std::move(workspace_));
    }
    Loan(const Loan&) = delete;
    W& operator*() { return *workspace_; }

   private:
    Pool& pool_;
    std::shared_ptr<W> workspace_;
  };

  Loan borrow() {
    {
      std::lock_guard lock(mutex_);
      if (!idle_.empty()) {
        auto w = std::move(idle_.back());
        idle_.pop_back();
        return Loan(*this, std::move(w));
      }
    }
    return Loan(*this, std::make_shared<W>(model_));
  }

 private:
  const Model& model_;
  std::mutex mutex_;
  std::vector<std::shared_ptr<W>> idle_;
};

}  // namespace symplectree
