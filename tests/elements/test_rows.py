"""Rows of elements and constraints: the same fields here and in the core, and numbers where the fields say."""

from dataclasses import fields
from pathlib import Path
from typing import get_args, get_type_hints

import numpy as np
import pytest
import symplectree._core as core

import symplectree as st
from mechanisms import CONSTRAINTS, actuated_mechanism, closed_mechanism
from robot_texts import write_stl
from symplectree.elements import ElementTables, rows
from symplectree.elements.rows import (
    ROW_KINDS,
    JointSpringRow,
    PairRow,
    Row,
    as_array,
    columns,
    parameter_columns,
    width,
)


def test_the_core_has_the_same_fields():
    described = {kind: [tuple(field) for field in found] for kind, found in core.row_fields().items()}
    assert described == {kind.table: list(rows._flat_fields(kind)) for kind in ROW_KINDS}
    assert ("a.at", 3, False) in described["lines"] and ("input", 6, True) in described["wrenches"]
    rows.require_same_fields()


def test_other_fields_are_refused(monkeypatch):
    monkeypatch.setattr(rows, "ROW_KINDS", ROW_KINDS[1:])
    rows.require_same_fields.cache_clear()
    with pytest.raises(ImportError, match="install it anew"):
        rows.require_same_fields()


def test_there_is_a_list_of_every_kind():
    hints = get_type_hints(ElementTables)
    lists = {name: get_args(hint)[0] for name, hint in hints.items() if name != "functions"}
    kinds = {name: kind for name, kind in lists.items() if isinstance(kind, type) and issubclass(kind, Row)}
    assert kinds == {kind.table: kind for kind in ROW_KINDS if not issubclass(kind, PairRow)}
    assert all(ElementTables().of_kind(kind) == [] for kind in ROW_KINDS)


def touching(folder: Path) -> st.Model:
    """A mesh over a floor, whose joint has ends and rubs."""
    write_stl(folder / "part.stl")
    m = st.Mechanism()
    m.world.link("part", st.Prismatic("z", "z"), mass=1.0)
    m.shapes += [st.Shape("part", "mesh", mesh=str(folder / "part.stl")), st.Shape("world", "plane", (0, 0))]
    m.add(st.Contact("part", "world"), st.JointLimit("z", lower=-1.0), st.JointFriction("z", 2.0))
    return m.build()


def test_numbers_lie_where_the_fields_say(tmp_path):
    models = [closed_mechanism(3, 12, CONSTRAINTS)[0], actuated_mechanism(3).build(), touching(tmp_path)]
    for kind in ROW_KINDS:
        found = next((rows for model in models if (rows := model.tables.of_kind(kind))), [])
        array = as_array(kind, found)
        assert array.shape == (len(found), width(kind)) and len(found) > 0
        for name, own in columns(kind).items():
            field, _, part = name.partition(".")
            for row, numbers in zip(found, array, strict=True):
                value = getattr(row, field)
                np.testing.assert_array_equal(numbers[own], np.ravel(getattr(value, part) if part else value))
        assert sorted(k for own in columns(kind).values() for k in own) == list(range(width(kind)))


def test_parameters_are_numbers_of_the_row_and_no_indices():
    indices = {(kind, name) for kind, found in core.row_fields().items() for name, _, index in found if index}
    for kind in ROW_KINDS:
        for quantity, parameter in kind.parameters.items():
            assert parameter.field in {field.name for field in fields(kind)}
            assert (kind.table, parameter.field) not in indices
            assert set(parameter_columns(kind, quantity)) <= set(columns(kind)[parameter.field])


def test_rows_of_another_width_are_refused():
    model, _, _ = closed_mechanism(3, 12, ["Gear"])
    tables = model.tables
    wide = {**tables.arrays(), JointSpringRow.table: np.zeros((1, width(JointSpringRow) + 1))}
    names = ("parent", "kind", "axis", "pitch", "placement", "mass", "com", "inertia", "armature", "gravity")
    arrays = {name: np.ascontiguousarray(getattr(model, name)) for name in (*names, "frame_body", "frame_offset")}
    with pytest.raises(ValueError, match="joint_springs do not have 6 numbers"):
        core.Model(
            arrays={**arrays, **wide},
            functions=tables.functions,
            ground_energy=0.0,
            inputs=len(model.inputs),
            users=[],
            evaluate=print,
            formulas={},
            followers=np.zeros((0, 8)),
        )
