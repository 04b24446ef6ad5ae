"""A folder is written over only if it is an untouched release of the same collection."""

import hashlib
import json
from pathlib import Path

import pytest
from annot.base.errors import InputError
from annot.publishing.release import released_files
from annot.publishing.release.released_files import METADATA_FILE, SUMS_FILE, check_folder


@pytest.fixture
def release(tmp_path: Path) -> Path:
    files = {METADATA_FILE: json.dumps({"name": "demo"}), "beir/corpus.jsonl": "{}", "qrels.txt": "q 0 d 1"}
    folder = tmp_path / "release"
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    sums = [f"{hashlib.sha256(text.encode()).hexdigest()}  {name}\n" for name, text in files.items()]
    (folder / SUMS_FILE).write_text("".join(sums))
    return folder


def refused(folder: Path, name: str = "demo") -> InputError:
    with pytest.raises(InputError) as caught:
        check_folder(folder, name)
    return caught.value


def test_nothing_an_empty_folder_and_an_untouched_release_may_be_written_over(release: Path, tmp_path: Path) -> None:
    check_folder(release, "demo")
    check_folder(tmp_path / "nothing", "demo")
    (tmp_path / "empty").mkdir()
    check_folder(tmp_path / "empty", "demo")
    passed_over = release / released_files.PASSED_OVER
    passed_over.mkdir()
    (passed_over / "x").write_text("")
    check_folder(release, "demo")


def test_a_changed_file_and_a_new_one_are_told_apart(release: Path) -> None:
    (release / "qrels.txt").write_text("q 0 d 2")
    assert "1 file would be lost" in str(refused(release))
    assert list(refused(release).faults) == ["qrels.txt: changed since the release was written"]
    (release / "notes.txt").write_text("mine")
    (release / "drafts").mkdir()
    found = refused(release)
    assert "3 files would be lost" in str(found)
    assert list(found.faults) == [
        "drafts: not part of the release",
        "notes.txt: not part of the release",
        "qrels.txt: changed since the release was written",
    ]


def test_a_file_of_the_release_that_became_a_folder_would_be_lost(release: Path) -> None:
    (release / "qrels.txt").unlink()
    (release / "qrels.txt").mkdir()
    assert list(refused(release).faults) == ["qrels.txt: changed since the release was written"]


@pytest.mark.parametrize("lacking", [SUMS_FILE, METADATA_FILE])
def test_a_folder_without_sums_or_metadata_is_no_release(lacking: str, release: Path) -> None:
    (release / lacking).unlink()
    assert "not empty, and not a release made with this program" in str(refused(release))


@pytest.mark.parametrize("metadata", ["no JSON", "[]", '{"name": "other"}'])
def test_another_collection_is_not_written_over(metadata: str, release: Path) -> None:
    (release / METADATA_FILE).write_text(metadata)
    found = "'other'" if "other" in metadata else "None"
    assert f"a release of {found}, expected 'demo' or an empty folder" in str(refused(release))


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "release").write_text("")
    assert "a file, expected a folder or nothing" in str(refused(tmp_path / "release"))
