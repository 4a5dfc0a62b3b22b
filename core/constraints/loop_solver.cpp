// Elimination over a tree with loops.
#include "constraints/loop_solver.hpp"

#include "constraints/elimination_record.hpp"

namespace symplectree {

class LoopSolver::Elimination {
 public:
  Elimination(const Model& m, const RowStructure& s, double distinct)
      : m_(m), s_(s), distinct_(distinct), fronts_(m, s), eta_(m.size()) {}

  void solve(const LoopSystem& system, double* delta, double* lambda);
  const std::vector<Spatial<double>>& motions() const { return eta_; }

 private:
  using Step = EliminationRecord::Step;

  static constexpr double kSound = 1e-3;  // least pivot of a row, relative to its natural size, while more may come

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
  void eliminate_joint(const LoopSystem& system, int i);

  // Eliminate rows of a front that hold on to nothing outside and whose pivots are sound.
  void drop_finished_rows(Front& F, double sound);

  // Does nothing outside the front act on row l any more? That of a loop does not, once the loop is inside.
  bool is_closed(const Front& F, int l) const;

  void eliminate_row(Front& F, int l);

  // Rows that are left when all bodies are gone: the largest pivots first, then those that depend on others.
  void finish(Front& F, double* lambda);

  const Model& m_;
  const RowStructure& s_;
  double distinct_;
  LoopFronts fronts_;
  EliminationRecord record_;
  std::vector<int> dependent_;  // rows found to depend on others before the end
  std::vector<Spatial<double>> eta_, W_;
  std::vector<double> z_, c_, big_;
};

LoopSolver::LoopSolver(const Model& m, const RowStructure& s, double distinct)
    : elimination_(std::make_unique<Elimination>(m, s, distinct)) {}

LoopSolver::~LoopSolver() = default;

void LoopSolver::solve(const LoopSystem& system, double* delta, double* lambda) {
  elimination_->solve(system, delta, lambda);
}

const std::vector<Spatial<double>>& LoopSolver::motions() const { return elimination_->motions(); }

void LoopSolver::Elimination::solve(const LoopSystem& system, double* delta, double* lambda) {
  fronts_.begin(system);
  record_.clear(), dependent_.clear();
  for (int i : fronts_.plan().order) {
    fronts_.enter(system, i);
    drop_finished_rows(fronts_.of_body(i), kSound);
    if (!is_prescribed(system, i)) eliminate_joint(system, i);
    fronts_.joint_done(i);
    drop_finished_rows(fronts_.of_body(i), kSound);
    record_.add(Step::Shift, i, 0, 0);
    fronts_.leave(system, i);
  }
  for (int k = 0; k < s_.rows(); ++k)
    if (s_.idle[k]) dependent_.push_back(k);
  for (const int row : dependent_) lambda[row] = 0;
  for (int f = 0; f < fronts_.count(); ++f) finish(fronts_[f], lambda);
  record_.substitute_back(m_, system, eta_, delta, lambda);
}

void LoopSolver::Elimination::eliminate_joint(const LoopSystem& system, int i) {
  const Body& body = m_.bodies[i];
  Front& F = fronts_.of_body(i);
  const int n = body.nv, slots = F.slots, rows = F.rows, own = F.slot_of(i);
  const int sc = F.slot_capacity, rc = F.row_capacity;
  const Spatial<double>*S0 = &system.left->S[body.v], *S1 = &system.right->S[body.v];
  const auto fixed = [&](int k) { return system.prescribed && system.prescribed[body.v + k]; };
  W_.resize(slots * n), z_.resize(rows * n), c_.resize(rows * n), big_.resize(rows);
  const std::size_t first = record_.motion.size();
  record_.add(Step::Joint, i, slots, rows);
  for (int b = 0; b < slots; ++b) {
    record_.motion_body.push_back(F.body[b]);
    for (int k = 0; k < n; ++k) {
      W_[b * n + k] = F.A[b * sc + own] * S1[k];
      record_.motion.push_back(transposed_times(F.A[own * sc + b], S0[k]));
    }
  }
  const Spatial<double>* Z = record_.motion.data() + first;
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
    record_.other_row.push_back(F.row[l]);
    for (int k = 0; k < n; ++k) record_.other.push_back(z_[l * n + k]);
  }
  record_.constant.insert(record_.constant.end(), D, D + n * n);
  record_.constant.insert(record_.constant.end(), u, u + n);
}

void LoopSolver::Elimination::drop_finished_rows(Front& F, double sound) {
  for (int l = 0; l < F.rows;) {
    const double pivot = F.E[l * F.row_capacity + l];
    if (fronts_.is_inside(F.row[l]) && std::fabs(pivot) > sound * F.natural[l]) {
      eliminate_row(F, l);
      l = 0;
    } else if (fronts_.is_inside(F.row[l]) && std::fabs(pivot) <= distinct_ * F.natural[l] && is_closed(F, l)) {
      dependent_.push_back(F.row[l]);
      fronts_.remove_row(F, l);
    } else {
      ++l;
    }
  }
}

bool LoopSolver::Elimination::is_closed(const Front& F, int l) const {
  const double small = distinct_ * F.natural[l];
  for (int b = 0; b < F.slots; ++b) {
    const Spatial<double>&B = F.B[b * F.row_capacity + l], &C = F.C[b * F.row_capacity + l];
    const double linear = norm1(B.linear) * norm1(C.linear), angular = norm1(B.angular) * norm1(C.angular);
    if (linear > small * fronts_.heaviest() || angular > small * fronts_.stiffest()) return false;
  }
  return true;
}

void LoopSolver::Elimination::eliminate_row(Front& F, int l) {
  const int sc = F.slot_capacity, rc = F.row_capacity, last = F.rows - 1;
  const double inverse = 1 / F.E[l * rc + l], e = F.e[l];
  record_.add(Step::Row, F.row[l], F.slots, last);
  for (int b = 0; b < F.slots; ++b) {
    record_.motion_body.push_back(F.body[b]);
    record_.motion.push_back(F.C[b * rc + l]);
  }
  for (int k = 0; k < F.rows; ++k) {
    if (k == l) continue;
    record_.other_row.push_back(F.row[k]);
    record_.other.push_back(F.E[l * rc + k]);
  }
  record_.constant.push_back(inverse), record_.constant.push_back(e);
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
  fronts_.remove_row(F, l);
}

void LoopSolver::Elimination::finish(Front& F, double* lambda) {
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
  while (F.rows > 0) {
    lambda[F.row[F.rows - 1]] = 0;
    fronts_.remove_row(F, F.rows - 1);
  }
}

}  // namespace symplectree
