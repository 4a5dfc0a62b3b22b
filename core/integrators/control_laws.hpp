// Control laws, from which forces on a mechanism follow within the core: tables over time, PD and PID on coordinates,
// feedback of the whole state.
#pragma once

#include <limits>
#include <memory>
#include <vector>

#include "integrators/run_memory.hpp"
#include "model/coordinate_map.hpp"
#include "model/workspace.hpp"

namespace symplectree {

// Rows of numbers over time: constant from each time to the next, or on straight lines between them, and constant
// before the first and after the last.
struct Signal {
  std::vector<double> times, rows;  // (n) and (n × width)
  std::size_t width = 1;
  bool hold = true;

  // Of one column: its value at time t, and in `rate` its derivative.
  double at(double t, std::size_t column, double& rate) const;
};

struct Limits {
  double low = -std::numeric_limits<double>::infinity(), high = std::numeric_limits<double>::infinity();
  double clip(double u) const { return std::min(std::max(u, low), high); }
};

// A step's beginning: its number, time and length, and the state there.
struct StepStart {
  long step;
  double t, dt;
  const double *q, *v;
};

// Forces, generalized ones (nv) and behind them inputs, to which laws add theirs.
using AllForces = std::vector<double>;

class ControlLaw {
 public:
  virtual ~ControlLaw() = default;
  // Does the force follow time and state within a step? Else it is that of the step's beginning throughout.
  virtual bool varies() const = 0;
  // Does `begin` change its force, or need the velocity?
  virtual bool samples() const { return !varies(); }
  virtual void begin(const StepStart&) {}
  virtual void add(double t, const double* q, const double* v, AllForces& to) = 0;
  virtual void carry(RunMemory&) {}
};

// u = kp (r − q) + kd (ṙ − v) + ki Σ dt (r − q), within limits, in which the sum, over the steps' beginnings, is kept.
struct PidOptions {
  int q, v, place;  // the coordinate, its velocity, and where the force goes
  double kp, ki, kd;
  Signal target;
  Limits limits;
};
std::unique_ptr<ControlLaw> pid_law(PidOptions options);

// The columns of a table, of which the first is added at `place`, and the others behind it.
std::unique_ptr<ControlLaw> table_law(Signal table, int place);

// u_k − K_k [q ⊖ q_k; p − p_k] at the beginning of step k, within limits; the last row of each holds for further steps.
struct FeedbackRows {
  std::vector<double> gains, q, p, forces, low,
      high;       // (rows × nu × 2 nv), (rows × nq), (rows × nv), (rows × nu), (nu)
  int place, nu;  // of the first force, and how many
  double dt;      // time of each row
};
std::unique_ptr<ControlLaw> feedback_law(const Model& tree, const CoordinateMap* map, FeedbackRows rows);

class ControlLaws {
 public:
  // layout: of the coordinates that forces and states are in.
  explicit ControlLaws(const Model& layout) : held(layout.nv + layout.inputs), moving(layout.nv + layout.inputs) {}

  AllForces held, moving;  // sums of laws that hold over a step, and of those that vary, at the last update

  void add(std::unique_ptr<ControlLaw> law) {
    varies_ |= law->varies(), samples_ |= law->samples(), changes_ |= law->varies() && law->samples();
    laws_.push_back(std::move(law));
  }
  bool varies() const { return varies_; }
  bool samples() const { return samples_; }
  void begin(const StepStart& at) {
    std::fill(held.begin(), held.end(), 0.0);
    for (const auto& law : laws_) {
      law->begin(at);
      if (!law->varies()) law->add(at.t, at.q, at.v, held);
    }
    if (changes_) update(at.t, at.q, at.v);
  }
  void update(double t, const double* q, const double* v) {
    std::fill(moving.begin(), moving.end(), 0.0);
    for (const auto& law : laws_)
      if (law->varies()) law->add(t, q, v, moving);
  }
  void carry(RunMemory& memory) {
    memory(held, moving);
    for (const auto& law : laws_) law->carry(memory);
  }

 private:
  std::vector<std::unique_ptr<ControlLaw>> laws_;
  bool varies_ = false, samples_ = false, changes_ = false;
};

}  // namespace symplectree
