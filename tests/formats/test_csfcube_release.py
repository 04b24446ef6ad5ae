"""The CSFCube release as published: its counts, grades, pools, papers, splits and runs."""

import csv
import io
import json
from collections import Counter
from dataclasses import replace
from itertools import groupby
from statistics import fmean, median

import pytest
from annot.base.records import Judgement, PoolEntry
from annot_csfcube.files import Material, Release, misfits, write_csfcube
from csfcube_files import FACETS, LABELS, PAPERS, RANKED, grades_by_query, read
from demo_collection import demo_material


def test_counts_of_table_1_on_the_two_facets(release: Release) -> None:
    assert release.facets == ("background", "method")
    assert (len(release.queries), len(release.papers), len(release.pools)) == (33, 3368, 28)
    assert len({query.topic_id for query in release.queries}) == 28
    pairs = Counter(decision.query_id.split("-")[1] for decision in release.decisions)
    assert pairs == {"background": 1877, "method": 2174}
    assert len(release.decisions) == 4051
    assert len(release.judgements) == 2 * 4051
    sizes = [len(grades) for grades in grades_by_query(release).values()]
    assert round(fmean(sizes), 2) == 122.76
    for lowest, expected in ((1, (12, 87, 39.27)), (2, (1, 35, 10.18))):
        rated = [sum(grade >= lowest for grade in grades.values()) for grades in grades_by_query(release).values()]
        assert (min(rated), max(rated), round(fmean(rated), 2)) == expected


def test_figure_2_comes_out_of_the_grades(release: Release) -> None:
    grades = grades_by_query(release)
    both = [
        query.topic_id
        for query in release.queries
        if f"{query.topic_id}-background" in grades and query.facet == "method"
    ]
    cells = Counter(
        (grade, grades[f"{paper}-method"][doc])
        for paper in both
        for doc, grade in grades[f"{paper}-background"].items()
    )
    assert [[cells[row, column] for column in range(4)] for row in range(4)] == [
        [229, 36, 8, 0],
        [127, 38, 15, 2],
        [36, 12, 8, 0],
        [5, 3, 1, 0],
    ]


def test_the_share_of_cited_papers_of_low_grade_is_that_of_appendix_d(release: Release) -> None:
    cited = {pool.topic_id: {e.doc_id for e in pool.entries if e.drawn.method == "cited"} for pool in release.pools}
    for facet, expected in (("background", 79.70), ("method", 88.79)):
        grades = [
            decision.grade
            for decision in release.decisions
            if decision.query_id.endswith(facet) and decision.doc_id in cited[decision.query_id.split("-")[0]]
        ]
        assert round(100 * sum(grade <= 1 for grade in grades) / len(grades), 2) == expected


def test_percent_agreement_of_table_2_comes_out_with_missing_counted_as_0(release: Release) -> None:
    ratings: dict[str, dict[str, list[int]]] = {}
    for judgement in release.judgements:
        pairs = ratings.setdefault(judgement.query_id, {})
        pairs.setdefault(judgement.doc_id, []).append(0 if judgement.grade is None else judgement.grade)
    for facet, expected in (("background", 57.0672), ("method", 69.6000)):
        agreed = [
            100 * fmean(one == other for one, other in pairs.values())
            for query_id, pairs in ratings.items()
            if query_id.endswith(facet)
        ]
        assert round(median(agreed), 4) == expected


def test_a_rating_of_minus_1_is_missing_and_the_pair_stays(release: Release) -> None:
    missing = [judgement for judgement in release.judgements if judgement.grade is None]
    assert len(missing) == release.facts.missing_ratings == 11
    assert {judgement.grade for judgement in release.judgements} == {None, 0, 1, 2, 3}
    decided = {(decision.query_id, decision.doc_id): decision.origin for decision in release.decisions}
    assert {decided[judgement.query_id, judgement.doc_id] for judgement in missing} == {"adjudicated"}


def test_two_assessors_judge_a_query_and_their_numbers_are_those_of_the_json_files(release: Release) -> None:
    by_query: dict[str, Counter[str]] = {}
    for judgement in release.judgements:
        by_query.setdefault(judgement.query_id, Counter())[judgement.assessor] += 1
    assert all(len(counts) == 2 and len(set(counts.values())) == 1 for counts in by_query.values())
    assert set(by_query["1791179-method"]) == {"a3", "a4"}
    assert set(by_query["1791179-background"]) == {"a1", "a2"}


def test_disputes_are_the_papers_share_and_agreed_pairs_were_never_changed(release: Release) -> None:
    """40.97% and 33.35% in the paper, with -1 as 0; four pairs of -1 and 0 are in dispute for us."""
    by_pair: dict[tuple[str, str], set[int | None]] = {}
    for judgement in release.judgements:
        by_pair.setdefault((judgement.query_id, judgement.doc_id), set()).add(judgement.grade)
    zeros = Counter(query_id.split("-")[1] for (query_id, _), grades in by_pair.items() if grades == {None, 0})
    disputed = Counter(query_id.split("-")[1] for (query_id, _), grades in by_pair.items() if len(grades) > 1)
    pairs = Counter(query_id.split("-")[1] for query_id, _ in by_pair)
    shares = {facet: round(100 * (disputed[facet] - zeros[facet]) / pairs[facet], 2) for facet in release.facets}
    assert shares == {"background": 40.97, "method": 33.35}
    for decision in release.decisions:
        grades = by_pair[decision.query_id, decision.doc_id]
        assert (grades == {decision.grade}) == (decision.origin == "agreed") == (len(grades) == 1)


def test_pools_are_blocks_of_one_quota_with_the_noise_dropped_and_counted(release: Release) -> None:
    assert release.facts.dropped_candidates == {"41022419": 28, "5111924": 28}
    assert Counter(pool.per_method for pool in release.pools) == {12: 23, 33: 5}
    for pool in release.pools:
        drawn = Counter(entry.drawn.method for entry in pool.entries)
        assert pool.methods[0] == "cited"
        blocks = [method for method, _ in groupby(entry.drawn.method for entry in pool.entries)]
        assert tuple(blocks) == pool.methods
        assert len(pool.methods) == 8
        assert 5 <= drawn["cited"] <= 55
        assert sum(drawn.values()) - drawn["cited"] == 7 * (pool.per_method or 0) - 2
        turns = [entry.drawn.turn for entry in pool.entries]
        assert turns == sorted(set(turns), key=turns.index)
        assert (min(turns), max(turns)) == (1, len(turns) + 2)
        assert (pool.mode, pool.seed, pool.ranking_depth, pool.cited_outside) == ("blocks", None, None, None)


def test_a_query_is_the_sentences_of_its_facet(release: Release) -> None:
    papers = {paper.paper_id: paper for paper in release.papers}
    for query in release.queries:
        labels = papers[query.topic_id].labels
        assert labels is not None
        inside = {labels[position] for position in query.sentences}
        outside = {label for position, label in enumerate(labels) if position not in query.sentences}
        assert inside
        assert inside <= set(FACETS[query.facet])
        assert not outside & set(FACETS[query.facet])
    query = next(query for query in release.queries if query.query_id == "8781666-background")
    assert query.sentences == (0, 1, 2)


def test_papers_keep_their_labels_and_have_no_junk_left(release: Release) -> None:
    for paper in release.papers:
        assert paper.labels is not None
        assert len(paper.labels) == len(paper.sentences) >= 1
        assert set(paper.labels) <= set(LABELS)
        text = " ".join((paper.title, *paper.sentences))
        assert not any(junk in text for junk in ("<i>", "<<ETX>>", "\ufffd", "ﬁ", "\x92"))
        assert paper.sentences[0] not in ("Abstract.", "Abstract", "ABSTRACT")


def test_but_for_what_was_cleaned_the_text_is_the_released_one(files: dict[str, bytes], release: Release) -> None:
    released = [json.loads(line) for line in files[PAPERS].splitlines()]
    before = {one.paper_id: one.before for one in release.changed}
    read_texts = [
        (p.paper_id, {"title": p.title, "abstract": list(p.sentences), **before.get(p.paper_id, {})})
        for p in release.papers
    ]
    assert read_texts == [
        (record["paper_id"], {"title": record["title"], "abstract": record["abstract"]}) for record in released
    ]


def test_splits_name_our_query_ids_and_cover_each_facet(release: Release) -> None:
    assert set(release.splits) == {"background", "method", "all"}
    for facet in release.facets:
        folds = release.splits[facet]
        ids = {query.query_id for query in release.queries if query.facet == facet}
        assert set(folds["fold1_dev"]) | set(folds["fold2_dev"]) == ids
        assert folds["fold1_dev"] == folds["fold2_test"]
    assert len(release.splits["all"]["fold1_dev"]) == 16


def test_the_ranked_pools_become_one_run_best_first(release: Release, files: dict[str, bytes]) -> None:
    ((tag, run),) = release.runs.items()
    assert tag == "specter"
    assert set(run) == {query.query_id for query in release.queries}
    for query, rows in json.loads(files[RANKED]).items():
        query_id = f"{query}-method"
        assert run[query_id][0].score == -rows[0][1]
        assert [doc.score for doc in run[query_id]] == sorted((-distance for _, distance in rows), reverse=True)


@pytest.fixture(scope="module")
def rewritten(release: Release) -> dict[str, bytes]:
    return write_csfcube(release, folder="", with_text=True)


def test_csfcubes_own_ratings_come_out_as_they_were(files: dict[str, bytes], rewritten: dict[str, bytes]) -> None:
    def by_pair(content: bytes) -> dict[tuple[str, str], dict[str, int]]:
        return {
            (query, doc_id): {key: values[at] for key, values in entry.items() if key != "cands"}
            for query, entry in json.loads(content).items()
            for at, doc_id in enumerate(entry["cands"])
        }

    for facet in ("background", "method"):
        name = f"test-pid2anns-csfcube-{facet}.json"
        assert by_pair(rewritten[name]) == by_pair(files[name])


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
