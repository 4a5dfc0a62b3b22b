// Scratch memory that calls borrow.
#pragma once

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "model/model.hpp"

namespace symplectree {

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
