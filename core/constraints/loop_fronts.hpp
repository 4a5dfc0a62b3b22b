// The fronts of an elimination over a tree with loops: sets of subtrees that rows have joined, as bodies enter them and
// leave for their parents.
#pragma once

#include "constraints/frontal_matrix.hpp"
#include "constraints/loop_plan.hpp"
#include "constraints/loop_system.hpp"

namespace symplectree {

class LoopFronts {
 public:
  LoopFronts(const Model& m, const RowStructure& s)
      : m_(m), s_(s), plan_(m, s), front_of_(m.size()), row_front_(s.rows()), pending_(s.rows()) {}

  const LoopPlan& plan() const { return plan_; }
  int count() const { return used_; }
  Front& operator[](int f) { return fronts_[f]; }
  Front& of_body(int i) { return fronts_[front_of_[i]]; }
  // Does the row hold on to nothing that is not yet inside?
  bool is_inside(int row) const { return pending_[row] == 0; }
  double heaviest() const { return heaviest_; }
  double stiffest() const { return stiffest_; }

  void begin(const LoopSystem& system) {
    std::fill(front_of_.begin(), front_of_.end(), -1);
    std::fill(row_front_.begin(), row_front_.end(), -1);
    pending_ = plan_.touched;
    used_ = 0;
    idle_.clear();
    weigh(system);
  }

  // Body i with its own matrix and force, and the rows that hold on to it.
  void enter(const LoopSystem& system, int i) {
    if (front_of_[i] < 0) add_slot(new_front(), i);
    for (int t = plan_.touch_start[i]; t < plan_.touch_start[i + 1]; ++t) {
      const int k = plan_.touch_row[t], f = front_of_[i];
      if (row_front_[k] < 0) {
        add_row(f, k, system.compliance ? system.compliance[k] : 0.0, system.e[k]);
      } else if (row_front_[k] != f) {
        merge(f, row_front_[k]);
      }
      pending_[k] -= 1 - plan_.touch_joint[t];
    }
    Front& F = fronts_[front_of_[i]];
    const int n = F.slot_of(i);
    add(F.A[n * F.slot_capacity + n], system.A[i]);
    if (system.force) F.g[n] += system.force[i];
    for (int t = plan_.touch_start[i]; t < plan_.touch_start[i + 1]; ++t) {
      const int k = plan_.touch_row[t], r = n * F.row_capacity + F.place_of(k);
      for (int e = s_.pull_start[k]; e < s_.pull_start[k + 1]; ++e) {
        if (s_.pull_body[e] != i) continue;
        F.B[r] -= system.rows_left->pull[e];
        F.C[r] += system.rows_right->pull[e];
      }
      // Pulls that come later, or that cancel on the way to the root, are what a pivot must be large against.
      const Spatial<double>&B = F.B[r], &C = F.C[r];
      double& natural = F.natural[r - n * F.row_capacity];
      if (heaviest_ > 0) natural += norm1(B.linear) * norm1(C.linear) / heaviest_;
      if (stiffest_ > 0) natural += norm1(B.angular) * norm1(C.angular) / stiffest_;
    }
  }

  // The joint of body i is eliminated: rows that hold on to its coordinates need nothing more of it.
  void joint_done(int i) {
    for (int t = plan_.touch_start[i]; t < plan_.touch_start[i + 1]; ++t)
      pending_[plan_.touch_row[t]] -= plan_.touch_joint[t];
  }

  // The slot of body i becomes its parent's.
  void leave(const LoopSystem& system, int i) {
    const int parent = m_.bodies[i].parent, f = front_of_[i];
    front_of_[i] = -1;
    if (parent == 0) {
      fronts_[f].remove_slot(fronts_[f].slot_of(i));
      return;
    }
    if (front_of_[parent] >= 0 && front_of_[parent] != f) {
      merge(f, front_of_[parent]);
      front_of_[i] = -1;
    }
    Front& F = fronts_[f];
    const int n = F.slot_of(i), sc = F.slot_capacity, rc = F.row_capacity;
    const Vec3<double>&r = system.left->pose[i].r, &s = system.right->pose[i].r;
    for (int b = 0; b < F.slots; ++b) {
      if (b == n) continue;
      F.A[n * sc + b] = shifted_left(F.A[n * sc + b], r);
      F.A[b * sc + n] = shifted_right(F.A[b * sc + n], s);
    }
    F.A[n * sc + n] = shifted_left(shifted_right(F.A[n * sc + n], s), r);
    F.g[n] = shift_force(F.g[n], r);
    for (int k = 0; k < F.rows; ++k) {
      F.B[n * rc + k] = shift_force(F.B[n * rc + k], r);
      F.C[n * rc + k] = shift_force(F.C[n * rc + k], s);
    }
    if (front_of_[parent] < 0) {
      F.body[n] = parent;
      front_of_[parent] = f;
      return;
    }
    const int p = F.slot_of(parent);
    for (int b = 0; b < F.slots; ++b)
      if (b != n && b != p) add(F.A[p * sc + b], F.A[n * sc + b]), add(F.A[b * sc + p], F.A[b * sc + n]);
    add(F.A[p * sc + p], F.A[n * sc + n]);
    add(F.A[p * sc + p], F.A[n * sc + p]);
    add(F.A[p * sc + p], F.A[p * sc + n]);
    F.g[p] += F.g[n];
    for (int k = 0; k < F.rows; ++k) F.B[p * rc + k] += F.B[n * rc + k], F.C[p * rc + k] += F.C[n * rc + k];
    F.remove_slot(n);
  }

  void remove_row(Front& F, int l) {
    row_front_[F.row[l]] = -1;
    F.remove_row(l);
  }

 private:
  // The heaviest body and rotor, against which a row's first pivots are judged.
  void weigh(const LoopSystem& system) {
    const auto trace = [](const Mat3<double>& M) { return std::fabs(M.a.x) + std::fabs(M.b.y) + std::fabs(M.c.z); };
    heaviest_ = stiffest_ = 0;
    for (int i = 1; i < m_.size(); ++i) {
      heaviest_ = std::max(heaviest_, trace(system.A[i].D));
      stiffest_ = std::max(stiffest_, trace(system.A[i].A));
    }
    for (int j = 0; j < m_.nv; ++j) stiffest_ = std::max(stiffest_, std::fabs(system.stiff[j]));
  }

  int new_front() {
    int f;
    if (!idle_.empty()) {
      f = idle_.back();
      idle_.pop_back();
    } else {
      f = used_++;
      if (static_cast<int>(fronts_.size()) < used_) fronts_.emplace_back();
    }
    fronts_[f].slots = fronts_[f].rows = 0;
    return f;
  }

  int add_slot(int f, int body) {
    front_of_[body] = f;
    return fronts_[f].add_slot(body);
  }

  void add_row(int f, int row, double compliance, double e) {
    row_front_[row] = f;
    fronts_[f].add_row(row, compliance, e);
  }

  // Everything of front g into front f.
  void merge(int f, int g) {
    Front& G = fronts_[g];
    for (int b = 0; b < G.slots; ++b) front_of_[G.body[b]] = f;
    for (int k = 0; k < G.rows; ++k) row_front_[G.row[k]] = f;
    fronts_[f].take(G);
    idle_.push_back(g);
  }

  const Model& m_;
  const RowStructure& s_;
  LoopPlan plan_;
  std::vector<int> front_of_, row_front_, pending_;
  std::vector<Front> fronts_;
  std::vector<int> idle_;  // unused fronts
  int used_ = 0;
  double heaviest_ = 0, stiffest_ = 0;
};

}  // namespace symplectree
