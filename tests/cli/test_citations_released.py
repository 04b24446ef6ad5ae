"""Citations that were added go with the pools: a reader who has the release alone draws the cited papers again."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from annot.base.records import Judgement
from annot.store import people
from annot.store.database import open_store
from annot.study.workspace import Workspace
from command_line import annot_done
from study_answers import record
from study_stages import DEMO, advance, copied, set_in
from usual import answers

PAPER = "fic0407"
ADDED = ("fic0101", "fic0903", "somewhere-else")


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study whose query paper was found to cite three more, judged by all with one grade, and its release."""
    ws = copied(DEMO, "queried", tmp_path_factory.mktemp("cited") / "study")
    folder = ws.root
    (folder / "edges.csv").write_text("".join(f"{PAPER},{doc_id}\n" for doc_id in ADDED))
    annot_done("import", "--as", "citations", "edges.csv", folder=folder)
    advance(DEMO, folder, after="queried", to="planned")
    with open_store(ws.database_url) as store, store.read() as session:
        plan = people.read_assignments(session)
    record(
        ws,
        (Judgement(*one.pair_key.pair, one.assessor, int(one.doc_id[-1]) % 4, occasion=one.occasion) for one in plan),
    )
    advance(DEMO, folder, after="settled", to="measured")
    # What is added after the draw is not what the pools follow from.
    (folder / "later.csv").write_text(f"{PAPER},fic1001\n{PAPER},nowhere\n")
    annot_done("import", "--as", "citations", "later.csv", folder=folder)
    answers(folder)
    set_in(folder, {"collection": {"text_licence": "CC0-1.0"}})
    annot_done("release", "out", "--licence", "CC0-1.0", "--date", "2031-01-01", folder=folder)
    annot_done("release", "bare", "--licence", "CC0-1.0", "--date", "2031-01-01", "--ids-only", folder=folder)
    return folder


def cited_in(folder: Path) -> dict[str, list[str]]:
    """By the files of pools, the documents that came in as cited."""
    found = {}
    for path in sorted(folder.glob("*.jsonl")):
        head, *entries = map(json.loads, path.read_text(encoding="utf-8").splitlines())
        found[head["topic_id"]] = [one["doc_id"] for one in entries if one["drawn"]["method"] == "cited"]
    return found


@pytest.fixture
def reader(tmp_path: Path) -> Callable[[], Path]:
    """An empty study of somebody who has the release alone."""

    def made() -> Path:
        return copied(DEMO, "made", tmp_path / "reader").root

    return made


@pytest.mark.parametrize("source", ["edges of the release", "CSFCube's papers"])
def test_a_reader_draws_the_same_cited_papers(released: Path, reader: Callable[[], Path], source: str) -> None:
    folder = reader()
    if source == "edges of the release":
        # Ids alone are released; the texts are the reader's own, without citations.
        lines = map(json.loads, (released / "papers.jsonl").read_text(encoding="utf-8").splitlines())
        bare = [json.dumps({**one, "citations": []}) for one in lines]
        (folder / "papers.jsonl").write_text("\n".join(bare) + "\n", encoding="utf-8")
        annot_done("corpus", "add", "papers.jsonl", folder=folder)
        annot_done("import", "--as", "citations", released / "bare" / "citations.tsv", folder=folder)
        assert not (released / "bare" / "csfcube" / "abstracts-csfcube-preds.jsonl").exists()
    else:
        annot_done("corpus", "add", released / "out" / "csfcube" / "abstracts-csfcube-preds.jsonl", folder=folder)
    annot_done("facets", folder=folder)
    DEMO.queried(Workspace.open(folder))
    annot_done("pool", "--method", "abs_tfidf", "--method", "cited", folder=folder)
    theirs = cited_in(released / "out" / "pools")
    assert {"fic0101", "fic0903"} < {*theirs[PAPER]}
    assert "fic1001" not in theirs[PAPER]
    assert cited_in(folder / "pools" / "queries") == theirs
    drawn = {
        one["topic_id"]: (one["cited"], one["cited_outside"])
        for one in annot_done("pool", "--json", folder=folder).data["pools"]
    }
    heads = [
        json.loads(path.read_text(encoding="utf-8").splitlines()[0]) for path in (released / "out/pools").iterdir()
    ]
    assert drawn == {head["topic_id"]: (len(theirs[head["topic_id"]]), head["cited_outside"]) for head in heads}
