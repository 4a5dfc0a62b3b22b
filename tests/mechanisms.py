"""Mechanisms that many tests share: random trees with every kind of joint, and the chains of the papers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

import symplectree as st
from symplectree.lie import inverse, pose, quaternion_matrix
from symplectree.symbolic import rotation

JOINTS = ("Fixed", "Revolute", "Prismatic", "Screw", "Cylindrical", "Universal", "Planar", "Ball", "Free")
FREEDOMS = {
    "Fixed": 0,
    "Cylindrical": 2,
    "Universal": 2,
    "Planar": 3,
    "Ball": 3,
    "Free": 6,
    "Formula2": 2,
    "Formula3": 3,
    "Formula6": 6,
}  # the others have one
ACTIONS = ("cayley", "chord", "exp", "midpoint")
MIXED = ("Revolute", "Ball", "Free", "Cylindrical", "Formula1", "Formula2", "Formula3", "Formula6")
FORMULAS = ("Formula1", "Formula2", "Formula3", "Formula6")  # joints by formula, with so many coordinates


def random_mechanism(
    seed: int, bodies: int, *, elements: bool = False, joints: tuple[str, ...] = JOINTS
) -> st.Mechanism:
    """A branching tree of links "link0", … with joints "joint0", …; nine links use all nine kinds of `joints`.

    Masses lie off centre and have full inertia matrices; some links are massless, some carry point masses,
    several masses or an armature. Every coordinate moves mass: a massless link has few freedoms and carries a
    massive one.
    With `elements` there is one of every element, with inputs "motor", "thrust" and "twist".
    """
    rng = np.random.default_rng(seed)
    m = st.Mechanism(gravity=rng.normal(size=3) * 5)
    kinds = _joint_kinds(rng, bodies, joints)
    links: list[Any] = [m.world]
    massless = False
    for i, kind in enumerate(kinds):
        carries = massless  # the link before has no mass of its own: this one hangs on it
        parent = links[-1] if carries else links[max(rng.integers(len(links), size=2))]
        following = kinds[i + 1] if i + 1 < bodies else None
        massless = not carries and _may_be_massless(kind, following) and rng.random() < 0.5
        link = parent.link(
            f"link{i}",
            _random_joint(rng, f"joint{i}", kind),
            at=rng.normal(size=3) * 0.5,
            rotate=_random_rotate(rng),
        )
        if not massless:
            large = FREEDOMS.get(kind, 1) > 2
            point = not carries and not large and rng.random() < 0.3
            _add_random_mass(rng, link, point=point)
        if rng.random() < 0.4:
            link.frame(f"marker{i}", at=rng.normal(size=3) * 0.5, rotate=_random_rotate(rng))
        if rng.random() < 0.3 and not massless:
            load = link.frame(f"load{i}", at=rng.normal(size=3) * 0.5, rotate=_random_rotate(rng))
            _add_random_mass(rng, load, point=bool(rng.random() < 0.5))
            load.add_mass(rng.uniform(0.1, 0.5), com=rng.normal(size=3) * 0.2)
        links.append(link)
    if elements:
        _add_every_element(rng, m)
    return m


def actuated_mechanism(seed: int, bodies: int = 9, *, joints: tuple[str, ...] = JOINTS) -> st.Mechanism:
    """A random tree with springs, every kind of actuator, most with limits, and a tendon, which joints may share.

    Inputs "pull", "hold", "spin", "law", "rope" (on three coordinates) and "jet" (on a frame); controls of order one reach
    some of the limits.
    """
    m = random_mechanism(seed, bodies, joints=joints)
    rng = np.random.default_rng([seed, 3])
    flat = [f.joint.name for f in m.tree if f.joint.nv == 1]
    flat += [f"{f.joint.name}.{i}" for f in m.tree if f.joint.nq == f.joint.nv > 1 for i in range(f.joint.nv)]
    turning = [f"{f.joint.name}.{i}" for f in m.tree if f.joint.nq > f.joint.nv for i in range(f.joint.nv)]
    moving = [f.name for f in m.tree if _carrier(f) is not m.world]

    def one(names: list[str]) -> str:
        return str(rng.choice(names))

    def some(count: int) -> tuple[str, ...]:
        return tuple(map(str, rng.choice(flat, count, replace=False)))

    m.add(
        st.JointSpring(one(flat), 4.0, rest=0.2),
        st.JointDamper(one(flat), 0.3),
        st.Motor(one(turning or flat), gear=1.7, control_range=(-0.8, 0.6), force_range=(-0.5, 2.0), name="pull"),
        st.PositionServo(one(flat), kp=9.0, kv=0.6, gear=-0.7, force_range=(-4.0, 5.0), name="hold"),
        st.VelocityServo(one(turning or flat), kv=0.9, control_range=(-1.0, 1.0), name="spin"),
        st.Actuator(one(flat), gain=2.0, bias=(0.3, -1.0, -0.2), force_range=(-1.5, 1.0), name="law"),
        st.PositionServo(some(3), kp=3.0, kv=0.4, gear=(1.0, -0.5, 0.3), force_range=(-2.0, 2.0), name="rope"),
        st.Tendon(some(2), coefficients=(1.0, 0.6), stiffness=2.0, rest=(-0.1, 0.4), damping=0.3, name="band"),
        st.Thruster(one(moving), force=(0.3, 0.0, 1.0), torque=(0.0, 0.2, 0.0), control_range=(0.0, 0.9), name="jet"),
    )
    driven = {element.name: element for element in m.elements if element.name in ("hold", "rope")}
    names = dict.fromkeys([driven["hold"].coordinate, driven["rope"].coordinate[0]])
    return m.add(*(st.ForceLimit(name, force_range=(-1.8, 1.4)) for name in names))


def activated_mechanism(seed: int, bodies: int = 9, *, joints: tuple[str, ...] = JOINTS) -> st.Mechanism:
    """The same with filters on "hold", "rope" and "jet" and integrators in "pull" and "law", some within ranges."""
    m = actuated_mechanism(seed, bodies, joints=joints)
    given = {
        "hold": {"filter": 0.03},
        "rope": {"filter": 0.2, "activation_range": (-0.4, 0.5)},
        "jet": {"filter": 0.005},
        "pull": {"integrator": True, "activation_range": (-0.3, 0.2)},
        "law": {"integrator": True},
    }
    m.elements[:] = [replace(element, **given.get(str(element.name), {})) for element in m.elements]
    return m


FLAT = ("Fixed", "Revolute", "Prismatic", "Screw", "Cylindrical", "Universal", "Planar", *FORMULAS)  # no quaternion
FLOATING = (*FLAT, "Ball", "Free")  # every kind that may hang on a root that floats


def floating_mechanism(
    seed: int, bodies: int, *, elements: bool = False, joints: tuple[str, ...] = FLOATING, gravity: bool = True
) -> st.Mechanism:
    """A tree on a link "root" that floats by the joint "root"; every other joint, "joint0", …, hangs on it."""
    rng = np.random.default_rng(seed)
    m = st.Mechanism(gravity=rng.normal(size=3) * 5 if gravity else (0, 0, 0))
    root = m.world.link("root", st.Free("root"), at=rng.normal(size=3), rotate=_random_rotate(rng))
    _add_random_mass(rng, root, point=False)
    links = [root]
    for i, kind in enumerate(_joint_kinds(rng, bodies, joints)):
        parent = links[max(rng.integers(len(links), size=2))]
        place = {"at": rng.normal(size=3) * 0.5, "rotate": _random_rotate(rng)}
        links.append(parent.link(f"link{i}", _random_joint(rng, f"joint{i}", kind), **place))
        _add_random_mass(rng, links[-1], point=False)
    if elements:
        _add_every_element(rng, m)
    return m


CONSTRAINTS = (
    "Point", "PointDirections", "Distance", "DistanceCoordinate", "Plane", "Weld", "Hinge", "Universal", "Prismatic",
    "Gear", "Screw", "Cam",
)  # fmt: skip


def closed_mechanism(
    seed: int, bodies: int = 12, kinds: Any = None, *, joints: tuple[str, ...] = JOINTS
) -> tuple[st.Model, np.ndarray, np.ndarray]:
    """A random tree with every element whose loops are closed: (model, q, v) that meet all constraints.

    `kinds` are names out of CONSTRAINTS, four random ones when left out. Ends lie on any two bodies or the world; rows
    may depend on each other.
    """
    rng = np.random.default_rng(seed)
    m = random_mechanism(seed, bodies, elements=True, joints=joints)
    tree = m.build()
    q, v, _ = random_state(tree, seed)
    plain = [place for place in tree.joints.values() if place.joint.nq == place.joint.nv == 1]
    carriers = [m.world, *(f for f in m.tree if f.joint.nv > 0)]
    other = np.random.default_rng([seed, 2])
    a, b = (carriers[i].name for i in other.choice(len(carriers), 2, replace=False))
    m.add(st.RotarySpring(a, b, stiffness=2.0, rest=0.5, damping=0.2, axis=_random_unit(other)))
    for k, kind in enumerate(rng.choice(CONSTRAINTS, 4, replace=False) if kinds is None else kinds):
        first, second = (plain[i] for i in rng.choice(len(plain), 2, replace=False))
        x, y = float(q[first.q_start]), float(q[second.q_start])
        if kind == "DistanceCoordinate" and x <= 0:
            kind = "Distance"
        apart = {"Distance": 0.7, "DistanceCoordinate": x}.get(kind, 0.0) * np.array(_random_unit(rng))
        a, b = (carriers[i] for i in rng.choice(len(carriers), 2, replace=False))
        ends = f"a{k}", f"b{k}"
        T = pose(quaternion_matrix(rng.normal(size=4)), rng.normal(size=3) * 0.4)
        a.frame(ends[0], at=T[:3, 3], rotate=T[:3, :3])
        T = inverse(st.pose(tree, q, b.name)) @ pose(x=apart) @ st.pose(tree, q, a.name) @ T
        b.frame(ends[1], at=T[:3, 3], rotate=T[:3, :3])
        m.add(_closing(kind, ends, (first.joint.name, second.joint.name), x, y))
    model = m.build()
    return model, q, st.project_velocity(model, q, v)


def random_state(model: st.Model, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A configuration (unit quaternions where there are any), a velocity and an acceleration of order one."""
    rng = np.random.default_rng(seed)
    q = model.neutral.copy()
    for place in model.joints.values():
        scale = 0.4 if isinstance(place.joint, st.FormulaJoint) else 1.0  # where random formulas are regular
        q[place.q] = place.joint.retract(place.joint.neutral, scale * rng.normal(size=place.joint.nv))
    return q, rng.normal(size=model.nv), rng.normal(size=model.nv)


def distance(model: st.Model, a: np.ndarray, b: np.ndarray) -> float:
    """Largest difference of the poses of all frames in two configurations: quaternions have two signs."""
    return max(float(np.abs(st.pose(model, a, f) - st.pose(model, b, f)).max()) for f in model.frames)


def symplectic_defect(model: st.Model, method: Any, q: np.ndarray, v: np.ndarray, dt: float) -> float:
    """Largest entry of AᵀΩA − Ω for one step's derivative A by central differences; coordinates without quaternions."""
    n, d = model.nv, 1e-6

    def flow(z: np.ndarray) -> np.ndarray:
        stepper = st.Stepper(model, method, dt)
        stepper.reset(z[:n], st.inverse_mass_product(model, z[:n], z[n:]))
        stepper.step()
        return np.concatenate([stepper.q, stepper.p])

    z = np.concatenate([q, st.momenta(model, q, v)])
    A = np.array([(flow(z + d * e) - flow(z - d * e)) / (2 * d) for e in np.eye(2 * n)]).T
    omega = np.block([[np.zeros((n, n)), np.eye(n)], [-np.eye(n), np.zeros((n, n))]])
    return float(np.abs(A.T @ omega @ A - omega).max())


def planar_chain(n: int) -> st.Mechanism:
    """n links of 1 m and 1 kg hanging along −z, all turning about y; the end is the frame "tip"."""
    return _chain("y" * n)


def spatial_chain(n: int) -> st.Mechanism:
    """n links of 1 m and 1 kg hanging along −z, turning about x, y, x, …; the end is the frame "tip"."""
    return _chain(("xy" * n)[:n])


def _chain(axes: str) -> st.Mechanism:
    m = st.Mechanism()
    link = m.world
    for i, axis in enumerate(axes):
        link = link.link(
            f"link{i}", st.Revolute(f"q{i}", axis), at=(0, 0, -1 if i else 0),
            mass=1.0, com=(0, 0, -0.5), inertia=(0.084, 0.084, 0.002),
        )  # fmt: skip
    link.frame("tip", at=(0, 0, -1))
    return m


def _closing(kind: str, ends: tuple[str, str], names: tuple[str, str], x: float, y: float) -> Any:
    """A constraint that frames `ends`, which coincide or are apart, and coordinates x and y meet."""
    if kind == "PointDirections":
        return st.PointConstraint(*ends, [(1, 2, 0), (0, 1, -1)], frame="link1")
    if kind == "DistanceCoordinate":
        return st.DistanceConstraint(*ends, names[0])
    if kind in ("Universal", "Prismatic"):
        return st.JointConstraint(*ends, st.Universal("u") if kind == "Universal" else st.Prismatic("p", (0, 0.6, 0.8)))
    if kind == "Gear":
        return st.GearConstraint(*names, ratio=-2, offset=y + 2 * x)
    if kind == "Screw":
        return st.ScrewConstraint(*names, pitch=0.3, offset=y - 0.3 * x)
    if kind == "Cam":
        return st.CamConstraint(*names, profile=lambda z: np.sin(z) + z**2 + (y - np.sin(x) - x * x))
    extra: dict[str, tuple[Any, dict[str, Any]]] = {"Distance": ((0.7,), {}), "Plane": ((), {"normal": "x"})}
    arguments, named = extra.get(kind, ((), {"axis": (0.6, 0, 0.8)} if kind == "Hinge" else {}))
    return getattr(st, f"{kind}Constraint")(*ends, *arguments, **named)


def _joint_kinds(rng: np.random.Generator, bodies: int, joints: tuple[str, ...]) -> list[str]:
    """All kinds in a random order, and again; first a Revolute, so that the smallest mechanism moves."""
    kinds: list[str] = []
    while len(kinds) < bodies:
        kinds += rng.permutation(joints).tolist()
    kinds.remove("Revolute")
    return ["Revolute", *kinds][:bodies]


def _may_be_massless(kind: str, following: str | None) -> bool:
    """Whether the link that follows, hung on this one, still gives inertia to every coordinate of this one.

    The six motions of a body bear at most six coordinates, and the centre of a ball moves in three ways only.
    """
    if following in (None, "Ball", "Free", "Formula6"):
        return False
    return FREEDOMS.get(kind, 1) <= 2 or following == "Fixed"


def _random_unit(rng: np.random.Generator) -> tuple[float, ...]:
    axis = rng.normal(size=3)
    return tuple(axis / np.linalg.norm(axis))


def _random_axis(rng: np.random.Generator) -> str | tuple[float, ...]:
    return str(rng.choice(["x", "y", "z", "-x"])) if rng.random() < 0.5 else _random_unit(rng)


def _random_rotate(rng: np.random.Generator) -> np.ndarray:
    """(roll, pitch, yaw) or a matrix."""
    return rng.uniform(-2, 2, 3) if rng.random() < 0.5 else quaternion_matrix(rng.normal(size=4))


def _random_joint(rng: np.random.Generator, name: str, kind: str) -> Any:
    if kind == "Fixed":
        return st.Fixed()
    armature: Any = rng.uniform(0.01, 0.1) if rng.random() < 0.3 else 0.0
    if kind in FORMULAS:
        return _random_formula(rng, name, FREEDOMS.get(kind, 1), armature)
    if kind in ("Ball", "Free"):
        return getattr(st, kind)(name, armature=armature)
    if kind == "Universal":
        axes: Any = str(rng.choice(["xy", "zx", "yz"])) if rng.random() < 0.5 else (_random_unit(rng), "x")
        return st.Universal(name, axes, armature=(armature, 2 * armature))
    if kind == "Screw":
        return st.Screw(name, _random_axis(rng), pitch=rng.uniform(-0.5, 0.5), armature=armature)
    return getattr(st, kind)(name, _random_axis(rng), armature=armature)


def _random_formula(rng: np.random.Generator, name: str, count: int, armature: Any) -> st.FormulaJoint:
    """A joint whose rotation and position are both mixtures of all its coordinates, regular near zero."""
    first, second, shift = _random_unit(rng), _random_unit(rng), rng.normal(size=3) * 0.3
    mix, bend = np.eye(6)[:, :count] + 0.2 * rng.normal(size=(6, count)), 0.2 * rng.normal(size=6)

    def formula(q: Any) -> Any:
        q = [q] if count == 1 else [q[i] for i in range(count)]
        u = [sum(m * x for m, x in zip(row, q, strict=True)) + b * np.sin(q[0] + q[-1])
             for row, b in zip(mix, bend, strict=True)]  # fmt: skip
        R = rotation(first, 0.4 + u[0]) @ rotation(second, u[1]) @ rotation("z", u[2] - u[0] * u[1])
        return R, [shift[0] + u[3], shift[1] + np.sin(u[4]) * np.cos(u[0]), shift[2] + u[5] + 0.3 * u[1] ** 2]

    joint = st.FormulaJoint(name, formula, count, armature=tuple(armature * (1 + np.arange(count))))
    key = (first, second, shift.tobytes(), mix.tobytes(), bend.tobytes())
    joint.__dict__["tapes"] = _TAPES[key] = _TAPES.get(key) or joint.tapes  # six coordinates take a second to trace
    return joint


_TAPES: dict[Any, Any] = {}


def _add_random_mass(rng: np.random.Generator, link: Any, *, point: bool) -> None:
    mass, com = rng.uniform(0.5, 2.0), rng.normal(size=3) * 0.3
    if point:
        link.add_mass(mass, com=com)
        return
    second_moment = rng.normal(size=(3, 3)) * 0.3
    second_moment = mass * (second_moment @ second_moment.T + 0.01 * np.eye(3))  # of a mass distribution, so > 0
    link.add_mass(mass, com=com, inertia=np.trace(second_moment) * np.eye(3) - second_moment)


def _add_every_element(rng: np.random.Generator, m: st.Mechanism) -> None:
    """One of every kind of element, with constants and with inputs; ends of lines are on different bodies."""
    scalars = [f.joint.name for f in m.tree if f.joint.nv == 1]
    rows = [f.joint.name for f in m.tree if f.joint.nv > 1]
    moving = [f for f in m.tree if _carrier(f) is not m.world]

    def scalar() -> str:
        return str(rng.choice(scalars))

    def frame() -> str:
        return str(rng.choice([f.name for f in moving]))

    def pair() -> tuple[str, str]:
        a = moving[rng.integers(len(moving))]
        others = [f.name for f in (m.world, *m.tree) if _carrier(f) is not _carrier(a)]
        return a.name, str(rng.choice(others))

    lengths = np.linspace(0.0, 2.0, 7)
    m.add(
        st.Spring(*pair(), stiffness=20.0, name="bungee"),
        st.Spring(*pair(), stiffness=8.0, length=0.7, damping=0.3),
        st.NonlinearSpring(*pair(), potential=lambda x: 3.0 * x**2 + np.cos(2.0 * x) + 0.1 * x**4),
        st.NonlinearSpring(*pair(), potential=(lengths, 2.0 * lengths**2 + np.sin(lengths))),
        st.Damper(*pair(), 0.4),
        st.JointSpring(scalar(), 5.0, rest=0.3),
        st.JointDamper(scalar(), 0.2),
        *(st.JointDamper(name, 0.1) for name in rows[:1]),  # all coordinates of the joint
        st.JointForce(scalar(), 1.5),
        st.JointForce(scalar(), "motor"),
        st.BodyWrench(frame(), torque=(0.1, "twist", -0.3), force=(1.0, 2.0, "thrust")),
        st.SpatialWrench(frame(), torque=(0.4, 0.5, -0.6), force=("thrust", -1.0, 0.5)),
    )


def _carrier(frame: Any) -> Any:
    """The link (or the world) that a frame is fixed to."""
    while frame.parent is not None and frame.joint.nv == 0:
        frame = frame.parent
    return frame


def unilateral_mechanism() -> st.Mechanism:
    """A ball on a floor and an arm beside it, with every element that only pushes or rubs."""
    m = st.Mechanism()
    m.world.link("ball", st.Free("ball"), mass=1.0, inertia=(0.004, 0.004, 0.004))
    m.world.link("arm", st.Revolute("arm", axis="y"), at=(0, 1, 1), mass=2.0, com=(0, 0, -0.5))
    m.shapes += [st.Shape("ball", "sphere", 0.1, name="ball"), st.Shape("world", "plane", (0, 0), name="floor")]
    m.add(st.Contact("ball", "floor", friction=0.5, restitution=0.2))
    m.add(st.JointLimit("arm", lower=-0.5, upper=0.4, restitution=0.3), st.JointFriction("arm", 0.05))
    return m


def driven_four_bar() -> st.Mechanism:
    """Three equal bars in a row from the world's origin, closed at (1, 0, 0); its crank waits for a servo."""
    m = st.Mechanism(gravity=(0, 0, -9.81))
    bar = {"mass": 1.0, "com": (0.5, 0, 0), "inertia": (0.01, 0.1, 0.1)}
    crank = m.world.link("crank", st.Revolute("crank", "y"), **bar)
    coupler = crank.link("coupler", st.Revolute("coupler", "y"), at=(1, 0, 0), **bar)
    rocker = coupler.link("rocker", st.Revolute("rocker", "y"), at=(1, 0, 0), **bar)
    m.world.frame("pivot", at=(1, 0, 0))
    rocker.frame("foot", at=(1, 0, 0))
    m.add(st.PointConstraint("pivot", "foot", "xz"))
    return m
