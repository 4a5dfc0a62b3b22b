#include "contact/grouped_lu.hpp"

#include <algorithm>
#include <cmath>

#include "dense/sum_of_products.hpp"

namespace symplectree {
namespace {

constexpr double kZero = 1e-15;  // a pivot, relative to the largest of its row before elimination

// a ← a − f b
inline void subtract(double* __restrict a, double f, const double* __restrict b, int n) {
  for (int j = 0; j < n; ++j) a[j] -= f * b[j];
}

}  // namespace

void GroupedLu::plan(const RowGroups& groups) {
  const int size = groups.size();
  first_ = groups.first, n_ = groups.rows();
  A_.assign(static_cast<std::size_t>(n_) * n_, 0.0), inverse_.resize(n_), swap_.resize(n_), work_.resize(n_);
  count.assign(size, 0);
  order_.clear(), fill_.clear(), later_.assign(size, {});
  std::vector<char> met(static_cast<std::size_t>(size) * size), done(size);
  std::vector<int> degree(size);
  const auto rows = [&](int g) { return first_[g + 1] - first_[g]; };
  for (int g = 0; g < size; ++g)
    for (int k = groups.start[g]; k < groups.start[g + 1]; ++k) {
      const int h = groups.others[k];
      met[static_cast<std::size_t>(size) * g + h] = 1;
      if (h != g) later_[g].push_back(h), degree[g] += rows(h);
    }
  for (int k = 0; k < size; ++k) {
    int g = -1;
    for (int h = 0; h < size; ++h)
      if (!done[h] && (g < 0 || degree[h] < degree[g])) g = h;
    order_.push_back(g), done[g] = 1;
    std::vector<int>& after = later_[g];
    after.erase(std::remove_if(after.begin(), after.end(), [&](int h) { return done[h]; }), after.end());
    for (const int h : after) degree[h] -= rows(g);
    for (const int h : after)
      for (const int i : after)
        if (!met[static_cast<std::size_t>(size) * h + i]) {
          met[static_cast<std::size_t>(size) * h + i] = 1;
          fill_.push_back({h, i}), later_[h].push_back(i), degree[h] += rows(i);
        }
  }
}

void GroupedLu::clear() {
  for (const auto& [g, h] : fill_)
    for (int i = first_[g]; i < first_[g] + count[g]; ++i)
      std::fill(row(i) + first_[h], row(i) + first_[h] + count[h], 0.0);
}

// The block of group g by itself, and the rows of U to its right.
bool GroupedLu::factorize_diagonal(int g) {
  const int f = first_[g], n = count[g];
  for (int c = f; c < f + n; ++c) {
    int pivot = c;
    double largest = 0;
    for (int i = c; i < f + n; ++i) {
      const double size = std::fabs(row(i)[c]);
      if (!(size <= largest)) largest = size, pivot = i;
    }
    swap_[c] = pivot;
    if (pivot != c) {
      std::swap_ranges(row(c) + f, row(c) + f + n, row(pivot) + f);
      for (const int h : later_[g])
        std::swap_ranges(row(c) + first_[h], row(c) + first_[h] + count[h], row(pivot) + first_[h]);
    }
    if (!(largest > kZero * work_[pivot]) || !std::isfinite(largest)) return false;
    std::swap(work_[pivot], work_[c]);
    inverse_[c] = 1 / row(c)[c];
    for (int i = c + 1; i < f + n; ++i) {
      const double factor = row(i)[c] * inverse_[c];
      row(i)[c] = factor;
      if (factor == 0) continue;
      subtract(row(i) + c + 1, factor, row(c) + c + 1, f + n - c - 1);
      for (const int h : later_[g]) subtract(row(i) + first_[h], factor, row(c) + first_[h], count[h]);
    }
  }
  return true;
}

bool GroupedLu::factorize() {
  for (const int g : order_)
    for (int i = first_[g]; i < first_[g] + count[g]; ++i) {
      work_[i] = 0;
      for (int j = first_[g]; j < first_[g] + count[g]; ++j) work_[i] = std::max(work_[i], std::fabs(row(i)[j]));
    }
  for (const int g : order_) {
    if (count[g] == 0) continue;
    if (!factorize_diagonal(g)) return false;
    const int f = first_[g], n = count[g];
    for (const int k : later_[g])
      for (int i = first_[k]; i < first_[k] + count[k]; ++i) {
        double* own = row(i);
        for (int c = f; c < f + n; ++c) {  // L, then what is left of the row
          const double factor = own[c] * inverse_[c];
          own[c] = factor;
          if (factor == 0) continue;
          subtract(own + c + 1, factor, row(c) + c + 1, f + n - c - 1);
          for (const int h : later_[g]) subtract(own + first_[h], factor, row(c) + first_[h], count[h]);
        }
      }
  }
  return true;
}

void GroupedLu::solve(double* b) const {
  for (const int g : order_) {
    const int f = first_[g], n = count[g];
    for (int c = f; c < f + n; ++c) {
      std::swap(b[c], b[swap_[c]]);
    }
    for (int i = f; i < f + n; ++i)
      for (int c = f; c < i; ++c) b[i] -= row(i)[c] * b[c];
    for (const int k : later_[g])
      for (int i = first_[k]; i < first_[k] + count[k]; ++i) b[i] -= sum_of_products(row(i) + f, b + f, n);
  }
  for (std::size_t k = order_.size(); k-- > 0;) {
    const int g = order_[k], f = first_[g];
    for (int i = f + count[g] - 1; i >= f; --i) {
      double sum = b[i];
      for (const int h : later_[g]) sum -= sum_of_products(row(i) + first_[h], b + first_[h], count[h]);
      sum -= sum_of_products(row(i) + i + 1, b + i + 1, f + count[g] - i - 1);
      b[i] = sum * inverse_[i];
    }
  }
}

}  // namespace symplectree
