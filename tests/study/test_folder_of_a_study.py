"""Folder of a study: its files, the names it may have outside it, its guidelines, and the provenance of its
products."""

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest
from annot.base.errors import InputError, MissingInput
from annot.base.settings import Settings
from annot.base.words import ENGLISH
from annot.store.database import open_store
from annot.store.models import Project
from annot.store.shown import version
from annot.study import guidelines, provenance, workspace
from annot.study.guidelines import definition_of, screen
from annot.study.provenance import has_letter, is_current, note, note_letters, read_made, states_of
from annot.study.workspace import Workspace, check_files, given_text, read_manifest, text_of, write_file, write_manifest


@pytest.fixture
def ws(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path, Settings())


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home" / "config"))
    monkeypatch.setenv(workspace.VARIABLE, "")
    return tmp_path / "home" / "config" / "annot" / "allowed.toml"


# -- files


def test_a_file_is_as_readable_as_any_other_unless_it_is_private(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        write_file(tmp_path / "a" / "b" / "open.txt", "x")
        write_file(tmp_path / "a" / "b" / "own.txt", "x", private=True)
    finally:
        assert os.umask(before) == 0o022
    assert (tmp_path / "a" / "b" / "open.txt").stat().st_mode & 0o777 == 0o644
    assert (tmp_path / "a" / "b" / "own.txt").stat().st_mode & 0o777 == 0o600


def test_a_file_that_holds_it_already_stays_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    write_file(path, "ä")
    before = path.stat()
    write_file(path, "ä".encode())
    assert (path.stat().st_ino, path.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    write_file(path, "b")
    assert path.read_text() == "b"
    assert [one.name for one in tmp_path.iterdir()] == ["x.txt"]


def test_a_manifest_is_sorted_and_read_back_and_a_changed_file_is_not(tmp_path: Path) -> None:
    path, manifest = tmp_path / "bm25.run", tmp_path / "manifest.json"
    path.write_text("a")
    write_manifest(manifest, files=[path], inputs={"z": "1", "b": "2"}, facts={"name": "Größe", "a": 1})
    # The SHA-256 of "a".
    sha256 = "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"
    assert manifest.read_text() == (
        f'{{\n  "a": 1,\n  "files": {{\n    "bm25.run": "{sha256}"\n  }},\n'
        '  "inputs": {\n    "b": "2",\n    "z": "1"\n  },\n  "name": "Größe"\n}\n'
    )
    found = read_manifest(manifest, hint="again")
    assert text_of(path, found, told_by=manifest, hint="again") == "a"
    path.write_text("b")
    with pytest.raises(InputError, match=r"its SHA-256 is 3e23e8160039, expected ca978112ca1b as in"):
        text_of(path, found, told_by=manifest, hint="again")
    for text, words in (("[", "not a manifest"), ("[]", "found list, expected an object")):
        manifest.write_text(text)
        with pytest.raises(InputError, match=words):
            read_manifest(manifest, hint="again")
    with pytest.raises(MissingInput, match="missing"):
        read_manifest(tmp_path / "none.json", hint="again")


def test_files_that_were_given_are_there_and_are_text(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"\xef\xbb\xbfx")
    (tmp_path / "b").write_bytes(b"ab\xff")
    check_files([tmp_path / "a"])
    with pytest.raises(InputError, match="2 files not found") as error:
        check_files([tmp_path / "a", tmp_path, tmp_path / "c"])
    assert error.value.faults == (f"{tmp_path}: a folder, expected a file", f"{tmp_path / 'c'}: no such file")
    assert given_text(tmp_path / "a", expected="text") == "x"
    with pytest.raises(InputError, match="not UTF-8 text at byte 2, expected text"):
        given_text(tmp_path / "b", expected="text")


# -- the workspace


def test_a_token_is_not_shown_and_an_open_database_makes_no_other_study(ws: Workspace) -> None:
    assert "s3cret" not in repr(replace(ws, studio_token="s3cret"))
    with open_store(ws.database_url) as store:
        held = replace(ws, held=store)
        assert held == ws
        assert "held" not in repr(held)


def test_a_database_that_is_not_there_is_not_made_by_reading(ws: Workspace) -> None:
    with pytest.raises(MissingInput), ws.reading():
        pass
    assert not (ws.root / "annot.db").exists()
    assert not ws.looks_whole
    with open_store(ws.database_url):
        assert ws.looks_whole


def test_a_database_is_the_settings_file_or_what_the_environment_names(
    ws: Workspace, config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert ws.database_url == f"sqlite:///{ws.root.resolve() / 'annot.db'}"
    assert ws.database_file == ws.root.resolve() / "annot.db"
    for elsewhere in ("../other.db", "postgresql://u@h/x"):
        named = ws.replaced("store", database=elsewhere)
        # Given by the program, as a command line is: no permission is needed.
        assert named.typed == {elsewhere}
        with pytest.raises(InputError, match=r"annot\.toml, \[store\] database asks for"):
            _ = replace(named, typed=frozenset()).database_url
    assert ws.replaced("store", database="postgresql://u@h/x").database_url == "postgresql://u@h/x"
    assert ws.replaced("store", database=None).settings == ws.settings
    monkeypatch.setenv("ANNOT_DATABASE", "postgresql://u@h/y")
    assert (ws.database_url, ws.database_file) == ("postgresql://u@h/y", None)
    assert not ws.looks_whole
    for folder in (ws.corpus, ws.pools):
        folder.mkdir()
        (folder / "manifest.json").write_text("{}")
    assert ws.looks_whole


# -- doors


def test_what_the_owner_allows_is_remembered_once_and_is_private(ws: Workspace, config: Path) -> None:
    for address in ("http://a.example", "http://b.example", "http://a.example", "postgresql://u:p@h/x"):
        workspace.allow(ws.root, address)
    assert workspace.allowed_file() == config
    listed = ", ".join(f'"{one}"' for one in ("http://a.example", "http://b.example", "postgresql://u@h/x"))
    assert config.read_text() == f'"{ws.root.resolve()}" = [{listed}]\n'
    assert config.parent.stat().st_mode & 0o777 == 0o700
    workspace.check_door(ws.root, "http://b.example", asked_by="x")


def test_an_address_with_blanks_is_named_as_it_is(ws: Workspace, config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(workspace.VARIABLE, "/mnt/my study")
    workspace.check_door(ws.root, "/mnt/my study", asked_by="x")
    with pytest.raises(InputError, match="asks for /mnt/other"):
        workspace.check_door(ws.root, "/mnt/other", asked_by="x")


# -- guidelines


def page(ws: Workspace, name: str, definition: str, more: str = "") -> None:
    write_file(ws.root / "guidelines" / f"{name}.md", f"# {name}\n\n{definition}\n{more}")


def test_a_definition_has_1_to_140_characters(ws: Workspace) -> None:
    for length in (1, 140):
        page(ws, "method", "x" * length)
        assert definition_of(guidelines.read(ws, "method")) == "x" * length
    for length in (0, 141):
        page(ws, "method", "x" * length)
        with pytest.raises(InputError, match=f"has {length} characters, expected 1 to 140"):
            guidelines.read(ws, "method")
    assert definition_of("# Title\n\n## More\n\nOne\ntwo.\n\nThree.") == "One two."


def test_a_text_that_was_sent_again_is_no_other_version(ws: Workspace) -> None:
    old = version("guidelines", "method", "as it was", since="2030")
    new = version("guidelines", "method", "new", since="2031")
    assert guidelines.distinct([old, new, old._replace(since="2032")]) == [old, new]


def test_a_screen_says_that_words_are_published_only_where_they_are(ws: Workspace) -> None:
    def said(kind: str, **words: str) -> str:
        return screen(ws.replaced("release", **words), kind)  # type: ignore[arg-type]

    out, on = "left out", "published"
    assert said("judge", comments=on, reasons=out) != said("judge", comments=out, reasons=out)
    assert said("judge", comments=on, reasons=out) == said("judge", comments=on, reasons=on)
    assert said("adjudicate", comments=out, reasons=on) != said("adjudicate", comments=out, reasons=out)
    assert said("adjudicate", comments=out, reasons=on) == said("adjudicate", comments=on, reasons=on)
    assert said("facets", comments=on, reasons=on) == said("facets", comments=out, reasons=out)
    assert ENGLISH("screen.published") in said("judge", comments=on, reasons=out)
    assert ENGLISH("screen.published") in said("adjudicate", comments=out, reasons=on)
    for kind in ("full-text", "feedback", "facets"):
        assert ENGLISH("screen.published") not in said(kind, comments=on, reasons=on)


def test_a_page_that_a_shell_has_emptied_is_none_and_a_byte_order_mark_is_no_text(ws: Workspace) -> None:
    packaged = guidelines.page(ws, "method")
    own = ws.root / "guidelines" / "method.md"
    own.parent.mkdir(exist_ok=True)
    own.write_text("")
    assert guidelines.page(ws, "method") == packaged
    own.write_text("# Method\n\nHow it was done.\n", encoding="utf-8-sig")
    assert definition_of(guidelines.page(ws, "method")) == "How it was done."


# -- what was made of what


def test_a_product_is_current_until_what_it_was_made_of_changes(ws: Workspace) -> None:
    with open_store(ws.database_url):
        states = states_of(ws)
    with ws.reading() as session:
        assert states_of(ws, session) == states
    assert not is_current(read_made(ws), "pool", states)
    note(ws, "pool", states, größe=1)
    assert is_current(read_made(ws), "pool", states)
    later = states_of(replace(ws, settings=ws.settings.model_copy(update={"seed": 99})))
    assert not is_current(read_made(ws), "pool", later)
    text = (ws.root / "made.json").read_text()
    assert text == f'{{\n  "pool": {{\n    "größe": 1,\n    "of": "{read_made(ws)["pool"]["of"]}"\n  }}\n}}\n'
    note(ws, "release/v1", states)
    assert is_current(read_made(ws), "release/v1", states)
    assert list(json.loads((ws.root / "made.json").read_text())) == ["pool", "release/v1"]


def test_a_letter_is_known_by_the_project_it_links_to(ws: Workspace) -> None:
    one = Project(1, "judge", "a1", "s", "u", "1", 1, 7)
    note_letters(ws, {("assessor", "a1"): one, ("assessor", "a2"): None})
    note_letters(ws, {("adjudicator", "j1"): None})
    found = read_made(ws)
    assert has_letter(found, "assessor", "a1", one)
    assert has_letter(found, "assessor", "a1", None)
    assert not has_letter(found, "assessor", "a1", one._replace(remote_id=8))
    assert not has_letter(found, "assessor", "a2", one)
    assert has_letter(found, "assessor", "a2", None)
    assert has_letter(found, "adjudicator", "j1", None)
    assert not has_letter(found, "adjudicator", "a1", None)


def test_a_study_that_can_only_be_read_is_read_and_a_full_disk_is_told(
    ws: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(number: int) -> None:
        def write(*_: object) -> None:
            raise OSError(number, os.strerror(number))

        monkeypatch.setattr(provenance, "write_file", write)

    fails(30)  # read-only file system
    note_letters(ws, {})
    fails(28)  # no space left
    with pytest.raises(OSError, match="No space"):
        note_letters(ws, {})
