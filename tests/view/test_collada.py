"""COLLADA files: every kind of primitive, poses of nodes, and colours whatever the materials refer to."""

import warnings

import numpy as np
import pytest
from PIL import Image

from robot_files import find, load_quietly, urdf_files
from symplectree.view.collada import read_collada
from symplectree.view.meshes import read_mesh
from symplectree.view.scene import scene

INPUTS = '<input semantic="VERTEX" source="#v" offset="1"/><input semantic="NORMAL" source="#n" offset="0"/>'
SQUARE = "0 0 0  1 0 0  1 1 0  0 1 0"


def corners(*numbers):
    """Indices with those of normals between them."""
    return "<p>" + " ".join(f"9 {n}" for n in numbers) + "</p>"


def write(folder, primitives, *, node='<instance_geometry url="#g"/>', unit="", effects="", nodes=""):
    path = folder / "part.dae"
    path.write_text(f"""<?xml version="1.0"?>
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
  <asset>{unit}<up_axis>Y_UP</up_axis></asset>{effects}
  <library_geometries><geometry id="g"><mesh>
    <source id="p"><float_array id="numbers" count="12">{SQUARE}</float_array>
      <technique_common><accessor source="#numbers" count="4" stride="3"/></technique_common></source>
    <vertices id="v"><input semantic="POSITION" source="#p"/></vertices>{primitives}
  </mesh></geometry></library_geometries>
  <library_nodes>{nodes}</library_nodes>
  <library_visual_scenes><visual_scene id="s"><node>{node}</node></visual_scene></library_visual_scenes>
  <scene><instance_visual_scene url="#s"/></scene>
</COLLADA>""")
    return path


def area(vertices, faces):
    """Of triangles, as a vector: their sense counts."""
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    return np.cross(b - a, c - a).sum(axis=0) / 2


@pytest.mark.parametrize(
    "primitive",
    [
        f"<triangles count='2'>{INPUTS}{corners(0, 1, 2, 0, 2, 3)}</triangles>",
        f"<polylist count='1'>{INPUTS}<vcount>4</vcount>{corners(0, 1, 2, 3)}</polylist>",
        f"<polylist count='2'>{INPUTS}<vcount>3 3</vcount>{corners(0, 1, 2, 0, 2, 3)}</polylist>",
        f"<polygons count='1'>{INPUTS}{corners(0, 1, 2, 3)}</polygons>",
        f"<polygons count='2'>{INPUTS}{corners(0, 1, 2)}{corners(0, 2, 3)}</polygons>",
        f"<trifans count='1'>{INPUTS}{corners(0, 1, 2, 3)}</trifans>",
        f"<tristrips count='1'>{INPUTS}{corners(0, 1, 3, 2)}</tristrips>",
    ],
    ids=lambda text: text[1:12],
)
def test_every_primitive_is_read(tmp_path, primitive):
    lines = f"<lines count='1'>{INPUTS}{corners(0, 1)}</lines>"
    ((vertices, faces, color),) = read_collada(write(tmp_path, lines + primitive))
    np.testing.assert_allclose(area(vertices, faces), (0, 0, 1))
    assert len(faces) == 2 and color is None


def test_nodes_are_placed_inside_each_other_and_in_metres(tmp_path):
    """By hand: (x, y, 0) is scaled to (2x, y, 0), turned to (−y, 2x, 0), shifted by (1, 2, 3), in units of 1 cm."""
    part = '<node id="part"><scale>2 1 1</scale><instance_geometry url="#g"/></node>'
    node = '<translate>1 2 3</translate><rotate>0 0 2 90</rotate><instance_node url="#part"/>'
    triangle = f"<triangles count='1'>{INPUTS}{corners(0, 1, 2)}</triangles>"
    path = write(tmp_path, triangle, node=node, nodes=part, unit='<unit name="centimeter" meter="0.01"/>')
    ((vertices, _, _),) = read_collada(path)
    np.testing.assert_allclose(vertices, 0.01 * np.array([[1, 2, 3], [1, 4, 3], [0, 4, 3]]), atol=1e-12)
    mirrored = '<matrix>1 0 0 0 0 1 0 0 0 0 -1 0 0 0 0 1</matrix><instance_geometry url="#g"/>'
    ((vertices, faces, _),) = read_collada(write(tmp_path, triangle, node=mirrored))
    assert area(vertices, faces)[2] < 0  # of a mirrored body the outside stays outside


MATERIALS = """
<library_images><image id="photo"><init_from>photo.png</init_from></image></library_images>
<library_effects><effect id="plain"><phong><diffuse><color>0.1 0.2 0.3 1</color></diffuse></phong></effect>
<effect id="pictured"><newparam sid="s"><sampler2D><source>nowhere</source></sampler2D></newparam>
<phong><diffuse><texture texture="photo" texcoord="UV"/></diffuse></phong></effect>
<effect id="broken"><phong><diffuse><texture texture="lost" texcoord="UV"/></diffuse></phong></effect></library_effects>
<library_materials><material id="a"><instance_effect url="#plain"/></material>
<material id="b"><instance_effect url="#pictured"/></material>
<material id="c"><instance_effect url="#broken"/></material></library_materials>"""


def test_triangles_are_read_whatever_their_materials_refer_to(tmp_path):
    Image.new("RGB", (8, 8), (255, 51, 0)).save(tmp_path / "photo.png")
    names = ("a", "b", "c", "none")
    primitives = "".join(f"<triangles material='m{n}'>{INPUTS}{corners(0, 1, 2)}</triangles>" for n in names)
    bound = "".join(f'<instance_material symbol="m{n}" target="#{n}"/>' for n in names)
    node = f'<instance_geometry url="#g"><bind_material>{bound}</bind_material></instance_geometry>'
    colors = [color for _, _, color in read_collada(write(tmp_path, primitives, node=node, effects=MATERIALS))]
    assert colors == [pytest.approx((0.1, 0.2, 0.3)), pytest.approx((1, 0.2, 0)), None, None]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("<COLLADA", "it is no XML"),
        ("<COLLADA/>", "it holds no triangles"),
        ("<html>", "it is no XML"),
    ],
)
def test_broken_files_are_refused(tmp_path, text, why):
    path = tmp_path / "broken.dae"
    path.write_text(text)
    with pytest.raises(ValueError, match=why):
        read_mesh(path)


def test_nodes_without_end_and_corners_that_are_not_there_are_refused(tmp_path):
    endless = '<node id="x"><instance_node url="#x"/></node>'
    with pytest.raises(ValueError, match="without end"):
        read_collada(write(tmp_path, "", node='<instance_node url="#x"/>', nodes=endless))
    with pytest.raises(ValueError, match="no COLLADA that can be read"):
        read_collada(write(tmp_path, f"<triangles>{INPUTS}{corners(0, 1, 8)}</triangles>"))


def test_a_texture_colours_each_triangle(tmp_path):
    """Left half red, right half blue, above and below nearly alike: two triangles, told apart by where they lie in it."""
    pixels = np.zeros((8, 8, 3), dtype=np.uint8)
    pixels[:, :4], pixels[:4, :4], pixels[:, 4:] = (250, 0, 0), (240, 4, 0), (0, 0, 250)
    Image.fromarray(pixels).save(tmp_path / "photo.png")
    flat = "0.05 0.1  0.4 0.1  0.4 0.9  0.6 0.1  0.95 0.1  0.95 0.9  1.1 0.9  1.3 0.9  1.2 0.95"
    uv = (
        f'<source id="uv"><float_array id="f" count="18">{flat}</float_array><technique_common>'
        '<accessor source="#f" count="9" stride="2"/></technique_common></source>'
    )
    inputs = '<input semantic="VERTEX" source="#v" offset="0"/><input semantic="TEXCOORD" source="#uv" offset="1"/>'
    triangles = f'<triangles count="3" material="m">{inputs}<p>0 0 1 1 2 2 0 3 2 4 3 5 1 6 2 7 3 8</p></triangles>'
    effects = """<library_images><image id="photo"><init_from>photo.png</init_from></image></library_images>
<library_materials><material id="mat"><instance_effect url="#e"/></material></library_materials><library_effects>
<effect id="e"><diffuse><texture texture="photo" texcoord="UV"/></diffuse></effect></library_effects>"""
    bound = '<bind_material><instance_material symbol="m" target="#mat"/></bind_material>'
    node = f'<instance_geometry url="#g">{bound}</instance_geometry>'
    pieces = read_collada(write(tmp_path, uv + triangles, node=node, effects=effects))
    (_, red_faces, red), (_, blue_faces, blue) = pieces
    np.testing.assert_allclose(red, (0.97, 0, 0), atol=0.06)
    np.testing.assert_allclose(blue, (0, 0, 0.98), atol=0.02)
    assert red_faces.tolist() == [[0, 1, 2], [1, 2, 3]] and blue_faces.tolist() == [[0, 2, 3]]


@pytest.mark.skipif(not urdf_files(), reason="example-robot-data is not installed")
def test_a_robots_meshes_keep_their_colours():
    """ANYmal's description has a grey material for all links, its meshes have blue, black and orange parts."""
    path = next(p for p in urdf_files() if "anymal_b" in str(p) and p.name == "anymal.urdf")
    model = load_quietly(path).build()
    colors = {solid.color for solid in scene(model, model.neutral).solids if solid.kind == "mesh"}
    assert len(colors) > 5 and any(blue > red + 0.2 for red, _, blue in colors)


@pytest.mark.skipif(not urdf_files(), reason="example-robot-data is not installed")
def test_anymal_stands_on_its_feet():
    """Its feet refer to a texture that their file lacks; a count of the file's triangles gives 81 + 4484 + 39."""
    model = load_quietly(find("anymal_b_simple_description/robots/anymal.urdf")).build()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        solids = scene(model, model.neutral).solids
    feet = [solid for solid in solids if solid.mesh is not None and solid.mesh.name == "anymal_foot.dae"]
    assert len(feet) == 4 * 3
    assert sum(len(part.faces) for part in read_mesh(feet[0].mesh)) == 4604
