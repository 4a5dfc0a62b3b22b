#include "linearization/impact_derivative.hpp"

namespace symplectree {
namespace {

using Kind = ConeProblem::Kind;

struct Law {
  const ContactStage& impact;
  MomentumKick& kick;
  const StateChange& change;

  RowMatrix speeds(const std::vector<double>& x) const {
    return kick.change(x, change.q, change.p, change.rates).speeds;
  }

  // Of the impulses by which what approaches stops.
  RowMatrix stopped(std::vector<int>& weak) const {
    const std::vector<double>& x = impact.impact.stopped;
    std::vector<ConeProblem::Part> parts;
    for (const ImpactPart& p : impact.impact.parts)
      parts.push_back(p.friction > 0 ? ConeProblem::Part{Kind::Contact, p.friction}
                                     : ConeProblem::Part{Kind::Limit, 0});
    ConeDerivative cone;
    cone.begin(parts, kick.W(), x, kick.speeds(x));
    weak.insert(weak.end(), cone.weak.begin(), cone.weak.end());
    return cone.solve(speeds(x), RowMatrix::Zero(static_cast<int>(parts.size()), change.q.cols()));
  }

  // Of all reflections, one after the other.
  RowMatrix reflected() const {
    const int n = static_cast<int>(impact.x.size()), columns = static_cast<int>(change.q.cols());
    RowMatrix dx = RowMatrix::Zero(n, columns);
    std::vector<double> x(n, 0.0);
    for (const ImpactTrace::Reflection& r : impact.impact.reflections) {
      const int count = static_cast<int>(r.rows.size());
      for (int a = 0; a < count; ++a) x[r.rows[a]] += r.x[a];
      const std::vector<double> after = kick.speeds(x);
      const RowMatrix moved = speeds(x) + product(kick.W(), dx);
      RowMatrix S(count, count), dy(count, columns);
      std::vector<double> y(count);
      for (int a = 0; a < count; ++a) {
        y[a] = after[r.rows[a]], dy.row(a) = moved.row(r.rows[a]);
        for (int b = 0; b < count; ++b) S(a, b) = kick.W()(r.rows[a], r.rows[b]);
      }
      ConeDerivative cone;
      cone.begin(std::vector<ConeProblem::Part>(count, {Kind::Limit, 0}), S, r.x, y);
      const RowMatrix step = cone.solve(dy, RowMatrix::Zero(count, columns));
      for (int a = 0; a < count; ++a) x[r.rows[a]] += r.x[a], dx.row(r.rows[a]) += 2 * step.row(a);
    }
    return dx;
  }

  // Of `stopped`, dx, and those of restitution under friction.
  RowMatrix restituted(RowMatrix dx) const {
    const ImpactTrace& trace = impact.impact;
    std::vector<ConeProblem::Part> discs;
    std::vector<int> tangents;
    RowMatrix bounds = RowMatrix::Zero(static_cast<int>(trace.parts.size()), dx.cols());
    int row = 0, disc = 0;
    for (const ImpactPart& p : trace.parts) {
      const double more = trace.share * p.restitution;
      if (p.friction > 0) {
        discs.push_back({Kind::Disc, p.friction * more * trace.stopped[row]});
        bounds.row(disc++) = p.friction * more * dx.row(row);
        tangents.push_back(row + 1), tangents.push_back(row + 2);
      }
      dx.row(row) *= 1 + more;
      row += p.friction > 0 ? 3 : 1;
    }
    const int n = static_cast<int>(tangents.size());
    const std::vector<double> after = kick.speeds(impact.x);
    const RowMatrix moved = speeds(impact.x) + product(kick.W(), dx);
    RowMatrix S(n, n), dy(n, dx.cols());
    std::vector<double> x(n), y(n);
    for (int a = 0; a < n; ++a) {
      const int at = tangents[a];
      x[a] = impact.x[at] - trace.stopped[at], y[a] = after[at], dy.row(a) = moved.row(at);
      for (int b = 0; b < n; ++b) S(a, b) = kick.W()(at, tangents[b]);
    }
    ConeDerivative cone;
    cone.begin(discs, S, x, y);
    const RowMatrix more = cone.solve(dy, bounds);
    for (int a = 0; a < n; ++a) dx.row(tangents[a]) += more.row(a);
    return dx;
  }
};

}  // namespace

RowMatrix impact_derivative(const ContactStage& impact, MomentumKick& kick, const StateChange& change,
                            std::vector<int>& weak) {
  const Law law{impact, kick, change};
  RowMatrix dx = law.stopped(weak);
  const ImpactTrace& trace = impact.impact;
  if (trace.share > 0) return law.restituted(std::move(dx));
  if (trace.reflections.empty()) return dx;
  const RowMatrix reflected = law.reflected();
  for (int i = 0; i < dx.rows(); ++i)
    dx.row(i) = trace.restitution[i] * reflected.row(i) + (1 - trace.restitution[i]) * dx.row(i);
  return dx;
}

}  // namespace symplectree
