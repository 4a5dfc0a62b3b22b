"""MJCF's sensors as ours, of the same names and values.

| in the file | becomes |
| --- | --- |
| accelerometer, gyro, velocimeter | Accelerometer, Gyro, FrameVelocity of the site, in its axes |
| force, torque | JointReaction of the joint that moves the site's body, at the site |
| framepos, framequat, framexaxis, frameyaxis, framezaxis | FramePose of a site or body, perhaps relative to another |
| framelinvel, frameangvel | FrameVelocity, likewise |
| framelinacc, frameangacc | FrameAcceleration; as MuJoCo's, the linear one without gravity |
| jointpos, ballquat; jointvel, ballangvel | JointPosition; JointVelocity |
| actuatorfrc | ActuatorForce |
| subtreecom | CenterOfMass |

All others are noted: of inertial frames, geoms and cameras, of bodies that no joint moves, and of other kinds.
"""

from typing import Any

from symplectree.extras import extra
from symplectree.io.robots.reading import Reading, new_name
from symplectree.sensors import (
    Accelerometer,
    ActuatorForce,
    CenterOfMass,
    FrameAcceleration,
    FramePose,
    FrameVelocity,
    Gyro,
    JointPosition,
    JointReaction,
    JointVelocity,
    Sensor,
)

POSE = {"framepos": "position", "framequat": "quaternion", "framexaxis": "x", "frameyaxis": "y", "framezaxis": "z"}
VELOCITY = {"framelinvel": "linear", "frameangvel": "angular"}
ACCELERATION = {"framelinacc": "linear", "frameangacc": "angular"}
JOINTS: dict[str, type] = {
    "jointpos": JointPosition,
    "ballquat": JointPosition,
    "jointvel": JointVelocity,
    "ballangvel": JointVelocity,
}


def add_sensors(r: Reading) -> None:
    """Add the sensors of the file; those that cannot be read are noted."""
    names = {sensor.name for sensor in r.spec.sensors if sensor.name}
    for i, sensor in enumerate(r.spec.sensors):
        name = sensor.name or new_name(f"sensor{i + 1}", names)
        made = _sensor(r, sensor, name)
        if made is None:
            r.note("sensors", [f"{name} ({_kind(sensor)})" if sensor.name else f"{name}, {_kind(sensor)}"])
            continue
        if sensor.cutoff:
            r.note("cutoff of sensors", [name])
        r.mechanism.add(made)


def _kind(sensor: Any) -> str:
    return str(sensor.type.name).removeprefix("mjSENS_").lower()


def _sensor(r: Reading, sensor: Any, name: str) -> Sensor | None:
    kind, target = _kind(sensor), sensor.objname
    if kind in JOINTS:
        known = any(frame.joint.nv and frame.joint.name == target for frame in r.mechanism.tree)
        made: Sensor | None = JOINTS[kind](name, target) if known else None
        return made
    if kind == "actuatorfrc":
        return ActuatorForce(name, target) if target in r.inputs else None
    if kind in ("force", "torque"):
        return _reaction(r, name, kind, target)
    if kind == "subtreecom":
        return CenterOfMass(name, r.bodies[target].frame.name) if _moving_joint(r, target) else None
    frame = _frame(r, sensor.objtype, target)
    base = _frame(r, sensor.reftype, sensor.refname) if sensor.refname else "world"
    if frame is None or base is None:
        return None
    simple = {"accelerometer": Accelerometer, "gyro": Gyro}
    if kind in simple:
        return simple[kind](name, frame)
    if kind == "velocimeter":
        return FrameVelocity(name, frame, part="linear", axes="frame")
    if kind in POSE:
        return FramePose(name, frame, part=POSE[kind], relative_to=base)  # type: ignore[arg-type]
    if kind in VELOCITY:
        return FrameVelocity(name, frame, part=VELOCITY[kind], relative_to=base)  # type: ignore[arg-type]
    if kind in ACCELERATION:
        return FrameAcceleration(name, frame, part=ACCELERATION[kind], proper=True)  # type: ignore[arg-type]
    return None


def _frame(r: Reading, kind: Any, name: str) -> str | None:
    """Our frame for a site or a body's own frame."""
    mujoco = extra("mujoco")

    if kind == mujoco.mjtObj.mjOBJ_SITE and name in r.sites:
        return str(r.sites[name].name)
    if kind == mujoco.mjtObj.mjOBJ_XBODY and name in r.bodies:
        return str(r.bodies[name].frame.name)
    return None


def _moving_joint(r: Reading, body: str) -> str | None:
    """The last joint of the file's that moves a body, if the mechanism has it."""
    found: Any = r.spec.body(body)
    if found is None or body not in r.bodies or not list(found.joints):
        return None
    name = list(found.joints)[-1].name
    return str(name) if any(frame.joint.name == name for frame in r.mechanism.tree) else None


def _reaction(r: Reading, name: str, kind: str, site: str) -> Sensor | None:
    found: Any = r.spec.site(site)
    if found is None or site not in r.sites:
        return None
    joint = _moving_joint(r, found.parent.name)
    if joint is None:
        return None
    return JointReaction(name, joint, part=kind, frame=r.sites[site].name)  # type: ignore[arg-type]
