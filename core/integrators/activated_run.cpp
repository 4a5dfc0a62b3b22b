#include "integrators/activated_run.hpp"

#include "model/rows/all_rows.hpp"

namespace symplectree {
namespace {

constexpr double kSame = 1e-12;  // of a step: instants that are one

// Forces of one step, of which activations stand in the places of controls.
class ActivatedForces final : public ForceSource {
 public:
  ActivatedForces(const Model& m, const std::vector<int>& active, const std::vector<double>& activations,
                  const ForceSource& own, double t, double h)
      : ForceSource(own.tau, nullptr), m_(m), active_(active), own_(own), same_(kSame * std::fabs(h)),
        inputs_(own.inputs, own.inputs + m.inputs), means_inputs_(inputs_), means_(own.tau, means_inputs_.data()) {
    nodes_.push_back({t, controls(), activations});
    put(nodes_[0].activations, inputs_);
    inputs = inputs_.data();
  }

  bool varies() const override { return true; }
  void update(double t, const double* q, const double* v) const override {
    if (own_.varies()) {
      own_.update(t, q, v);
      std::copy(own_.inputs, own_.inputs + m_.inputs, inputs_.begin());
    }
    put(at(t), inputs_);
  }
  const ForceSource* means(double t, double h) const override {
    if (own_.varies()) return nullptr;
    const std::vector<double> begin = known(std::min(t, t + h));
    std::vector<double> mean(begin.size());
    for (std::size_t k = 0; k < begin.size(); ++k)
      mean[k] = mean_activation(actuator(k), begin[k], nodes_[0].controls[k], std::fabs(h));
    put(mean, means_inputs_);
    return &means_;
  }

  // Activations at time t, where own forces that vary have been asked just before.
  std::vector<double> at(double t) const {
    if (!own_.varies()) return known(t);
    while (nodes_.size() > 1 && nodes_.back().t > t - same_) nodes_.pop_back();
    Node& last = nodes_.back();
    Node next{t, controls(), last.activations};
    if (std::fabs(t - last.t) <= same_) {
      last.controls = next.controls;
      return next.activations;
    }
    for (std::size_t k = 0; k < active_.size(); ++k)
      next.activations[k] =
          activation_along(actuator(k), last.activations[k], last.controls[k], next.controls[k], t - last.t);
    nodes_.push_back(next);
    return next.activations;
  }

 private:
  // An instant at which controls were asked for.
  struct Node {
    double t;
    std::vector<double> controls, activations;
  };

  const Actuator& actuator(std::size_t k) const { return m_.actuators[active_[k]]; }
  std::vector<double> controls() const {
    std::vector<double> out(active_.size());
    for (std::size_t k = 0; k < out.size(); ++k)
      out[k] = clamped(own_.inputs[actuator(k).input], actuator(k).control_range);
    return out;
  }
  // Under constant controls.
  std::vector<double> known(double t) const {
    std::vector<double> out = nodes_[0].activations;
    for (std::size_t k = 0; k < out.size(); ++k)
      out[k] = activation_after(actuator(k), out[k], nodes_[0].controls[k], t - nodes_[0].t);
    return out;
  }
  void put(const std::vector<double>& activations, std::vector<double>& to) const {
    for (std::size_t k = 0; k < active_.size(); ++k) to[actuator(k).input] = activations[k];
  }

  const Model& m_;
  const std::vector<int>& active_;
  const ForceSource& own_;
  double same_;
  mutable std::vector<Node> nodes_;
  mutable std::vector<double> inputs_, means_inputs_;
  ForceSource means_;
};

}  // namespace

ActivatedRun::ActivatedRun(const Model& m, const Model& layout, std::unique_ptr<Run> run)
    : WrappedRun(std::move(run)), m_(m), active_(active_actuators(m)), activations_(active_.size()), v_(layout.nv) {}

bool ActivatedRun::step(double t, double h, const ForceSource& forces, const PrescribedMotion& motion) {
  const auto ask = [&](double when) {
    if (!forces.varies()) return;
    velocity(v_.data());
    forces.update(when, state().q.data(), v_.data());
  };
  ask(t);
  const ActivatedForces activated(m_, active_, activations_, forces, t, h);
  if (!run_->step(t, h, activated, motion)) return false;
  ask(t + h);
  activations_ = activated.at(t + h);
  return true;
}

void ActivatedRun::carry(RunMemory& memory) {
  memory(activations_);
  run_->carry(memory);
}

std::unique_ptr<Run> run_with_means(const Model& m, std::unique_ptr<Run> run) {
  if (active_actuators(m).empty()) return run;
  return std::make_unique<MeanForcesRun>(std::move(run));
}

std::unique_ptr<Run> run_with_activations(const Model& m, const Model& layout, std::unique_ptr<Run> run) {
  if (active_actuators(m).empty()) return run;
  return std::make_unique<ActivatedRun>(m, layout, std::move(run));
}

}  // namespace symplectree
