"""Models that come with the package, by name."""

import pytest

import symplectree as st
from symplectree.io import bundled_models


@pytest.mark.parametrize("name", bundled_models.names())
def test_loaded_by_name(name):
    assert st.load(name).to_sexpr() == st.loads(bundled_models.text(name)).to_sexpr()


@pytest.mark.parametrize("name", ["satelite", "nothing"])
def test_a_name_that_is_not_there_lists_all(name):
    with pytest.raises(st.ModelError) as raised:
        st.load(name)
    assert all(known in str(raised.value) for known in bundled_models.names())
    assert ("did you mean 'satellite'?" in str(raised.value)) == (name == "satelite")


def test_a_file_without_ending_is_no_name(tmp_path, monkeypatch):
    (tmp_path / "satellite").write_text("(system)")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(st.ModelError, match="satellite: no suffix tells what it is"):
        st.load("satellite")
    with pytest.raises(st.ModelError, match="the name of a shipped model, not 3"):
        st.load(3)
