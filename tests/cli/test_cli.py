"""The command: every line in docs and --help runs as written; wrong use is told in one paragraph, with its exit code."""

import os
import re
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import symplectree as st
from command_line import call, help_of, lines_of
from follower_mechanisms import tongs
from robot_texts import joint, link, urdf
from symplectree.cli import app, demos
from symplectree.io import bundled_models

ROOT = Path(__file__).parents[2]
README, RESULTS, MODELS = (
    (ROOT / page).read_text(encoding="utf-8") for page in ("README.md", "docs/results.md", "docs/models-and-files.md")
)
COMMANDS = ("demo", "run", "sweep", "info", "plot", "view", "convert", "bench")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder with the model of docs/models-and-files.md."""
    monkeypatch.chdir(tmp_path)
    (lisp,) = re.findall(r"```lisp\n(.*?)```", MODELS, re.S)
    (tmp_path / "arm.sexp").write_text(lisp)
    return tmp_path


@pytest.fixture
def pages(monkeypatch):
    """Pages that `view` has served, each stopped at once instead of by Ctrl-C."""
    show, served = st.Trajectory.show, []

    def briefly(trajectory, **options):
        viewer = show(trajectory, block=False, browser=False, **options)
        served.append(viewer.url)
        viewer.stop()

    def stop(running):
        served.append(running.url)
        running.stop()

    monkeypatch.setattr(st.Trajectory, "show", briefly)
    monkeypatch.setattr("symplectree.view.live.Live.wait", stop)
    return served


def test_a_live_page_is_served(pages, capsys):
    """Of a closed chain, assembled; --trail is of runs only."""
    code, out, _ = call("symplectree view four_bar --live", capsys)
    assert code == 0 and "The mechanism is at http://127.0.0.1:" in out
    assert len(pages) == 1 and pages[0].startswith("http://127.0.0.1:")
    code, _, error = call("symplectree view four_bar --live --trail crank", capsys)
    assert code == 2 and "leave it out with --live" in error


def check_lines(lines, capsys):
    for line in lines:
        code, _, err = call(line, capsys)
        assert code == 0, (line, err)


def fenced(page):
    """All shell blocks of a page."""
    return "\n".join(re.findall(r"```sh\n(.*?)```", page, re.S))


def test_command_lines_of_the_pages(folder, pages, capsys):
    lines = lines_of(fenced(RESULTS))
    assert len(lines) >= 7
    check_lines(lines, capsys)
    assert fenced(README) == 'pip install . && symplectree demo\n\npip install ".[test]" && pytest\n'  # as .ci/run does
    assert len(st.load_trajectory("run.nc")) == 2001  # resumed to 20 s
    assert len(pages) == 2 and all(page.startswith("http://127.0.0.1:") for page in pages)
    for name in ("run.png", "energy.png", "run.csv"):
        assert (folder / name).stat().st_size > 1000


def test_command_lines_of_the_help(folder, pages, capsys, monkeypatch):
    lines = []
    for words in ([], ["run"], ["info"], ["plot"], ["convert"], ["view"], ["demo"]):
        found = lines_of(help_of(words, capsys, monkeypatch))
        assert len(found) >= 2, words
        lines += found
    check_lines([line for line in lines if line != "symplectree demo marionette"], capsys)  # tested below
    assert len(pages) == 4


def test_help_names_every_command_and_explains_every_option(capsys, monkeypatch):
    text = help_of([], capsys, monkeypatch)
    assert all(re.search(rf"│ {name} +\w", text) for name in COMMANDS)
    for name in COMMANDS:
        for row in re.findall(r"│ (--?\S.*?) *│", help_of([name], capsys, monkeypatch)):
            assert re.match(r"-\S+( [A-Z.]+)? {2,}\S", row), (name, row)


@pytest.mark.parametrize("name", demos.DEMOS)
def test_demo(name, folder, pages, capsys):
    code, out, err = call(f"symplectree demo {name}", capsys)
    assert code == 0, err
    assert "energy " in out and "Go on with" in out
    assert (folder / f"{name}.png").stat().st_size > 10_000
    traj = st.load_trajectory(f"{name}.nc")
    held = re.search(r"constraints .*rows hold to (\S+)", out)
    assert (held is not None) == bool(traj.model.rows)
    assert held is None or float(held[1]) < 1e-10
    assert traj.t[-1] == pytest.approx(demos.DEMOS[name].duration)
    assert (folder / f"{name}.html").stat().st_size > 10_000
    follow = [x.strip() for x in out.splitlines() if x.startswith("  symplectree")]
    assert len(follow) == 3 + (not traj.prescribed)
    check_lines(follow, capsys)
    assert len(pages) == 1
    if not traj.prescribed:  # the longer run is the same motion
        np.testing.assert_array_equal(st.load_trajectory("longer.nc").q[: len(traj)], traj.q)


def test_demo_without_name_names_the_others(folder, capsys):
    code, out, _ = call("symplectree demo", capsys)
    assert code == 0 and out.startswith("closed_chain_device")
    assert all(name in out for name in demos.DEMOS)
    assert sorted(demos.DEMOS) == bundled_models.names()


def test_run_is_simulate(folder, capsys):
    line = "symplectree run arm.sexp --duration 2 --dt 0.005 --set elbow=0.1 --velocity shoulder=1 --force elbow=0.5"
    code, out, _ = call(f"{line} --action exp --save-every 4 --out run.npz", capsys)
    assert code == 0 and "101, 2 coordinates, 0 to 2 s" in out
    traj = st.load_trajectory("run.npz")
    same = st.simulate(
        st.load("arm.sexp").build(), {"shoulder": 0.7, "elbow": 0.1}, v0={"shoulder": 1}, duration=2, dt=0.005,
        method=st.Variational(action="exp"), forces={"elbow": 0.5}, save_every=4,
    )  # fmt: skip
    np.testing.assert_array_equal(traj.q, same.q)


def test_run_from_a_keyframe(folder, capsys):
    call("symplectree run arm.sexp --start raised --set elbow=0.2 --duration 1 --dt 0.005 --out run.nc", capsys)
    run = st.load_trajectory("run.nc")
    expected = st.simulate(st.load("arm.sexp").build(), [2.5, 0.2], v0=[0, 1], duration=1, dt=0.005)
    np.testing.assert_array_equal(run.q, expected.q)
    code, _, err = call("symplectree run arm.sexp --start raise", capsys)
    assert code == 2 and "did you mean 'raised'?" in err
    assert "keyframes: raised" in call("symplectree info arm.sexp", capsys)[1]


def test_run_closes_loops_and_holds_strings_and_says_so(folder, capsys):
    code, out, _ = call("symplectree run four_bar --set crank=1 --duration 0.1 --out run.nc", capsys)
    assert code == 0 and "assembled    the start was moved so that the loops close" in out
    assert st.load_trajectory("run.nc")["crank"][0] == 1
    code, out, _ = call("symplectree run marionette --duration 0.05", capsys)
    assert code == 0 and "held         cross x, cross z" in out
    code, out, _ = call("symplectree run closed_chain_device --hold J --duration 0.05", capsys)
    assert code == 0 and "assembled" not in out and "moved by     J" in out


def test_coordinates_that_follow(folder, capsys):
    Path("tongs.sexp").write_text(tongs(3).to_sexpr())
    code, out, _ = call("symplectree run tongs.sexp --set left0=0.5 --duration 0.1 --out run.nc --plot run.png", capsys)
    assert code == 0 and "11, 3 coordinates, 0 to 0.1 s" in out
    assert st.load_trajectory("run.nc")["right0"][0] == -0.5
    for option in ("--set right0=0.5", "--hold right0", "--velocity right0=1", "--force right0=1"):
        code, _, err = call(f"symplectree run tongs.sexp {option} --duration 0.1", capsys)
        assert code == 2 and "'right0' follows 'left0'" in " ".join(err.split()), option


def test_info(folder, capsys):
    _, out, _ = call("symplectree info closed_chain_device", capsys)
    assert (
        "7 links, 3 degrees of freedom (7 coordinates, 4 constraint rows)" in out
        and "4 constraint rows, rank 4: 3 degrees of freedom left" in out
    )
    assert "starts at J = -0.648" in out


# Wrong use: exit code 2, failures: 1; one paragraph, no traceback


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("run", "which model?"),
        ("run nothing", "nothing is no file, and no shipped model is named 'nothing'"),
        ("run for_bar", "did you mean 'four_bar'?"),
        ("run nothing.sexp", "No such file"),
        ("run arms.sexp", "did you mean 'arm.sexp'?"),
        ("run bad.sexp", "bad.sexp:1:10: lnk is not known"),
        ("run arm.sexp --set elbw=1", "no coordinate is named 'elbw'; did you mean 'elbow'?"),
        ("run arm.sexp --set elbow", "--set elbow: write NAME=VALUE"),
        ("run arm.sexp --set elbow=x", "--set elbow=x: write NAME=VALUE"),
        ("run arm.sexp --hold elbw", "no coordinate is named 'elbw'"),
        ("run arm.sexp --force elbw=1", "no input or coordinate is named 'elbw'"),
        ("run arm.sexp --dt -0.01", "dt is -0.01; give a positive number of seconds"),
        ("run arm.sexp --dt fast", 'Invalid value for --dt: unable to convert "fast" into float'),
        ("run arm.sexp --duration 0", "duration is 0.0; give a positive number"),
        ("run arm.sexp --method rk5", 'Invalid value "rk5" for --method. Choose from'),
        ("run arm.sexp --method rk4 --order 4", "--order belongs to --method variational"),
        ("run arm.sexp --out run.doc", "give one of .nc"),
        ("run arm.sexp --out no/run.nc", "there is no folder 'no'; make it first"),
        ("run arm.sexp --plot run.doc", "give one of .png"),
        ("run arm.sexp --video run.gif", "the ending tells the format; give .mp4"),
        ("run arm.sexp --save-every 1.5", "--save-every 1.5: give a whole number"),
        ("run arm.sexp --packages no", "--packages no: there is no such folder"),
        ("run arm.sexp --base free", "base is for robots"),
        ("run arm.sexp --base loose", 'Invalid value "loose" for --base'),
        ("plot arm.sexp", "arm.sexp is a model; make a run first: symplectree run arm.sexp --out run.nc"),
        ("plot four_bar", "four_bar is a model; make a run first"),
        ("info table.csv", "give its model: symplectree convert table.csv run.nc --model MODEL"),
        ("run arm.sexp --resume run.nc", "--resume goes on as the run began"),
        ("run --resume missing.nc", "missing.nc cannot be read: No such file"),
        ("run --resume bad.nc", "bad.nc is no file of results"),
        ("run --resume run.csv", "run.csv cannot be resumed"),
        ("run arm.sexp --colour red", "Unknown option: --colour"),
        ("fly", 'Unknown command "fly"'),
        ("info", "requires an argument"),
        ("info cut.nc", "cut.nc is cut short: it has 3000 of "),
        ("plot cut.nc", "cut.nc is cut short: it has 3000 of "),
        ("plot good.nc elbw", "nothing that can be plotted is named 'elbw'; did you mean 'elbow'?"),
        ("convert arm.sexp arm.nc", "make one: symplectree run arm.sexp --out arm.nc"),
        ("convert arm.sexp arm.doc", "the ending tells the format"),
        ("demo nothing", "no demonstration is named 'nothing'"),
        ("demo --folder no", "there is no folder 'no'"),
        ("view nothing.nc", "No such file"),
    ],
)
def test_wrong_use(line, message, folder, capsys):
    (folder / "bad.sexp").write_text('(system (lnk "a"))')
    (folder / "bad.nc").write_text("this is a letter to my aunt")
    (folder / "table.csv").write_text("t,shoulder\n")
    if ".nc" in line and ("cut" in line or "good" in line):
        st.simulate(st.load("arm.sexp").build(), {}, duration=0.1, dt=0.01).save("good.nc")
        (folder / "cut.nc").write_bytes((folder / "good.nc").read_bytes()[:3000])
    code, out, err = call(f"symplectree {line}", capsys)
    assert code == 2
    assert message in err and err.startswith("error: ") and "Traceback" not in err
    assert out == ""
    assert not (folder / "run.nc").exists()


def test_failed_computation(folder, capsys):
    code, _, err = call("symplectree run four_bar --dt 5 --out run.nc", capsys)
    assert code == 1
    assert "error: step 0 (t = 0 s) has no solution" in err and "Traceback" not in err
    code, _, err = call("symplectree run four_bar --dt 5 --debug", capsys)
    assert code == 1 and "Traceback" in err
    code, _, err = call("symplectree run four_bar --set crank=1 --set rocker=1 --set joint=1", capsys)
    assert code == 1 and "error: no configuration near the guess meets all constraints" in err


def test_full_disk(folder, capsys, monkeypatch):
    """What was computed is kept elsewhere, and the command says where."""
    import errno

    import symplectree.io.netcdf as netcdf

    write, calls = netcdf.write, []

    def full_for_a_while(record, path):
        calls.append(path)
        if folder in path.absolute().parents and len(calls) > 1:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        write(record, path)

    monkeypatch.setattr(netcdf, "write", full_for_a_while)
    code, _, err = call("symplectree run arm.sexp --duration 1 --out run.nc", capsys)
    assert code == 1
    kept = re.search(r"run.nc cannot be written: the disk is full; nothing was changed. The run is kept in (\S+)", err)
    assert len(st.load_trajectory(kept[1])) == 101
    assert len(st.load_trajectory("run.nc")) == 1  # the file as it was last written
    Path(kept[1]).unlink()
    Path(kept[1]).parent.rmdir()


def limited(bytes_):
    """Starts a process whose files may grow to so many bytes."""
    import resource

    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (bytes_, bytes_))


@pytest.mark.skipif(sys.platform == "win32", reason="no limits of files")
@pytest.mark.parametrize(
    "option", ["--out run.nc", "--out run.npz", "--out run.csv", "--html run.html", "--plot run.png"]
)
def test_files_that_do_not_fit_leave_nothing_behind(option, folder):
    name = option.split()[1]
    (folder / name).write_text("older")
    line = [sys.executable, "-m", "symplectree", "run", "four_bar", "--duration", "20", *option.split()]
    done = subprocess.run(line, capture_output=True, text=True, preexec_fn=limited(20_000))
    assert done.returncode == 1
    assert f"error: {name} cannot be written: " in done.stderr and "Traceback" not in done.stderr
    held = (folder / name).read_bytes()
    assert held == b"older" or (name == "run.nc" and len(st.load_trajectory(name)) == 1)  # the start of the run fits
    assert {f.name for f in folder.iterdir()} <= {name, "run.nc.journal", "arm.sexp"}


def test_a_run_whose_page_cannot_be_written_is_kept(folder, capsys, monkeypatch):
    import symplectree.view.html as html

    def full(*given, **options):
        raise st.ResultError("run.html cannot be written: the disk is full")

    monkeypatch.setattr(html, "write_html", full)
    code, _, err = call("symplectree run arm.sexp --duration 1 --html run.html", capsys)
    kept = re.search(r"the disk is full. The run is kept in (\S+)", err)
    assert code == 1 and len(st.load_trajectory(kept[1])) == 101
    Path(kept[1]).unlink()
    Path(kept[1]).parent.rmdir()


def test_robots(folder, capsys):
    arm = urdf(link("a"), link("b"), joints=joint("q", "continuous", "a", "b", '<axis xyz="0 1 0"/>'))
    (folder / "arm.urdf").write_text(arm)
    code, out, _ = call("symplectree info arm.urdf", capsys)
    assert code == 0 and "1 link, 1 degree of freedom (1 coordinate)" in out
    code, out, _ = call("symplectree info arm.urdf --base free", capsys)
    assert code == 0 and "7 degrees of freedom" in out
    code, out, _ = call("symplectree run arm.urdf --base free --packages . --duration 0.1 --out run.nc", capsys)
    assert code == 0 and st.load_trajectory("run.nc").model.nv == 7
    assert call("symplectree convert arm.urdf arm_free.sexp --base free", capsys)[0] == 0
    assert st.load("arm_free.sexp").build().nv == 7
    for ending in ("xml", "urdf"):
        assert call(f"symplectree convert arm_free.sexp again.{ending}", capsys)[0] == 0
        assert st.load(f"again.{ending}").build().nv == 7
    assert call("symplectree convert run.nc again.xml", capsys)[0] == 0


def test_interrupted_run_is_kept(folder, capsys):
    import signal

    threading.Timer(0.7, signal.raise_signal, [signal.SIGINT]).start()
    code, _, err = call("symplectree run four_bar --duration 1e6 --save-every 100 --out run.nc", capsys)
    assert code == 130
    assert "note: run.nc holds the run up to " in err and err.endswith("stopped by Ctrl-C\n")
    assert st.load_trajectory("run.nc").t[-1] > 1


def test_terminals_without_unicode(folder):
    line = [sys.executable, "-m", "symplectree", "info", "arm.sexp"]
    done = subprocess.run(line, capture_output=True, env=os.environ | {"PYTHONIOENCODING": "ascii"})
    assert done.returncode == 0 and b"gravity (0, 0, -9.81) m/s?" in done.stdout


def test_as_a_process():
    done = subprocess.run([sys.executable, "-m", "symplectree", "run", "nothing"], capture_output=True, text=True)
    assert done.returncode == 2 and done.stderr.startswith("error: nothing is no file")
    assert app.name[0] == "symplectree"


def test_accuracy_and_a_start_in_degrees(folder, capsys):
    code, _, err = call(
        "symplectree run arm.sexp --set shoulder=70 --duration 0.1 --accuracy 1e-6 --out run.mat", capsys
    )
    assert code == 0 and "question: 'shoulder' starts at 70 rad, 11.1 turns: degrees?" in err
    assert "accuracy=1e-06" in st.load_trajectory("run.mat").settings.method
    code, _, err = call("symplectree run arm.sexp --duration 1 --dt 0.3", capsys)
    assert code == 0 and "the run ends at 0.9 s" in err
    code, _, err = call("symplectree run arm.sexp --accuracy 1e-6 --method rk4", capsys)
    assert code == 2 and "--accuracy belongs to --method variational" in err
