"""What the report concludes from the runs: which differences hold, who is not better than chance, what to do next."""

import itertools
from types import SimpleNamespace
from typing import Any, get_args

import numpy as np
import pytest
from annot.base.names import OF_PAPERS
from annot.base.records import Qrel, ScoredDoc
from annot.measuring.evaluation.comparisons import Verdict
from annot.measuring.evaluation.evaluated import TOGETHER, EvaluatedRuns
from annot.publishing.report.cells import COEFFICIENT, MEASURE, Number
from annot.publishing.report.sections.runs import best_line, compared
from annot.publishing.report.tables import sentence
from annot.publishing.report.verdict import Best, Reliability, Robustness
from evaluated_runs import evaluated_runs

DOCS = [f"d{at:02}" for at in range(20)]
UNTESTED: dict[str, Any] = {"smallest_p": 0.03, "critical": None, "detectable": None}


def measured(papers: int, noise: dict[str, float]) -> EvaluatedRuns:
    """Runs that rank by the grades with so much noise; below 0 they rank the other way round."""
    rng = np.random.default_rng(12)
    qrels, runs = [], {run: {} for run in noise}
    for paper, facet in itertools.product(range(papers), ("method", "result")):
        query_id, grades = f"p{paper:02}-{facet}", rng.integers(0, 4, len(DOCS))
        qrels += [Qrel(query_id, doc, int(grade)) for doc, grade in zip(DOCS, grades, strict=True)]
        for run, spread in noise.items():
            scores = np.sign(spread) * grades + rng.normal(0, abs(spread), len(DOCS))
            docs = [ScoredDoc(doc, float(score)) for doc, score in zip(DOCS, scores, strict=True)]
            runs[run][query_id] = tuple(sorted(docs, key=lambda doc: -doc.score))
    return evaluated_runs(runs, qrels, conventions=("csfcube",))


@pytest.mark.parametrize(
    ("worse", "behind", "as_good", "above_chance", "said"),
    [
        (("b",), (), (), True, "a is best: every other run is significantly worse"),
        (("b",), ("c",), (), True, "a is ahead, but not significantly ahead of c"),
        (("b",), ("c",), ("d", "e"), True, "a is ahead, but d and e may be as good"),
        ((), (), ("b", "c", "d", "e"), True, "a is ahead, but 4 other runs may be as good"),
        (("b",), (), (), False, "a is first, but it is not better than chance"),
    ],
)
def test_the_verdict_of_the_first_screen_and_of_evaluate_follow_from_the_groups_in_the_same_words(
    worse: tuple[str, ...], behind: tuple[str, ...], as_good: tuple[str, ...], above_chance: bool, said: str
) -> None:
    of = Verdict(TOGETHER, "a", worse, behind, as_good, papers=6, pairs=3, **UNTESTED)
    found = a_best_run(verdict=of, runs=1 + len(worse + behind + as_good), above_chance=above_chance)
    assert sentence("answers.best_verdict", best=found, lead=sentence("runs.lead", best=found)) == said
    printed = sentence("runs.best_line", words=OF_PAPERS, best=found)
    assert printed.startswith(f"{said} (NDCG%20, 12 queries of 6 query papers).")
    assert all(name in printed for name in (*behind, *as_good))


def test_a_run_whose_lead_on_chance_is_not_shown_is_called_not_better_than_chance() -> None:
    found = measured(12, {"good": 0.5, "noise": 50.0, "worst": -0.5})
    assert {line.run for line in found.lines if line.facet == TOGETHER and line.above_chance} == {"good"}
    for line in found.lines:
        if line.run != "chance":
            assert line.above_chance == (line.over_chance.low > 0)
    told = best_line(found)
    assert told.endswith("Not better than chance: noise and worst.")
    (table,) = compared(found)
    rows = {str(row[0]): row[1:] for row in table.rows}
    assert {name for name, cells in rows.items() if "°" in str(cells[-1])} == {"noise", "worst"}
    assert all(str(cell).endswith("°") for cell in rows["worst"][1:])
    assert "°: not shown to be better than chance" in table.caption
    (table,) = compared(measured(12, {"good": 0.5, "fair": 1.0}))
    assert "°" not in table.caption


def number(value: float | None, kind: Any = COEFFICIENT) -> Number:
    return Number(value, kind)


def a_verdict(worse: tuple[str, ...] = ("tfidf",), behind: tuple[str, ...] = ()) -> Verdict:
    return Verdict(TOGETHER, "bm25", worse, behind, (), papers=6, pairs=1, **UNTESTED)


def a_best_run(**values: Any) -> Best:
    usual: dict[str, Any] = {
        **{"convention": "csfcube", "measure": "NDCG%20", "queries": 12},
        **{"figure": number(50.0, MEASURE), "chance": number(20.0, MEASURE), "average": "mean over queries", "runs": 2},
        **{"verdict": a_verdict(), "too_few": False, "topics": 6, "above_chance": True},
        **{"like_chance": (), "detectable": number(None, MEASURE), "facet": ""},
    }
    return Best(**usual | values)


RUNS = {
    "none": None,
    "one": a_best_run(runs=1, verdict=a_verdict(worse=())),
    "best": a_best_run(),
    "level": a_best_run(verdict=a_verdict(worse=(), behind=("tfidf",)), too_few=True),
    "like chance": a_best_run(above_chance=False, like_chance=("bm25",)),
}


@pytest.mark.parametrize("reliability", get_args(Reliability))
@pytest.mark.parametrize("robustness", get_args(Robustness))
@pytest.mark.parametrize("made_elsewhere", [None, "with another tool"])
def test_nothing_is_to_be_published_beside_what_is_not_known(
    reliability: str, robustness: str, made_elsewhere: str | None
) -> None:
    seen = set()
    for run, n_pairs in itertools.product(RUNS.values(), (0, 30)):
        if robustness in ("robust", "order", "fragile") and (run is None or run.runs < 2 or not n_pairs):
            continue  # Two runs and pairs judged twice are what this is known from.
        together = SimpleNamespace(
            n_pairs=n_pairs,
            before={"alpha_ordinal": SimpleNamespace(n_queries=4, intervals={"median": SimpleNamespace(reason="few")})},
        )
        study = SimpleNamespace(
            incomplete=0, open=0, made_elsewhere=made_elsewhere, effect=SimpleNamespace(reason="no run")
        )
        values = {
            "words": OF_PAPERS,
            **{"study": study, "best": run, "together": together, "reliability": reliability, "unfinished": 0},
            **{"robustness": robustness, "gaps": (), "findings": (), "alpha": number(None), "level": "95"},
            "known": reliability != "unknown" and robustness in ("robust", "order", "fragile"),
            "lead": sentence("runs.lead", best=run) if run else "",
        }
        answers = [sentence(f"answers.{name}_verdict", **values) for name in ("trust", "best")]
        what_next = [sentence(f"answers.{name}", **values) for name in ("next_verdict", "next")]
        if any("not known" in answer.lower() for answer in answers):
            assert not any("publish" in one.lower() for one in what_next), (run, n_pairs, what_next)
        seen.add(what_next[0])
        assert what_next[0]
    if reliability == "reliable" and robustness == "robust":
        assert "Publish" in seen
