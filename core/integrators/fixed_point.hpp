// The fixed point x = G(x) of a map that is dear to evaluate, by Anderson's acceleration (Walker and Ni 2011) over the
// last iterates: of an affine map with d different slopes it is found after d + 2 evaluations, contraction or not.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "dense/dense_solvers.hpp"

namespace symplectree {

class FixedPoint {
 public:
  explicit FixedPoint(int size) : x_(size), image_(size), residual_(size) {
    for (Pair& pair : pairs_) pair.change.resize(size), pair.of_image.resize(size);
  }

  // Begin at x.
  void begin(const std::vector<double>& x) {
    x_ = x;
    count_ = 0, size_ = last_ = INFINITY;
  }

  // G at the iterate is `image`. `scale`: what entries of G are measured against.
  void evaluated(const std::vector<double>& image, const std::vector<double>& scale) {
    last_ = size_, size_ = 0;
    Pair& pair = pairs_[count_ > 0 ? (count_ - 1) % kPairs : 0];
    for (std::size_t j = 0; j < x_.size(); ++j) {
      const double r = (image[j] - x_[j]) / scale[j];
      pair.change[j] = r - residual_[j], pair.of_image[j] = image[j] - image_[j];
      residual_[j] = r, image_[j] = image[j];
      if (!(std::fabs(r) <= size_)) size_ = std::fabs(r);
    }
    ++count_;
  }

  // How far G at the last iterate is from the fixed point, by the rate at which residuals fall.
  double remainder() const {
    const double rate = count_ > 1 ? std::min(size_ / last_, 0.5) : 0.5;
    return size_ > 0 ? size_ * rate / (1 - rate) : 0;
  }

  // Of a map whose residual is no rounding, after the second evaluation: the slope along the first step.
  double slope() const { return size_ > kTiny ? size_ / last_ : 0; }

  // Has the last evaluation brought nothing?
  bool stands() const { return count_ > 2 && !(size_ < kSlow * last_); }

  // x ← the next iterate.
  void next(std::vector<double>& x) {
    const int known = std::min(count_ - 1, kPairs);
    x_ = image_;
    if (known > 0) {
      std::vector<double> changes;
      for (int k = 0; k < known; ++k) changes.insert(changes.end(), pairs_[k].change.begin(), pairs_[k].change.end());
      double weights[kPairs];
      solve_least_squares(changes.data(), static_cast<int>(x_.size()), known, kDependent, residual_.data(), weights);
      for (int k = 0; k < known; ++k)
        for (std::size_t j = 0; j < x_.size(); ++j) x_[j] -= weights[k] * pairs_[k].of_image[j];
    }
    x = x_;
  }

 private:
  static constexpr int kPairs = 3;
  static constexpr double kTiny = 1e-10, kSlow = 0.9, kDependent = 1e-8;

  struct Pair {
    std::vector<double> change, of_image;  // of the residual and of G between two iterates
  };

  std::vector<double> x_, image_, residual_;  // the iterate, G there, and (G − x)/scale
  std::array<Pair, kPairs> pairs_;
  int count_ = 0;               // evaluations
  double size_ = 0, last_ = 0;  // of the residual now and before
};

}  // namespace symplectree
