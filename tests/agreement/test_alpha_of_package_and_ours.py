"""Krippendorff's alpha from counts is that of the `krippendorff` package, on every study of the demonstration and on
CSFCube: query by query, with the final grades, and of all pairs together."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import krippendorff
import numpy as np
import pytest
from annot.base.records import Decision, Judgement
from annot.base.stats.values import Undefined
from annot.measuring.agreement.coefficients import (
    OF_COUNTS,
    Counts,
    count,
    of_tables,
    tables_between,
    tables_with,
    value_between,
)
from annot.measuring.agreement.estimates import POLICIES, QueryRatings, ratings_of
from demo_collection import demo_material

GRADES = (0, 1, 2, 3)
GOLDEN = Path(__file__).resolve().parents[2] / "exports" / "demo"


class Judged(NamedTuple):
    judgements: tuple[Judgement, ...]
    decisions: tuple[Decision, ...]
    facets: Mapping[str, str]


def demo(shared: Path) -> Judged:
    """What the tests' simulated people judged."""
    material = demo_material()
    facets = {query.query_id: query.facet for query in material.queries}
    return Judged(material.judgements, material.decisions, facets)


def golden(shared: Path) -> Judged:
    """The demonstration that is frozen in the repository."""
    rows = [json.loads(line) for line in (GOLDEN / "judgements.jsonl").read_text(encoding="utf-8").splitlines()]
    judgements = {
        (row["query_id"], row["doc_id"], row["assessor"]): row["grade"] for row in rows if row["occasion"] == 1
    }
    facets = {query_id: query_id.rpartition("-")[2] for query_id, _, _ in judgements}
    return Judged(tuple(Judgement(*key, grade) for key, grade in judgements.items()), (), facets)


def csfcube(shared: Path) -> Judged:
    judgements, decisions, facets = [], [], {}
    for path in sorted((shared / "csfcube").glob("test-pid2anns-csfcube-*.json")):
        facet = path.stem.rpartition("-")[2]
        for paper_id, lists in json.loads(path.read_text(encoding="utf-8")).items():
            query_id = f"{paper_id}-{facet}"
            facets[query_id] = facet
            for name in (key for key in lists if key.startswith("relevance_ann")):
                judgements += [
                    Judgement(query_id, doc_id, name, None if grade == -1 else grade)
                    for doc_id, grade in zip(lists["cands"], lists[name], strict=True)
                ]
            decisions += [
                Decision(query_id, doc_id, grade, "adjudicated")
                for doc_id, grade in zip(lists["cands"], lists["relevance_adju"], strict=True)
            ]
    return Judged(tuple(judgements), tuple(decisions), facets)


def as_seen(query: QueryRatings, missing: str) -> np.ndarray:
    return POLICIES[missing](query.ratings, query.asked)


def of_package(name: str, ratings: np.ndarray) -> float:
    return krippendorff.alpha(ratings, value_domain=GRADES, level_of_measurement=name.removeprefix("alpha_"))


@pytest.mark.parametrize("study", [demo, golden, csfcube])
@pytest.mark.parametrize("missing", POLICIES)
@pytest.mark.parametrize("name", ["alpha_ordinal", "alpha_nominal", "alpha_interval"])
def test_ours_is_the_packages(name: str, missing: str, study, request: pytest.FixtureRequest) -> None:
    judged = study(request.getfixturevalue("shared") if study is csfcube else Path())
    queries = ratings_of(judged.judgements, judged.decisions, judged.facets, grades=GRADES)
    compared = 0
    for query in queries:
        ratings = as_seen(query, missing)
        found = value_between(name, count(ratings, GRADES), tables_between(ratings, GRADES)[1], GRADES)
        if not isinstance(found, Undefined):
            compared += 1
            assert found == pytest.approx(of_package(name, ratings), rel=1e-12, abs=1e-12)
        values, sizes = of_tables(name, tables_with(ratings, query.final, GRADES), GRADES, many=False)
        for grades_of_assessor, value, size in zip(ratings, values, sizes, strict=True):
            if size:
                with_final = np.stack([grades_of_assessor, query.final])
                assert value == pytest.approx(of_package(name, with_final), rel=1e-12, abs=1e-12)
    assert compared > len(queries) / 2
    rows = max(len(query.assessors) for query in queries)
    padded = [
        np.pad(as_seen(query, missing), ((0, rows - len(query.assessors)), (0, 0)), constant_values=np.nan)
        for query in queries
    ]
    counts = Counts.stack([count(ratings, GRADES) for ratings in padded]).whole()
    assert float(OF_COUNTS[name](counts, GRADES)) == pytest.approx(
        of_package(name, np.concatenate(padded, axis=1)), rel=1e-12
    )
