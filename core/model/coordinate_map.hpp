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
  AxisMap operator+(const AxisMap& next) const;

  // out (outer × size × inner) += the map of x (outer × targets × inner) along its middle axis.
  void add(const double* x, std::size_t outer, std::size_t inner, double* out) const;
  std::vector<double> operator()(const double* x, std::size_t outer = 1, std::size_t inner = 1) const;
};

class CoordinateMap {
 public:
  // Where independent coordinates lie, for retractions, quaternions and prescribed motions: one body for each, without
  // masses; and how many constraint rows are left.
  Model layout;
  std::vector<int> leader_q, leader_v;         // of each of the tree's: the independent one that it is a function of
  AxisMap independent_q, independent_v, rows;  // of axes over the tree's: those that are no followers, and their rows

  // `followers`: leaders before those that follow them.
  CoordinateMap(const Model& tree, std::vector<Follower> followers);
  CoordinateMap(const CoordinateMap&) = delete;
  ~CoordinateMap();

  const Model& tree() const { return tree_; }
  int nq() const { return layout.nq; }
  int nv() const { return layout.nv; }
  // Are all followers affine functions?
  bool affine() const { return curved_.empty(); }

  // The map at independent coordinates u (nq).
  void evaluate(const double* u, MapPoint& at) const;

  // out (nv of the tree) ← C v, C a + φ'' v², and x on independent coordinates alone, so that Cᵀ gives x back.
  void velocity(const MapPoint& at, const double* v, double* out) const;
  void acceleration(const MapPoint& at, const double* v, const double* a, double* out) const;
  void place(const double* x, double* out) const;

  // Of axes over the tree's velocities: Σ weight_j x_j over all that are functions of the same; Cᵀ with weights φ'.
  AxisMap sum(std::vector<double> weight) const { return {nv(), leader_v, std::move(weight)}; }

  // The same on an axis without the six velocities of a floating root.
  AxisMap shape(const std::vector<double>& weight) const;

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
  void compose_affine();

  void make_layout(const std::vector<char>& gone_q);

  const Model& tree_;
  std::vector<Follower> followers_, curved_;
  std::vector<double> ratio_, offset_, slope_;  // of all that are affine functions of an independent one
};

}  // namespace symplectree
