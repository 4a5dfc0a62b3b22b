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

inline int size_of(const Model& m, Over over) {
  if (over == Over::Configuration) return m.nq;
  return over == Over::Row ? m.rows : over == Over::Shape ? m.nv - 6 : over == Over::Nothing ? 0 : m.nv;
}
inline int size_of(const Model& m, const ResultAxis& axis) {
  int size = axis.size;
  for (const Over part : axis.parts)
    if (part != Over::Plain) size += size_of(m, part);
  return size;
}

inline bool all_finite(const double* p, npy_intp count) {
  double sum = 0;  // of zeros, unless something is not finite
  for (npy_intp k = 0; k < count; ++k) sum += 0 * p[k];
  return sum == 0;
}

// Is it a C-contiguous array of doubles that ends with an axis of `width`, all finite?
inline bool is_ready(nb::handle given, int width) {
  if (!PyArray_Check(given.ptr())) return false;
  auto* array = reinterpret_cast<PyArrayObject*>(given.ptr());
  const int n = PyArray_NDIM(array);
  return PyArray_TYPE(array) == NPY_DOUBLE && PyArray_ISCARRAY_RO(array) && n > 0 && n < 8 &&
         PyArray_DIM(array, n - 1) == width &&
         all_finite(static_cast<double*>(PyArray_DATA(array)), PyArray_SIZE(array));
}

// Rows of arguments carried to the tree, and of results carried back.
template <std::size_t N, std::size_t M>
class MappedRows {
 public:
  MappedRows(const CoordinateMap& map, const std::array<Rows, N>& arguments, const std::array<ResultAxis, M>& tail)
      : map_(map), arguments_(arguments), tail_(tail) {
    std::size_t size = 1;
    for (const ResultAxis& axis : tail) size *= size_of(map.tree(), axis);
    result_.resize(size);
    for (std::vector<double>& x : carried_) x.resize(map.tree().nv);
  }

  // Calls kernel(pointers to the tree's arguments, pointer to its result); false where a follower has no value.
  template <class Kernel>
  bool call(const double* const* at, double* out, Kernel&& kernel) {
    map_.evaluate(at[0], point_);
    if (!all_finite(point_.q.data(), point_.q.size())) return false;
    const double* x[N] = {point_.q.data()};
    for (std::size_t i = 1; i < N; ++i) {
      double* to = carried_[i].data();
      if (arguments_[i].over == Over::Velocity) map_.velocity(point_, at[i], to);
      if (arguments_[i].over == Over::Acceleration) map_.acceleration(point_, at[i - 1], at[i], to);
      if (arguments_[i].over == Over::Force) map_.place(at[i], to);
      x[i] = to;
    }
    std::fill(result_.begin(), result_.end(), 0.0);
    kernel(static_cast<const double* const*>(x), result_.data());
    carry_back(out);
    return true;
  }

 private:
  void carry_back(double* out) const {
    std::vector<double> result = result_;
    std::size_t outer = 1, inner = result.size();
    for (const ResultAxis& axis : tail_) {
      inner /= std::max(size_of(map_.tree(), axis), 1);
      result = along(axis)(result.data(), outer, inner);
      outer *= size_of(map_.layout, axis);
    }
    std::copy(result.begin(), result.end(), out);
  }

  AxisMap along(const ResultAxis& axis) const {
    AxisMap out(axis.size);
    for (const Over part : axis.parts) {
      if (part == Over::Velocity) out = out + map_.independent_v;
      if (part == Over::Row) out = out + map_.rows;
      if (part == Over::Force) out = out + map_.sum(point_.first);
      if (part == Over::Shape) out = out + map_.shape(point_.first);
    }
    return out;
  }

  const CoordinateMap& map_;
  const std::array<Rows, N>& arguments_;
  const std::array<ResultAxis, M>& tail_;
  MapPoint point_;
  std::array<std::vector<double>, N> carried_;
  std::vector<double> result_;
};

// Calls kernel(pointers to the arguments' rows, pointer to the result's row, workspace) for each row and returns the
// result, of the arguments' leading shape and `tail`. Returns None when an argument is not ready (another type, not
// contiguous, not finite, another leading shape): the caller then prepares it, or says what is wrong with it. The first
// argument is always q. `own`: the kernel takes the model's own coordinates, also where some follow others.
template <std::size_t N, std::size_t M, class Kernel>
nb::object on_rows(NativeModel& self, const std::array<Rows, N>& arguments, const std::array<ResultAxis, M>& tail,
                   Kernel&& kernel, bool own = false) {
  const Model& layout = self.layout();
  for (const Rows& a : arguments)
    if (!is_ready(a.given, size_of(layout, a.over))) return nb::none();
  auto* first = reinterpret_cast<PyArrayObject*>(arguments[0].given.ptr());
  const int lead = PyArray_NDIM(first) - 1;
  npy_intp shape[16], count = 1, size = 1;
  for (int k = 0; k < lead; ++k) count *= shape[k] = PyArray_DIM(first, k);
  for (std::size_t k = 0; k < M; ++k) size *= shape[lead + k] = size_of(layout, tail[k]);
  const double* at[N];
  for (std::size_t i = 0; i < N; ++i) {
    auto* array = reinterpret_cast<PyArrayObject*>(arguments[i].given.ptr());
    if (PyArray_NDIM(array) != lead + 1) return nb::none();
    for (int k = 0; k < lead; ++k)
      if (PyArray_DIM(array, k) != shape[k]) return nb::none();
    at[i] = static_cast<const double*>(PyArray_DATA(array));
  }
  for (npy_intp row = 0; row < count && !layout.quaternions.empty(); ++row)
    if (has_zero_quaternion(layout, at[0] + row * layout.nq)) return nb::none();
  nb::object result = nb::steal(PyArray_ZEROS(lead + static_cast<int>(M), shape, NPY_DOUBLE, 0));
  if (!result.is_valid()) throw nb::python_error();
  auto* out = static_cast<double*>(PyArray_DATA(reinterpret_cast<PyArrayObject*>(result.ptr())));
  bool done = true;
  {
    nb::gil_scoped_release unlocked;
    auto loan = self.workspaces.borrow();
    const auto each = [&](auto&& call) {
      for (npy_intp row = 0; row < count && done; ++row, out += size) {
        done = call(static_cast<const double* const*>(at), out);
        for (std::size_t i = 0; i < N; ++i) at[i] += size_of(layout, arguments[i].over);
      }
    };
    if (self.map && !own) {
      MappedRows<N, M> mapped(*self.map, arguments, tail);
      each([&](auto x, double* to) {
        return mapped.call(x, to, [&](auto of_tree, double* result) { kernel(of_tree, result, *loan); });
      });
    } else {
      each([&](auto x, double* to) { return kernel(x, to, *loan), true; });
    }
  }
  return done ? result : nb::none();
}

// Values of the model's inputs: zero for None, else a ready vector.
inline const double* inputs_or_zero(NativeModel& self, nb::handle inputs) {
  if (inputs.is_none()) return self.no_inputs.data();
  return static_cast<double*>(PyArray_DATA(reinterpret_cast<PyArrayObject*>(inputs.ptr())));
}

}  // namespace symplectree
