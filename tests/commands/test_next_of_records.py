"""What is next follows from the records, also where somebody left, a pair goes back, or the lead has decided."""

from collections.abc import Callable

import pytest
from annot.store import people, projects
from annot.store.answers import JUDGEMENTS
from annot.store.database import open_store
from annot.study.provenance import note, states_of
from annot.study.workspace import Workspace
from command_line import Result
from small_study import DOCUMENTS, QUERIES, RECORDED, build, judgement, sourced

Run = Callable[..., Result]


@pytest.fixture
def next_of(annot: Run) -> Callable[[], str]:
    """The command that `annot status` names."""
    return lambda: str(annot("status", "--json").data["next_command"])


def send(ws: Workspace) -> None:
    """What a push leaves on record: everyone has all their pairs as tasks."""
    with open_store(ws.database_url) as store, store.begin() as session:
        for at, name in enumerate(("a1", "a2"), start=1):
            where = {"server": "1 of 2031", "url": "http://studio.judges.example:8080", "version": "1.23.2"}
            project = projects.open_project(session, round="judge", assessor=name, account_id=at, **where)
            projects.set_remote_project(session, project.project, at)
            own = [one.pair_key for one in people.read_assignments(session, name)]
            projects.record_tasks(session, project.project, {asked: n for n, asked in enumerate(own, start=1)})
    pushed(ws)


def pushed(ws: Workspace) -> None:
    note(ws, "push", states_of(ws))


def judged(ws: Workspace, name: str) -> None:
    with open_store(ws.database_url) as store, store.begin() as session:
        given = [judgement(one) for one in people.read_assignments(session, name)]
        JUDGEMENTS.record(session, sourced(given), recorded_at=RECORDED)


def test_a_push_that_was_complete_is_not_named_again(ws: Workspace, next_of: Callable[[], str]) -> None:
    build(ws, judged=0)
    note(ws, "guidelines", states_of(ws))
    assert next_of() == "annot studio up"
    (ws.cache / "studio").mkdir(parents=True)
    assert next_of() == "annot push"
    send(ws)
    # A letter for each with the link; `annot invite` needs a server, so its note stands for it.
    assert next_of() == "annot invite"


def test_pairs_of_one_who_left_wait_for_another_until_the_lead_takes_them(
    ws: Workspace, annot: Run, next_of: Callable[[], str]
) -> None:
    build(ws, judged=20)
    judged(ws, "a1")
    send(ws)
    assert annot("assessor", "leave", "a2", "--offline").exit_code == 0
    assert next_of() == "annot push"
    pushed(ws)
    assert next_of() == "annot assessor add NAME --account EMAIL"
    assert annot("qrels", "--partial", "--allow-single", "a2 left").exit_code == 0
    assert next_of() == "annot push adjudication"


def test_a_pair_that_goes_back_is_pushed_and_what_was_made_before_is_old(
    ws: Workspace, annot: Run, next_of: Callable[[], str]
) -> None:
    build(ws, judged=40)
    send(ws)
    pair = (QUERIES[0].query_id, DOCUMENTS[0])
    assert next_of() == "annot push adjudication"
    returned = annot("return", *pair, "--to", "a1", "--why", "Read the candidate again.")
    assert returned.stderr.endswith("next: annot push (1 task to send, withdraw or update on the server)\n")
    undone = annot("return", *pair, "--to", "a1", "--undo")
    assert undone.exit_code == 0
    assert next_of() == "annot push adjudication"


def test_a_datasheet_answers_from_the_records_and_is_not_asked_for_for_ever(
    ws: Workspace, annot: Run, next_of: Callable[[], str]
) -> None:
    """The days and people are those of the small study: a query a day up to 14 March, two people and an adjudicator."""
    build(ws, judged=40)
    assert annot("qrels", "--partial").exit_code == 0
    written = annot("datasheet", "--json").data
    known = {"collection.involved", "collection.timeframe", "collection.training", "motivation.creators"}
    assert not known & {one["question"] for one in written["unanswered"]}
    page = (ws.exports / "datasheet.md").read_text(encoding="utf-8")
    assert "The answers were given from 2031-03-11 to 2031-03-14" in page
    assert "The papers are of 2001." in page
    assert "2 assessors and 1 adjudicator" in page
    assert "No training on gold pairs is on record." in page
    assert len(written["unanswered"]) < 47
