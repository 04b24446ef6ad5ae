"""The lines of an evaluation: facets together, systems of several runs, and what is told once."""

from __future__ import annotations

import numpy as np
import pytest
from annot.base.records import Qrel, ScoredDoc
from annot.measuring.evaluation.evaluated import CHANCE, TOGETHER
from evaluated_runs import evaluated_runs


def docs(*names: str) -> tuple[ScoredDoc, ...]:
    return tuple(ScoredDoc(name, -float(at)) for at, name in enumerate(names))


QRELS = [
    Qrel(f"p{at}-{facet}", doc, grade) for at in range(3) for facet in "mr" for doc, grade in (("d1", 2), ("d2", 0))
]
GOOD = {one.query_id: docs("d1", "d2") for one in QRELS}
BAD = {one.query_id: docs("d2", "d1") for one in QRELS}


@pytest.mark.parametrize(("facets", "lines"), [("m", {"m"}), ("mr", {"m", "r", TOGETHER})])
def test_facets_are_put_together_where_there_are_two(facets: str, lines: set[str]) -> None:
    qrels = [one for one in QRELS if one.query_id[-1] in facets]
    found = evaluated_runs({"run": GOOD}, qrels)
    assert {line.facet for line in found.lines} == lines


def test_a_system_of_two_runs_has_their_mean_and_their_spread() -> None:
    found = evaluated_runs({"one": GOOD, "two": BAD}, QRELS, systems={"one": "system", "two": "system"})
    (line,) = [line for line in found.lines if line.facet == "m" and line.run != CHANCE]
    assert (line.run, line.runs) == ("system", 2)
    # The relevant document first or second.
    assert line.values["AP"] == pytest.approx(0.75)
    assert line.spread["AP"] == pytest.approx(np.std([1.0, 0.5], ddof=1))
    alone = evaluated_runs({"one": GOOD}, QRELS).lines
    assert {line.runs for line in alone} == {1}
    assert not any(line.spread for line in alone)


@pytest.mark.parametrize("conventions", [("trec",), ("csfcube", "trec")])
def test_queries_outside_the_test_folds_are_told_once(conventions: tuple[str, ...]) -> None:
    splits = {"m": {"fold1_test": ("p0-m", "p1-m"), "fold1_dev": ("p2-m",)}}
    notes = evaluated_runs({"run": GOOD}, QRELS, splits=splits, conventions=conventions).notes
    assert [note for note in notes if note.startswith("m: ")] == [
        "m: leaves out 1 query outside the test folds; `--average plain` takes all"
    ]
