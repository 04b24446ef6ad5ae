"""What a report counts in a study, and when it has nothing to measure, on small made-up snapshots."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from annot.base.records import Decision, Qrel, Source
from annot.formats.trec import write_qrels
from annot.publishing.report.study import Study

QRELS = (Qrel("q", "d1", 1), Qrel("q", "d2", 0))


def study(ws: Any = None, *, imports: tuple[Any, ...] = (), **values: Any) -> Study:
    outcome = SimpleNamespace(**({"qrels": QRELS} | values.pop("outcome", {})))
    files: Any = {}
    if hasattr(ws, "runs"):
        files = {"qrels_file": ws.qrels, "run_files": tuple(sorted(ws.runs.glob("*.run"))), "version": None}
    snapshot: Any = SimpleNamespace(ws=ws, imports=imports, outcome=outcome, **files, **values)
    return Study(snapshot)


def imported(what: Source, **facts: Any) -> Any:
    return SimpleNamespace(what=what, facts=facts)


def judgement(grade: int | None, *flags: str) -> Any:
    return SimpleNamespace(grade=grade, flags=flags)


def test_pairs_are_counted_by_how_they_were_settled_and_by_whom() -> None:
    decisions = (
        *(Decision("q", "d1", 1, "agreed"), Decision("q", "d2", 0, "agreed"), Decision("q", "d3", 0, "agreed")),
        *(Decision("q", "d4", 2, "adjudicated"), Decision("q", "d5", 2, "adjudicated")),
    )
    planned = {
        ("q", "d1"): ("a1", "a2"),
        ("q", "d2"): ("a1",),
        ("q", "d3"): ("a1", "a2", "a3"),
        ("q", "d4"): ("a1",),
        ("q", "d5"): ("a1", "a2"),
    }
    accepted = {("q", "d2"): "left", ("q", "d3"): "ill", ("q", "d4"): "left", ("q", "d9"): "never"}
    judgements = (judgement(0), judgement(2), judgement(None), judgement(1, "too fast"))
    found = study(outcome={"decisions": decisions, "planned": planned, "accepted": accepted, "judgements": judgements})
    assert (found.agreed, found.single, found.graded) == (3, 1, 2)
    assert found.given_to == [(3, 1), (2, 2), (1, 2)]
    assert found.accepted == [("ill", 1), ("left", 2)]


def test_judgements_from_a_file_do_not_come_from_the_pools() -> None:
    pools = {"p": object()}
    assert study(pools=pools).pooled
    assert study(pools=pools, imports=(imported(Source.CSFCUBE), imported(Source.SIMULATION))).pooled
    assert not study(pools=pools, imports=(imported(Source.CSFCUBE), imported(Source.FILE))).pooled
    assert not study(pools={}).pooled


def test_only_simulated_answers_have_a_notice() -> None:
    assert study(imports=(imported(Source.FILE, notice="no"),)).notice is None
    made_up = imported(Source.SIMULATION, notice="No person judged.")
    assert study(imports=(imported(Source.FILE), made_up)).notice == "No person judged."


@pytest.mark.parametrize(
    ("source", "words"), [(Source.CSFCUBE, "from a published release"), (Source.FILE, "imported from a file")]
)
def test_judgements_made_elsewhere_say_where_they_came_from(source: Source, words: str) -> None:
    told = study(judged_elsewhere=True, imports=(imported(source),)).made_elsewhere
    assert told is not None
    assert words in told
    assert study(judged_elsewhere=False, imports=(imported(source),)).made_elsewhere is None


def test_a_study_without_a_corpus_has_no_papers() -> None:
    assert study(SimpleNamespace(has_corpus=False)).papers == 0


def test_settings_of_a_run_are_words_without_empty_ones_and_with_short_hashes() -> None:
    facts = {
        **{"k1": 1.2, "stop_words": True, "stemmed": False, "fields": ["title", "abstract"], "seed": 0},
        **{"model": "0123456789ab" + "c" * 52, "name": "a" * 63, "note": None, "more": {}, "list": []},
        "cut": {"at": 100, "by": None},
    }
    runs = (
        SimpleNamespace(tag="mine", kind=Source.BASELINE, facts=facts),
        SimpleNamespace(tag="theirs", kind=Source.CSFCUBE, facts=facts),
    )
    mine, theirs = study(runs=runs).run_settings
    assert mine == (
        "mine",
        "cut (at 100), fields title and abstract, k1 1.2, model 0123456789ab…, "
        f"name {'a' * 63}, seed 0, stemmed no, stop words yes",
    )
    assert theirs == ("theirs", "not known: the run came with the release")


def missing(folder: Path, *, qrels: str | None, runs: int) -> tuple[str | None, str | None]:
    """Why there is no evaluation, and why no assessor effect, of a study with these files; None where there is one."""
    (folder / "runs").mkdir()
    for at in range(runs):
        (folder / "runs" / f"r{at}.run").write_text(f"q Q0 d1 1 2.0 r{at}\n")
    if qrels is not None:
        (folder / "qrels.txt").write_text(qrels)
    found = study(SimpleNamespace(qrels=folder / "qrels.txt", runs=folder / "runs"))
    one, two = (found._missing(runs=needed) for needed in (1, 2))
    return (one and one.reason, two and two.reason)


NOT_WRITTEN = "exports/qrels.txt is not written yet; `annot qrels` writes it from the final grades"
OLD = "exports/qrels.txt is older than the current final grades; `annot qrels` updates it"
RUNS = "`annot run` makes baselines, `annot run import` imports those of others"


@pytest.mark.parametrize(
    ("qrels", "runs", "evaluation", "effect"),
    [
        (None, 2, NOT_WRITTEN, NOT_WRITTEN),
        (write_qrels(QRELS[:1]), 2, OLD, OLD),
        (
            *(write_qrels(QRELS), 0),
            *(f"exports/runs has no runs, and at least {needed} needed; {RUNS}" for needed in ("1 is", "2 are")),
        ),
        (write_qrels(QRELS), 1, None, f"exports/runs has 1 run, and at least 2 are needed; {RUNS}"),
        (write_qrels(QRELS), 2, None, None),
    ],
)
def test_one_run_can_be_measured_and_two_compared_once_the_grades_are_written(
    tmp_path: Path, qrels: str | None, runs: int, evaluation: str | None, effect: str | None
) -> None:
    assert missing(tmp_path, qrels=qrels, runs=runs) == (evaluation, effect)
