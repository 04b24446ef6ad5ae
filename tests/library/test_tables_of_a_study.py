"""The tables of a study as the library opens it, on a snapshot made here."""

from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from annot import open_study
from annot.api import opening
from annot.api.opening import OpenStudy
from annot.base.records import Assessor, Assignment, Decision, Draw, Judgement, Paper, Pool, PoolEntry, Query
from annot.publishing.report.tidy import csv_text
from annot.store import papers
from annot.store.papers import PaperWriter
from command_line import annot_done


def pool(paper_id: str, *docs: str) -> Pool:
    entries = tuple(PoolEntry(doc, Draw("bm25", at, 1.5, at)) for at, doc in enumerate(docs, start=1))
    return Pool(paper_id, "blocks", 2, 10, 1, ("bm25",), (), (), 0, entries)


def opened(*pools: Pool, folder: Path = Path("study")) -> OpenStudy:
    ws = SimpleNamespace(
        corpus=folder / "corpus",
        runs=folder / "exports" / "runs",
        has_corpus=(folder / "corpus").is_dir(),
        settings=SimpleNamespace(collection=SimpleNamespace(name="<i>ours")),
    )
    snapshot: Any = SimpleNamespace(
        ws=ws,
        queries=(Query("q1", "p1", "aim", (0, 2)),),
        runs=(SimpleNamespace(tag="lsa-2", system="lsa"),),
        people=(Assessor("a1", None, False, "2031-03-01"), Assessor("a2", None, False)),
        assignments=(Assignment("q1", "d1", "a1", 1), Assignment("q1", "d2", "a1", 2, 2)),
        facets={"q1": "aim"},
        topics={"q1": "p1"},
        texts={},
        sample=None,
        pools=dict(enumerate(pools)),
        outcome=SimpleNamespace(
            everything=(
                Judgement("q1", "d1", "a1", 2, lead_time=9.5, flags=("late", "other")),
                Judgement("q1", "d2", "a1", None, cannot_judge="cut", occasion=2),
            ),
            judgements=(Judgement("q1", "d1", "a1", 2),),
            repeats=(),
            progress=SimpleNamespace(given=Counter({"a1": 1}), left_by_assessor=Counter({"a1": 1})),
            planned={("q1", "d1"): ("a1",), ("q1", "d2"): ("a1",)},
            open=(("q1", "d2"),),
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


def test_pools_are_below_each_other_with_one_row_number_each() -> None:
    found = opened(pool("p1", "d1", "d2"), pool("p2", "d3")).pool
    assert found.index.tolist() == [0, 1, 2]
    assert found["query_paper"].tolist() == ["p1", "p1", "p2"]
    assert found["turn"].tolist() == [1, 2, 1]
    none = opened().pool
    assert [*none.columns] == [*found.columns]
    assert len(none) == 0


def test_tables_without_a_row_have_the_columns_and_the_types_of_those_with_rows() -> None:
    study = opened()
    for name, numbers in {
        "papers": {"year": "Int64", "sentences": "Int64"},
        "pool": {"turn": "Int64", "rank": "Int64", "score": "float64"},
        "comments": {"occasion": "Int64", "grade": "Int64", "counts": "bool"},
        "runs": {"rank": "Int64", "score": "float64"},
    }.items():
        frame = getattr(study, name)
        assert len(frame) == 0
        assert {column: str(kind) for column, kind in frame.dtypes.items() if column in numbers} == numbers


def with_papers(folder: Path) -> Path:
    with PaperWriter(folder / "corpus") as writer:
        for paper in (Paper("p1", "A title", ("One.", "Two."), 1999), Paper("d1", "Another", ())):
            writer.add(paper)
    return folder


def test_papers_are_read_when_the_table_is_first_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study = opened(folder=with_papers(tmp_path))
    asked: list[Path] = []
    monkeypatch.setattr(
        opening, "texts_of_papers", lambda folder: asked.append(folder) or papers.texts_of_papers(folder)
    )
    assert '<td class="name" dir="auto">paper of the corpus</td><td>2</td>' in study._repr_html_()
    assert asked == []
    found = study.papers
    assert found is study.papers
    assert asked == [tmp_path / "corpus"]
    assert found.astype(object).where(found.notna(), None).to_dict("records") == [
        {"paper_id": "p1", "title": "A title", "year": 1999, "sentences": 2, "abstract": "One. Two."},
        {"paper_id": "d1", "title": "Another", "year": None, "sentences": 0, "abstract": ""},
    ]
    assert (str(found["year"].dtype), str(found["sentences"].dtype)) == ("Int64", "Int64")


def test_runs_are_rankings_with_the_system_that_made_them(tmp_path: Path) -> None:
    (tmp_path / "exports" / "runs").mkdir(parents=True)
    for tag in ("lsa-2", "other"):
        (tmp_path / "exports" / "runs" / f"{tag}.run").write_text(f"q1 Q0 d1 1 2.5 {tag}\nq1 Q0 d2 2 7.5 {tag}\n")
    assert "document that a run ranks, in 2 runs<" in opened(folder=tmp_path)._repr_html_()
    found = opened(folder=tmp_path).runs
    assert found.to_dict("records")[1:3] == [
        {"query_id": "q1", "doc_id": "d1", "rank": 2, "score": 2.5, "run": "lsa-2", "system": "lsa"},
        {"query_id": "q1", "doc_id": "d2", "rank": 1, "score": 7.5, "run": "other", "system": "other"},
    ]


@pytest.mark.parametrize(
    ("name", "command"), [("queries", ("query", "list")), ("comments", ("comments",)), ("progress", ("status",))]
)
def test_a_table_of_the_study_is_what_the_command_prints_as_csv(
    name: str, command: tuple[str, ...], tmp_path: Path
) -> None:
    annot_done("init", "study", folder=tmp_path)
    rows = "query,document,assessor,grade,comment\nq1,d1,a1,3,<b>why</b>\nq1,d1,a2,,\nq2,d1,a1,0,so\n"
    (tmp_path / "j.csv").write_text(rows)
    annot_done("import", "--as", "judgements", tmp_path / "j.csv", "-f", "method", folder=tmp_path / "study")
    table = getattr(open_study(tmp_path / "study"), name)
    assert len(table) == 2
    assert csv_text(table) == annot_done(*command, "--csv", folder=tmp_path / "study").stdout
