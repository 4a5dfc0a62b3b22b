// Runs of the integrators: their options, and many steps per call, of which every so many are recorded.
#include <nanobind/stl/vector.h>

#include <unordered_set>

#include "bindings/bound_run.hpp"
#include "bindings/forces.hpp"
#include "elements/element_forces.hpp"
#include "integrators/activated_run.hpp"
#include "integrators/actuated_run.hpp"
#include "integrators/composition.hpp"
#include "integrators/contact_run.hpp"
#include "integrators/force_function_run.hpp"
#include "integrators/make_run.hpp"
#include "integrators/mapped_run.hpp"
#include "integrators/subdivided_run.hpp"
#include "kinematics/retraction.hpp"
#include "model/user_elements.hpp"

namespace symplectree {
namespace {

// Prescribed coordinates at the ends of the stages of all steps of a call, rows of q and v, and accelerations at the
// beginning, middle and end of each step; empty when nothing is prescribed.
struct PrescribedRows {
  In targets, rates, accelerations;
  // function(t, h) writes the same of a part of a step into `part_…`, of which there is one row per stage, or three.
  nb::object function;
  Out part_targets, part_rates, part_accelerations;

  template <class Visit>
  int visit(const Visit& each) const {
    return each(function);
  }

  PrescribedMotion of_step(int k, int steps, const MotionParts& parts) const {
    if (!targets.size()) return {};
    const auto at = [k](const In& a, std::size_t width) { return a.size() ? a.data() + k * width : nullptr; };
    return {at(targets, targets.size() / steps), at(rates, rates.size() / steps),
            at(accelerations, 2 * accelerations.shape(accelerations.ndim() - 1)), &parts};
  }
};

// Prescribed motions over parts of steps, asked of Python.
class CalledMotion final : public MotionParts {
 public:
  explicit CalledMotion(const PrescribedRows& rows) : rows_(rows) {}
  PrescribedMotion over(double t, double h) const override {
    nb::gil_scoped_acquire lock;
    rows_.function(t, h);
    return {rows_.part_targets.data(), rows_.part_rates.data(), rows_.part_accelerations.data(), this};
  }

 private:
  const PrescribedRows& rows_;
};

// Where a call writes a row for every so many steps: the state with its activations, and how many iterations and
// halvings it took, at their end; multipliers and reactions, which may be empty, at their beginning.
struct Recording {
  Out q, x, counts, multipliers, reactions, activations;

  void begin(std::size_t row, const RunReport& report) const {
    if (multipliers.size()) copy(report.multipliers, row, multipliers);
    if (reactions.size()) copy(report.reactions, row, reactions);
  }
  void end(std::size_t row, Run& run, long iterations, long halvings) const {
    copy(run.state().q, row, q), copy(run.state().x, row, x);
    if (activations.size()) copy(*run.activations(), row, activations);
    if (!counts.size()) return;
    counts.data()[2 * row] = static_cast<double>(iterations);
    counts.data()[2 * row + 1] = static_cast<double>(halvings);
  }

 private:
  static void copy(const std::vector<double>& from, std::size_t row, const Out& to) {
    std::copy(from.begin(), from.end(), to.data() + row * from.size());
  }
};

// A run in use by one caller: others, in another thread or in a function that the run calls, are refused. Made and
// destroyed with Python's lock held, which guards the set.
class InUse {
 public:
  explicit InUse(const Run& run) : run_(&run) {
    if (!runs().insert(run_).second)
      throw std::runtime_error("this run is inside a step, in another thread or in a function that it has called");
  }
  InUse(const InUse&) = delete;
  ~InUse() { runs().erase(run_); }

 private:
  static std::unordered_set<const Run*>& runs() {
    static std::unordered_set<const Run*> set;
    return set;
  }
  const Run* run_;
};

// Takes `steps` steps of dt, of which the first is number `first`; returns how many were taken. Whatever a function of
// the user's throws, the state is then that before the step.
int advance(BoundRun& of, double dt, std::int64_t first, int steps, int save_every, const ForceRows& force_rows,
            const PrescribedRows& prescribed, const Recording& recording) {
  Run& run = *of;
  RowForces forces(force_rows);
  const CalledMotion parts(prescribed);
  const InUse used(run);
  nb::gil_scoped_release unlocked;
  RunState start = run.state();
  const bool may_throw = run.may_throw || forces.varies() || prescribed.targets.size() > 0;
  long iterations = run.report().iterations, halvings = run.report().halvings;
  for (int k = 0; k < steps; ++k) {
    forces.choose_step(k, first + k, (first + k) * dt, dt, run);
    if (may_throw) start = run.state();
    try {
      if (!run.step((first + k) * dt, dt, forces, prescribed.of_step(k, steps, parts))) return k;
    } catch (...) {
      run.reset(start.q.data(), start.x.data(), start.rates.data());
      run.set_last_step_length(start.last_step_length);
      throw;
    }
    const std::size_t row = k / save_every;
    const RunReport& report = run.report();
    if (k % save_every == 0) recording.begin(row, report);
    if ((k + 1) % save_every != 0) continue;
    recording.end(row, run, report.iterations - iterations, report.halvings - halvings);
    iterations = report.iterations, halvings = report.halvings;
  }
  return steps;
}

StepCode step_code(std::uint64_t direction, std::uint64_t check, int work) {
  const auto function = [](std::uint64_t address) { return reinterpret_cast<StepCode::Function>(address); };
  return {function(direction), function(check), work};
}

// The run, which knows whether its model calls Python.
BoundRun ready(const NativeModel& model, std::unique_ptr<Run> run) {
  for (const UserElement& user : model.model.users) run->may_throw |= user.tapes.empty();
  return {model, std::move(run)};
}

// The run of a model, where coordinates follow others in the independent ones; a step has so many stages.
BoundRun made(NativeModel& model, std::unique_ptr<Run> run, MappedRun::Second second, int stages,
              const In& prescribed) {
  const auto impacts = run->impacts;
  if (model.map) run = std::make_unique<MappedRun>(*model.map, std::move(run), second, stages);
  run->impacts = impacts;
  run = run_with_activations(model.model, model.layout(), std::move(run));
  run->set_prescribed(model.marked(prescribed));
  return ready(model, std::move(run));
}

// A run whose steps are divided where they are too long, unless the options say that none may be.
std::unique_ptr<Run> divided(const Model& m, std::unique_ptr<Run> run, const MethodOptions& options,
                             Subdivision::Method method, bool turning) {
  if (options.substeps == 0) return run;
  const auto impacts = run->impacts;
  run = std::make_unique<SubdividedRun>(
      m, std::move(run), Subdivision{options.accuracy, options.order, options.substeps, method, turning});
  run->impacts = impacts;
  return run;
}

// What makes runs of a model and of its variants: `make`, with actuators at their limits where there are any.
RunMaker with_limits(RunMaker make) {
  return [make](const Model& m) { return run_with_limits(m, make); };
}

// A run with impulses of what only pushes or rubs about its steps, where the model has such.
std::unique_ptr<Run> with_contact(const Model& m, const MethodOptions& options, std::unique_ptr<Run> run) {
  if (!m.has_unilateral()) return run;
  return std::make_unique<ContactRun>(m, std::move(run), options.located, options.substeps);
}

// Steps of an action, each a composition of `stages`, fractions of it.
BoundRun variational_run(NativeModel& model, const MethodOptions& options, In stages, In prescribed,
                         const StepCode* code) {
  const Model& m = model.model;
  const auto make = with_limits([options](const Model& given) { return newton_run(given, options); });
  std::unique_ptr<Run> run =
      std::make_unique<ForceFunctionRun>(m, code ? compiled_run(m, options, *code) : make(m), make);
  run = run_with_means(m, std::move(run));
  if (stages.size() > 1)
    run = std::make_unique<Composition>(m, std::move(run),
                                        std::vector<double>(stages.data(), stages.data() + stages.size()));
  run = with_contact(m, options, std::move(run));
  const bool turning = options.action == Action::Cayley || options.action == Action::Chord;
  using Method = Subdivision::Method;
  run = divided(m, std::move(run), options, stages.size() > 1 ? Method::Composition : Method::Newton, turning);
  return made(model, std::move(run), MappedRun::Second::Momentum, static_cast<int>(stages.size()), prescribed);
}

// Steps of Lobatto's pair, and by compositions of `fractions` where these do not serve.
BoundRun lobatto_run_of(NativeModel& model, const MethodOptions& options, const MethodOptions& composed, In fractions,
                        In prescribed) {
  const Model& m = model.model;
  const auto make = with_limits([composed](const Model& given) { return newton_run(given, composed); });
  const std::vector<double> parts(fractions.data(), fractions.data() + fractions.size());
  const int stages = options.order / 2 + 1;
  std::unique_ptr<Run> run =
      std::make_unique<Composition>(m, std::make_unique<ForceFunctionRun>(m, make(m), make), parts);
  run = lobatto_run(m, options, stages, std::move(run));
  run = with_contact(m, options, std::move(run));
  run = divided(m, std::move(run), options, Subdivision::Method::Collocation, false);
  const int rows = stages - 1 + static_cast<int>(parts.size());
  return made(model, std::move(run), MappedRun::Second::Momentum, rows, prescribed);
}

void bind_options(nb::module_& module) {
  module.attr("LONGEST_TURN") = kLongestTurn;
  nb::enum_<Action>(module, "Action")
      .value("cayley", Action::Cayley)
      .value("chord", Action::Chord)
      .value("exp", Action::Exponential)
      .value("midpoint", Action::Midpoint)
      .value("reduced", Action::Reduced);
  nb::enum_<Solver>(module, "Solver")
      .value("newton", Solver::Newton)
      .value("riqn", Solver::Riqn)
      .value("broyden", Solver::Broyden)
      .value("dense", Solver::Dense);
  nb::enum_<Guess>(module, "Guess")
      .value("extrapolate", Guess::Extrapolate)
      .value("current", Guess::Current)
      .value("velocity", Guess::Velocity)
      .value("acceleration", Guess::Acceleration);
  nb::enum_<Retraction>(module, "Retraction").value("cayley", Retraction::Cayley).value("exp", Retraction::Exp);
  nb::enum_<ClassicalMethod>(module, "ClassicalMethod")
      .value("semi_implicit_euler", ClassicalMethod::SemiImplicitEuler)
      .value("rk4", ClassicalMethod::RungeKutta4);
  const MethodOptions usual;
  nb::class_<MethodOptions>(module, "MethodOptions")
      .def(nb::init<Action, double, Retraction, Solver, Guess, double, int, int, double, int, bool>(), nb::kw_only(),
           nb::arg("action") = usual.action, nb::arg("alpha") = usual.alpha, nb::arg("retraction") = usual.retraction,
           nb::arg("solver") = usual.solver, nb::arg("guess") = usual.guess, nb::arg("tolerance") = usual.tolerance,
           nb::arg("max_iterations") = usual.max_iterations, nb::arg("substeps") = usual.substeps,
           nb::arg("accuracy") = usual.accuracy, nb::arg("order") = usual.order, nb::arg("located") = usual.located);
  nb::class_<StepCode>(module, "StepCode")
      .def(nb::new_(&step_code), nb::kw_only(), nb::arg("direction"), nb::arg("check"), nb::arg("work"));
}

void bind_rows(nb::module_& module) {
  nb::class_<ForceRows>(module, "ForceRows", collected<ForceRows>())
      .def(nb::init<In, In, nb::object, nb::object, nb::object, int>(), nb::kw_only(), nb::arg("tau"),
           nb::arg("inputs"), nb::arg("function").none(), nb::arg("set").none(), nb::arg("laws").none(), nb::arg("nq"));
  nb::class_<PrescribedRows>(module, "PrescribedRows", collected<PrescribedRows>())
      .def(nb::init<In, In, In, nb::object, Out, Out, Out>(), nb::kw_only(), nb::arg("targets"), nb::arg("rates"),
           nb::arg("accelerations"), nb::arg("function").none(), nb::arg("part_targets"), nb::arg("part_rates"),
           nb::arg("part_accelerations"));
  nb::class_<Recording>(module, "Recording")
      .def(nb::init<Out, Out, Out, Out, Out, Out>(), nb::kw_only(), nb::arg("q"), nb::arg("x"), nb::arg("counts"),
           nb::arg("multipliers"), nb::arg("reactions"), nb::arg("activations"));
}

}  // namespace

void bind_variational(nb::module_& module) {
  bind_options(module);
  bind_rows(module);
  nb::class_<BoundRun>(module, "Run", collected<BoundRun>())
      .def("reset",
           [](BoundRun& r, In q, In x, In rates) {
             const InUse used(*r);
             r->reset(q.data(), x.data(), rates.data());
           })
      .def("set_last_step_length",
           [](BoundRun& r, double h) {
             const InUse used(*r);
             r->set_last_step_length(h);
           })
      .def("advance", &advance, nb::kw_only(), nb::arg("dt"), nb::arg("first"), nb::arg("steps"), nb::arg("save_every"),
           nb::arg("forces"), nb::arg("prescribed"), nb::arg("recording"))
      .def("velocity",
           [](BoundRun& r, Out v) {
             const InUse used(*r);
             r->velocity(v.data());
           })
      .def("state",
           [](const BoundRun& r, Out q, Out x) {
             const InUse used(*r);
             std::copy(r->state().q.begin(), r->state().q.end(), q.data());
             std::copy(r->state().x.begin(), r->state().x.end(), x.data());
           })
      .def("set_activations",
           [](BoundRun& r, In given) {
             const InUse used(*r);
             if (r->activations()) r->activations()->assign(given.data(), given.data() + given.size());
           })
      .def("activations",
           [](BoundRun& r, Out to) {
             const InUse used(*r);
             if (r->activations()) std::copy(r->activations()->begin(), r->activations()->end(), to.data());
           })
      .def("memory",
           [](BoundRun& r) {
             const InUse used(*r);
             RunMemory memory;
             r->carry(memory);
             return memory.numbers;
           })
      .def("recall",
           [](BoundRun& r, In numbers) {
             const InUse used(*r);
             RunMemory memory(numbers.data(), numbers.size());
             r->carry(memory);
             if (!memory.at_end()) throw std::invalid_argument("too many numbers");
           })
      // Rows (t, of a contact 1 or of a joint limit 0, index, normal impulse, point, impulse, energy lost) since the
      // last call; 2 stands for a step that was taken roughly (integrators/contact_run.hpp).
      .def("take_impacts",
           [](BoundRun& r) {
             const InUse used(*r);
             std::vector<double> out;
             if (r->impacts) {
               for (const ImpactRecord& i : *r->impacts)
                 out.insert(out.end(), {i.t, double(i.contact), double(i.index), i.normal, i.point.x, i.point.y,
                                        i.point.z, i.impulse.x, i.impulse.y, i.impulse.z, i.lost});
               r->impacts->clear();
             }
             return out;
           })
      .def_prop_ro("parts", [](const BoundRun& r) { return r->report().parts; })
      .def_prop_ro("lowered", [](const BoundRun& r) { return r->report().lowered; })
      .def_prop_ro("feeding", [](const BoundRun& r) { return r->report().feeding; })
      .def_prop_ro("shortest", [](const BoundRun& r) { return r->report().shortest; })
      .def_prop_ro("residual", [](const BoundRun& r) { return r->report().residual; })
      .def_prop_ro("worst", [](const BoundRun& r) { return r->report().worst; })
      .def_prop_ro("largest_turn", [](const BoundRun& r) { return r->report().largest_turn; });
  module.def("variational_run", &variational_run, nb::arg("model"), nb::arg("options"), nb::arg("stages"),
             nb::arg("prescribed"), nb::arg("code").none() = nb::none());
  module.def("lobatto_run", &lobatto_run_of, nb::arg("model"), nb::arg("options"), nb::arg("composed"),
             nb::arg("fractions"), nb::arg("prescribed"));
  module.def(
      "collocation_run",
      [](NativeModel& model, const MethodOptions& options, const MethodOptions& shorter, int stages) {
        const Model& m = model.model;
        const auto make = [options, shorter, stages](const Model& given) {
          std::unique_ptr<Run> equal;
          const int count = 2 * stages + 1;
          if (has_damping(given))
            equal = std::make_unique<Composition>(given, newton_run(given, shorter),
                                                  std::vector<double>(count, 1.0 / count));
          return collocation_run(given, options, stages, std::move(equal));
        };
        std::unique_ptr<Run> run = std::make_unique<ForceFunctionRun>(m, make(m), make);
        run = with_contact(m, options, std::move(run));
        run = divided(m, std::move(run), options, Subdivision::Method::Collocation, false);
        return ready(model, run_with_activations(m, m, std::move(run)));
      },
      nb::arg("model"), nb::arg("options"), nb::arg("shorter"), nb::arg("stages"));
}

void bind_simulation(nb::class_<NativeModel>& cls) {
  cls.def(
      "classical_run",
      [](NativeModel& self, ClassicalMethod method, In prescribed) {
        return made(self, classical_run(self.model, method), MappedRun::Second::Velocity, 1, prescribed);
      },
      nb::arg("method"), nb::arg("prescribed"));
}

}  // namespace symplectree
