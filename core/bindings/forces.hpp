// Forces that users apply during a run.
#pragma once

#include "bindings/native.hpp"
#include "integrators/run_interface.hpp"

namespace symplectree {

// Rows (rows × nv) of generalized forces and (rows × inputs) of inputs, one for all steps or one per step, or a
// function of time that reads the buffers `q` and `v` and writes the one row that there is; None where there is none.
struct ForceRows {
  In tau, inputs;
  nb::object function;
  Out q, v;
};

// Those of one step after the other.
class RowForces final : public ForceSource {
 public:
  explicit RowForces(const ForceRows& rows)
      : ForceSource(rows.tau.data(), rows.inputs.data()), rows_(rows), varies_(!rows.function.is_none()) {}

  void choose_step(int k) {
    tau = row(rows_.tau, k);
    inputs = row(rows_.inputs, k);
  }

  bool varies() const override { return varies_; }
  void update(double t, const double* q, const double* v) const override {
    nb::gil_scoped_acquire lock;
    std::copy(q, q + rows_.q.size(), rows_.q.data());
    std::copy(v, v + rows_.v.size(), rows_.v.data());
    rows_.function(t);
  }

 private:
  static const double* row(const In& rows, int k) {
    return rows.data() + (rows.shape(0) > 1 ? static_cast<std::size_t>(k) * rows.shape(1) : 0);
  }

  const ForceRows& rows_;
  bool varies_;
};

}  // namespace symplectree
