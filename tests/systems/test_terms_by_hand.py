"""Systems of terms on four short papers: the sentences that make the query, and the views of the others."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from annot.base.array_files import strings_of
from annot.base.errors import InputError
from annot.base.records import Paper
from annot.ranking.methods import EMPTY_SCORE, RankingInputs
from annot.ranking.systems.papers import TERM_SYSTEMS, TermSystem
from annot.ranking.systems.system import PooledQuery
from annot.ranking.vectors import Vectors
from indexed import corpus_of

BY_NAME: dict[str, TermSystem] = {system.name: system for system in TERM_SYSTEMS}
PAPERS = [
    Paper("q", "", ("one.", "two.")),
    Paper("a", "", ("one.",)),
    Paper("b", "", ("two.",)),
    Paper("c", "", ()),
]
TOPIC = PooledQuery("q-x", "q", "x", (1,), False, ("a", "b", "c"))


@pytest.fixture
def inputs() -> Any:
    corpus = corpus_of(PAPERS)
    basis = np.eye(2, dtype=np.float32)
    rows = np.array([[1, 1], [1, 0], [0, 1], [0, 0]], np.float32)
    made = Vectors(strings_of("qabc"), rows, "lsa", "s", "cosine", {}, basis=basis)
    given = RankingInputs(corpus, word_vectors={}, vectors={"lsa": made}, averages={})
    return SimpleNamespace(topics=[TOPIC], ranking_inputs=given)


def test_each_formula_is_there_for_the_facet_and_but_for_lsa_for_the_whole_abstract() -> None:
    names = ("tfidf", "bm25", "cbow200", "tfidfcbow200", "ppmi200", "tfidfppmi200")
    assert list(BY_NAME) == [*(f"fabs_{name}" for name in names), *(f"whole_{name}" for name in names), "lsa"]
    assert {name for name, system in BY_NAME.items() if system.whole} == {f"whole_{name}" for name in names}
    assert {system.query for system in TERM_SYSTEMS if system.whole} == {"abstract"}
    assert {system.query for system in TERM_SYSTEMS if not system.whole} == {"facet sentences"}
    assert {name for name, system in BY_NAME.items() if system.needs} == {
        f"{kind}_{name}" for kind in ("fabs", "whole") for name in names[2:]
    }
    assert {name for name, system in BY_NAME.items() if "Deerwester" in system.source} == {"lsa"}
    assert {name for name, system in BY_NAME.items() if "Levy" in system.source} == {
        name for name in BY_NAME if "ppmi" in name
    }


def scores(inputs: Any, name: str) -> dict[str, float]:
    return {doc.doc_id: doc.score for doc in BY_NAME[name].rank(inputs).rankings["q-x"]}


def test_the_sentences_of_the_facet_or_all_of_them_make_the_query(inputs: Any) -> None:
    near = pytest.approx(1 / 2**0.5, rel=1e-5)
    assert scores(inputs, "fabs_tfidf") == {"b": 1, "a": 0, "c": EMPTY_SCORE}
    assert scores(inputs, "whole_tfidf") == {"a": near, "b": near, "c": EMPTY_SCORE}
    assert scores(inputs, "lsa") == {"b": 1, "a": 0, "c": EMPTY_SCORE}
    assert "query" not in BY_NAME["fabs_tfidf"].rank(inputs).facts
    assert BY_NAME["whole_tfidf"].rank(inputs).facts["query"] == "abstract"


def test_lsa_gives_the_folded_query_and_the_rows_of_the_papers_to_learn_from(inputs: Any) -> None:
    found = BY_NAME["lsa"].features(inputs)
    assert found.queries["q-x"].tolist() == [0, 1]
    assert {doc_id: row.tolist() for doc_id, row in found.candidates.items()} == {"a": [1, 0], "b": [0, 1], "c": [0, 0]}
    with pytest.raises(InputError, match="fabs_bm25 has no vectors"):
        BY_NAME["fabs_bm25"].features(inputs)


def test_averages_need_every_matrix_of_averages_and_lsa_its_own() -> None:
    averages = ["title_cbow200", "title_tfidfcbow200", "abs_cbow200", "abs_tfidfcbow200"]
    of_counts = [name.replace("cbow", "ppmi") for name in averages]
    needs = {name: list(system.index_methods(SimpleNamespace())) for name, system in BY_NAME.items()}  # type: ignore[arg-type]
    assert needs["fabs_cbow200"] == needs["whole_tfidfcbow200"] == averages
    assert needs["fabs_ppmi200"] == needs["whole_tfidfppmi200"] == of_counts
    assert needs["fabs_bm25"] == needs["whole_tfidf"] == []
    assert needs["lsa"] == ["lsa"]
