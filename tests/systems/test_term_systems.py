"""Systems of terms: by hand, the twins that see the whole abstract, LSA's queries, and the figures of CSFCube."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any, get_args

import numpy as np
import pytest
from annot.base.array_files import strings_of
from annot.base.errors import InputError
from annot.base.records import Paper, Qrel
from annot.formats.trec import read_run
from annot.measuring.evaluation.measures import mean_over_folds
from annot.ranking.methods import EMPTY_SCORE, RankingInputs, WordSource
from annot.ranking.systems import SYSTEMS
from annot.ranking.systems.papers import TERM_SYSTEMS, TermSystem
from annot.ranking.systems.system import PooledQuery
from annot.ranking.vectors import Vectors
from annot.ranking.word_vectors import WordVectors
from annot.store.database import open_store
from annot.store.pools import read_queries
from annot.store.runs import read_splits
from annot.study.workspace import Workspace
from command_line import annot_done
from csfcube_study import csfcube_study
from indexed import corpus_of, decomposed, inputs_of, rank_pool
from measured_runs import evaluate
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from study_stages import set_in

WORDS = [f"{stem}{ending}" for stem in ("pars", "tag", "train", "lab", "model") for ending in "abcdefg"]
EPOCHS = 3
OF_TERMS = [system for system in SYSTEMS.values() if isinstance(system, TermSystem)]


@pytest.fixture(scope="module")
def papers() -> list[Paper]:
    rng = np.random.default_rng(3)
    return [
        Paper(f"p{at:02}", "", tuple(" ".join(rng.choice(WORDS, 8)) for _ in range(rng.integers(2, 6))))
        for at in range(40)
    ]


@pytest.fixture(scope="module")
def inputs(papers: list[Paper]) -> RankingInputs:
    rng = np.random.default_rng(4)
    made = inputs_of(papers)
    words = tuple(made.corpus.tokens("words").to_pylist())
    made.word_vectors = {
        source: WordVectors(words, rng.normal(size=(len(words), 5)).astype(np.float32), {})
        for source in get_args(WordSource)
    }
    made.vectors["lsa"] = decomposed(made.corpus, dimensions=6, iterations=40)
    return made


@pytest.mark.parametrize("system", OF_TERMS, ids=lambda system: system.name)
def test_a_twin_sees_every_sentence_of_the_query_and_others_those_of_the_facet(
    inputs: RankingInputs, papers: list[Paper], system: TermSystem
) -> None:
    documents = tuple(paper.paper_id for paper in papers[1:])
    topic = PooledQuery("p00-method", "p00", "method", (1,), whole=False, doc_ids=documents)
    found = system.rank(SimpleNamespace(topics=[topic], ranking_inputs=inputs)).rankings["p00-method"]
    sentences = range(len(papers[0].sentences)) if system.name.startswith("whole_") else (1,)
    formula = system.name.replace("whole_", "fabs_")
    assert found == rank_pool(inputs, baseline=formula, paper_id="p00", sentences=sentences, doc_ids=documents)


@pytest.mark.parametrize("system", OF_TERMS, ids=lambda system: system.name)
def test_a_text_is_ranked_as_a_paper_with_these_sentences_and_its_run_says_what_was_seen(
    inputs: RankingInputs, papers: list[Paper], system: TermSystem
) -> None:
    documents, every = tuple(paper.paper_id for paper in papers[1:]), tuple(range(len(papers[0].sentences)))
    paper = PooledQuery("p00", "p00", "whole", every, whole=True, doc_ids=documents)
    text = PooledQuery("T1", "T1", "whole", (), True, documents, " ".join(papers[0].sentences).upper())
    found, alone = (system.rank(SimpleNamespace(topics=of, ranking_inputs=inputs)) for of in ([paper, text], [paper]))
    assert system.topics(SimpleNamespace(topics=[paper, text])) == [paper, text]
    assert found.rankings["T1"] == found.rankings["p00"] == alone.rankings["p00"]
    assert {**found.facts} == {**alone.facts, "query_of_texts": "title and description"}


def test_the_lsa_vector_of_a_text_is_that_of_a_paper_with_these_sentences(
    inputs: RankingInputs, papers: list[Paper]
) -> None:
    every = tuple(range(len(papers[0].sentences)))
    paper = PooledQuery("p00", "p00", "whole", every, whole=True, doc_ids=("p01",))
    text = PooledQuery("T1", "T1", "whole", (), True, ("p01",), " ".join(papers[0].sentences))
    made = SYSTEMS["lsa"].features(SimpleNamespace(topics=[paper, text], ranking_inputs=inputs))
    np.testing.assert_array_equal(made.queries["T1"], made.queries["p00"])


def test_an_lsa_query_is_folded_in_as_scikit_learn_does(inputs: RankingInputs, papers: list[Paper]) -> None:
    vectoriser = TfidfVectorizer()
    matrix = vectoriser.fit_transform(" ".join(paper.sentences) for paper in papers)
    svd = TruncatedSVD(6, n_iter=40, random_state=1)
    documents = svd.fit_transform(matrix.astype(np.float32))
    query = svd.transform(vectoriser.transform([papers[0].sentences[1]]))[0]
    cosines = documents @ query / np.linalg.norm(documents, axis=1) / np.linalg.norm(query)
    ids = [paper.paper_id for paper in papers[1:]]
    found = rank_pool(inputs, baseline="lsa", paper_id="p00", sentences=[1], doc_ids=ids)
    assert {doc.doc_id: doc.score for doc in found} == pytest.approx(dict(zip(ids, cosines[1:], strict=True)), abs=2e-4)


@pytest.fixture(scope="module")
def csfcube(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """CSFCube's two facets as a study, with its term baselines and qrels."""
    folder = csfcube_study(shared, tmp_path_factory.mktemp("csfcube") / "study").root
    # Usually 20 passes: the order is the same.
    set_in(folder, {"word_vectors": {"epochs": EPOCHS}})
    annot_done("qrels", folder=folder)
    annot_done("run", folder=folder)
    return folder


def test_the_baselines_keep_their_order_and_come_near_the_known_figures(csfcube: Path) -> None:
    """NDCG%20, the query left out of its own pool, with the release's own papers as the corpus."""
    with open_store(Workspace.open(csfcube).database_url) as store, store.read() as session:
        splits = read_splits(session)
        papers = {query.query_id: query.topic_id for query in read_queries(session)}
    lines = map(str.split, (csfcube / "exports/qrels.txt").read_text().splitlines())
    qrels = [Qrel(query, document, int(grade)) for query, _, document, grade in lines]
    found = {}
    for name in ("bm25", "tfidf", "tfidfcbow200", "cbow200"):
        run = read_run((csfcube / f"exports/runs/fabs_{name}.run").read_text().splitlines(), name=name)
        for facet in ("background", "method"):
            told = evaluate(
                {query: [doc for doc in run[query] if doc.doc_id != papers[query]] for query in run},
                [qrel for qrel in qrels if qrel.doc_id != papers[qrel.query_id]],
                convention="csfcube",
                relevant_from=2,
                ties="order",
            )
            values = {query.query_id: query.values for query in told.queries}
            folds = [splits[facet][fold] for fold in ("fold1_test", "fold2_test")]
            found[name, facet] = 100 * mean_over_folds(values, folds)["NDCG%20"]
    known = {("tfidf", "background"): 58.72, ("tfidf", "method"): 32.54}
    known |= {("bm25", "background"): 61.36, ("bm25", "method"): 35.44}
    assert {key: found[key] for key in known} == pytest.approx(known, abs=0.5)
    for facet in ("background", "method"):
        order = [found[name, facet] for name in ("bm25", "tfidf", "tfidfcbow200", "cbow200")]
        assert order == sorted(order, reverse=True)


BY_NAME: dict[str, TermSystem] = {system.name: system for system in TERM_SYSTEMS}
PAPERS = [Paper("q", "", ("one.", "two.")), Paper("a", "", ("one.",)), Paper("b", "", ("two.",)), Paper("c", "", ())]
TOPIC = PooledQuery("q-x", "q", "x", (1,), False, ("a", "b", "c"))


@pytest.fixture
def few() -> Any:
    corpus = corpus_of(PAPERS)
    basis = np.eye(2, dtype=np.float32)
    rows = np.array([[1, 1], [1, 0], [0, 1], [0, 0]], np.float32)
    made = Vectors(strings_of("qabc"), rows, "lsa", "s", "cosine", {}, basis=basis)
    given = RankingInputs(corpus, word_vectors={}, vectors={"lsa": made}, averages={})
    return SimpleNamespace(topics=[TOPIC], ranking_inputs=given)


def scores(few: Any, name: str) -> dict[str, float]:
    return {doc.doc_id: doc.score for doc in BY_NAME[name].rank(few).rankings["q-x"]}


def test_the_sentences_of_the_facet_or_all_of_them_make_the_query(few: Any) -> None:
    near = pytest.approx(1 / 2**0.5, rel=1e-5)
    assert scores(few, "fabs_tfidf") == {"b": 1, "a": 0, "c": EMPTY_SCORE}
    assert scores(few, "whole_tfidf") == {"a": near, "b": near, "c": EMPTY_SCORE}
    assert scores(few, "lsa") == {"b": 1, "a": 0, "c": EMPTY_SCORE}
    assert "query" not in BY_NAME["fabs_tfidf"].rank(few).facts
    assert BY_NAME["whole_tfidf"].rank(few).facts["query"] == "abstract"


def test_lsa_gives_the_folded_query_and_the_rows_of_the_papers_to_learn_from(few: Any) -> None:
    found = BY_NAME["lsa"].features(few)
    assert found.queries["q-x"].tolist() == [0, 1]
    assert {doc_id: row.tolist() for doc_id, row in found.candidates.items()} == {"a": [1, 0], "b": [0, 1], "c": [0, 0]}
    with pytest.raises(InputError, match="fabs_bm25 has no vectors"):
        BY_NAME["fabs_bm25"].features(few)


def test_averages_need_every_matrix_of_averages_and_lsa_its_own() -> None:
    averages = ["title_cbow200", "title_tfidfcbow200", "abs_cbow200", "abs_tfidfcbow200"]
    of_counts = [name.replace("cbow", "ppmi") for name in averages]
    needs = {name: list(system.index_methods(SimpleNamespace())) for name, system in BY_NAME.items()}  # type: ignore[arg-type]
    assert needs["fabs_cbow200"] == needs["whole_tfidfcbow200"] == averages
    assert needs["fabs_ppmi200"] == needs["whole_tfidfppmi200"] == of_counts
    assert needs["fabs_bm25"] == needs["whole_tfidf"] == []
    assert needs["lsa"] == ["lsa"]
