#include "integrators/control_laws.hpp"

#include "dynamics/rnea.hpp"
#include "kinematics/configurations.hpp"
#include "kinematics/poses_twists.hpp"

namespace symplectree {
namespace {

constexpr double kRounding = 1e-9;  // of a step: how far before a time of a table it counts as reached

class Pid final : public ControlLaw {
 public:
  explicit Pid(PidOptions options) : o_(std::move(options)) {}

  bool varies() const override { return true; }
  bool samples() const override { return o_.ki != 0; }
  void begin(const StepStart& at) override {
    if (o_.ki == 0) return;
    double rate;
    const double sum = sum_ + at.dt * (o_.target.at(at.t, 0, rate) - at.q[o_.q]);
    sum_ = o_.limits.clip(o_.ki * sum) / o_.ki;
  }
  void add(double t, const double* q, const double* v, AllForces& to) override {
    double rate;
    const double off = o_.target.at(t, 0, rate) - q[o_.q];
    to[o_.place] += o_.limits.clip(o_.kp * off + o_.kd * (rate - v[o_.v]) + o_.ki * sum_);
  }
  void carry(RunMemory& memory) override { memory(sum_); }

 private:
  PidOptions o_;
  double sum_ = 0;
};

class Table final : public ControlLaw {
 public:
  Table(Signal table, int place) : table_(std::move(table)), place_(place) {}

  bool varies() const override { return !table_.hold; }
  void add(double t, const double*, const double*, AllForces& to) override {
    double rate;
    for (std::size_t k = 0; k < table_.width; ++k) to[place_ + k] += table_.at(t, k, rate);
  }

 private:
  Signal table_;
  int place_;
};

class Feedback final : public ControlLaw {
 public:
  Feedback(const Model& tree, const CoordinateMap* map, FeedbackRows rows)
      : tree_(tree), map_(map), layout_(map ? map->layout : tree), r_(std::move(rows)), w_(tree), off_(2 * layout_.nv),
        v_(tree.nv), p_(tree.nv) {}

  bool varies() const override { return false; }
  void begin(const StepStart& at) override { step_ = static_cast<std::size_t>(at.t / r_.dt + 1e-6); }
  void add(double, const double* q, const double* v, AllForces& to) override {
    const int nv = layout_.nv;
    increments(layout_, row(r_.q, layout_.nq), q, off_.data());
    momentum(q, v, &off_[nv]);
    const double* p = row(r_.p, nv);
    for (int j = 0; j < nv; ++j) off_[nv + j] -= p[j];
    const double *u = row(r_.forces, r_.nu), *K = row(r_.gains, r_.nu * 2 * nv);
    for (int i = 0; i < r_.nu; ++i) {
      double force = u[i];
      for (int j = 0; j < 2 * nv; ++j) force -= K[2 * nv * i + j] * off_[j];
      to[r_.place + i] += Limits{r_.low[i], r_.high[i]}.clip(force);
    }
  }

 private:
  const double* row(const std::vector<double>& rows, int width) const {
    return &rows[std::min(step_, rows.size() / width - 1) * width];
  }
  void momentum(const double* q, const double* v, double* p) {
    if (!map_) return momenta(tree_, q, v, p, w_);
    map_->evaluate(q, at_);
    map_->velocity(at_, v, v_.data());
    momenta(tree_, at_.q.data(), v_.data(), p_.data(), w_);
    std::fill(p, p + layout_.nv, 0.0);
    for (int j = 0; j < tree_.nv; ++j) p[map_->leader_v[j]] += at_.first[j] * p_[j];
  }

  const Model& tree_;
  const CoordinateMap* map_;
  const Model& layout_;
  FeedbackRows r_;
  std::size_t step_ = 0;
  MapPoint at_;
  Workspace<double> w_;
  std::vector<double> off_, v_, p_;
};

}  // namespace

double Signal::at(double t, std::size_t column, double& rate) const {
  rate = 0;
  const std::size_t n = times.size();
  std::size_t k = std::upper_bound(times.begin(), times.end(), t) - times.begin();
  if (hold && k < n && times[k] - t <= kRounding * (k > 0 ? times[k] - times[k - 1] : 1.0)) ++k;
  const auto value = [&](std::size_t row) { return rows[row * width + column]; };
  if (k == 0) return value(0);
  if (k == n || hold) return value(k - 1);
  rate = (value(k) - value(k - 1)) / (times[k] - times[k - 1]);
  return value(k - 1) + rate * (t - times[k - 1]);
}

std::unique_ptr<ControlLaw> pid_law(PidOptions options) { return std::make_unique<Pid>(std::move(options)); }
std::unique_ptr<ControlLaw> table_law(Signal table, int place) {
  return std::make_unique<Table>(std::move(table), place);
}
std::unique_ptr<ControlLaw> feedback_law(const Model& tree, const CoordinateMap* map, FeedbackRows rows) {
  return std::make_unique<Feedback>(tree, map, std::move(rows));
}

}  // namespace symplectree
