// Problems of contact, as tests pose them.
#include <nanobind/stl/vector.h>

#include "bindings/native.hpp"
#include "contact/cone_problem.hpp"
#include "contact/impact.hpp"
#include "integrators/contact_forces.hpp"

namespace symplectree {
namespace {

constexpr std::size_t kNumbers = 14;  // of a record

nb::object table(const std::vector<double>& numbers, std::size_t width) {
  auto* data = new std::vector<double>(numbers);
  nb::capsule owner(data, [](void* p) noexcept { delete static_cast<std::vector<double>*>(p); });
  return nb::cast(nb::ndarray<nb::numpy, double>(data->data(), {data->size() / width, width}, owner));
}

// Of states (q, v) in rows, under forces tau and inputs in rows: records (row, source, index, gap, point, normal,
// force, slides), and what all of them do to velocities, in rows of `joint`. tau and accelerations `a` of prescribed
// coordinates have as many rows as q; all of a tree. Also how many states there are whose forces were not found.
nb::object contact_forces(NativeModel& self, In q, In v, In tau, In inputs, In a, In prescribed, Out joint) {
  const Model& m = self.model;
  const std::size_t count = q.size() / m.nq, controls = m.inputs ? inputs.size() / m.inputs : 1;
  if (v.size() != count * m.nv || tau.size() != v.size() || a.size() != v.size() || joint.size() != v.size() ||
      (controls != count && controls != 1))
    throw nb::value_error("wrong size");
  ContactForces forces(m);
  std::vector<char> marks(m.nv);
  for (std::size_t k = 0; k < prescribed.size(); ++k) marks[static_cast<int>(prescribed.data()[k])] = 1;
  forces.set_prescribed(marks);
  std::vector<double> out;
  int missed = 0;
  {
    nb::gil_scoped_release unlocked;
    for (std::size_t k = 0; k < count; ++k) {
      const std::size_t row = k * m.nv;
      missed += !forces.find(q.data() + k * m.nq, v.data() + row, tau.data() + row,
                             inputs.data() + (controls == 1 ? 0 : k * m.inputs), a.data() + row);
      std::copy(forces.joint.begin(), forces.joint.end(), joint.data() + row);
      for (const ContactForce& f : forces.all)
        out.insert(out.end(), {double(k), double(f.source), double(f.index), f.gap, f.point.x, f.point.y, f.point.z,
                               f.normal.x, f.normal.y, f.normal.z, f.force.x, f.force.y, f.force.z, double(f.slides)});
    }
  }
  return nb::make_tuple(table(out, kNumbers), missed);
}

}  // namespace

void bind_contact_forces(nb::class_<NativeModel>& cls) {
  cls.def("contact_forces", &contact_forces, nb::arg("q"), nb::arg("v"), nb::arg("tau"), nb::arg("inputs"),
          nb::arg("a"), nb::arg("prescribed"), nb::arg("joint"));
}

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
        if (bounds.size() != kinds.size()) throw nb::value_error("wrong size");
        for (std::size_t k = 0; k < kinds.size(); ++k) parts.push_back({kinds[k], bounds[k]});
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
  // x (rows) ← the impulses of an impact, for velocities u (rows) before it; returns whether there are some.
  module.def(
      "solve_impact",
      [](const std::vector<double>& frictions, const std::vector<double>& restitutions, In W, In u, Out x) {
        if (frictions.size() != restitutions.size()) throw nb::value_error("wrong size");
        std::vector<ImpactPart> parts;
        std::size_t n = 0;
        for (std::size_t k = 0; k < frictions.size(); ++k) {
          parts.push_back({frictions[k], restitutions[k]});
          n += frictions[k] > 0 ? 3 : 1;
        }
        if (W.size() != n * n || u.size() != n || x.size() != n) throw nb::value_error("wrong size");
        Impact impact;
        std::vector<double> found;
        const bool solved = impact.solve(parts, {W.data(), W.data() + n * n}, {u.data(), u.data() + n}, found);
        std::copy(found.begin(), found.end(), x.data());
        return solved;
      },
      nb::arg("frictions"), nb::arg("restitutions"), nb::arg("W"), nb::arg("u"), nb::arg("x"));
}

}  // namespace symplectree
