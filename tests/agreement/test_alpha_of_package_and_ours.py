"""Krippendorff's alpha is printed as the `krippendorff` package has it; ours, for weighted counts and for many sets of
pairs at once, is the same on every study of the demonstration and on CSFCube."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from annot.base.records import Decision, Judgement
from annot.base.stats.values import Undefined
from annot.measuring.agreement.coefficients import (
    ALPHAS,
    OF_COUNTS,
    Counts,
    count,
    mean_of_tables,
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


@pytest.mark.parametrize("study", [demo, golden, csfcube])
@pytest.mark.parametrize("missing", POLICIES)
@pytest.mark.parametrize("name", ALPHAS)
def test_ours_is_the_packages(name: str, missing: str, study, request: pytest.FixtureRequest) -> None:
    judged = study(request.getfixturevalue("shared") if study is csfcube else Path())
    queries = ratings_of(judged.judgements, judged.decisions, judged.facets, grades=GRADES)
    compared = 0
    counts = []
    for query in queries:
        ratings = as_seen(query, missing)
        counts.append(replace(count(ratings, GRADES), margins=np.zeros((2, len(GRADES)))))
        found = value_between(name, count(ratings, GRADES), tables_between(ratings, GRADES)[1], GRADES)
        if not isinstance(found, Undefined):
            compared += 1
            assert float(OF_COUNTS[name](count(ratings, GRADES), GRADES)) == pytest.approx(found, rel=1e-12, abs=1e-12)
        tables = tables_with(ratings, query.final, GRADES)
        values, sizes = of_tables(name, tables, GRADES, many=False)
        after = mean_of_tables(name, tables, GRADES)
        if not isinstance(after, Undefined):
            assert (values * sizes).sum() / sizes.sum() == pytest.approx(after, rel=1e-12, abs=1e-12)
    assert compared > len(queries) / 2
    together = Counts.stack(counts)
    weighted = together.weighted(np.ones(len(counts)))
    assert weighted.units is None
    assert together.whole().units is not None
    margins = np.ones((2, len(GRADES)))
    printed = value_between(name, replace(together.whole(), margins=margins), np.zeros((0, 4, 4)), GRADES)
    ours = value_between(name, replace(weighted, margins=margins), np.zeros((0, 4, 4)), GRADES)
    assert ours == pytest.approx(printed, rel=1e-12)


def test_the_printed_alpha_comes_from_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    ratings = np.array([[0.0, 1, 2, 3, 0], [0.0, 1, 1, 3, 2]])
    monkeypatch.setattr("krippendorff.alpha", lambda **given: 0.125)
    seen = count(ratings, GRADES)
    assert value_between("alpha_ordinal", seen, tables_between(ratings, GRADES)[1], GRADES) == 0.125
    assert mean_of_tables("alpha_nominal", tables_between(ratings, GRADES)[1], GRADES) == 0.125
