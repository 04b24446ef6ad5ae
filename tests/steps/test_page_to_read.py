"""What the page for reading says of a study that is still being judged, and what it refuses."""

import json
from pathlib import Path
from typing import Any

import pytest
from annot.base.errors import InputError, MissingInput
from annot.base.records import Adjudication, Assignment, Judgement, Paper, Qrel, ScoredDoc
from annot.base.settings import Settings
from annot.formats.trec import Match, match_lines, write_run
from annot.measuring.evaluation.measures import JudgedWhole
from annot.measuring.measured import matches_file
from annot.steps import publish
from annot.store import people, trials
from annot.store.answers import JUDGEMENTS, TRIALS
from annot.store.models import Plan
from annot.study.provenance import read_made
from annot.study.snapshot import snapshot_of
from annot.study.workspace import Workspace, write_file
from small_study import DOCUMENTS, QUERIES, RECORDED, FirstPairs, Small, sourced, write_runs
from study_answers import record
from study_stages import copied

P1 = QUERIES[0].query_id


def study(folder: Path, judged: int) -> Workspace:
    return copied(Small(answers=FirstPairs(judged)), "settled", folder / "study")


@pytest.fixture
def ws(tmp_path: Path) -> Workspace:
    """Of the first query's ten pairs all have a final grade; the other thirty are not judged."""
    return study(tmp_path, 10)


def data_of(path: Path) -> Any:
    return json.loads(
        path.read_text(encoding="utf-8").partition('type="application/json">')[2].partition("</script>")[0]
    )


def waiting(ws: Workspace) -> list[str]:
    with ws.reading() as session:
        return list(publish._waiting(session, snapshot_of(session, ws)))


def answer(who: str, doc_id: str, *, occasion: int = 1, flags: tuple[str, ...] = ()) -> Judgement:
    return Judgement(P1, doc_id, who, 1, occasion=occasion, flags=flags)


def test_pairs_without_a_grade_and_repeats_are_waited_for_unless_the_person_left(ws: Workspace) -> None:
    with ws.writing() as session:
        plan = people.read_assignments(session)
        again = [
            Assignment(P1, doc_id, who, 50 + at, 2) for who in ("a1", "a2") for at, doc_id in enumerate(("d00", "d01"))
        ]
        people.replace_plan(session, [*plan, *again], plan=Plan("2", 13, RECORDED, 2))
        repeated = [answer("a1", "d00", occasion=2), answer("a2", "d00", occasion=2, flags=("no grade",))]
        JUDGEMENTS.record(session, sourced(repeated), recorded_at=RECORDED)
    assert waiting(ws) == ["30 pairs without a final grade", "3 pairs to judge again"]
    with ws.writing() as session:
        people.set_left(session, "a2", "2031-01-01")
    assert waiting(ws)[-1] == "1 pair to judge again"


def test_hidden_gold_training_and_the_substudy_are_waited_for(ws: Workspace) -> None:
    with ws.writing() as session:
        trials.add_assignments(session, "hidden-gold", [Assignment("p2-method", "d99", "a1", 1)])
        trials.add_assignments(session, "train", [Assignment(P1, f"d0{at}", "a2", at) for at in (1, 2)])
        trials.add_assignments(session, "substudy-full", [Assignment(P1, "d03", "a1", 1)])
        given = [one._replace(source="train") for one in sourced([answer("a2", "d01")])]
        TRIALS.record(session, given, recorded_at=RECORDED)
    assert waiting(ws) == ["30 pairs without a final grade", "3 answers of training or the sub-study"]


def test_once_all_have_a_grade_nothing_is_waited_for(tmp_path: Path) -> None:
    ws = study(tmp_path, 40)
    left = [(query.query_id, doc_id) for query in QUERIES[1:] for doc_id in ("d08", "d09")]
    assert waiting(ws) == ["6 pairs without a final grade"], "j1 settled those of the first query alone"
    record(ws, decided=[Adjudication(*pair, "j1", 2, "shown", ()) for pair in left], prefix="later-")
    assert waiting(ws) == []
    write_runs(ws)
    page = publish.write_browse_page(ws, partial=False, out=tmp_path)
    assert (page.path, page.graded, page.systems) == (tmp_path / "browse.html", True, 2)
    assert not (ws.exports / "browse.html").exists()
    assert "browse" not in read_made(ws)
    publish.write_browse_page(ws, partial=False)
    assert "browse" in read_made(ws)


def test_grades_are_on_the_page_only_if_all_are_settled_or_the_lead_wants_those_there_are(ws: Workspace) -> None:
    write_runs(ws)
    write_file(ws.exports / "report.html", "a page beside it, so that there is a link")
    page = publish.write_browse_page(ws, partial=False)
    assert (page.path, page.queries, page.systems, page.graded) == (ws.exports / "browse.html", 4, 2, False)
    assert page.size == len(page.path.read_bytes())
    assert page.notes == (
        "judging is in progress (30 pairs without a final grade): the page shows no grades; do not show it to "
        "assessors",
        "the page contains the texts, and collection.text_licence is empty: do not publish it",
    )
    partly = publish.write_browse_page(ws.replaced("collection", text_licence="CC0-1.0"), partial=True)
    assert partly.graded
    assert [one.rpartition(": ")[2] for one in partly.notes] == [
        "the page shows the settled grades; do not show it to assessors"
    ]


def test_without_judgements_there_are_no_grades_to_show(tmp_path: Path) -> None:
    ws = study(tmp_path, 0)
    write_runs(ws)
    assert not publish.write_browse_page(ws, partial=True).graded
    with pytest.raises(MissingInput, match="no corpus yet"):
        publish.write_browse_page(copied(Small(), "made", tmp_path / "empty"), partial=True)


def test_a_run_has_a_value_on_each_query_that_it_ranks_and_documents_that_tie_are_in_one_order() -> None:
    """A fifth of fifteen is three: of three that tie the only relevant one is first, not now here and now there."""
    grades = {"a": 2, **{f"d{at:02}": 0 for at in range(14)}}
    qrels = tuple(Qrel(query, doc_id, grade) for query in ("q", "r") for doc_id, grade in grades.items())
    tied = {"q": tuple(ScoredDoc(doc_id, float(at < 3)) for at, doc_id in enumerate(grades))}
    assert publish._measured(tied, None, "csfcube", "NDCG%20", relevant_from=1) == {}
    assert publish._measured(tied, JudgedWhole(qrels, ()), "csfcube", "NDCG%20", relevant_from=1) == {
        "q": 1.0,
        "r": 0.0,
    }


def test_the_best_run_comes_first_once_grades_are_shown_and_has_no_value_where_it_ranks_nothing(ws: Workspace) -> None:
    """A fifth of the first query's ten documents is two: of grade 0 in `aaa`, of the highest grade, 3, in `zzz`."""
    for tag, query, first in (("aaa", 0, ("d03", "d07")), ("mmm", 1, ("d00",)), ("zzz", 0, ("d02", "d06"))):
        docs = (*first, *(doc for doc in DOCUMENTS if doc not in first))
        ranking = tuple(ScoredDoc(doc, -float(at)) for at, doc in enumerate(docs))
        write_file(ws.runs / f"{tag}.run", write_run({QUERIES[query].query_id: ranking}, tag=tag))
    shown = {partial: data_of(publish.write_browse_page(ws, partial=partial).path) for partial in (False, True)}
    assert shown[False]["systems"] == ["aaa", "mmm", "zzz"]
    assert shown[True]["systems"] == ["zzz", "aaa", "mmm"]
    best, worst, elsewhere = shown[True]["queries"][0]["systems"]
    assert (best["value"], worst["value"], elsewhere) == (100.0, 0.0, None)


@pytest.mark.parametrize(
    ("match", "fault"),
    [
        (Match(1, 2, 1.0), None),
        (Match(2, 0, 1.0), "sentence 2, expected 0 to 1"),
        (Match(0, 3, 1.0), "sentence 3, expected 0 to 2"),
    ],
)
def test_a_match_names_sentences_that_the_papers_have(tmp_path: Path, match: Match, fault: str | None) -> None:
    ws = Workspace(tmp_path, Settings())
    texts = {name: Paper(name, name, of) for name, of in (("p", ("A.", "B.")), ("d", ("X.", "Y.", "Z.")))}
    assert publish._matches(ws, "mine", {"q": "p"}, texts) == {}
    write_file(matches_file(ws, "mine"), match_lines({"q": {"d": (match,)}, "of another study": {"e": (match,)}}))
    if fault is None:
        assert publish._matches(ws, "mine", {"q": "p"}, texts)["q", "d"] == (match,)
        return
    with pytest.raises(InputError, match="found 1 sentence that papers do not have") as error:
        publish._matches(ws, "mine", {"q": "p"}, texts)
    assert [one.partition(": ")[2] for one in error.value.faults] == [f"query 'q', document 'd': {fault}"]
