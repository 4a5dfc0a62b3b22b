"""Shapes and poses of the tests of collisions, and the same shapes in MuJoCo."""

import mujoco
import numpy as np

from symplectree import _core

KINDS = {kind: k for k, kind in enumerate(("sphere", "capsule", "cylinder", "box", "ellipsoid", "mesh", "plane"))}
FEATURES = ("sphere", "plane", "line", "circle", "ellipsoid")
PAIR, CAPACITY = 43, 8
SIZES = {
    "sphere": (0.13,),
    "capsule": (0.08, 0.5),
    "cylinder": (0.15, 0.36),
    "box": (0.3, 0.44, 0.2),
    "ellipsoid": (0.12, 0.2, 0.31),
    "plane": (0, 0),
}
HALVED = {"box": (0, 1, 2), "cylinder": (1,), "capsule": (1,)}


def shape(kind, size=None, pose=None, vertices=(), faces=()):
    """A shape of the core; `pose` in its body."""
    return _core.CollisionShape(
        kind=KINDS[kind],
        size=[float(s) for s in (SIZES.get(kind, ()) if size is None else size)],
        pose=np.eye(4) if pose is None else np.ascontiguousarray(pose, float),
        vertices=np.ascontiguousarray(vertices, float).reshape(-1, 3),
        faces=[list(map(int, f)) for f in faces],
    )


def random_rotations(rng, n):
    """Uniform rotations, (n, 3, 3)."""
    w, x, y, z = (q := rng.normal(size=(n, 4))).T / np.linalg.norm(q, axis=1)
    return np.moveaxis(
        np.array(
            [
                [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
            ]
        ),
        -1,
        0,
    )


def random_poses(rng, n, spread=0.5):
    """Poses (n, 4, 4) with uniform rotations, within a cube of that half side."""
    T = np.tile(np.eye(4), (n, 1, 1))
    T[:, :3, :3] = random_rotations(rng, n)
    T[:, :3, 3] = rng.uniform(-spread, spread, size=(n, 3))
    return T


class Found:
    """Pairs of features, one row for each; arrays of the batch's shape with (…, 8) pairs, NaN where there is none."""

    def __init__(self, counts, rows):
        rows = np.where(np.arange(CAPACITY)[:, None] < counts[:, None, None], rows, np.nan)
        self.count = counts.astype(int)
        self.id, self.g = rows[..., 0], rows[..., 1]
        self.n, self.x_a, self.x_b = rows[..., 2:5], rows[..., 5:8], rows[..., 8:11]
        self.feature_a, self.feature_b = rows[..., 11:27], rows[..., 27:43]

    @property
    def distance(self):
        """The least gap of each row, infinite where nothing was found."""
        return np.where(np.isnan(self.g), np.inf, self.g).min(axis=1)


def detect(a, poses_a, b, poses_b, margin):
    """Pairs of features for each two poses (n, 4, 4)."""
    poses_a, poses_b = (np.ascontiguousarray(np.atleast_3d(p).reshape(-1, 4, 4), float) for p in (poses_a, poses_b))
    counts, rows = np.zeros(len(poses_a)), np.zeros((len(poses_a), CAPACITY, PAIR))
    _core.collision_detect(a, poses_a, b, poses_b, margin, counts, rows)
    return Found(counts, rows)


def gaps(features_a, poses_a, features_b, poses_b, twists_a=None, twists_b=None):
    """Rows g, n, x_a, x_b (n, 10), and their first and second derivatives along twists about the poses' origins."""
    zero, out = np.zeros((len(features_a), 6)), np.zeros((len(features_a), 3, 10))
    twists_a, twists_b = (zero if V is None else V for V in (twists_a, twists_b))
    arrays = (features_a, poses_a, twists_a, features_b, poses_b, twists_b)
    _core.collision_gaps(*(np.ascontiguousarray(x, float) for x in arrays), out)
    return out


def mujoco_pair(kind_a, kind_b, sizes=None):
    """A model with two free shapes, and a function that gives their signed distance at two poses."""
    sizes = sizes or (SIZES[kind_a], SIZES[kind_b])
    text = ""
    for name, kind, size in zip("ab", (kind_a, kind_b), sizes, strict=True):
        half = [s / 2 if k in HALVED.get(kind, ()) else s for k, s in enumerate(size)]
        half = [1, 1, 1] if kind == "plane" else half
        geom = f'<geom name="{name}" type="{kind}" size="{" ".join(map(str, half))}"/>'
        text += f'<body mocap="true" name="{name}">{geom}</body>'
    model = mujoco.MjModel.from_xml_string(f"<mujoco><worldbody>{text}</worldbody></mujoco>")
    model.opt.ccd_tolerance, model.opt.ccd_iterations = 1e-14, 500
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)

    def distance(pose_a, pose_b, largest=10.0):
        for k, T in enumerate((pose_a, pose_b)):
            data.geom_xpos[k], data.geom_xmat[k] = T[:3, 3], T[:3, :3].ravel()
        return mujoco.mj_geomDistance(model, data, 0, 1, largest, None)

    return distance
