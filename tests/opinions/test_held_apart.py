"""Opinions of models are held apart: nothing that people see, decide or grade knows of them."""

import json
import random
from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest
from annot.base.errors import InputError, LeakError, MissingInput
from annot.base.records import PairKey
from annot.base.words import ENGLISH
from annot.formats.trec import read_qrels
from annot.judging.exchange.outgoing import OutgoingProject, TaskMaterial, check_outgoing, form_of, spec_of, tasks_of
from annot.judging.exchange.servers import PARTS
from annot.labelstudio.studio_records import Screen
from annot.labelstudio.tasks import returned_task
from annot.publishing.terms import terms_of
from annot.steps import imports, publish, qrels
from annot.store import people
from annot.study.guidelines import screen
from annot.study.outcome import outcome_of
from annot.study.provenance import MADE_OF, states_of
from annot.study.snapshot import exported_qrels, read_snapshot
from annot.study.workspace import Workspace, write_file
from annot_opinions import steps
from annot_opinions.on_record import opinions_on_record
from annot_opinions.releasing import opinion_files
from annot_opinions.steps import Selection
from annot_opinions.stored import read_asked_model
from asked_study import ask, made, opinions_of, with_model
from scripted_server import Scripted, serving
from study_stages import files_of


def test_asking_before_anything_was_sent_needs_a_reason_which_goes_on_record(tmp_path: Path) -> None:
    with serving() as server:
        ws = with_model(made(tmp_path, stage="planned"), server.url)
        for empty in (None, " "):
            with pytest.raises(InputError, match="no pair has been sent to an assessor yet") as error:
                ask(ws, before_judging=empty)
            assert "--before-judging" in (error.value.hint or "")
        assert server.requests == []
        done = ask(ws, selection=Selection(queries=("p1-method",)), before_judging="A  pilot.")
        assert done.standing.early == ("asked: A pilot.",)
        assert ask(ws).settled == 30
    with ws.reading() as session:
        ((moment, what, why),) = read_asked_model(session, "small").early
    assert (moment[:2], what, why) == ("20", "asked", "A pilot.")


def asked(tmp_path: Path, judged: int) -> Workspace:
    def script(request: object, number: int) -> Scripted:
        return Scripted(f'{{"grade": {number % 3}, "reason": "r"}}')

    with serving(script) as server:
        ws = with_model(made(tmp_path, judged=judged), server.url, requests_at_once=1, repeats=3, model="tiny 2:7b")
        ask(ws)
    return ws


def test_grades_of_a_model_are_shown_when_people_have_settled_all_or_with_a_reason(tmp_path: Path) -> None:
    ws = asked(tmp_path, judged=10)
    with pytest.raises(InputError, match="people have not settled all pairs yet"):
        steps.write(ws, "small", before_judging=None)
    steps.write(ws, "small", before_judging="For the funder.")
    steps.write(ws, "small", before_judging="For the funder.")
    (row,) = steps.listing(ws)
    assert row.early == ("shown: For the funder.",)
    with pytest.raises(MissingInput, match="no model was asked under this name"):
        steps.write(ws, "large", before_judging="Why not.")


def test_qrels_of_a_model_name_it_and_nothing_takes_them_for_peoples(tmp_path: Path) -> None:
    ws = asked(tmp_path, judged=10)
    written = steps.write(ws, "small", before_judging="A test.")
    lines = written.path.read_text(encoding="utf-8").splitlines()
    assert written.path == ws.exports / "opinions" / "small.qrels"
    assert {line.split()[1] for line in lines} == {"model=tiny_2:7b"}
    # Three opinions on each pair; the middle one counts.
    grades = dict[tuple[str, str], list[int | None]]()
    for one in opinions_of(ws):
        grades.setdefault(one.pair, []).append(one.grade)
    found = {(one.query_id, one.doc_id): one.relevance for one in read_qrels(lines, name="x")}
    assert found == {pair: sorted(map(int, map(str, own)))[1] for pair, own in grades.items()}
    with pytest.raises(InputError, match="a model's grades"):
        imports.grades_from(
            made(tmp_path / "new", stage="queried"),
            [written.path],
            form="qrels", facet="method", per_topic=1, foreign=None, dry_run=False,
        )  # fmt: skip
    write_file(ws.qrels, written.path.read_bytes())
    with pytest.raises(InputError, match=r"exports/qrels\.txt: a model's grades \(tiny_2:7b\), expected people's"):
        publish.release(
            ws, tmp_path / "out", with_text=None, licence=None, published=None, allowed=(), draft=True, dry_run=False
        )  # fmt: skip
    with pytest.raises(InputError, match="a model's grades"):
        exported_qrels(read_snapshot(ws))


def test_what_was_reported_before_a_model_was_asked_is_old_and_what_people_do_is_not(tmp_path: Path) -> None:
    ws = made(tmp_path, judged=10)
    before = states_of(ws)
    with serving() as server:
        ask(with_model(ws, server.url), selection=Selection(queries=("p1-method",)))
        some = states_of(ws)
        ask(with_model(ws, server.url))
    assert {name for name, state in some.items() if state != before[name]} == {"opinions"}
    assert states_of(ws)["opinions"] != some["opinions"]
    made_of = {what for what, parts in MADE_OF.items() if "opinions" in parts}
    assert made_of == {"report", "datasheet", "release", "backup"}


def sent_tasks(ws: Workspace) -> dict[str, object]:
    """Everything that a1, a2 and j1 would find, as it goes to the server."""
    with ws.reading() as session:
        plan = people.read_assignments(session)
        disputes = outcome_of(session, ws.settings).open
    found: dict[str, object] = {kind: screen(ws, kind) for kind in get_args(Screen)}
    for who in ("a1", "a2"):
        order = [PairKey(one.query_id, one.doc_id) for one in plan if one.assessor == who]
        material = TaskMaterial(ws, {asked.pair for asked in order})
        form = form_of(ws, PARTS["judge"], material, ENGLISH)
        out = OutgoingProject(form, who, tasks_of(ws, material, order, words=ENGLISH))
        found |= {f"{who} tasks": out.tasks, f"{who} project": spec_of(ws, out)}
    return {**found, "disputes": disputes}


def released(ws: Workspace, folder: Path) -> dict[str, bytes]:
    publish.release(
        ws, folder, with_text=True, licence="CC0-1.0", published=None, allowed=(), draft=True, dry_run=False
    )  # fmt: skip
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


TOLD = {"SHA256SUMS", "croissant.json", "README.md", "DATASHEET.md", "datasheet.html"}
"""Where a release says that there are opinions; reports do, too."""


def test_with_and_without_opinions_people_find_decide_and_publish_the_same_byte_for_byte(tmp_path: Path) -> None:
    without, found = made(tmp_path / "without", judged=10), made(tmp_path / "with", judged=10)
    with serving(lambda request, number: Scripted('{"grade": 3, "reason": "It is all the same to me."}')) as server:
        ask(with_model(found, server.url))
    settings = without.settings_file.read_bytes()
    assert sent_tasks(found) == sent_tasks(without)
    found.settings_file.write_bytes(settings)
    for ws in (without, found):
        qrels.write(ws, partial=True)
    assert files_of(found.exports) == files_of(without.exports)
    theirs, ours = released(without, tmp_path / "released"), released(found, tmp_path / "released-with")
    told = {name for name in theirs if theirs[name] != ours[name]}
    assert not {name for name in told if name not in TOLD and not name.startswith("report")}
    assert ours.keys() - theirs.keys() == {"opinions/small.json", "opinions/small.jsonl"}
    assert theirs.keys() <= ours.keys()


def test_a_release_has_what_was_asked_and_said_but_no_address_and_no_reason_without_texts(tmp_path: Path) -> None:
    ws = asked(tmp_path, judged=10)
    files = released(ws, tmp_path / "out")
    described = json.loads(files["opinions/small.json"])
    said = [json.loads(line) for line in files["opinions/small.jsonl"].splitlines()]
    assert described["model"] == "tiny 2:7b"
    assert described["requests"] == {**{"read": 120, "cannot_judge": 0}, **{"unreadable": 0, "failed": 0, "sent": 0}}
    assert [one["answers"] for one in described["served"]] == [120]
    assert (described["tokens_in"], described["tokens_out"]) == (120 * 400, 120 * 20)
    assert "[the document]" in described["prompts"]["method"]
    assert b"127.0.0.1" not in files["opinions/small.json"]
    assert {(one["query_id"], one["doc_id"], one["repeat"], one["grade"]) for one in said} == {
        (one.query_id, one.doc_id, one.repeat, one.grade) for one in opinions_of(ws)
    }
    # Its documents are not in its corpus, so that no text is released.
    assert not any("reason" in one for one in said)
    terms, _ = terms_of(ws.settings.collection, with_text=True, licence="CC0-1.0", published=None)
    with_text = opinion_files(opinions_on_record(ws), read_snapshot(ws), replace(terms, with_text=True), currency="EUR")
    assert {json.loads(line)["reason"] for line in with_text["opinions/small.jsonl"].splitlines()} == {"r"}


def test_a_push_is_refused_if_it_would_show_what_a_model_said(tmp_path: Path) -> None:
    ws = made(tmp_path, stage="planned")
    reason = "Both rank papers by what they cite."
    with serving(lambda request, number: Scripted(json.dumps({"grade": 1, "reason": reason}))) as server:
        ws = with_model(ws, server.url, model="tiny-2.5")
        ask(ws, before_judging="A test.")
    with ws.reading() as session:
        order = [PairKey(one.query_id, one.doc_id) for one in people.read_assignments(session) if one.assessor == "a1"]
    shuffled = random.Random(3).sample(order, len(order))
    material = TaskMaterial(ws, {asked.pair for asked in order})
    form = form_of(ws, PARTS["judge"], material, ENGLISH)
    tasks = tasks_of(ws, material, shuffled, words=ENGLISH)
    check_outgoing(ws, [OutgoingProject(form, "a1", tasks)])
    again = {**tasks, shuffled[0]: returned_task(tasks[shuffled[0]], f"Look again: {reason}")}
    with pytest.raises(LeakError, match="would show a model's opinion"):
        check_outgoing(ws, [OutgoingProject(form, "a1", again)])
    named = {**tasks, shuffled[0]: returned_task(tasks[shuffled[0]], "tiny-2.5 thinks otherwise.")}
    with pytest.raises(LeakError) as error:
        check_outgoing(ws, [OutgoingProject(form, "a1", named)])
    assert any("names 'tiny-2.5'" in fault for fault in error.value.faults)
