// Steps in plain numbers, on rows of NumPy's arrays.
#include "linearization/coordinate_step.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings/kept_model.hpp"

namespace symplectree {
namespace {

class NativeNumberStep {
 public:
  NativeNumberStep(NativeModel& model, const MethodOptions& options, double dt, NumberSteps::Names names, bool quiet)
      : kept_(nb::find(model)),
        steps_(std::make_shared<NumberSteps>(
            model.layout(),
            [&model, options, dt] {
              return step_derivatives(model.model, model.map.get(), options, dt, std::vector<char>(model.model.nv));
            },
            std::move(names), quiet)) {}
  NativeNumberStep(const NativeNumberStep&) = delete;
  ~NativeNumberStep() {
    if (number_) StepRegistry::instance().remove(number_);
  }

  template <class Visit>
  int visit(const Visit& each) const {
    return each(kept_);
  }

  // The number by which compiled code finds the step, as long as this object lives; that is until Python ends, with
  // programs that may run until then, which is no leak to warn of.
  std::int64_t number() {
    nb::set_leak_warnings(false);
    if (!number_) number_ = StepRegistry::instance().add(steps_);
    return number_;
  }

  // None, or why there is no result: text, and residual and place of a step without solution. J and H may be empty.
  nb::object compute(In q, In p, In u, Out q1, Out p1, Out J, Out H) {
    const StepBuffers at{q.data(),
                         p.data(),
                         u.data(),
                         q1.data(),
                         p1.data(),
                         J.size() ? J.data() : nullptr,
                         H.size() ? H.data() : nullptr};
    RowFailure failure;
    {
      nb::gil_scoped_release unlocked;
      failure = steps_->compute(q.size() / steps_->nq(), at);
    }
    if (failure.text.empty()) return nb::none();
    return nb::make_tuple(failure.text, failure.no_solution, failure.residual, failure.worst);
  }

 private:
  nb::object kept_;
  std::shared_ptr<NumberSteps> steps_;
  std::int64_t number_ = 0;
};

}  // namespace

void bind_number_step(nb::module_& module) {
  nb::class_<NumberSteps::Names>(module, "NumberNames")
      .def(nb::init<std::vector<std::string>, std::vector<std::string>, std::string>(), nb::kw_only(),
           nb::arg("numbers"), nb::arg("equations"), nb::arg("solver"));
  nb::class_<NativeNumberStep>(module, "NumberStep", collected<NativeNumberStep>())
      .def(nb::init<NativeModel&, const MethodOptions&, double, NumberSteps::Names, bool>(), nb::arg("model"),
           nb::arg("options"), nb::arg("dt"), nb::arg("names"), nb::arg("quiet"))
      .def("compute", &NativeNumberStep::compute, nb::kw_only(), nb::arg("q"), nb::arg("p"), nb::arg("u"),
           nb::arg("q1"), nb::arg("p1"), nb::arg("J"), nb::arg("H"))
      .def_prop_ro("number", &NativeNumberStep::number);
}

}  // namespace symplectree
