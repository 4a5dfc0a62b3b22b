"""The native model format: what it reads, that it writes everything, and that what it writes reads back bit for bit."""

import subprocess
import sys
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symplectree as st
from follower_mechanisms import FLAT, tree_pair
from mechanisms import _carrier, planar_chain, random_mechanism
from sexpr_round_trip import assert_round_trip, assert_same_models, plain
from symplectree.elements import Constraint, Element
from symplectree.joints import Joint

ROOT = Path(__file__).parents[2]
LISTING = ROOT / "tests/data/jm09_listing1.sexp"


def with_every_constraint(seed: int) -> st.Mechanism:
    m = random_mechanism(seed, 12, elements=True)
    rng = np.random.default_rng(seed)
    moving = [f for f in m.tree if _carrier(f) is not m.world]

    def pair() -> tuple[Any, str]:
        a = moving[rng.integers(len(moving))]
        b = rng.choice([f.name for f in (m.world, *m.tree) if _carrier(f) is not _carrier(a)])
        return a, str(b)  # one as a Frame, one by name

    p, q = rng.permutation([f.joint.name for f in m.tree if f.joint.nv == 1])[:2].tolist()
    angles = np.linspace(-3, 3, 9)
    joints = (
        st.Fixed(), st.Revolute("r", "-y"), st.Prismatic("p", (0.6, 0, 0.8)), st.Cylindrical("c"), st.Ball("b"),
        st.Universal("u", ((0.6, 0.8, 0), "z")), st.Planar("f", "x"),
    )  # fmt: skip
    return m.add(
        st.PointConstraint(*pair()),
        st.PointConstraint(*pair(), "xz", name="pin"),
        st.PointConstraint(*pair(), (1, 2, 3), frame=moving[0]),
        st.PointConstraint(*pair(), [(1, 0, 0)]),
        st.PointConstraint(*pair(), np.eye(3)[:2]),
        st.DistanceConstraint(*pair(), 1.25),
        st.DistanceConstraint(*pair(), "string"),
        st.PlaneConstraint(*pair(), normal=(0, 0.6, 0.8)),
        st.ScrewConstraint(p, q, pitch=0.1, offset=-0.2),
        st.GearConstraint(p, q, ratio=-2),
        st.CamConstraint(p, q, profile=lambda x: 0.1 * np.cos(x) + 0.02 * np.sin(3 * x)),
        st.CamConstraint(p, q, profile=(angles, np.cos(angles)), name="cam"),
        st.WeldConstraint(*pair()),
        st.HingeConstraint(*pair(), axis="x"),
        *(st.JointConstraint(*pair(), joint) for joint in joints),
    )


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("bodies", [2, 9, 25])
def test_round_trip_of_random_mechanisms(seed, bodies):
    if bodies == 2:
        assert_round_trip(random_mechanism(seed, bodies))
    else:
        assert_round_trip(random_mechanism(seed, bodies, elements=True))


@pytest.mark.parametrize("seed", range(10))
def test_round_trip_of_every_constraint(seed):
    m = with_every_constraint(seed)
    written = {c for c in Constraint.__subclasses__() if c.__module__.startswith("sympl") and c.in_files}
    in_other_tests = {st.RollingConstraint, st.FormulaConstraint}  # test_formulas
    assert {type(e) for e in m.elements} >= written - in_other_tests
    assert_round_trip(m)


@pytest.mark.parametrize("curved", [False, True])
def test_round_trip_of_coordinates_that_follow(curved):
    m = tree_pair(1, curved=curved, joints=FLAT).shared.description
    text = m.to_sexpr()
    assert text.count("(eliminate true)") == 5
    assert st.loads(text).build().coordinates == m.build().coordinates
    assert_round_trip(m)
    plain_gear = st.GearConstraint("a", "b", ratio=2)
    assert "eliminate" not in random_mechanism(0, 3).add(plain_gear).to_sexpr()


@pytest.mark.parametrize(
    "element",
    [
        st.UserPotential(lambda q: 0, lambda q: q, name="own"),
        st.UserForce(lambda q, v: -v, name="own"),
        st.UserConstraint(lambda q: 0, lambda q: q, name="own"),
    ],
    ids=lambda e: type(e).__name__,
)
def test_functions_of_the_users_own_cannot_be_written(element):
    with pytest.raises(st.ModelError, match="'own'"):
        random_mechanism(0, 3).add(element).to_sexpr()


def test_the_model_computes_the_same():
    m = random_mechanism(5, 12, elements=True)
    one, other = m.build(), st.loads(m.to_sexpr()).build()
    q = one.neutral + 0.1
    v = np.linspace(-1, 1, one.nv)
    np.testing.assert_array_equal(st.bias_forces(one, q, v), st.bias_forces(other, q, v))


@pytest.mark.filterwarnings("ignore:.*point-constaint")
def test_listing_of_the_paper():
    m = st.load(LISTING)
    by_hand = st.Mechanism(gravity=(0, 0, -9.81)).frames(
        st.ry("J", name="J")[
            st.tz(-0.5, name="I", mass=1),
            st.tz(-1.0)[st.ry("H", name="H")[st.tz(-1.0, name="G", mass=1), st.tz(-2.0, name="O2")]],
        ],
        st.tx(-1.5)[
            st.ry("K", name="K")[
                st.tz(-1.0, name="L", mass=1),
                st.tz(-2.0)[st.ry("M", name="M")[st.tz(-0.5, name="N", mass=1), st.tz(-1.0, name="O")]],
            ]
        ],
        st.tx(1.5)[
            st.ry("A", name="A")[
                st.tz(-1.0, name="B", mass=1),
                st.tz(-2.0)[
                    st.ry("C", name="C")[
                        st.tz(-0.375, name="D", mass=1),
                        st.tz(-0.75)[st.ry("E", name="E")[st.tz(-0.5, name="F", mass=1), st.tz(-1.0, name="G2")]],
                    ]
                ],
            ]
        ],
    )
    for a, b in (("G", "G2"), ("O", "O2")):
        by_hand.add(st.PointConstraint(a, b, (1, 0, 0)), st.PointConstraint(a, b, (0, 0, 1)))
    assert_same_models(m.build(), by_hand.build())
    assert m.build().coordinates == tuple("JHKMACE")
    assert_round_trip(m)
    assert_round_trip(by_hand)


def test_misprint_of_the_paper_is_read_with_a_warning():
    with pytest.warns(UserWarning) as told:
        st.load(LISTING)
    assert len(told) == 4
    assert str(told[0].message) == f"{LISTING}:25:2: point-constaint is read as point-constraint"
    assert told[0].filename == __file__


@pytest.mark.filterwarnings("ignore:.*point-constaint")
def test_model_file_of_the_device_starts_where_its_loops_are_closed():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        m = st.load(ROOT / "models/closed_chain_device.sexp")
    model = m.build()
    assert_same_models(model, st.load(LISTING).build())
    assert set(m.initial) == set(model.coordinates)
    for a, b in (("G", "G2"), ("O", "O2")):
        gap = st.pose(model, m.initial, a)[:3, 3] - st.pose(model, m.initial, b)[:3, 3]
        np.testing.assert_allclose(gap, 0, atol=4e-15)  # roundings of sums of a few metres


@pytest.mark.parametrize("path", sorted((ROOT / "models").glob("*.sexp")), ids=lambda p: p.name)
def test_model_files(path):
    m = st.load(str(path))
    assert_round_trip(m)


def test_table_ii_of_the_paper():
    m = st.loads("""
        (SYSTEM ; keywords have any case
          (GRAVITY 0 0 -1)
          (TX 0.1 TY "slide" TZ 0.3 (MASS 2 1 1 1) (NAME "end") (RZ (D "turn") (MASS 1 3 3 3)))
          (Rx “lean” (Name “leaning”) (Mass 1 1 1 1))
          (POINT-CONSTRAINT "end" "leaning" 0 0 1 (NAME "c"))
          (Point-Constraint "end" "leaning" (1 0 0) (0 1 0)))""")
    literal = st.Mechanism(gravity=(0, 0, -1)).frames(
        st.tx(0.1)[st.ty("slide")[st.tz(0.3, name="end", mass=(2, 1, 1, 1))[st.rz("turn", mass=(1, 3, 3, 3))]]],
        st.rx("lean", name="leaning", mass=(1, 1, 1, 1)),
    )
    literal.add(
        st.PointConstraint("end", "leaning", (0, 0, 1), name="c"),
        st.PointConstraint("end", "leaning", ((1, 0, 0), (0, 1, 0))),
    )
    assert_same_models(m.build(), literal.build())
    assert [f.name for f in m.tree] == ["#1", "#2", "end", "#4", "leaning"]
    assert_round_trip(m)


def test_links_frames_masses_and_elements():
    m = st.loads("""
        (system
          (world (mass 3) (com 0 0 1))
          (link "upper" (revolute "shoulder" (axis 0 1 0) (armature 0.01)) (mass 1) (com 0 0 -0.5)
            (inertia 0.084 0.084 0.002)
            (add-mass 0.2 (com 0 0.1 0)) (add-mass 0.3 1 1 1)
            (link "lower" (screw "elbow" "-x" (pitch 0.1)) (at 0 0 -1) (rotate 0.1 0.2 0.3) (mass 1 1 1 1)
              (frame "tip" (at 0 0 -1) (rotate (0 -1 0) (1 0 0) (0 0 1)))))
          (link "loose" (parent "tip") (ball "b") (mass 1) (inertia (1 0 0) (0 1 0.1) (0 0.1 1)))
          (spring "tip" "world" (stiffness 20) (length 0.5) (damping 0.1) (name "s"))
          (joint-damper "elbow" 0.1)
          (joint-force "shoulder" "motor")
          (body-wrench "tip" (force 0 "thrust" 1))
          (initial ("shoulder" 0.7) ("b" 1 0 0 0)))""")
    same = st.Mechanism()
    same.world.add_mass(3, com=(0, 0, 1))
    upper = same.world.link(
        "upper",
        st.Revolute("shoulder", (0, 1, 0), armature=0.01),
        mass=1,
        com=(0, 0, -0.5),
        inertia=(0.084, 0.084, 0.002),
    )
    upper.add_mass(0.2, com=(0, 0.1, 0)).add_mass(0.3, inertia=(1, 1, 1))
    lower = upper.link(
        "lower", st.Screw("elbow", "-x", pitch=0.1), at=(0, 0, -1), rotate=(0.1, 0.2, 0.3), mass=1, inertia=(1, 1, 1)
    )
    tip = lower.frame("tip", at=(0, 0, -1), rotate=((0, -1, 0), (1, 0, 0), (0, 0, 1)))
    tip.link("loose", st.Ball("b"), mass=1, inertia=((1, 0, 0), (0, 1, 0.1), (0, 0.1, 1)))
    same.add(
        st.Spring("tip", "world", stiffness=20, length=0.5, damping=0.1, name="s"),
        st.JointDamper("elbow", 0.1),
        st.JointForce("shoulder", "motor"),
        st.BodyWrench("tip", force=(0, "thrust", 1)),
    )
    assert_same_models(m.build(), same.build())
    assert m.initial == {"shoulder": 0.7, "b": (1, 0, 0, 0)} and same.initial == {}
    assert_round_trip(m)


def test_example_of_the_documentation():
    page = (ROOT / "docs/models-and-files.md").read_text(encoding="utf-8")
    text = page.split("```lisp\n")[1].split("```")[0]
    m = st.loads(text)
    assert m.initial == {"shoulder": 0.7}
    assert_round_trip(m)
    with pytest.raises(st.ModelSyntaxError) as raised:
        st.loads(text.replace("stiffness", "stifness"))
    shown = page.split("```text\n")[1].split("```")[0]
    assert str(raised.value).replace("<text>", "arm.sexp") == shown.strip()


def test_the_format_is_imported_when_used():
    code = "import sys, symplectree; print([m for m in sys.modules if m.startswith('symplectree.io.')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_without_gravity_it_is_that_of_a_mechanism():
    assert tuple(st.loads("(system)").gravity) == st.Mechanism().gravity


def test_looks():
    m = planar_chain(2)
    m.tree[0].frames(st.tx(0.5, name="hook", mass=0.25)[st.rz("spin", mass=(1, 2, 2, 2))])
    m.add(st.Spring("tip", "world", stiffness=20.0, length=0.5), st.JointDamper("q1", 1e-9))
    m.initial = {"q0": 0.7, "q1": np.float64(-1)}
    assert (
        m.to_sexpr()
        == """\
(system
  (gravity 0 0 -9.81)
  (link "link0" (revolute "q0" (axis "y")) (mass 1) (com 0 0 -0.5) (inertia 0.084 0.084 0.002)
    (link "link1" (revolute "q1" (axis "y")) (at 0 0 -1) (mass 1) (com 0 0 -0.5)
      (inertia 0.084 0.084 0.002)
      (frame "tip" (at 0 0 -1)))
    (tx 0.5 (name "hook") (mass 0.25)
      (rz "spin" (mass 1 2 2 2))))
  (spring "tip" "world" (stiffness 20) (length 0.5))
  (joint-damper "q1" 1e-09)
  (initial ("q0" 0.7) ("q1" -1)))
"""
    )


def test_lines_are_short_enough_to_read():
    text = with_every_constraint(0).to_sexpr()
    # a row of three full floats is the longest thing that is not broken, at any depth of this tree
    assert max(map(len, text.splitlines())) <= 110


def test_long_chains():
    again = assert_round_trip(planar_chain(2000))
    text = planar_chain(2000).to_sexpr()
    assert max(map(len, text.splitlines())) < 150  # no endless indentation
    deep = "(system " + "".join(f'(tz -0.01 ry "q{k}" (mass 1 1 1 1) ' for k in range(3000)) + ")" * 3001
    m = st.loads(deep)
    assert len(m.tree) == 6000 and len(again.tree) == 2001
    assert st.loads(m.to_sexpr()).to_sexpr() == m.to_sexpr()


def test_names_of_all_sorts_survive():
    names = [
        'say "hi"',
        "back\\slash",
        "two\nlines",
        "tab\t",
        "“quoted”",
        "Ω ünï",
        "; no comment",
        "(",
        "#7",
        "\x01\x7f",
        " ",
    ]
    m = st.Mechanism()
    for i, name in enumerate(names):
        m.world.link(name, st.Revolute(f"{name}!"), mass=1, inertia=(1, 1, 1))
        m.add(st.JointDamper(f"{name}!", i, name=name))
    m.initial = dict.fromkeys((f"{name}!" for name in names), 0.5)
    again = assert_round_trip(m)
    assert [f.name for f in again.tree] == names
    assert again.initial == m.initial


def test_signs_of_zeros_and_extreme_numbers_survive():
    m = st.Mechanism(gravity=(-0.0, 0.0, -9.81))
    link = m.world.link("a", st.Prismatic("q"), at=(5e-324, -0.0, 1e100), mass=0.1 + 0.2)
    link.frame("b", at=np.array([-0.0, -0.0, -1.0]))
    link.frame("c", at=(-0.0, 0, 1), rotate=np.array([0, -0.0, 1]))
    link.frame("d", rotate=np.array([-0.0, -1e-300, -0.0]))
    again = assert_round_trip(m)
    assert plain(again.gravity) == plain(m.gravity)
    assert np.array(again.tree[0].at).tobytes() == np.array(m.tree[0].at).tobytes()


@pytest.mark.parametrize(
    "given",
    [
        {"mass": np.int64(0)},
        {"mass": [0]},
        {"mass": -0.0},
        {"mass": 1, "com": (-0.0, 0, 0)},
        {"mass": np.array(2), "com": [0, 0, 1], "inertia": [1, 1, 1]},
        {"joint": st.Revolute("q", "y", armature=np.int64(0))},
        {"joint": st.Revolute("q", "y", armature=(0,))},
        {"joint": st.Revolute("q", np.array([0, 1, 0]), armature=np.float32(0.1))},
        {"joint": st.Fixed("weld")},
        {"rotate": (0, 0, 0)},
        {"rotate": np.zeros(3)},
        {"at": np.array([0, 0, 2])},
        {"at": np.array([0.0, 0.0, 2.0])},
        {"at": np.array([0.0, 0.0, 2.0]), "rotate": np.array([0.0, 0.0, 2.0])},
    ],
    ids=str,
)
@pytest.mark.parametrize("on_the_world", [True, False])
def test_numbers_given_in_any_way(given, on_the_world):
    m = random_mechanism(2, 2)
    parent = m.world if on_the_world else m.tree[0]
    body = parent.link("odd", **{"joint": st.Fixed()} | given)
    body.add_mass(0.5, inertia=np.array([1, 1, 1]))
    body.frame("#99").frame("again").add_mass(0)
    m.world.frame(f"#{len(m.tree) + 1}")
    body.frame(f"#{len(m.tree) + 1}")  # its parent is closed by now, and nothing else is to be said about it
    assert_round_trip(m)


def test_masses_of_the_world():
    for masses in ([(0, (0, 0, 0))], [(1, (0, 0, 1)), (2, (0, 1, 0))], [(0, (0, 0, 0)), (1, (0, 0, 1))]):
        m = st.Mechanism().frames(st.tx("q", mass=1))
        for mass, com in masses:
            m.world.add_mass(mass, com=com)
        assert len(assert_round_trip(m).world.masses) == len(masses)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: 2 * (x - 0.5) ** 2,
        lambda x: 3.0,
        lambda x: x,
        lambda x: sum(k * x**k for k in range(12)),
        lambda x: np.exp(-3 * x) * np.sqrt(1 + x**2) / (2 + np.tanh(x)),
        lambda x: np.fmax(x - 1, 0) ** 2 + np.fmin(x, 2) + np.fabs(x) + np.sign(x),
        lambda x: np.arctan2(x, 2) + np.arctan(x) + np.arcsin(x / 10) + np.arccos(x / 10) + np.tan(x / 10),
        lambda x: np.sinh(x) + np.cosh(x) + np.log(x + 3) - 1 / (x + 1) + (x + 1) ** 2.5 + 2 ** (-x),
        lambda x: (x < 1) * x**2,  # no formula: written as its tape
        lambda x: 1e-17 * x**2 + (1 / 3) * x,
    ],
)
def test_python_functions_give_the_same_tape(function):
    m = random_mechanism(1, 4)
    m.add(st.NonlinearSpring(m.tree[0], "world", potential=function))
    assert_round_trip(m)


def test_lowered_functions_can_be_written_too():
    m = with_every_constraint(3)
    model = m.build()
    m.elements = list(model.elements)  # with tapes and tables in place of functions
    text = m.to_sexpr()
    assert "(tape " in text and "(spline " in text
    assert_round_trip(m)


@pytest.mark.parametrize(
    ("expression", "function"),
    [
        ("(+ (* 2 (sin x)) (^ x 2))", lambda x: 2 * np.sin(x) + x**2),
        ("(- x)", lambda x: -x),
        ("(- 1 X 2)", lambda x: 1 - x - 2),
        ("(* pi (/ x 2) (- x 1))", lambda x: np.pi * (x / 2) * (x - 1)),
        ("(max (min x 3) (abs (atan2 x 2)))", lambda x: np.fmax(np.fmin(x, 3), np.fabs(np.arctan2(x, 2)))),
        ("(sqrt (exp (log (cosh x))))", lambda x: np.sqrt(np.exp(np.log(np.cosh(x))))),
        ("7", lambda x: 7.0),
    ],
)
def test_formulas(expression, function):
    m = st.loads(f'(system (tx "q" (mass 1)) (nonlinear-spring "#1" "world" (potential (formula x {expression}))))')
    for x in (0.3, 1.7):
        assert m.elements[0].potential(x) == pytest.approx(function(x), rel=1e-15)
    other = st.Mechanism().frames(st.tx("q", mass=1)).add(st.NonlinearSpring("#1", "world", potential=function))
    assert_same_models(m.build(), other.build())
    assert_round_trip(m)


def test_very_deep_formula():
    text = "(+ 1 " * 5000 + "x" + ")" * 5000
    m = st.loads(f'(system (tx "q" (mass 1)) (nonlinear-spring "#1" "world" (potential (formula x {text}))))')
    assert m.elements[0].potential(2.0) == 5002
    assert st.loads(m.to_sexpr()).elements[0].potential == m.elements[0].potential


@dataclass(frozen=True)
class TwinRotor(Element):
    """An element of a user's own, which the format has never heard of."""

    frame: str
    thrusts: tuple[float | str, ...]
    count: int = 2
    joint: Joint = field(default=st.Ball("b"), kw_only=True)

    def add_rows(self, into):
        return self


def test_a_new_element_needs_no_parser():
    m = random_mechanism(0, 3)
    m.add(
        TwinRotor("link0", (1.5, "right")),
        TwinRotor("link0", ("left",), 3, joint=st.Planar("p", (0, 0.6, 0.8)), name="rotors"),
    )
    text = m.to_sexpr()
    assert '(twin-rotor "link0" (1.5 "right"))' in text
    assert '(twin-rotor "link0" ("left") (count 3) (joint (planar "p" (normal 0 0.6 0.8))) (name "rotors"))' in text
    assert st.loads(text).elements == m.elements
    assert_round_trip(m)
    with pytest.raises(st.ModelSyntaxError, match=r"count of twin-rotor takes an integer, not the number 1\.5"):
        st.loads('(system (twin-rotor "a" (1) 1.5))')


class Spring(st.Spring):
    """Has the keyword of another class."""


def nothing() -> st.Mechanism:
    return st.Mechanism().frames(st.tx("q", name="a", mass=1))


def spoilt_tree(**given: Any) -> st.Mechanism:
    m = nothing()
    m.world.link("b", **{"joint": st.Revolute("p")} | given)
    return m


@pytest.mark.parametrize(
    ("mechanism", "words"),
    [
        (
            nothing().add(st.NonlinearSpring("a", "world", potential=lambda x: x if x > 1 else 2, name="s")),
            "Spring 's'",
        ),
        (nothing().add(st.CamConstraint("a", "world", profile=lambda x: x if x > 1 else 2)), "the profile cannot"),
        (nothing().add(st.NonlinearSpring("a", "world", potential=3)), "NonlinearSpring without name (element 1)"),
        (nothing().add(st.Spring("a", "world", stiffness=float("nan"), name="s")), "stiffness of Spring 's' is nan"),
        (nothing().add(st.Spring("a", "world", stiffness=None, name="s")), "stiffness of Spring 's' is None"),
        (nothing().add(st.Spring("a", nothing().tree[0], stiffness=1, name="s")), "belongs to another mechanism"),
        (nothing().add(Spring("a", "world", stiffness=1, name="s")), "Spring 's' cannot be written"),
        (nothing().add("spring"), "no element"),
        (spoilt_tree(at=(0, 0)), "at of link 'b'"),
        (spoilt_tree(rotate="up"), "rotate of link 'b'"),
        (spoilt_tree(mass=1, inertia=(1, 1)), "inertia of link 'b'"),
        (spoilt_tree(joint="ball"), "joint of link 'b'"),
        (spoilt_tree(joint=st.Revolute("p", axis=None)), "the joint of link 'b'"),
    ],
)
def test_what_cannot_be_written(mechanism, words):
    with pytest.raises(st.ModelError) as raised:
        mechanism.to_sexpr()
    assert words in str(raised.value) and "\n" not in str(raised.value)


@pytest.mark.parametrize("initial", [{"q": []}, {"q": "far"}, {3: 1}, [1, 2], {"q": float("inf")}])
def test_initial_that_cannot_be_written(initial):
    m = nothing()
    m.initial = initial
    with pytest.raises(st.ModelError, match="initial"):
        m.to_sexpr()


def test_twins_in_name_cannot_be_written():
    m = spoilt_tree()
    m.world.frame("b")
    with pytest.raises(st.ModelError, match="two frames are named 'b'"):
        m.to_sexpr()
