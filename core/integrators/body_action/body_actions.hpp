// Discrete actions of one rigid body (design: the only piece that differs between variational integrators).
//
// Each turns a displacement from (R0, x0) to (R1, x1) into the momentum that the body has at the two ends, and says how
// the first changes when the second end moves by a twist η: δμ⁻ = K η. All in world axes at the centre of mass. There,
// for chord and cayley, the momenta at the two ends are equal, and K is block diagonal with linear part m/h.
#pragma once

#include "kinematics/poses_twists.hpp"
#include "spatial/matrix6.hpp"
#include "spatial/so3.hpp"

namespace symplectree {

// What an action keeps of a body at the step's beginning, in world axes: cayley the inertia J, chord R Σ with
// Σ = ½ tr(J) 1 − J the second moment.
template <class T>
struct HeldBody {
  Mat3<T> moment;
};
using Held = HeldBody<double>;

// What an action keeps of a displacement for its derivative: cayley w and J w with w the Cayley vector of the rotation.
template <class T>
struct MovedBody {
  Vec3<T> w, y;
};
using Displacement = MovedBody<double>;

// The body's mass points move on straight chords, as in SHAKE. No solution for |ω| > 1/h.
struct Chord {
  static constexpr bool block_diagonal = true;

  template <class R, class T>
  static void hold(const BodyOf<R>& body, const BodyPose<T>& p, HeldBody<T>& out) {
    const Sym3<R>& J = body.inertia;
    const R half = R(0.5) * (J.xx + J.yy + J.zz);
    const Sym3<T> S = cast<T>(Sym3<R>{half - J.xx, half - J.yy, half - J.zz, -J.xy, -J.xz, -J.yz});
    out.moment = {S.xx * p.R.a + S.xy * p.R.b + S.xz * p.R.c, S.xy * p.R.a + S.yy * p.R.b + S.yz * p.R.c,
                  S.xz * p.R.a + S.yz * p.R.b + S.zz * p.R.c};
  }

  // Angular momentum vee(C − Cᵀ)/h with C = R1 Σ R0ᵀ.
  template <class T, class H>
  static Vec3<T> angular(const HeldBody<T>& held, const Mat3<T>&, const Mat3<T>& R1, const H& inverse_h,
                         MovedBody<T>&) {
    return T(inverse_h) * (cross(held.moment.a, R1.a) + cross(held.moment.b, R1.b) + cross(held.moment.c, R1.c));
  }

  // (tr(C) 1 − C)/h
  template <class T>
  static Mat3<T> derivative(const HeldBody<T>& held, const Mat3<T>& R1, const MovedBody<T>&, double inverse_h) {
    const Mat3<T>& E = held.moment;
    const Mat3<T> C{E.a.x * R1.a + E.b.x * R1.b + E.c.x * R1.c, E.a.y * R1.a + E.b.y * R1.b + E.c.y * R1.c,
                    E.a.z * R1.a + E.b.z * R1.b + E.c.z * R1.c};
    const T trace = C.a.x + C.b.y + C.c.z, s(-inverse_h), d = T(inverse_h) * trace;
    Mat3<T> K{s * C.a, s * C.b, s * C.c};
    K.a.x += d, K.b.y += d, K.c.z += d;
    return K;
  }
};

// The rotation is measured by its Cayley vector w = 2 tan(θ/2) axis; any momentum has a solution.
struct Cayley {
  static constexpr bool block_diagonal = true;

  template <class R, class T>
  static void hold(const BodyOf<R>& body, const BodyPose<T>& p, HeldBody<T>& out) {
    out.moment = rotated_columns(p.R, cast<T>(body.inertia));
  }

  // (y + ½ w × y + ¼ (w·y) w)/h with y = J w.
  template <class T, class H>
  static Vec3<T> angular(const HeldBody<T>& held, const Mat3<T>& R0, const Mat3<T>& R1, const H& inverse_h,
                         MovedBody<T>& d) {
    const T trace = dot(R0.a, R1.a) + dot(R0.b, R1.b) + dot(R0.c, R1.c);
    const Vec3<T> axis = cross(R0.a, R1.a) + cross(R0.b, R1.b) + cross(R0.c, R1.c);
    const Vec3<T> w = (T(2) / (T(1) + trace)) * axis, y = held.moment * w;
    d.w = w, d.y = y;
    return T(inverse_h) * (y + T(0.5) * cross(w, y) + (T(0.25) * dot(w, y)) * w);
  }

  // [J + ½([w]J − [y]) + ¼ (w·y) 1 + ½ w yᵀ][1 − ½[w] + ¼ w wᵀ]/h: the second factor is ∂w/∂η.
  template <class T>
  static Mat3<T> derivative(const HeldBody<T>& held, const Mat3<T>&, const MovedBody<T>& d, double inverse_h) {
    const Mat3<T>&J = held.moment, one = Mat3<T>::identity();
    const Vec3<T>&w = d.w, &y = d.y;
    const T half(0.5), quarter = T(0.25) * dot(w, y), s(inverse_h);
    const auto column = [&](const Vec3<T>& j, const Vec3<T>& e, const T& y_j) {
      return j + half * (cross(w, j) - cross(y, e)) + quarter * e + (half * y_j) * w;
    };
    const Mat3<T> P{column(J.a, one.a, y.x), column(J.b, one.b, y.y), column(J.c, one.c, y.z)};
    // P (1 − ½[w] + ¼ w wᵀ), times 1/h
    const Vec3<T> Pw = T(0.25) * (P * w);
    return {s * (P.a - (half * w.z) * P.b + (half * w.y) * P.c + w.x * Pw),
            s * (P.b - (half * w.x) * P.c + (half * w.z) * P.a + w.y * Pw),
            s * (P.c - (half * w.y) * P.a + (half * w.x) * P.b + w.z * Pw)};
  }
};

// LLPS16 (21b): μ⁻ = dlogᵀ_ξ G V with ξ = hV = log(T0⁻¹ T1) on SE(3).
//
// Let ω be the rotation vector of the displacement, u its translation, A = dlog_ω on SO(3). Then ξ = (ω, A u), and with
// AᵀA = 1 − k [ω]² the body's action ½h VᵀGV is (ω·Jω + m |u|² + m k |ω × u|²)/2h, in which A u itself is not needed.
// When the end moves by η = (a, l), ω changes by A a and u by l. So the gradients g and p of the action in ω and u give
// the momentum (Aᵀg, p) at the end, and, carried to the beginning, μ⁻ = (Aᵀg + u × p, p). J is that of the beginning.
struct Exponential {
  static constexpr bool block_diagonal = false;

  template <class R, class T>
  static void hold(const BodyOf<R>&, const BodyPose<T>&, HeldBody<T>&) {}

  // (ω, u): the logarithm of the rotation, and the translation.
  template <class T>
  static Spatial<T> logarithm(const BodyPose<T>& p0, const BodyPose<T>& p1) {
    return {rotation_vector(p0.R, p1.R), p1.x - p0.x};
  }

  template <class R, class T, class H>
  static Spatial<T> momentum(const BodyOf<R>& body, const Spatial<T>& moved, const Mat3<T>& R0, const H& inverse_h) {
    const Vec3<T>&w = moved.angular, &u = moved.linear;
    const auto f = dlog_momentum_coefficients(dot(w, w));
    const T m = T(body.mass) * T(inverse_h), mk = m * f.k;
    const Vec3<T> n = cross(w, u);
    const Vec3<T> Jw = R0 * (cast<T>(body.inertia) * transposed_times(R0, w));
    const Vec3<T> g = T(inverse_h) * Jw + mk * cross(u, n) + (m * f.k1 * dot(n, n)) * w;
    const Vec3<T> wg = cross(w, g);
    // u × p = (m/h) k (ω·u) n: here u × u is zero without rounding
    return {g + T(0.5) * wg + f.gamma * cross(w, wg) + (mk * dot(w, u)) * n, m * u + mk * cross(n, w)};
  }

  // With H = ∂g/∂ω, P = ∂p/∂ω = (∂g/∂u)ᵀ, D = ∂p/∂u, and N = ∂(Aᵀg)/∂ω at constant g,
  //   K = [(N + AᵀH + [u]P) A,  (PA)ᵀ − [p] + [u]D;  PA,  D].
  // With n = ω × u, r = u × n, q = n × ω, primes for derivatives in |ω|², and m for m/h, J for J/h:
  //   H = J + m (k (|u|² 1 − u uᵀ) + k' |n|² 1 + 2k' (r ωᵀ + ω rᵀ) + 2k" |n|² ω ωᵀ)
  //   P = m (2 (k u + k' q) ωᵀ − k ω uᵀ − k (ω·u) 1),  D = m (1 − k [ω]²)
  //   N = −½ [g] + γ ((ω·g) 1 + ω gᵀ − 2 g ωᵀ) + 2γ' (ω × (ω × g)) ωᵀ
  //   [u]P = m (2k' (ω·u) n ωᵀ + k n uᵀ − k (ω·u) [u]),  [u]D − [p] = m k ((ω·u) [ω] + n ωᵀ).
  static Matrix6<double> derivative(const Body& body, const Spatial<double>& moved, const Mat3<double>& R0,
                                    double inverse_h) {
    const Vec3<double>&w = moved.angular, &u = moved.linear;
    const double w2 = dot(w, w);
    const DlogCoefficients f = dlog_coefficients(w2);
    const double m = body.mass * inverse_h, mk = m * f.k, mk1 = m * f.k1, mkwu = mk * dot(w, u);
    const Vec3<double> n = cross(w, u), r = cross(u, n);
    const double n2 = dot(n, n);
    const Mat3<double> J = rotated_columns(R0, body.inertia);
    const Vec3<double> Jw = inverse_h * (J * w), g = Jw + mk * r + (mk1 * n2) * w;
    // Aᵀ = c + ½ [ω] + γ ω ωᵀ
    const double c = 1 - f.gamma * w2;
    const Vec3<double> half = 0.5 * w;
    const auto dlog_transposed = [&](const Vec3<double>& y) {
      return c * y + cross(half, y) + (f.gamma * dot(w, y)) * w;
    };

    // N + AᵀH + [u]P = (c + ½ [ω]) J + s 1 − [e] + T ωᵀ + ω Uᵀ + Y uᵀ
    const double isotropic = mk * dot(u, u) + mk1 * n2;  // of H
    const double s = f.gamma * dot(w, g) + c * isotropic;
    const Vec3<double> e = 0.5 * (Jw + mkwu * u), Au = dlog_transposed(u);
    const Vec3<double> T =
        2.0 * (f.gamma1 * cross(w, cross(w, g)) - f.gamma * g + mk1 * (dot(w, u) * n + dlog_transposed(r))) +
        (f.gamma * isotropic + 2 * m * f.k2 * n2) * w;
    const Vec3<double> U = f.gamma * (Jw + g) + (2 * mk1) * r, Y = mk * (n - Au);
    const double ch = c * inverse_h;
    const Vec3<double> wh = inverse_h * half;
    const Mat3<double> L{
        ch * J.a + cross(wh, J.a) + Vec3<double>{s, -e.z, e.y} + w.x * T + U.x * w + u.x * Y,
        ch * J.b + cross(wh, J.b) + Vec3<double>{e.z, s, -e.x} + w.y * T + U.y * w + u.y * Y,
        ch * J.c + cross(wh, J.c) + Vec3<double>{-e.y, e.x, s} + w.z * T + U.z * w + u.z * Y,
    };
    const Vec3<double> Lw = f.gamma * (L * w);

    // P A = E + t ωᵀ − m k ω (Aᵀu)ᵀ and (PA)ᵀ − [p] + [u]D = E + ω tᵀ + Y ωᵀ with E = m k (ω·u) (½ [ω] − c)
    const Vec3<double> t = 2.0 * (mk * u + mk1 * cross(n, w)) - (mkwu * f.gamma) * w;
    const Vec3<double> kw = mk * w, o = mkwu * half;
    const double a = -c * mkwu, d = m + mk * w2;
    const Mat3<double> E{{a, o.z, -o.y}, {-o.z, a, o.x}, {o.y, -o.x, a}};
    return {{c * L.a - half.z * L.b + half.y * L.c + w.x * Lw, c * L.b - half.x * L.c + half.z * L.a + w.y * Lw,
             c * L.c - half.y * L.a + half.x * L.b + w.z * Lw},
            {E.a + t.x * w + w.x * Y, E.b + t.y * w + w.y * Y, E.c + t.z * w + w.z * Y},
            {E.a + w.x * t - Au.x * kw, E.b + w.y * t - Au.y * kw, E.c + w.z * t - Au.z * kw},
            {Vec3<double>{d, 0, 0} - w.x * kw, Vec3<double>{0, d, 0} - w.y * kw, Vec3<double>{0, 0, d} - w.z * kw}};
  }
};

}  // namespace symplectree
