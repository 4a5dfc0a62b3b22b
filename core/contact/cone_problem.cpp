#include "contact/cone_problem.hpp"

#include <algorithm>
#include <cmath>

#include "dense/dense_solvers.hpp"

namespace symplectree {
namespace {

constexpr double kRegular = 1e-8;  // compliance in Newton's matrix, relative to the diagonal of W
constexpr double kSolved = 1e-13;  // residual relative to the scale of impulses: as good as rounding
constexpr double kGood = 1e-10;    // and good enough
constexpr double kKeep = 1e-5;     // residual from which on the last factors serve again
constexpr double kGrowth = 1e4;    // of impulses beyond their first scale, of which account is taken
constexpr int kIterations = 30, kCuts = 6, kRises = 8, kFull = 3, kProximal = 600;

}  // namespace

void ConeProblem::begin(const std::vector<Part>& parts, const RowGroups& groups) {
  parts_.clear();
  rows_ = 0;
  int group = 0;
  for (const Part& p : parts) {
    while (groups.first[group + 1] <= rows_) ++group;
    parts_.push_back({p.kind, rows_, group, p.bound});
    rows_ += size(p.kind);
  }
  const std::size_t n = rows_;
  if (!(groups_ == groups) || W.size() != n * n) {
    groups_ = groups;
    make_room();
  }
  x.assign(n, 0.0);
}

void ConeProblem::make_room() {
  const std::size_t n = groups_.rows();
  lu_.plan(groups_);
  W.assign(n * n, 0.0), y0.resize(n), free_.resize(n), held_.assign(n, -1);
  for (auto* v : {&rho_, &y_, &rhs_, &jump_, &tried_, &next_, &best_, &centre_, &at_, &start_, &found_}) v->resize(n);
  factored_ = false;
}

void ConeProblem::begin(const std::vector<Part>& parts) {
  int n = 0;
  for (const Part& p : parts) n += size(p.kind);
  begin(parts, RowGroups::whole(n));
}

// Steps ρ of the projections: those for which one row, or the two of a disc, alone would be solved at once.
void ConeProblem::prepare() {
  const auto w = [&](int i, int j) { return W[static_cast<std::size_t>(rows_) * i + j]; };
  scale_ = 1e-300;
  for (const Row& p : parts_) {
    const int i = p.first;
    rho_[i] = 1 / std::max(w(i, i), 1e-300);
    const bool bounded = p.kind == Kind::Friction || p.kind == Kind::Disc;
    const double alone = bounded ? std::min(p.bound, std::fabs(rho_[i] * y0[i])) : std::max(0.0, -rho_[i] * y0[i]);
    scale_ = std::max({scale_, alone, std::fabs(x[i])});
    if (p.kind != Kind::Contact && p.kind != Kind::Disc) continue;
    const int t = tangent(p);
    const double mean = 0.5 * (w(t, t) + w(t + 1, t + 1)), half = 0.5 * (w(t, t) - w(t + 1, t + 1));
    const double largest = mean + std::hypot(half, 0.5 * (w(t, t + 1) + w(t + 1, t)));
    rho_[t] = rho_[t + 1] = 1 / std::max(largest, 1e-300);
  }
}

// The radius of the disc that bounds the tangential impulses of a contact or a disc.
double ConeProblem::radius(const Row& p, const double* at) const {
  return p.kind == Kind::Disc ? p.bound : p.bound * std::max(0.0, at[p.first]);
}

template <class F>
void ConeProblem::for_residuals(const double* y, const double* at, F&& r) const {
  for (const Row& p : parts_) {
    const int i = p.first;
    const double z = at[i] - rho_[i] * y[i];
    if (p.kind == Kind::Friction) r(i, at[i] - std::clamp(z, -p.bound, p.bound));
    if (p.kind == Kind::Limit || p.kind == Kind::Contact) r(i, at[i] - std::max(0.0, z));
    if (p.kind == Kind::Limit || p.kind == Kind::Friction) continue;
    const int t = tangent(p);
    const double z1 = at[t] - rho_[t] * y[t], z2 = at[t + 1] - rho_[t] * y[t + 1];
    const double length = std::sqrt(z1 * z1 + z2 * z2), most = radius(p, at),
                 factor = length <= most ? 1 : most / length;
    r(t, at[t] - factor * z1), r(t + 1, at[t + 1] - factor * z2);
  }
}

double ConeProblem::residual(const double* y, const double* at) const {
  double largest = 0;
  for_residuals(y, at, [&](int, double r) {
    if (!(std::fabs(r) <= largest)) largest = std::fabs(r);
  });
  return largest / scale_;
}

double ConeProblem::violation(const double* y, const double* at) const {
  double largest = 0;
  for_residuals(y, at, [&](int i, double r) { largest = std::max(largest, std::fabs(r) / rho_[i]); });
  return largest;
}

bool ConeProblem::is_within(const double* y, const double* at, const double* allowed) const {
  bool within = true;
  for_residuals(y, at, [&](int i, double r) { within = within && std::fabs(r) <= allowed[i]; });
  return within;
}

double ConeProblem::measure(const std::vector<double>& at, Compliance soft) {
  groups_.multiply(W.data(), at.data(), y0.data(), y_.data());
  if (soft.centre)
    for (int i = 0; i < rows_; ++i)
      y_[i] += soft.c * W[static_cast<std::size_t>(rows_) * i + i] * (at[i] - soft.centre[i]);
  return residual(y_.data(), at.data());
}

// Which rows are free, and what slides, at y_ = y(at); next ← x where that is given.
void ConeProblem::choose_pieces(const std::vector<double>& at, std::vector<double>& next) {
  slips_.clear();
  std::fill(lu_.count.begin(), lu_.count.end(), 0);
  std::fill(next.begin(), next.end(), 0.0);
  const auto release = [&](int group, int row) {
    const int place = groups_.first[group] + lu_.count[group]++;
    free_[place] = row;
    return place;
  };
  for (const Row& p : parts_) {
    const int i = p.first;
    const double z = at[i] - rho_[i] * y_[i];
    if (p.kind == Kind::Friction) {
      if (std::fabs(z) < p.bound) {
        release(p.group, i);
      } else {
        next[i] = std::copysign(p.bound, z);
      }
      continue;
    }
    if (p.kind != Kind::Disc) {
      if (!(z > 0)) continue;
      release(p.group, i);
      if (p.kind == Kind::Limit) continue;
    }
    if (p.bound == 0) continue;
    const int t = tangent(p), place = release(p.group, t);
    release(p.group, t + 1);
    const double z1 = at[t] - rho_[t] * y_[t], z2 = at[t + 1] - rho_[t] * y_[t + 1];
    const double length = std::sqrt(z1 * z1 + z2 * z2), most = radius(p, at.data());
    const double mu = p.kind == Kind::Disc ? 0 : p.bound;
    if (length > std::max(most, mu * z))
      slips_.push_back({t, place, p.group, mu, most, most / length, {z1 / length, z2 / length}});
  }
  for (int g = 0; g < groups_.size(); ++g)
    std::fill(free_.begin() + groups_.first[g] + lu_.count[g], free_.begin() + groups_.first[g + 1], -1);
}

// next ← at + δ, the root of the equations that hold on the present pieces, at y_ = y(at): y = 0, or a given x, or
//
//   sliding:  x_t = µ xₙ d(z_t), z_t = x_t − ρ y_t, d = z_t/|z_t|,
//   so        (1 − P) δx_t − µ d δxₙ + P ρ (W δ)_t = µ xₙ d − x_t,   P = (µ xₙ/|z_t|)(1 − d dᵀ).
//
// Rows whose x is given are left out of the system. With `keep` the last factors serve again if pieces are the same.
bool ConeProblem::newton_step(double compliance, bool keep, const std::vector<double>& at, std::vector<double>& next) {
  choose_pieces(at, next);
  bool jumps = false;
  for (int i = 0; i < rows_; ++i) jump_[i] = next[i] - at[i];
  const auto for_free = [&](auto&& f) {
    for (int g = 0; g < groups_.size(); ++g)
      for (int a = groups_.first[g]; a < groups_.first[g] + lu_.count[g]; ++a) f(a, free_[a]);
  };
  for_free([&](int, int i) { jump_[i] = 0; });
  for (int i = 0; i < rows_; ++i) jumps = jumps || jump_[i] != 0;
  if (jumps) {
    groups_.multiply(W.data(), jump_.data(), y_.data(), tried_.data());
  } else {
    tried_ = y_;
  }
  for_free([&](int a, int i) { rhs_[a] = -tried_[i]; });
  for (const Slip& s : slips_) {
    const double *d = s.d, e1 = rho_[s.row] * (y_[s.row] - tried_[s.row]),
                 e2 = rho_[s.row] * (y_[s.row + 1] - tried_[s.row + 1]), along = d[0] * e1 + d[1] * e2;
    rhs_[s.place] = s.radius * d[0] - at[s.row] + s.turn * (e1 - along * d[0]);
    rhs_[s.place + 1] = s.radius * d[1] - at[s.row + 1] + s.turn * (e2 - along * d[1]);
  }
  keep = keep && factored_ && held_ == free_ && held_slips_ == slips_.size();
  if (keep || factorize(compliance)) {
    lu_.solve(rhs_.data());
  } else {
    solve_whole(compliance);
  }
  double sum = 0;
  for_free([&](int a, int i) { next[i] = at[i] + rhs_[a], sum += 0 * rhs_[a]; });
  return sum == 0;
}

// lu_ ← the matrix of the system.
void ConeProblem::assemble(double compliance) {
  lu_.clear();
  for (int g = 0; g < groups_.size(); ++g)
    for (int a = groups_.first[g]; a < groups_.first[g] + lu_.count[g]; ++a) {
      const double* from = &W[static_cast<std::size_t>(rows_) * free_[a]];
      double* to = lu_.row(a);
      for (int k = groups_.start[g]; k < groups_.start[g + 1]; ++k) {
        const int h = groups_.others[k], first = groups_.first[h];
        for (int b = first; b < first + lu_.count[h]; ++b) to[b] = from[free_[b]];
      }
      to[a] *= 1 + compliance;
    }
  for (const Slip& s : slips_) slide(s);
}

bool ConeProblem::factorize(double compliance) {
  assemble(compliance);
  factored_ = lu_.factorize();
  if (factored_) held_ = free_, held_slips_ = slips_.size(), compliance_ = compliance;
  return factored_;
}

// rhs_ ← the solution of the system, with pivots wherever they are.
void ConeProblem::solve_whole(double compliance) {
  assemble(compliance);
  std::vector<int> places;
  for (int a = 0; a < rows_; ++a)
    if (free_[a] >= 0) places.push_back(a);
  const std::size_t n = places.size();
  std::vector<double> A(n * n), b(n), found(n);
  for (std::size_t i = 0; i < n; ++i) {
    b[i] = rhs_[places[i]];
    for (std::size_t j = 0; j < n; ++j) A[n * i + j] = lu_.row(places[i])[places[j]];
  }
  solve_lu_rows(A.data(), static_cast<int>(n), b.data(), found.data());
  for (std::size_t i = 0; i < n; ++i) rhs_[places[i]] = found[i];
}

// The two equations of y_t = 0 in the system ← those of sliding.
void ConeProblem::slide(const Slip& s) {
  const int c = s.place;
  const double rho = rho_[s.row], *d = s.d;
  const double P[2][2] = {{s.turn * (1 - d[0] * d[0]), -s.turn * d[0] * d[1]},
                          {-s.turn * d[0] * d[1], s.turn * (1 - d[1] * d[1])}};
  double *row1 = lu_.row(c), *row2 = lu_.row(c + 1);
  for (int k = groups_.start[s.group]; k < groups_.start[s.group + 1]; ++k) {
    const int h = groups_.others[k], first = groups_.first[h];
    for (int b = first; b < first + lu_.count[h]; ++b) {
      const double w1 = rho * row1[b], w2 = rho * row2[b];
      row1[b] = P[0][0] * w1 + P[0][1] * w2, row2[b] = P[1][0] * w1 + P[1][1] * w2;
    }
  }
  row1[c] += 1 - P[0][0], row1[c + 1] -= P[0][1];
  row2[c] -= P[1][0], row2[c + 1] += 1 - P[1][1];
  if (s.mu > 0) row1[c - 1] -= s.mu * d[0], row2[c - 1] -= s.mu * d[1];
}

// Newton's method with steps that are shortened where that makes the residual fall; a full step is taken otherwise, a
// few times, since pieces may change for the better only after a rise. Done at `tolerance`, or below `stalled` when
// it falls no more.
bool ConeProblem::newton(Compliance soft, double tolerance, double stalled, int most, std::vector<double>& at) {
  const double factors[] = {tolerance, stalled};
  const auto allow = [&](const std::vector<double>& x) {  // relative to impulses that have grown
    double largest = scale_;
    for (const double e : x) largest = std::max(largest, std::fabs(e));
    const double growth = std::min(largest / scale_, kGrowth);
    tolerance = growth * factors[0], stalled = growth * factors[1];
  };
  allow(at);
  double r = measure(at, soft), least = r;
  best_ = at;
  int rises = 0;
  const double regular = std::max(soft.c, kRegular);
  factored_ = factored_ && compliance_ == regular;
  for (int it = 0; it < most && r > tolerance; ++it) {
    ++iterations;
    const bool kept = r < kKeep && factored_;
    if (!newton_step(regular, kept, at, next_)) break;
    double fraction = 1, reached = r;
    for (int cut = 0; cut <= kCuts; ++cut, fraction *= 0.5) {
      for (int i = 0; i < rows_; ++i) tried_[i] = at[i] + fraction * (next_[i] - at[i]);
      reached = measure(tried_, soft);
      if (reached < r) allow(tried_);
      if (reached < r * (1 - 0.1 * fraction) || reached <= tolerance) break;
      if (kept) break;
      if (r <= stalled) {  // perhaps rounding; full steps show
        if (++rises > kFull) return at = best_, true;
        break;
      }
      if (cut == kCuts) {
        if (++rises > kRises) return at = best_, least <= stalled;
        tried_ = next_;
        reached = measure(tried_, soft);
        break;
      }
    }
    if (!(reached < 0.1 * r) && !(reached <= tolerance)) factored_ = false;
    if (kept && !(reached < r)) {
      measure(at, soft);
      continue;
    }
    at.swap(tried_), r = reached;
    if (r < least) least = r, best_ = at;
  }
  if (least < r) at = best_;
  return least <= std::max(tolerance, stalled);
}

// Projected Gauss–Seidel.
void ConeProblem::sweep(int count, std::vector<double>& at) {
  measure(at, {});
  const auto move = [&](int i, int group, double to) {
    const double change = to - at[i];
    if (change == 0) return;
    groups_.for_columns(group, [&](int k, int end) {
      for (; k < end; ++k) y_[k] += W[static_cast<std::size_t>(rows_) * k + i] * change;
    });
    at[i] = to;
  };
  for (int k = 0; k < count; ++k)
    for (const Row& p : parts_) {
      const int i = p.first;
      const double z = at[i] - rho_[i] * y_[i];
      if (p.kind == Kind::Friction) move(i, p.group, std::clamp(z, -p.bound, p.bound));
      if (p.kind == Kind::Limit || p.kind == Kind::Contact) move(i, p.group, std::max(0.0, z));
      if (p.kind == Kind::Limit || p.kind == Kind::Friction) continue;
      const int t = tangent(p);
      const double z1 = at[t] - rho_[t] * y_[t], z2 = at[t + 1] - rho_[t] * y_[t + 1];
      const double length = std::sqrt(z1 * z1 + z2 * z2), most = radius(p, at.data());
      const double factor = length <= most ? 1 : most / length;
      move(t, p.group, factor * z1), move(t + 1, p.group, factor * z2);
    }
}

// Proximal steps from `at` to a solution, with compliance not below `least`.
bool ConeProblem::approach(double least, std::vector<double>& at) {
  double c = 10, reached = INFINITY;
  for (int k = 0; k < kProximal && c < 1e4; ++k) {
    centre_ = at;
    if (!newton({c, centre_.data()}, 0.1 * kGood, kGood, kIterations, at)) {
      at = centre_, c *= 4;
      continue;
    }
    const double r = measure(at, {});
    if (r < reached) reached = r, found_ = at;
    c = std::max(0.6 * c, least);
    if (r > 1e-6 && k % 20 != 19) continue;
    centre_ = at;
    if (newton({}, kSolved, kGood, kIterations, at)) return true;
    at = centre_;
  }
  at = found_;
  return false;
}

bool ConeProblem::solve() {
  iterations = 0;
  if (rows_ == 0) return true;
  prepare();
  at_ = start_ = x;
  const auto exact = [&] { return newton({}, kSolved, kGood, kIterations, at_); };
  bool done = exact();
  if (!done) {
    at_ = start_;
    sweep(30, at_);
    done = exact();
  }
  for (const double least : {1e-9, 1e-3, 1e-2, 1e-1}) {
    if (done) break;
    std::fill(at_.begin(), at_.end(), 0.0);
    done = approach(least, at_);
  }
  x = at_;
  return done;
}

}  // namespace symplectree
