#include "batch/pack_linearizer.hpp"

#include <cstring>

#include "batch/pack_step.hpp"
#include "batch/pack_width.hpp"
#include "linearization/tree_blocks.hpp"
#include "model/rows/joint_force.hpp"

namespace symplectree {
namespace {

constexpr int W = kPackWidth;
using P = Pack<W>;

// out (width) ← start (width, or zero where that is null) + sign Σ_k factor_k row_k over `count` rows of `stride`
// numbers. Sums stay in registers.
void add_rows(const P* start, double sign, const P* factor, const P* rows, int count, int stride, int width, P* out) {
  constexpr int B = 8;
  int j = 0;
  for (; j + B <= width; j += B) {
    P sum[B];
    for (int k = 0; k < count; ++k)
      for (int b = 0; b < B; ++b) sum[b] += factor[k] * rows[stride * k + j + b];
    for (int b = 0; b < B; ++b) out[j + b] = (start ? start[j + b] : P(0)) + P(sign) * sum[b];
  }
  for (; j < width; ++j) {
    P sum;
    for (int k = 0; k < count; ++k) sum += factor[k] * rows[stride * k + j];
    out[j] = (start ? start[j] : P(0)) + P(sign) * sum;
  }
}

// Y (n × 2 n) ← N⁻¹ [R 1]; N ← its factors, the pivots inverted. N is nearly symmetric and positive, as a mass matrix
// over h is, and is eliminated without exchanging rows; what has no pivot becomes infinite.
void solve_blocks(int n, std::vector<P>& N, const std::vector<P>& R, std::vector<P>& Y) {
  for (int i = 0; i < n; ++i) {
    P *own = &N[n * i], *y = &Y[2 * n * i];
    for (int c = 0; c < i; ++c) {  // factors of the rows before, each of which takes part in the next
      own[c] = own[c] * N[(n + 1) * c];
      for (int j = c + 1; j < n; ++j) own[j] -= own[c] * N[n * c + j];
    }
    own[i] = P(1) / own[i];
    add_rows(&R[n * i], -1, own, Y.data(), i, 2 * n, n, y);
    std::fill(y + n, y + 2 * n, P(0));
    add_rows(nullptr, -1, own, Y.data() + n, i, 2 * n, i, y + n);  // of the identity, zero beyond
    y[n + i] = P(1);
  }
  for (int i = n - 1; i >= 0; --i) {
    P *own = &N[n * i], *y = &Y[2 * n * i];
    add_rows(y, -1, own + i + 1, Y.data() + 2 * n * (i + 1), n - 1 - i, 2 * n, 2 * n, y);
    for (int j = 0; j < 2 * n; ++j) y[j] = own[i] * y[j];
  }
}

template <class Action>
class PackLinearizer {
 public:
  explicit PackLinearizer(const LinearizeTask& task)
      : task_(task), m_(task.m), step_(m_, task.options), blocks_(step_blocks<P>(m_, task.options.action)),
        all_(2 * m_.nv + task.forces()), tau_(m_.nv), inputs_(m_.inputs + 1), start_(m_.nq), end_(m_.nq),
        N_(m_.nv * m_.nv), Y_(2 * m_.nv * m_.nv), row_(all_) {}

  // Rows `first` … `first` + count − 1; returns those that are done.
  LaneSet take(long first, int count) {
    for (int k = 0; k < W; ++k) {
      if (k < count) {
        start(k, first + k);
      } else {
        step_.rest(k);
      }
    }
    step_.place_all();
    for (int j = 0; j < m_.nq; ++j) start_[j] = step_.q(j);
    LaneSet done = step_.step(task_.h, tau_.data(), inputs_.data(), (1u << count) - 1);
    if (done == 0) return 0;
    for (int j = 0; j < m_.nq; ++j) end_[j] = step_.q(j);
    done = differentiate(first, done);
    for_lanes(done, [&](int lane) {
      step_.take_q(lane, task_.q1 + (first + lane) * m_.nq), step_.take_p(lane, task_.p1 + (first + lane) * m_.nv);
    });
    return done;
  }

 private:
  void start(int lane, long row) {
    step_.start(lane, task_.q.at(row, 0), task_.p.at(row, 0));
    for (int j = 0; j < m_.nv; ++j) tau_[j].set(lane, task_.tau.at(row, 0)[j]);
    for (int j = 0; j < m_.inputs; ++j) inputs_[j].set(lane, task_.inputs.at(row, 0)[j]);
  }

  // Rows of the derivatives of (q', p') in (q, p, forces), as block_solution.hpp has them, written for the lanes in
  // `done`; returns those whose numbers are finite.
  LaneSet differentiate(long first, LaneSet done) {
    const int n = m_.nv;
    blocks_->evaluate(task_.h, start_.data(), end_.data());
    N_ = blocks_->N;
    solve_blocks(n, N_, blocks_->R, Y_);
    P sum(0);  // of zeros, unless something is not finite
    for (int i = 0; i < 2 * n; ++i) {
      if (i < n) {
        std::copy_n(&Y_[2 * n * i], 2 * n, row_.begin());
      } else {
        add_rows(nullptr, 1, &blocks_->P[n * (i - n)], Y_.data(), n, 2 * n, 2 * n, row_.data());
        for (int j = 0; j < n; ++j) row_[j] -= blocks_->N[n * j + i - n];
        row_[i - n] += P(blocks_->damping[i - n]);
      }
      add_forces(i);
      for (const P& x : row_) sum += P(0) * x;
      write(i, first, done);
    }
    return done & at_most(sum, P(0));
  }

  // Row i of the derivatives of each of these lanes, W numbers at a time.
  void write(int i, long first, LaneSet lanes) {
    const auto to = [&](int lane) { return task_.first + ((first + lane) * 2 * m_.nv + i) * all_; };
    int e = 0;
    for (; e + W <= all_; e += W) {
      P block[W];
      std::copy_n(&row_[e], W, block);
      transpose(block);
      for_lanes(lanes, [&](int lane) { std::memcpy(to(lane) + e, &block[lane].lanes, sizeof(P)); });
    }
    for_lanes(lanes, [&](int lane) {
      for (int rest = e; rest < all_; ++rest) to(lane)[rest] = row_[rest][lane];
    });
  }

  // Columns of forces in row i: these act as half a step's impulse on p, and another half on p'.
  void add_forces(int i) {
    const int n = m_.nv;
    const double half = 0.5 * task_.h;
    std::fill_n(row_.begin() + 2 * n, task_.forces(), P(0));
    const auto add = [&](int v, int column, double weight) {
      row_[2 * n + column] += P(half * weight) * (i == n + v ? row_[n + v] + P(1) : row_[n + v]);
    };
    for (const JointForce& f : m_.joint_forces)
      if (m_.inputs > 0 && f.input >= 0) add(f.v, f.input, f.gain);
    for (int j = 0; m_.inputs == 0 && j < n; ++j) add(j, j, 1);
  }

  const LinearizeTask& task_;
  const Model& m_;
  PackStep<Action, W> step_;
  std::unique_ptr<StepBlocks<P>> blocks_;
  int all_;
  std::vector<P> tau_, inputs_;
  std::vector<P> start_, end_, N_, Y_, row_;
};

template <class Action>
void linearize_packs_of(const LinearizeTask& task, std::vector<long>& left) {
  PackLinearizer<Action> packs(task);
  for (long row = 0; row < task.rows; row += W) {
    const int count = static_cast<int>(std::min<long>(W, task.rows - row));
    const LaneSet done = packs.take(row, count);
    for (int k = 0; k < count; ++k)
      if (!(done >> k & 1)) left.push_back(row + k);
  }
}

}  // namespace

bool fits_pack_linearizer(const Model& m, const MethodOptions& options, double h) {
  return fits_packs(m, options, h) && step_blocks_cover(m);
}

void linearize_packs(const LinearizeTask& task, std::vector<long>& left) {
  if (task.options.action == Action::Chord) return linearize_packs_of<Chord>(task, left);
  linearize_packs_of<Cayley>(task, left);
}

}  // namespace symplectree
