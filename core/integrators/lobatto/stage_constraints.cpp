#include "integrators/lobatto/stage_constraints.hpp"

#include <cmath>

#include "dynamics/aba.hpp"
#include "kinematics/poses_twists.hpp"
#include "model/user_elements.hpp"

namespace symplectree {
namespace {

constexpr double kDistinct = 1e-9;  // of a row's own part in Dh M⁻¹ Dhᵀ: below, it depends on others

template <int W>
Vec3<double> lane_of(const Vec3<Pack<W>>& x, int k) {
  return {x.x[k], x.y[k], x.z[k]};
}

// Packs lie in memory as plain numbers: a lane is added to on its own, without the others.
template <int W>
void add_lane(Pack<W>& x, int k, double y) {
  reinterpret_cast<double*>(&x)[k] += y;
}
template <int W>
void add_lane(Vec3<Pack<W>>& x, int k, const Vec3<double>& y) {
  add_lane(x.x, k, y.x), add_lane(x.y, k, y.y), add_lane(x.z, k, y.z);
}

// A (n × n, symmetric) ← the inverse of its part in rows that are independent, zeros elsewhere; are there others? By
// Cholesky's elimination, the largest pivots relative to the diagonal first, of which `weakest` is the last.
bool invert_independent(std::vector<double>& A, int n, std::vector<double>& scratch, double& weakest) {
  std::vector<double>& L = scratch;
  std::vector<int> order;
  std::vector<double> own(n), left(n);
  for (int i = 0; i < n; ++i) own[i] = left[i] = A[n * i + i];
  L.assign(static_cast<std::size_t>(n) * n, 0.0);  // rows: pivots in turn
  weakest = 1;
  for (int k = 0; k < n; ++k) {
    int best = -1;
    double largest = kDistinct;
    for (int i = 0; i < n; ++i)
      if (own[i] > 0 && left[i] > largest * own[i]) largest = left[i] / own[i], best = i;
    if (best < 0) break;
    order.push_back(best);
    weakest = largest;
    const double root = std::sqrt(left[best]);
    double* row = &L[n * k];
    for (int i = 0; i < n; ++i) {
      if (own[i] <= 0) continue;
      double sum = A[n * best + i];
      for (int j = 0; j < k; ++j) sum -= L[n * j + best] * L[n * j + i];
      row[i] = sum / root;
    }
    for (int i = 0; i < n; ++i) left[i] -= row[i] * row[i];
    own[best] = -1, row[best] = root;
  }
  const int r = static_cast<int>(order.size());
  // With P the order of pivots, A = Lᵀ L on these; columns of the inverse one after the other.
  std::fill(A.begin(), A.end(), 0.0);
  std::vector<double> x(r);
  for (int c = 0; c < r; ++c) {
    for (int k = 0; k < r; ++k) {
      double sum = k == c ? 1 : 0;
      for (int j = 0; j < k; ++j) sum -= L[n * j + order[k]] * x[j];
      x[k] = sum / L[n * k + order[k]];
    }
    for (int k = r - 1; k >= 0; --k) {
      double sum = x[k];
      for (int j = k + 1; j < r; ++j) sum -= L[n * k + order[j]] * x[j];
      x[k] = sum / L[n * k + order[k]];
    }
    for (int k = 0; k < r; ++k) A[n * order[k] + order[c]] = x[k];
  }
  return r < n;
}

}  // namespace

template <int W>
bool StageConstraints<W>::covers(const Model& m) {
  for (const UserElement& u : m.users)
    if (u.kind == UserElement::Constraint && u.step.outputs > 0) return false;
  return true;
}

template <int W>
StageConstraints<W>::StageConstraints(const Model& m, const LobattoPair& pair)
    : m_(m), pair_(pair), rows_(m.rows), structure_(m), values_(pair.stages(), RowValues(structure_)), at_(m),
      middle_(structure_), q_(m.nq), wrench_(m.size()), motion_(m.size()) {
  std::vector<char> held(m.size());
  for (const int i : structure_.pull_body) held[i] = 1;
  for (int i = 1; i < m.size(); ++i)
    if (held[i]) held_.push_back(i);
  for (const UserElement& u : m.users) users_ |= u.kind == UserElement::Constraint;
}

template <int W>
void StageConstraints<W>::set_prescribed(const std::vector<char>& velocities) {
  prescribed_.clear(), places_.clear();
  for (int j = 0; j < m_.nv; ++j) {
    if (!velocities[j]) continue;
    const Body& b = m_.bodies[m_.body_of[j]];
    prescribed_.push_back(j), places_.push_back(b.q + j - b.v);
  }
  gap_.assign(static_cast<std::size_t>(pair_.stages()) * prescribed_.size(), 0.0);
}

template <int W>
void StageConstraints<W>::gather(const Workspace<Pack<W>>& w, const Pack<W>* q, int lane, bool all) {
  for (int k = 0; k < m_.nq; ++k) q_[k] = q[k][lane];
  const auto copy = [&](int i) {
    const BodyPose<Pack<W>>& from = w.pose[i];
    BodyPose<double>& to = at_.pose[i];
    to.R = {lane_of(from.R.a, lane), lane_of(from.R.b, lane), lane_of(from.R.c, lane)};
    to.x = lane_of(from.x, lane), to.r = lane_of(from.r, lane);
  };
  if (all)
    for (int i = 1; i < m_.size(); ++i) copy(i);
  else
    for (const int i : held_) copy(i);
}

template <int W>
void StageConstraints<W>::place(const Workspace<Pack<W>>& w, const Pack<W>* q, const double* targets, bool measure) {
  for (int i = 0; i < pair_.stages(); ++i) {
    if (rows_ > 0) {
      gather(w, q, i, measure);
      if (users_ || measure) {
        evaluate_rows<true>(m_, structure_, q_.data(), at_, values_[i]);
      } else {
        evaluate_row_terms<true>(m_, structure_.pull_start, structure_.coefficient_start, q_.data(), at_, values_[i]);
      }
    }
    for (std::size_t a = 0; a < prescribed_.size() && i > 0; ++a)
      gap_[i * prescribed_.size() + a] = q[places_[a]][i] - targets[(i - 1) * m_.nq + places_[a]];
  }
}

template <int W>
void StageConstraints<W>::pull(const Workspace<Pack<W>>& w, const double* lambda, Pack<W>* force) {
  for (int j = 0; j < m_.nv; ++j) force[j] = Pack<W>();
  for (auto& f : wrench_) f = {};
  for (int s = 0; s < pair_.stages() - 1; ++s, lambda += count()) {
    const RowValues& at = values_[s];
    for (int k = 0; k < rows_; ++k) {
      if (lambda[k] == 0) continue;
      for (int e = structure_.pull_start[k]; e < structure_.pull_start[k + 1]; ++e) {
        Spatial<Pack<W>>& f = wrench_[structure_.pull_body[e]];
        add_lane(f.angular, s, lambda[k] * at.pull[e].angular), add_lane(f.linear, s, lambda[k] * at.pull[e].linear);
      }
      for (int e = structure_.coefficient_start[k]; e < structure_.coefficient_start[k + 1]; ++e)
        add_lane(force[structure_.coefficient_v[e]], s, lambda[k] * at.coefficient[e]);
    }
    for (std::size_t a = 0; a < prescribed_.size(); ++a) add_lane(force[prescribed_[a]], s, lambda[rows_ + a]);
  }
  if (rows_ == 0) return;
  for (int i = m_.size() - 1; i > 0; --i) {
    const Body& body = m_.bodies[i];
    for (int j = body.v; j < body.v + body.nv; ++j) force[j] += dot(w.S[j], wrench_[i]);
    if (body.parent > 0) wrench_[body.parent] += shift_force(wrench_[i], w.pose[i].r);
  }
}

template <int W>
void StageConstraints<W>::changed(const Workspace<Pack<W>>& w, const Pack<W>* delta, double* out) {
  for (int i = 1; i < m_.size() && rows_ > 0; ++i) {
    const Body& body = m_.bodies[i];
    motion_[i] = shift_motion(motion_[body.parent], w.pose[i].r);
    for (int j = body.v; j < body.v + body.nv; ++j) motion_[i] += delta[j] * w.S[j];
  }
  for (int s = 1; s < pair_.stages(); ++s, out += count()) {
    const RowValues& at = values_[s];
    for (int k = 0; k < rows_; ++k) {
      double sum = at.value[k];
      for (int e = structure_.pull_start[k]; e < structure_.pull_start[k + 1]; ++e) {
        const Spatial<Pack<W>>& d = motion_[structure_.pull_body[e]];
        sum += dot(at.pull[e].angular, lane_of(d.angular, s)) + dot(at.pull[e].linear, lane_of(d.linear, s));
      }
      for (int e = structure_.coefficient_start[k]; e < structure_.coefficient_start[k + 1]; ++e)
        sum += at.coefficient[e] * delta[structure_.coefficient_v[e]][s];
      out[k] = sum;
    }
    for (std::size_t a = 0; a < prescribed_.size(); ++a)
      out[rows_ + a] = gap_[s * prescribed_.size() + a] + delta[prescribed_[a]][s];
  }
}

template <int W>
bool StageConstraints<W>::factorize(const double* q) {
  const int n = m_.nv, r = count();
  compute_poses(m_, q, at_);
  G_.assign(static_cast<std::size_t>(r) * n, 0.0), W_.resize(G_.size()), S_.resize(static_cast<std::size_t>(r) * r);
  noise_.assign(r, 1.0);
  if (rows_ > 0) {
    evaluate_rows<true>(m_, structure_, q, at_, middle_);
    dense_rows(m_, structure_, middle_, at_, G_.data());
    std::copy(middle_.noise.begin(), middle_.noise.end(), noise_.begin());
  }
  for (std::size_t a = 0; a < prescribed_.size(); ++a) {
    G_[(rows_ + a) * n + prescribed_[a]] = 1;
    noise_[rows_ + a] = 1e-3 + std::fabs(q[places_[a]]);
  }
  eliminate_mass(m_, at_);
  for (int j = 0; j < n; ++j)
    if (!(std::fabs(at_.pivot_inverse[j]) < 1e15)) return false;
  for (int k = 0; k < r; ++k) solve_mass(m_, &G_[k * n], &W_[k * n], at_);
  for (int k = 0; k < r; ++k)
    for (int l = 0; l <= k; ++l) {
      double sum = 0;
      for (int j = 0; j < n; ++j) sum += G_[k * n + j] * W_[l * n + j];
      S_[k * r + l] = S_[l * r + k] = sum;
    }
  inverse_ = S_;
  dependent_ = invert_independent(inverse_, r, scratch_, weakest_);
  return true;
}

template <int W>
void StageConstraints<W>::answer(double h, const double* values, double* lambda) {
  const int r = count(), n = pair_.stages() - 1;
  scratch_.assign(r, 0.0);
  for (int k = 0; k < n; ++k) {
    std::fill(scratch_.begin(), scratch_.end(), 0.0);
    for (int i = 0; i < n; ++i) {
      const double share = pair_.answer[n * k + i] / (h * h);
      for (int l = 0; l < r; ++l) scratch_[l] += share * values[i * r + l];
    }
    for (int l = 0; l < r; ++l) {
      double sum = 0;
      for (int j = 0; j < r; ++j) sum += inverse_[l * r + j] * scratch_[j];
      lambda[k * r + l] -= sum;
    }
  }
}

template <int W>
void StageConstraints<W>::share(double* lambda) const {
  if (dependent_ && rows_ > 0) remove_null_part(G_.data(), rows_, m_.nv, 1e-9, lambda);
}

template <int W>
void StageConstraints<W>::reactions(const double* lambda, std::vector<double>& out) const {
  std::fill(out.begin(), out.end(), 0.0);
  for (std::size_t a = 0; a < prescribed_.size(); ++a) out[prescribed_[a]] = lambda[rows_ + a];
}

template <int W>
void StageConstraints<W>::rounding(double h, std::vector<double>& out) const {
  const int n = m_.nv, r = count(), s = pair_.stages() - 1;
  double largest = 0;  // how much of a gap comes back as impulse
  for (int k = 0; k < s; ++k) {
    double sum = 0;
    for (int i = 0; i < s; ++i) sum += std::fabs(pair_.answer[s * k + i]);
    largest = std::max(largest, sum * pair_.positions.b[k]);
  }
  out.assign(2 * n, 0.0);
  for (int l = 0; l < r; ++l) {
    double answered = 0;  // by row l
    for (int k = 0; k < r; ++k) answered += std::fabs(inverse_[l * r + k]) * noise_[k];
    for (int j = 0; j < n; ++j) {
      out[j] += std::fabs(W_[l * n + j]) * answered;
      out[n + j] += largest / std::fabs(h) * std::fabs(G_[l * n + j]) * answered;
    }
  }
}

template class StageConstraints<4>;
template class StageConstraints<8>;

}  // namespace symplectree
