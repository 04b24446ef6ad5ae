"""A database lost: files, the newest backup and the server give the study back, and what is lost is told."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from annot.base.records import Source
from annot.labelstudio import controls
from annot.labelstudio.annotations import write_result
from annot.store import judgements, people, queries
from annot.store.database import Store, open_store
from annot.store.facet_labels import read_labels
from annot.store.guidelines import read_guidelines
from annot.store.returned import read_returned
from annot.study import guidelines
from command_line import annot, annot_done
from fixtures_studio import Studio
from studies import Pair, Study, address_of, make_study

pytestmark = pytest.mark.studio

HALT = "fic0802"
KEPT = ("exports/qrels.txt", "exports/judgements.jsonl", "pools/plan.jsonl", "pools/manifest.json")


def correct_labels(study: Study) -> None:
    """a1 gives the first sentence of the first query paper another label in Label Studio."""
    annot_done("facets", "push", "a1", folder=study.folder)
    with open_store(study.workspace.database_url) as store, store.read() as session:
        (own,) = read_labels(session, [HALT])
    other = "result" if own.labels[0] != "result" else "background"
    region: dict[str, Any] = {
        "id": "query-0",
        "from_name": controls.SENTENCE_LABEL,
        "to_name": controls.TEXT,
        "type": "labels",
    }
    region["value"] = {"labels": [other], "start": "/p[1]/text()[1]", "end": "/p[1]/text()[1]", "text": "x"}
    with study.studio.gateway() as gateway, study.as_person("a1") as person:
        (project,) = study.projects("labels")["a1"]
        first, second = (task.task_id for task in gateway.tasks_of(project))
        person.annotate(first, [region], lead_time=3.0)
        person.annotate(second, [], lead_time=3.0)
    annot_done("facets", "pull", folder=study.folder)


def decided(store: Store) -> dict[str, Any]:
    """What people decided, as it is on record."""
    with store.read() as session:
        return {
            "queries": queries.read_queries(session),
            "labels": sorted(one for one in read_labels(session) if one.origin == Source.CORRECTED),
            "returned": read_returned(session),
            "guidelines": read_guidelines(session),
            "people": people.read_assessors(session),
        }


def history(store: Store, pair: Pair) -> list[tuple[str, int | None, str | None]]:
    """Every revision of a pair: whose, the grade, and by which guidelines."""
    with store.read() as session:
        found = judgements.read_history(session, *pair)
    return [(one.record.assessor, one.record.grade, one.guidelines_sha256) for one in found]


@pytest.fixture(scope="module")
def complete(studio: Studio, tmp_path_factory: pytest.TempPathFactory) -> Study:
    """Corrected labels, sentences chosen by hand, a change of mind before a backup and one after it, guidelines that
    changed, a pair that was returned, and disputes settled."""
    study = make_study(tmp_path_factory.mktemp("rebuild") / "study", studio, name="rebuilt", per_method=3)
    folder = study.folder
    correct_labels(study)
    annot_done("query", "add", "fic0903", "--facet", "result", "--sentences", "1,2", folder=folder)
    with open_store(study.workspace.database_url) as store, store.begin() as session:
        queries.put_queries(session, [replace(one, paper_type="survey") for one in queries.read_queries(session)])
    annot_done("pool", folder=folder)
    annot_done("plan", "--share", "a1=1", folder=folder)
    annot_done("push", folder=folder)
    pairs = study.planned()["a1"]
    ids = study.judge("a1", {pair: at % 4 for at, pair in enumerate(pairs)})
    study.judge("a2", {pair: at % 4 if at else 3 for at, pair in enumerate(pairs)}, comment="looks so")
    annot_done("pull", folder=folder)
    page = folder / "guidelines" / "method.md"
    text = guidelines.read(study.workspace, "method").text
    page.write_text(f"{text}\nA baseline counts for nothing.\n", encoding="utf-8")
    annot_done("push", "--guidelines-changed", "baselines", folder=folder)
    with study.as_person("a1") as person:
        person.change_annotation(ids[pairs[1]], write_result({}, grade=3))
        annot_done("pull", folder=folder)
        annot_done("backup", "backups/evening.tar.gz", folder=folder)
        person.change_annotation(ids[pairs[2]], write_result({}, grade=0))
        annot_done("pull", folder=folder)
    annot_done("adjudicate", "push", folder=folder)
    settled = {tuple(task["data"]["pair_id"].split("/")): 1 for task in study.on_server("j1", "adjudicate")}
    study.judge("j1", settled, "adjudicate", settled_by="slip")
    annot_done("adjudicate", "pull", folder=folder)
    annot_done("return", *pairs[5], "--to", "a1", "--why", "Read it again.", folder=folder)
    annot_done("push", folder=folder)
    study.judge("a1", {(*pairs[5], "2"): 1})
    annot_done("pull", folder=folder)
    annot_done("qrels", folder=folder)
    return study


@pytest.fixture
def study(complete: Study, tmp_path: Path) -> Study:
    shutil.copytree(complete.folder, tmp_path / "study", symlinks=True)
    return Study(tmp_path / "study", complete.studio)


def made_anew(study: Study) -> dict[str, Any]:
    """Lose the database and make it anew; what `annot rebuild` tells."""
    (study.folder / "annot.db").unlink()
    annot_done("init", folder=study.folder)
    if not (study.folder / "ledger.jsonl").is_file():
        assert "annot facets" in annot("rebuild", folder=study.folder).stderr
    annot_done("facets", folder=study.folder)
    annot_done("rebuild", "--dry-run", folder=study.folder)
    assert annot_done("status", "--json", folder=study.folder).data["queries"] == 0
    rebuilt: dict[str, Any] = annot_done("rebuild", "--json", folder=study.folder).data
    return rebuilt


def brought_back(study: Study) -> None:
    """The four commands that follow: nothing is sent twice."""
    annot_done("pull", folder=study.folder)
    annot_done("adjudicate", "pull", folder=study.folder)
    pushed = annot_done("push", "--json", folder=study.folder).data["projects"]
    assert [(one["sent"], one["withdrawn"]) for one in pushed] == [(0, 0)] * 2
    adjudicated = annot_done("adjudicate", "push", "--json", folder=study.folder).data["projects"]
    assert [(one["sent"], one["withdrawn"]) for one in adjudicated] == [(0, 0)]


def test_a_lost_database_is_made_anew_with_all_that_people_decided(study: Study) -> None:
    folder, pairs = study.folder, study.planned()["a1"]
    kept = {name: (folder / name).read_bytes() for name in KEPT}
    url = study.workspace.database_url
    status = annot_done("status", "--json", folder=folder).data
    with open_store(url) as store:
        before, was = decided(store), {pair: history(store, pair) for pair in pairs}
    assert len(before["labels"]) == 2
    assert annot("rebuild", folder=folder).exit_code == 2, "a database that is there is not made anew"

    rebuilt = made_anew(study)
    assert rebuilt["people"] == ["a1", "a2", "j1"]
    assert rebuilt["without_account"] == []
    assert rebuilt["backup"].endswith("evening.tar.gz")
    assert rebuilt["revisions"] == 2 * len(pairs) + 1
    (lost,) = rebuilt["lost"]
    assert "revisions of answers" in lost
    brought_back(study)
    assert annot_done("status", "--json", folder=folder).data == status
    assert rebuilt["tasks"] == 2 * len(pairs) + 1 + len(study.on_server("j1", "adjudicate"))
    with open_store(url) as store:
        assert decided(store) == before
        for pair in pairs:
            # What was changed after the backup has lost nothing either: its first state was in the backup.
            assert history(store, pair) == was[pair]
    assert address_of("a1") in annot_done("assessor", "list", "--json", folder=folder).stdout
    annot_done("qrels", folder=folder)
    annot_done("check", "files", folder=folder)
    assert kept == {name: (folder / name).read_bytes() for name in kept}
    assert {len(ids) for ids in study.projects().values()} == {1}


def test_without_ledger_and_backup_what_is_lost_is_told_with_numbers(study: Study) -> None:
    folder, pairs = study.folder, study.planned()["a1"]
    shutil.rmtree(folder / "backups")
    (folder / "ledger.jsonl").unlink()
    (folder / "pools" / "rankings" / "abs_tfidf.run").unlink()
    rebuilt = made_anew(study)
    assert (rebuilt["backup"], rebuilt["revisions"], rebuilt["corrected"]) == (None, 0, 0)
    said = " | ".join(rebuilt["lost"])
    assert "chosen sentences, corrected labels and types of papers of 3 queries" in said
    assert "what 2 of 2 pools were drawn from" in said
    assert "2 answers on the server, as before the last change" in said
    assert "when 1 pair went back to an assessor" in said
    # Pushed before anything is pulled: nothing is sent or taken back, and the returned pair is known again.
    annot_done("push", folder=folder)
    annot_done("pull", folder=folder)
    annot_done("adjudicate", "pull", folder=folder)
    with open_store(study.workspace.database_url) as store:
        assert [(one.pair, one.why) for one in decided(store)["returned"]] == [(pairs[5], "Read it again.")]
        assert [grade for name, grade, _ in history(store, pairs[1]) if name == "a1"] == [3]


def test_the_ledger_alone_keeps_what_people_decided_and_holds_no_account(study: Study) -> None:
    shutil.rmtree(study.folder / "backups")
    url = study.workspace.database_url
    with open_store(url) as store:
        before = decided(store)
    ledger = (study.folder / "ledger.jsonl").read_text(encoding="utf-8")
    assert "example.org" not in ledger
    rebuilt = made_anew(study)
    assert (study.folder / "ledger.jsonl").read_text(encoding="utf-8").split("\n")[1:] == ledger.split("\n")[1:]
    assert rebuilt["corrected"] == 2
    (lost,) = rebuilt["lost"]
    assert f"of {2 * len(study.planned()['a1']) + 4} revisions" in lost or "revisions of answers" in lost
    with open_store(url) as store:
        assert decided(store) == before
