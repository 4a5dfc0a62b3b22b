// Control laws of symplectree/integrators/controllers.py.
#include "integrators/control_laws.hpp"

#include "bindings/kept_model.hpp"

namespace symplectree {
namespace {

std::vector<double> numbers(const In& a) { return {a.data(), a.data() + a.size()}; }

Signal signal(const In& times, const In& rows, bool hold) {
  return {numbers(times), numbers(rows), rows.size() / times.size(), hold};
}

// The laws of one run, and the model whose parts they point to.
struct NativeLaws {
  NativeModel& model;
  nb::object kept;
  ControlLaws laws;

  explicit NativeLaws(NativeModel& of) : model(of), kept(nb::find(of)), laws(of.layout()) {}
  NativeLaws(const NativeLaws&) = delete;
  template <class Visit>
  int visit(const Visit& each) const {
    return each(kept);
  }
};

}  // namespace

ControlLaws& control_laws(nb::handle given) { return nb::cast<NativeLaws&>(given).laws; }

void bind_control_laws(nb::module_& module) {
  nb::class_<NativeLaws>(module, "ControlLaws", collected<NativeLaws>())
      .def(nb::init<NativeModel&>(), nb::arg("model"))
      .def(
          "add_pid",
          [](NativeLaws& self, int q, int v, int place, In gains, In times, In target, bool hold, In limits) {
            const double *k = gains.data(), *l = limits.data();
            self.laws.add(pid_law({q, v, place, k[0], k[1], k[2], signal(times, target, hold), {l[0], l[1]}}));
          },
          nb::kw_only(), nb::arg("q"), nb::arg("v"), nb::arg("place"), nb::arg("gains"), nb::arg("times"),
          nb::arg("target"), nb::arg("hold"), nb::arg("limits"))
      .def(
          "add_table",
          [](NativeLaws& self, int place, In times, In rows, bool hold) {
            self.laws.add(table_law(signal(times, rows, hold), place));
          },
          nb::kw_only(), nb::arg("place"), nb::arg("times"), nb::arg("rows"), nb::arg("hold"))
      .def(
          "add_feedback",
          [](NativeLaws& self, int place, In gains, In q, In p, In forces, In low, In high, double dt) {
            FeedbackRows rows{numbers(gains),
                              numbers(q),
                              numbers(p),
                              numbers(forces),
                              numbers(low),
                              numbers(high),
                              place,
                              static_cast<int>(low.size()),
                              dt};
            self.laws.add(feedback_law(self.model.model, self.model.map.get(), std::move(rows)));
          },
          nb::kw_only(), nb::arg("place"), nb::arg("gains"), nb::arg("q"), nb::arg("p"), nb::arg("forces"),
          nb::arg("low"), nb::arg("high"), nb::arg("dt"))
      // tau, inputs += the laws' at one instant of step number `step`; `begins`: at its beginning.
      .def(
          "add_to",
          [](NativeLaws& self, long step, double t, double dt, In q, In v, Out tau, Out inputs, bool begins) {
            ControlLaws& laws = self.laws;
            if (begins) laws.begin({step, t, dt, q.data(), v.data()});
            laws.update(t, q.data(), v.data());
            const std::size_t nv = tau.size();
            for (std::size_t j = 0; j < laws.held.size(); ++j)
              (j < nv ? tau.data()[j] : inputs.data()[j - nv]) += laws.held[j] + laws.moving[j];
          },
          nb::kw_only(), nb::arg("step"), nb::arg("t"), nb::arg("dt"), nb::arg("q"), nb::arg("v"), nb::arg("tau"),
          nb::arg("inputs"), nb::arg("begins"))
      .def_prop_ro("varies", [](const NativeLaws& self) { return self.laws.varies(); })
      .def("memory",
           [](NativeLaws& self) {
             RunMemory memory;
             self.laws.carry(memory);
             nb::list out;
             for (const double x : memory.numbers) out.append(x);
             return out;
           })
      .def("recall", [](NativeLaws& self, In numbers) {
        RunMemory memory(numbers.data(), numbers.size());
        self.laws.carry(memory);
      });
}

}  // namespace symplectree
