// Configurations that increments lead to and from, whatever the joint.
#pragma once

#include "model/model.hpp"

namespace symplectree {

// q ← the configuration reached from q by the increment d (design section 5); quaternions stay normalised.
template <class R>
void retract_body(const BodyOf<R>& b, const double* q, const double* d, double* out);

// d (nv) ← the increment of one body's coordinates that leads from q0 to q1.
void body_increment(const Body& b, const double* q0, const double* q1, double* d);

template <class R>
void retract(const ModelOf<R>& m, const double* q, const double* d, double* out);

// d (nv) ← the increments that lead from q0 to q1.
void increments(const Model& m, const double* q0, const double* q1, double* d);

// q̇ (nq) of a velocity (nv): quaternions change by ½ q ⊗ (0, ω), positions of Free joints by R v.
void configuration_rate(const Model& m, const double* q, const double* v, double* rate);

void normalize(const Model& m, double* q);

}  // namespace symplectree
