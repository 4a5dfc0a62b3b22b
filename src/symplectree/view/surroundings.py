"""What is around a mechanism on a page: the camera, lights, shadows and the ground.

A browser's shadows are made for lengths of a certain order: depths are compared up to 1e-5 in a buffer that begins 1 mm
before the lamp, which is 0.01 d² at the distance d, and what is thinner than that lies in its own shadow. So lengths are
scaled, such that every camera is APART from what it looks at, and this is a few thousandths of what the camera sees.
"""

from typing import Any

import numpy as np

from symplectree.lie import Array
from symplectree.view.camera import Camera
from symplectree.view.film import Film
from symplectree.view.scene import Scene
from symplectree.view.solids import along, round_length

APART = 0.02  # distance of the camera from what it looks at, on the page
LAMP = np.array([-0.3, 0.9, 0.3]) / np.linalg.norm([-0.3, 0.9, 0.3])  # towards it: right, up and back, of the camera
STEEP = 0.6  # least height of the lamp over its distance, for shadows on the ground
HALL = 2.2  # radius of what the lamp shines on, over half the height of the picture
AWAY = 6.0  # distance of the lamp, over the same
SUN, SKY = 2.6, 2.1  # light of the lamp, and from everywhere
FLOOR = (240, 241, 244)  # colour of a floor
SHADE = 0.3  # darkness of shadows on the ground, 0 to 1


def page_scale(camera: Camera) -> float:
    """Lengths on the page over those of the mechanism."""
    return APART / float(np.linalg.norm(camera.position - camera.look_at))


def set_camera(server: Any, camera: Camera, up: Array) -> None:
    """The camera that a page starts with; it turns about the direction that is up."""
    scale = page_scale(camera)
    server.scene.set_up_direction(tuple(up))
    first = server.initial_camera
    first.position, first.look_at = tuple(scale * camera.position), tuple(scale * camera.look_at)
    first.up, first.fov = tuple(camera.up), float(camera.field)
    first.near, first.far = APART / 100, APART * 100


def add_lights(nodes: Any, camera: Camera, up: Array) -> None:
    """A lamp beside and above the camera, whose light casts shadows, and light from everywhere.

    The lamp shines on what the camera sees and as much again around it. There is one only: each takes a browser without
    graphics card seconds to start.
    """
    nodes.configure_default_lights(enabled=False)
    nodes.configure_environment_map(None)
    nodes.add_light_hemisphere("/light/sky", sky_color=(255, 255, 255), ground_color=(176, 182, 194), intensity=SKY)
    lamp = towards_lamp(camera, up)
    half = APART * np.tan(camera.field / 2)
    nodes.add_light_spot(
        "/light/lamp", position=tuple(page_scale(camera) * camera.look_at + AWAY * half * lamp), direction=tuple(-lamp),
        angle=float(np.arctan(HALL / AWAY)), penumbra=0.5, decay=0.0, distance=float(4 * AWAY * half), intensity=SUN,
        cast_shadow=True,
    )  # fmt: skip


def towards_lamp(camera: Camera, up: Array) -> Array:
    """Direction to the lamp in the world, above the ground wherever the camera is."""
    lamp = camera.axes.T @ LAMP
    lamp = lamp + max(0.0, STEEP - float(lamp @ up)) * up
    return np.asarray(lamp / np.linalg.norm(lamp))


def cell_size(scene: Scene) -> float:
    """Side of a cell of the grid on the ground [m]."""
    return round_length(scene.size / 6)


def add_ground(nodes: Any, film: Film, name: str) -> None:
    """A grid below everything, where there is a ground, with cells of a round size, on which shadows fall."""
    ground = film.ground
    if ground is None:
        return
    scale = page_scale(film.camera)
    extent = float(np.linalg.norm(film.high - film.low)) + film.scene.size
    cell = cell_size(film.scene)
    side = cell * max(2, 2 * round(0.6 * extent / cell / 2 + 0.5))
    turn, _ = along(np.zeros(3), ground.up)
    nodes.add_grid(
        name, scale * side, scale * side, cell_size=scale * cell, section_size=5 * scale * cell,
        cell_color=(205, 210, 216), section_color=(165, 172, 180), wxyz=quaternions(turn[None])[0],
        position=scale * ground.at, shadow_opacity=SHADE, fade_distance=1e6, plane_color=FLOOR,
        plane_opacity=1.0 if ground.solid else 0.0,
    )  # fmt: skip


def quaternions(T: Array) -> Array:
    """(F, 4, 4) poses to (F, 4) quaternions, w first."""
    from scipy.spatial.transform import Rotation

    if not len(T):
        return np.zeros((0, 4))
    return np.roll(Rotation.from_matrix(T[:, :3, :3]).as_quat(), 1, axis=1)
