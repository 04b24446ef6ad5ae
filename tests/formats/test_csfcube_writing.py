"""The CSFCube release format written: our reader gives back what went in, on the real release and on the demo."""

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import pytest
from annot.base.records import Judgement, PoolEntry
from annot.base.settings import Settings
from annot_csfcube.contents import is_release_file
from annot_csfcube.files import Material, Release, misfits, read_release, write_csfcube
from demo_collection import demo_material

FACETS = Settings().facets


def read(files: dict[str, bytes]) -> Release:
    return read_release(files, name="release", known_labels=Settings().labels.names, facet_labels=FACETS)


@pytest.fixture(scope="module")
def original(shared: Path) -> dict[str, bytes]:
    folder = shared / "csfcube"
    paths = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    return {name: path.read_bytes() for name, path in paths.items() if is_release_file(name)}


@pytest.fixture(scope="module")
def release(original: dict[str, bytes]) -> Release:
    return read(original)


@pytest.fixture(scope="module")
def rewritten(release: Release) -> dict[str, bytes]:
    return write_csfcube(release, folder="", with_text=True)


def test_csfcubes_own_ratings_come_out_as_they_were(original: dict[str, bytes], rewritten: dict[str, bytes]) -> None:
    def by_pair(content: bytes) -> dict[tuple[str, str], dict[str, int]]:
        return {
            (query, doc_id): {key: values[at] for key, values in entry.items() if key != "cands"}
            for query, entry in json.loads(content).items()
            for at, doc_id in enumerate(entry["cands"])
        }

    for facet in ("background", "method"):
        name = f"test-pid2anns-csfcube-{facet}.json"
        assert by_pair(rewritten[name]) == by_pair(original[name])


def test_csfcubes_own_release_read_back_is_the_same_release(release: Release, rewritten: dict[str, bytes]) -> None:
    again = read(rewritten)
    for part in ("facets", "queries", "splits"):
        assert getattr(again, part) == getattr(release, part), part
    for part in ("papers", "judgements", "decisions"):
        assert set(getattr(again, part)) == set(getattr(release, part)), part
    # Turns and quotas count the noise that was dropped.
    assert {pool.topic_id: [(e.doc_id, e.drawn.method, e.also) for e in pool.entries] for pool in again.pools} == {
        pool.topic_id: [(e.doc_id, e.drawn.method, e.also) for e in pool.entries] for pool in release.pools
    }


@pytest.fixture(scope="module")
def demo() -> Material:
    return demo_material()


def as_told(pool_entry: PoolEntry) -> PoolEntry:
    """An entry as far as the format tells: no ranks and scores, nothing else that had a cited paper."""
    drawn = replace(pool_entry.drawn, rank=None, score=None)
    also = () if drawn.method == "cited" else tuple(replace(d, rank=None, score=None) for d in pool_entry.also)
    return PoolEntry(pool_entry.doc_id, drawn, also)


def test_the_demo_read_back_is_the_demo(demo: Material) -> None:
    again = read(write_csfcube(demo, folder="", with_text=True))
    assert set(again.papers) == set(demo.papers)
    assert (again.queries, again.splits) == (demo.queries, demo.splits)
    assert {(j.query_id, j.doc_id, j.assessor, j.grade) for j in again.judgements} == {
        (j.query_id, j.doc_id, j.assessor, j.grade) for j in demo.judgements
    }
    assert None in {judgement.grade for judgement in demo.judgements}
    assert {(d.query_id, d.doc_id, d.grade) for d in again.decisions} == {
        (d.query_id, d.doc_id, d.grade) for d in demo.decisions
    }
    assert {pool.topic_id: pool.entries for pool in again.pools} == {
        pool.topic_id: tuple(as_told(entry) for entry in pool.entries) for pool in demo.pools
    }


def test_a_pair_without_a_decision_stays_in_the_pool_only(demo: Material) -> None:
    gone = demo.decisions[0]
    again = read(write_csfcube(replace(demo, decisions=demo.decisions[1:]), folder="", with_text=True))
    assert (gone.query_id, gone.doc_id) not in {(d.query_id, d.doc_id) for d in again.decisions}
    assert (gone.query_id, gone.doc_id) not in {(j.query_id, j.doc_id) for j in again.judgements}
    (pool,) = (pool for pool in again.pools if pool.topic_id == gone.query_id.split("-")[0])
    assert gone.doc_id in {entry.doc_id for entry in pool.entries}


def test_a_query_of_chosen_sentences_is_told_in_a_column_of_its_own(demo: Material) -> None:
    assert write_csfcube(demo, folder="", with_text=True)["queries-release.csv"].split(b"\r\n")[0].count(b",") == 4
    chosen = (replace(demo.queries[0], sentences=(0, 2)), *demo.queries[1:])
    lines = write_csfcube(replace(demo, queries=chosen), folder="", with_text=True)["queries-release.csv"].split(
        b"\r\n"
    )
    assert lines[0].endswith(b",sentences")
    assert lines[1].endswith(b",0 2")


def test_without_text_no_title_and_no_sentence_is_written(demo: Material) -> None:
    files = write_csfcube(demo, folder="csfcube/", with_text=False)
    everything = b"".join(files.values()).decode()
    assert all(path.startswith("csfcube/") for path in files)
    for paper in demo.papers:
        assert paper.title not in everything
        assert not any(sentence in everything for sentence in paper.sentences)


def test_a_title_that_looks_like_a_formula_is_text_in_a_spreadsheet_and_read_back_as_it_was(demo: Material) -> None:
    formula = '=HYPERLINK("https://example.org")'
    papers = tuple(replace(paper, title=formula) for paper in demo.papers)
    files = write_csfcube(replace(demo, papers=papers), folder="", with_text=True)
    rows = list(csv.reader(io.StringIO(files["queries-release.csv"].decode(), newline="")))
    assert {row[3] for row in rows[1:]} == {f"'{formula}"}
    assert {paper.title for paper in read(files).papers} == {formula}


def test_what_the_format_cannot_say_is_told(demo: Material) -> None:
    query = demo.queries[0]
    third = Judgement(query.query_id, demo.decisions[0].doc_id, "x9", 4)
    unfit = replace(demo, judgements=(*demo.judgements, third))
    expected = (
        f"query {query.query_id}: grade 4, expected 0 to 3",
        f"query {query.query_id}: 3 assessors, expected two per query",
        f"query {query.query_id}: assessor 'x9', expected a name that begins with 'a'",
    )
    assert misfits(unfit) == expected
    assert misfits(demo) == ()
