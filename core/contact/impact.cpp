#include "contact/impact.hpp"

#include <algorithm>
#include <cmath>

namespace symplectree {
namespace {

constexpr int kReflections = 1000;
constexpr double kStill = 1e-13;  // relative to the speed of approach

}  // namespace

bool Impact::solve(const std::vector<ImpactPart>& parts, const std::vector<double>& W, const std::vector<double>& u,
                   std::vector<double>& x) {
  parts_ = &parts, W_ = &W, rows_ = static_cast<int>(u.size());
  bool rough = false;
  double least = 1, most = 0;
  speed_ = 0;
  int at = 0;
  for (const ImpactPart& p : parts) {
    rough = rough || p.friction > 0;
    speed_ = std::max(speed_, -u[at]);
    if (u[at] < 0) least = std::min(least, p.restitution), most = std::max(most, p.restitution);
    at += p.friction > 0 ? 3 : 1;
  }
  x.assign(rows_, 0.0);
  if (!inelastic(u, x)) return false;
  trace = {parts, x, std::vector<double>(rows_, 0.0), {}, 0};
  if (!(most > 0)) return true;
  if (rough) return restitute(u, x);
  std::vector<double> moved = u, reflected(rows_, 0.0);
  if (!reflect(moved, reflected)) return false;
  const std::vector<double> stopped = x;
  const auto mix = [&](auto e) {
    for (int i = 0; i < rows_; ++i) trace.restitution[i] = e(i), x[i] = e(i) * reflected[i] + (1 - e(i)) * stopped[i];
  };
  mix([&](int i) { return parts[i].restitution; });
  const std::vector<double> v = after(u, x);
  const bool apart = std::all_of(v.begin(), v.end(), [&](double w) { return w >= -1e-9 * speed_; });
  if (!apart || energy(u, x) > 0) mix([&](int) { return least; });
  return true;
}

bool Impact::inelastic(const std::vector<double>& u, std::vector<double>& x) {
  std::vector<ConeProblem::Part> parts;
  for (const ImpactPart& p : *parts_)
    parts.push_back(p.friction > 0 ? ConeProblem::Part{ConeProblem::Kind::Contact, p.friction}
                                   : ConeProblem::Part{ConeProblem::Kind::Limit, 0});
  std::vector<int> sizes;
  for (const ImpactPart& p : *parts_) sizes.push_back(p.friction > 0 ? 3 : 1);
  problem_.begin(parts, RowGroups::of(W_->data(), sizes));
  problem_.W = *W_, problem_.y0 = u;
  if (!problem_.solve()) return false;
  x = problem_.x;
  return true;
}

// Reflections of u, until nothing approaches; x += their impulses.
bool Impact::reflect(std::vector<double>& u, std::vector<double>& x) {
  std::vector<int> met;
  for (int k = 0; k < kReflections; ++k) {
    met.clear();
    for (int i = 0; i < rows_; ++i)
      if (u[i] < -kStill * speed_) met.push_back(i);
    if (met.empty()) return true;
    const std::size_t n = met.size();
    problem_.begin(std::vector<ConeProblem::Part>(n, {ConeProblem::Kind::Limit, 0}));
    for (std::size_t a = 0; a < n; ++a) {
      problem_.y0[a] = u[met[a]];
      for (std::size_t b = 0; b < n; ++b)
        problem_.W[n * a + b] = (*W_)[static_cast<std::size_t>(rows_) * met[a] + met[b]];
    }
    if (!problem_.solve()) return false;
    trace.reflections.push_back({met, problem_.x});
    for (std::size_t a = 0; a < n; ++a) {
      const double twice = 2 * problem_.x[a];
      x[met[a]] += twice;
      for (int i = 0; i < rows_; ++i) u[i] += twice * (*W_)[static_cast<std::size_t>(rows_) * i + met[a]];
    }
  }
  return false;
}

// x, the impulses of compression, += those of restitution; less of these where energy would grow.
bool Impact::restitute(const std::vector<double>& u, std::vector<double>& x) {
  const std::vector<double> compressed = x, between = after(u, x);
  for (double share = 1; share > 1e-3; share *= 0.5) {
    x = compressed;
    std::vector<double> v = between, given(rows_, 0.0);
    std::vector<ConeProblem::Part> discs;
    std::vector<int> tangents;
    int at = 0;
    for (const ImpactPart& p : *parts_) {
      given[at] = share * p.restitution * compressed[at];
      if (p.friction > 0)
        discs.push_back({ConeProblem::Kind::Disc, p.friction * given[at]}), tangents.push_back(at + 1);
      at += p.friction > 0 ? 3 : 1;
    }
    v = after(v, given);
    problem_.begin(discs);
    const std::size_t n = 2 * discs.size();
    const auto row = [&](std::size_t a) { return tangents[a / 2] + static_cast<int>(a % 2); };
    for (std::size_t a = 0; a < n; ++a) {
      problem_.y0[a] = v[row(a)];
      for (std::size_t b = 0; b < n; ++b)
        problem_.W[n * a + b] = (*W_)[static_cast<std::size_t>(rows_) * row(a) + row(b)];
    }
    if (!problem_.solve()) continue;
    for (std::size_t a = 0; a < n; ++a) given[row(a)] = problem_.x[a];
    for (int i = 0; i < rows_; ++i) x[i] += given[i];
    const std::vector<double> last = after(u, x);
    bool apart = true;
    at = 0;
    for (const ImpactPart& p : *parts_) {
      apart = apart && last[at] >= -1e-9 * speed_;
      at += p.friction > 0 ? 3 : 1;
    }
    if (apart && energy(u, x) <= 0) return trace.share = share, true;
  }
  x = compressed;
  return true;
}

// What the impulses add to the kinetic energy.
double Impact::energy(const std::vector<double>& u, const std::vector<double>& x) const {
  const std::vector<double> v = after(u, x);
  double sum = 0, size = 0;
  for (int i = 0; i < rows_; ++i) sum += 0.5 * x[i] * (u[i] + v[i]), size += std::fabs(x[i] * u[i]);
  return sum - 1e-12 * size;
}

std::vector<double> Impact::after(const std::vector<double>& u, const std::vector<double>& x) const {
  std::vector<double> v = u;
  for (int i = 0; i < rows_; ++i)
    for (int j = 0; j < rows_; ++j) v[i] += (*W_)[static_cast<std::size_t>(rows_) * i + j] * x[j];
  return v;
}

}  // namespace symplectree
