"""Joint limits, dry friction and contacts as MJCF's ranges, frictionloss and contact pairs."""

from symplectree.elements import Contact, JointFriction, JointLimit
from symplectree.io.robots.reading import new_name
from symplectree.io.robots.writing import Element, Writing, numbers, sub_element
from symplectree.mechanism.model import Model

FAR = 1e9  # an end that is none; a range has two
TURNING = (0.005, 0.0001, 0.0001)  # MuJoCo's own numbers, which count from condim 4 on


def geom_names(model: Model) -> dict[int, str]:
    """By number of a shape that collides or has a name: a name that no other geom has."""
    taken: set[str] = set()
    shapes = model.shapes
    wanted = {number: shape.name for number, shape in enumerate(shapes) if shape.name is not None}
    for number in model.full.tables.shapes:
        wanted.setdefault(number, f"{shapes[number].frame} {shapes[number].kind}")
    return {number: new_name(name, taken) for number, name in wanted.items()}


def write_stop(w: Writing, joints: dict[str, Element], element: JointLimit | JointFriction, name: str) -> bool:
    """A limit or friction on the joint that it acts on."""
    coordinate = element.coordinate
    names = [n for n in joints if n == coordinate or (coordinate not in joints and n.startswith(f"{coordinate}."))]
    if isinstance(element, JointFriction):
        for found in names:
            joints[found].set("frictionloss", numbers(float(joints[found].get("frictionloss", "0")) + element.force))
        return bool(names)
    if names != [coordinate] or joints[coordinate].get("type") not in ("hinge", "slide"):
        return False
    low, high = map(float, joints[coordinate].get("range", f"{-FAR} {FAR}").split())
    low = low if element.lower is None else max(low, element.lower)
    high = high if element.upper is None else min(high, element.upper)
    joints[coordinate].set("range", numbers((low, high)))
    if element.restitution:
        w.leave("restitution", name)
    return True


def write_contact(
    w: Writing, model: Model, contact: Element, element: Contact, name: str, geoms: dict[int, str]
) -> bool:
    """Every two shapes of a contact as a pair of geoms."""
    tables = model.full.tables
    owner = next(i for i, e in enumerate(model.elements) if e.name == name)
    written = False
    for row in tables.contact_pairs:
        if row.owner != owner:
            continue
        a, b = (geoms.get(tables.shapes[shape]) for shape in (row.a, row.b))
        if a is None or b is None:
            w.leave("contacts of meshes whose files MuJoCo does not read", name)
            continue
        given = {"condim": "3", "friction": numbers((row.friction, row.friction, *TURNING))}
        sub_element(contact, "pair", given if row.friction else {"condim": "1"}, geom1=a, geom2=b)
        written = True
    if element.restitution:
        w.leave("restitution", name)
    return written
