"""Assessors against each other and against the final grade, beside scikit-learn; what counts, and what is refused."""

import numpy as np
import pytest
from annot.base.records import Decision, Judgement
from annot.base.stats.values import Undefined
from annot.measuring.diagnosis.findings import paces
from annot.measuring.diagnosis.panel import (
    Panel,
    Repeat,
    against_final,
    pairwise_matrix,
    panel_of,
    self_consistency,
    severities,
)
from simulated_assessors import dense
from simulated_assessors import panel as simulated
from sklearn.metrics import cohen_kappa_score, confusion_matrix

LEVEL = 0.95


SCALE = (0, 1, 2, 3)


def test_matrix_between_assessors_is_that_of_scikit_learn(study: Panel) -> None:
    found = {(one.first, one.second): one for one in pairwise_matrix(study, level=LEVEL)}
    assert list(found) == [("a1", "a2"), ("a1", "a3"), ("a2", "a3")]
    for (first, second), one in found.items():
        columns = dense(study)[:, [study.assessors.index(first), study.assessors.index(second)]]
        x, y = columns[(columns >= 0).all(axis=1)].T
        assert one.same.of == len(x) == (120 if second == "a2" else 60)
        assert one.coefficient == pytest.approx(cohen_kappa_score(x, y, weights="quadratic"))
        assert np.array_equal(one.table, confusion_matrix(x, y, labels=SCALE))
        assert one.difference.value == pytest.approx(float((x - y).mean()))


def test_facets_of_one_paper_are_one_unit_as_if_they_were_one_query() -> None:
    """The same judgements under queries of two facets each, and under their papers: every interval of pairs is one."""
    rng = np.random.default_rng(8)
    truth = rng.choice(4, 240)
    shift = rng.random((240, 2)) < np.repeat([[0.1], [0.6], [0.2], [0.5], [0.3], [0.1]], 40, axis=0)
    grades = np.clip(truth[:, None] + shift * np.array([1, -1]), 0, 3)
    seconds = np.exp(rng.normal(2.5, 0.5, (240, 2)) + np.repeat(rng.normal(0, 0.5, (6, 2)), 40, axis=0))

    def panel(per_query: int, papers: dict[str, str] | None) -> Panel:
        names = [f"q{i // per_query:02}" for i in range(240)]
        given = [
            Judgement(names[i], f"d{i:03}", f"a{a}", int(grades[i, a]), lead_time=float(seconds[i, a]))
            for i in range(240)
            for a in range(2)
        ]
        final = [Decision(names[i], f"d{i:03}", int(truth[i]), "adjudicated") for i in range(240)]
        facets = dict.fromkeys(names, "method")
        return panel_of(given, final, facets, topics=papers, scale=SCALE, open_pairs=(), assignments=(), by_clock=False)

    of_facets, as_papers = panel(20, {f"q{q:02}": f"p{q // 2}" for q in range(12)}), panel(40, None)
    alone = panel(20, None)
    for figures in (
        lambda one: [
            x
            for pair in pairwise_matrix(one, level=LEVEL)
            for x in (pair.same.interval, pair.coefficient_interval, pair.difference.interval)
        ],
        lambda one: [
            x
            for of in against_final(one, level=LEVEL)
            for x in (
                of.same.interval,
                of.bias.interval,
                of.upheld.interval,
                *(one.interval for one in of.by_grade.values()),
            )
        ],
        lambda one: [severities(one, level=LEVEL)[0].severity.interval],
    ):
        for ours, merged, queries in zip(figures(of_facets), figures(as_papers), figures(alone), strict=True):
            assert (ours.low, ours.high) == pytest.approx((merged.low, merged.high))
            assert "6 query papers" in ours.method
            assert "12 queries" in queries.method
            assert (ours.low, ours.high) != pytest.approx((queries.low, queries.high), rel=0.001)
    of_paper, of_times = (
        paces(one, rushed={}, fence=3.0, level=LEVEL)[0].median_interval for one in (of_facets, alone)
    )
    assert of_paper.method == "sign test over 6 query papers"
    assert of_times.method == "order statistics"
    assert of_paper.high - of_paper.low > 1.5 * (of_times.high - of_times.low)


def test_against_final_counts_only_settled_pairs(study: Panel) -> None:
    for one in against_final(study, level=LEVEL):
        a = study.assessors.index(one.assessor)
        at = (dense(study)[:, a] >= 0) & (study.final >= 0)
        given, final = dense(study)[at, a], study.final[at]
        assert np.array_equal(one.table, confusion_matrix(final, given, labels=SCALE))
        assert one.same.of == at.sum() == (50 if one.assessor == "a3" else 100)
        assert one.bias.value == pytest.approx(float((given - final).mean()))
        for grade in SCALE:
            assert one.by_grade[grade].count == int(((given == grade) & (final == grade)).sum())
            assert one.by_grade[grade].of == int((final == grade).sum())
        settled = study.adjudicated[at]
        assert one.upheld.of == settled.sum()
        assert one.upheld.count == int((given == final)[settled].sum())


def test_distance_falls_into_one_way_and_both_ways() -> None:
    """By hand: at threshold 1 a1 is above 3 times and below once, at 2 below once, at 3 never: 5 steps in 6 pairs."""
    grades = np.array([[1, 0], [1, 0], [1, 0], [0, 1], [1, 2], [3, 3]])
    (one,) = pairwise_matrix(simulated(grades, np.arange(6)), level=LEVEL)
    assert one.distance == pytest.approx(5 / 6)
    # In one direction 2 at threshold 1, and 1 the other way round at threshold 2: a net difference of 1.
    assert one.parts == pytest.approx({"severity": 1 / 6, "threshold": 2 / 6, "noise": 2 / 6})
    assert one.difference.value == pytest.approx(1 / 6)


def test_nothing_is_said_against_the_final_grades_while_disputes_are_open() -> None:
    judgements = [
        Judgement(f"q{i % 3}", f"d{i:02}", name, int(name == "a2" and i < 4))
        for i in range(30)
        for name in ("a1", "a2")
    ]
    judgements += [Judgement(f"q{i % 3}", f"e{i:02}", name, 1) for i in range(9) for name in ("a3", "a4")]
    agreed = [Decision(f"q{i % 3}", f"d{i:02}", 0, "agreed") for i in range(4, 30)]
    agreed += [Decision(f"q{i % 3}", f"e{i:02}", 1, "agreed") for i in range(9)]
    facets = {f"q{n}": "method" for n in range(3)}
    disputed = [(f"q{i % 3}", f"d{i:02}") for i in range(4)]
    panel = panel_of(judgements, agreed, facets, scale=SCALE, open_pairs=disputed, assignments=(), by_clock=False)
    first, second, third, _ = against_final(panel, level=LEVEL)
    for one in (first, second):
        reason = Undefined(
            f"4 of 30 pairs that {one.assessor} judged are in dispute; "
            "until they are settled, only undisputed pairs have a final grade"
        )
        assert one.same.value == one.bias.value == one.table == one.upheld.value == reason
        assert {share.value for share in one.by_grade.values()} == {reason}
    assert third.same.value == 1.0
    settled = [Decision(*pair, 1, "adjudicated") for pair in disputed]
    panel = panel_of(
        judgements, [*agreed, *settled], facets, scale=SCALE, open_pairs=(), assignments=(), by_clock=False
    )
    first, second, *_ = against_final(panel, level=LEVEL)
    assert (first.same.count, first.same.of, first.upheld.count, first.upheld.of) == (26, 30, 0, 4)
    assert second.same.value == 1.0


def test_a_pair_judged_by_one_person_alone_says_nothing_of_that_person() -> None:
    judgements = [Judgement(f"q{i % 2}", f"d{i}", "a1", i % 3) for i in range(8)]
    judgements += [Judgement("q0", "d0", "a2", 0), Judgement("q1", "d1", "a2", 1)]
    decisions = [Decision(f"q{i % 2}", f"d{i}", i % 3, "agreed") for i in range(7)]
    # A grade and a "cannot judge", settled: the final grade is the adjudicator's.
    decisions.append(Decision("q1", "d7", 2, "adjudicated"))
    panel = panel_of(
        judgements,
        decisions,
        {"q0": "method", "q1": "method"},
        scale=SCALE,
        open_pairs=(),
        assignments=(),
        by_clock=False,
    )
    first, second = against_final(panel, level=LEVEL)
    assert (first.same.count, first.same.of, second.same.of) == (2, 3, 2)
    alone = panel_of(
        judgements[:8],
        decisions[:7],
        {"q0": "method", "q1": "method"},
        scale=SCALE,
        open_pairs=(),
        assignments=(),
        by_clock=False,
    )
    (only,) = against_final(alone, level=LEVEL)
    assert only.same.value == Undefined("no other person judged or settled a pair that a1 judged")


def test_later_revision_and_flags_decide_what_counts() -> None:
    judgements = [
        Judgement("q1", "d1", "a1", 0),
        Judgement("q1", "d1", "a1", 3, revision=2),
        Judgement("q1", "d1", "a2", 1),
        Judgement("q1", "d1", "a2", 2, revision=2, flags=("foreign account",)),
        Judgement("q1", "d1", "a3", None, cannot_judge="no abstract"),
    ]
    panel = panel_of(judgements, [], {"q1": "method"}, scale=SCALE, open_pairs=(), assignments=(), by_clock=False)
    assert panel.assessors == ("a1",)
    assert dense(panel).tolist() == [[3]]


def test_self_consistency_on_planted_repeats() -> None:
    repeats = [Repeat("a1", f"q{i % 4}", f"d{i}", 1, 1) for i in range(16)]
    repeats += [Repeat("a1", f"q{i % 4}", f"e{i}", 2, 1) for i in range(3)]
    repeats += [Repeat("a1", "q0", "e9", 3, 0), Repeat("a2", "q0", "d0", 1, 1)]
    first, second, together = self_consistency(repeats, widest=3, level=LEVEL)
    assert (first.assessor, second.assessor, together.assessor) == ("a1", "a2", None)
    assert (first.same.count, first.same.of) == (16, 20)
    assert first.within_one.count == 19
    assert first.same.interval.low < 0.8 < first.same.interval.high
    assert first.change.value == pytest.approx(-6 / 20)
    assert [one.doc_id for one in first.changed] == ["e9", "e0", "e1", "e2"]
    assert isinstance(second.change.interval, Undefined)
    assert together.same.of == 21
    assert self_consistency([], widest=3, level=LEVEL) == ()
    papers = {f"q{n}": "p1" if n < 2 else "p2" for n in range(4)}
    assert self_consistency(repeats, widest=3, level=LEVEL, topics=papers)[0].same.interval.method.endswith(
        "2 query papers"
    )
