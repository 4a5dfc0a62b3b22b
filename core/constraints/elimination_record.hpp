// What an elimination over a tree with loops has eliminated, for substitution back.
#pragma once

#include "constraints/loop_fronts.hpp"

namespace symplectree {

struct EliminationRecord {
  // An eliminated unknown: what it is, and its equation in the unknowns that were left.
  struct Step {
    enum Kind { Joint, Row, Shift } kind;
    int index;        // body, or row
    int slots, rows;  // how many of each; entries lie in motion and other, a joint has nv for each
    int constants;    // where its inverse pivot block and its right-hand sides begin in constant
  };

  std::vector<Step> steps;
  std::vector<int> motion_body, other_row;
  std::vector<Spatial<double>> motion;
  std::vector<double> other, constant;

  void clear() {
    steps.clear(), motion_body.clear(), motion.clear(), other_row.clear(), other.clear(), constant.clear();
  }

  void add(Step::Kind kind, int index, int slots, int rows) {
    steps.push_back({kind, index, slots, rows, static_cast<int>(constant.size())});
  }

  // δ (nv), λ (rows) and the bodies' motions η, from the last unknown to the first.
  void substitute_back(const Model& m, const LoopSystem& system, std::vector<Spatial<double>>& eta, double* delta,
                       double* lambda) const {
    int first_motion = static_cast<int>(motion.size()), body = static_cast<int>(motion_body.size());
    int first_other = static_cast<int>(other.size()), row = static_cast<int>(other_row.size());
    for (int j = 0; system.prescribed && j < m.nv; ++j)
      if (system.prescribed[j]) delta[j] = 0;
    for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
      const int i = step->index;
      if (step->kind == Step::Shift) {
        eta[i] = shift_motion(eta[m.bodies[i].parent], system.right->pose[i].r);
        continue;
      }
      const int n = step->kind == Step::Joint ? m.bodies[i].nv : 1;
      first_motion -= n * step->slots, body -= step->slots;
      first_other -= n * step->rows, row -= step->rows;
      const double* numbers = &constant[step->constants];
      double left[6];
      const double* start = step->kind == Step::Joint ? numbers + n * n : numbers + 1;
      for (int k = 0; k < n; ++k) left[k] = start[k];
      for (int b = 0; b < step->slots; ++b)
        for (int k = 0; k < n; ++k) left[k] -= dot(motion[first_motion + b * n + k], eta[motion_body[body + b]]);
      for (int l = 0; l < step->rows; ++l)
        for (int k = 0; k < n; ++k) left[k] -= other[first_other + l * n + k] * lambda[other_row[row + l]];
      if (step->kind == Step::Row) {
        lambda[i] = numbers[0] * left[0];
        continue;
      }
      const int v = m.bodies[i].v;
      for (int k = 0; k < n; ++k) {
        delta[v + k] = 0;
        for (int l = 0; l < n; ++l) delta[v + k] += numbers[n * k + l] * left[l];
      }
      for (int k = 0; k < n; ++k) eta[i] += delta[v + k] * system.right->S[v + k];
    }
  }
};

}  // namespace symplectree
