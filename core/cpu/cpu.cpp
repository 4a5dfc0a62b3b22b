// The module symplectree._cpu: which instructions of x86-64 this machine and its operating system have. It stands apart
// from the core, because every machine must be able to load it. `src/symplectree/cores.py` says what they are needed
// for.
#include <Python.h>
#include <cpuid.h>

#include <cstdint>

namespace {

struct Feature {
  const char* name;
  unsigned leaf;
  int reg;  // of eax, ebx, ecx and edx
  int bit;
  std::uint64_t registers;  // that the operating system must keep, as bits of XCR0
};

constexpr std::uint64_t kAvx = 0x06, kAvx512 = 0xe6;
constexpr Feature kFeatures[] = {
    {"sse3", 1, 2, 0, 0},
    {"ssse3", 1, 2, 9, 0},
    {"fma", 1, 2, 12, kAvx},
    {"cx16", 1, 2, 13, 0},
    {"sse4_1", 1, 2, 19, 0},
    {"sse4_2", 1, 2, 20, 0},
    {"movbe", 1, 2, 22, 0},
    {"popcnt", 1, 2, 23, 0},
    {"avx", 1, 2, 28, kAvx},
    {"f16c", 1, 2, 29, kAvx},
    {"bmi1", 7, 1, 3, 0},
    {"avx2", 7, 1, 5, kAvx},
    {"bmi2", 7, 1, 8, 0},
    {"avx512f", 7, 1, 16, kAvx512},
    {"avx512dq", 7, 1, 17, kAvx512},
    {"avx512cd", 7, 1, 28, kAvx512},
    {"avx512bw", 7, 1, 30, kAvx512},
    {"avx512vl", 7, 1, 31, kAvx512},
    {"lahf_lm", 0x80000001, 2, 0, 0},
    {"lzcnt", 0x80000001, 2, 5, 0},
};

// Which registers the operating system keeps when it changes threads; none beyond SSE where it does not say.
std::uint64_t kept_registers() {
  unsigned r[4] = {};
  constexpr unsigned kOsxsave = 1u << 27;
  if (!__get_cpuid(1, &r[0], &r[1], &r[2], &r[3]) || !(r[2] & kOsxsave)) return 0;
  std::uint32_t low, high;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return static_cast<std::uint64_t>(high) << 32 | low;
}

bool has(const Feature& f, std::uint64_t kept) {
  unsigned r[4] = {};
  if (!__get_cpuid_count(f.leaf, 0, &r[0], &r[1], &r[2], &r[3])) return false;
  return (r[f.reg] >> f.bit & 1) && (f.registers & ~kept) == 0;
}

PyObject* features(PyObject*, PyObject*) {
  const std::uint64_t kept = kept_registers();
  PyObject* out = PyList_New(0);
  for (const Feature& f : kFeatures) {
    if (!out || !has(f, kept)) continue;
    PyObject* name = PyUnicode_FromString(f.name);
    if (!name || PyList_Append(out, name)) Py_CLEAR(out);
    Py_XDECREF(name);
  }
  return out;
}

PyMethodDef methods[] = {{"features", features, METH_NOARGS, "Names of the instructions that this machine has."}, {}};
PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_cpu", nullptr, 0, methods, nullptr, nullptr, nullptr, nullptr};

}  // namespace

PyMODINIT_FUNC PyInit__cpu() { return PyModule_Create(&definition); }
