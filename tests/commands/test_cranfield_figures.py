"""Cranfield's questions and judgements: runs over all documents have the figures that pytrec_eval gives them."""

import json
from pathlib import Path

import numpy as np
import pytest
import pytrec_eval
from annot.base.records import Ranking, ScoredDoc, ranked
from annot.formats.trec import read_run, write_run
from annot.ranking.index import open_index
from annot.ranking.methods import rank_all
from annot.study.workspace import Workspace
from command_line import annot_done
from needs import unavailable
from study_stages import quietly

GRADES = {"1": 3, "2": 3, "3": 2, "4": 1}
"""By Cleverdon's code, which has the best first; -1 is not explained."""
MEASURES = {"AP": "map", "nDCG@10": "ndcg_cut_10"}
DEPTH = 100


@pytest.fixture(scope="module")
def judged(shared: Path) -> dict[str, dict[str, int]]:
    """The grades of the documents of each question."""
    if not (shared / "cranfield").is_dir():
        unavailable(f"no cranfield/ in {shared}")
    found: dict[str, dict[str, int]] = {}
    for line in (shared / "cranfield" / "codes.txt").read_text().splitlines():
        question, document, code = line.split()
        if code in GRADES:
            found.setdefault(question, {})[f"d{document}"] = GRADES[code]
    return found


@pytest.fixture(scope="module")
def study(shared: Path, judged: dict[str, dict[str, int]], tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """The collection with its judgements, and two runs of all its documents that were made outside of pools."""
    folder = tmp_path_factory.mktemp("cranfield") / "study"
    annot_done("init", str(folder), "--kind", "questions", folder=folder.parent)
    documents = map(json.loads, (shared / "cranfield" / "documents.jsonl").read_text().splitlines())
    lines = [json.dumps(one | {"paper_id": f"d{one['paper_id']}"}) for one in documents]
    (folder / "documents.jsonl").write_text("\n".join(lines) + "\n")
    given = [f"{name} 0 {doc_id} {grade}\n" for name, of in judged.items() for doc_id, grade in of.items()]
    (folder / "given.qrels").write_text("".join(given))
    annot_done("corpus", "add", "documents.jsonl", folder=folder)
    questions = list(map(json.loads, (shared / "cranfield" / "questions.jsonl").read_text().splitlines()))
    texts = {one["question_id"]: one["text"] for one in questions}
    topics = [json.dumps({"_id": name, "text": text}) for name, text in texts.items()]
    (folder / "topics.jsonl").write_text("\n".join(topics) + "\n")
    annot_done("query", "add", "--file", "topics.jsonl", folder=folder)
    # Two judged documents have no text, so that the corpus leaves them out.
    annot_done("import", "--as", "grades", "given.qrels", "--foreign", "keep", folder=folder)
    annot_done("qrels", folder=folder)
    ws = Workspace.open(folder)
    for tag, rankings in ranked_by(ws, texts).items():
        (folder / f"{tag}.run").write_text(write_run(rankings, tag=tag))
        annot_done("run", "import", f"{tag}.run", "--tag", tag, "--foreign", "keep", folder=folder)
    return ws


def ranked_by(ws: Workspace, texts: dict[str, str]) -> dict[str, dict[str, Ranking]]:
    """The best documents of the whole corpus for each question."""
    inputs = open_index(ws, methods=[], advance=quietly)[0]
    corpus = inputs.corpus
    ids = corpus.paper_ids.to_pylist()
    words = corpus.counts("abstract", "words", np.arange(len(ids)))
    scores = {name: inputs.bm25.scores(corpus.texts([text], "words"), words) for name, text in texts.items()}
    of_bm25 = {name: ranked(map(ScoredDoc, ids, row.tolist()))[:DEPTH] for name, row in scores.items()}
    tfidf = rank_all(
        inputs,
        methods=["abs_tfidf"],
        paper_ids=[],
        texts={name: {"abstract": text} for name, text in texts.items()},
        ranking_depth=DEPTH,
        excluded={},
        advance=lambda *_: None,
    )
    return {"tfidf": tfidf["abs_tfidf"], "bm25": of_bm25}


@pytest.mark.parametrize("tag", ["tfidf", "bm25"])
def test_the_figures_of_a_run_are_those_of_pytrec_eval(
    study: Workspace, judged: dict[str, dict[str, int]], tag: str
) -> None:
    asked = [word for name in MEASURES for word in ("--measure", name)]
    found = annot_done("evaluate", tag, "--convention", "trec", *asked, "--json", folder=study.root).data
    (line,) = (one for one in found["lines"] if one["run"] == tag)
    run = read_run(study.run_file(tag).read_text().splitlines(), name=tag)
    theirs = pytrec_eval.RelevanceEvaluator(judged, {*MEASURES.values()}, relevance_level=found["relevant_from"])
    each = theirs.evaluate({name: {one.doc_id: one.score for one in docs} for name, docs in run.items()})
    assert (line["queries"], len(each), found["relevant_from"]) == (225, 225, 2)
    for name, of_theirs in MEASURES.items():
        mean = sum(of[of_theirs] for of in each.values()) / 225
        assert line["values"][name] == pytest.approx(mean, abs=1e-9)
        assert mean > 0.2, "it finds what was asked for"
        values = {query_id: one["values"][name] for query_id, one in found["queries"][tag]["trec"].items()}
        assert values == pytest.approx({query_id: of[of_theirs] for query_id, of in each.items()}, abs=1e-9)
