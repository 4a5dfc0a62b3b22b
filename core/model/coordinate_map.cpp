// Coordinates that follow others.
#include "model/coordinate_map.hpp"

#include "formula/pose_formula.hpp"
#include "model/rows/all_rows.hpp"
#include "model/user_elements.hpp"

namespace symplectree {

AxisMap AxisMap::operator+(const AxisMap& next) const {
  AxisMap out = *this;
  for (std::size_t i = 0; i < next.target.size(); ++i) {
    out.target.push_back(next.target[i] < 0 ? -1 : next.target[i] + size);
    out.weight.push_back(next.weight[i]);
  }
  out.size += next.size;
  return out;
}

void AxisMap::add(const double* x, std::size_t outer, std::size_t inner, double* out) const {
  for (std::size_t o = 0; o < outer; ++o, out += size * inner)
    for (std::size_t i = 0; i < target.size(); ++i, x += inner)
      for (std::size_t k = 0; target[i] >= 0 && k < inner; ++k) out[target[i] * inner + k] += weight[i] * x[k];
}

std::vector<double> AxisMap::operator()(const double* x, std::size_t outer, std::size_t inner) const {
  std::vector<double> out(outer * size * inner);
  add(x, outer, inner, out.data());
  return out;
}

CoordinateMap::~CoordinateMap() = default;

CoordinateMap::CoordinateMap(const Model& tree, std::vector<Follower> followers)
    : tree_(tree), followers_(std::move(followers)) {
  std::vector<char> gone_q(tree.nq), gone_v(tree.nv), gone_rows(tree.rows);
  for (const Follower& f : followers_) gone_q[f.q] = gone_v[f.v] = gone_rows[f.row] = 1;
  independent_q = rest(gone_q), independent_v = rest(gone_v), rows = rest(gone_rows);
  leader_q = independent_q.target, leader_v = independent_v.target;
  ratio_.assign(tree.nq, 1), offset_.assign(tree.nq, 0), slope_.assign(tree.nv, 1);
  compose_affine();
  make_layout(gone_q);
}

void CoordinateMap::evaluate(const double* u, MapPoint& at) const {
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

void CoordinateMap::velocity(const MapPoint& at, const double* v, double* out) const {
  for (int j = 0; j < tree_.nv; ++j) out[j] = at.first[j] * v[leader_v[j]];
}

void CoordinateMap::acceleration(const MapPoint& at, const double* v, const double* a, double* out) const {
  velocity(at, a, out);
  for (int j = 0; j < tree_.nv; ++j) out[j] += at.second[j] * v[leader_v[j]] * v[leader_v[j]];
}

void CoordinateMap::place(const double* x, double* out) const {
  for (int j = 0; j < tree_.nv; ++j) out[j] = independent_v.target[j] < 0 ? 0.0 : x[independent_v.target[j]];
}

AxisMap CoordinateMap::shape(const std::vector<double>& weight) const {
  AxisMap out(nv() - 6, {}, {weight.begin() + 6, weight.end()});
  for (int j = 6; j < tree_.nv; ++j) out.target.push_back(leader_v[j] - 6);
  return out;
}

void CoordinateMap::compose_affine() {
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

void CoordinateMap::make_layout(const std::vector<char>& gone_q) {
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

}  // namespace symplectree
