"""The training, hidden gold and the sub-study in the appendix, each only if something of it is on record."""

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

from annot.base.names import OF_PAPERS
from annot.judging.trial_answers import ON_RECORD
from annot.publishing.report.sections import assessors
from annot.publishing.report.tables import Chapter

FIGURE = {"value": 0.5, "low": 0.4, "high": 0.6, "level": 0.9}
TRAINED = {
    "batches": 2,
    "gold": 9,
    "answered": 8,
    "pairs": 7,
    "verdict": "passed",
    "threshold": 0.6,
    "gate": "value",
    **FIGURE,
}
HIDDEN = {"hidden": 6, "answered": 5, "pairs": 4, **FIGURE}
SUBSTUDY = {
    "compared": [
        {
            **{"first": "abstracts", "second": "full texts", "pairs": 3},
            "figures": dict.fromkeys(("spearman_rho", "alpha_ordinal", "kappa", "percent"), FIGURE),
        },
        {"first": "abstracts", "second": "abstracts again", "pairs": 0, "figures": {}},
    ],
    "views": [{"view": "abstracts", "timed": 3, **FIGURE}],
    "assessor": "a1",
}


def appendix(on_record: Mapping[str, Any]) -> list[Chapter]:
    study: Any = SimpleNamespace(words=OF_PAPERS, snapshot=SimpleNamespace(trials=on_record), level=0.9)
    return list(assessors.trials_appendix(study))


def test_nothing_on_record_has_no_chapter() -> None:
    assert appendix({}) == []
    assert appendix({"train/a1": TRAINED | {"pairs": 0}}) == []


def test_training_has_batches_and_a_verdict_and_hidden_gold_has_neither() -> None:
    (chapter,) = appendix({"train/a1": TRAINED, "hidden-gold/a2": HIDDEN})
    trained, hidden = chapter.tables
    assert trained.headings == (
        *("Assessor", "Batches", "Gold pairs", "Answered", "Compared", "Kappa (quadratic)", "Verdict"),
    )
    assert [str(cell) for cell in trained.rows[0]] == ["a1", "2", "9", "8", "7", "0.50 [0.40, 0.60]", "passed"]
    assert hidden.headings == ("Assessor", "Hidden pairs", "Answered", "Compared", "Kappa (quadratic)")
    assert [str(cell) for cell in hidden.rows[0]] == ["a2", "6", "5", "4", "0.50 [0.40, 0.60]"]


def test_a_substudy_has_the_gradings_that_share_pairs_and_the_times() -> None:
    (chapter,) = appendix({ON_RECORD: SUBSTUDY})
    assert chapter.anchor == "substudy"
    compared, times = chapter.tables
    assert len(compared.rows) == 1
    assert [str(cell) for cell in compared.rows[0][:4]] == ["abstracts", "full texts", "3", "0.50 [0.40, 0.60]"]
    assert [str(cell) for cell in times.rows[0]][:2] == ["abstracts", "3"]
