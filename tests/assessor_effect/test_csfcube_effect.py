"""The assessor effect on CSFCube."""

from pathlib import Path

import pytest
from annot.base.records import Qrel, Ranking
from annot.base.settings import Settings
from annot_csfcube.contents import is_release_file
from annot_csfcube.files import Release, read_release
from graded_runs import SETTINGS, Runs, assessor_effect_on_runs, comparison, means
from indexed import inputs_of, rank_pool
from measured_runs import evaluate
from scipy import stats


@pytest.fixture(scope="module")
def release(shared: Path) -> Release:
    root = shared / "csfcube"
    files = {path.relative_to(root).as_posix(): path for path in root.rglob("*") if path.is_file()}
    return read_release(
        {name: path.read_bytes() for name, path in files.items() if is_release_file(name)},
        name="csfcube",
        known_labels=Settings().labels.names,
        facet_labels={"background": ("background", "objective"), "method": ("method",)},
    )


@pytest.fixture(scope="module")
def csfcube(release: Release) -> tuple[Runs, list[Qrel]]:
    """The release's SPECTER run, and tf-idf and BM25 over its papers."""
    pools: dict[str, list[str]] = {}
    for one in release.decisions:
        pools.setdefault(one.query_id, []).append(one.doc_id)
    inputs = inputs_of(release.papers)
    runs: dict[str, dict[str, Ranking]] = {
        baseline: {
            query.query_id: rank_pool(
                inputs,
                baseline=baseline,
                paper_id=query.topic_id,
                sentences=query.sentences,
                doc_ids=pools[query.query_id],
            )
            for query in release.queries
        }
        for baseline in ("fabs_tfidf", "fabs_bm25")
    }
    runs["specter"] = {query_id: ranking for run in release.runs.values() for query_id, ranking in run.items()}
    return runs, [Qrel(one.query_id, one.doc_id, one.grade) for one in release.decisions]


def test_who_judged_csfcube_decides_which_of_three_simple_runs_is_best(
    release: Release, csfcube: tuple[Runs, list[Qrel]]
) -> None:
    """Held against `evaluate` on the release's ratings and SciPy's tau; no outside figure of this is known."""
    runs, qrels = csfcube
    found = assessor_effect_on_runs(runs, release.judgements, qrels, SETTINGS)
    assert (len(found.queries), found.n_pairs, found.notes) == (33, 4051, ())
    by_grading: dict[str, list[Qrel]] = {"A": [], "B": [], "final": qrels}
    names: dict[str, set[str]] = {}
    for one in release.judgements:
        names.setdefault(one.query_id, set()).add(one.assessor)
    for one in release.judgements:
        if one.grade is not None:
            name = "A" if one.assessor == min(names[one.query_id]) else "B"
            by_grading[name].append(Qrel(one.query_id, one.doc_id, one.grade))
    expected = {
        name: {
            tag: evaluate(run, of, convention="csfcube", relevant_from=2, ties="order").mean["NDCG%20"]
            for tag, run in runs.items()
        }
        for name, of in by_grading.items()
    }
    assert {name: means(found)[name] for name in expected} == {
        name: pytest.approx(values, abs=1e-9) for name, values in expected.items()
    }
    for name, other in (("A", "B"), ("A", "final"), ("B", "final")):
        tau = stats.kendalltau([expected[name][tag] for tag in runs], [expected[other][tag] for tag in runs]).statistic
        assert comparison(found, name, other).tau == pytest.approx(tau)
    # SPECTER leads under B and the final grades, and comes last under A.
    assert next(iter(means(found)["final"])) == next(iter(means(found)["B"])) == "specter"
    assert list(means(found)["A"])[-1] == "specter"
    assert sum(one.n_ungraded for one in found.rankings if one.name in ("A", "B")) == 11
    assert sorted(len(one.queries) for one in found.rankings[3:])[-1] < 33
    assert isinstance(found.random_assessors.tau, float)
    assert -1 <= found.random_assessors.tau < 1
