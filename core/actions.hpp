// Discrete actions of one rigid body (design: the only piece that differs between variational integrators).
//
// Each turns a displacement from (R0, x0) to (R1, x1) into the momentum that the body has at the two ends, and says how
// the first changes when the second end moves by a twist η: δμ⁻ = K η. All in world axes at the centre of mass. There,
// for chord and cayley, the momenta at the two ends are equal, and K is block diagonal with linear part m/h.
#pragma once

#include <iterator>

#include "dual.hpp"
#include "general6.hpp"
#include "kinematics.hpp"

namespace symplectree {

// What an action keeps of a body at the step's beginning, in world axes: cayley the inertia J, chord R Σ with
// Σ = ½ tr(J) 1 − J the second moment.
struct Held {
  Mat3<double> moment;
};

// What an action keeps of a displacement for its derivative: cayley (w, J w) with w the Cayley vector of the rotation
// in the first two columns, chord R1 Σ R0ᵀ.
struct Displacement {
  Mat3<double> turn;
};

// The body's mass points move on straight chords, as in SHAKE. No solution for |ω| > 1/h.
struct Chord {
  static constexpr bool block_diagonal = true;

  static void hold(const Body& body, const BodyPose<double>& p, Held& out) {
    const Sym3<double>& J = body.inertia;
    const double half = 0.5 * (J.xx + J.yy + J.zz);
    const Sym3<double> S{half - J.xx, half - J.yy, half - J.zz, -J.xy, -J.xz, -J.yz};
    out.moment = {S.xx * p.R.a + S.xy * p.R.b + S.xz * p.R.c, S.xy * p.R.a + S.yy * p.R.b + S.yz * p.R.c,
                  S.xz * p.R.a + S.yz * p.R.b + S.zz * p.R.c};
  }

  // Angular momentum vee(C − Cᵀ)/h with C = R1 Σ R0ᵀ.
  template <bool WithDerivative>
  static Vec3<double> angular(const Held& held, const Mat3<double>&, const Mat3<double>& R1, double inverse_h,
                              Displacement& d) {
    if constexpr (WithDerivative) {
      const Mat3<double>& E = held.moment;
      d.turn = {E.a.x * R1.a + E.b.x * R1.b + E.c.x * R1.c, E.a.y * R1.a + E.b.y * R1.b + E.c.y * R1.c,
                E.a.z * R1.a + E.b.z * R1.b + E.c.z * R1.c};
    }
    return inverse_h * (cross(held.moment.a, R1.a) + cross(held.moment.b, R1.b) + cross(held.moment.c, R1.c));
  }

  // (tr(C) 1 − C)/h
  static Mat3<double> derivative(const Held&, const Displacement& d, double inverse_h) {
    const double trace = d.turn.a.x + d.turn.b.y + d.turn.c.z, s = -inverse_h;
    Mat3<double> K{s * d.turn.a, s * d.turn.b, s * d.turn.c};
    K.a.x += inverse_h * trace, K.b.y += inverse_h * trace, K.c.z += inverse_h * trace;
    return K;
  }
};

// The rotation is measured by its Cayley vector w = 2 tan(θ/2) axis; any momentum has a solution.
struct Cayley {
  static constexpr bool block_diagonal = true;

  static void hold(const Body& body, const BodyPose<double>& p, Held& out) {
    out.moment = rotated_columns(p.R, body.inertia);
  }

  // (y + ½ w × y + ¼ (w·y) w)/h with y = J w.
  template <bool>
  static Vec3<double> angular(const Held& held, const Mat3<double>& R0, const Mat3<double>& R1, double inverse_h,
                              Displacement& d) {
    const double trace = dot(R0.a, R1.a) + dot(R0.b, R1.b) + dot(R0.c, R1.c);
    const Vec3<double> axis = cross(R0.a, R1.a) + cross(R0.b, R1.b) + cross(R0.c, R1.c);
    const Vec3<double> w = (2 / (1 + trace)) * axis, y = held.moment * w;
    d.turn.a = w, d.turn.b = y;
    return inverse_h * (y + 0.5 * cross(w, y) + (0.25 * dot(w, y)) * w);
  }

  // [J + ½([w]J − [y]) + ¼ (w·y) 1 + ½ w yᵀ][1 − ½[w] + ¼ w wᵀ]/h: the second factor is ∂w/∂η.
  static Mat3<double> derivative(const Held& held, const Displacement& d, double inverse_h) {
    const Mat3<double>&J = held.moment, one = Mat3<double>::identity();
    const Vec3<double>&w = d.turn.a, &y = d.turn.b;
    const double quarter = 0.25 * dot(w, y);
    const auto column = [&](const Vec3<double>& j, const Vec3<double>& e, double y_j) {
      return j + 0.5 * (cross(w, j) - cross(y, e)) + quarter * e + (0.5 * y_j) * w;
    };
    const Mat3<double> P{column(J.a, one.a, y.x), column(J.b, one.b, y.y), column(J.c, one.c, y.z)};
    // P (1 − ½[w] + ¼ w wᵀ), times 1/h
    const Vec3<double> Pw = 0.25 * (P * w);
    return {inverse_h * (P.a - (0.5 * w.z) * P.b + (0.5 * w.y) * P.c + w.x * Pw),
            inverse_h * (P.b - (0.5 * w.x) * P.c + (0.5 * w.z) * P.a + w.y * Pw),
            inverse_h * (P.c - (0.5 * w.y) * P.a + (0.5 * w.x) * P.b + w.z * Pw)};
  }
};

// LLPS16 (21b): V = log(T0⁻¹ T1)/h on SE(3), μ⁻ = dlogᵀ_{hV} G V in the body's axes at the beginning.
struct Exponential {
  static constexpr bool block_diagonal = false;

  static void hold(const Body&, const BodyPose<double>&, Held&) {}

  // Coefficients of dlog = 1 − ½ ad + c₂ ad² + c₄ ad⁴ on SE(3), where (ad² + θ²)² ad = 0: with y = −θ² and
  // g(y) = Σ_{k>0} B_2k/(2k)! y^k they solve c₂ y + c₄ y² = g and c₂ + 2 c₄ y = g'.
  template <class T>
  static void coefficients(const T& angle2, T& c2, T& c4) {
    using std::cos, std::sin, std::sqrt;
    if (value_of(angle2) < 1) {  // the first neglected terms are below 1e-17
      static constexpr double b[] = {0.08333333333333333,    -0.001388888888888889,   3.306878306878307e-05,
                                     -8.267195767195768e-07, 2.08767569878681e-08,    -5.284190138687493e-10,
                                     1.3382536530684679e-11, -3.3896802963225827e-13, 8.586062056277845e-15,
                                     -2.174868698558062e-16, 5.5090028283602295e-18,  -1.3954464685812522e-19,
                                     3.534707039629467e-21,  -8.953517427037546e-23};
      const T y = -angle2;
      c2 = c4 = T(0);
      for (int k = std::size(b); k > 0; --k) {  // c₂ = Σ (2−k) b_k y^(k−1), c₄ = Σ (k−1) b_k y^(k−2)
        c2 = c2 * y + T((2 - k) * b[k - 1]);
        if (k > 1) c4 = c4 * y + T((k - 1) * b[k - 1]);
      }
      return;
    }
    const T angle = sqrt(angle2), s = sin(angle), k = T(4) * (cos(angle) - T(1));
    c2 = T(2) / angle2 + (angle + T(3) * s) / (angle * k);
    c4 = T(1) / (angle2 * angle2) + (angle + s) / (angle2 * angle * k);
  }

  // dlogᵀ_ξ f for a wrench f.
  template <class T>
  static Spatial<T> dlog_transposed(const Spatial<T>& xi, const Spatial<T>& f) {
    T c2, c4;
    coefficients(dot(xi.angular, xi.angular), c2, c4);
    const auto ad_t = [&](const Spatial<T>& g) { return T(-1) * bracket_force(xi, g); };
    const Spatial<T> f1 = ad_t(f), f2 = ad_t(f1), f4 = ad_t(ad_t(f2));
    return f + T(-0.5) * f1 + c2 * f2 + c4 * f4;
  }

  // log of the displacement as a twist in the body's axes at the beginning.
  static Spatial<double> logarithm(const BodyPose<double>& p0, const BodyPose<double>& p1) {
    const Vec3<double> axis =
        0.5 * (cross(p0.R.a, p1.R.a) + cross(p0.R.b, p1.R.b) + cross(p0.R.c, p1.R.c));  // world axes, sin θ long
    const double cosine = 0.5 * (dot(p0.R.a, p1.R.a) + dot(p0.R.b, p1.R.b) + dot(p0.R.c, p1.R.c) - 1);
    const double sine = std::sqrt(dot(axis, axis));
    const double angle = std::atan2(sine, cosine), angle2 = angle * angle;
    const double scale = sine < 1e-6 && cosine > 0 ? 1 + angle2 / 6 : angle / sine;
    const Vec3<double> w = transposed_times(p0.R, scale * axis), u = transposed_times(p0.R, p1.x - p0.x);
    const double c = angle2 < 1e-6 ? 1.0 / 12 + angle2 / 720 : (1 - 0.5 * angle / std::tan(0.5 * angle)) / angle2;
    const Vec3<double> wu = cross(w, u);
    return {w, u - 0.5 * wu + c * cross(w, wu)};
  }

  template <class T>
  static Spatial<T> body_momentum(const Body& body, const Spatial<T>& xi, double inverse_h) {
    const T s(inverse_h);
    const Spatial<T> g{s * (cast<T>(body.inertia) * xi.angular), (s * T(body.mass)) * xi.linear};
    return dlog_transposed(xi, g);
  }

  static Spatial<double> momentum(const Body& body, const Spatial<double>& xi, const Mat3<double>& R0,
                                  double inverse_h) {
    const Spatial<double> mu = body_momentum(body, xi, inverse_h);
    return {R0 * mu.angular, R0 * mu.linear};
  }

  // ∂μ⁻/∂ξ by dual numbers, times ∂ξ/∂η = dlog_{−ξ}, in world axes.
  static General6<double> derivative(const Body& body, const Spatial<double>& xi, const Mat3<double>& R0,
                                     const Mat3<double>& R1, double inverse_h) {
    Spatial<double> column[6];
    for (int k = 0; k < 6; ++k) {
      Spatial<Dual> x{Vec3<Dual>(xi.angular), Vec3<Dual>(xi.linear)};
      (k == 0   ? x.angular.x
       : k == 1 ? x.angular.y
       : k == 2 ? x.angular.z
       : k == 3 ? x.linear.x
       : k == 4 ? x.linear.y
                : x.linear.z)
          .slope = 1;
      const Spatial<Dual> mu = body_momentum(body, x, inverse_h);
      column[k] = {R0 * Vec3<double>{mu.angular.x.slope, mu.angular.y.slope, mu.angular.z.slope},
                   R0 * Vec3<double>{mu.linear.x.slope, mu.linear.y.slope, mu.linear.z.slope}};
    }
    // Row k of dlog_{−ξ} is dlogᵀ_{−ξ} e_k; the world twist η is R1ᵀ η in the body's axes at the end.
    const Spatial<double> back = -1.0 * xi;
    General6<double> K{};
    for (int k = 0; k < 6; ++k) {
      Spatial<double> e{};
      (k == 0   ? e.angular.x
       : k == 1 ? e.angular.y
       : k == 2 ? e.angular.z
       : k == 3 ? e.linear.x
       : k == 4 ? e.linear.y
                : e.linear.z) = 1;
      const Spatial<double> row = dlog_transposed(back, e);
      const Vec3<double> a = R1 * row.angular, l = R1 * row.linear;
      const auto add = [](Mat3<double>& M, const Vec3<double>& u, const Vec3<double>& v) {
        M.a += v.x * u, M.b += v.y * u, M.c += v.z * u;
      };
      add(K.A, column[k].angular, a), add(K.B, column[k].angular, l);
      add(K.C, column[k].linear, a), add(K.D, column[k].linear, l);
    }
    return K;
  }
};

}  // namespace symplectree
