"""Evaluation where topics are texts: figures are trec_eval's on any scale, and nobody is told of facets or papers."""

from pathlib import Path

import pytest
import pytrec_eval
from annot.formats.trec import read_qrels, read_run
from annot.store import runs
from annot.store.models import StoredRun
from annot.study.workspace import Workspace
from command_line import annot_done
from study_stages import copied
from topic_study import BINARY, GRADED, OfTopics

SCALES = {2: BINARY, 5: (*GRADED, "More than perfect")}


def study(folder: Path, grades: int, *, mixed: bool = False) -> Workspace:
    ws = copied(OfTopics(scale=SCALES[grades], mixed=mixed), "measured", folder / "study")
    annot_done("qrels", folder=ws.root)
    return ws


def lines_of(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8-sig").splitlines()


@pytest.mark.parametrize("grades", [2, 5])
def test_the_figures_are_those_of_pytrec_eval_on_every_scale(tmp_path: Path, grades: int) -> None:
    ws = study(tmp_path, grades)
    measures = {"AP": "map", "nDCG": "ndcg", "nDCG@10": "ndcg_cut_10", "P@5": "P_5"}
    asked = [word for name in measures for word in ("--measure", name)]
    found = annot_done("evaluate", "--convention", "trec", *asked, "--json", folder=ws.root).data
    qrels: dict[str, dict[str, int]] = {}
    for query_id, doc_id, grade in read_qrels(lines_of(ws.exports / "qrels.txt"), name="qrels"):
        qrels.setdefault(query_id, {})[doc_id] = grade
    theirs = pytrec_eval.RelevanceEvaluator(qrels, {*measures.values()}, relevance_level=1)
    lines = {line["run"]: line for line in found["lines"] if line["run"] != "chance"}
    assert set(lines) == {"forward", "backward"}
    for tag, line in lines.items():
        run = read_run(lines_of(ws.run_file(tag)), name=tag)
        each = theirs.evaluate({name: {one.doc_id: one.score for one in docs} for name, docs in run.items()})
        assert (line["facet"], line["queries"]) == ("whole", 4)
        for name, of_theirs in measures.items():
            mean = sum(of[of_theirs] for of in each.values()) / len(qrels)
            assert line["values"][name] == pytest.approx(mean, abs=1e-9), (tag, name)
    assert {line["facet"] for line in found["lines"]} == {"whole"}, "one row over all, no average of it beside"


def test_a_run_that_cannot_rank_for_texts_is_compared_where_it_can(tmp_path: Path) -> None:
    ws = study(tmp_path, 2, mixed=True)
    (ws.runs / "backward.run").unlink()
    lines = [line for line in lines_of(ws.run_file("forward")) if line.startswith("p4-method ")]
    (ws.runs / "some.run").write_text("\n".join(line.replace("forward", "some") for line in lines) + "\n")
    with ws.writing() as session:
        runs.put_runs(session, [StoredRun("some", "baseline", {"topics_left_out": ["T1", "T2", "T3"]}, "x")])
    found = annot_done("evaluate", "--convention", "trec", "--json", folder=ws.root)
    assert {line["facet"] for line in found.data["lines"] if line["run"] == "some"} == {"method"}
    assert "some: not compared where T1, T2, T3 count, which its system cannot rank for" in found.data["notes"]
    effect = annot_done("assessor-effect", "--json", folder=ws.root)
    assert effect.data["runs"] == ["forward"]
    assert "some: left out, because its system cannot rank for every topic" in effect.data["notes"]
    certificate = annot_done("reusability", "--json", folder=ws.root)
    assert [one["run"] for one in certificate.data["runs"]] == ["forward"]
