"""What card and datasheet say about the judging, counted from a handful of records."""

import hashlib
from dataclasses import fields, replace
from types import SimpleNamespace
from typing import Any

import pytest
from annot.base.names import OF_PAPERS
from annot.base.records import (
    NAMELESS_ADJUDICATOR,
    WHOLE,
    Addition,
    Adjudication,
    Decision,
    Draw,
    Judgement,
    PairKey,
    PairReturn,
    Pool,
    PoolEntry,
    Query,
    Source,
)
from annot.base.settings import Settings
from annot.corpus.corpus_filters import Rejection
from annot.publishing.release import collection_facts
from annot.publishing.release.prose import semantic_version
from annot.publishing.report.study import Study
from annot.study.outcome import Dispute, Outcome, planned_judgements


def outcome(**changes: Any) -> Any:
    """An outcome in which nothing is, but for the changes."""
    empty = dict.fromkeys((field.name for field in fields(Outcome)), ())
    dicts = ("planned", "adjudications", "unjudgeable", "passed_on", "reopened", "accepted")
    values = empty | {name: {} for name in dicts} | {"per_pair": 2} | changes
    progress = planned_judgements((), values["planned"], (), values["judgements"], per_pair=2, accepted=())
    return Outcome(**(values | {"progress": progress.closed(values["unjudgeable"])}))


def judged(doc: str, who: str, grade: int | None = 1, **more: Any) -> Judgement:
    return Judgement("q1", doc, who, grade, **more)


def project(server: str, who: str) -> Any:
    return SimpleNamespace(server=server, assessor=who, version="1.23")


def study(found: Any, **changes: Any) -> Any:
    usual = {
        "outcome": found,
        "sources": (Source.LABEL_STUDIO,),
        "projects": (project("s1", "a1"), project("s1", "a2")),
        "flagged": (),
        "imports": (),
        "facets": {"q1": "method"},
        "ws": SimpleNamespace(settings=Settings()),
        "texts": {},
        "queries": (),
        "pools": {},
        "sample": None,
    }
    return SimpleNamespace(**(usual | changes))


@pytest.fixture(autouse=True)
def no_audit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collection_facts, "read_audit", lambda ws: None)


def facts(found: Any, **changes: Any) -> dict[str, Any]:
    return collection_facts.judging_facts(study(found, **changes), missing="drop")


def test_judgements_are_counted_by_pair_and_what_is_missing_by_person() -> None:
    answers = (judged("d1", "a1"), judged("d1", "a2"), judged("d2", "a1", None, cannot_judge="cut"), judged("d3", "a2"))
    found = facts(
        outcome(
            planned={("q1", "d1"): ("a1", "a2"), ("q1", "d2"): ("a1", "a2"), ("q1", "d3"): ("a2",), ("q1", "d4"): ()},
            judgements=answers,
            decisions=(Decision("q1", "d1", 1, "agreed"), Decision("q1", "d3", 1, "agreed")),
            unjudgeable={("q1", "d2"): ()},
            withdrawn=frozenset({"d3", "d9"}),
        )
    )
    assert found["withdrawn"] == 1, "d3 has a final grade that is in no qrels"
    assert (found["assessors"], found["cannot_judge"]) == (2, 1)
    # a2 owes d2; d3 lacks one person and d4 two.
    assert found["missing_judgements"] == 1 + 1 + 2
    assert found["pairs_by_judgements"] == [(2, 1), (1, 2)]
    assert found["given_to"] == [(2, 2), (1, 1), (0, 1)]
    assert (found["agreed"], found["single"], found["unsettled"]) == (1, 1, 0)
    assert found["unjudgeable"] == [("q1", 1, 4)]
    assert found["same_team"] == (0, 1)
    assert (found["imported"], found["simulated"], found["adjudicators"]) == (None, False, 0)


def test_a_person_who_left_half_way_through_a_query_leaves_one_query_with_two_teams() -> None:
    """Planned by query; a2 judged the first of two pairs of q2 and left: only q1 has the same people throughout."""
    planned = {("q1", "d1"): ("a1", "a2"), ("q2", "d1"): ("a1", "a2"), ("q2", "d2"): ("a1",)}
    given = (
        *(judged("d1", name) for name in ("a1", "a2")),
        *(replace(judged("d1", name), query_id="q2") for name in ("a1", "a2")),
        replace(judged("d2", "a1"), query_id="q2"),
    )
    found = facts(outcome(planned=planned, judgements=given))
    assert found["same_team"] == (1, 2)
    assert found["pairs_by_judgements"] == [(2, 2), (1, 1)]


def test_the_days_of_judging_are_those_of_all_answers_also_of_repeats_and_of_those_without_a_grade() -> None:
    def on(day: int) -> str:
        return f"2031-03-{day:02}T12:00:00+00:00"

    declined = Adjudication("q1", "d2", "j1", None, "shown", (), cannot_judge="cut", judged_at=on(9))
    found = outcome(
        judgements=(judged("d1", "a1", judged_at=on(4)), judged("d1", "a2", judged_at=on(1), flags=("late",))),
        repeats=(judged("d1", "a1", occasion=2, judged_at=on(3)),),
        unjudgeable={("q1", "d2"): (declined,)},
    )
    assert facts(found)["days"] == ("2031-03-03", "2031-03-09")


def test_disputes_are_counted_by_what_came_of_them() -> None:
    def dispute(doc: str, *grades: int | None) -> Dispute:
        return tuple(judged(doc, f"a{at}", grade) for at, grade in enumerate(grades, start=1))

    disputed = tuple(
        dispute(doc, *grades)
        for doc, grades in {"d1": (0, 1), "d2": (1, None), "d3": (None, None), "d4": (2, 0), "d5": (1, 1)}.items()
    )
    rulings = {("q1", doc): Adjudication("q1", doc, "j1", 1, "shown", ()) for doc in ("d1", "d2", "d5", "d6")}
    found = facts(
        outcome(disputed=disputed, adjudications=rulings, unjudgeable={("q1", "d3"): ()}, open=(("q1", "d4"),))
    )
    # The lead wanted a decision on d5, whose grades are equal; d6 was decided before it had all its judgements.
    assert found["disputes"] == {"in_dispute": 4, "settled": 2, "open": 1, "closed": 1, "besides": 2}


def test_pairs_of_the_pools_that_have_no_judgement_are_counted() -> None:
    entries = tuple(PoolEntry(doc, Draw("bm25", at, 1.0, at)) for at, doc in enumerate(("d1", "d2", "d3"), start=1))
    pools = {"p1": Pool("p1", "blocks", 2, 10, 1, ("bm25",), (), (), 0, entries)}
    queries = (Query("q1", "p1", "method", (0,)), Query("q2", "p2", "method", (0,)))
    given = outcome(judgements=(judged("d1", "a1"), judged("d2", "a1", flags=("late",))))
    assert facts(given, queries=queries, pools=pools)["not_judged"] == (2, 3)
    drawn = SimpleNamespace(drawn=lambda query_id, doc_id: doc_id != "d3")
    assert facts(given, queries=queries, pools=pools, sample=drawn)["not_judged"] == (1, 2)


def test_adjudicators_and_what_they_saw() -> None:
    def settled(who: str, ratings: str) -> Adjudication:
        return Adjudication("q1", "d1", who, 1, ratings, ())

    both = {
        ("q1", "d1"): settled("j1", "shown"),
        ("q1", "d2"): settled("j2", "hidden"),
        ("q1", "d3"): settled("j1", "shown"),
    }
    found = facts(outcome(adjudications=both))
    assert (found["adjudicators"], found["ratings"]) == (2, [("hidden", 1), ("shown", 2)])
    released = facts(
        outcome(adjudications={("q1", "d1"): settled(NAMELESS_ADJUDICATOR, "unknown")}), sources=(Source.CSFCUBE,)
    )
    assert (released["adjudicators"], released["imported"], released["isolation"]) == (0, "release", "unknown")
    assert facts(outcome(), sources=(Source.FILE,))["imported"] == "file"


def test_returned_pairs_with_another_grade_are_changes() -> None:
    back = [PairReturn("q1", doc, "a1", 2, "look again", "2031-01-01") for doc in ("d1", "d2", "d3")]
    found = facts(
        outcome(
            returned=tuple(back),
            judgements=tuple(judged(doc, "a1", 1) for doc in ("d1", "d2", "d3")),
            again=(judged("d1", "a1", 2, occasion=2), judged("d2", "a1", 1, occasion=2)),
        )
    )
    assert (found["returned"], found["returned_changed"]) == (3, 1)
    assert back[0].pair_key == PairKey("q1", "d1", 2)


def test_repeats_are_those_with_two_grades_and_flags_lose_their_ids() -> None:
    repeats = (
        judged("d1", "a1", 1, occasion=2),
        judged("d2", "a1", 0, occasion=2),
        judged("d3", "a1", None, occasion=2),
    )
    found = facts(
        outcome(
            judgements=tuple(judged(doc, "a1", 1) for doc in ("d1", "d2", "d3")),
            repeats=repeats,
            flagged=(judged("d9", "a1", flags=("by account 7",)), judged("d8", "a1", flags=("by account 8", "late"))),
        )
    )
    assert (found["repeats"], found["repeats_same"]) == (2, 1)
    assert found["not_counted"] == [("by another account than the planned one", 2), ("late", 1)]


@pytest.mark.parametrize(
    ("owners", "isolation"),
    [
        ([("s1", "a1"), ("s1", "a2")], "project"),
        ([("s1", "a1"), ("s2", "a2")], "server"),
        ([("s1", "a1"), ("s2", "a2"), ("s1", "a3")], "project"),
    ],
)
def test_people_are_apart_by_server_if_no_two_share_one(owners: list[tuple[str, str]], isolation: str) -> None:
    assert Study(study(outcome(), projects=tuple(project(*one) for one in owners))).isolation == isolation


@pytest.mark.parametrize(
    ("mark_terms", "facets", "sources", "marked"),
    [
        (True, {"q1": "method", "T1": WHOLE}, (Source.LABEL_STUDIO,), True),
        (False, {"q1": "method", "T1": WHOLE}, (Source.LABEL_STUDIO,), False),
        (True, {"q1": "method"}, (Source.LABEL_STUDIO,), False),
        (True, {"T1": WHOLE}, (Source.FILE,), False),
    ],
)
def test_words_are_marked_where_the_lead_set_it_and_something_was_judged_whole_here(
    mark_terms: bool, facets: dict[str, str], sources: tuple[Source, ...], marked: bool
) -> None:
    ws = SimpleNamespace(settings=Settings.model_validate({"screen": {"mark_terms": mark_terms}}))
    assert facts(outcome(), ws=ws, facets=facets, sources=sources)["terms_marked"] is marked


# The collection


def entry(doc_id: str, method: str, rank: int | None = None) -> PoolEntry:
    return PoolEntry(doc_id, Draw(method, rank, None, None))


def pool(
    *entries: PoolEntry, methods: tuple[str, ...], without: tuple[str, ...] = (), seed: int = 1, **more: Any
) -> Pool:
    return Pool("p1", "blocks", 2, 10, seed, methods, without, (), 0, entries, **more)


def pools_of(*pools: Pool, sources: tuple[str, ...] = ()) -> dict[str, Any]:
    origins: Any = SimpleNamespace(citations=(), few_abstracts=(), near_duplicates=None)
    return collection_facts._pool(
        SimpleNamespace(words=OF_PAPERS, pools=dict(enumerate(pools)), sources=sources), origins
    )


def test_pools_have_their_rules_methods_and_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collection_facts, "sentences", lambda *_, **__: ())
    added = (Addition(2, "late", 5, ("d3",), None, None, None),)
    first = pool(entry("d1", "bm25"), methods=("lsa", "bm25", "cited"), without=("tfidf",))
    second = pool(entry("d1", "bm25", 3), entry("d3", "late", 1), methods=("bm25", "late"), seed=2, additions=added)
    found = pools_of(first, second)
    assert [one.seed for one in found["rules"]] == [1, 2]
    assert found["methods"] == ["cited", "bm25", "lsa"]
    assert (found["without"], found["sizes"], found["judged"], found["ranked"]) == (["tfidf"], [1, 2], True, True)
    assert [one.number for one in found["versions"]] == [2]
    assert not found["citations"]
    assert not pools_of(first)["ranked"]
    assert not pools_of(first, sources=(Source.FILE,))["judged"]
    assert not pools_of()["judged"]


def imported(what: str, **facts: Any) -> Any:
    return SimpleNamespace(what=what, facts=facts, source_sha256=what[:1] * 64)


def test_papers_that_were_left_out_are_summed_by_reason() -> None:
    imports = (
        imported(Source.CORPUS, rejected={"too short": 2, Rejection.DUPLICATE_ID: 9}),
        imported(Source.CORPUS, rejected={"too short": 3, "no title": 1}),
        imported(Source.FILE, rejected={"no title": 7}),
    )
    assert collection_facts._rejected(imports) == (("no title", 1), ("too short", 5))


def test_unrated_queries_are_those_that_are_still_queries() -> None:
    queries = [Query("q1", "p1", "aim", ())]
    imports = (imported(Source.UNRATED, queries=["q1", "q2"]), imported(Source.FILE, queries=["q3"]))
    assert collection_facts._unrated(study(None, imports=imports, queries=queries)) == 1


@pytest.mark.parametrize(("not_settled", "overruled"), [(None, 3), ("two are open", None)])
def test_facets_have_their_own_queries_pairs_and_grades(not_settled: str | None, overruled: int | None) -> None:
    queries = [Query("q1", "p1", "aim", (0,)), Query("q2", "p2", "aim", ()), Query("q3", "p1", "way", ())]
    decisions = (
        Decision("q1", "d1", 2, "agreed"),
        Decision("q2", "d1", 0, "adjudicated"),
        Decision("q3", "d1", 1, "agreed"),
    )
    judgements = (judged("d1", "a1"), judged("d1", "a2", flags=("late",)), Judgement("q3", "d1", "a1", 1))
    snapshot = study(
        outcome(decisions=decisions, judgements=judgements),
        queries=queries,
        facets={query.query_id: query.facet for query in queries},
        ws=SimpleNamespace(
            settings=SimpleNamespace(
                facets={"aim": ("objective",), "end": ("result",), "way": ("method",)},
                scale=SimpleNamespace(grades=(0, 1, 2)),
            )
        ),
    )
    share = SimpleNamespace(pooled=SimpleNamespace(count=3, of=8))
    group: Any = SimpleNamespace(name="aim", not_settled=not_settled, overruled=share)
    aim, way = collection_facts._facets(snapshot, SimpleNamespace(groups=(group,)))
    assert aim == {
        **{"facet": "aim", "labels": ("objective",), "queries": 2, "pairs": 2, "judgements": 1, "grades": (1, 0, 1)},
        **{"adjudicated": 1, "overruled": overruled, "doubly": 8},
    }
    assert way == {
        **{"facet": "way", "labels": (), "queries": 1, "pairs": 1, "judgements": 1, "grades": (0, 1, 0)},
        **{"adjudicated": 0, "overruled": 0, "doubly": 0},
    }


def test_those_compared_with_gold_are_unnamed_and_in_order_of_their_figure() -> None:
    def on_record(value: float | None) -> dict[str, Any]:
        ends = (None, None) if value is None else (value - 0.1, value + 0.1)
        return {"pairs": 5, "gold": 6, "value": value, "low": ends[0], "high": ends[1], "level": 0.95}

    names = {"train/cy": None, "train/zoe": 0.4, "train/ada": 0.6, "hide/bo": 0.1}
    trials = {name: on_record(value) for name, value in names.items()}
    found = list(collection_facts._gold_results(study(None, trials=trials), "train"))
    assert [one["assessor"] for one in found] == ["", "", ""]
    assert [one["value"] for one in found] == [0.4, 0.6, None]


def test_everything_that_figures_come_from_has_its_hash(monkeypatch: pytest.MonkeyPatch) -> None:
    def sha256(text: str) -> str:
        return hashlib.sha256(text.encode()).hexdigest()

    monkeypatch.setattr(collection_facts, "corpus_sha256", lambda folder: f"of {folder}")
    made = {
        "imports": [SimpleNamespace(what=what, source_sha256=f"of {what}") for what in (Source.FILE, Source.CORPUS)],
        "rankings_sha256": {"p1": "aa", "p2": "bb"},
        "runs": [SimpleNamespace(tag="bm25", sha256="cc")],
        "ws": SimpleNamespace(corpus="the corpus"),
        "version": None,
    }

    def hashes(papers: int, ranked: str | None = None, **changes: Any) -> list[tuple[str, str]]:
        corpus: Any = SimpleNamespace(papers=papers)
        of: Any = study(None, **(made | changes))
        return list(collection_facts._hashes(of, corpus, {"plan.jsonl": "plan"}, ranked=ranked))

    corpus, imports = ("corpus, its content", "of the corpus"), ("imported file of judgements", f"of {Source.FILE}")
    rankings = ("rankings behind the pools, all", sha256("p1 aa\np2 bb\n"))
    rest = [("plan.jsonl", sha256("plan")), ("runs/bm25.run", "cc")]
    assert hashes(1) == [corpus, imports, rankings, *rest]
    assert hashes(1, ranked="dd")[0] == ("corpus as it was ranked, its content", "dd")
    assert hashes(0) == [imports, rankings, *rest]
    assert hashes(1, rankings_sha256={}) == [corpus, imports, *rest]
    assert hashes(1, sources=(Source.CSFCUBE,)) == [corpus, imports, *rest]


@pytest.mark.parametrize(
    ("version", "written"),
    [
        ("1", "1.0.0"),
        ("v2", "2.0.0"),
        ("0.1", "0.1.0"),
        ("1.2.3", "1.2.3"),
        ("01.002.3", "1.2.3"),
        ("1.2.3-beta.1", "1.2.3-beta.1"),
        ("2+build", "2.0.0+build"),
        ("1.2.3.4", "1.2.3.4"),
        ("spring", "spring"),
    ],
)
def test_a_version_is_three_numbers_if_it_can_be_read(version: str, written: str) -> None:
    assert semantic_version(version) == written
