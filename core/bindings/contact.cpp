// Problems of contact, as tests pose them.
#include <nanobind/stl/vector.h>

#include "bindings/native.hpp"
#include "contact/cone_problem.hpp"

namespace symplectree {

void bind_contact(nb::module_& module) {
  using Kind = ConeProblem::Kind;
  nb::enum_<Kind>(module, "ConeKind")
      .value("limit", Kind::Limit)
      .value("friction", Kind::Friction)
      .value("disc", Kind::Disc)
      .value("contact", Kind::Contact);
  // x (rows) is where to begin, and the solution; returns whether it is one, and how many iterations it took.
  module.def(
      "solve_cone_problem",
      [](const std::vector<Kind>& kinds, const std::vector<double>& bounds, In W, In y0, Out x) {
        ConeProblem problem;
        std::vector<ConeProblem::Part> parts;
        for (std::size_t k = 0; k < kinds.size(); ++k) parts.push_back({kinds[k], bounds.at(k)});
        problem.begin(parts);
        const std::size_t n = problem.rows();
        if (W.size() != n * n || y0.size() != n || x.size() != n) throw nb::value_error("wrong size");
        std::copy(W.data(), W.data() + n * n, problem.W.begin());
        std::copy(y0.data(), y0.data() + n, problem.y0.begin());
        std::copy(x.data(), x.data() + n, problem.x.begin());
        const bool solved = problem.solve();
        std::copy(problem.x.begin(), problem.x.end(), x.data());
        return nb::make_tuple(solved, problem.iterations);
      },
      nb::arg("kinds"), nb::arg("bounds"), nb::arg("W"), nb::arg("y0"), nb::arg("x"));
}

}  // namespace symplectree
