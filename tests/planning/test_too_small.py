"""What a plan is too small to show is said before anybody judges, with the number of query papers it needs."""

from annot.base.records import Assignment, Query
from annot.judging.planning import papers_by_facet, papers_shared
from annot.measuring.diagnosis.findings import papers_needed
from scipy import stats

QUERIES = {
    f"p{paper}-{facet}": Query(f"p{paper}-{facet}", f"p{paper}", facet, (1,))
    for paper in range(3)
    for facet in ("method", "result")
}


def test_papers_count_once_however_many_facets_are_shared() -> None:
    plan = [Assignment(query_id, "d1", name, at) for name in ("a1", "a2") for at, query_id in enumerate(QUERIES)]
    plan += [Assignment("p0-method", "d2", "a3", 1), Assignment("p1-result", "d1", "a3", 2)]
    assert papers_shared(plan, QUERIES) == {"a1": 3, "a2": 3, "a3": 1}
    assert papers_by_facet(plan, QUERIES) == {"method": 3, "result": 3}


def test_papers_are_counted_for_each_facet_of_its_own() -> None:
    plan = [Assignment(name, "d1", "a1", at) for at, name in enumerate(("p0-method", "p1-method", "p1-result"), 1)]
    assert papers_by_facet(plan, QUERIES) == {"method": 2, "result": 1}


def test_so_many_papers_are_needed_that_all_on_one_side_hold_after_correction() -> None:
    """By scipy's sign test: p times five questions a person, at 2%."""
    for assessors, needed in ((2, 10), (3, 11), (4, 11), (8, 12), (100, 16)):
        tests = 5 * assessors
        assert papers_needed(assessors, 4) == needed
        assert (
            tests * stats.binomtest(needed, needed).pvalue
            <= 0.02
            < tests * stats.binomtest(needed - 1, needed - 1).pvalue
        )
