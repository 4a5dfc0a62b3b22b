// What sensors measure, on arrays: accelerations of frames, and the wrenches that joints carry.
#include "bindings/arrays.hpp"
#include "constraints/row_evaluation.hpp"
#include "dynamics/frame_derivatives.hpp"
#include "dynamics/rnea.hpp"
#include "kinematics/accelerations.hpp"

namespace symplectree {
namespace {

using Pointers = const double* const*;
using W = Workspace<double>;

// Two vectors in world axes, written in the frame's.
void write_in(const FramePose<double>& f, const Vec3<double>& angular, const Vec3<double>& linear, double* out) {
  store3(transposed_times(f.R, angular), out);
  store3(transposed_times(f.R, linear), out + 3);
}

// A wrench about the centre of the frame's body, written about the frame's origin.
void write_wrench(const FramePose<double>& f, const Spatial<double>& wrench, const W& w, double* out) {
  write_in(f, wrench.angular + cross(w.pose[f.body].x - f.x, wrench.linear), wrench.linear, out);
}

// (ω̇, ẍ) of a frame's axes and origin, in its own axes.
nb::object frame_acceleration_rows(NativeModel& self, nb::handle q, nb::handle v, nb::handle a, int frame) {
  const Frame& f = self.frames.at(frame);
  const std::array<Rows, 3> given{{{q, Over::Configuration}, {v, Over::Velocity}, {a, Over::Acceleration}}};
  return on_rows(self, given, axes(6), [&](Pointers x, double* out, W& w) {
    compute_accelerations(self.model, x[0], x[1], x[2], w);
    const FramePose<double> p = frame_pose(f.point, f.axes, w);
    write_in(p, w.acceleration[p.body].angular, acceleration_at(p.x, p.body, w), out);
  });
}

// The wrench that accelerates a frame's body and all that hangs on it, besides elements between bodies and loads: what
// the joint that carries the body transmits, unless constraints pull as well.
nb::object carried_wrench_rows(NativeModel& self, nb::handle q, nb::handle v, nb::handle a, nb::handle inputs,
                               int frame) {
  const Model& m = self.model;
  if (!inputs.is_none() && !is_ready(inputs, m.inputs)) return nb::none();
  const double* u = inputs_or_zero(self, inputs);
  const Frame& f = self.frames.at(frame);
  const std::array<Rows, 3> given{{{q, Over::Configuration}, {v, Over::Velocity}, {a, Over::Acceleration}}};
  std::vector<double> tau(m.nv);
  return on_rows(self, given, axes(6), [&](Pointers x, double* out, W& w) {
    inverse_dynamics(m, {x[0], x[1]}, x[2], u, tau.data(), w);
    const FramePose<double> p = frame_pose(f.point, f.axes, w);
    write_wrench(p, w.force[p.body], w, out);
  });
}

// The wrench with which constraint rows of multipliers λ pull at the same bodies; of models without followers.
nb::object row_wrench_rows(NativeModel& self, nb::handle q, nb::handle multipliers, int frame) {
  const Model& m = self.model;
  const Frame& f = self.frames.at(frame);
  const RowStructure structure(m);
  RowValues rows(structure);
  std::vector<double> force(m.nv), size(m.nv);
  std::vector<Spatial<double>> wrench(m.size());
  std::vector<std::array<double, 2>> bound(m.size());
  const std::array<Rows, 2> given{{{q, Over::Configuration}, {multipliers, Over::Row}}};
  const auto kernel = [&](Pointers x, double* out, W& w) {
    compute_poses(m, x[0], w);
    evaluate_rows<true>(m, structure, x[0], w, rows, false);
    transposed_rows(m, structure, {rows, w}, x[1], {wrench, bound}, {force.data(), size.data()});
    const FramePose<double> p = frame_pose(f.point, f.axes, w);
    write_wrench(p, wrench[p.body], w, out);
  };
  return on_rows(self, given, axes(6), kernel, true);
}

}  // namespace

void bind_sensors(nb::class_<NativeModel>& cls) {
  const auto row = nb::arg().none();  // None is not ready, like anything else that is no array
  cls.def("frame_acceleration", &frame_acceleration_rows, row, row, row, nb::arg())
      .def("carried_wrench", &carried_wrench_rows, row, row, row, row, nb::arg())
      .def("row_wrench", &row_wrench_rows, row, row, nb::arg());
}

}  // namespace symplectree
