"""Random robots as texts: whatever MJCF and URDF allow to be said about trees, masses, joints, defaults and units."""

from __future__ import annotations

import numpy as np

from robot_texts import joint, link, urdf

CLASSES = ("a", "b", "c")
DEFAULTS = """<default><geom density="700"/><joint damping="0.2"/>
  <default class="a"><joint armature="0.1" axis="0 1 0"/><geom mass="0.7"/>
    <default class="b"><joint stiffness="3"/><geom density="500"/>
      <default class="c"><joint ref="0.3" damping="0"/><geom group="3"/></default></default></default></default>"""
SIZES = {"sphere": 1, "capsule": 2, "cylinder": 2, "box": 3, "ellipsoid": 3}


class Mjcf:
    """Writes a random MJCF file; `text` is the whole of it."""

    def __init__(self, seed: int) -> None:
        self.rng, self.names = np.random.default_rng(seed), 0
        self.degree = bool(self.rng.random() < 0.5)
        compiler = self._compiler()
        gravity = self._maybe(0.5, f'<option gravity="{self._numbers(3, 5)}"/>')
        bodies = "".join(self._body(0) for _ in range(self.rng.integers(1, 3)))
        ground = '<geom type="plane" size="1 1 1"/>'
        self.text = f"<mujoco>{compiler}{gravity}{DEFAULTS}<worldbody>{ground}{bodies}</worldbody></mujoco>"

    def _compiler(self) -> str:
        order = self.rng.choice(["xyz", "XYZ", "zyx", "ZYX", "zxz", "XyZ"])
        given = self._maybe(0.7, f' eulerseq="{order}"') + self._maybe(0.15, ' inertiafromgeom="true"')
        for text in ('boundmass="0.5"', 'boundinertia="0.05"', 'settotalmass="7"', 'inertiagrouprange="0 2"'):
            given += self._maybe(0.15, f" {text}")
        return f'<compiler angle="{"degree" if self.degree else "radian"}"{given}/>'

    def _maybe(self, chance: float, text: str) -> str:
        return text if self.rng.random() < chance else ""

    def _numbers(self, count: int, scale: float = 1.0) -> str:
        return " ".join(f"{x:.4f}" for x in self.rng.normal(size=count) * scale)

    def _angle(self, scale: float = 1.0) -> str:
        return f"{self.rng.normal() * scale * (57 if self.degree else 1):.4f}"

    def _name(self) -> str:
        self.names += 1
        return f"n{self.names}"

    def _class(self, chance: float, word: str = "class") -> str:
        return self._maybe(chance, f' {word}="{self.rng.choice(CLASSES)}"')

    def _turned(self) -> str:
        ways = {
            "quat": self._numbers(4),
            "euler": f"{self._angle()} {self._angle()} {self._angle()}",
            "axisangle": f"{self._numbers(3)} {self._angle()}",
            "xyaxes": self._numbers(6),
            "zaxis": self._numbers(3),
        }
        way = str(self.rng.choice(list(ways)))
        return self._maybe(0.8, f'{way}="{ways[way]}"')

    def _framed(self, chance: float, text: str) -> str:
        frame = f'<frame pos="{self._numbers(3, 0.3)}" {self._turned()}>{text}</frame>'
        return frame if self.rng.random() < chance else text

    def _geom(self) -> str:
        kind = str(self.rng.choice(list(SIZES)))
        size = " ".join(f"{x:.3f}" for x in self.rng.uniform(0.02, 0.3, SIZES[kind]))
        where = f'size="{size}" pos="{self._numbers(3, 0.3)}" {self._turned()}'
        if kind != "sphere" and self.rng.random() < 0.4:
            where = f'fromto="{self._numbers(6, 0.4)}" size="{self.rng.uniform(0.02, 0.3):.3f}"'
        where += str(self.rng.choice(["", ' mass="1.3"', ' density="1500"'])) + self._maybe(0.15, ' group="4"')
        where += self._maybe(0.1, ' shellinertia="true"') if kind != "ellipsoid" else ""
        return f'<geom type="{kind}" {where}{self._class(0.2)}/>'

    def _joint(self, kind: str) -> str:
        given = self._maybe(0.7, f' pos="{self._numbers(3, 0.2)}"') + self._class(0.2)
        given += self._maybe(0.4, ' damping="0.8"') + self._maybe(0.4, ' armature="0.4"')
        if kind == "ball":  # whose springs cannot be represented
            return f'<joint name="{self._name()}" type="ball" stiffness="0"{given}/>'
        value = self._angle if kind == "hinge" else lambda: self._numbers(1)
        given += self._maybe(0.8, f' axis="{self._numbers(3)}"') + self._maybe(0.3, f' ref="{value()}"')
        given += self._maybe(0.4, f' stiffness="7" springref="{value()}"') + self._maybe(0.3, ' range="-1 1"')
        return f'<joint name="{self._name()}" type="{kind}"{given}/>'

    def _joints(self, depth: int) -> str:
        if depth == 0 and self.rng.random() < 0.4:
            return f'<freejoint name="{self._name()}"/>'
        kinds = [str(k) for k in self.rng.choice(["hinge", "slide"], self.rng.integers(depth == 0, 3))]
        return "".join(map(self._joint, kinds)) + (self._joint("ball") if self.rng.random() < 0.2 else "")

    def _inertial(self) -> str:
        mass, A = self.rng.uniform(0.2, 3), self.rng.normal(size=(3, 3))
        second = 0.1 * mass * A @ A.T
        inertia = np.trace(second) * np.eye(3) - second
        x, y, z = np.linalg.eigvalsh(inertia)
        values = f'{self._turned()} diaginertia="{x:.5f} {y:.5f} {z:.5f}"'
        if self.rng.random() < 0.5:
            (xx, xy, xz), (_, yy, yz), (_, _, zz) = inertia
            values = f'fullinertia="{xx:.5f} {yy:.5f} {zz:.5f} {xy:.5f} {xz:.5f} {yz:.5f}"'
        return f'<inertial pos="{self._numbers(3, 0.2)}" mass="{mass:.4f}" {values}/>'

    def _body(self, depth: int) -> str:
        place = f'pos="{self._numbers(3, 0.4)}" {self._turned()}{self._class(0.3, "childclass")}'
        inside = self._joints(depth) + self._maybe(0.4, self._inertial())
        inside += "".join(self._framed(0.3, self._geom()) for _ in range(self.rng.integers(1, 3)))
        inside += self._maybe(0.3, f'<site pos="{self._numbers(3, 0.2)}"/>')
        for _ in range(self.rng.integers(0, 3) if depth < 3 else 0):
            inside += self._framed(0.3, self._body(depth + 1))
        return f'<body name="{self._name()}" {place}>{inside}</body>'


def random_urdf(seed: int) -> str:
    """A random URDF with every kind of joint, links without mass inside the tree, and fixed ones.

    A planar joint has the normal z, because Pinocchio reads no other.
    """
    rng = np.random.default_rng(seed)

    def numbers(count: int, scale: float = 1.0) -> str:
        return " ".join(f"{x:.4f}" for x in rng.normal(size=count) * scale)

    def inertial() -> str:
        mass, A = rng.uniform(0.2, 3), rng.normal(size=(3, 3))
        second = 0.05 * mass * A @ A.T
        (xx, xy, xz), (_, yy, yz), (_, _, zz) = np.trace(second) * np.eye(3) - second
        moments = f'ixx="{xx:.6f}" ixy="{xy:.6f}" ixz="{xz:.6f}" iyy="{yy:.6f}" iyz="{yz:.6f}" izz="{zz:.6f}"'
        origin = f'<origin xyz="{numbers(3, 0.2)}" rpy="{numbers(3)}"/>'
        return f'<inertial>{origin}<mass value="{mass:.4f}"/><inertia {moments}/></inertial>'

    count = int(rng.integers(3, 9))
    parents = [int(rng.integers(0, i)) for i in range(1, count)]
    kinds = [
        str(k) for k in rng.choice(["revolute", "continuous", "prismatic", "fixed", "floating", "planar"], count - 1)
    ]
    kinds[0] = "continuous"
    joints = ""
    for i, (parent, kind) in enumerate(zip(parents, kinds, strict=True), start=1):
        inside = f'<origin xyz="{numbers(3, 0.4)}" rpy="{numbers(3)}"/>' if rng.random() < 0.8 else ""
        if kind == "planar":
            inside += '<axis xyz="0 0 1"/>'
        elif kind in ("revolute", "continuous", "prismatic"):
            inside += f'<axis xyz="{numbers(3)}"/><dynamics damping="{rng.uniform(0, 2):.3f}"/>'
        if kind in ("revolute", "prismatic"):
            inside += '<limit lower="-1" upper="1" effort="10" velocity="3"/>'
        joints += joint(f"j{i}", kind, f"l{parent}", f"l{i}", inside)
    light = {i for i in range(1, count) if i in parents and rng.random() < 0.2 and kinds[i - 1] != "floating"}
    return urdf(*(link(f"l{i}", "" if i in light else inertial()) for i in range(count)), joints=joints)
