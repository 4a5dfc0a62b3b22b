"""The scene in a browser: nodes of a viser server that are moved from picture to picture."""

from itertools import pairwise
from typing import Any

import numpy as np

from symplectree.lie import Array
from symplectree.view.camera import upward
from symplectree.view.film import Film
from symplectree.view.scene import LINE_COLORS, TRAIL_COLORS, Color, along, round_length
from symplectree.view.surfaces import line_surface, surface

PIECES = 150  # of a trail, shown one after the other


class Stage:
    """Puts a film's scene on a server; `show(k)` moves everything to where it is in picture k."""

    def __init__(self, server: Any, film: Film) -> None:
        self.film = film
        scene, root = film.scene, server.scene
        self._bodies = {body: root.add_frame(_body_path(film, body), show_axes=False) for body in scene.bodies}
        for i, solid in enumerate(scene.solids):
            parent = _body_path(film, solid.body)
            vertices, faces = surface(solid)
            root.add_mesh_simple(
                f"{parent}/{solid.name} {i}", vertices.astype(np.float32), faces.astype(np.uint32), color=_rgb(solid.color),
                opacity=None if solid.opacity >= 1 else solid.opacity, wxyz=_quaternions(solid.pose[None])[0],
                position=solid.pose[:3, 3], side="double" if solid.kind == "mesh" else "front",
            )  # fmt: skip
        self._lines = []
        for i, line in enumerate(scene.lines):
            vertices, faces = line_surface(line)
            self._lines.append(
                root.add_mesh_simple(
                    f"/{line.kind}s/{i}",
                    vertices.astype(np.float32),
                    faces.astype(np.uint32),
                    color=_rgb(LINE_COLORS[line.kind]),
                    cast_shadow=line.kind != "rail",
                )
            )
        self._trails = [
            (last, node)
            for i, (name, path) in enumerate(film.trails.items())
            for last, node in _trail(root, film, name, path, TRAIL_COLORS[i % len(TRAIL_COLORS)])
        ]
        self._turns = {body: _quaternions(film.poses[body]) for body in scene.bodies}
        self._line_turns = [_quaternions(_unstretched(T)) for T in film.stretches]
        _ground(root, film)
        _camera(server, film)
        _lights(root)

    def show(self, k: int) -> None:
        """Move everything to picture k."""
        for body, node in self._bodies.items():
            node.wxyz, node.position = self._turns[body][k], self.film.poses[body][k, :3, 3]
        for node, turns, T in zip(self._lines, self._line_turns, self.film.stretches, strict=True):
            length = float(np.linalg.norm(T[k, :3, 2]))
            node.wxyz, node.position, node.scale = turns[k], T[k, :3, 3], (1.0, 1.0, max(length, 1e-9))
        for last, node in self._trails:
            node.visible = last <= k


def _body_path(film: Film, body: int) -> str:
    name = "world" if body < 0 else film.scene.model.bodies[body].replace("/", "∕")
    return f"/bodies/{name}" if body >= 0 else "/world"


def _trail(root: Any, film: Film, name: str, path: Array, color: Color) -> list[tuple[int, Any]]:
    """The path of a frame in pieces, each with the picture at which it is complete."""
    cuts = np.unique(np.linspace(0, len(path) - 1, PIECES + 1).round().astype(int))
    out = []
    for first, last in pairwise(cuts):
        part = path[first : last + 1]
        node = root.add_line_segments(
            f"/trails/{name.replace('/', '∕')}/{first}", np.stack([part[:-1], part[1:]], 1).astype(np.float32),
            np.array(_rgb(color), dtype=np.uint8), thickness=0.35 * film.scene.radius,
        )  # fmt: skip
        out.append((int(last), node))
    return out


def _ground(root: Any, film: Film) -> None:
    """A grid below everything, with cells of a round size."""
    up = upward(film.scene.model.gravity)
    extent = float(np.linalg.norm(film.high - film.low)) + film.scene.size
    cell = round_length(film.scene.size / 6)
    turn, _ = along(np.zeros(3), up)
    side = cell * max(2, 2 * round(0.6 * extent / cell / 2 + 0.5))
    root.add_grid(
        "/ground", side, side, cell_size=cell, section_size=5 * cell, cell_color=(205, 210, 216),
        section_color=(165, 172, 180), wxyz=_quaternions(turn[None])[0], position=film.ground, shadow_opacity=0.15,
        fade_distance=1e6,
    )  # fmt: skip


def _lights(root: Any) -> None:
    """Plain lights: shadows and mirrored surroundings take half a minute to start where no graphics card helps."""
    root.configure_default_lights(cast_shadow=False)
    root.configure_environment_map(None)
    root.add_light_hemisphere("/light", sky_color=(255, 255, 255), ground_color=(190, 195, 205), intensity=2.2)


def _camera(server: Any, film: Film) -> None:
    camera = film.camera
    distance = float(np.linalg.norm(camera.position - camera.look_at))
    server.scene.set_up_direction(tuple(upward(film.scene.model.gravity)))
    first = server.initial_camera
    first.position, first.look_at, first.up = tuple(camera.position), tuple(camera.look_at), tuple(camera.up)
    first.fov, first.near, first.far = float(camera.field), distance / 100, distance * 100


def _unstretched(T: Array) -> Array:
    """The pose of a line whose z axis is as long as the line."""
    out = T.copy()
    length = np.linalg.norm(T[:, :3, 2], axis=1)
    out[:, :3, 2] = np.where(
        length[:, None] > 0, T[:, :3, 2] / np.where(length > 0, length, 1)[:, None], np.cross(T[:, :3, 0], T[:, :3, 1])
    )
    return out


def _quaternions(T: Array) -> Array:
    """(F, 4, 4) poses to (F, 4) quaternions, w first."""
    from scipy.spatial.transform import Rotation

    return np.roll(Rotation.from_matrix(T[:, :3, :3]).as_quat(), 1, axis=1)


def _rgb(color: Color) -> tuple[int, int, int]:
    red, green, blue = (round(255 * min(max(x, 0.0), 1.0)) for x in color)
    return red, green, blue
