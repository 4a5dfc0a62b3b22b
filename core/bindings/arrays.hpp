// Calls on rows of NumPy arrays with little overhead: a call with ready arrays costs a few tenths of a microsecond.
//
// NumPy's own interface is used here, because a generic array exchange takes longer than a small mechanism's dynamics.
#pragma once

#define NPY_NO_DEPRECATED_API NPY_1_7_API_VERSION
#define PY_ARRAY_UNIQUE_SYMBOL symplectree_array_api
#ifndef SYMPLECTREE_IMPORT_ARRAY
#define NO_IMPORT_ARRAY
#endif
#include <numpy/arrayobject.h>

#include <array>
#include <span>

#include "bindings/native.hpp"

namespace symplectree {

// What the numbers of an axis belong to. Where coordinates follow others (model/coordinate_map.hpp), arguments are
// carried to the tree, accelerations with the velocities before them, and results are carried back.
enum class Over { Nothing, Plain, Configuration, Velocity, Acceleration, Force, Shape, Row };

// An argument: rows of as many numbers as `over` has.
struct Rows {
  nb::handle given;
  Over over;
};

// An axis of a result, of up to three parts in a row; `size` of those that are plain. Shape: forces without the root's.
struct ResultAxis {
  std::array<Over, 3> parts;
  int size = 0;

  ResultAxis(Over first, Over second = Over::Nothing, Over third = Over::Nothing) : parts{first, second, third} {}
  ResultAxis(int plain) : parts{Over::Plain, Over::Nothing, Over::Nothing}, size(plain) {}
};

template <class... Each>
std::array<ResultAxis, sizeof...(Each)> axes(Each... each) {
  return {ResultAxis(each)...};
}

// Is it a C-contiguous array of doubles that ends with an axis of `width`, all finite?
bool is_ready(nb::handle given, int width);

// A function of rows: pointers to the arguments' rows, pointer to the result's row, workspace.
using RowKernel = void (*)(const void* self, const double* const* x, double* out, Workspace<double>& w);

nb::object on_rows_call(NativeModel& self, std::span<const Rows> arguments, std::span<const ResultAxis> tail,
                        RowKernel call, const void* kernel, bool own);

// Calls kernel(pointers to the arguments' rows, pointer to the result's row, workspace) for each row and returns the
// result, of the arguments' leading shape and `tail`. Returns None when an argument is not ready (another type, not
// contiguous, not finite, another leading shape): the caller then prepares it, or says what is wrong with it. The first
// argument is always q. `own`: the kernel takes the model's own coordinates, also where some follow others.
template <class Kernel>
nb::object on_rows(NativeModel& self, std::span<const Rows> arguments, std::span<const ResultAxis> tail,
                   const Kernel& kernel, bool own = false) {
  const RowKernel call = [](const void* of, const double* const* x, double* out, Workspace<double>& w) {
    (*static_cast<const Kernel*>(of))(x, out, w);
  };
  return on_rows_call(self, arguments, tail, call, &kernel, own);
}

// Values of the model's inputs: zero for None, else a ready vector.
inline const double* inputs_or_zero(NativeModel& self, nb::handle inputs) {
  if (inputs.is_none()) return self.no_inputs.data();
  return static_cast<double*>(PyArray_DATA(reinterpret_cast<PyArrayObject*>(inputs.ptr())));
}

}  // namespace symplectree
