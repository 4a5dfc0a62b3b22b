"""Poses in MjSpec: MJCF's many ways to give an orientation, and nested <frame> elements."""

from typing import Any

import numpy as np

from symplectree.extras import extra
from symplectree.io.robots.reading import Reading
from symplectree.lie import Array, pose, quaternion_matrix


def local_pose(r: Reading, element: Any, owner: str) -> Array:
    """Pose of a body, geom or site in its parent body, the frames between them included."""
    return frame_pose(r, element, owner) @ own_pose(r, element, owner)


def frame_pose(r: Reading, element: Any, owner: str) -> Array:
    """Pose in the body of the innermost <frame> around an element."""
    T = np.eye(4)
    frame = element.frame
    while frame is not None:
        T = own_pose(r, frame, f"a frame around {owner}") @ T
        frame = frame.frame
    return T


def own_pose(r: Reading, element: Any, owner: str) -> Array:
    """Position and orientation as they stand at the element itself."""
    R = rotation_matrix(r, element.quat, element.alt, element.compiler, owner)
    return pose(R, r.numbers(f"the position of {owner}", element.pos))


def rotation_matrix(r: Reading, quaternion: Any, alternative: Any, compiler: Any, owner: str) -> Array:
    """The matrix of a quaternion, or of the Euler angles, axes or axis and angle given in its place."""
    mujoco = extra("mujoco")

    if alternative.type != mujoco.mjtOrientation.mjORIENTATION_QUAT:
        try:
            quaternion = r.spec.resolve_orientation(
                degree=bool(compiler.degree), sequence=compiler.eulerseq, orientation=alternative
            )
        except ValueError as error:
            raise r.error(f"the orientation of {owner} cannot be: {error}") from None
    quaternion = r.numbers(f"the orientation of {owner}", quaternion)
    if not np.any(quaternion):
        raise r.error(f"the orientation of {owner} is the quaternion zero")
    return quaternion_matrix(quaternion)


def angle(value: float, compiler: Any) -> float:
    """An angle [rad] in the unit that the file's compiler element says."""
    return float(np.deg2rad(value) if compiler.degree else value)


def placed(T: Array) -> dict[str, Any]:
    """The arguments `at` and `rotate` of a link for a pose."""
    turned = not np.array_equal(T[:3, :3], np.eye(3))
    return {"at": tuple(map(float, T[:3, 3])), "rotate": T[:3, :3] if turned else None}
