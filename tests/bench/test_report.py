"""What a benchmark reports is printed, and kept in a file that is whole after every row."""

import json

import numpy as np
import pytest
from matplotlib.figure import Figure

from symplectree.bench import Column, Report, Table, ratio, report_parser

TEXT = """A title.

    pip install this && python that

More of
it. Writes x.png.
"""


def read(path):
    return json.loads(path.read_text(encoding="utf-8"))


def test_every_row_is_kept_at_once_and_printed(tmp_path, capsys):
    path = tmp_path / "report.json"
    report = Report(TEXT, path)
    assert read(path)["text"] == ["A title.", "More of it."]
    table = report.table("One step", Column("n", format="d", key=True), Column("ours", "µs"), ratio(), note="short")
    table.add(np.int64(10), np.float64(1.23456789), 0.5)
    assert read(path)["tables"][0]["rows"] == [[10, 1.23457, 0.5]]
    table.add(20, None, np.nan)
    kept = Table.from_json(read(path)["tables"][0])
    assert kept.rows == [[10, 1.23457, 0.5], [20, None, None]] and kept.columns == table.columns
    report.say("All is well.")
    report.leave_out("DART", "which is not installed")
    assert read(path)["sentences"] == ["All is well."] and read(path)["left_out"] == {"DART": "which is not installed"}
    lines = capsys.readouterr().out.splitlines()
    assert lines[1:] == [
        "One step: short", "n       ours [µs]   ratio", "10           1.23    0.50", "20              -       -",
        "All is well.", "left out: DART, which is not installed",
    ]  # fmt: skip


def test_pictures_are_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    report = Report(TEXT, tmp_path / "report.json")
    report.picture(Figure(), "nothing.png", "Nothing")
    assert (tmp_path / "nothing.png").stat().st_size > 100
    assert read(tmp_path / "report.json")["pictures"] == [{"file": "nothing.png", "caption": "Nothing"}]


def test_a_row_must_fit_its_columns(tmp_path):
    table = Report(TEXT).table("One step", Column("n", key=True), ratio())
    with pytest.raises(ValueError, match="One step: a row of 3 cells below 2 columns"):
        table.add(1, 2, 3)


def test_infinity_is_shown_and_kept(tmp_path):
    path = tmp_path / "report.json"
    Report(TEXT, path).table("t", ratio()).add(np.inf)
    assert Table.from_json(read(path)["tables"][0]).columns[0].text(read(path)["tables"][0]["rows"][0][0]) == "inf"


def test_scripts_take_a_file_to_report_to(tmp_path):
    assert report_parser(TEXT).parse_args([]).report is None
    assert report_parser(TEXT).parse_args(["--report", "x.json"]).report.name == "x.json"
