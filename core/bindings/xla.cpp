// The handler by which XLA, which JAX compiles to, takes steps: no Python, and no lock of its interpreter.
#include "bindings/xla_abi.hpp"

#include <initializer_list>

#include "bindings/native.hpp"
#include "linearization/coordinate_step.hpp"

namespace symplectree {
namespace {

xla::Error* error(const xla::Call& call, xla::ErrorCode code, const std::string& text) {
  xla::ErrorArguments arguments{sizeof(xla::ErrorArguments), nullptr, text.c_str(), code};
  return call.api->create_error(&arguments);
}

// The step whose number is the attribute "step".
std::shared_ptr<NumberSteps> called_step(const xla::Attributes& attributes) {
  for (std::int64_t k = 0; k < attributes.count; ++k) {
    const xla::Text& name = *attributes.names[k];
    if (std::string_view(name.start, name.length) != "step" || attributes.types[k] != xla::kScalar) continue;
    const auto* scalar = static_cast<const xla::Scalar*>(attributes.items[k]);
    if (scalar->type == xla::kS64) return StepRegistry::instance().find(*static_cast<std::int64_t*>(scalar->value));
  }
  return nullptr;
}

// Rows of numbers in arrays of which all but the last axes, those of one row, are the same.
class Arrays {
 public:
  explicit Arrays(const xla::Buffers& buffers) : buffers_(buffers) {}

  bool are(std::initializer_list<std::initializer_list<std::size_t>> shapes) {
    if (buffers_.count != static_cast<std::int64_t>(shapes.size())) return false;
    for (std::size_t k = 0; k < shapes.size(); ++k)
      if (!has_shape(k, shapes.begin()[k])) return false;
    return true;
  }
  std::size_t rows() const { return rows_; }
  double* operator[](int k) const { return static_cast<double*>(buffer(k).data); }

 private:
  const xla::Buffer& buffer(std::size_t k) const { return *static_cast<const xla::Buffer*>(buffers_.items[k]); }

  bool has_shape(std::size_t k, std::initializer_list<std::size_t> row) {
    const xla::Buffer& b = buffer(k);
    const std::int64_t lead = b.rank - static_cast<std::int64_t>(row.size());
    if (buffers_.types[k] != xla::kBuffer || b.type != xla::kF64 || lead < 0) return false;
    for (std::size_t i = 0; i < row.size(); ++i)
      if (b.shape[lead + static_cast<std::int64_t>(i)] != static_cast<std::int64_t>(row.begin()[i])) return false;
    std::size_t rows = 1;
    for (std::int64_t i = 0; i < lead; ++i) rows *= static_cast<std::size_t>(b.shape[i]);
    if (k == 0) rows_ = rows;
    return rows == rows_;
  }

  const xla::Buffers& buffers_;
  std::size_t rows_ = 0;
};

// (q, p, u) → (q', p'), or with J, or with J and H.
xla::Error* compute(const xla::Call& call) {
  const std::shared_ptr<NumberSteps> step = called_step(call.attributes);
  if (!step) return error(call, xla::kInternal, "the compiled function asks for a step that is not there");
  const std::size_t nq = step->nq(), nv = step->nv(), nu = step->nu(), nx = step->states(), m = step->numbers();
  Arrays in(call.arguments), out(call.results);
  const bool fits = in.are({{nq}, {nv}, {nu}}) && (out.are({{nq}, {nv}}) || out.are({{nq}, {nv}, {nx, m}}) ||
                                                   out.are({{nq}, {nv}, {nx, m}, {nx, m, m}}));
  if (!fits || in.rows() != out.rows())
    return error(call, xla::kInvalidArgument, "a step was called with arrays of other shapes than its model has");
  const std::int64_t count = call.results.count;
  const StepBuffers at{in[0], in[1], in[2], out[0], out[1], count > 2 ? out[2] : nullptr, count > 3 ? out[3] : nullptr};
  const RowFailure failure = step->compute(in.rows(), at);
  if (failure.text.empty()) return nullptr;
  return error(call, failure.no_solution ? xla::kFailedPrecondition : xla::kInvalidArgument, failure.text);
}

xla::Error* handle(xla::Call* call) {
  if (xla::answer_metadata(*call)) return nullptr;
  if (call->struct_size < sizeof(xla::Call))
    return error(*call, xla::kInternal, "this XLA calls steps in a way that is not known; report its version");
  if (call->stage != xla::kExecute) return nullptr;
  try {
    return compute(*call);
  } catch (const nb::python_error& e) {  // of an element that is a function of Python
    return error(*call, xla::kInternal, e.what());
  } catch (const std::exception& e) {
    return error(*call, xla::kInternal, e.what());
  }
}

}  // namespace

void bind_xla(nb::module_& module) {
  module.def("xla_handler", [] { return nb::capsule(reinterpret_cast<void*>(&handle)); });
}

}  // namespace symplectree
