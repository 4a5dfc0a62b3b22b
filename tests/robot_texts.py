"""Small robots as texts, to be read or to be refused."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np

CORNERS = np.array([[0, 0, 0], [0.3, 0, 0], [0, 0.2, 0], [0, 0, 0.4]])
FACES = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])


def write_stl(path: Path, corners=CORNERS, faces=FACES) -> None:
    rows = b"".join(struct.pack("<12fH", 0, 0, 0, *corners[face].ravel(), 0) for face in faces)
    path.write_bytes(bytes(80) + struct.pack("<I", len(faces)) + rows)


def in_file(folder: Path, text: str, name: str = "robot.xml") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def mjcf(bodies: str, more: str = "") -> str:
    return f"<mujoco>{more}<worldbody>{bodies}</worldbody></mujoco>"


INERTIAL = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'


def urdf(*links: str, joints: str = "") -> str:
    return f'<robot name="r">{"".join(links)}{joints}</robot>'


def link(name: str, inside: str = INERTIAL) -> str:
    return f'<link name="{name}">{inside}</link>'


def joint(name: str, kind: str, parent: str, child: str, inside: str = "") -> str:
    return f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>{inside}</joint>'
