"""A one-legged hopper finds its gait, by exact derivatives through touchdown and friction, and keeps it when it is pushed.

python examples/hopper.py

A trunk on a springy leg that slides, with a motor at the hip and one along the leg. Wanted is a hop of 0.52 s that ends as
it began, 0.26 m farther, with as little effort as possible. `st.Linearizer` gives the derivatives of every step, also of
those in which the foot lands, sticks or leaves; their product is that of the hop. Newton's method finds the start and the
forces with it. Left alone the gait is unstable: a deviation grows sixfold with each hop. A regulator from the same
derivatives (`st.control.tvlqr`) holds it: the trunk is hit in the fifth hop, and hops on.
"""

import numpy as np
from matplotlib.figure import Figure

import symplectree as st

DT, STEPS, SPEED = 0.01, 52, 0.5  # s, of a hop, m/s
HOPS, HIT, KICK = 16, 4, -0.25  # hit at the start of this hop, as change of velocity [m/s]
NAMES = ["x", "z", "pitch", "hip", "leg"]

m = st.Mechanism()
rail = m.world.link("rail", st.Prismatic("x", axis="x"))
lift = rail.link("lift", st.Prismatic("z", axis="z"))
trunk = lift.link("trunk", st.Revolute("pitch", axis="y"), mass=5.0, inertia=(0.1, 0.3, 0.3))
thigh = trunk.link("thigh", st.Revolute("hip", axis="y"), mass=0.5, com=(0, 0, -0.15), inertia=(0.01, 0.01, 0.001))
slide = st.Prismatic("leg", axis="z")
shank = thigh.link("shank", slide, at=(0, 0, -0.5), mass=0.2, com=(0, 0, 0.1), inertia=(0.002, 0.002, 0.0002))
m.add(st.JointSpring("leg", 1500.0), st.JointDamper("leg", 2.0), st.JointSpring("hip", 5.0), st.JointDamper("hip", 0.2))
m.add(st.JointForce("leg", "thrust"), st.JointForce("hip", "torque"))
foot, floor = st.Shape("shank", "sphere", 0.02), st.Shape("world", "plane", (0, 0))
thigh.frame("middle", at=(0, 0, -0.22))
m.shapes += [foot, floor, st.Shape("trunk", "box", (0.3, 0.15, 0.1)), st.Shape("middle", "capsule", (0.02, 0.4))]
m.add(st.Contact(foot, floor, friction=1.0, name="foot"))
model = m.build()

method = st.Variational(substeps=0)  # whole steps, as they are differentiated
linearizer = st.Linearizer(model, method, DT)
ahead = np.r_[SPEED * DT * STEPS, np.zeros(2 * model.nv - 1)]


def hop(start, forces):
    """States (steps + 1, 10) of one hop: coordinates, momenta."""
    stepper = st.Stepper(model, method, DT)
    stepper.reset(start[: model.nq], st.inverse_mass_product(model, start[: model.nq], start[model.nq :]))
    states = [start]
    for force in forces:
        stepper.step(force)
        states.append(np.r_[stepper.q, stepper.p])
    return np.array(states)


def derivatives(states, forces):
    """A and B of every step."""
    steps = [linearizer.at(*np.split(x, 2), u) for x, u in zip(states[:-1], forces, strict=True)]
    return [s.A for s in steps], [s.B for s in steps]


def off(start, forces):
    """By how much the end of a hop differs from its start, carried ahead."""
    return hop(start, forces)[-1] - start - ahead


def improve(start, forces, effort):
    """Newton's step to a hop that closes: that of least forces (effort 1), or of least change of them (0)."""
    A, B = derivatives(hop(start, forces), forces)
    to_end, by_force = np.eye(2 * model.nv), np.empty((2 * model.nv, STEPS, 2))
    for k in reversed(range(STEPS)):
        by_force[:, k] = to_end @ B[k]
        to_end = to_end @ A[k]
    slope = np.c_[(to_end - np.eye(2 * model.nv))[:, 1:], by_force.reshape(2 * model.nv, -1)]
    wish = np.r_[np.zeros(2 * model.nv - 1), -effort * forces.ravel()]
    weight = np.r_[np.full(2 * model.nv - 1, 300.0), np.ones(forces.size)]
    step = wish + np.linalg.lstsq(slope / np.sqrt(weight), -off(start, forces) - slope @ wish, rcond=1e-10)[
        0
    ] / np.sqrt(weight)
    return np.r_[0, step[: 2 * model.nv - 1]], step[2 * model.nv - 1 :].reshape(forces.shape), to_end


def find_gait():
    """The start and the forces of a hop that closes, and the derivative of the state after a hop in that before."""
    q0 = np.array([0.0, 0.65, 0.0, 0.0, 0.0])
    start, forces = np.r_[q0, st.momenta(model, q0, np.array([SPEED, 0, 0, 0, 0]))], np.zeros((STEPS, 2))

    def merit(x, u):
        return np.linalg.norm(off(x, u)) + 1e-3 * np.linalg.norm(u)

    for effort in [1.0] * 30 + [0.0] * 8:
        by_start, by_forces, to_end = improve(start, forces, effort)
        lengths = [0.5**i for i in range(7)] if effort else [1.0]
        length = min(lengths, key=lambda a: merit(start + a * by_start, forces + a * by_forces))
        start, forces = start + length * by_start, forces + length * by_forces
        if not effort and np.abs(off(start, forces)).max() < 1e-12:
            break
    return start, forces, to_end


def regulator(states, forces):
    """Gains of each step of the hop: those of the first of many equal hops."""
    A, B = derivatives(states, forces)
    weight = np.diag([0.1, 100, 100, 10, 10] + [0.1] * model.nv)
    gains, _ = st.control.tvlqr(A * 10, B * 10, weight, 0.1 * np.eye(2), weight)
    return gains[:STEPS]


def run(states, forces, gains):
    """Coordinates over hops in a row, the trunk being hit once; the run ends where the trunk falls."""
    stepper, q = st.Stepper(model, method, DT), []
    stepper.reset(states[0, : model.nq], st.inverse_mass_product(model, *np.split(states[0], 2)))
    for k in range(HOPS * STEPS):
        hop_number, step = divmod(k, STEPS)
        if hop_number == HIT and step == 0:
            stepper.reset(stepper.q, stepper.v + np.array([KICK, 0, 0, 0, 0]))
        if stepper.q[1] < 0.3:
            break
        away = np.r_[stepper.q, stepper.p] - hop_number * ahead - states[step]
        q.append(stepper.q)
        stepper.step(forces[step] - gains[step] @ away)
    return np.array(q)


def draw(states, forces, held, dropped):
    figure = Figure(figsize=(11, 7.5), layout="constrained")
    rows = figure.subplots(3, 1, height_ratios=[2, 2, 1.6])
    for axes, q, title in zip(
        rows, (held, dropped), ("held by the regulator", "the same forces without it"), strict=False
    ):
        for x, z, pitch, hip, leg in q[::13]:
            down = leg - 0.5
            along = np.array([[np.cos(pitch), -np.sin(pitch)], [np.sin(pitch + hip), np.cos(pitch + hip)]])
            trunk, foot = np.outer([-0.12, 0.12], along[0]), np.outer([0, down], along[1])
            axes.plot(x + foot[:, 0], z + foot[:, 1], color="0.6", linewidth=0.8)
            axes.plot(x + trunk[:, 0], z + trunk[:, 1], color="C0", linewidth=2)
        axes.axhline(0.0, color="k", linewidth=1)
        axes.axvline(held[HIT * STEPS, 0], color="C3", linestyle=":", label="the trunk is hit")
        axes.set(title=title, xlim=(-0.3, 4.5), ylim=(-0.1, 0.8), aspect="equal", ylabel="height [m]")
        axes.legend(frameon=False, loc="upper right")
    rows[1].set_xlabel("way [m]")
    t = DT * np.arange(STEPS)
    rows[2].step(t, forces[:, 0], where="post", label="along the leg [N]")
    rows[2].step(t, forces[:, 1], where="post", label="at the hip [N·m]")
    rows[2].plot(t, 10 * states[:-1, 1], color="0.5", linestyle="--", label="height of the trunk [dm]")
    rows[2].set(title="the gait", xlabel="time in a hop [s]")
    rows[2].set_ylim(-5, 9)
    rows[2].legend(frameon=False, ncols=3, loc="upper center")
    rows[2].grid(alpha=0.3)
    figure.savefig("hopper.png", dpi=150)
    print("plot written to hopper.png")


if __name__ == "__main__":
    start, forces, to_end = find_gait()
    states = hop(start, forces)
    growth = np.abs(np.linalg.eigvals(to_end)).max()
    print(f"a hop of {ahead[0]:.2f} m closes to {np.abs(off(start, forces)).max():.0e}")
    thrust, torque = np.abs(forces).max(axis=0)
    print(f"forces of at most {thrust:.1f} N in the leg and {torque:.2f} N·m at the hip")
    print(f"left alone, a deviation grows {growth:.1f} times with each hop")
    held = run(states, forces, regulator(states, forces))
    dropped = run(states, forces, np.zeros((STEPS, 2, 2 * model.nv)))
    for hop_number in (HIT - 1, HIT, HIT + 2, HIT + 6, HOPS - 1):
        away = np.abs(held.reshape(HOPS, STEPS, -1)[hop_number] - states[:-1, : model.nq])[:, 1:].max()
        print(f"  hop {hop_number + 1}: at most {away:.1e} m or rad beside the gait" + ", hit" * (hop_number == HIT))
    draw(states, forces, held, dropped)
