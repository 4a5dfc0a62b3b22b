"""A free-floating mechanism without momentum as formulas: how it turns when its shape changes, and what that takes.

The equations are those of tests/reference/reduced.py with μ = 0: the root's twist is −A u, the shape moves as a
mechanism with the metric m − AᵀIA, K (5), and the root follows by K (6).
"""

from typing import Any

import numpy as np

from symplectree.errors import ModelError
from symplectree.extras import extra
from symplectree.formula.rigid import pose, quaternion_product, rotation
from symplectree.lie import Array, quaternion_of
from symplectree.mechanism.model import KINDS, Model, refuse_followers

ca = extra("casadi")

BASE = 6
SUPPORTED = ("revolute", "prismatic", "screw")


class Floating:
    """Functions of CasADi for a model that `check_floating` accepts. r (n,) is the shape, z = (position, quaternion).

    | name | meaning |
    | --- | --- |
    | step | (r, r') → impulses (n,) that a step takes of the joints at its beginning, and gives back at its end, and hξ |
    | move | (z, hξ) → z', K (6) |
    | frame | (z, r) → position (3,) and quaternion (4,) of a frame in the world |
    """

    def __init__(self, model: Model, h: float, alpha: float, retraction: str) -> None:
        check_internal(model)
        self.model, self.h, self.alpha, self.n = model, h, alpha, model.nv - BASE
        self.retraction = retraction
        self.step = self._step()
        self.move = self._move()

    def _bodies(self, r: Any) -> tuple[list[Any], list[Any]]:
        """Pose of every body in the root's frame (4, 4), and its quaternion there."""
        model = self.model
        poses, turns = [ca.SX(np.eye(4))], [ca.SX([1, 0, 0, 0])]
        for k in range(1, len(model.parent)):
            parent, axis = int(model.parent[k]), np.asarray(model.axis[k])
            x = r[int(model.v_start[k]) - BASE]
            kind = KINDS[model.kind[k]]
            angle = 0.0 if kind == "prismatic" else x
            shift = {"revolute": 0.0, "prismatic": x, "screw": float(model.pitch[k]) * x}[kind]
            local = pose(rotation(axis, angle), ca.SX(axis) * shift)
            poses.append(poses[parent] @ ca.SX(model.placement[k]) @ local)
            turn = ca.vertcat(ca.cos(angle / 2), ca.SX(axis) * ca.sin(angle / 2))
            base = quaternion_product(turns[parent], ca.SX(quaternion_of(model.placement[k][:3, :3])))
            turns.append(quaternion_product(base, turn))
        return poses, turns

    def _terms(self, r: Any, u: Any) -> tuple[Any, Any]:
        """A u (6,), and the kinetic energy ½ uᵀ (m − AᵀIA) u without momentum.

        In the root's axes about its origin: inertias and momenta of all bodies are summed with the root held, which
        gives I and IA u; A u is what makes the momentum zero, and takes ½ (IA u)·(A u) from the energy.
        """
        model = self.model
        poses, _ = self._bodies(r)
        twists = [ca.SX(BASE, 1)]
        locked, momentum = ca.SX(BASE, BASE), ca.SX(BASE, 1)
        energy = 0.5 * ca.dot(ca.SX(model.armature[BASE:]) * u, u)
        for k, T in enumerate(poses):
            if k > 0:
                twists.append(twists[int(model.parent[k])] + self._axis(k, T) * u[int(model.v_start[k]) - BASE])
            mass, c = float(model.mass[k]), T[:3, :3] @ ca.SX(model.com[k]) + T[:3, 3]
            if mass == 0 and not np.any(model.inertia[k]):
                continue
            J, C = T[:3, :3] @ ca.SX(model.inertia[k]) @ T[:3, :3].T, ca.skew(c)
            locked += ca.vertcat(
                ca.horzcat(J - mass * C @ C, mass * C), ca.horzcat(-mass * C, mass * ca.SX(np.eye(3)))
            )  # fmt: skip
            w = twists[k][:3]
            spin, linear = J @ w, mass * (twists[k][3:] + ca.cross(w, c))
            momentum += ca.vertcat(spin + ca.cross(c, linear), linear)
            energy += 0.5 * (ca.dot(spin, w) + ca.dot(linear, linear) / (mass or 1.0))
        locked += ca.SX(np.diag(model.armature[:BASE]))
        Au = _solved(locked, momentum)
        return Au, energy - 0.5 * ca.dot(momentum, Au)

    def _axis(self, k: int, T: Any) -> Any:
        """The twist (6,) about the root's origin, in its axes, that the coordinate of body k gives at unit rate."""
        kind = KINDS[self.model.kind[k]]
        n = T[:3, :3] @ ca.SX(np.asarray(self.model.axis[k]))
        if kind == "prismatic":
            return ca.vertcat(ca.SX(3, 1), n)
        pitch = float(self.model.pitch[k]) if kind == "screw" else 0.0
        return ca.vertcat(n, ca.cross(T[:3, 3], n) + pitch * n)

    def _step(self) -> Any:
        n, h, alpha = self.n, self.h, self.alpha
        r0, r1, u = ca.SX.sym("r0", n), ca.SX.sym("r1", n), ca.SX.sym("u", n)
        Au, kinetic = self._terms(r0, u)
        energy = kinetic - self._spring_energy(r0)
        terms = ca.Function("terms", [r0, u], [Au, ca.gradient(kinetic, u), ca.gradient(energy, r0)], {"cse": True})
        v = (r1 - r0) / h
        A0, p0, g0 = terms(r0, v)
        A1, p1, g1 = terms(r1, v)
        damping = np.zeros(n)
        for damper in self.model.tables.joint_dampers:
            damping[damper.v - BASE] += damper.damping
        drag = 0.5 * h * ca.SX(damping) * v
        p = (1 - alpha) * p0 + alpha * p1
        twist = -h * ((1 - alpha) * A0 + alpha * A1)
        taken, given = p - h * (1 - alpha) * g0 + drag, p + h * alpha * g1 - drag
        return ca.Function("step", [r0, r1], [taken, given, twist], {"cse": True})

    def _spring_energy(self, r: Any) -> Any:
        energy = ca.SX(0)
        for spring in self.model.tables.joint_springs:
            energy += 0.5 * spring.stiffness * (r[spring.v - BASE] - spring.rest) ** 2
        return energy

    def _move(self) -> Any:
        z, x = ca.SX.sym("z", 7), ca.SX.sym("x", BASE)
        w, v = x[:3], x[3:]
        if self.retraction == "cayley":
            turn = ca.vertcat(1, w / 2) / ca.sqrt(1 + ca.sumsqr(w) / 4)
            shift = (v + ca.cross(w, v) / 2 + ca.dot(w, v) * w / 4) / (1 + ca.sumsqr(w) / 4)  # (1 − [w]/2)⁻¹ v
        else:
            square = ca.sumsqr(w) + 1e-30
            angle = ca.sqrt(square)
            half = ca.sin(angle / 2)
            turn = ca.vertcat(ca.cos(angle / 2), w * half / angle)
            small, wv = square < 1e-3, ca.cross(w, v)
            series = 1 / 6 - square / 120 + square**2 / 5040 - square**3 / 362880
            c = ca.if_else(small, series, (angle - ca.sin(angle)) / (angle * square))
            shift = v + 2 * half**2 / square * wv + c * ca.cross(w, wv)
        return ca.Function(
            "move", [z, x], [ca.vertcat(z[:3] + _rotated(z[3:], shift), quaternion_product(z[3:], turn))]
        )  # fmt: skip

    def frame(self, name: str) -> Any:
        """(z, r) → position (3,) and quaternion (4,) of a frame in the world."""
        model, index = self.model, self.model.find_frame(name)
        body, offset = int(model.frame_body[index]), model.frame_offset[index]
        if body < 0:
            raise ModelError(f"frame {name!r} is fixed to the world and does not move; name one of the mechanism")
        z, r = ca.SX.sym("z", 7), ca.SX.sym("r", self.n)
        poses, turns = self._bodies(r)
        base = model.placement[0]
        local = poses[body] @ ca.SX(offset)
        in_base = z[:3] + _rotated(z[3:], local[:3, 3])
        turn = quaternion_product(z[3:], quaternion_product(turns[body], ca.SX(quaternion_of(offset[:3, :3]))))
        x = ca.SX(base[:3, :3]) @ in_base + base[:3, 3]
        return ca.Function("frame", [z, r], [x, quaternion_product(ca.SX(quaternion_of(base[:3, :3])), turn)])


def check_internal(model: Model) -> None:
    """Raise ModelError when something acts on the mechanism from outside, or is not written as a formula here."""
    for k, kind in enumerate(model.kind[1:], 1):
        if KINDS[kind] not in SUPPORTED:
            raise ModelError(
                f"the joint of {model.bodies[k]!r} is of the kind {KINDS[kind]}; shape motions take joints of angles and "
                "ways: take Revolute, Universal, Prismatic, … joints, or StagewiseNewton"
            )
    if np.any(model.gravity != 0):
        raise ModelError(
            "gravity acts from outside, and momentum is not kept; build with gravity=(0, 0, 0), as seen from a frame that "
            "falls along"
        )
    refuse_followers(model, "which a shape motion does not know; leave eliminate=True out")
    if model.rows:
        raise ModelError(f"a shape motion takes no constraints, but there is {model.rows[0]!r}")
    for element in model.elements:
        if type(element).__name__ not in ("JointSpring", "JointDamper", "JointForce"):
            raise ModelError(
                f"{type(element).__name__} {element.name!r} is not of the joints; a shape motion takes JointSpring and "
                "JointDamper"
            )
    for motor in model.tables.joint_forces:
        if motor.value != 0:
            raise ModelError(f"a constant force acts on {model.velocities[motor.v]!r}; joint forces are what is sought")
    held = [spring.v for spring in model.tables.joint_springs] + [damper.v for damper in model.tables.joint_dampers]
    if any(j < BASE for j in held):
        raise ModelError("a spring or damper acts on the floating joint from outside, and momentum is not kept")


def _solved(M: Any, b: Any) -> Any:
    """M⁻¹ b by elimination, for symmetric positive M."""
    n = b.numel()
    M, b, x = ca.SX(M), ca.SX(b), [ca.SX(0)] * n
    for k in range(n):
        for i in range(k + 1, n):
            factor = M[i, k] / M[k, k]
            M[i, k:] -= factor * M[k, k:]
            b[i] -= factor * b[k]
    for k in reversed(range(n)):
        x[k] = (b[k] - sum((M[k, i] * x[i] for i in range(k + 1, n)), ca.SX(0))) / M[k, k]
    return ca.vertcat(*x)


def _rotated(turn: Any, x: Any) -> Any:
    """R(turn) x for a unit quaternion."""
    t = 2 * ca.cross(turn[1:], x)
    return x + turn[0] * t + ca.cross(turn[1:], t)


def relative_turn(wanted: Array, turn: Any) -> Any:
    """The vector part (3,) of wanted⁻¹ ⊗ turn: sin(θ/2) along the axis, zero where both are the same rotation."""
    return quaternion_product(ca.DM(np.array([1, -1, -1, -1]) * wanted), turn)[1:]
