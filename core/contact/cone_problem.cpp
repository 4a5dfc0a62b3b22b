#include "contact/cone_problem.hpp"

#include <algorithm>
#include <cmath>

#include "dense/dense_solvers.hpp"

namespace symplectree {
namespace {

constexpr double kCompliance = 1e-7;  // relative to the diagonal of W, in proximal steps
constexpr double kSolved = 1e-13;     // residual relative to the scale of impulses: as good as rounding
constexpr double kGood = 1e-10;       // and good enough
constexpr int kProximal = 12, kIterations = 30, kCuts = 6, kRises = 8;

}  // namespace

void ConeProblem::begin(const std::vector<Part>& parts) {
  parts_.clear();
  rows_ = 0;
  for (const Part& p : parts) {
    parts_.push_back({p.kind, rows_, p.bound});
    rows_ += p.kind == Kind::Contact ? 3 : p.kind == Kind::Disc ? 2 : 1;
  }
  const std::size_t n = rows_;
  W.resize(n * n), y0.resize(n), x.assign(n, 0.0), zero_.assign(n, 0.0);
  for (auto* v : {&rho_, &y_, &natural_, &rhs_, &trial_, &next_, &best_, &centre_}) v->resize(n);
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
    const int t = p.kind == Kind::Disc ? i : i + 1;
    const double mean = 0.5 * (w(t, t) + w(t + 1, t + 1)), half = 0.5 * (w(t, t) - w(t + 1, t + 1));
    const double largest = mean + std::hypot(half, 0.5 * (w(t, t + 1) + w(t + 1, t)));
    rho_[t] = rho_[t + 1] = 1 / std::max(largest, 1e-300);
  }
}

// The radius of the disc that bounds the tangential impulses of a contact or a disc.
double ConeProblem::radius(const Row& p, const double* at) const {
  return p.kind == Kind::Disc ? p.bound : friction_ * p.bound * std::max(0.0, at[p.first]);
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
    const double length = std::hypot(z1, z2), most = radius(p, at), factor = length <= most ? 1 : most / length;
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

// y ← W x + y₀ + compliance · diag(W) (x − centre).
void ConeProblem::multiply(const double* at, double compliance, const double* centre, double* y) const {
  for (int i = 0; i < rows_; ++i) {
    const double* row = &W[static_cast<std::size_t>(rows_) * i];
    double sum = y0[i] + compliance * row[i] * (at[i] - centre[i]);
    for (int j = 0; j < rows_; ++j) sum += row[j] * at[j];
    y[i] = sum;
  }
}

double ConeProblem::measure(const std::vector<double>& at, double compliance, const std::vector<double>& centre) {
  multiply(at.data(), compliance, centre.data(), y_.data());
  return residual(y_.data(), at.data());
}

// next ← at + δ, the root of the equations that hold on the present pieces, at y_ = y(at): y = 0, or a given x, or
//
//   sliding:  x_t = µ xₙ d(z_t), z_t = x_t − ρ y_t, d = z_t/|z_t|,
//   so        (1 − P) δx_t − µ d δxₙ + P ρ (W δ)_t = µ xₙ d − x_t,   P = (µ xₙ/|z_t|)(1 − d dᵀ).
//
// Rows whose x is given are left out of the system.
bool ConeProblem::newton_step(double compliance, const std::vector<double>& at, std::vector<double>& next) {
  free_.clear(), slips_.clear();
  std::fill(next.begin(), next.end(), 0.0);
  for (const Row& p : parts_) {
    const int i = p.first;
    const double z = at[i] - rho_[i] * y_[i];
    if (p.kind == Kind::Friction) {
      if (std::fabs(z) < p.bound) {
        free_.push_back(i);
      } else {
        next[i] = std::copysign(p.bound, z);
      }
      continue;
    }
    if (p.kind != Kind::Disc) {
      if (!(z > 0)) continue;
      free_.push_back(i);
      if (p.kind == Kind::Limit || p.bound == 0 || friction_ == 0) continue;
    } else if (p.bound == 0) {
      continue;
    }
    const int t = tangent(p), place = static_cast<int>(free_.size());
    free_.push_back(t), free_.push_back(t + 1);
    const double z1 = at[t] - rho_[t] * y_[t], z2 = at[t + 1] - rho_[t] * y_[t + 1];
    const double length = std::hypot(z1, z2), most = radius(p, at.data());
    const double mu = p.kind == Kind::Disc ? 0 : friction_ * p.bound;
    if (length > most) slips_.push_back({t, place, mu, most, most / length, {z1 / length, z2 / length}});
  }
  const int n = static_cast<int>(free_.size());
  if (n == 0) return true;
  std::size_t given = 0;
  const auto entry = [&](int i, int j) {
    const double w = W[static_cast<std::size_t>(rows_) * i + j];
    return i == j ? (1 + compliance) * w : w;
  };
  A_.resize(static_cast<std::size_t>(n) * n);
  for (int a = 0; a < n; ++a) {
    const int i = free_[a];
    double sum = y_[i];
    given = 0;
    for (int j = 0; j < rows_; ++j) {
      if (given < free_.size() && free_[given] == j) {
        ++given;
      } else if (next[j] != at[j]) {
        sum += entry(i, j) * (next[j] - at[j]);
      }
    }
    rhs_[a] = -sum;
    for (int b = 0; b < n; ++b) A_[static_cast<std::size_t>(n) * a + b] = entry(i, free_[b]);
  }
  for (const Slip& s : slips_) slide(s, n, at);
  solve_lu_rows(A_.data(), n, rhs_.data(), trial_.data());
  double sum = 0;
  for (int a = 0; a < n; ++a) next[free_[a]] = at[free_[a]] + trial_[a], sum += 0 * trial_[a];
  return sum == 0;
}

// The two equations of y_t = 0 in the system ← those of sliding.
void ConeProblem::slide(const Slip& s, int n, const std::vector<double>& at) {
  const int t = s.row, c = s.place;
  const double rho = rho_[t], *d = s.d;
  const double P[2][2] = {{s.turn * (1 - d[0] * d[0]), -s.turn * d[0] * d[1]},
                          {-s.turn * d[0] * d[1], s.turn * (1 - d[1] * d[1])}};
  double* row[2] = {&A_[static_cast<std::size_t>(n) * c], &A_[static_cast<std::size_t>(n) * (c + 1)]};
  for (int b = 0; b < n; ++b) {
    const double w1 = rho * row[0][b], w2 = rho * row[1][b];
    for (int k = 0; k < 2; ++k) row[k][b] = P[k][0] * w1 + P[k][1] * w2;
  }
  const double e1 = rho * (rhs_[c] + y_[t]), e2 = rho * (rhs_[c + 1] + y_[t + 1]);
  for (int k = 0; k < 2; ++k) {
    for (int l = 0; l < 2; ++l) row[k][c + l] += (k == l ? 1.0 : 0.0) - P[k][l];
    if (s.mu > 0) row[k][c - 1] -= s.mu * d[k];
    rhs_[c + k] = s.radius * d[k] - at[t + k] + P[k][0] * e1 + P[k][1] * e2;
  }
}

// Newton's method with steps that are shortened where that makes the residual fall; a full step is taken otherwise, a
// few times, since pieces may change for the better only after a rise.
bool ConeProblem::newton(double compliance, const std::vector<double>& centre, double tolerance, int most,
                         std::vector<double>& at) {
  double r = measure(at, compliance, centre), least = r;
  best_ = at;
  int rises = 0;
  std::vector<double>& next = next_;
  std::vector<double> tried(rows_);
  for (int it = 0; it < most && r > tolerance; ++it) {
    ++iterations;
    if (!newton_step(compliance, at, next)) break;
    double fraction = 1, reached = r;
    for (int cut = 0; cut <= kCuts; ++cut, fraction *= 0.5) {
      for (int i = 0; i < rows_; ++i) tried[i] = at[i] + fraction * (next[i] - at[i]);
      reached = measure(tried, compliance, centre);
      if (reached < r * (1 - 0.1 * fraction) || reached <= tolerance) break;
      if (cut == kCuts) {
        if (++rises > kRises) return at = best_, least <= tolerance;
        tried = next;
        reached = measure(tried, compliance, centre);
        break;
      }
    }
    at.swap(tried), r = reached;
    if (r < least) least = r, best_ = at;
  }
  if (least < r) at = best_;
  return least <= tolerance;
}

// The exact solution, by solutions with a little compliance about the one before.
bool ConeProblem::proximal(std::vector<double>& at) {
  double before = INFINITY;
  for (int k = 0; k < kProximal; ++k) {
    centre_ = at;
    if (!newton(kCompliance, centre_, kSolved, kIterations, at) && measure(at, kCompliance, centre_) > 1e-9)
      return false;
    const double r = measure(at, 0, zero_);
    if (r <= kSolved || (r <= kGood && !(r < 0.5 * before))) return true;
    before = r;
  }
  return measure(at, 0, zero_) <= kGood;
}

// Projected Gauss–Seidel.
void ConeProblem::sweep(double compliance, int count, std::vector<double>& at) {
  multiply(at.data(), compliance, zero_.data(), y_.data());
  const auto move = [&](int i, double to) {
    const double change = to - at[i];
    if (change == 0) return;
    for (int k = 0; k < rows_; ++k) y_[k] += W[static_cast<std::size_t>(rows_) * k + i] * change;
    y_[i] += compliance * W[static_cast<std::size_t>(rows_) * i + i] * change;
    at[i] = to;
  };
  const double soft = 1 / (1 + compliance);
  for (int k = 0; k < count; ++k)
    for (const Row& p : parts_) {
      const int i = p.first;
      const double z = at[i] - soft * rho_[i] * y_[i];
      if (p.kind == Kind::Friction) move(i, std::clamp(z, -p.bound, p.bound));
      if (p.kind == Kind::Limit || p.kind == Kind::Contact) move(i, std::max(0.0, z));
      if (p.kind == Kind::Limit || p.kind == Kind::Friction) continue;
      const int t = tangent(p);
      const double z1 = at[t] - soft * rho_[t] * y_[t], z2 = at[t + 1] - soft * rho_[t] * y_[t + 1];
      const double length = std::hypot(z1, z2), most = radius(p, at.data());
      const double factor = length <= most ? 1 : most / length;
      move(t, factor * z1), move(t + 1, factor * z2);
    }
}

void ConeProblem::follow_compliance(std::vector<double>& at) {
  double compliance = 10, factor = 0.1;
  std::vector<double> tried;
  for (int k = 0; k < 80 && compliance > kCompliance; ++k) {
    const double softer = factor * compliance;
    tried = at;
    bool done = newton(softer, zero_, 1e-8, 20, tried);
    if (!done && factor > 0.5) {
      tried = at;
      sweep(softer, 50, tried);
      done = newton(softer, zero_, 1e-8, 20, tried);
    }
    if (done) {
      at = tried, compliance = softer, factor = std::max(0.1, factor * factor);
    } else if ((factor = std::sqrt(factor)) > 0.9) {
      return;
    }
  }
}

void ConeProblem::follow_friction(std::vector<double>& at) {
  std::vector<double> tried;
  for (int k = 0; k <= 8; ++k) {
    friction_ = k / 8.0;
    tried = at;
    bool done = newton(kCompliance, zero_, 1e-8, kIterations, tried);
    if (!done) {
      sweep(kCompliance, 100, tried);
      done = newton(kCompliance, zero_, 1e-8, kIterations, tried);
    }
    if (done) at = tried;
  }
  friction_ = 1;
}

bool ConeProblem::solve() {
  iterations = 0, friction_ = 1;
  if (rows_ == 0) return true;
  prepare();
  const std::vector<double> start = x;
  std::vector<double> at = x, best = x;
  double least = INFINITY;
  const auto solved = [&] {
    if (proximal(at)) return true;
    const double r = measure(at, 0, zero_);
    if (r < least) least = r, best = at;
    return false;
  };
  bool done = solved();
  if (!done) {
    at = start;
    sweep(0, 30, at);
    done = solved();
  }
  if (!done) {
    at.assign(rows_, 0.0);
    sweep(0, 30, at);
    follow_compliance(at);
    done = solved();
  }
  if (!done) {
    at.assign(rows_, 0.0);
    follow_friction(at);
    done = solved();
  }
  for (int k = 0; k < 6 && !done; ++k) {
    sweep(0, 300, at);
    done = solved();
  }
  x = done ? at : best;
  return done;
}

}  // namespace symplectree
