// Objects of the core that refer to a model, or to functions of Python, such that Python's collector sees it: functions
// know the names around them, often these very objects.
#pragma once

#include <memory>
#include <utility>

#include "bindings/native.hpp"

namespace symplectree {

// An object with its model, which lives at least as long. It is destroyed as what it is, and not as the base class that
// `T` may be, whose size and alignment may be others.
template <class T>
struct OfModel {
  nb::object model;
  std::unique_ptr<T> object;

  OfModel(const NativeModel& of, std::unique_ptr<T> made) : model(nb::find(of)), object(std::move(made)) {}

  T& operator*() const { return *object; }
  T* operator->() const { return object.get(); }
  template <class Visit>
  int visit(const Visit& each) const {
    return each(model);
  }
};

// Calls `visit` of an object with what visits one reference; zero unless that says otherwise.
template <class T>
int visit_references(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (!nb::inst_ready(self)) return 0;
  return nb::inst_ptr<T>(self)->visit([visit, arg](const auto&... held) {
    int found = 0;
    const auto one = [&](const nb::object& reference) {
      if (found == 0 && reference.is_valid()) found = visit(reference.ptr(), arg);
    };
    (one(held), ...);
    return found;
  });
}

// What a class whose objects have `visit` is bound with.
template <class T>
nb::type_slots collected() {
  static PyType_Slot slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(visit_references<T>)}, {0, nullptr}};
  return nb::type_slots(slots);
}

}  // namespace symplectree
