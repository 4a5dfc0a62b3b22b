// What only pushes or rubs: end stops of joints, dry friction and contacts, as parts of a ConeProblem over a step.
//
// A part has one row or three, each with a value y that a step from q to q' has (a gap at its end, a displacement over
// it) and a row J of velocities: J v is the rate of y, and Jᵀx is what the impulse x does to momenta.
#pragma once

#include <vector>

#include "collision/broad_phase.hpp"
#include "collision/detect.hpp"
#include "contact/cone_problem.hpp"
#include "model/rows/contact_rows.hpp"
#include "model/workspace.hpp"

namespace symplectree {

inline constexpr double kTouching = 1e-10;      // gaps that count as closed [m or rad]
inline constexpr double kLeastOverlap = 1e-12;  // overlaps that count as such in a step [m or rad]

struct Unilateral {
  enum class Source : unsigned char { Limit, Friction, Contact };

  Source source;
  int index;                          // of its row in the model
  int id = 0;                         // of a contact: of the features that touch
  double begin[3] = {}, end[3] = {};  // impulses at the beginning and at the end of a step

  // At the configuration that `hold` saw last:
  double gap = 0;                         // of limits and contacts
  double allowed = 0;                     // a gap that is negative there, and may stay so
  Feature a{}, b{};                       // of a contact, each in its body,
  Vec3<double> point{}, n{}, t1{}, t2{};  // where it is, the normal from b to a, and two tangents, in the world,
  Vec3<double> on_a{}, on_b{};            // and the points of the two bodies that are there, in their axes

  void take_impulses(const Unilateral& other) {
    for (int k = 0; k < 3; ++k) begin[k] = other.begin[k], end[k] = other.end[k];
  }
  bool same(const Unilateral& other) const { return source == other.source && index == other.index && id == other.id; }
};

// The same one among others, or null.
inline const Unilateral* find(const std::vector<Unilateral>& all, const Unilateral& one) {
  for (const Unilateral& u : all)
    if (u.same(one)) return &u;
  return nullptr;
}

class UnilateralRows {
 public:
  explicit UnilateralRows(const Model& m);

  // Velocities that are given: limits of these, and contacts whose gap nothing else changes, push nothing.
  void set_prescribed(const std::vector<char>& velocities) { prescribed_ = velocities; }
  bool has_contacts() const { return !m_.contact_pairs.empty(); }
  int rows(const Unilateral& u) const { return u.source == Unilateral::Source::Contact && friction(u) > 0 ? 3 : 1; }

  // All limits and contacts with gaps below `margin` at q, whose poses are in `at`, held there; but for contacts whose
  // gap no joint changes there, as of a turntable that rests on its edge, or a cart on rails: their bearings carry
  // them.
  void find(const double* q, const Workspace<double>& at, double margin, std::vector<Unilateral>& to);
  // Those as well.
  void find_all(const double* q, const Workspace<double>& at, double margin, std::vector<Unilateral>& to);
  // All that always counts: dry friction.
  void add_frictions(std::vector<Unilateral>& to) const;

  // Gap, point and axes ← those at q.
  void hold(Unilateral& u, const double* q, const Workspace<double>& at) const;

  ConeProblem::Part part(const Unilateral& u, double h) const;

  // y (rows) of a step to q1, with poses `at`, from where `u` is held, with poses `from`; `moved` (nv) is its
  // increment. What sticks is the mean of two displacements, those of the points that touch at the beginning and of
  // those that touch at the end, so that steps of what rolls are the same forwards and backwards, and it gains no
  // energy.
  void value(const Unilateral& u, const Workspace<double>& from, const double* q1, const Workspace<double>& at,
             const double* moved, double* y) const;
  // What rounding makes of it.
  double noise(const Unilateral& u, const double* q1, const Workspace<double>& at) const;

  // J (rows × nv) where `u` is held.
  void jacobian(const Unilateral& u, const Workspace<double>& at, double* J) const;

  // The two bodies that it acts on, 0 for none.
  std::pair<int, int> bodies(const Unilateral& u) const;

  double friction(const Unilateral& u) const { return m_.contact_pairs[u.index].friction; }
  double restitution(const Unilateral& u) const;

 private:
  bool can_open(const Unilateral& u, const Workspace<double>& at) const;
  void add_force(int body, const Vec3<double>& x, const Vec3<double>& f, double sign, const Workspace<double>& at,
                 double* J) const;

  const Model& m_;
  std::vector<char> prescribed_;  // velocities
  std::vector<ConvexMesh> meshes_;
  BroadPhase broad_phase_;
  FeaturePairs found_;
};

}  // namespace symplectree
