"""A body at the end of a linkage whose joints all follow one coordinate (GL09 section 5)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from symplectree.errors import ModelError
from symplectree.extras import extra
from symplectree.formula.rigid import matrix, pose, rotation
from symplectree.joints.contract import Joint, Step
from symplectree.joints.formula import FormulaJoint, SymbolicJoint
from symplectree.validation import array_or_empty, is_positive, shown


@dataclass(frozen=True)
class LinkageJoint(SymbolicJoint):
    """The pose through several joints, each a function of the one coordinate q: T(q) = Π T_i(φ_i(q)).

        LinkageJoint("q", [(st.Revolute("a", "y"), lambda q: q), (0, 0, -1), (st.Revolute("b", "y"), lambda q: -2 * q)])

    parts: from the base to the moving frame, pairs (joint, function of q that gives its coordinates), and between them
        displacements: three numbers [m], or a 4×4 pose. The joints' names do not matter.

    Only the body at the end is carried. Where bodies in between have mass, or carry others, give each a link of its own and
    let its joint follow the first; the model has one coordinate all the same:

        a = m.world.link("a", st.Revolute("q", "y"), mass=1, com=(0, 0, -0.5))
        b = a.link("b", st.Revolute("b", "y"), at=(0, 0, -1), mass=1, com=(0, 0, -0.5))
        m.add(st.GearConstraint("q", "b", ratio=-2, eliminate=True))  # CamConstraint for functions that are not linear

    `four_bar` makes the coupler of a four-bar linkage.
    """

    parts: Sequence[Any]

    @classmethod
    def four_bar(
        cls,
        name: str,
        *,
        ground: float,
        crank: float,
        coupler: float,
        rocker: float,
        crossed: bool = False,
        **options: Any,
    ) -> FormulaJoint:
        """The coupler of a four-bar linkage in the xy plane, q the angle of the crank [rad] from the ground link.

        ground, crank, coupler, rocker: lengths [m]; the crank turns about the base's origin, the rocker about the point
        `ground` along x. The moving frame is at the crank's pin, with x along the coupler. Of the two ways to assemble it,
        `crossed` takes the one in which the coupler turns to the other side of the line from pin to rocker.
        """
        for what, value in (("ground", ground), ("crank", crank), ("coupler", coupler), ("rocker", rocker)):
            if not is_positive(value):
                raise ModelError(f"{what} of joint {name!r} is {shown(value)}; give a length above zero")
        side = -1.0 if crossed else 1.0

        def formula(q: Any) -> Any:
            casadi = extra("casadi")

            pin = casadi.vertcat(crank * casadi.cos(q), crank * casadi.sin(q))
            d = casadi.vertcat(ground, 0) - pin
            length2 = casadi.dot(d, d)
            # the triangle pin, end of the coupler, foot of the rocker: cosine and sine of its angle at the pin, times |d|
            along = (coupler**2 + length2 - rocker**2) / (2 * coupler)
            across = side * casadi.sqrt(length2 - along**2)
            c, s = (d[0] * along - d[1] * across) / length2, (d[1] * along + d[0] * across) / length2
            return [[c, -s, 0], [s, c, 0], [0, 0, 1]], [pin[0], pin[1], 0]

        return FormulaJoint(name, formula, **options)

    def __post_init__(self) -> None:
        if isinstance(self.parts, str) or not isinstance(self.parts, Sequence) or not self.parts:
            raise ModelError(
                f"parts of joint {self.name!r} are {shown(self.parts)}; give a list of joints and displacements"
            )

    def size(self) -> int:
        return 1

    def pose(self, q: Any) -> tuple[Any, Any]:
        T = pose()
        for part in self.parts:
            T = T @ self._part(part, q[0])
        return T[:3, :3], T[:3, 3]

    def _part(self, part: Any, q: Any) -> Any:
        if isinstance(part, tuple | list) and len(part) == 2 and isinstance(part[0], Joint) and callable(part[1]):
            joint, function = part
            values = _column(function, q)
            if values.numel() != joint.nq:
                raise ModelError(
                    f"the function of its {type(joint).__name__} gives {values.numel()} numbers; {joint.nq} are needed"
                )
            return _joint_pose(joint, values)
        numbers = array_or_empty(part)
        if numbers.shape == (3,):
            return pose(x=numbers)
        if numbers.shape == (4, 4):
            return pose(numbers[:3, :3], numbers[:3, 3])
        raise ModelError(f"a part of it is {shown(part)}; give (joint, function), three numbers, or a 4×4 pose")


def _column(function: Callable[[Any], Any], q: Any) -> Any:
    casadi = extra("casadi")

    return casadi.vec(matrix(function(q)))


def _joint_pose(joint: Joint, q: Any) -> Any:
    """T(q) (4 × 4) of a joint for symbols q (nq)."""
    T, at = pose(), 0
    for step in joint.steps():
        T = T @ _step_pose(step, q[at : at + step.nq])
        at += step.nq
    return T


def _step_pose(step: Step, q: Any) -> Any:
    """T(q) (4 × 4) of an elementary joint for its own symbols q."""
    if step.kind == "formula":
        return pose(*step.formula.symbols(q))
    if step.kind in ("ball", "free"):
        return pose(_quaternion_rotation(q[q.numel() - 4 :]), None if step.kind == "ball" else q[:3])
    slide = {"revolute": 0.0, "prismatic": 1.0, "screw": step.pitch}[step.kind]
    R = None if step.kind == "prismatic" else rotation(step.axis, q[0])
    return pose(R, [slide * c * q[0] for c in step.axis])


def _quaternion_rotation(q: Any) -> Any:
    """Rotation (3 × 3) of a quaternion (w, x, y, z) of any length but zero."""
    casadi = extra("casadi")

    w, v = q[0], q[1:]
    n = casadi.dot(q, q)
    return casadi.SX.eye(3) + (2 * w * casadi.skew(v) + 2 * casadi.skew(v) @ casadi.skew(v)) / n
