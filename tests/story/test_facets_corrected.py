"""Labels of query papers corrected by keyboard alone in Label Studio, and what becomes of the queries."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from annot.base.records import Query
from annot.corpus.query_sentences import facet_sentences
from annot.judging.exchange import audit
from annot.judging.exchange.collecting import RoundOptions
from annot.judging.rounds.labels import PulledLabels
from annot.labelstudio.accounts import read_passwords
from annot.steps import exchange
from annot.steps import people as assessors
from annot.store.database import open_store
from annot.store.facet_labels import FacetLabels, put_corrections, read_labels
from annot.store.pools import read_queries
from annot.study.workspace import Workspace
from complete_study import http
from fixtures_studio import Studio, written
from studies import Study, address_of, make_study
from study_stages import quietly


def send(study: Study, *names: str) -> list[tuple[str, int, int]]:
    options = RoundOptions(assessor=names)
    pushed = exchange.push(study.workspace, round="labels", options=options, dry_run=False, advance=quietly)
    return [(one.assessor, one.there, one.sent) for one in pushed.projects]


def fetch(study: Study) -> tuple[list[tuple[str, int, int, int]], tuple[str, ...]]:
    pulled = exchange.pull(study.workspace, round="labels", advance=quietly)
    rows = [one for one in pulled.assessors if isinstance(one, PulledLabels)]
    return [(one.assessor, one.judged, one.sentences, one.queries) for one in rows], pulled.notes


def on_record(ws: Workspace) -> tuple[dict[str, tuple[tuple[str, ...], str]], dict[str, Query]]:
    """The labels of the two papers with their origin, and the queries."""
    with open_store(ws.database_url) as store, store.read() as session:
        found = read_labels(session, ["fic0802", "fic0903"])
        labels = {one.paper_id: (one.labels, one.origin.split(":")[0]) for one in found}
        return labels, {query.query_id: query for query in read_queries(session)}


def correct_by_keys(study: Study, chromium: Any, changes: list[tuple[int, str]]) -> None:
    """Log in as a1, give these sentences (from 1) of the first abstract other labels by their keys, and submit both."""
    studio = study.studio
    with studio.gateway() as gateway:
        (project,) = study.projects("labels")["a1"]
        url = gateway.labelling_url(project)
    context = chromium.new_context(viewport={"width": 1280, "height": 720})
    try:
        page = context.new_page()
        page.goto(f"{studio.url}/user/login/")
        page.fill("input[name=email]", address_of("a1"))
        page.fill("input[name=password]", read_passwords(studio.passwords)[address_of("a1")])
        page.click("button[type=submit]")
        page.wait_for_url(lambda at: "/user/login" not in at)
        page.goto(url)
        page.wait_for_selector(".lsf-modal-ls__body")
        assert "Correcting the labels" in page.locator(".lsf-modal-ls__body").inner_text()
        page.keyboard.press("Escape")
        page.wait_for_selector(".lsf-modal-ls__body", state="detached")
        page.wait_for_selector(".a-query .htx-highlight")
        page.wait_for_selector("button[name=submit]:not([disabled])")
        boxes = [page.locator(one).bounding_box() for one in (".a-side", ".a-labels", ".a-comment")]
        assert all(box is not None and box["y"] >= 0 and box["y"] + box["height"] <= 720 for box in boxes)
        assert not page.locator(".a-none").is_visible()
        at = 0
        for number, key in changes:
            while at < number:
                page.keyboard.press("Alt+.")
                at += 1
                page.wait_for_selector(f".a-query p:nth-child({at}) .htx-highlight.__active")
            page.keyboard.press(key)
            label = {"m": "method", "r": "result", "b": "background"}[key]
            page.wait_for_selector(f'.a-query p:nth-child({number}) [data-label$="{label}"]')
        for progress in ("1 of 2", "2 of 2"):
            assert page.locator(".a-facet h4").nth(2).inner_text() == progress
            page.wait_for_selector("button[name=submit]:not([disabled])")
            with written(page):
                page.keyboard.press("Control+Enter")
            changed = "(old) => document.querySelector('.a-facet h4:nth-child(3)')?.textContent !== old"
            page.wait_for_function(changed, arg=progress)
            if progress == "1 of 2":
                page.wait_for_selector(".a-query .htx-highlight")
    finally:
        context.close()


@pytest.mark.studio
@pytest.mark.browser
@pytest.mark.long
def test_corrected_labels_become_those_of_the_paper_and_of_its_queries(
    studio: Studio, chromium: Any, tmp_path: Path
) -> None:
    study = make_study(tmp_path / "study", studio, name="corrected", per_method=3)
    ws = study.workspace
    for name in ("a1", "a2"):
        assessors.add(ws, name, account=address_of(name), adjudicator=False, dry_run=False)
    before, queries = on_record(ws)
    assert queries["fic0802-background"].sentences[0] == 0

    assert send(study, "a1") == [("a1", 0, 2)]
    assert send(study, "a1") == [("a1", 2, 0)]
    assert send(study, "a2", "a1") == [("a2", 0, 0), ("a1", 2, 0)], "a paper stays with whom it was sent to"
    began = datetime.now(UTC)
    correct_by_keys(study, chromium, [(1, "r"), (3, "b")])
    ended = datetime.now(UTC)

    assert fetch(study) == ([("a1", 2, 2, 1), ("a2", 0, 0, 0)], ())
    labels, corrected = on_record(ws)
    wanted = list(before["fic0802"][0])
    wanted[0], wanted[2] = "result", "background"
    assert labels == {"fic0802": (tuple(wanted), "corrected"), "fic0903": (before["fic0903"][0], "corrected")}
    found = facet_sentences(wanted, "background", facets=ws.settings.facets)
    assert corrected["fic0802-background"].sentences == found
    assert 0 not in found
    assert 2 in found
    assert corrected["fic0903-method"] == queries["fic0903-method"]
    assert fetch(study) == ([("a1", 2, 0, 0), ("a2", 0, 0, 0)], ())

    # A server set back to last night's backup has older corrections.
    with open_store(ws.database_url, create=False) as store, store.read() as session:
        made_at = [one.corrected_at for one in read_labels(session, ["fic0802", "fic0903"])]
    assert [at for at in made_at if at is None or not began <= datetime.fromisoformat(at) <= ended] == []
    with open_store(ws.database_url, create=False) as store, store.begin() as session:
        put_corrections(session, [FacetLabels("fic0802", tuple(wanted[::-1]), "corrected", "2099-01-01T00:00:00Z")])
    rows, notes = fetch(study)
    assert rows[0] == ("a1", 1, 0, 0)
    assert notes == ("fic0802: kept the correction on record, which is newer than a1's",)
    assert on_record(ws)[0]["fic0802"][0] == tuple(wanted[::-1])
    with open_store(ws.database_url, create=False) as store, store.begin() as session:
        put_corrections(session, [FacetLabels("fic0802", tuple(wanted), "corrected", "2000-01-01T00:00:00Z")])

    # Assessors get the corrected labels; what comes back after that is told, and not taken.
    exchange.push(ws, round="judging", dry_run=False, advance=quietly)
    (shown, *_) = [task["data"]["pair_html"] for task in study.on_server("a1") if task["data"]["facet"] == "background"]
    assert "a-fixed" not in shown
    with study.as_person("a1") as person:
        (project,) = study.projects("labels")["a1"]
        task = next(task for task in person.pull(project) if "result" in str(task.annotations[0]["result"]))
        answer = task.annotations[0]
        for region in answer["result"]:
            region["value"]["labels"] = ["other"]
        person.change_annotation(answer["id"], answer["result"])
    rows, notes = fetch(study)
    assert rows[0][2:] == (0, 0)
    assert len(notes) == 1
    assert "had been sent" in notes[0]
    assert on_record(ws) == (labels, corrected)


def test_the_projects_of_labels_are_known_by_their_number_and_audited(memory: Studio, tmp_path: Path) -> None:
    study = make_study(tmp_path / "study", memory, name="labels-audited", per_method=3)
    for name in ("a1", "a2"):
        account = {"account": address_of(name), "adjudicator": False, "dry_run": False}
        assessors.add(study.workspace, name, **account)
    send(study, "a1", "a2")
    (own,), (other,) = (study.on_server(name, "labels") for name in ("a1", "a2"))
    with study.as_person("a1") as person:
        answer = person.annotate(own["id"], [], lead_time=30.0)
    assert fetch(study)[0] == [("a1", 1, 0, 0), ("a2", 0, 0, 0)]
    assert found(study) == {}
    # A new name of the collection does not make the projects other ones.
    renamed = study.copy(tmp_path / "renamed", "labels-renamed")
    assert fetch(renamed)[0] == [("a1", 1, 0, 0), ("a2", 0, 0, 0)]
    assert send(renamed, "a1") == [("a1", 1, 0)]
    assert found(renamed) == {}

    with study.as_person("a2") as second:
        second.change_annotation(answer, [])
        second.annotate(own["id"], [], lead_time=30.0)
    (project,) = study.projects("labels")["a2"]
    exported = study.as_exported("a2", "labels")[0]["data"]
    http(study, "PATCH", f"/api/tasks/{other['id']}/", json={"data": {**exported, "facet_help": "Call it result."}})
    http(study, "PATCH", f"/api/projects/{project}/", json={"maximum_annotations": 2})
    assert found(study) == {
        "other account": ["a1 (labels): 1 answer by another account (by a2)"],
        "edited by another": ["a1 (labels): 1 answer last changed by an account other than the author's (by a2)"],
        "answered twice": ["a1 (labels): 1 task with more than one answer"],
        "task changed": ["a2 (labels): 1 task showing content that was never sent"],
        "project changed": [
            "a1 (labels): changed on the server by hand: the title",
            "a2 (labels): changed on the server by hand: maximum_annotations",
        ],
    }
    http(study, "DELETE", f"/api/projects/{project}/")
    assert fetch(study)[1] == (
        "a1: ignored 1 answer by another account",
        "fic0802: label removed from 4 sentences; the earlier one counts: sentence 1 (background), "
        "sentence 2 (method), sentence 3 (method), sentence 4 (result)",
        "a2: the project is missing from the server; `annot push labels` creates it again with its open tasks",
    )
    assert found(study)["project gone"] == ["a2: their project is missing from the server (labels)"]


def found(study: Study) -> dict[str, list[str]]:
    """What the audit says of each kind."""
    kinds: dict[str, list[str]] = {}
    for finding in audit.audit(study.workspace, advance=quietly).findings:
        kinds.setdefault(finding.kind, []).append(finding.what)
    return kinds
