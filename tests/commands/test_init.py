"""`annot init`: the settings file is read back as it was meant, and is fit for people to read."""

import os
import tomllib
from pathlib import Path

import pytest
from annot.study.workspace import Workspace
from command_line import annot, annot_done

NAMES = ("Größe & Müller's <Sammlung>", "论文", 'a "quoted" \\name')


@pytest.mark.parametrize("name", NAMES)
def test_the_name_stands_in_annot_toml_as_it_was_given(tmp_path: Path, name: str) -> None:
    annot_done("init", "study", "--name", name, folder=tmp_path)
    text = (tmp_path / "study" / "annot.toml").read_text(encoding="utf-8")
    assert tomllib.loads(text)["collection"]["name"] == name
    assert Workspace.open(tmp_path / "study").settings.collection.name == name
    if name.isprintable() and "\\" not in name:
        assert f'\nname = "{name}"\n' in text
    assert annot_done("init", "study", "--name", name, folder=tmp_path).exit_code == 0


def test_a_folder_names_the_collection_in_its_own_letters(tmp_path: Path) -> None:
    annot_done("init", "Studie über Ähnlichkeit", folder=tmp_path)
    text = (tmp_path / "Studie über Ähnlichkeit" / "annot.toml").read_text(encoding="utf-8")
    assert '\nname = "Studie über Ähnlichkeit"\n' in text


@pytest.mark.parametrize("name", [b"f\xff", b"del\x7f", b"esc\x1b[2J"])
def test_a_folder_whose_name_is_no_text_is_refused_before_anything_is_made(tmp_path: Path, name: bytes) -> None:
    folder = os.fsdecode(name)
    refused = annot("init", folder, folder=tmp_path)
    assert refused.exit_code == 2
    assert "cannot be printed" in refused.message()
    assert "--name" in refused.message()
    assert not list(tmp_path.iterdir())
