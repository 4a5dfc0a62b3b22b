// Coordinates that follow others (GL09 section 5, Fig. 5(d)): the map φ from the independent coordinates of a mechanism
// to all coordinates of its tree, and the derivatives of φ.
//
// Each coordinate of the tree is a function of one independent coordinate, q_i = φ_i(u_l) with l = l(i); that of an
// independent one is the identity, quaternions included. With C_il = φ_i'(u_l) the principle of virtual work gives
//
//   v_tree = C v,   a_tree = C a + φ'' v²,   τ = Cᵀ τ_tree,   p = Cᵀ p_tree,   M = Cᵀ M_tree C.
//
// In the tree followers are bound by constraint rows q_f − φ(q_l) = 0, whose derivative G has G C = 0, so that Cᵀ
// removes the forces of these rows.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "model/model.hpp"

namespace symplectree {

// A coordinate that follows: q = ratio · x + offset, or φ(x), of its leader x, which may follow another.
struct Follower {
  int q, v, leader_q, leader_v, row;  // indices in the tree; row: of its constraint
  double ratio, offset;
  int function;  // index of φ among the model's functions, −1 where it is affine
};

// The map at a configuration: coordinates of the tree (nq), and φ', φ'', φ''' of each of its velocities (nv).
struct MapPoint {
  std::vector<double> q, first, second, third;
};

// A linear map along one axis of an array: entry i counts weight[i] times in entry target[i] of the result, or nowhere
// where that is −1.
struct AxisMap {
  int size = 0;  // of the result
  std::vector<int> target;
  std::vector<double> weight;

  AxisMap() = default;
  AxisMap(int n, std::vector<int> to, std::vector<double> by) : size(n), target(std::move(to)), weight(std::move(by)) {}
  explicit AxisMap(int n) : AxisMap(0, {}, {}) {  // the identity
    for (; size < n; ++size) target.push_back(size), weight.push_back(1);
  }

  // This axis, and `next` behind it.
  AxisMap operator+(const AxisMap& next) const {
    AxisMap out = *this;
    for (std::size_t i = 0; i < next.target.size(); ++i) {
      out.target.push_back(next.target[i] < 0 ? -1 : next.target[i] + size);
      out.weight.push_back(next.weight[i]);
    }
    out.size += next.size;
    return out;
  }

  // out (outer × size × inner) += the map of x (outer × targets × inner) along its middle axis.
  void add(const double* x, std::size_t outer, std::size_t inner, double* out) const {
    for (std::size_t o = 0; o < outer; ++o, out += size * inner)
      for (std::size_t i = 0; i < target.size(); ++i, x += inner)
        for (std::size_t k = 0; target[i] >= 0 && k < inner; ++k) out[target[i] * inner + k] += weight[i] * x[k];
  }
  std::vector<double> operator()(const double* x, std::size_t outer = 1, std::size_t inner = 1) const {
    std::vector<double> out(outer * size * inner);
    add(x, outer, inner, out.data());
    return out;
  }
};

class CoordinateMap {
 public:
  // Where independent coordinates lie, for retractions, quaternions and prescribed motions: one body for each, without
  // masses; and how many constraint rows are left.
  Model layout;
  std::vector<int> leader_q, leader_v;         // of each of the tree's: the independent one that it is a function of
  AxisMap independent_q, independent_v, rows;  // of axes over the tree's: those that are no followers, and their rows

  // `followers`: leaders before those that follow them.
  CoordinateMap(const Model& tree, std::vector<Follower> followers) : tree_(tree), followers_(std::move(followers)) {
    std::vector<char> gone_q(tree.nq), gone_v(tree.nv), gone_rows(tree.rows);
    for (const Follower& f : followers_) gone_q[f.q] = gone_v[f.v] = gone_rows[f.row] = 1;
    independent_q = rest(gone_q), independent_v = rest(gone_v), rows = rest(gone_rows);
    leader_q = independent_q.target, leader_v = independent_v.target;
    ratio_.assign(tree.nq, 1), offset_.assign(tree.nq, 0), slope_.assign(tree.nv, 1);
    compose_affine();
    make_layout(gone_q);
  }
  CoordinateMap(const CoordinateMap&) = delete;

  const Model& tree() const { return tree_; }
  int nq() const { return layout.nq; }
  int nv() const { return layout.nv; }
  // Are all followers affine functions?
  bool affine() const { return curved_.empty(); }

  // The map at independent coordinates u (nq).
  void evaluate(const double* u, MapPoint& at) const {
    at.q.resize(tree_.nq), at.first = slope_;
    at.second.assign(tree_.nv, 0), at.third.assign(tree_.nv, 0);
    for (int i = 0; i < tree_.nq; ++i) at.q[i] = u[leader_q[i]] * ratio_[i] + offset_[i];
    for (const Follower& f : curved_) {
      const double x = at.q[f.leader_q];
      const double a = at.first[f.leader_v], b = at.second[f.leader_v], c = at.third[f.leader_v];
      double y[4] = {f.ratio * x + f.offset, f.ratio, 0, 0};
      if (f.function >= 0) tree_.potentials[f.function].evaluate(x, y);
      at.q[f.q] = y[0], at.first[f.v] = y[1] * a, at.second[f.v] = y[2] * a * a + y[1] * b;
      at.third[f.v] = y[3] * a * a * a + 3 * y[2] * a * b + y[1] * c;
    }
  }

  // out (nv of the tree) ← C v, C a + φ'' v², and x on independent coordinates alone, so that Cᵀ gives x back.
  void velocity(const MapPoint& at, const double* v, double* out) const {
    for (int j = 0; j < tree_.nv; ++j) out[j] = at.first[j] * v[leader_v[j]];
  }
  void acceleration(const MapPoint& at, const double* v, const double* a, double* out) const {
    velocity(at, a, out);
    for (int j = 0; j < tree_.nv; ++j) out[j] += at.second[j] * v[leader_v[j]] * v[leader_v[j]];
  }
  void place(const double* x, double* out) const {
    for (int j = 0; j < tree_.nv; ++j) out[j] = independent_v.target[j] < 0 ? 0.0 : x[independent_v.target[j]];
  }

  // Of axes over the tree's velocities: Σ weight_j x_j over all that are functions of the same; Cᵀ with weights φ'.
  AxisMap sum(std::vector<double> weight) const { return {nv(), leader_v, std::move(weight)}; }

  // The same on an axis without the six velocities of a floating root.
  AxisMap shape(const std::vector<double>& weight) const {
    AxisMap out(nv() - 6, {}, {weight.begin() + 6, weight.end()});
    for (int j = 6; j < tree_.nv; ++j) out.target.push_back(leader_v[j] - 6);
    return out;
  }

  // Independent ones of the tree's.
  void take_q(const double* q, double* out) const { take(independent_q, q, out); }
  void take_v(const double* v, double* out) const { take(independent_v, v, out); }

  // Marks (nv of the tree) of marked independent velocities.
  std::vector<char> marks(const std::vector<char>& independent) const {
    std::vector<char> out(tree_.nv);
    for (int j = 0; j < tree_.nv; ++j)
      if (independent_v.target[j] >= 0) out[j] = independent[independent_v.target[j]];
    return out;
  }

 private:
  static AxisMap rest(const std::vector<char>& gone) {
    AxisMap out(0, {}, std::vector<double>(gone.size(), 1));
    for (const char g : gone) out.target.push_back(g ? -1 : out.size++);
    return out;
  }

  static void take(const AxisMap& axis, const double* x, double* out) {
    for (std::size_t i = 0; i < axis.target.size(); ++i)
      if (axis.target[i] >= 0) out[axis.target[i]] = x[i];
  }

  // What is affine all the way from the independent coordinate is composed once; the rest is left to `evaluate`.
  void compose_affine() {
    std::vector<char> bent(tree_.nq);
    for (const Follower& f : followers_) {
      leader_q[f.q] = leader_q[f.leader_q], leader_v[f.v] = leader_v[f.leader_v];
      if (f.function >= 0 || bent[f.leader_q]) {
        bent[f.q] = 1;
        curved_.push_back(f);
        continue;
      }
      ratio_[f.q] = slope_[f.v] = f.ratio * ratio_[f.leader_q];
      offset_[f.q] = f.ratio * offset_[f.leader_q] + f.offset;
    }
  }

  void make_layout(const std::vector<char>& gone_q) {
    layout.nq = independent_q.size, layout.nv = independent_v.size;
    layout.rows = rows.size, layout.inputs = tree_.inputs;
    layout.bodies.emplace_back();
    const auto add = [this](Kind kind, int q, int v, int nv) {
      Body b;
      b.kind = kind, b.q = independent_q.target[q], b.v = independent_v.target[v], b.nv = nv;
      if (!b.flat()) layout.quaternions.push_back(layout.size());
      layout.body_of.insert(layout.body_of.end(), nv, layout.size());
      layout.bodies.push_back(b);
    };
    for (int i = 1; i < tree_.size(); ++i) {
      const Body& b = tree_.bodies[i];
      if (!b.flat()) add(b.kind, b.q, b.v, b.nv);
      for (int k = 0; b.flat() && k < b.nv; ++k)
        if (!gone_q[b.q + k]) add(Kind::Prismatic, b.q + k, b.v + k, 1);
    }
  }

  const Model& tree_;
  std::vector<Follower> followers_, curved_;
  std::vector<double> ratio_, offset_, slope_;  // of all that are affine functions of an independent one
};

}  // namespace symplectree
