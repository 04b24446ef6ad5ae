"""The hardest pairs, and gaps in the guidelines."""

import itertools

import numpy as np
from annot.measuring.diagnosis.panel import Panel
from diagnosed import adjacent, diagnosis_of, told
from simulated_assessors import GRADE_MIX, TEAMS, dense, panel


def test_hardest_pairs_are_the_widest_apart_and_rare_in_their_query() -> None:
    """Three queries of 4, 2 and 2 pairs, by hand."""
    grades = np.array([[0, 3, 1], [1, 1, 1], [0, 1, 1], [2, 2, -1], [3, 0, -1], [2, 0, 2], [1, 1, 1], [0, 1, -1]])
    found = diagnosis_of(panel(grades, np.array([0, 0, 0, 0, 1, 1, 2, 2]))).hardest
    assert [(one.doc_id, one.spread, one.share) for one in found] == [
        ("d0000", 3, 0.25),
        ("d0002", 1, 0.5),
        ("d0004", 3, 0.5),
        ("d0005", 2, 1.0),
        ("d0007", 1, 0.5),
    ]
    assert found[0].grades == {"a1": 0, "a2": 3, "a3": 1}
    assert found[2].grades == {"a1": 3, "a2": 0}


def study_with_gap(seed: int, *, rate: float, by_all: bool = False) -> Panel:
    """Two of four judge each of 800 pairs, or all four judge 400; in facet method a share of the pairs is a 2 to one
    person, a 0 to the next."""
    rng = np.random.default_rng(seed)
    n = 400 if by_all else 800
    query = np.repeat(np.arange(16), n // 16)
    grades = adjacent(rng, rng.choice(4, n, p=GRADE_MIX), 4, rate=0.25)
    unclear = (query % 2 == 1) & (rng.random(n) < rate)
    grades[unclear] = np.where(rng.random((unclear.sum(), 4)) < 0.5, 0, 2)
    if by_all:
        return panel(grades, query)
    judged = np.zeros(grades.shape, bool)
    for i, team in zip(range(800), itertools.cycle(TEAMS)):
        judged[i, list(team)] = True
    return panel(np.where(judged, grades, -1), query)


def test_planted_gap_in_the_guidelines_is_found_with_examples() -> None:
    one = study_with_gap(1, rate=0.12)
    (gap,) = diagnosis_of(one).gaps
    assert (gap.facet, gap.low, gap.high) == ("method", 0, 2)
    assert gap.observed > 2 * gap.expected
    method = dense(one)[np.array(one.facets) == "method"]
    both = (method == 0).any(axis=1) & (method == 2).any(axis=1)
    assert (gap.observed, gap.of) == (both.sum(), ((method == 0) | (method == 2)).any(axis=1).sum())
    assert len(gap.examples) == 5
    assert all(set(one.grades.values()) == {0, 2} and one.facet == "method" for one in gap.examples)
    assert "The guidelines of method may leave open where grade 0 ends and grade 2 begins" in told(one)


def test_gaps_are_rarely_suspected_where_there_are_none() -> None:
    suspected = sum(bool(diagnosis_of(study_with_gap(seed, rate=0.0)).gaps) for seed in range(12))
    # At most 2 percent in truth: 3 or more of 12 come up with chance 0.2 percent.
    assert suspected <= 2
