"""BM25 ranks the corpus: as rank_bm25 does, and in Lucene's form as its formula says."""

import math
import re
from collections import Counter
from collections.abc import Sequence
from functools import partial

import pytest
from annot.base.records import Paper, Ranking, ScoredDoc, ranked
from annot.ranking.corpus import Corpus
from annot.ranking.methods import RankingInputs, rank_all
from annot.ranking.search import fit_lucene
from indexed import corpus_of, inputs_of
from rank_bm25 import BM25Okapi

QUERIES = ("trainc trainc the labd", "taga", "parsa modelb don't-a zzyzx")


def words(text: str) -> list[str]:
    return re.findall(r"[a-z0-9]+(?:'[a-z]+)?", text.lower())


def field_of(paper: Paper, field: str) -> str:
    return paper.title if field == "title" else " ".join(paper.sentences)


def found_by(inputs: RankingInputs, method: str, *, depth: int = 500) -> dict[str, Ranking]:
    texts = {f"t{number}": {"title": text, "abstract": text} for number, text in enumerate(QUERIES)}
    rank = partial(rank_all, inputs, methods=[method], excluded={}, ranking_depth=depth, advance=lambda *_: None)
    return rank(paper_ids=[], texts=texts)[method]  # type: ignore[arg-type]


def lucene(query: str, documents: Sequence[list[str]], *, k1: float = 1.2, b: float = 0.75) -> list[float]:
    """Kamphuis et al. 2020, table 1, `Lucene (accurate)`, but for the factor k1 + 1."""
    filled = [document for document in documents if document]
    mean = sum(map(len, filled)) / len(filled)
    frequency = Counter(word for document in documents for word in set(document))

    def score(document: list[str]) -> float:
        total = 0.0
        for word in words(query):
            tf, df = document.count(word), frequency[word]
            idf = math.log(1 + (len(filled) - df + 0.5) / (df + 0.5))
            total += idf * tf / (tf + k1 * (1 - b + b * len(document) / mean)) if tf else 0
        return total

    return [score(document) for document in documents]


@pytest.mark.parametrize("field", ["title", "abs"])
@pytest.mark.parametrize("form", ["bm25", "bm25lucene"])
def test_texts_rank_as_the_formula_says(corpus: Corpus, papers: list[Paper], field: str, form: str) -> None:
    documents = [words(field_of(paper, field)) for paper in papers]
    assert [] in documents
    found = found_by(inputs_of(corpus), f"{field}_{form}")
    for number, query in enumerate(QUERIES):
        okapi = BM25Okapi(documents)
        scores = okapi.get_scores(words(query)).tolist() if form == "bm25" else lucene(query, documents)
        expected = ranked(
            ScoredDoc(paper.paper_id, score) for paper, score in zip(papers, scores, strict=True) if score > 0
        )
        assert expected
        assert [doc.doc_id for doc in found[f"t{number}"]] == [doc.doc_id for doc in expected]
        assert [doc.score for doc in found[f"t{number}"]] == pytest.approx([doc.score for doc in expected], rel=1e-12)
    assert found_by(inputs_of(corpus), f"{field}_{form}", depth=3) == {name: all_[:3] for name, all_ in found.items()}


@pytest.mark.parametrize("form", ["bm25", "bm25lucene"])
def test_a_paper_ranks_by_its_whole_abstract(inputs: RankingInputs, papers: list[Paper], form: str) -> None:
    documents = [words(field_of(paper, "abs")) for paper in papers]
    asked = " ".join(papers[2].sentences)
    scores = BM25Okapi(documents).get_scores(words(asked)) if form == "bm25" else lucene(asked, documents)
    found = rank_all(
        inputs,
        methods=[f"abs_{form}"],
        paper_ids=["p002", "p006"],
        excluded={"p002": ["p003"]},
        ranking_depth=500,
        advance=lambda *_: None,
    )[f"abs_{form}"]
    kept = {paper.paper_id: float(score) for paper, score in zip(papers, scores, strict=True) if score > 0}
    for own in ("p002", "p003"):
        kept.pop(own, None)
    assert [doc.doc_id for doc in found["p002"]] == [doc.doc_id for doc in ranked(map(ScoredDoc, kept, kept.values()))]
    assert found["p006"] == (), "its abstract is empty"


def test_documents_without_a_word_count_for_lucene_neither_in_n_nor_in_the_mean_length() -> None:
    corpus = corpus_of([Paper("a", "one", ()), Paper("b", "one two two", ()), Paper("c", "", ())])
    assert (corpus.filled("title", "words"), corpus.filled("abstract", "words")) == (2, 0)
    found = fit_lucene(corpus.statistics("title", "words"), 2, k1=1.2, b=0.75)
    assert found.mean_length == 2
    assert found.idf.tolist() == pytest.approx([math.log(1 + 0.5 / 2.5), math.log(1 + 1.5 / 1.5)])
