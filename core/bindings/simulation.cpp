// Runs of the classical methods: many steps per call, saving every so many.
#include "bindings/forces.hpp"
#include "integrators/classical.hpp"

namespace symplectree {
namespace {

// Advances (q, v) by `steps` and writes every `save_every`-th state; returns how many steps were finite.
int run(NativeModel& self, int method, double t0, double h, int first, int steps, int save_every, Out q, Out v,
        Out q_saved, Out v_saved, In tau, In inputs, nb::object function, Out q_buffer, Out v_buffer, In driven,
        In targets, In rates, In accelerations, Out multipliers, Out reactions) {
  const Model& m = self.model;
  const Forces forces(m, tau, inputs, std::move(function), q_buffer, v_buffer);
  nb::gil_scoped_release unlocked;
  auto loan = self.workspaces.borrow();
  auto& w = *loan;
  auto constrained_loan = self.constrained.borrow();
  Constrained& c = *constrained_loan;
  c.driven = marked(m, driven);
  const bool is_free = c.is_free();
  std::vector<double> scratch(3 * (m.nq + m.nv));
  for (int k = 0; k < steps; ++k) {
    const double t = t0 + (first + k) * h;
    const auto acceleration = [&](double at, const double* x, const double* u, double* a) {
      if (forces.asks()) forces.ask(at, x, u);
      if (is_free) return forward_dynamics(m, x, u, forces.tau_of(k), forces.inputs_of(k), a, w);
      if (driven.size()) {  // rows of beginning, middle and end of each step
        const int part = static_cast<int>(std::lround(2 * (at - t) / h));
        const double* given = accelerations.data() + static_cast<std::size_t>(2 * k + part) * m.nv;
        std::copy(given, given + m.nv, a);
      }
      c.acceleration(x, u, forces.tau_of(k), forces.inputs_of(k), a);
      if (at != t || k % save_every != 0) return;  // what is kept is of the beginning of each stretch
      const std::size_t row = k / save_every;
      std::copy(c.multipliers.begin(), c.multipliers.end(), multipliers.data() + row * m.rows);
      if (reactions.size()) c.reaction(x, u, a, forces.tau_of(k), forces.inputs_of(k), reactions.data() + row * m.nv);
    };
    if (method == 0) {
      step_semi_implicit(m, acceleration, t, h, q.data(), v.data(), scratch.data());
    } else {
      step_rk4(m, acceleration, t, h, q.data(), v.data(), scratch.data());
    }
    for (std::size_t i = 0; i < driven.size(); ++i) {
      const int j = static_cast<int>(driven.data()[i]);
      const Body& b = m.bodies[m.body_of[j]];
      const double* target = targets.data() + static_cast<std::size_t>(k) * m.nq;
      v.data()[j] = rates.data()[static_cast<std::size_t>(k) * m.nv + j];
      if (b.flat()) q.data()[b.q + j - b.v] = target[b.q + j - b.v];
      if (!b.flat() && j == b.v) std::copy(target + b.q, target + b.q + b.nq(), q.data() + b.q);
    }
    double sum = 0;
    for (int j = 0; j < m.nv; ++j) sum += 0 * v.data()[j];
    if (sum != 0) return k;
    if ((k + 1) % save_every == 0) {
      const std::size_t row = (k + 1) / save_every - 1;
      std::copy(q.data(), q.data() + m.nq, q_saved.data() + row * m.nq);
      std::copy(v.data(), v.data() + m.nv, v_saved.data() + row * m.nv);
    }
  }
  return steps;
}

}  // namespace

void bind_simulation(nb::class_<NativeModel>& cls) {
  cls.def("run_classical", &run, nb::arg("method"), nb::arg("t0"), nb::arg("h"), nb::arg("first"), nb::arg("steps"),
          nb::arg("save_every"), nb::arg("q"), nb::arg("v"), nb::arg("q_saved"), nb::arg("v_saved"), nb::arg("tau"),
          nb::arg("inputs"), nb::arg("function").none(), nb::arg("q_buffer"), nb::arg("v_buffer"), nb::arg("driven"),
          nb::arg("targets"), nb::arg("rates"), nb::arg("accelerations"), nb::arg("multipliers"), nb::arg("reactions"));
}

}  // namespace symplectree
