"""A ball that rolls into a tower of boxes: rest without creep, friction, impacts.

    python examples/stack_and_ball.py

prints how far the tower moved before it was hit, and what was hit; draws energy and heights.
"""

import numpy as np

import symplectree as st

SIDE, BOXES = 0.2, 3


def tower() -> st.Mechanism:
    m = st.Mechanism()
    m.shapes.append(st.Shape("world", "plane", (0, 0), name="floor"))
    for i in range(BOXES):
        m.world.link(f"box{i}", st.Free(f"box{i}"), mass=0.5, inertia=(0.5 * SIDE**2 / 6,) * 3)
        m.shapes.append(st.Shape(f"box{i}", "box", (SIDE, SIDE, SIDE)))
        m.add(st.Contact(f"box{i}", "floor", friction=0.5))
        m.add(*(st.Contact(f"box{i}", f"box{k}", friction=0.5) for k in range(i)))
    m.world.link("ball", st.Free("ball"), mass=1.0, inertia=(0.4 * 0.15**2,) * 3)
    m.shapes.append(st.Shape("ball", "sphere", 0.15))
    m.add(st.Contact("ball", "floor", friction=0.4, restitution=0.3))
    m.add(*(st.Contact("ball", f"box{i}", friction=0.4, restitution=0.3) for i in range(BOXES)))
    return m


def main() -> None:
    model = tower().build()
    q0 = {f"box{i}": [0, 0, SIDE * (i + 0.5), 1, 0, 0, 0] for i in range(BOXES)}
    q0["ball"] = [-2.0, 0.03, 0.15, 1, 0, 0, 0]
    traj = st.simulate(model, q0, v0={"ball": [0, 0, 0, 3.0, 0, 0]}, duration=1.5, dt=0.002)
    hit = traj.impacts.t[0]
    before = traj.t < hit
    boxes = np.stack([traj[f"box{i}"][:, :3] for i in range(BOXES)], axis=1)
    print(f"the tower stood still to {np.abs(boxes[before] - boxes[0]).max():.1e} m until it was hit at {hit:.4f} s")
    print(f"{len(traj.impacts)} impacts took {traj.impacts.lost.sum():.3f} J of {traj.kinetic[0]:.3f} J")
    print(f"deepest overlap of any two points: {max(0.0, -traj.contacts.gap.min()):.1e} m")
    traj.plot("energy", "box2", path="stack_and_ball.png")


if __name__ == "__main__":
    main()
