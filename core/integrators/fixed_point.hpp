// The fixed point x = G(x) of a map that is dear to evaluate, by Anderson's acceleration (Walker and Ni 2011) over the
// last iterates: of an affine map with d different slopes it is found after d + 2 evaluations, contraction or not.
#pragma once

#include <Eigen/QR>
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace symplectree {

class FixedPoint {
 public:
  explicit FixedPoint(int size) : x_(size), image_(size) {
    for (Pair& pair : pairs_) pair.change.resize(size), pair.of_image.resize(size);
  }

  // Begin at x.
  void begin(const std::vector<double>& x) {
    std::copy(x.begin(), x.end(), x_.data());
    count_ = 0, size_ = last_ = INFINITY;
  }

  // G at the iterate is `image`. `scale`: what entries of G are measured against.
  void evaluated(const std::vector<double>& image, const std::vector<double>& scale) {
    const Eigen::Index n = x_.size();
    const Eigen::VectorXd G = Eigen::Map<const Eigen::VectorXd>(image.data(), n);
    const Eigen::VectorXd r = (G - x_).cwiseQuotient(Eigen::Map<const Eigen::VectorXd>(scale.data(), n));
    if (count_ > 0) {
      Pair& pair = pairs_[(count_ - 1) % kPairs];
      pair.change = r - residual_, pair.of_image = G - image_;
    }
    residual_ = r, image_ = G;
    last_ = size_, size_ = n > 0 ? r.cwiseAbs().maxCoeff() : 0;
    ++count_;
  }

  // How far G at the last iterate is from the fixed point, by the rate at which residuals fall.
  double remainder() const {
    const double rate = count_ > 1 ? std::min(size_ / last_, 0.5) : 0.5;
    return size_ > 0 ? size_ * rate / (1 - rate) : 0;
  }

  // Has the last evaluation brought nothing?
  bool stands() const { return count_ > 2 && !(size_ < kSlow * last_); }

  // x ← the next iterate.
  void next(std::vector<double>& x) {
    const int known = std::min(count_ - 1, kPairs);
    x_ = image_;
    if (known > 0) {
      Eigen::MatrixXd changes(residual_.size(), known);
      for (int k = 0; k < known; ++k) changes.col(k) = pairs_[k].change;
      Eigen::ColPivHouseholderQR<Eigen::MatrixXd> least_squares;
      least_squares.setThreshold(kDependent);
      const Eigen::VectorXd weights = least_squares.compute(changes).solve(residual_);
      for (int k = 0; k < known; ++k) x_ -= weights[k] * pairs_[k].of_image;
    }
    std::copy(x_.begin(), x_.end(), x.begin());
  }

 private:
  static constexpr int kPairs = 3;
  static constexpr double kSlow = 0.9, kDependent = 1e-8;

  struct Pair {
    Eigen::VectorXd change, of_image;  // of the residual and of G between two iterates
  };

  Eigen::VectorXd x_, image_, residual_;  // the iterate, G there, and (G − x)/scale
  std::array<Pair, kPairs> pairs_;
  int count_ = 0;               // evaluations
  double size_ = 0, last_ = 0;  // of the residual now and before
};

}  // namespace symplectree
