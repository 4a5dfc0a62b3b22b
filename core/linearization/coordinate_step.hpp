// Steps as maps of plain numbers (q, p, u) → (q', p'), on many rows and from any thread, for other packages' arrays.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <unordered_map>

#include "linearization/step_derivatives.hpp"

namespace symplectree {

// Why a row has no result, in a sentence; no text, no failure.
struct RowFailure {
  std::string text;
  bool no_solution = false;  // else the numbers given were none
  double residual = 0;       // of a step without solution, relative, and its worst velocity or row
  int worst = 0;
};

// Where a row's numbers are, and where its results go; J and H may be null.
struct StepBuffers {
  const double *q, *p, *u;
  double *q1, *p1, *J, *H;
};

class NumberStep;  // one row at a time

// Rows of one model, from any thread. A failure is a sentence about the first row that has one, or, when `quiet`, a row
// of NaN.
class NumberSteps {
 public:
  // Names for sentences: of the numbers (q, p, u), of the velocities and constraint rows, and of the solver.
  struct Names {
    std::vector<std::string> numbers, equations;
    std::string solver;
  };

  // `make` makes the derivatives of one thread's steps, whose coordinates lie as `layout` says.
  using Make = std::function<std::unique_ptr<StepDerivatives>()>;
  NumberSteps(const Model& layout, Make make, Names names, bool quiet);

  ~NumberSteps();

  int nq() const { return m_.nq; }
  int nv() const { return m_.nv; }
  int nu() const { return nu_; }
  std::size_t states() const { return m_.nq + m_.nv; }
  std::size_t numbers() const { return states() + nu_; }

  RowFailure compute(std::size_t rows, StepBuffers at);

 private:
  std::unique_ptr<NumberStep> borrow();

  void next(StepBuffers& at) const;

  void fill(const StepBuffers& at, double value) const;

  // Numbers of which no step can begin.
  RowFailure refused(const StepBuffers& at) const;

  RowFailure unsolved(const NumberStep& step) const;

  const Model& m_;
  Make make_;
  Names names_;
  bool quiet_;
  int nu_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<NumberStep>> idle_;
};

// Steps by number, for compiled code that can hold nothing else.
class StepRegistry {
 public:
  static StepRegistry& instance() {
    static StepRegistry* registry = new StepRegistry;  // never destroyed: other threads may ask at exit
    return *registry;
  }

  std::int64_t add(std::shared_ptr<NumberSteps> steps) {
    std::unique_lock lock(mutex_);
    known_[++last_] = std::move(steps);
    return last_;
  }
  void remove(std::int64_t number) {
    std::unique_lock lock(mutex_);
    known_.erase(number);
  }
  std::shared_ptr<NumberSteps> find(std::int64_t number) const {
    std::shared_lock lock(mutex_);
    const auto at = known_.find(number);
    return at == known_.end() ? nullptr : at->second;
  }

 private:
  mutable std::shared_mutex mutex_;
  std::unordered_map<std::int64_t, std::shared_ptr<NumberSteps>> known_;
  std::int64_t last_ = 0;
};

}  // namespace symplectree
