"""The folder of a release: which files it takes in, and under kills the old release or the new one, never a part."""

import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from annot.base.errors import InputError
from annot.base.records import Query, Source
from annot.publishing.release import parts, released_files
from annot.publishing.release.released_files import METADATA_FILE, SUMS_FILE, check_folder, run_files, write_folder
from annot.store.models import StoredRun
from annot.store.shown import version
from annot.study.workspace import PLACE_FILE, remove_dead_stages
from small_study import Small
from study_stages import copied, files_of

OLD = {"a.txt": b"old", "sub/b.txt": b"old"}
NEW = {"a.txt": b"new", "c/d/e.txt": b"new"}

KILLED_AT = """
import os, shutil, signal, sys
from pathlib import Path
from annot.study.workspace import replacement
moment, root, folder = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
rename, move, moves = Path.rename, shutil.move, []
def dying(path, target):
    if moment == "between the moves" and moves:
        os.kill(os.getpid(), signal.SIGKILL)
    moves.append(path)
    rename(path, target)
    if moment == "after the moves" and len(moves) == 2:
        os.kill(os.getpid(), signal.SIGKILL)
def brought(source, target):
    move(source, target)
    if moment == "beside":
        os.kill(os.getpid(), signal.SIGKILL)
Path.rename, shutil.move = dying, brought
with replacement(root, folder) as made:
    (made / "a.txt").write_bytes(b"new")
    if moment == "while writing":
        os.kill(os.getpid(), signal.SIGKILL)
    (made / "c" / "d").mkdir(parents=True)
    (made / "c" / "d" / "e.txt").write_bytes(b"new")
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The study's folder."""
    (tmp_path / "study").mkdir()
    return tmp_path / "study"


@pytest.fixture(params=["one disk", "two disks"])
def out(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where releases go: also on another disk, to which nothing moves in one step."""
    if request.param == "two disks":
        rename = os.rename

        def apart(source: str, target: str) -> None:
            if "out" in Path(target).parts and "out" not in Path(source).parts:
                raise OSError(18, "Invalid cross-device link")
            rename(source, target)

        monkeypatch.setattr(os, "rename", apart)
    (tmp_path / "out").mkdir()
    return tmp_path / "out"


def in_folder(out: Path) -> list[str]:
    return [path.name for path in out.iterdir()]


def test_the_new_release_takes_the_place_of_the_old_one_and_nothing_is_left(root: Path, out: Path) -> None:
    write_folder(root, out / "r", OLD)
    write_folder(root, out / "r", NEW)
    assert files_of(out) == {f"r/{path}": content for path, content in NEW.items()}
    assert in_folder(out) == ["r"]
    assert (out / "r").stat().st_mode & 0o777 == (root).stat().st_mode & 0o777, "not as private as a stage"
    assert not list(root.iterdir())


@pytest.mark.parametrize("there", [True, False])
def test_an_interruption_while_writing_leaves_what_was(
    there: bool, root: Path, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if there:
        write_folder(root, out / "r", OLD)
    before = files_of(out)
    written: list[Path] = []

    def interrupted(path: Path, content: bytes) -> None:
        if written:
            raise KeyboardInterrupt
        path.write_bytes(content)
        written.append(path)

    monkeypatch.setattr(released_files, "write_file", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_folder(root, out / "r", NEW)
    assert written
    assert files_of(out) == before
    assert not list(root.iterdir())


def test_an_interruption_between_the_two_moves_brings_the_old_release_back(
    root: Path, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_folder(root, out / "r", OLD)
    rename: Callable[[Path, Path], Path] = Path.rename

    def interrupted(path: Path, target: Path) -> Path:
        if path.name.endswith(".new"):
            raise KeyboardInterrupt
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_folder(root, out / "r", NEW)
    assert files_of(out) == {f"r/{path}": content for path, content in OLD.items()}
    assert in_folder(out) == ["r"]


@pytest.mark.parametrize("moment", ["while writing", "beside", "between the moves", "after the moves"])
def test_what_a_killed_release_left_goes_with_the_next_command(moment: str, root: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    write_folder(root, out / "r", OLD)
    killed = subprocess.run([sys.executable, "-c", KILLED_AT, moment, str(root), str(out / "r")], check=False)
    assert killed.returncode == -signal.SIGKILL
    if moment in ("while writing", "beside"):
        assert files_of(out / "r") == OLD
    if moment == "while writing":
        assert in_folder(out) == ["r"], "what is half written is in the study alone"
    remove_dead_stages(root)
    assert files_of(out / "r") == (NEW if moment == "after the moves" else OLD)
    assert in_folder(out) == ["r"]
    assert not list((root / ".annot").iterdir())


def test_no_file_of_somebody_else_is_removed_with_a_stage(root: Path, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("kept")
    stage = root / ".annot" / "stage-x"
    stage.mkdir(parents=True)
    (stage / PLACE_FILE).write_text(str(tmp_path / "mine"))
    remove_dead_stages(root)
    assert not stage.exists()
    assert (tmp_path / "mine" / "thesis.txt").read_text() == "kept"


def test_two_releases_at_once_end_as_one_of_them(root: Path, out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    move, others = shutil.move, [NEW]

    def overtaken(source: Path, target: Path) -> None:
        if others:
            write_folder(root, out / "r", others.pop())
        move(source, target)

    monkeypatch.setattr(shutil, "move", overtaken)
    write_folder(root, out / "r", OLD)
    assert files_of(out) == {f"r/{path}": content for path, content in OLD.items()}
    assert in_folder(out) == ["r"]


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def study(folder: Path, *runs: StoredRun) -> Any:
    ws = SimpleNamespace(run_file=lambda tag: folder / f"{tag}.run")
    return SimpleNamespace(ws=ws, runs=runs, run_files=tuple(sorted(folder.glob("*.run"))))


def test_a_run_goes_out_with_what_is_known_of_it(tmp_path: Path) -> None:
    (tmp_path / "bm25.run").write_text("q Q0 d 1 0.5 bm25\n")
    known = StoredRun("bm25", Source.BASELINE, {"k1": 1.2}, sha256("q Q0 d 1 0.5 bm25\n"))
    files, missing, notes = run_files(study(tmp_path, known))
    assert (missing, notes) == ((), ())
    assert files["runs/bm25.run"] == b"q Q0 d 1 0.5 bm25\n"
    assert json.loads(files["runs/bm25.json"]) == {
        **{"kind": "baseline", "settings": {"k1": 1.2}, "sha256": known.sha256, "tag": "bm25"}
    }
    assert files["runs/bm25.json"].decode().split("\n")[1] == '  "kind": "baseline",'


@pytest.mark.parametrize(
    ("kind", "again"),
    [(Source.IMPORTED, "import it again with `annot run import`"), (Source.BASELINE, "make it again with `annot run`")],
)
def test_a_run_that_is_gone_or_changed_is_missing(kind: Source, again: str, tmp_path: Path) -> None:
    gone, changed = StoredRun("gone", kind, {}, "0" * 64), StoredRun("changed", kind, {}, "1" * 64)
    (tmp_path / "changed.run").write_text("x")
    files, missing, notes = run_files(study(tmp_path, gone, changed))
    assert (files, notes) == ({}, ())
    assert missing == (
        f"{tmp_path / 'gone.run'}: missing, although run 'gone' is on record; {again}",
        f"{tmp_path / 'changed.run'}: SHA-256 {sha256('x')[:12]}…, expected {'1' * 12}… as on record; {again}",
    )


def test_judged_documents_are_those_of_queries_without_pools() -> None:
    queries = [Query("q1", "p1", "aim", ()), Query("q2", "p2", "aim", (), "survey")]
    made: Any = SimpleNamespace(
        queries=queries,
        texts={},
        pools={"p1": None},
        outcome=SimpleNamespace(planned={("q1", "d1"): (), ("q2", "d2"): (), ("q2", "d3"): ()}),
    )
    assert released_files._judged(made, pooled=True) == {"q2": ["d2", "d3"]}
    assert released_files._judged(made, pooled=False) == {"q1": ["d1"], "q2": ["d2", "d3"]}
    assert list(released_files._notes_on_topics(made)) == [
        "1 query paper without a type: only `annot query choose` gives one"
    ]
    made.queries = queries[1:]
    assert list(released_files._notes_on_topics(made)) == []


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


def test_the_protocol_has_a_folder_of_guidelines_for_each_other_language(tmp_path: Path) -> None:
    ws = copied(Small(), "made", tmp_path / "study")
    pages = {"method": ["Earlier.", "Sent."], "method/de": ["Früher.", "Gesendet."]}
    shown = {
        ("guidelines", subject): [
            version("guidelines", subject, body, since=f"2031-0{month}-01T00:00:00+00:00")
            for month, body in enumerate(bodies, start=1)
        ]
        for subject, bodies in pages.items()
    }
    for subject in ("judge", "judge/de"):
        body = json.dumps({"config": f"<View>{subject}</View>"})
        shown["screen", subject] = [version("screen", subject, body, since="2031-01-01T00:00:00+00:00")]
    study: Any = SimpleNamespace(
        ws=ws, sources={Source.LABEL_STUDIO}, shown=shown, facets={"p1-method": "method"}, assignments=()
    )
    files = parts.protocol_of(study)
    for folder, (earlier, sent) in (("guidelines/", pages["method"]), ("guidelines/de/", pages["method/de"])):
        assert (files[f"{folder}method.md"], files[f"{folder}method.version-1.md"]) == (sent, earlier)
    assert files["screen.xml"] == "<View>judge</View>"
    assert files["screen-de.xml"] == "<View>judge/de</View>"
