"""An address outside a study is used only if its owner has named it, and that is remembered for this study alone."""

from pathlib import Path

import pytest
from annot.base.errors import InputError
from annot.study.workspace import VARIABLE, check_door

ADDRESS = "http://studio.example"


def test_an_address_is_refused_until_the_owner_names_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    study, other = tmp_path / "study", tmp_path / "other"
    monkeypatch.setenv(VARIABLE, "http://elsewhere.example")
    with pytest.raises(InputError, match=rf"annot\.toml asks for {ADDRESS}, which is outside this study"):
        check_door(study, ADDRESS, asked_by="annot.toml")
    monkeypatch.setenv(VARIABLE, f"http://elsewhere.example {ADDRESS}")
    check_door(study, ADDRESS, asked_by="annot.toml")
    monkeypatch.setenv(VARIABLE, "")
    check_door(study, ADDRESS, asked_by="annot.toml")
    for root, address in ((other, ADDRESS), (study, "http://elsewhere.example")):
        with pytest.raises(InputError, match="outside this study"):
            check_door(root, address, asked_by="annot.toml")
