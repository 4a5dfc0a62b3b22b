// Activations over one step, on arrays.
#include "elements/activation.hpp"

#include "bindings/native.hpp"
#include "model/rows/all_rows.hpp"
#include "scalar/dual.hpp"

namespace symplectree {
namespace {

// Rows of out (activations × 6), under constant inputs and over the time h: the activation at the end, its mean, and
// the derivatives of both in the activation at the beginning and in the control.
void activation_step(const NativeModel& self, In activations, In inputs, double h, Out out) {
  const std::vector<int> active = active_actuators(self.model);
  for (std::size_t k = 0; k < active.size(); ++k) {
    const Actuator& of = self.model.actuators[active[k]];
    const double a = activations.data()[k], given = inputs.data()[of.input], u = clamped(given, of.control_range);
    const Dual by_a[2] = {{a, 1.0}, {u, 0.0}}, by_u[2] = {{a, 0.0}, {u, u == given ? 1.0 : 0.0}};
    const Dual end_a = activation_after(of, by_a[0], by_a[1], h), mean_a = mean_activation(of, by_a[0], by_a[1], h);
    const Dual end_u = activation_after(of, by_u[0], by_u[1], h), mean_u = mean_activation(of, by_u[0], by_u[1], h);
    const double row[6] = {end_a.value, mean_a.value, end_a.slope, end_u.slope, mean_a.slope, mean_u.slope};
    std::copy(row, row + 6, out.data() + 6 * k);
  }
}

}  // namespace

void bind_activations(nb::class_<NativeModel>& cls) {
  cls.def("activation_step", &activation_step, nb::arg("activations"), nb::arg("inputs"), nb::arg("h"), nb::arg("out"));
}

}  // namespace symplectree
