"""Compiled code of tests goes to a folder of their own."""

import pytest


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory, monkeypatch):
    folder = tmp_path_factory.getbasetemp() / "code"
    folder.mkdir(mode=0o700, exist_ok=True)
    monkeypatch.setenv("SYMPLECTREE_CACHE", str(folder))
    return folder
