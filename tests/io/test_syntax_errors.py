"""Every kind of text that is no model: the place of the culprit, a caret below it, and what to do."""

import pickle

import numpy as np
import pytest

import symplectree as st
from mechanisms import random_mechanism

# ‸ stands before the culprit
CASES = [
    # parentheses, quotes, and what is around the model
    ("‸", "no model", "a model looks like"),
    ("; nothing here\n‸", "no model", ""),
    ("‸(system", "not closed", "add )"),
    ('(system\n  ‸(tx 1 (ry "a")', "not closed", "add ))"),
    ("‸(system\n  (tx 1\n    (ty 2)\n  (tz 3))\n", "not closed", "one is missing before <text>:4:3"),
    ("(system)‸)", "closes nothing", ""),
    ("‸) (system)", "closes nothing", "begins with (system"),
    ("(system) ‸x", "ended before", ""),
    ("(system)\n\n ‸(system)", "ended before", ""),
    ("‸system", "begins with (system", ""),
    ('(‸ry "a")', "begins with (system, not (ry …)", "write (system"),
    ("‸()", "begins with (system", ""),
    ('(system (ry ‸"J))', "not closed on its line", "quotation mark"),
    ('(system (ry ‸“J))\n"', "not closed on its line", ""),
    (r'(system (tx 1 (name "a‸\q")))', "unknown escape", ""),
    ("(system ‸\0)", "U+0000", "binary"),
    # keywords
    ('(system\n\t(‸sprng "a" "b" (stiffness 1)))', "sprng is not known", "did you mean spring?"),
    ("(system (‸txx 1))", "txx is not known", "did you mean tx?"),
    ("(system (‸frobnicate 1))", "not known", "known here: "),
    ("(system ‸gravity)", "no place for gravity", "did you mean (gravity …)?"),
    ('(system ‸"x")', "no place for the text", ""),
    ("(system ‸(1 2))", "no place for a list", ""),
    # numbers
    ("(system (gravity 0 0 ‸nan))", "not a finite number", ""),
    ("(system (gravity 0 0 ‸-Inf))", "not a finite number", ""),
    ("(system (gravity 0 0 ‸1e999))", "too large", ""),
    ("(system (gravity 0 0 ‸−9.81))", "takes a number", "did you mean -9.81?"),
    ('(system (gravity 0 0 ‸"1"))', 'not the text "1"', "did you mean 1?"),
    ("(system (tx ‸1_000))", "takes a number", "numbers look like"),
    ("(system (‸gravity 0 0))", "takes 3 numbers, not 2", ""),
    ("(system (gravity 0 0 1)\n(‸gravity 0 0 1))", "given twice", ""),
    # frames of the papers
    ("(system (‸ry))", "ry needs a number or the name", ""),
    ("(system (ry 1 ‸tz))", "tz needs a number or the name", ""),
    ("(system (ry ‸foo))", "takes a number or the name of a coordinate", 'did you mean "foo"?'),
    ('(system (ry ‸(e "foo")))', "not (e …)", ""),
    ("(system (ry (d ‸1)))", "d takes one text", ""),
    ("(system (ry 1 ‸2))", "no place for the number 2", ""),
    ("(system (tz 1 (name ‸x)))", "one text in quotes", 'did you mean "x"?'),
    ('(system (tz 1 (name "x") (‸Name "y")))', "name of tz is given twice", ""),
    ("(system (tz 1 (‸mass)))", "not 0 values", ""),
    ("(system (tz 1 (‸mass 1 2)))", "not 2 values", ""),
    ("(system (tz 1 (‸com 0 0 1)))", "tz has no option com", "known here: add-mass"),
    # links
    ('(system (‸link "a"))', "link needs a joint", "or write frame"),
    ('(system (link "a" (‸revolut "q")))', "no option revolut", "did you mean revolute?"),
    ('(system (link "a" (revolute "q") (‸ball "b")))', "two joints", ""),
    ('(system (link "a" (‸revolute)))', "revolute needs name", 'write (revolute "name"'),
    ('(system (link "a" (revolute "q" (axis ‸y))))', "axis of revolute", 'did you mean "y"?'),
    ('(system (link "a" (revolute "q" (axis ‸0 1))))', "a text in quotes or 3 numbers, not 2 values", ""),
    ('(system (link "a" (revolute "q" (axis 0 1 ‸"z"))))', "takes a number", ""),
    ('(system (frame "a" ‸(ball "q")))', "a frame has no joint", "write link"),
    ('(system (frame "a" (‸rotate 1 2)))', "3 rows", ""),
    ('(system (frame "a" (rotate (1 0 0) ‸(0 1) (0 0 1))))', "has 3 numbers, not 2", ""),
    ('(system (frame "a" (mass 1 1 1 1) (‸inertia 1 1 1)))', "already", ""),
    ('(system (frame "a" (add-mass 1 (‸comm 1 2 3))))', "no option comm", "did you mean com?"),
    ('(system (frame "a" (add-mass 1 (com 1 2 3) (‸com 1 2 3))))', "given twice", ""),
    ('(system (frame "arm") (frame "b" (parent ‸"arn")))', 'named "arn"', 'did you mean "arm"?'),
    ('(system (tx 1 (frame "b" ‸(parent "world"))))', "hangs on that one", ""),
    ('(system (frame "a" (‸spring "a" "b" (stiffness 1))))', "no option spring", "a parenthesis is missing"),
    ("(system (world ‸(tx 1)))", "frames do not stand", ""),
    # shapes
    ('(system (‸shape "world" "cube"))', "'cube'", ""),
    ('(system (‸shape "world" "box" (size 1 2)))', "give its three sides", ""),
    ('(system (‸shape "world" "sphere" (size 1) (pose 1 2 3)))', "4×4", ""),
    ('(system (shape "world" "mesh" (‸file "a.stl")))', "no option file", ""),
    # elements
    ('(system (‸spring "a" (stiffness 1)))', "spring needs b", 'write (spring "a" "b" (stiffness …)'),
    ('(system (‸spring "a" "b"))', "spring needs stiffness", ""),
    ('(system (spring "a" "b" (stiffness ‸"20")))', 'a number, not the text "20"', "did you mean 20?"),
    ('(system (spring "a" "b" (stiffness 20 ‸3)))', "takes one value: a number", ""),
    ('(system (spring "a" "b" (‸stiffness)))', "has no value", ""),
    ('(system (gear-constraint "a" "b" (ratio 2) (eliminate ‸1)))', "takes true or false, not the number 1", ""),
    ('(system (gear-constraint "a" "b" (ratio 2) (eliminate ‸"true")))', "takes true or false", ""),
    ('(system (spring "a" "b" (‸stifness 20)))', "no option stifness", "did you mean stiffness?"),
    ('(system (spring "a" "b" (stiffness 20) (‸stiffness 3)))', "given twice", ""),
    ('(system (spring ‸a "b" (stiffness 20)))', "a text in quotes", 'did you mean "a"?'),
    ("(system (spring ‸'a' \"b\" (stiffness 20)))", "a text in quotes", 'did you mean "a"?'),
    ('(system (spring "a" "b" ‸"c" (stiffness 20)))', "no place for", "write (spring"),
    ('(system (spring "a" ‸"b" (b "c") (stiffness 20)))', "no place for", ""),
    ('(system (body-wrench "a" (torque ‸1 2)))', "3 values, not 2 values", ""),
    ('(system (joint-constraint "a" "b" ‸"c"))', "a joint such as", ""),
    ('(system (point-constraint "a" "b" (((‸((1)))))))', "no lists nested so deep", ""),
    # functions
    ('(system (nonlinear-spring "a" "b" (potential ‸3)))', "takes (table …)", ""),
    ('(system (nonlinear-spring "a" "b" (potential ‸(tabel 3))))', "not (tabel …)", "did you mean table"),
    ('(system (nonlinear-spring "a" "b" (potential ‸(table (x 1 2)))))', "needs (y …)", ""),
    ('(system (nonlinear-spring "a" "b" (potential (table (x 1 ‸"2") (y)))))', "a number belongs here", ""),
    ('(system (nonlinear-spring "a" "b" (potential (formula x (‸sine x)))))', "no operation", "did you mean sin"),
    ('(system (nonlinear-spring "a" "b" (potential (formula x (* ‸y 2)))))', "variable x", "did you mean x?"),
    ('(system (nonlinear-spring "a" "b" (potential (formula x (‸sin x x)))))', "takes one argument", ""),
    ('(system (nonlinear-spring "a" "b" (potential ‸(formula (sin x)))))', "(formula x", ""),
    # a tape is executed as it stands: no place outside its work, nothing read that was not put there
    ('(system (nonlinear-spring "a" "b" (potential (tape ‸9 (input 0 0 0)))))', "from 0 to 1", ""),
    ('(system (nonlinear-spring "a" "b" (potential (tape 1 (input ‸1 0 0)))))', "from 0 to 0", ""),
    ('(system (nonlinear-spring "a" "b" (potential (tape 1 (input 0 ‸-1 0)))))', "from 0 to 0", ""),
    ('(system (nonlinear-spring "a" "b" (potential (tape 1 (sin 0 ‸0 0)))))', "nothing was put", ""),
    ('(system (nonlinear-spring "a" "b" (potential (tape 1 (input 0 0 0) (output ‸4 0 0)))))', "from 0 to 3", ""),
    ('(system (nonlinear-spring "a" "b" (potential ‸(tape 1 (input 0 0 0) (output 0 0 0)))))', "outputs 0 to 3", ""),
    # start
    ("(system (initial ‸(shoulder 1)))", 'initial takes ("name" value …)', ""),
    ('(system (initial ("a" 1) (‸"a" 2)))', "twice", ""),
    ('(system (initial ("a" ‸"b")))', "takes a number", ""),
]


@pytest.mark.parametrize(("marked", "what", "hint"), CASES)
def test_place_caret_and_advice(marked, what, hint):
    before, after = marked.split("‸")
    line, column = before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1
    with pytest.raises(st.ModelSyntaxError) as raised:
        st.loads(before + after)
    error = raised.value
    assert (error.filename, error.line, error.column) == ("<text>", line, column)
    first, shown, caret, *advice = str(error).split("\n")
    assert first.startswith(f"<text>:{line}:{column}: ") and what in first
    assert shown == (before + after).split("\n")[line - 1].replace("\0", "�")
    assert caret.strip() == "^" and caret.index("^") == column - 1
    assert [c == "\t" for c in caret[:-1]] == [c == "\t" for c in shown[: column - 1]]
    assert hint in "\n".join(advice) and bool(advice) >= bool(hint)


def test_line_ends_of_all_systems_count_as_one():
    for end in ("\n", "\r\n", "\r"):
        with pytest.raises(st.ModelSyntaxError) as raised:
            st.loads(f"(system{end}; comment{end}  (tx x))")
        assert (raised.value.line, raised.value.column) == (3, 7)


def test_long_lines_are_cut_around_the_caret():
    with pytest.raises(st.ModelSyntaxError) as raised:
        st.loads("(system " + "(tx 1) " * 5000 + "(tx culprit) " + "(tx 1) " * 5000 + ")")
    _, shown, caret, _ = str(raised.value).split("\n")
    assert len(shown) < 130 and shown[caret.index("^") :].startswith("culprit")
    assert raised.value.column == len("(system " + "(tx 1) " * 5000 + "(tx ") + 1


def test_it_is_a_model_error_and_pickles():
    with pytest.raises(st.ModelError) as raised:
        st.loads("(system (tx))")
    other = pickle.loads(pickle.dumps(raised.value))
    assert type(other) is st.ModelSyntaxError and str(other) == str(raised.value)
    assert (other.filename, other.line, other.column) == ("<text>", 1, 10)


def test_file_names_the_file(tmp_path):
    path = tmp_path / "arm.sexp"
    path.write_text("(system\n  (tx))", encoding="utf-8")
    with pytest.raises(st.ModelSyntaxError) as raised:
        st.load(path)
    assert raised.value.filename == str(path)
    assert str(raised.value).startswith(f"{path}:2:4: tx needs")


def test_files_that_are_no_text(tmp_path):
    path = tmp_path / "arm.sexp"
    path.write_bytes(b'(system\n  (tx "\xe4"))')
    with pytest.raises(st.ModelSyntaxError, match="not UTF-8") as raised:
        st.load(path)
    assert (raised.value.line, raised.value.column) == (2, 8)
    path.write_bytes(bytes(range(256)))
    with pytest.raises(st.ModelSyntaxError):
        st.load(path)
    path.write_bytes("\ufeff(system (gravity 0 0 -1))".encode())  # with a byte order mark
    assert st.load(path).gravity == (0, 0, -1)


def test_files_that_are_not_there(tmp_path):
    with pytest.raises(st.ModelError, match=r"nowhere\.sexp cannot be read: No such file"):
        st.load("nowhere.sexp")
    (tmp_path / "pendulum.sexp").write_text("(system)")
    with pytest.raises(st.ModelError, match=r"did you mean '.*pendulum\.sexp'"):
        st.load(tmp_path / "pendelum.sexp")
    (tmp_path / "folder.sexp").mkdir()
    with pytest.raises(st.ModelError, match="cannot be read"):
        st.load(tmp_path / "folder.sexp")


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("robot.urdf", "robot.urdf cannot be read"),
        ("robot.XML", "robot.XML cannot be read"),
        ("robot.step", "'.step' is not known"),
        ("robot", "robot is no file, and no shipped model is named 'robot'"),
    ],
)
def test_other_formats(path, words):
    with pytest.raises(st.ModelError, match=words):
        st.load(path)


def test_arguments_for_robots_alone(tmp_path):
    path = tmp_path / "m.sexp"
    path.write_text("(system)")
    for arguments in ({"base": "free"}, {"packages": tmp_path}, {"density": 1}, {"arguments": {"a": 1}}):
        with pytest.raises(st.ModelError, match="for robots"):
            st.load(path, **arguments)


def test_arguments_of_loads():
    with pytest.raises(st.ModelError, match="format 'sdf' is not known; there are 'sexp', 'urdf', 'mjcf'"):
        st.loads("(system)", format="sdf")
    with pytest.raises(st.ModelError, match="takes a text"):
        st.loads(b"(system)")


def test_what_build_finds_is_still_named():
    m = st.loads('(system (ry "q" (mass 1)) (spring "here" "there" (stiffness 1) (name "s")))')
    with pytest.raises(st.ModelError, match="Spring 's': no frame is named 'here'") as raised:
        m.build()
    assert not isinstance(raised.value, st.ModelSyntaxError)


@pytest.mark.parametrize("seed", range(300))
def test_spoilt_texts_are_refused_in_order(seed):
    """Characters and words of a good text lost, doubled, swapped or replaced: read or refused, but never a crash."""
    rng = np.random.default_rng(seed)
    text = GOOD[seed % len(GOOD)]
    for _ in range(rng.integers(1, 4)):
        at = int(rng.integers(len(text)))
        if rng.random() < 0.5:
            piece = str(rng.choice(['"', "(", ")", " ", ";", "-", "1e", "nan", "“", "(x)", "tx", "()", "\\", "name"]))
            text = text[:at] + piece + text[at + int(rng.integers(3)) :]
        else:
            words = text.split(" ")
            i, j = rng.integers(len(words), size=2)
            words[i] = words[j]
            text = " ".join(words)
    try:
        st.loads(text).build()
    except st.ModelError as error:
        if isinstance(error, st.ModelSyntaxError):
            assert 1 <= error.line <= text.count("\n") + 1 and error.column >= 1


GOOD = [random_mechanism(seed, 4, elements=True).to_sexpr() for seed in range(3)] + [
    '(system (gravity 0 0 -1) (tx 0.1 ry "q" (name "a") (mass 1 1 1 1) (link "b" (ball "b") (mass 1)\n'
    ' (inertia 1 1 1) (add-mass 1 (com 0 0 1)))) (nonlinear-spring "a" "b" (potential (tape 2 (input 0 0 0)\n'
    ' (sq 1 0 0) (output 0 1 0) (output 1 0 0) (output 2 0 0) (output 3 0 0)))) (nonlinear-spring "a" "world"\n'
    ' (potential (formula x (+ (* 2 (sin x)) (^ x 2))))) (joint-constraint "a" "b" (planar "p" (normal 0 0 1)))\n'
    ' (initial ("q" 0.5) ("b" 1 0 0 0)))'
]
