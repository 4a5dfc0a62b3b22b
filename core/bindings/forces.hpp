// Forces that users apply during a run.
#pragma once

#include "bindings/native.hpp"

namespace symplectree {

// Forces of a call: rows of generalized forces and of inputs (one for all steps, or one per step), or a function of
// Python that reads `q`, `v` and writes the rows.
struct Forces {
  const Model& m;
  In tau, inputs;
  nb::object function;
  Out q_buffer, v_buffer;
  std::size_t tau_rows, input_rows;

  Forces(const Model& model, In t, In u, nb::object f, Out q, Out v)
      : m(model),
        tau(t),
        inputs(u),
        function(std::move(f)),
        q_buffer(q),
        v_buffer(v),
        tau_rows(t.size() / m.nv),
        input_rows(m.inputs ? u.size() / m.inputs : 0) {}

  bool asks() const { return !function.is_none(); }
  const double* tau_of(int k) const { return tau.data() + (tau_rows > 1 ? k : 0) * m.nv; }
  const double* inputs_of(int k) const { return inputs.data() + (input_rows > 1 ? k : 0) * m.inputs; }

  void ask(double t, const double* q, const double* v) const {
    nb::gil_scoped_acquire lock;
    std::copy(q, q + m.nq, q_buffer.data());
    std::copy(v, v + m.nv, v_buffer.data());
    function(t);
  }
};

}  // namespace symplectree
