"""The tables of a study as the library opens it, on a snapshot made here."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
from annot.api.opening import OpenStudy
from annot.base.records import Decision, Draw, Judgement, Pool, PoolEntry


def pool(paper_id: str, *docs: str) -> Pool:
    entries = tuple(PoolEntry(doc, Draw("bm25", at, 1.5, at)) for at, doc in enumerate(docs, start=1))
    return Pool(paper_id, "blocks", 2, 10, 1, ("bm25",), (), (), 0, entries)


def opened(*pools: Pool) -> OpenStudy:
    snapshot: Any = SimpleNamespace(
        facets={"q1": "aim"},
        papers={"q1": "p1"},
        pools=dict(enumerate(pools)),
        outcome=SimpleNamespace(
            everything=(
                Judgement("q1", "d1", "a1", 2, lead_time=9.5, flags=("late", "other")),
                Judgement("q1", "d2", "a1", None, cannot_judge="cut", occasion=2),
            ),
            decisions=(Decision("q1", "d1", 2, "agreed"), Decision("q1", "d2", 0, "adjudicated", "j1", "why")),
        ),
    )
    return OpenStudy(Path("study"), snapshot)


def test_judgements_have_their_facet_paper_and_flags() -> None:
    found = opened().judgements
    first, second = found.astype(object).where(found.notna(), None).to_dict("records")
    assert first == {
        **{"query_id": "q1", "facet": "aim", "query_paper": "p1", "doc_id": "d1", "assessor": "a1", "occasion": 1},
        **{"grade": 2, "cannot_judge": None, "comment": None, "flags": "late; other", "revision": 1},
        **{"judged_at": None, "lead_time": 9.5},
    }
    assert (second["grade"], second["cannot_judge"], second["flags"], second["occasion"]) == (None, "cut", "", 2)
    assert str(found["grade"].dtype) == "Int64"


def test_qrels_have_a_row_for_each_final_grade() -> None:
    found = opened().qrels
    assert found["relevance"].tolist() == [2, 0]
    assert found.loc[1, ["origin", "adjudicator", "reason"]].tolist() == ["adjudicated", "j1", "why"]
    assert [*found.columns][:4] == ["query_id", "facet", "query_paper", "doc_id"]


def test_pools_are_below_each_other_with_one_row_number_each() -> None:
    found = opened(pool("p1", "d1", "d2"), pool("p2", "d3")).pool
    assert found.index.tolist() == [0, 1, 2]
    assert found["query_paper"].tolist() == ["p1", "p1", "p2"]
    assert found["turn"].tolist() == [1, 2, 1]
    none = opened().pool
    assert [*none.columns] == [*found.columns]
    assert len(none) == 0


def test_a_study_is_printed_by_its_folder() -> None:
    assert repr(opened()) == f"OpenStudy(path={Path('study')!r})"
    assert isinstance(opened().qrels, pd.DataFrame)
