"""The demo corpus is whole, reads like abstracts, and has what makes facets matter."""

from collections import Counter
from pathlib import Path

from annot.base.settings import Settings
from annot.pools.selection import periods_of
from annot_demo import simulated_people
from command_line import annot, annot_done
from demo_collection import papers

LABELS = Settings().labels.names

PAPERS = papers()
BY_ID = {paper.paper_id: paper for paper in PAPERS}
LATENTS = simulated_people.latents()
QUERIES = simulated_people.query_papers()


def facets_of(paper_id: str) -> set[str | None]:
    settings = Settings()
    return {settings.facet_of(label) for label in BY_ID[paper_id].labels or ()}


def test_abstracts_are_as_long_as_promised_and_every_sentence_has_a_label() -> None:
    for paper in PAPERS:
        assert 4 <= len(paper.sentences) <= 12, paper.paper_id
        assert paper.labels is not None
        assert len(paper.labels) == len(paper.sentences), paper.paper_id
        assert set(paper.labels) <= set(LABELS), paper.paper_id
        assert paper.year is not None
        assert 1995 <= paper.year <= 2024, paper.paper_id
    assert {label for paper in PAPERS for label in paper.labels or ()} == set(LABELS)
    assert len({len(paper.sentences) for paper in PAPERS}) >= 8, "abstracts vary in length"


PERIODS = periods_of(Counter(paper.year or 0 for paper in PAPERS))


def test_query_papers_have_two_facets_with_sentences_spread_over_years_and_problems() -> None:
    assert len(QUERIES) >= 8
    assert 16 <= sum(map(len, QUERIES.values())) <= 20
    for paper_id, facets in QUERIES.items():
        assert len(set(facets)) == 2
        assert set(facets) <= facets_of(paper_id), paper_id
    counts = Counter(facet for facets in QUERIES.values() for facet in facets)
    assert set(counts) == set(Settings().facets)
    assert max(counts.values()) - min(counts.values()) <= 1
    assert len({LATENTS[paper_id].problem for paper_id in QUERIES}) == len(QUERIES)
    years = [BY_ID[paper_id].year or 0 for paper_id in QUERIES]
    assert years == sorted(years)
    for first, last in PERIODS:
        assert any(first <= year <= last for year in years), (first, last)


def test_the_papers_alone_are_written_without_a_study_and_over_nothing_else(tmp_path: Path) -> None:
    for _ in range(2):
        done = annot_done("demo", "--corpus-only", "papers.jsonl", "--json", folder=tmp_path)
        assert done.data == {"file": "papers.jsonl", "papers": len(PAPERS)}
        assert (tmp_path / "papers.jsonl").read_text(encoding="utf-8") == simulated_people.corpus_text()
        assert [path.name for path in tmp_path.iterdir()] == ["papers.jsonl"]
    (tmp_path / "papers.jsonl").write_text("mine\n")
    assert annot("demo", "--corpus-only", "papers.jsonl", folder=tmp_path).exit_code == 2
    assert (tmp_path / "papers.jsonl").read_text() == "mine\n"
