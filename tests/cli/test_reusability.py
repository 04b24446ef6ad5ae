"""`annot reusability`: what each pool method would lose, held against pools that are drawn without it."""

from collections.abc import Callable
from pathlib import Path

import pytest
from annot.base.records import Qrel
from annot.base.templating import render
from annot.formats.trec import read_qrels, read_run
from annot.store.database import open_store
from annot.store.pools import documents_by_query
from annot.study.workspace import Workspace
from command_line import annot_done
from ir_measures import Qrel as Judged
from ir_measures import ScoredDoc, iter_calc, nDCG

Study = Callable[[str], Path]


def pairs(folder: Path) -> set[tuple[str, str]]:
    with open_store(Workspace.open(folder).database_url, create=False) as store, store.read() as session:
        return {(query, doc) for query, docs in documents_by_query(session).items() for doc in docs}


@pytest.fixture
def qrels(study: Study) -> tuple[Path, tuple[Qrel, ...]]:
    folder = study("measured")
    return folder, read_qrels((folder / "exports/qrels.txt").read_text().splitlines(), name="qrels")


def test_the_losses_are_those_of_pools_drawn_without_the_method(
    qrels: tuple[Path, tuple[Qrel, ...]], study: Study, tmp_path: Path
) -> None:
    folder, judged = qrels
    for kind in (".html", ".md"):
        place = render(f"pages{kind}.j2", {}, overrides=None)
        (folder / f"exports/report{kind}").write_text(place + "\n", encoding="utf-8")
    found = annot_done("reusability", "--json", folder=folder).data
    assert all(f"certificate{kind}" in (folder / f"exports/report{kind}").read_text() for kind in (".html", ".md"))
    (lsa,) = [one for one in found["losses"] if one["method"] == "lsa"]
    folder.rename(tmp_path / "whole")
    smaller = study("queried")
    (smaller / "pools").mkdir(exist_ok=True)
    (tmp_path / "whole/pools/rankings").rename(smaller / "pools/rankings")
    annot_done("pool", "--frozen", "--without", "lsa", folder=smaller)
    left = pairs(smaller)
    lost = [one for one in judged if (one.query_id, one.doc_id) not in left]
    assert lsa["alone"] == len(lost)
    assert lsa["alone_relevant"] == sum(one.relevance >= 2 for one in lost)
    rankings = read_run((smaller / "pools/rankings/lsa.run").read_text().splitlines(), name="lsa")

    def score(gone: set[tuple[str, str]]) -> float:
        """Of the ranking of the query paper, by ir_measures: what is gone is not judged, and keeps its place."""
        run = [
            ScoredDoc(query, f"{doc.doc_id}-" if (query, doc.doc_id) in gone else doc.doc_id, doc.score)
            for query in sorted({one.query_id for one in judged})
            for doc in rankings[query.rpartition("-")[0]]
        ]
        values = [one.value for one in iter_calc([nDCG], [Judged(*one) for one in judged], run)]
        return sum(values) / len(values)

    assert lsa["score"] == pytest.approx(score(set()), abs=1e-6)
    assert lsa["without"] == pytest.approx(score({(one.query_id, one.doc_id) for one in lost}), abs=1e-6)
