// Forces that do not see the impulse at a step's beginning: there they are those of the velocity without it.
#pragma once

#include <vector>

#include "integrators/run_interface.hpp"

namespace symplectree {

class BeforeImpulse final : public ForceSource {
 public:
  BeforeImpulse(const ForceSource& own, double begin, const std::vector<double>& change)
      : ForceSource(own.tau, own.inputs), own_(own), begin_(begin), change_(change), v_(change.size()) {}
  bool varies() const override { return own_.varies(); }
  void update(double t, const double* q, const double* v) const override {
    if (t != begin_) return own_.update(t, q, v);
    for (std::size_t j = 0; j < v_.size(); ++j) v_[j] = v[j] - change_[j];
    own_.update(t, q, v_.data());
  }
  const ForceSource* means(double t, double h) const override { return own_.means(t, h); }

 private:
  const ForceSource& own_;
  double begin_;
  const std::vector<double>& change_;
  mutable std::vector<double> v_;
};

}  // namespace symplectree
