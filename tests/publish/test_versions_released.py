"""A corpus with versions: each has a release of its own, which is complete and stays as it is."""

import hashlib
import json
import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from annot.base.errors import FindingError, InputError
from annot.base.records import Judgement
from annot.publishing.release import released_files
from annot.steps import publish
from annot.store.answers import ADJUDICATIONS, JUDGEMENTS, SourcedJudgement
from annot.store.papers import read_papers
from annot.store.people import read_assignments
from annot.study.workspace import Workspace
from command_line import annot, annot_done
from study_stages import copied, files_of, published

SYSTEMS = ("fabs_tfidf", "fabs_bm25")
OF_RECORDS = ("qrels.txt", "beir/", "judgements.jsonl", "decisions.jsonl", "pools/", "agreement.json", "plan.jsonl")
"""Files of a release that have no word on its version."""


def release(ws: Workspace, folder: Path, **how: Any) -> publish.ReleaseResult:
    usual = {"with_text": None, "licence": None, "published": None, "allowed": (), "draft": False, "dry_run": False}
    return publish.release(Workspace.open(ws.root), folder, **usual | how)


def begin(ws: Workspace, version: str, *names: str) -> None:
    """Documents come, a version of the corpus begins, pools and plan grow."""
    old = list(read_papers(ws.corpus))
    records = [
        {"paper_id": name, "title": f"{paper.title} again, by {name}", "year": 2031}
        | {"abstract": [f"Case {name} is new.", *paper.sentences[1:], f"So it was in {name}."]}
        | {"labels": ["method"] * (len(paper.sentences) + 1)}
        for name, paper in zip(names, old[6 * int(version) :], strict=False)
    ]
    (ws.root / f"{version}.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    added = ("corpus", "add", f"{version}.jsonl", "--version", version, "--reason", "a year later")
    for words in (added, ("facets",), ("pool", "--grow"), ("plan", "--grow")):
        annot_done(*words, folder=ws.root)


def judge(ws: Workspace) -> None:
    """Everyone gives each new pair the grade that its id has, and runs are made anew."""
    with ws.writing() as session:
        answered = {judgement.pair_key for judgement in JUDGEMENTS.records(session)}
        new = [
            Judgement(row.query_id, row.doc_id, row.assessor, len(row.query_id + row.doc_id) % 3, occasion=row.occasion)
            for row in read_assignments(session)
            if row.pair_key not in answered
        ]
        answers = [SourcedJudgement(judgement, "label-studio", "", {}) for judgement in new]
        JUDGEMENTS.record(session, answers, recorded_at="2031-01-01T00:00:00+00:00")
    annot_done("qrels", folder=ws.root)
    annot_done("run", *SYSTEMS, folder=ws.root)


@pytest.fixture(scope="module")
def grown(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """A study that was released, with a second version of its corpus that is judged; its folder has that release."""
    folder = tmp_path_factory.mktemp("versions")
    ws = copied(published(2), "settled", folder / "study")
    annot_done("qrels", folder=ws.root)
    annot_done("run", *SYSTEMS, folder=ws.root)
    release(ws, folder / "first")
    begin(ws, "2", "new-1", "new-2")
    gone = drawn(ws)[0]
    (ws.root / "gone.txt").write_text(f"{gone}\n")
    annot_done("corpus", "withdraw", "gone.txt", "--reason", "retracted", folder=ws.root)
    judge(ws)
    return ws


def drawn(ws: Workspace) -> list[str]:
    """Judged documents that are no query's paper."""
    topics = {line.split("-")[0] for line in ws.qrels.read_text().splitlines()}
    return sorted({line.split()[2] for line in ws.qrels.read_text().splitlines()} - topics - {"new-1", "new-2"})


def test_pages_of_the_whole_study_say_which_final_grades_no_qrels_have(grown: Workspace) -> None:
    gone = {*(grown.root / "gone.txt").read_text().split()}
    grades = [json.loads(line) for line in (grown.exports / "decisions.jsonl").read_text().splitlines()]
    pairs = sum(one["doc_id"] in gone and one["grade"] is not None for one in grades)
    assert pairs == sum(one["grade"] is not None for one in grades) - len(grown.qrels.read_text().splitlines()) > 0
    annot_done("report", folder=grown.root)
    annot_done("datasheet", folder=grown.root)
    report = (grown.exports / "report.md").read_text()
    assert f", {len(gone)} of them withdrawn." in report
    for page in (report, (grown.exports / "datasheet.md").read_text()):
        assert f"{pairs} of the pairs with a final grade " in page


@pytest.fixture(scope="module")
def both(grown: Workspace) -> Path:
    """The releases of both versions; nobody writes into them."""
    release(grown, grown.root.parent / "both")
    return grown.root.parent / "both"


def test_each_version_is_complete_and_the_first_is_what_was_released_before_there_were_two(
    grown: Workspace, both: Path
) -> None:
    first = files_of(both.parent / "first")
    for version in ("1", "2"):
        found = files_of(both / version)
        sums = dict(line.split("  ")[::-1] for line in found.pop("SHA256SUMS").decode().splitlines())
        assert sums == {path: hashlib.sha256(content).hexdigest() for path, content in found.items()}
        names = {path.replace(f"_demo_{version}.py", "_demo.py") for path in found}
        assert names >= {path for path in first if not path.startswith("SHA")}
    old, new = files_of(both / "1"), files_of(both / "2")
    same = {path for path in first if path.startswith(OF_RECORDS) or path.endswith(".run")}
    assert {path: old[path] for path in same} == {path: first[path] for path in same}
    gone = (grown.root / "gone.txt").read_text().strip()
    ids = {
        version: {json.loads(line)["_id"] for line in files["beir/corpus.jsonl"].splitlines()}
        for version, files in (("1", old), ("2", new))
    }
    assert ids["1"] - ids["2"] == {gone}
    assert ids["2"] - ids["1"] == {"new-1", "new-2"}
    assert new["qrels.txt"] == grown.qrels.read_bytes()
    rows = [line for line in new["README.md"].decode().splitlines() if line.startswith(("| 1 |", "| 2 |"))]
    for row, version, files in zip(rows, ("1", "2"), (old, new), strict=True):
        cells = [cell.replace(",", "") for cell in row.strip("| ").split(" | ")]
        pairs = len(files["qrels.txt"].splitlines())
        judgements = sum(json.loads(line)["occasion"] == 1 for line in files["judgements.jsonl"].splitlines())
        assert cells[:2] == [version, str(len(ids[version]))]
        assert cells[3:] == [str(pairs), str(judgements)]
    assert b"## History" not in old["README.md"]
    annot_done("check", "files", "--release", str(both), folder=grown.root)


def test_what_was_released_of_an_earlier_version_stays_unless_it_is_named(
    grown: Workspace, both: Path, tmp_path: Path
) -> None:
    copy = Path(shutil.copytree(both, tmp_path / "copy"))
    before = files_of(copy)
    other = Workspace.open(grown.root).replaced("collection", description="Another description.")
    how: Any = {"with_text": None, "licence": None, "published": None, "allowed": (), "draft": False, "dry_run": False}
    told = publish.release(other, copy, **how)
    assert "version 1 was released before and stays as it is" in told.notes
    after = files_of(copy)
    changed = {path for path in before if before[path] != after[path]}
    assert changed
    assert {path.split("/")[0] for path in changed} == {"2"}
    publish.release(other, copy, corpus="1", **how)
    assert b"Another description." in files_of(copy)["1/README.md"]
    with pytest.raises(InputError, match="expected one of 1, 2"):
        release(grown, copy, corpus="3")
    for version in ("1", "2"):
        (copy / version / "qrels.txt").write_text("", encoding="utf-8")
    found = annot("check", "files", "--release", str(copy), folder=grown.root).stdout
    updates = re.findall("differs from exports/(qrels.*?); `(.*?)` updates it", found)
    assert updates == [("qrels-1.txt", f"annot release {copy} --corpus 1"), ("qrels.txt", "annot release")]


def test_a_release_from_before_is_no_folder_for_all(grown: Workspace, both: Path) -> None:
    flat = both.parent / "first"
    before = files_of(flat)
    with pytest.raises(InputError, match="a release from before the corpus had versions"):
        release(grown, flat)
    assert files_of(flat) == before
    assert both.is_dir()


def test_one_that_was_killed_between_two_versions_is_finished_by_the_next(
    grown: Workspace, both: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Killed(BaseException):
        pass

    write = released_files.write_folder

    def killed(root: Path, folder: Path, files: Any) -> None:
        if folder.name == "2":
            raise Killed
        write(root, folder, files)

    with monkeypatch.context() as patched:
        patched.setattr(released_files, "write_folder", killed)
        with pytest.raises(Killed):
            release(grown, tmp_path / "out")
    assert files_of(tmp_path / "out") == {
        path: content for path, content in files_of(both).items() if path.startswith("1/")
    }
    release(grown, tmp_path / "out")
    assert files_of(tmp_path / "out") == files_of(both)


def test_a_version_that_is_not_judged_is_refused_and_those_before_are_the_same_bytes(
    grown: Workspace, both: Path, tmp_path: Path
) -> None:
    ws = Workspace.open(Path(shutil.copytree(grown.root, tmp_path / "study")))
    begin(ws, "3", "late-1")
    with pytest.raises(FindingError, match="something is missing") as raised:
        release(ws, tmp_path / "out")
    assert any("late-1" in fault for fault in raised.value.faults)
    assert not (tmp_path / "out").exists()
    annot_done("qrels", "--partial", folder=ws.root)
    release(ws, tmp_path / "out", corpus="1")
    assert files_of(tmp_path / "out" / "1") == files_of(both / "1")
    said = annot("evaluate", folder=ws.root)
    assert (said.exit_code, "ranks version 2" in said.message()) == (2, True)


def test_an_old_grade_that_changes_later_keeps_the_earlier_version_from_being_released_anew(
    grown: Workspace, tmp_path: Path
) -> None:
    """Its qrels stay, and what was released of it; later versions have the new grade."""
    ws = Workspace.open(Path(shutil.copytree(grown.root, tmp_path / "study")))
    with ws.writing() as session:
        settled = {sourced.record.pair for sourced in ADJUDICATIONS.current(session)}
        kept = [line.split() for line in ws.qrels_of("1").read_text().splitlines()]
        query, _, doc_id, grade = next(row for row in kept if (row[0], row[2]) not in settled)
        changed = [
            sourced._replace(record=replace(sourced.record, grade=(int(grade) + 1) % 3))
            for sourced in JUDGEMENTS.read(session)
            if sourced.record.pair == (query, doc_id)
        ]
        JUDGEMENTS.record(session, changed, recorded_at="2031-02-01T00:00:00+00:00")
    annot_done("qrels", folder=ws.root)
    old = f"{query} 0 {doc_id} {grade}"
    for file, has in ((ws.qrels_of("1"), True), (ws.qrels, False)):
        assert (old in file.read_text().splitlines()) is has
    with pytest.raises(FindingError) as raised:
        release(ws, tmp_path / "out")
    (fault,) = (fault for fault in raised.value.faults if "qrels-1.txt" in fault)
    assert "take the new grades back, or release a later version: --corpus" in fault
    assert not (tmp_path / "out").exists()
    release(ws, tmp_path / "out", corpus="2")
    assert old not in (tmp_path / "out" / "2" / "qrels.txt").read_text(encoding="utf-8").splitlines()
