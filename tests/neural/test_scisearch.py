"""SciSearch: its losses against plain sums, its oversampling, and that it learns from other folds than it ranks."""

import json
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from annot.base.records import Paper, Qrel, Query
from annot.formats.trec import read_run
from annot.measuring.folds import grouped_folds
from annot.ranking.methods import RankingInputs
from annot.ranking.systems import SYSTEMS
from annot.ranking.systems.system import PooledQuery
from annot.store.database import open_store
from annot.store.runs import read_splits
from annot.study.workspace import Workspace
from annot_systems.scisearch import LEAST_VARIANCE, Pairs, balanced, kl, nll, rank_held_out
from command_line import annot_done
from indexed import decomposed, inputs_of


def read_runs(study: Path, name: str) -> dict[str, Any]:
    return read_run((study / f"exports/runs/{name}.run").read_text().splitlines(), name=name)


FACETS = {"background": ("background", "objective"), "method": ("method",)}


def test_the_losses_are_those_of_the_paper() -> None:
    logits = torch.tensor([[0.1, 1.0, -0.5, 2.0], [3.0, 0.0, 0.0, -1.0]])
    grades = torch.tensor([2, 0])
    shares = np.exp(logits.numpy()) / np.exp(logits.numpy()).sum(axis=1, keepdims=True)
    assert float(nll(logits, grades)) == pytest.approx(-np.log(shares[[0, 1], [2, 0]]).mean(), rel=1e-5)
    scale = np.linspace(-30, 30, 200_001)
    expected = []
    for row, grade in zip(shares, (2, 0), strict=True):
        mean = row @ np.arange(4)
        variance = max(row @ (np.arange(4) - mean) ** 2, LEAST_VARIANCE)
        truth = np.exp(-((scale - grade) ** 2) / 2) / np.sqrt(2 * np.pi)
        log_ratio = -((scale - grade) ** 2) / 2 + (scale - mean) ** 2 / (2 * variance) + np.log(variance) / 2
        expected.append(np.trapezoid(truth * log_ratio, scale))
    assert float(kl(logits, grades)) == pytest.approx(np.mean(expected), rel=1e-4)


@pytest.mark.parametrize("rarest", [1, 2, 9])
def test_every_grade_is_brought_to_the_commonest_and_no_pair_is_lost(rarest: int) -> None:
    rng = np.random.default_rng(1)
    grades = np.repeat([0, 1, 2, 3], [40, 20, 10, rarest])
    pairs = Pairs(*(rng.normal(size=(len(grades), 5)).astype(np.float32) for _ in range(2)), grades)
    found = balanced(pairs, seed=3)
    assert np.bincount(found.grades).tolist() == [40] * 4
    np.testing.assert_array_equal(found.queries[: len(grades)], pairs.queries)
    own = np.hstack(pairs[:2])[grades == 3]
    made = np.hstack(found[:2])[found.grades == 3]
    assert (made >= own.min(axis=0) - 1e-5).all()
    assert (made <= own.max(axis=0) + 1e-5).all()


@pytest.fixture(scope="module")
def csfcube(shared: Path) -> tuple[list[PooledQuery], list[Qrel], RankingInputs]:
    """CSFCube's two facets: topics, adjudicated grades, and LSA of the release's papers."""
    folder, papers = shared / "csfcube", []
    with (folder / "abstracts-csfcube-preds.jsonl").open(encoding="utf-8") as file:
        for record in map(json.loads, file):
            labels = tuple(label.removesuffix("_label") for label in record["pred_labels"])
            papers.append(Paper(record["paper_id"], record["title"], tuple(record["abstract"]), labels=labels))
    labels_of = {paper.paper_id: paper.labels or () for paper in papers}
    topics, qrels = [], []
    for facet, labels in FACETS.items():
        judged = json.loads((folder / f"test-pid2anns-csfcube-{facet}.json").read_text())
        for paper_id, pool in judged.items():
            pairs = zip(pool["cands"], pool["relevance_adju"], strict=True)
            grades = {doc: max(0, grade) for doc, grade in pairs if doc != paper_id and doc in labels_of}
            sentences = tuple(at for at, label in enumerate(labels_of[paper_id]) if label in labels)
            name = f"{paper_id}-{facet}"
            topics.append(PooledQuery(name, paper_id, facet, sentences, whole=False, doc_ids=tuple(grades)))
            qrels += [Qrel(name, doc, grade) for doc, grade in grades.items()]
    inputs = inputs_of(papers)
    inputs.vectors["lsa"] = decomposed(inputs.corpus, dimensions=200, iterations=7)
    return topics, qrels, inputs


def test_a_fold_is_ranked_by_what_was_learned_from_the_others(
    csfcube: tuple[list[PooledQuery], list[Qrel], RankingInputs],
) -> None:
    """Grades of the tested queries turned round change nothing in how these are ranked."""
    topics, qrels, inputs = csfcube
    features = SYSTEMS["lsa"].features(SimpleNamespace(topics=topics, ranking_inputs=inputs))
    queries = [Query(topic.query_id, topic.topic_id, topic.facet, topic.sentences) for topic in topics]
    documents = {topic.query_id: topic.doc_ids for topic in topics}
    folds = grouped_folds(queries, copies=(), count=2, seed=1)[:1]
    turned = [qrel._replace(relevance=3 - qrel.relevance) if qrel.query_id in folds[0] else qrel for qrel in qrels]
    found, other = (
        rank_held_out(features, queries, of, documents, loss="nll", grades=4, seed=1, folds=folds)
        for of in (qrels, turned)
    )
    assert found.keys() == {*folds[0]}
    assert found == other


def test_a_study_learns_from_its_grades_and_says_on_what(study: Path) -> None:
    annot_done("run", "scisearch-nll", folder=study)
    made = json.loads((study / "exports/runs/scisearch-nll.json").read_text())["settings"]
    one, two = ({query_id.split("-")[0] for query_id in fold} for fold in made["folds"])
    assert one
    assert two
    assert not one & two
    assert made["features"] == "lsa"
    # Without training it ranks as the system `lsa` does, by the cosine of the same vectors.
    annot_done("run", "scisearch-untrained", "lsa", folder=study)
    scores = [
        {(query, doc.doc_id): doc.score for query, ranking in read_runs(study, name).items() for doc in ranking}
        for name in ("scisearch-untrained", "lsa")
    ]
    assert scores[0] == pytest.approx(scores[1], abs=1e-5)
    before = (study / "exports/runs/scisearch-nll.run").read_bytes()
    annot_done("run", "scisearch-nll", folder=study)
    assert (study / "exports/runs/scisearch-nll.run").read_bytes() == before


def test_the_folds_on_record_are_learned_and_ranked_by(study: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(study, tmp_path / "study"))
    annot_done("run", "scisearch-nll", folder=folder)
    drawn = json.loads((folder / "exports/runs/scisearch-nll.json").read_text())["settings"]
    annot_done("query", "folds", "--seed", "4", folder=folder)
    annot_done("run", "scisearch-nll", folder=folder)
    recorded = json.loads((folder / "exports/runs/scisearch-nll.json").read_text())["settings"]
    with open_store(Workspace.open(folder).database_url, create=False) as store, store.read() as session:
        split = read_splits(session)["all"]
    assert [sorted(fold) for fold in recorded["folds"]] == [[*split["fold1_test"]], [*split["fold2_test"]]]
    assert (drawn["drawn"], recorded["drawn"]) == (True, False)
    assert sorted(map(sorted, drawn["folds"])) != sorted(map(sorted, recorded["folds"]))


@pytest.mark.parametrize("features", ["unsimcse", "specter"])
def test_vectors_of_another_system_are_learned_from(study: Path, tmp_path: Path, features: str) -> None:
    folder = Path(shutil.copytree(study, tmp_path / "study"))
    path = folder / "annot.toml"
    path.write_text(path.read_text().replace('features = "lsa"', f'features = "{features}"'))
    annot_done("run", "scisearch-kl", "scisearch-untrained", folder=folder)
    for name in ("scisearch-kl", "scisearch-untrained"):
        made = json.loads((folder / f"exports/runs/{name}.json").read_text())["settings"]
        assert made["features"] == features
    scores = {doc.score for ranking in read_runs(folder, "scisearch-untrained").values() for doc in ranking}
    assert len(scores) > 10
