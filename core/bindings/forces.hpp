// Forces that users apply during a run.
#pragma once

#include "bindings/arrays.hpp"
#include "integrators/control_laws.hpp"
#include "integrators/run_interface.hpp"

namespace symplectree {

// The laws behind an object of Python.
ControlLaws& control_laws(nb::handle given);

// Rows (rows × nv) of generalized forces and (rows × inputs) of inputs, one for all steps or one per step; or a
// function of (t, q, v) whose result is put into the one row that there is, by `set(t, result)` where it is not an
// array that is ready; and laws whose forces are added. None where there are none.
struct ForceRows {
  In tau, inputs;
  nb::object function, set, laws;
  int nq;

  template <class Visit>
  int visit(const Visit& each) const {
    return each(function, set, laws);
  }
};

// Those of one step after the other.
class RowForces final : public ForceSource {
 public:
  explicit RowForces(const ForceRows& rows)
      : ForceSource(rows.tau.data(), rows.inputs.data()), rows_(rows), nv_(rows.tau.shape(1)),
        n_inputs_(rows.inputs.shape(1)), called_(!rows.function.is_none()) {
    if (rows.laws.is_none()) return;
    laws_ = &control_laws(rows.laws);
    sum_.resize(nv_ + n_inputs_), v_.resize(nv_);
    tau = sum_.data(), inputs = sum_.data() + nv_;
  }

  // Before step number `step` from time t, number k of the rows.
  void choose_step(int k, std::int64_t step, double t, double dt, Run& run) {
    row_tau_ = row(rows_.tau, k), row_inputs_ = row(rows_.inputs, k);
    if (!laws_) {
      tau = row_tau_, inputs = row_inputs_;
      return;
    }
    if (laws_->samples()) run.velocity(v_.data());
    laws_->begin({step, t, dt, run.state().q.data(), v_.data()});
    add_up();
  }

  bool varies() const override { return called_ || (laws_ && laws_->varies()); }
  void update(double t, const double* q, const double* v) const override {
    if (laws_) {
      laws_->update(t, q, v);
      add_up();
    }
    if (called_) call(t, q, v);
  }

 private:
  static const double* row(const In& rows, int k) {
    return rows.data() + (rows.shape(0) > 1 ? static_cast<std::size_t>(k) * rows.shape(1) : 0);
  }

  void add_up() const {
    for (std::size_t j = 0; j < sum_.size(); ++j)
      sum_[j] = (j < nv_ ? row_tau_[j] : row_inputs_[j - nv_]) + laws_->held[j] + laws_->moving[j];
  }

  void call(double t, const double* q, const double* v) const {
    nb::gil_scoped_acquire lock;
    give(q, rows_.nq, q_given_);
    give(v, static_cast<npy_intp>(nv_), v_given_);
    const nb::object result = rows_.function(t, q_given_, v_given_);
    const std::size_t width = n_inputs_ ? n_inputs_ : nv_;
    const bool ready =
        is_ready(result, static_cast<int>(width)) && PyArray_NDIM(reinterpret_cast<PyArrayObject*>(result.ptr())) == 1;
    if (!ready) {
      rows_.set(t, result);
      return;
    }
    const auto* from = static_cast<const double*>(PyArray_DATA(reinterpret_cast<PyArrayObject*>(result.ptr())));
    auto *all_tau = const_cast<double*>(rows_.tau.data()), *all_inputs = const_cast<double*>(rows_.inputs.data());
    if (n_inputs_) std::fill(all_tau, all_tau + nv_, 0.0);
    std::copy(from, from + width, n_inputs_ ? all_inputs : all_tau);
  }

  // array ← x; a new one, unless nobody but us has the last one.
  static void give(const double* x, npy_intp size, nb::object& array) {
    if (!array.is_valid() || Py_REFCNT(array.ptr()) > 1) {
      array = nb::steal(PyArray_SimpleNew(1, &size, NPY_DOUBLE));
      if (!array.is_valid()) throw nb::python_error();
    }
    std::copy(x, x + size, static_cast<double*>(PyArray_DATA(reinterpret_cast<PyArrayObject*>(array.ptr()))));
  }

  const ForceRows& rows_;
  std::size_t nv_, n_inputs_;
  bool called_;
  ControlLaws* laws_ = nullptr;
  const double *row_tau_ = nullptr, *row_inputs_ = nullptr;
  mutable std::vector<double> sum_;
  std::vector<double> v_;
  mutable nb::object q_given_, v_given_;  // what the function was given last
};

}  // namespace symplectree
