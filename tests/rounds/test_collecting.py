"""What a pull reads of a project: by whose accounts, since when, and what it tells the server afterwards."""

from __future__ import annotations

from annot.base.records import PairKey
from annot.judging.exchange.collecting import PullCursor, collect, lines_of
from annot.judging.exchange.servers import connect
from annot.judging.rounds import round_of
from annot.judging.withdrawn import lines_withdrawn, withdrawn_of
from annot.labelstudio.tasks import pair_key
from annot.store import projects
from sqlalchemy import text
from worlds import PEOPLE, World, result


def opens(world: World, name: str) -> bool:
    return bool(world.studio.projects[world.project(name)]["show_instruction"])


def test_instructions_open_until_the_person_has_answered_and_that_is_recorded(sent: World) -> None:
    sent.judge("a1", {sent.pairs[0]: 1})
    with connect(sent.ws) as gateway:
        judging = round_of("judging")
        looked = list(collect(sent.ws, gateway, judging.parts, hint="", advance=lambda done, total: None, keep=False))
    assert [len(one.readings) for one in looked] == [1, 0]
    assert (opens(sent, "a1"), opens(sent, "a2")) == (True, True)
    sent.pull()
    assert (opens(sent, "a1"), opens(sent, "a2")) == (False, True)
    sent.pull()
    assert (opens(sent, "a1"), opens(sent, "a2")) == (False, True)


def test_progress_counts_the_tasks_that_were_read(sent: World) -> None:
    steps: list[tuple[int, int | None]] = []
    with connect(sent.ws) as gateway:
        told = lambda done, total: steps.append((done, total))  # noqa: E731
        list(collect(sent.ws, gateway, round_of("judging").parts, hint="", advance=told, keep=False))
    assert steps[-1] == (20, 20)


def test_without_the_accounts_on_record_they_are_looked_up_by_address(sent: World) -> None:
    sent.judge("a1", {sent.pairs[0]: 2})
    with sent.ws.writing() as session:
        session.connection().execute(text("UPDATE project SET account_id = NULL WHERE assessor = 'a1'"))
    before = sent.studio.count("GET", "/api/users")
    pulled = sent.pull()
    assert sent.studio.count("GET", "/api/users") == before + 1
    assert [(row.assessor, row.judged) for row in pulled.assessors] == [("a1", 1), ("a2", 0)]


def test_an_account_that_another_person_has_now_is_not_the_persons_any_more(judged: World) -> None:
    a1, a2 = (judged.studio.account(PEOPLE[name])["id"] for name in ("a1", "a2"))
    with judged.ws.reading() as session:
        server = projects.read_projects(session)[0].server
    with judged.ws.writing() as session:
        for name, account in (("a1", 99), ("a2", a1)):
            projects.open_project(
                session, round="judge", assessor=name, server=server, url="u", version="1", account_id=account
            )
    with connect(judged.ws) as gateway:
        looked = list(
            collect(
                judged.ws, gateway, round_of("judging").parts, hint="", advance=lambda done, total: None, keep=False
            )
        )
    assert [sorted(one.accounts) for one in looked] == [[99], sorted([a1, a2])]


def test_a_pair_that_is_there_twice_is_always_read_whole(sent: World) -> None:
    seen: dict[int, PullCursor] = {}
    first, second, *_ = sent.pairs
    there = next(
        one for one in sent.studio.tasks_of(sent.project("a1")) if one["id"] == sent.tasks("a1")[pair_key(*first)]
    )
    sent.studio.import_tasks(sent.project("a1"), [{"data": there["data"]}])
    sent.judge("a2", {second: 1})
    sent.pull(seen=seen)
    assert [row.assessor for row in sent.pull(seen=seen).assessors] == ["a1"]
    assert len(seen) == 1


def test_only_of_tasks_that_came_again_something_can_be_gone(sent: World) -> None:
    seen: dict[int, PullCursor] = {}
    made = sent.judge("a1", dict.fromkeys(sent.pairs[:4], 1))
    sent.pull(seen=seen)
    sent.studio.delete_annotation(made[sent.pairs[2]])
    pulled = sent.pull(seen=seen)
    assert [(one.doc_id, one.why) for one in pulled.lost] == [(sent.pairs[2][1], "its annotation was deleted")]
    assert [note for note in pulled.notes if "missing from the server" in note] == []
    assert [(row.assessor, row.judged, row.lost) for row in pulled.assessors] == [("a1", 4, 1)]


def test_a_project_with_no_tasks_any_more_says_so(sent: World) -> None:
    sent.judge("a1", {sent.pairs[0]: 1})
    sent.pull()
    sent.studio.empty_project(sent.project("a1"))
    pulled = sent.pull()
    assert [one.why for one in pulled.lost] == ["its project has no tasks"]
    assert "a1: 10 tasks missing from the server; `annot push` sends those without an answer again" in pulled.notes


def test_what_is_on_record_is_known_by_person_and_annotation(judged: World) -> None:
    with judged.ws.reading() as session:
        (a1, a2) = projects.read_projects(session)
    assert len(lines_of(judged.ws, a1)) == 10
    assert {line.record.assessor for line in lines_of(judged.ws, a2).values()} == {"a2"}
    assert lines_of(judged.ws, a1._replace(server="another")) == {}
    assert lines_of(judged.ws, a1._replace(round="train")) == {}


def test_an_answer_that_was_withdrawn_or_counts_on_is_listed_with_why(sent: World) -> None:
    made = sent.judge("a1", dict.fromkeys(sent.pairs[:3], 2))
    sent.pull()
    with sent.ws.reading() as session:
        assert withdrawn_of(session) == ()
    first, second, third = sent.pairs[:3]
    sent.studio.delete_annotation(made[first])
    sent.pull()
    with sent.ws.reading() as session:
        (one,) = withdrawn_of(session)
        (line,) = lines_withdrawn(session, "assessor")
        assert line.answer is not None
        assert line.answer.payload is None
    assert (one.asked, one.assessor, one.role, one.grade, one.counts) == (PairKey(*first), "a1", "assessor", 2, True)
    sent.pull(accept_deletions=True)
    sent.studio.delete_annotation(made[second])
    sent.studio.annotate(sent.tasks("a1")[pair_key(*second)], result(1), email=PEOPLE["a1"])
    sent.pull()
    with sent.ws.reading() as session:
        assert [(one.asked, one.counts) for one in withdrawn_of(session)] == [(PairKey(*first), False)]
    assert [one.grade for one in sent.outcome.judgements if one.pair == third] == [2]
