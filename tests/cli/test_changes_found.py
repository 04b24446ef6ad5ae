"""`annot check files` finds what was changed since it was written: files, records, and a release."""

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from annot.base.names import sha256_of
from annot.store.answers import JUDGEMENTS
from annot.store.database import open_store
from annot.study.outcome import outcome_of
from annot.study.workspace import Workspace
from command_line import annot, annot_done
from usual import USUAL

Study = Callable[[str], Path]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("pools/plan.jsonl", "pools/plan.jsonl: changed; the database says"),
        ("pools/rankings/abs_tfidf.run", "pools/rankings/abs_tfidf.run: changed; pools/rankings/manifest.json says"),
        ("pools/rankings/manifest.json", "pools/manifest.json: its input rankings/manifest.json has changed since"),
    ],
)
def test_what_was_changed_is_found(name: str, said: str, study: Study) -> None:
    folder = study("measured")
    whole = annot_done("check", "files", "--json", folder=folder).data["files"]
    assert whole["manifests"] >= 4
    assert whole["revisions"] > 100
    path = folder / name
    path.write_text(path.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    found = annot("check", "files", "--json", folder=folder)
    assert found.exit_code == 1
    assert [finding for finding in json.loads(found.stdout)["data"]["files"]["findings"] if finding.startswith(said)]
    path.unlink()
    if not name.endswith("manifest.json"):
        assert f"{name}: missing" in annot("check", "files", folder=folder).stdout


@pytest.mark.parametrize("changed", ["a pool", "a ranking", "a pool that is gone"])
def test_a_file_that_was_changed_with_its_hash_is_not_what_the_database_has(changed: str, study: Study) -> None:
    folder = study("pooled")
    annot_done("check", "files", folder=folder)
    folder_of = folder / "pools" / ("rankings" if changed == "a ranking" else "")
    manifest = folder_of / "manifest.json"
    told = json.loads(manifest.read_text(encoding="utf-8"))
    name = next(name for name in sorted(told["files"]) if name.startswith(("queries/", "abs_tfidf")))
    path = folder_of / name
    text = path.read_text(encoding="utf-8")
    if changed == "a pool that is gone":
        path.unlink()
        del told["files"][name]
    else:
        # Another score of the last document changes no rank, so the pools that are drawn are the same.
        *lines, last = text.splitlines()
        columns = last.split()
        columns[-2] = f"{float(columns[-2]) / 2}" if changed == "a ranking" else f" {columns[-2]}"
        path.write_text("\n".join([*lines, " ".join(columns), ""]), encoding="utf-8")
        told["files"][name] = sha256_of(path)
    manifest.write_text(json.dumps(told), encoding="utf-8")
    if changed == "a ranking":
        above = folder / "pools" / "manifest.json"
        chained = json.loads(above.read_text(encoding="utf-8"))
        chained["inputs"]["rankings/manifest.json"] = sha256_of(manifest)
        above.write_text(json.dumps(chained), encoding="utf-8")
    said = {
        "a pool": "differs from the pool in the database",
        "a ranking": "this pool does not follow from the rankings in pools/rankings/",
        "a pool that is gone": "missing, but the database has this pool",
    }[changed]
    verified = annot("check", "files", "--json", folder=folder)
    assert verified.exit_code == 1
    (finding,) = verified.data["files"]["findings"]
    assert said in finding
    replayed = annot("check", "pools", folder=folder)
    assert replayed.exit_code == 1
    assert said in replayed.stdout
    # The remedy that is named mends it.
    assert "again with `annot pool`" in annot("check", "files", folder=folder).stderr
    annot_done("pool", folder=folder)
    annot_done("check", "files", folder=folder)


@pytest.mark.parametrize("name", ["import --as csfcube", "import --as grades"])
def test_nothing_is_found_in_an_imported_study(name: str, study: Study) -> None:
    folder = study("made")
    USUAL[name].prepare(folder)
    annot_done(*name.split(), *USUAL[name].typed.split(), folder=folder)
    assert annot_done("check", "files", "--json", folder=folder).data["files"]["revisions"] >= 10


def test_a_judgement_that_was_changed_and_a_release_that_was_are_found(study: Study, tmp_path: Path) -> None:
    folder = study("measured")
    annot_done("release", "out", "--draft", "--licence", "CC0-1.0", folder=folder)
    annot_done("check", "files", "--release", "out", folder=folder)
    with closing(sqlite3.connect(folder / "annot.db")) as connection:
        connection.execute("DROP TRIGGER judgement_no_update")
        connection.execute("UPDATE judgement SET grade = (grade + 1) % 4 WHERE id = 7")
        connection.commit()
    (folder / "out" / "README.md").write_text("another")
    found = annot("check", "files", "--release", "out", folder=folder)
    assert found.exit_code == 1
    assert "judgement 7 (" in found.stdout
    assert "out/README.md: changed since" in found.stdout
    assert "exports/qrels.txt: does not follow from the judgements on record" in found.stdout
    assert len(found.stdout.splitlines()) == 3


DELETED = {
    "id = 7": "judgement 8 (",
    "id = (SELECT MAX(id) FROM judgement)": "judgement: found",
    "id IN (1, 2)": "judgement 3 (",
}


def test_a_row_that_was_deleted_by_hand_is_found_for_ever(study: Study) -> None:
    folder = study("judged")
    annot_done("check", "files", folder=folder)
    whole = (folder / "annot.db").read_bytes()
    for deleted, said in DELETED.items():
        (folder / "annot.db").write_bytes(whole)
        with closing(sqlite3.connect(folder / "annot.db")) as connection:
            connection.execute("DROP TRIGGER judgement_no_delete")
            connection.execute(f"DELETE FROM judgement WHERE {deleted}")
            connection.commit()
        before = annot("check", "files", "--json", folder=folder)
        assert before.exit_code == 1
        assert [one for one in before.data["files"]["findings"] if one.startswith(said)]
        # What is recorded afterwards hides nothing.
        with open_store(Workspace.open(folder).database_url) as store, store.begin() as session:
            line = JUDGEMENTS.lines(session)[0]
            JUDGEMENTS.withdraw(session, [(line.current, "a test")], recorded_at="2031-01-01T00:00:00Z")
        after = annot("check", "files", "--json", folder=folder).data["files"]["findings"]
        assert [one for one in after if "the row before it was changed or removed" in one]


def test_grades_that_are_older_than_the_judgements_are_found_down_to_the_release(study: Study) -> None:
    folder = study("measured")
    annot_done("release", "out", "--draft", "--licence", "CC0-1.0", folder=folder)
    pair, assessor = accepted(folder)
    with open_store(Workspace.open(folder).database_url) as store, store.begin() as session:
        (line,) = [
            one for one in JUDGEMENTS.lines(session, person=assessor) if one.current.record.pair_key.pair == pair
        ]
        JUDGEMENTS.withdraw(session, [(line.current, "a test")], recorded_at="2031-01-01T00:00:00Z")
    (found,) = annot("check", "files", "--release", "out", folder=folder).stdout.splitlines()
    assert found.startswith("exports/qrels.txt: does not follow from the judgements on record; run `annot qrels`")
    annot_done("qrels", "--partial", folder=folder)
    (found,) = annot("check", "files", "--release", "out", folder=folder).stdout.splitlines()
    assert found.startswith("out/qrels.txt: differs from exports/qrels.txt; `annot release`")
    (folder / "out" / "DATASHEET.md").unlink()
    assert "out/DATASHEET.md: missing" in annot("check", "files", "--release", "out", folder=folder).stdout


def accepted(folder: Path) -> tuple[tuple[str, str], str]:
    """A pair whose assessors agree, and one of them."""
    with open_store(Workspace.open(folder).database_url) as store, store.read() as session:
        outcome = outcome_of(session, Workspace.open(folder).settings)
    (first, *_) = [one for one in outcome.decisions if one.origin == "agreed"]
    pair = (first.query_id, first.doc_id)
    return pair, outcome.planned[pair][0]
