// Prescribed coordinates in a step: where they go, and where they are on the way.
#pragma once

#include <algorithm>
#include <vector>

#include "kinematics/configurations.hpp"

namespace symplectree {

// Prescribed coordinates over a step, null when nothing is prescribed: rows of where they are (nq) and how fast (nv) at
// the end of each of its stages, and of accelerations (nv) at its beginning, middle and end.
struct PrescribedMotion;

// Prescribed motions over any part of a step.
class MotionParts {
 public:
  virtual ~MotionParts() = default;
  virtual PrescribedMotion over(double t, double h) const = 0;
};

struct PrescribedMotion {
  const double *targets = nullptr, *rates = nullptr, *accelerations = nullptr;
  const MotionParts* parts = nullptr;

  // Over the part of h from time t.
  PrescribedMotion over(double t, double h) const { return parts ? parts->over(t, h) : *this; }

  // From stage number s of a composition on.
  PrescribedMotion from_stage(const Model& m, int s) const {
    return {targets ? targets + static_cast<std::size_t>(s) * m.nq : nullptr,
            rates ? rates + static_cast<std::size_t>(s) * m.nv : nullptr, accelerations};
  }
};

// Which coordinates are prescribed, and how to put them into configurations.
class PrescribedCoordinates {
 public:
  explicit PrescribedCoordinates(const Model& m) : m_(m), marks_(m.nv) {}

  void set(const std::vector<char>& velocities) {
    marks_ = velocities;
    any_ = std::find(marks_.begin(), marks_.end(), char(1)) != marks_.end();
  }
  bool any() const { return any_; }

  // Prescribed coordinates of q ← those of `target`.
  void place(const double* target, double* q) const {
    if (!any_) return;
    for (int i = 1; i < m_.size(); ++i) {
      const Body& b = m_.bodies[i];
      const char* marks = &marks_[b.v];
      for (int k = 0; k < b.nq(); ++k)
        if (marks[b.flat() ? k : 0]) q[b.q + k] = target[b.q + k];  // quaternions are prescribed as a whole
    }
  }

  // Prescribed coordinates of out ← those on a fraction of the path from q to `end`.
  void interpolate(const double* q, const double* end, double fraction, double* out) const {
    if (!any_) return;
    double d[6];
    for (int i = 1; i < m_.size(); ++i) {
      Body b = m_.bodies[i];
      const char* marks = &marks_[b.v];
      for (int k = 0; b.flat() && k < b.nv; ++k)
        if (marks[k]) out[b.q + k] = q[b.q + k] + fraction * (end[b.q + k] - q[b.q + k]);
      if (b.flat() || !marks[0]) continue;
      b.v = 0;
      body_increment(b, q, end, d);
      for (int k = 0; k < b.nv; ++k) d[k] *= fraction;
      retract_body(b, q, d, out);
    }
  }

 private:
  const Model& m_;
  std::vector<char> marks_;  // of each velocity
  bool any_ = false;
};

}  // namespace symplectree
