"""FMUs, run by FMPy: at communication points they are what `simulate` and `Stepper` give, bit for bit; misuse is told."""

import json
import zipfile
from contextlib import contextmanager

import numpy as np
import pytest

import symplectree as st
from command_line import call as command
from symplectree.io import sexpr

pytest.importorskip("pythonfmu3")
fmpy = pytest.importorskip("fmpy")
fmi3 = pytest.importorskip("fmpy.fmi3")
validation = pytest.importorskip("fmpy.validation")

DT, EVERY, STEPS = 0.01, 5, 20
ROD = {"mass": 1.0, "com": (0, 0, -0.5), "inertia": (0.084, 0.084, 0.002)}


def arm():
    m = st.Mechanism()
    upper = m.world.link("upper", st.Revolute("shoulder <1>", axis="y"), **ROD)
    upper.link("lower", st.Ball("elbow"), at=(0, 0, -1), **ROD)
    m.add(st.JointForce("shoulder <1>", "motor"), st.JointDamper("elbow", 0.1))
    m.initial = {"shoulder <1>": 0.3}
    return m


class Session:
    """An FMU in FMPy, by names of variables; `said` is what it logs."""

    def __init__(self, path, folder):
        self.said = []
        description = fmpy.read_model_description(path)
        self.references = {v.name: v.valueReference for v in description.modelVariables}
        self.fmu = fmi3.FMU3Slave(
            guid=description.guid, unzipDirectory=fmpy.extract(path, folder), instanceName="one",
            modelIdentifier=description.coSimulation.modelIdentifier,
        )  # fmt: skip
        self.fmu.instantiate(
            loggingOn=True, logMessage=lambda env, status, category, text: self.said.append(text.decode())
        )

    def begin(self, **start):
        self.set(start)
        self.fmu.enterInitializationMode()
        self.fmu.exitInitializationMode()

    def set(self, values):
        self.fmu.setFloat64([self.references[name] for name in values], list(values.values()))

    def get(self, *names):
        return self.fmu.getFloat64([self.references[name] for name in names])

    def states(self, model):
        return np.array(self.get(*(f"q.{name}" for name in model.coordinates), *(f"v.{n}" for n in model.velocities)))


@contextmanager
def session(mechanism, tmp_path, *, dt=DT, **options):
    mechanism.to_fmu(tmp_path / "made.fmu", dt=dt, **options)
    running = Session(str(tmp_path / "made.fmu"), str(tmp_path / "unpacked"))
    yield running
    running.fmu.terminate()
    running.fmu.freeInstance()


def rows(traj):
    return np.hstack((traj.q, traj.v))


@pytest.mark.parametrize("method", [None, st.Variational(order=4), st.Variational(action="midpoint")])
def test_a_tree_moves_as_simulate_moves_it(method, tmp_path):
    m = arm()
    model = m.build()
    start, v = {"start.q.shoulder <1>": 0.7, "start.v.elbow.1": 0.5}, {"elbow": (0, 0.5, 0)}
    traj = st.simulate(
        model, {"shoulder <1>": 0.7}, v0=v, duration=STEPS * EVERY * DT, dt=DT, method=method or st.Variational(),
        forces={"motor": 0.4}, save_every=EVERY,
    )  # fmt: skip
    with session(m, tmp_path, method=method) as fmu:
        fmu.begin(**start, **{"inputs.motor": 0.4})
        for k in range(STEPS + 1):
            assert np.array_equal(fmu.states(model), rows(traj)[k]), k
            assert fmu.get("energy")[0] == pytest.approx(traj.energy[k], rel=1e-14)
            assert fmu.get("time")[0] == pytest.approx(traj.t[k])
            if k < STEPS:
                fmu.fmu.doStep(k * EVERY * DT, EVERY * DT)
        assert not fmu.said


def test_inputs_are_held_over_a_communication_step(tmp_path):
    m = arm()
    model = m.build()
    stepper = st.Stepper(model, dt=DT)
    stepper.reset({"shoulder <1>": 0.3})
    with session(m, tmp_path) as fmu:
        fmu.begin()
        for k, (force, steps) in enumerate(zip(np.sin(np.arange(STEPS)), [1, 3] * (STEPS // 2), strict=True)):
            begin = fmu.get("time")[0]
            fmu.set({"inputs.motor": force})
            fmu.fmu.doStep(begin, steps * DT)
            stepper.step({"motor": force}, n=steps)
            assert np.array_equal(fmu.states(model), np.concatenate((stepper.q, stepper.v))), k


def test_fmpy_simulates_a_closed_chain(tmp_path):
    """From start values that leave the loop open, and a velocity that others follow."""
    m = st.load("four_bar")
    model = m.build()
    m.to_fmu(tmp_path / "four_bar.fmu", dt=0.002)
    assert validation.validate_fmu(str(tmp_path / "four_bar.fmu")) == []
    start = {**m.initial, "crank": m.initial["crank"] + 0.1}
    found = fmpy.simulate_fmu(
        str(tmp_path / "four_bar.fmu"), stop_time=1.0, output_interval=0.01,
        start_values={"start.q.crank": start["crank"], "start.v.crank": 13.0},
    )  # fmt: skip
    q = st.assemble(model, start)
    traj = st.simulate(model, q, v0={"crank": 13.0}, duration=1.0, dt=0.002, save_every=5)
    assert traj.velocity("crank")[0] == pytest.approx(13.0)
    for k, name in enumerate(model.coordinates):
        assert np.array_equal(found[f"q.{name}"], traj.q[:, k])
        assert np.array_equal(found[f"v.{model.velocities[k]}"], traj.v[:, k])
    gaps = [np.abs(st.constraint_values(model, row)).max() for row in traj.q]
    assert max(gaps) < 1e-10 and np.ptp(traj["crank"]) > 1


def test_two_of_them_in_one_process_are_two(tmp_path):
    for name, angle in (("one", 0.1), ("other", 0.2)):
        m = arm()
        m.initial = {"shoulder <1>": angle}
        m.to_fmu(tmp_path / f"{name}.fmu", dt=DT)
    first, second = (Session(str(tmp_path / f"{n}.fmu"), str(tmp_path / n)) for n in ("one", "other"))
    for fmu, angle in ((first, 0.1), (second, 0.2)):
        fmu.begin()
        assert fmu.get("q.shoulder <1>") == [angle]
    for fmu in (first, second):
        fmu.fmu.terminate()
        fmu.fmu.freeInstance()


def test_what_it_says_of_itself(tmp_path):
    m = arm()
    m.initial = {"shoulder <1>": 0.1 + 0.2}  # seventeen digits
    m.to_fmu(tmp_path / "2 arms.fmu", dt=0.001)
    assert validation.validate_fmu(str(tmp_path / "2 arms.fmu")) == []
    description = fmpy.read_model_description(str(tmp_path / "2 arms.fmu"))
    assert description.coSimulation.modelIdentifier == "model_2_arms" and description.modelName == "model_2_arms"
    assert description.coSimulation.fixedInternalStepSize == description.defaultExperiment.stepSize == "0.001"
    variables = {v.name: v for v in description.modelVariables}
    assert variables["inputs.motor"].causality == "input" and variables["energy"].causality == "output"
    assert float(variables["start.q.shoulder <1>"].start) == 0.1 + 0.2
    assert variables["q.elbow.3"].causality == "output" and "v.elbow.3" not in variables
    with zipfile.ZipFile(tmp_path / "2 arms.fmu") as archive:
        assert json.loads(archive.read("resources/settings.json"))["dt"] == 0.001
        assert st.loads(archive.read("resources/model.sexp").decode()).build().coordinates == m.build().coordinates


def step(fmu, seconds=DT):
    fmu.fmu.doStep(fmu.get("time")[0], seconds)


REFUSED = {
    "a step that is no multiple": (lambda s: step(s, 0.015), "step of 0.015 s is no multiple of 0.01 s"),
    "a step back": (lambda s: s.fmu.doStep(-1.0, 0.01), "stands at 0 s, and a step from -1 s was asked for"),
    "no step": (lambda s: step(s, 0.0), "is no multiple of 0.01 s"),
    "a late parameter": (lambda s: s.set({"start.q.elbow.0": 1.0}), "start.q.elbow.0 can be set before the simulation"),
    "an output": (lambda s: s.set({"q.elbow.0": 1.0}), "q.elbow.0 is an output, which cannot be set"),
    "no number": (lambda s: s.set({"inputs.motor": np.nan}), "inputs.motor was set to nan; give a finite number"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_misuse_is_told(what, tmp_path):
    """At the latest by the next step, with an error that is not fatal."""
    call, said = REFUSED[what]
    arm().to_fmu(tmp_path / "made.fmu", dt=DT)
    fmu = Session(str(tmp_path / "made.fmu"), str(tmp_path / "unpacked"))
    fmu.begin()
    with pytest.raises(fmpy.fmi1.FMICallException, match="fmi3DoStep failed with status 3"):
        call(fmu)
        step(fmu)
    assert any(said in line for line in fmu.said), fmu.said
    assert fmu.get("q.shoulder <1>") == [0.3]
    fmu.fmu.freeInstance()


@pytest.mark.parametrize("call", [lambda f: f.getFloat64([999]), lambda f: f.setFloat64([999], [0.0])])
def test_an_unknown_variable_is_told(call, tmp_path):
    arm().to_fmu(tmp_path / "made.fmu", dt=DT)
    fmu = Session(str(tmp_path / "made.fmu"), str(tmp_path / "unpacked"))
    fmu.begin()
    with pytest.raises(fmpy.fmi1.FMICallException, match="Float64 failed with status"):
        call(fmu.fmu)
    assert "no variable has the value reference 999; there are 21 variables, from 0 on" in fmu.said[0]


def test_names_that_are_not_there_are_told_by_fmpy(tmp_path):
    arm().to_fmu(tmp_path / "made.fmu", dt=DT)
    with pytest.raises(Exception, match=r"could not be set: start\.q\.nobody"):
        fmpy.simulate_fmu(str(tmp_path / "made.fmu"), stop_time=0.1, start_values={"start.q.nobody": 1.0})


def test_loops_that_cannot_close_are_told(tmp_path):
    m = st.Mechanism()
    m.world.link("link", st.Revolute("hinge", axis="y"), **ROD).frame("end", at=(0, 0, -1))
    m.world.link("slide", st.Prismatic("slide", axis="x"), mass=1.0).frame("top", at=(0, 0, -1))
    m.add(st.DistanceConstraint("top", "end", 0.5))
    m.initial = {"slide": 0.5}
    m.build()
    with session(m, tmp_path) as fmu:
        fmu.begin(**{"start.q.slide": 0.4})
        step(fmu)
        assert not fmu.said
    m.world.frame("far", at=(0, 0, -5))
    m.add(st.DistanceConstraint("far", "end", 1.0))
    with pytest.raises(st.AssemblyError):
        m.to_fmu(tmp_path / "never.fmu", dt=DT)
    assert not (tmp_path / "never.fmu").exists()


@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        ({"dt": 0.0}, st.ModelError, "dt"),
        ({"dt": DT, "method": st.RK4()}, st.ModelError, "method RK4 cannot be in an FMU"),
        ({"dt": DT, "path": "arm.zip"}, st.SymplectreeError, ".fmu"),
        ({"dt": DT, "path": "no/where.fmu"}, st.SymplectreeError, "no folder"),
    ],
)
def test_what_cannot_be_written_is_refused(options, error, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = options.pop("path", "arm.fmu")
    with pytest.raises(error, match=said):
        arm().to_fmu(path, **options)
    assert not any(tmp_path.iterdir())


def test_motions_that_must_be_given_are_refused(tmp_path):
    with pytest.raises(st.ModelError, match="'cross x' moves no mass: its motion must be given, which no FMU takes"):
        st.load("marionette").to_fmu(tmp_path / "made.fmu", dt=DT)
    assert not any(tmp_path.iterdir())


def test_functions_of_python_are_refused(tmp_path):
    m = arm()
    m.add(st.UserPotential(lambda q: 0.0, lambda q: 0 * q, name="mine"))
    with pytest.raises(st.ModelError, match="mine"):
        m.to_fmu(tmp_path / "made.fmu", dt=DT)
    assert not any(tmp_path.iterdir())


def test_what_stops_the_start_is_told_by_the_first_step(tmp_path, monkeypatch):
    def never(*given, **more):
        raise st.AssemblyError("the loops of this test cannot close", errors={})

    st.load("four_bar").to_fmu(tmp_path / "made.fmu", dt=DT)
    fmu = Session(str(tmp_path / "made.fmu"), str(tmp_path / "unpacked"))
    monkeypatch.setattr("symplectree.io.fmu_instance.assemble", never)
    fmu.begin(**{"start.q.crank": 1.0})
    with pytest.raises(fmpy.fmi1.FMICallException, match="fmi3DoStep failed with status 3"):
        fmu.fmu.doStep(0.0, DT)
    assert fmu.said == ["the loops of this test cannot close"]
    fmu.fmu.freeInstance()


def test_the_command_makes_one(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    code, out, _ = command("symplectree convert four_bar four_bar.fmu --dt 0.002", capsys)
    assert code == 0 and out.split() == ["written", "four_bar.fmu"]
    description = fmpy.read_model_description("four_bar.fmu")
    assert description.coSimulation.fixedInternalStepSize == "0.002"
    with zipfile.ZipFile("four_bar.fmu") as archive:
        text = archive.read("resources/model.sexp").decode()
    assert sexpr.read(text, "model.sexp").initial == st.load("four_bar").initial


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("four_bar four_bar.xml --dt 0.1", "--dt is for FMUs; leave it out, or end four_bar.xml in .fmu"),
        ("four_bar four_bar.fmu --dt 0", "dt"),
        ("run.nc run.fmu", "run.nc is a run, and an FMU holds a model"),
    ],
)
def test_misuse_of_the_command_is_told(line, said, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    code, _, err = command(f"symplectree convert {line}", capsys)
    assert code == 2 and said in " ".join(err.split())
    assert not any(tmp_path.iterdir())
