// Linear systems of a tree with rows that couple its bodies, solved by elimination from the leaves to the root.
//
//   Σ over the tree of S_iᵀ (A_i η_i) − G_lᵀ λ = rhs,   G_r δ + E λ = e,   η_i = X_i η_λ(i) + S'_i δ_i
//
// with motion carried by the poses `right` and force by the poses `left` (those of the step's end and beginning in
// Newton's matrix, the same ones for the mass matrix). A front is a set of subtrees that rows have joined: its unknowns
// are the motions of the bodies at its border (its slots) and the multipliers of its rows. A row is eliminated as soon
// as all bodies that it holds on to are inside and its pivot is sound, so loops that are local cost what they span, and
// time grows with the number of loops. What is dependent is left to the end, where the multiplier is set to zero.
#pragma once

#include <array>

#include "constraints/frontal_matrix.hpp"
#include "constraints/row_evaluation.hpp"

namespace symplectree {

// One linear system; all arrays are the caller's. `none` in `block` of a body: nothing besides S A S'.
struct LoopSystem {
  const Workspace<double>*left = nullptr, *right = nullptr;
  const General6<double>* A = nullptr;            // of each body
  const Spatial<double>* force = nullptr;         // of each body, added to A η; may be null
  const double* stiff = nullptr;                  // of each velocity, added to S A S'
  const std::array<double, 36>* block = nullptr;  // of each body with several velocities: added instead of `stiff`
  const char* prescribed = nullptr;               // of each velocity: its coordinate does not move; may be null
  const double* rhs = nullptr;                    // of each velocity
  const RowValues *rows_left = nullptr, *rows_right = nullptr;
  const double *compliance = nullptr, *e = nullptr;  // of each row; compliance (the diagonal of E) may be null
};

class LoopSolver {
 public:
  int redundant = 0;  // rows of the last system that depended on others

  // A row whose pivot is below `distinct` of its natural size at the end depends on others.
  LoopSolver(const Model& m, const RowStructure& s, double distinct)
      : m_(m),
        s_(s),
        distinct_(distinct),
        eta_(m.size()),
        front_of_(m.size()),
        row_front_(s.rows()),
        pending_(s.rows()) {
    order_bodies();
    list_touches();
  }

  // δ (nv) and λ (rows) of the system.
  void solve(const LoopSystem& system, double* delta, double* lambda) {
    begin();
    weigh(system);
    for (int i : order_) {
      enter(system, i);
      drop_finished_rows(front_of_[i], kSound);
      if (!is_prescribed(system, i)) eliminate_joint(system, i);
      for (int t = touch_start_[i]; t < touch_start_[i + 1]; ++t) pending_[touch_row_[t]] -= touch_joint_[t];
      drop_finished_rows(front_of_[i], kSound);
      leave(system, i);
    }
    for (int k = 0; k < s_.rows(); ++k)
      if (s_.idle[k]) dependent_.push_back(k);
    redundant = static_cast<int>(dependent_.size());
    for (const int row : dependent_) lambda[row] = 0;
    for (int f = 0; f < used_; ++f) finish(f, lambda);
    substitute_back(system, delta, lambda);
  }

  // Motion of each body, of the last solution.
  const std::vector<Spatial<double>>& motions() const { return eta_; }

 private:
  static constexpr double kSound = 1e-3;  // least pivot of a row, relative to its natural size, while more may come

  // An eliminated unknown: what it is, and its equation in the unknowns that were left.
  struct Step {
    enum Kind { Joint, Row, Shift } kind;
    int index;        // body, or row
    int slots, rows;  // how many of each; entries lie in motion_ and other_, a joint has nv for each
    int constants;    // where its inverse pivot block and its right-hand sides begin in constant_
  };

  void order_bodies() {
    std::vector<int> depth(m_.size());
    for (int i = 1; i < m_.size(); ++i) depth[i] = depth[m_.bodies[i].parent] + 1;
    for (int i = m_.size() - 1; i > 0; --i) order_.push_back(i);
    std::stable_sort(order_.begin(), order_.end(), [&](int a, int b) { return depth[a] > depth[b]; });
  }

  // Of each body: the rows that hold on to it or to its coordinates; the latter need its joint to be eliminated.
  void list_touches() {
    touch_start_.assign(m_.size() + 1, 0);
    std::vector<std::vector<int>> rows(m_.size()), joints(m_.size());
    touched_.assign(s_.rows(), 0);
    for (int k = 0; k < s_.rows(); ++k) {
      if (s_.idle[k]) continue;
      std::vector<int> bodies;
      for (int e = s_.pull_start[k]; e < s_.pull_start[k + 1]; ++e) bodies.push_back(s_.pull_body[e]);
      std::vector<char> joint(m_.size());
      for (int e = s_.coefficient_start[k]; e < s_.coefficient_start[k + 1]; ++e) {
        bodies.push_back(m_.body_of[s_.coefficient_v[e]]);
        joint[bodies.back()] = 1;
      }
      std::sort(bodies.begin(), bodies.end());
      bodies.erase(std::unique(bodies.begin(), bodies.end()), bodies.end());
      for (int i : bodies)
        if (i > 0) rows[i].push_back(k), joints[i].push_back(joint[i]), ++touched_[k];
    }
    for (int i = 0; i < m_.size(); ++i) {
      touch_row_.insert(touch_row_.end(), rows[i].begin(), rows[i].end());
      touch_joint_.insert(touch_joint_.end(), joints[i].begin(), joints[i].end());
      touch_start_[i + 1] = static_cast<int>(touch_row_.size());
    }
  }

  void begin() {
    std::fill(front_of_.begin(), front_of_.end(), -1);
    std::fill(row_front_.begin(), row_front_.end(), -1);
    pending_ = touched_;
    used_ = 0;
    idle_.clear(), dependent_.clear();
    steps_.clear(), motion_body_.clear(), motion_.clear(), other_row_.clear(), other_.clear(), constant_.clear();
  }

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

  // Body i with its own matrix and force, and the rows that hold on to it.
  void enter(const LoopSystem& system, int i) {
    if (front_of_[i] < 0) add_slot(new_front(), i);
    for (int t = touch_start_[i]; t < touch_start_[i + 1]; ++t) {
      const int k = touch_row_[t], f = front_of_[i];
      if (row_front_[k] < 0) {
        add_row(f, k, system.compliance ? system.compliance[k] : 0.0, system.e[k]);
      } else if (row_front_[k] != f) {
        merge(f, row_front_[k]);
      }
      pending_[k] -= 1 - touch_joint_[t];
    }
    Front& F = fronts_[front_of_[i]];
    const int n = F.slot_of(i);
    add(F.A[n * F.slot_capacity + n], system.A[i]);
    if (system.force) F.g[n] += system.force[i];
    for (int t = touch_start_[i]; t < touch_start_[i + 1]; ++t) {
      const int k = touch_row_[t], r = n * F.row_capacity + F.place_of(k);
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

  static double natural_size(const Spatial<double>& a, const Spatial<double>& b) {
    return norm1(a.angular) * norm1(b.angular) + norm1(a.linear) * norm1(b.linear);
  }

  // Do none of the coordinates of body i move?
  bool is_prescribed(const LoopSystem& system, int i) const {
    const char* marks = system.prescribed ? system.prescribed + m_.bodies[i].v : nullptr;
    return marks && std::find(marks, marks + m_.bodies[i].nv, char(0)) == marks + m_.bodies[i].nv;
  }

  // The coordinates of body i, which is a slot of its front; of those that are prescribed rows and columns of D⁻¹ are
  // zero.
  void eliminate_joint(const LoopSystem& system, int i) {
    const Body& body = m_.bodies[i];
    Front& F = fronts_[front_of_[i]];
    const int n = body.nv, slots = F.slots, rows = F.rows, own = F.slot_of(i);
    const int sc = F.slot_capacity, rc = F.row_capacity;
    const Spatial<double>*S0 = &system.left->S[body.v], *S1 = &system.right->S[body.v];
    const auto fixed = [&](int k) { return system.prescribed && system.prescribed[body.v + k]; };
    W_.resize(slots * n), z_.resize(rows * n), c_.resize(rows * n), big_.resize(rows);
    const std::size_t first = motion_.size();
    steps_.push_back({Step::Joint, i, slots, rows, static_cast<int>(constant_.size())});
    for (int b = 0; b < slots; ++b) {
      motion_body_.push_back(F.body[b]);
      for (int k = 0; k < n; ++k) {
        W_[b * n + k] = F.A[b * sc + own] * S1[k];
        motion_.push_back(transposed_times(F.A[own * sc + b], S0[k]));
      }
    }
    const Spatial<double>* Z = motion_.data() + first;
    for (int l = 0; l < rows; ++l) {
      const Spatial<double>&B = F.B[own * rc + l], &C = F.C[own * rc + l];
      double big = 0;
      for (int k = 0; k < n; ++k) {
        z_[l * n + k] = dot(S0[k], B), c_[l * n + k] = dot(S1[k], C);
        if (!fixed(k)) big += natural_size(S0[k], B) * natural_size(S1[k], C);
      }
      const int row = F.row[l];
      for (int e = s_.coefficient_start[row]; e < s_.coefficient_start[row + 1]; ++e) {
        const int k = s_.coefficient_v[e] - body.v;
        if (k < 0 || k >= n) continue;
        const double left = system.rows_left->coefficient[e], right = system.rows_right->coefficient[e];
        z_[l * n + k] -= left, c_[l * n + k] += right;
        if (!fixed(k)) big += std::fabs(left * right);
      }
      big_[l] = big;
    }
    // Pivot block and right-hand sides.
    double D[36] = {}, u[6], x[6];
    if (n == 1) {
      D[0] = 1 / (dot(S0[0], W_[own]) + system.stiff[body.v]);
    } else {
      if (system.block) std::copy(system.block[i].data(), system.block[i].data() + n * n, D);
      for (int k = 0; k < n; ++k)
        for (int l = 0; l < n; ++l) D[n * k + l] += dot(S0[k], W_[own * n + l]);
      for (int k = 0; k < n; ++k)
        for (int l = 0; l < n; ++l)
          if (fixed(k) || fixed(l)) D[n * k + l] = k == l ? 1 : 0;
      if (!invert_small(D, n)) std::fill(D, D + n * n, std::nan(""));
      for (int k = 0; k < n; ++k)
        if (fixed(k)) D[(n + 1) * k] = 0;
    }
    for (int k = 0; k < n; ++k) u[k] = system.rhs[body.v + k] - dot(S0[k], F.g[own]);
    for (int k = 0; k < n; ++k) {
      x[k] = 0;
      for (int l = 0; l < n; ++l) x[k] += D[n * k + l] * u[l];
    }
    double pivot_size = 0;
    for (int k = 0; k < n * n; ++k) pivot_size = std::max(pivot_size, std::fabs(D[k]));
    // W and c become W D⁻¹ and c D⁻¹, then everything loses its product with Z and z.
    for (int b = 0; b < slots; ++b) {
      for (int k = 0; k < n; ++k) F.g[b] += x[k] * W_[b * n + k];
      if (n == 1) {
        W_[b] = D[0] * W_[b];
      } else {
        Spatial<double> scaled[6];
        for (int l = 0; l < n; ++l)
          for (int k = 0; k < n; ++k) scaled[l] += D[n * k + l] * W_[b * n + k];
        std::copy(scaled, scaled + n, &W_[b * n]);
      }
      for (int c = 0; c < slots; ++c)
        for (int k = 0; k < n; ++k) subtract_outer(F.A[b * sc + c], W_[b * n + k], Z[c * n + k]);
      for (int l = 0; l < rows; ++l)
        for (int k = 0; k < n; ++k) F.B[b * rc + l] -= z_[l * n + k] * W_[b * n + k];
    }
    for (int l = 0; l < rows; ++l) {
      double scaled[6] = {};
      for (int k = 0; k < n; ++k) {
        F.e[l] -= c_[l * n + k] * x[k];
        for (int j = 0; j < n; ++j) scaled[j] += c_[l * n + k] * D[n * k + j];
      }
      F.natural[l] += big_[l] * pivot_size;
      for (int k = 0; k < n; ++k) {
        if (scaled[k] == 0) continue;
        for (int c = 0; c < slots; ++c) F.C[c * rc + l] -= scaled[k] * Z[c * n + k];
        for (int j = 0; j < rows; ++j) F.E[l * rc + j] -= scaled[k] * z_[j * n + k];
      }
    }
    for (int l = 0; l < rows; ++l) {
      other_row_.push_back(F.row[l]);
      for (int k = 0; k < n; ++k) other_.push_back(z_[l * n + k]);
    }
    constant_.insert(constant_.end(), D, D + n * n);
    constant_.insert(constant_.end(), u, u + n);
  }

  // Eliminate rows of front f that hold on to nothing outside and whose pivots are sound.
  void drop_finished_rows(int f, double sound) {
    Front& F = fronts_[f];
    for (int l = 0; l < F.rows;) {
      const double pivot = F.E[l * F.row_capacity + l];
      if (pending_[F.row[l]] == 0 && std::fabs(pivot) > sound * F.natural[l]) {
        eliminate_row(F, l);
        l = 0;
      } else if (pending_[F.row[l]] == 0 && std::fabs(pivot) <= distinct_ * F.natural[l] && is_closed(F, l)) {
        dependent_.push_back(F.row[l]);
        remove_row(F, l);
      } else {
        ++l;
      }
    }
  }

  // Does nothing outside the front act on row l any more? That of a loop does not, once the loop is inside.
  bool is_closed(const Front& F, int l) const {
    const double small = distinct_ * F.natural[l];
    for (int b = 0; b < F.slots; ++b) {
      const Spatial<double>&B = F.B[b * F.row_capacity + l], &C = F.C[b * F.row_capacity + l];
      const double linear = norm1(B.linear) * norm1(C.linear), angular = norm1(B.angular) * norm1(C.angular);
      if (linear > small * heaviest_ || angular > small * stiffest_) return false;
    }
    return true;
  }

  void eliminate_row(Front& F, int l) {
    const int sc = F.slot_capacity, rc = F.row_capacity, last = F.rows - 1;
    const double inverse = 1 / F.E[l * rc + l], e = F.e[l];
    steps_.push_back({Step::Row, F.row[l], F.slots, last, static_cast<int>(constant_.size())});
    for (int b = 0; b < F.slots; ++b) {
      motion_body_.push_back(F.body[b]);
      motion_.push_back(F.C[b * rc + l]);
    }
    for (int k = 0; k < F.rows; ++k) {
      if (k == l) continue;
      other_row_.push_back(F.row[k]);
      other_.push_back(F.E[l * rc + k]);
    }
    constant_.push_back(inverse), constant_.push_back(e);
    for (int b = 0; b < F.slots; ++b) {
      const Spatial<double> w = inverse * F.B[b * rc + l];
      F.g[b] += e * w;
      for (int c = 0; c < F.slots; ++c) subtract_outer(F.A[b * sc + c], w, F.C[c * rc + l]);
      for (int k = 0; k < F.rows; ++k)
        if (k != l) F.B[b * rc + k] -= F.E[l * rc + k] * w;
    }
    for (int k = 0; k < F.rows; ++k) {
      const double scaled = inverse * F.E[k * rc + l];
      if (k == l || scaled == 0) continue;
      F.e[k] -= scaled * e;
      F.natural[k] += std::fabs(scaled * F.E[l * rc + k]);
      for (int b = 0; b < F.slots; ++b) F.C[b * rc + k] -= scaled * F.C[b * rc + l];
      for (int j = 0; j < F.rows; ++j)
        if (j != l) F.E[k * rc + j] -= scaled * F.E[l * rc + j];
    }
    remove_row(F, l);
  }

  void remove_row(Front& F, int l) {
    row_front_[F.row[l]] = -1;
    F.remove_row(l);
  }

  // The slot of body i becomes its parent's.
  void leave(const LoopSystem& system, int i) {
    steps_.push_back({Step::Shift, i, 0, 0, 0});
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

  // Rows that are left when all bodies are gone: the largest pivots first, then those that depend on others.
  void finish(int f, double* lambda) {
    Front& F = fronts_[f];
    while (F.rows > 0) {
      int best = 0;
      double largest = -1;
      for (int l = 0; l < F.rows; ++l) {
        const double pivot = std::fabs(F.E[l * F.row_capacity + l]);
        const double ratio = F.natural[l] > 0 ? pivot / F.natural[l] : 0;
        if (ratio > largest || std::isnan(ratio)) largest = ratio, best = l;
      }
      if (largest <= distinct_) break;
      eliminate_row(F, best);
    }
    redundant += F.rows;
    while (F.rows > 0) {
      lambda[F.row[F.rows - 1]] = 0;
      remove_row(F, F.rows - 1);
    }
  }

  void substitute_back(const LoopSystem& system, double* delta, double* lambda) {
    int motion = static_cast<int>(motion_.size()), body = static_cast<int>(motion_body_.size());
    int other = static_cast<int>(other_.size()), row = static_cast<int>(other_row_.size());
    for (int j = 0; system.prescribed && j < m_.nv; ++j)
      if (system.prescribed[j]) delta[j] = 0;
    for (auto step = steps_.rbegin(); step != steps_.rend(); ++step) {
      const int i = step->index;
      if (step->kind == Step::Shift) {
        eta_[i] = shift_motion(eta_[m_.bodies[i].parent], system.right->pose[i].r);
        continue;
      }
      const int n = step->kind == Step::Joint ? m_.bodies[i].nv : 1;
      motion -= n * step->slots, body -= step->slots;
      other -= n * step->rows, row -= step->rows;
      const double* constant = &constant_[step->constants];
      double left[6];
      const double* start = step->kind == Step::Joint ? constant + n * n : constant + 1;
      for (int k = 0; k < n; ++k) left[k] = start[k];
      for (int b = 0; b < step->slots; ++b)
        for (int k = 0; k < n; ++k) left[k] -= dot(motion_[motion + b * n + k], eta_[motion_body_[body + b]]);
      for (int l = 0; l < step->rows; ++l)
        for (int k = 0; k < n; ++k) left[k] -= other_[other + l * n + k] * lambda[other_row_[row + l]];
      if (step->kind == Step::Row) {
        lambda[i] = constant[0] * left[0];
        continue;
      }
      const int v = m_.bodies[i].v;
      for (int k = 0; k < n; ++k) {
        delta[v + k] = 0;
        for (int l = 0; l < n; ++l) delta[v + k] += constant[n * k + l] * left[l];
      }
      for (int k = 0; k < n; ++k) eta_[i] += delta[v + k] * system.right->S[v + k];
    }
  }

  const Model& m_;
  const RowStructure& s_;
  double distinct_;
  std::vector<int> order_, touch_start_, touch_row_, touch_joint_, touched_;
  std::vector<Spatial<double>> eta_;
  std::vector<int> front_of_, row_front_, pending_;
  std::vector<Front> fronts_;
  std::vector<int> idle_, dependent_;  // unused fronts; rows found to depend on others before the end
  int used_ = 0;
  double heaviest_ = 0, stiffest_ = 0;
  std::vector<Step> steps_;
  std::vector<int> motion_body_, other_row_;
  std::vector<Spatial<double>> motion_, W_;
  std::vector<double> other_, constant_, z_, c_, big_;
};

}  // namespace symplectree
