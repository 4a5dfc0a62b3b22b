// What the binding files share: the model with its workspaces, and arrays from Python.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "model/coordinate_map.hpp"
#include "model/frame.hpp"
#include "model/model_arrays.hpp"
#include "model/pool.hpp"
#include "model/workspace.hpp"

namespace symplectree {

class Constrained;
struct Tape;
template <class T>
struct DerivativeWorkspace;
template <class T>
struct ElementWorkspace;
template <class T>
struct DualOf;

namespace nb = nanobind;

using In = nb::ndarray<const double, nb::c_contig, nb::device::cpu>;
using Out = nb::ndarray<double, nb::c_contig, nb::device::cpu>;

struct NativeModel {
  Model model;
  ModelArrays<double> arrays;  // that it was made of
  std::vector<Frame> frames;
  std::vector<double> no_inputs;
  std::unique_ptr<CoordinateMap> map;  // where coordinates follow others; then `model` is the tree of all of them
  std::vector<nb::object> functions;   // of Python, which elements in `model` call
  Pool<Workspace<double>> workspaces{model};
  Pool<DerivativeWorkspace<double>> derivative_workspaces{model};
  Pool<ElementWorkspace<double>> element_workspaces{model};
  Pool<ElementWorkspace<DualOf<double>>> dual_workspaces{model};
  Pool<Constrained> constrained{model};

  NativeModel();
  NativeModel(const NativeModel&) = delete;
  ~NativeModel();

  // Where the coordinates of callers lie, and how many there are.
  const Model& layout() const { return map ? map->layout : model; }

  // Marks (nv of the tree) of velocities by their indices.
  std::vector<char> marked(const In& velocities) const {
    std::vector<char> out(layout().nv);
    for (std::size_t k = 0; k < velocities.size(); ++k) out[static_cast<int>(velocities.data()[k])] = 1;
    return map ? map->marks(out) : out;
  }
};

// Does a row of q hold a quaternion that is not one?
inline bool has_zero_quaternion(const Model& m, const double* q) {
  for (int i : m.quaternions) {
    const Body& b = m.bodies[i];
    const double* p = q + b.q + (b.kind == Kind::Free ? 3 : 0);
    if (!(p[0] * p[0] + p[1] * p[1] + p[2] * p[2] + p[3] * p[3] > 1e-18)) return true;
  }
  return false;
}

// How many rows of `width` numbers an array has; all its numbers must be finite.
inline std::size_t rows(const In& a, int width) {
  const double* p = a.data();
  double sum = 0;  // of zeros, unless something is not finite
  for (std::size_t k = 0; k < a.size(); ++k) sum += 0 * p[k];
  if (sum != 0) throw nb::value_error("not finite");
  if (width == 0) return 0;
  if (a.size() % width != 0) throw nb::value_error("wrong length");
  return a.size() / width;
}

// A Tape of symplectree/formula/tape.py.
Tape tape(const nb::handle& given);

void bind_dynamics(nb::class_<NativeModel>& cls);
void bind_derivatives(nb::class_<NativeModel>& cls);
void bind_constraints(nb::class_<NativeModel>& cls);
void bind_sensors(nb::class_<NativeModel>& cls);
void bind_activations(nb::class_<NativeModel>& cls);
void bind_simulation(nb::class_<NativeModel>& cls);
void bind_variational(nb::module_& module);
void bind_stepper(nb::module_& module);
void bind_control_laws(nb::module_& module);
void bind_linearize(nb::module_& module);
void bind_number_step(nb::module_& module);
void bind_control(nb::module_& module);
void bind_xla(nb::module_& module);
void bind_picture(nb::module_& module);
void bind_contact(nb::module_& module);
void bind_contact_forces(nb::class_<NativeModel>& cls);
void bind_collision(nb::module_& module);
void bind_rollout(nb::module_& module);

}  // namespace symplectree
