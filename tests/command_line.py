"""The command as a person types it, for tests."""

import shlex

import pytest

from symplectree.cli import main


def call(line, capsys):
    """Run a command line as written; returns exit code, output and errors."""
    words = shlex.split(line)
    assert words[0] == "symplectree"
    with pytest.raises(SystemExit) as left:
        main(words[1:])
    out, err = capsys.readouterr()
    return left.value.code or 0, out, err


def help_of(words, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    with pytest.raises(SystemExit):
        main([*words, "--help"])
    return capsys.readouterr().out


def lines_of(text):
    found = [line.strip() for line in text.splitlines()]
    return [line for line in found if line.startswith("symplectree ") and "COMMAND" not in line]
