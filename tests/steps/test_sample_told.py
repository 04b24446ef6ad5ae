"""What else is told of a study of which a sample was judged: what is counted, how people agree, what never enters."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from annot.base.errors import InputError
from annot.base.records import Gold, Judgement
from annot.base.stats.values import Interval
from annot.formats.trec import write_qrels
from annot.judging.progress import running_agreement
from annot.measuring.agreement.estimates import agreement_between, agreement_table
from annot.measuring.evaluation.evaluated import EvaluatedRuns
from annot.measuring.measured import agreement_of, assessors_of
from annot.publishing.report.cells import Number
from annot.publishing.report.sections.agreement import adjudicated, glance, headline
from annot.publishing.report.sections.collection import final_grades
from annot.publishing.report.study import Study
from annot.steps import evaluate, publish, qrels
from annot.store import trials
from annot.store.answers import JUDGEMENTS
from annot.study.snapshot import exported_qrels, read_snapshot
from annot.study.workspace import Workspace, write_file
from sampled_study import WHOLE, grade_of, judged, pooled
from small_study import QUERIES, RECORDED, sourced


@pytest.fixture(scope="module")
def half(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    return judged(pooled(tmp_path_factory.mktemp("half")), share=0.5)


def measure(ws: Workspace) -> EvaluatedRuns:
    return evaluate.evaluate(
        ws, runs=(), convention="trec", measures=(), ties="order", average="test", at_least_two=True, tell=print
    )


def test_grades_are_those_of_the_whole_pools_wherever_they_are_counted(half: Workspace) -> None:
    """The best of the rankings are drawn more often and have higher grades: among the drawn, grade 0 is rarer."""
    true = Counter(qrel.relevance for qrel in WHOLE)
    drawn = Counter(qrel.relevance for qrel in exported_qrels(read_snapshot(half)))
    relevant = sum(qrel.relevance >= 2 for qrel in WHOLE)
    study = Study(read_snapshot(half))
    (row,) = final_grades(study).records
    assert row["pairs"] == len(WHOLE)
    assert row["judged_pairs"] == drawn.total()
    for grade in range(4):
        share = row[str(grade)]
        assert isinstance(share, Number)
        assert share.ends is not None
        assert share.ends[0] < 100 * true[grade] / len(WHOLE) < share.ends[1]
    # 9.6% of the pools, and 13.2% of the drawn.
    assert row["3"].value == pytest.approx(100 * true[3] / len(WHOLE), abs=2)  # type: ignore[attr-defined]
    assert drawn[3] / drawn.total() > 0.13
    assert sum(row[str(grade)].raw for grade in range(4)) == pytest.approx(1)  # type: ignore[attr-defined]
    written = qrels.write(half, partial=False)
    by_query = {query.query_id: written.relevant[query.query_id] for query in QUERIES}
    for query_id, estimate in by_query.items():
        interval = estimate.interval
        assert isinstance(interval, Interval)
        of_query = sum(qrel.relevance >= 2 for qrel in WHOLE if qrel.query_id == query_id)
        assert interval.low <= of_query <= interval.high
    assert sum(float(estimate.value) for estimate in by_query.values()) == pytest.approx(relevant, rel=0.25)  # type: ignore[arg-type]
    table = qrels.grade_columns(written).of(written.grades.items())
    assert table.headings[1:] == (*(f"drawn, grade {grade}" for grade in range(4)), "relevant in the pool")
    assert any("are estimated from the probabilities of the draw" in note for note in written.notes)
    publish.write_datasheet(half)
    text = (half.exports / "datasheet.md").read_text(encoding="utf-8")
    assert "These are counts of the drawn pairs. Of all pairs of the pools, the grades are estimated" in text
    assert str(row["0"]) in text


def test_agreement_is_of_the_whole_pools_and_pooled(tmp_path: Path) -> None:
    """The two differ at the top of the rankings alone, where nearly all pairs are drawn."""

    def says(assessor: str, query_id: str, doc_id: str) -> int:
        return 0 if assessor == "a2" and int(doc_id[1:]) < 15 else 1 + grade_of(query_id, doc_id) // 3

    ws = judged(pooled(tmp_path), share=0.4, says=says)
    found = agreement_of(read_snapshot(ws))
    disputed = found.groups[-1].disputed
    assert disputed.pooled.value == pytest.approx(0.25, abs=0.04)
    assert disputed.pooled.count / disputed.pooled.of > 0.35
    assert disputed.intervals is not None
    interval = disputed.intervals["pooled"]
    assert isinstance(interval, Interval)
    assert interval.low < 0.25 < interval.high
    assert "shares are estimates of the whole pools" in adjudicated(found).caption
    running = running_agreement(read_snapshot(ws))
    assert running is not None
    assert running.statistic == "pooled"
    assert {one.coefficient: one.value for one in running.figures}["percent"] == pytest.approx(75, abs=4)
    together = found.groups[-1]
    assert found.best == "pooled"
    assert together.before["percent"].pooled == pytest.approx(75, abs=4)
    assert together.before["percent"].n_pairs_pooled < 0.5 * len(WHOLE)
    unweighted = (
        agreement_table(read_snapshot(ws).outcome.judgements, (), read_snapshot(ws).facets, **PLAIN)
        .groups[-1]
        .before["percent"]
        .pooled
    )
    assert isinstance(unweighted, float)
    assert unweighted < 65
    table = glance(found)
    assert "all pairs of the pools together" in table.caption
    assert any("A sample of the pools was judged" in note for note in headline(found).notes)


def test_two_qrels_agree_as_they_would_on_the_whole_pools(tmp_path: Path) -> None:
    """They differ at the top of the rankings alone, where nearly all pairs are drawn."""
    ws = judged(pooled(tmp_path), share=0.4)
    other = tuple(one._replace(relevance=3 - one.relevance) if int(one.doc_id[1:]) < 15 else one for one in WHOLE)
    a, b = ws.root / "a.txt", ws.root / "b.txt"
    write_file(a, write_qrels(WHOLE))
    write_file(b, write_qrels(other))
    found = qrels.compare(ws, a, b, conventions=("trec",), measures=()).found
    first, second = ({(one.query_id, one.doc_id): one.relevance for one in of} for of in (WHOLE, other))
    how: Any = {"grades": (0, 1, 2, 3), "level": 0.95, "coefficients": ["kappa", "alpha_ordinal"], "topics": None}
    whole = agreement_between(first, second, **how).figures
    sample = read_snapshot(ws).sample
    assert sample is not None
    plain = agreement_between({pair: first[pair] for pair in sample.weights}, second, **how).figures
    for name, value in whole.items():
        assert found.together.figures[name].value == pytest.approx(value.value, abs=0.06)
        assert abs(float(plain[name].value) - float(value.value)) > 0.15
    write_file(b, write_qrels(one for one in other if (one.query_id, one.doc_id) != max(sample.weights)))
    with pytest.raises(InputError, match="no grade for 1 drawn pair, expected one for each") as error:
        qrels.compare(ws, a, b, conventions=("trec",), measures=())
    assert "--so-far" not in str(error.value.hint)


PLAIN: Any = {"grades": (0, 1, 2, 3), "missing": "drop", "binarised_at": None, "level": None, "topics": None}


def test_missing_judgements_never_count_as_grade_0_in_a_sample(half: Workspace, tmp_path: Path) -> None:
    zero = half.replaced("judging", missing="zero")
    for measure in (agreement_of, assessors_of):
        with pytest.raises(InputError, match="a sample of the pools is judged"):
            measure(read_snapshot(zero))
    with pytest.raises(InputError, match="a sample of the pools is judged"):
        judged(pooled(tmp_path).replaced("judging", missing="zero"), share=0.5)


def test_hidden_repeats_and_gold_never_enter(tmp_path: Path) -> None:
    """They are asked with other grades, and of pairs that were not drawn."""
    ws = judged(pooled(tmp_path), share=0.5)
    before = measure(ws)
    with ws.writing() as session:
        sample = read_snapshot(ws).sample
        assert sample is not None
        others = [one.pair for one in sample.pairs.values() if not one.drawn][:20]
        drawn = [one.pair for one in sample.pairs.values() if one.drawn][:20]
        again = [Judgement(*pair, "a1", 3 - grade_of(*pair), occasion=2, judged_at=RECORDED) for pair in drawn]
        stray = [Judgement(*pair, "a1", 3, judged_at=RECORDED) for pair in others]
        JUDGEMENTS.record(session, sourced([*again, *stray]), recorded_at=RECORDED)
    qrels.write(ws, partial=False)
    assert measure(ws) == before
    with ws.writing() as session:
        trials.replace_gold(session, [Gold(*pair, 3, "why", at) for at, pair in enumerate(others[:3], start=1)])
    assert measure(ws) == before
