// Derivatives of a step (q, p, u) → (q', p') in these plain numbers, from those along increments. A quaternion is four
// numbers that stand for their direction. With T the derivative of the increments of (q, p, u) by the numbers and E
// that of the numbers (q', p') by their increments, both sparse,
//
//   J = E F T,   H_i = Σ_a E_ia Tᵀ S_a T + (F_q T)ᵀ E''_i (F_q T) + Σ_b (E F)_ib T''_b,
//
// of F (2 nv × n), S (2 nv × n × n), n = 2 nv + nu, and J (nx × m), H (nx × m × m), nx = nq + nv, m = nx + nu.
// Quaternions Q ⊕ ω = Q (1 − |ω|²/8, ω/2) and ω = 2 y / w of q* Q = (w, y); positions of Free joints x + R (v + ½ ω ×
// v) and v = d − ½ ω × d of d = Rᵀ (X − x), each to second order.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "model/model.hpp"

namespace symplectree {

class NumberMaps {
 public:
  NumberMaps(const Model& m, int forces)
      : m_(m), nx_(m.nq + m.nv), n_(2 * m.nv + forces), numbers_(nx_ + forces), forces_(forces) {}

  int states() const { return nx_; }
  int numbers() const { return numbers_; }
  bool trivial() const { return m_.quaternions.empty(); }  // J is F, and H is S

  // At q, whose quaternions may have any length, and q' with unit ones.
  void place(const double* q, const double* q1) {
    E_.clear(), T_.clear(), before_.clear(), after_.clear();
    for (int i = 1; i < m_.size(); ++i) {
      const Body& b = m_.bodies[i];
      if (b.flat()) {
        for (int k = 0; k < b.nv; ++k) pair(b.q + k, b.v + k);
        continue;
      }
      before_.emplace_back(b, q), after_.emplace_back(b, q1);
      add_quaternion(b, before_.back(), after_.back());
    }
    for (int j = 0; j < m_.nv; ++j) pair(m_.nq + j, m_.nv + j);
    for (int k = 0; k < forces_; ++k) T_.push_back({2 * m_.nv + k, nx_ + k, 1});
  }

  void first(const double* F, double* J) {
    const int rows = 2 * m_.nv;
    G_.assign(static_cast<std::size_t>(rows) * numbers_, 0);
    for (int i = 0; i < rows; ++i)
      for (const Entry& t : T_) G_[i * numbers_ + t.column] += t.value * F[i * n_ + t.row];
    std::fill(J, J + static_cast<std::size_t>(nx_) * numbers_, 0.0);
    for (const Entry& e : E_) add(e.value, &G_[e.column * numbers_], numbers_, J + e.row * numbers_);
  }

  // After `first`.
  void second(const double* F, const double* S, double* H) {
    const std::size_t square = static_cast<std::size_t>(numbers_) * numbers_;
    const int rows = 2 * m_.nv;
    K_.assign(rows * square, 0);
    W_.resize(static_cast<std::size_t>(n_) * numbers_);
    for (int a = 0; a < rows; ++a) {
      std::fill(W_.begin(), W_.end(), 0.0);
      const double* Sa = S + static_cast<std::size_t>(a) * n_ * n_;
      for (int k = 0; k < n_; ++k)
        for (const Entry& t : T_) W_[k * numbers_ + t.column] += t.value * Sa[k * n_ + t.row];
      for (const Entry& t : T_) add(t.value, &W_[t.row * numbers_], numbers_, &K_[a * square + t.column * numbers_]);
    }
    std::fill(H, H + nx_ * square, 0.0);
    rise_.assign(static_cast<std::size_t>(nx_) * m_.nv, 0);
    for (const Entry& e : E_) {
      add(e.value, &K_[e.column * square], static_cast<int>(square), H + e.row * square);
      add(e.value, F + e.column * n_, m_.nv, &rise_[e.row * m_.nv]);
    }
    for (const Quaternion& x : after_) bend_end(x, H);
    for (const Quaternion& x : before_)
      for (int i = 0; i < nx_; ++i) bend_start(x, &rise_[i * m_.nv + x.v], H + i * square);
  }

 private:
  struct Entry {
    int row, column;
    double value;
  };

  // Of a joint: where its numbers and velocities stand, L the columns of Q ↦ Q ⊗ (0, ω) and R the rotation, both of the
  // unit quaternion, and the length that it was given with.
  struct Quaternion {
    int q, v;   // of the quaternion, and of ω
    bool free;  // is there a position, three numbers before the quaternion?
    double length;
    std::array<double, 4> unit;
    std::array<std::array<double, 3>, 4> L;
    std::array<std::array<double, 3>, 3> R;

    Quaternion(const Body& b, const double* numbers)
        : q(b.q + (b.kind == Kind::Free ? 3 : 0)), v(b.v), free(b.kind == Kind::Free) {
      const double* p = numbers + q;
      length = std::sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2] + p[3] * p[3]);
      for (int k = 0; k < 4; ++k) unit[k] = p[k] / length;
      const auto [w, x, y, z] = unit;
      L = {{{-x, -y, -z}, {w, -z, y}, {z, w, -x}, {-y, x, w}}};
      const Mat3<double> M = quaternion_matrix(w, x, y, z);
      for (int j = 0; j < 3; ++j) R[0][j] = M.column(j).x, R[1][j] = M.column(j).y, R[2][j] = M.column(j).z;
    }
  };

  static void add(double factor, const double* from, int count, double* to) {
    for (int k = 0; k < count; ++k) to[k] += factor * from[k];
  }

  // A number that is its own increment.
  void pair(int number, int increment) {
    E_.push_back({number, increment, 1});
    T_.push_back({increment, number, 1});
  }

  void add_quaternion(const Body& b, const Quaternion& before, const Quaternion& after) {
    for (int k = 0; k < 4; ++k)
      for (int c = 0; c < 3; ++c) {
        T_.push_back({b.v + c, before.q + k, 2 / before.length * before.L[k][c]});
        E_.push_back({after.q + k, b.v + c, 0.5 * after.L[k][c]});
      }
    if (!after.free) return;
    for (int k = 0; k < 3; ++k)
      for (int c = 0; c < 3; ++c) {
        T_.push_back({b.v + 3 + c, b.q + k, before.R[k][c]});
        E_.push_back({b.q + k, b.v + 3 + c, after.R[k][c]});
      }
  }

  // H (m × m) += factor (aᵀ b + bᵀ a) / 2 of rows a and b of F_q T.
  void add_product(double factor, int a, int b, double* H) const {
    const double *x = &G_[a * numbers_], *y = &G_[b * numbers_];
    for (int j = 0; j < numbers_; ++j)
      for (int k = 0; k < numbers_; ++k) H[j * numbers_ + k] += 0.5 * factor * (x[j] * y[k] + y[j] * x[k]);
  }

  // E'': −|ω|²/4 of the quaternion's numbers, and R (ω × v) of the position.
  void bend_end(const Quaternion& x, double* H) const {
    const std::size_t square = static_cast<std::size_t>(numbers_) * numbers_;
    for (int k = 0; k < 4; ++k)
      for (int c = 0; c < 3; ++c) add_product(-0.25 * x.unit[k], x.v + c, x.v + c, H + (x.q + k) * square);
    for (int k = 0; x.free && k < 3; ++k)
      for (int c = 0; c < 3; ++c) {
        const int d = (c + 1) % 3, e = (c + 2) % 3;
        add_product(x.R[k][c], x.v + d, x.v + 3 + e, H + (x.q - 3 + k) * square);
        add_product(-x.R[k][c], x.v + e, x.v + 3 + d, H + (x.q - 3 + k) * square);
      }
  }

  // T'' weighted with `rise` of the joint's increments.
  void bend_start(const Quaternion& x, const double* rise, double* H) const {
    const auto both = [&](int j, int k, double value) {
      H[j * numbers_ + k] += value;
      H[k * numbers_ + j] += value;
    };
    for (int k = 0; k < 4; ++k) {
      double turned = 0;
      for (int c = 0; c < 3; ++c) turned += x.L[k][c] * rise[c];
      for (int j = 0; j < 4; ++j) both(x.q + j, x.q + k, -2 / (x.length * x.length) * x.unit[j] * turned);
    }
    for (int k = 0; x.free && k < 4; ++k) {
      double row[3];  // L × rise, carried to the axes of the base below
      for (int c = 0; c < 3; ++c) {
        const int d = (c + 1) % 3, e = (c + 2) % 3;
        row[c] = x.L[k][d] * rise[3 + e] - x.L[k][e] * rise[3 + d];
      }
      for (int i = 0; i < 3; ++i) {
        double value = 0;
        for (int c = 0; c < 3; ++c) value += row[c] * x.R[i][c];
        both(x.q + k, x.q - 3 + i, value / x.length);
      }
    }
  }

  const Model& m_;
  int nx_, n_, numbers_, forces_;
  std::vector<Entry> E_, T_;
  std::vector<Quaternion> before_, after_;
  std::vector<double> G_, K_, W_, rise_;  // F T; Tᵀ S T; S_a T; E F by the increments of q
};

}  // namespace symplectree
