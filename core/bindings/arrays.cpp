// Calls on rows of NumPy arrays.
#include "bindings/arrays.hpp"

namespace symplectree {
namespace {

int size_of(const Model& m, Over over) {
  if (over == Over::Configuration) return m.nq;
  return over == Over::Row ? m.rows : over == Over::Shape ? m.nv - 6 : over == Over::Nothing ? 0 : m.nv;
}
int size_of(const Model& m, const ResultAxis& axis) {
  int size = axis.size;
  for (const Over part : axis.parts)
    if (part != Over::Plain) size += size_of(m, part);
  return size;
}

bool all_finite(const double* p, npy_intp count) {
  double sum = 0;  // of zeros, unless something is not finite
  for (npy_intp k = 0; k < count; ++k) sum += 0 * p[k];
  return sum == 0;
}

// Rows of arguments carried to the tree, and of results carried back.
constexpr std::size_t kMost = 4;  // arguments of a kernel

class MappedRows {
 public:
  MappedRows(const CoordinateMap& map, std::span<const Rows> arguments, std::span<const ResultAxis> tail)
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
    const double* x[kMost] = {point_.q.data()};
    for (std::size_t i = 1; i < arguments_.size(); ++i) {
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
  std::span<const Rows> arguments_;
  std::span<const ResultAxis> tail_;
  MapPoint point_;
  std::array<std::vector<double>, kMost> carried_;
  std::vector<double> result_;
};

}  // namespace

bool is_ready(nb::handle given, int width) {
  if (!PyArray_Check(given.ptr())) return false;
  auto* array = reinterpret_cast<PyArrayObject*>(given.ptr());
  const int n = PyArray_NDIM(array);
  return PyArray_TYPE(array) == NPY_DOUBLE && PyArray_ISCARRAY_RO(array) && n > 0 && n < 8 &&
         PyArray_DIM(array, n - 1) == width &&
         all_finite(static_cast<double*>(PyArray_DATA(array)), PyArray_SIZE(array));
}

nb::object on_rows_call(NativeModel& self, std::span<const Rows> arguments, std::span<const ResultAxis> tail,
                        RowKernel call, const void* kernel, bool own) {
  const Model& layout = self.layout();
  for (const Rows& a : arguments)
    if (!is_ready(a.given, size_of(layout, a.over))) return nb::none();
  auto* first = reinterpret_cast<PyArrayObject*>(arguments[0].given.ptr());
  const int lead = PyArray_NDIM(first) - 1;
  npy_intp shape[16], count = 1, size = 1;
  for (int k = 0; k < lead; ++k) count *= shape[k] = PyArray_DIM(first, k);
  for (std::size_t k = 0; k < tail.size(); ++k) size *= shape[lead + k] = size_of(layout, tail[k]);
  const double* at[kMost];
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    auto* array = reinterpret_cast<PyArrayObject*>(arguments[i].given.ptr());
    if (PyArray_NDIM(array) != lead + 1) return nb::none();
    for (int k = 0; k < lead; ++k)
      if (PyArray_DIM(array, k) != shape[k]) return nb::none();
    at[i] = static_cast<const double*>(PyArray_DATA(array));
  }
  for (npy_intp row = 0; row < count && !layout.quaternions.empty(); ++row)
    if (has_zero_quaternion(layout, at[0] + row * layout.nq)) return nb::none();
  nb::object result = nb::steal(PyArray_ZEROS(lead + static_cast<int>(tail.size()), shape, NPY_DOUBLE, 0));
  if (!result.is_valid()) throw nb::python_error();
  auto* out = static_cast<double*>(PyArray_DATA(reinterpret_cast<PyArrayObject*>(result.ptr())));
  bool done = true;
  {
    nb::gil_scoped_release unlocked;
    auto loan = self.workspaces.borrow();
    const auto each = [&](auto&& row_of) {
      for (npy_intp row = 0; row < count && done; ++row, out += size) {
        done = row_of(static_cast<const double* const*>(at), out);
        for (std::size_t i = 0; i < arguments.size(); ++i) at[i] += size_of(layout, arguments[i].over);
      }
    };
    if (self.map && !own) {
      MappedRows mapped(*self.map, arguments, tail);
      each([&](auto x, double* to) {
        return mapped.call(x, to, [&](auto of_tree, double* result) { call(kernel, of_tree, result, *loan); });
      });
    } else {
      each([&](auto x, double* to) { return call(kernel, x, to, *loan), true; });
    }
  }
  return done ? result : nb::none();
}

}  // namespace symplectree
