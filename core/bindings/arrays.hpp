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

#include "bindings/native.hpp"

namespace symplectree {

// An argument: rows of `width` numbers.
struct Rows {
  nb::handle given;
  int width;
};

inline bool all_finite(const double* p, npy_intp count) {
  double sum = 0;  // of zeros, unless something is not finite
  for (npy_intp k = 0; k < count; ++k) sum += 0 * p[k];
  return sum == 0;
}

// Is it a C-contiguous array of doubles that ends with an axis of `width`, all finite?
inline bool is_ready(const Rows& a) {
  if (!PyArray_Check(a.given.ptr())) return false;
  auto* array = reinterpret_cast<PyArrayObject*>(a.given.ptr());
  const int n = PyArray_NDIM(array);
  return PyArray_TYPE(array) == NPY_DOUBLE && PyArray_ISCARRAY_RO(array) && n > 0 && n < 8 &&
         PyArray_DIM(array, n - 1) == a.width &&
         all_finite(static_cast<double*>(PyArray_DATA(array)), PyArray_SIZE(array));
}

// Calls kernel(pointers to the arguments' rows, pointer to the result's row, workspace) for each row and returns the
// result, of the arguments' leading shape and `tail`. Returns None when an argument is not ready (another type, not
// contiguous, not finite, another leading shape): the caller then prepares it, or says what is wrong with it.
template <std::size_t N, std::size_t M, class Kernel>
nb::object on_rows(NativeModel& self, const std::array<Rows, N>& arguments, const std::array<int, M>& tail, bool zeroed,
                   Kernel&& kernel) {
  for (const Rows& a : arguments)
    if (!is_ready(a)) return nb::none();
  auto* first = reinterpret_cast<PyArrayObject*>(arguments[0].given.ptr());
  const int lead = PyArray_NDIM(first) - 1;
  npy_intp shape[16], count = 1, size = 1;
  for (int k = 0; k < lead; ++k) count *= shape[k] = PyArray_DIM(first, k);
  for (std::size_t k = 0; k < M; ++k) size *= shape[lead + k] = tail[k];
  const double* at[N];
  for (std::size_t i = 0; i < N; ++i) {
    auto* array = reinterpret_cast<PyArrayObject*>(arguments[i].given.ptr());
    if (PyArray_NDIM(array) != lead + 1) return nb::none();
    for (int k = 0; k < lead; ++k)
      if (PyArray_DIM(array, k) != shape[k]) return nb::none();
    at[i] = static_cast<const double*>(PyArray_DATA(array));
  }
  for (npy_intp row = 0; row < count && !self.model.quaternions.empty(); ++row)  // the first argument is always q
    if (has_zero_quaternion(self.model, at[0] + row * self.model.nq)) return nb::none();
  const int n = lead + static_cast<int>(M);
  PyObject* result = zeroed ? PyArray_ZEROS(n, shape, NPY_DOUBLE, 0) : PyArray_SimpleNew(n, shape, NPY_DOUBLE);
  if (!result) throw nb::python_error();
  auto* out = static_cast<double*>(PyArray_DATA(reinterpret_cast<PyArrayObject*>(result)));
  {
    nb::gil_scoped_release unlocked;
    auto loan = self.workspaces.borrow();
    for (npy_intp row = 0; row < count; ++row) {
      kernel(static_cast<const double* const*>(at), out, *loan);
      for (std::size_t i = 0; i < N; ++i) at[i] += arguments[i].width;
      out += size;
    }
  }
  return nb::steal(result);
}

// Values of the model's inputs: zero for None, else a ready vector.
inline const double* inputs_or_zero(NativeModel& self, nb::handle inputs) {
  if (inputs.is_none()) return self.no_inputs.data();
  return static_cast<double*>(PyArray_DATA(reinterpret_cast<PyArrayObject*>(inputs.ptr())));
}

}  // namespace symplectree
