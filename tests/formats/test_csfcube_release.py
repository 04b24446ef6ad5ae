"""The CSFCube release: counts as published, both sources alike, and what is broken named fault by fault."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from itertools import groupby
from pathlib import Path
from statistics import fmean, median
from typing import Any

import pytest
from annot.base.errors import InputError, MissingInput
from annot.base.records import Draw, ranked
from annot.base.settings import Settings
from annot.formats.csfcube import Release, is_release_file, read_release

LABELS = Settings().labels.names

FACETS = Settings().facets
RATINGS = "test-pid2anns-csfcube-method.json"
POOLS = "test-pid2pool-csfcube.json"
PAPERS = "abstracts-csfcube-preds.jsonl"
READABLE = "readable_annotations/1791179-method-adju.txt"
RANKED = "eval_scripts/sample_ranked_pools/test-pid2pool-csfcube-specter-method-ranked.json"


def read(files: dict[str, bytes]) -> Release:
    return read_release(files, name="CSFCube", known_labels=LABELS, facet_labels=FACETS)


def faults_of(files: dict[str, bytes]) -> tuple[str, ...]:
    with pytest.raises(InputError) as caught:
        read(files)
    return caught.value.faults


@pytest.fixture(scope="module")
def files(shared: Path) -> dict[str, bytes]:
    folder = shared / "csfcube"
    paths = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    return {name: path.read_bytes() for name, path in paths.items() if is_release_file(name)}


@pytest.fixture(scope="module")
def release(files: dict[str, bytes]) -> Release:
    return read(files)


@pytest.fixture(scope="module")
def from_readable(files: dict[str, bytes]) -> Release:
    """The same release from its readable files alone, with the list, the splits and the runs."""
    left_out = (RATINGS, RATINGS.replace("method", "background"), PAPERS, POOLS)
    return read({name: content for name, content in files.items() if name not in left_out})


@pytest.fixture(scope="module")
def small(files: dict[str, bytes]) -> dict[str, bytes]:
    """Two queries of one facet, with every kind of file."""
    kept = {"1791179", "1198964"}
    cut = {name: files[name] for name in (f"readable_annotations/{query}-method-adju.txt" for query in kept)}
    for name in (RATINGS, POOLS, RANKED):
        cut[name] = json.dumps({q: entry for q, entry in json.loads(files[name]).items() if q in kept}).encode()
    folds = {
        fold: [key for key in keys if key.split("_")[0] in kept]
        for fold, keys in json.loads(files["evaluation_splits.json"])["method"].items()
    }
    cut["evaluation_splits.json"] = json.dumps({"method": folds}).encode()
    rows = files["queries-release.csv"].split(b"\r\n")
    rows = [rows[0], *(row for row in rows if row.startswith((b"1791179,method", b"1198964,method"))), b""]
    cut["queries-release.csv"] = b"\r\n".join(rows)
    rated = {doc_id for entry in json.loads(cut[RATINGS]).values() for doc_id in entry["cands"]} | kept
    lines = [line for line in files[PAPERS].splitlines() if json.loads(line)["paper_id"] in rated]
    cut[PAPERS] = b"\n".join(lines)
    return cut


def grades_by_query(release: Release) -> dict[str, dict[str, int]]:
    grades: dict[str, dict[str, int]] = {query.query_id: {} for query in release.queries}
    for decision in release.decisions:
        grades[decision.query_id][decision.doc_id] = decision.grade
    return grades


def test_two_queries_cut_out_of_the_release_are_read(small: dict[str, bytes]) -> None:
    part = read(small)
    assert sorted(query.query_id for query in part.queries) == ["1198964-method", "1791179-method"]
    assert (len(part.pools), len(part.runs), part.facts.left_out) == (2, 1, ())


def test_only_the_files_that_are_read_are_asked_for(files: dict[str, bytes]) -> None:
    assert len(files) == 41
    assert not is_release_file("README.md")


def test_counts_of_table_1_on_the_two_facets(release: Release) -> None:
    assert release.facets == ("background", "method")
    assert (len(release.queries), len(release.papers), len(release.pools)) == (33, 3368, 28)
    assert len({query.paper_id for query in release.queries}) == 28
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
        query.paper_id
        for query in release.queries
        if f"{query.paper_id}-background" in grades and query.facet == "method"
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
    cited = {pool.paper_id: {e.doc_id for e in pool.entries if e.drawn.method == "cited"} for pool in release.pools}
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


def test_an_entry_names_who_drew_it_and_who_else_had_it_and_invents_no_rank(release: Release) -> None:
    pool = next(pool for pool in release.pools if pool.paper_id == "1587")
    entries = {entry.doc_id: entry for entry in pool.entries}
    first = pool.entries[0]
    assert first.drawn == Draw("cited", None, None, 1)
    assert all(entry.also == () for entry in pool.entries if entry.drawn.method == "cited")
    assert any(entry.also for entry in entries.values())
    assert all(draw.rank is None and draw.turn is None for entry in entries.values() for draw in entry.also)


def test_the_query_in_its_own_pool_is_told(release: Release) -> None:
    assert release.facts.self_candidates == ("8781666",)
    assert grades_by_query(release)["8781666-background"]["8781666"] == 3
    assert release.facts.unranked == (("specter", "8781666-background", "8781666"),)


def test_a_query_is_the_sentences_of_its_facet(release: Release) -> None:
    papers = {paper.paper_id: paper for paper in release.papers}
    for query in release.queries:
        labels = papers[query.paper_id].labels
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


def test_citations_of_query_papers_are_the_cited_block_of_their_pools(release: Release) -> None:
    cited = {pool.paper_id: {e.doc_id for e in pool.entries if e.drawn.method == "cited"} for pool in release.pools}
    for paper in release.papers:
        assert set(paper.citations) == cited.get(paper.paper_id, set()) - {paper.paper_id}


def test_splits_name_our_query_ids_and_cover_each_facet(release: Release) -> None:
    assert set(release.splits) == {"background", "method", "all"}
    for facet in release.facets:
        folds = release.splits[facet]
        ids = {query.query_id for query in release.queries if query.facet == facet}
        assert set(folds["fold1_dev"]) | set(folds["fold2_dev"]) == ids
        assert folds["fold1_dev"] == folds["fold2_test"]
    assert len(release.splits["all"]["fold1_dev"]) == 16


def test_the_ranked_pools_become_one_run_best_first(release: Release, files: dict[str, bytes]) -> None:
    (run,) = release.runs
    assert run.tag == "specter"
    assert set(run.rankings) == {query.query_id for query in release.queries}
    for query, rows in json.loads(files[RANKED]).items():
        query_id = f"{query}-method"
        assert run.rankings[query_id][0].score == pytest.approx(-rows[0][1], rel=1e-5)
        assert run.rankings[query_id] == ranked(run.rankings[query_id])


def test_paper_types_are_in_the_releases_words(release: Release) -> None:
    kinds = Counter(query.paper_type for query in release.queries)
    assert kinds == {"data-driven approach": 22, "resources/evaluation": 9, "theoretical": 2}


def test_the_readable_files_tell_the_same_but_for_the_order_of_drawing(
    release: Release, from_readable: Release
) -> None:
    for name in ("facets", "papers", "queries", "splits", "runs"):
        assert getattr(from_readable, name) == getattr(release, name), name
    assert set(from_readable.judgements) == set(release.judgements)
    assert set(from_readable.decisions) == set(release.decisions)
    assert (release.facts.differing_papers, release.facts.corrected_queries) == ((), ())
    assert (release.facts.pools_in_order, from_readable.facts.pools_in_order) == (True, False)
    for known, unordered in zip(release.pools, from_readable.pools, strict=True):
        assert [entry.doc_id for entry in unordered.entries] == sorted(entry.doc_id for entry in known.entries)
        assert {entry.drawn.turn for entry in unordered.entries} == {None}
        methods = {entry.doc_id: (entry.drawn.method, entry.also) for entry in known.entries}
        assert {entry.doc_id: (entry.drawn.method, entry.also) for entry in unordered.entries} == methods


def test_one_facet_alone_is_a_release_and_what_else_is_listed_is_left_out(
    files: dict[str, bytes], release: Release
) -> None:
    part = read({name: content for name, content in files.items() if "background" not in name})
    assert part.facets == ("method",)
    assert part.queries == tuple(query for query in release.queries if query.facet == "method")
    assert part.decisions == tuple(decision for decision in release.decisions if decision.query_id.endswith("-method"))
    assert len(part.facts.left_out) == 16
    assert len(part.pools) == 17
    assert part.splits["all"]["fold1_dev"] == release.splits["method"]["fold1_dev"]
    assert part.facts.dropped_candidates == {"41022419": 17, "5111924": 17}


def test_ratings_pools_and_papers_are_enough(files: dict[str, bytes], release: Release) -> None:
    part = read({name: files[name] for name in (RATINGS, POOLS, PAPERS)})
    assert {query.query_id for query in part.queries} == set(release.splits["method"]["fold1_dev"]) | set(
        release.splits["method"]["fold1_test"]
    )
    assert (part.runs, part.splits, {query.paper_type for query in part.queries}) == ((), {}, {None})


def test_a_folder_without_ratings_is_missing_input_with_the_names_expected(files: dict[str, bytes]) -> None:
    with pytest.raises(MissingInput) as caught:
        read({PAPERS: files[PAPERS]})
    assert "test-pid2anns-csfcube-<facet>.json" in (caught.value.hint or "")


def test_corrected_labels_of_a_query_come_from_its_readable_file(small: dict[str, bytes]) -> None:
    changed = dict(small)
    lines = small[PAPERS].decode().splitlines()
    at = next(n for n, line in enumerate(lines) if json.loads(line)["paper_id"] == "1791179")
    record = json.loads(lines[at])
    record["pred_labels"] = ["other_label"] * len(record["pred_labels"])
    lines[at] = json.dumps(record)
    changed[PAPERS] = "\n".join(lines).encode()
    corrected = read(changed)
    assert corrected.facts.corrected_queries == ("1791179",)
    assert corrected.queries == read(small).queries


def test_a_candidates_labels_and_texts_that_differ_are_counted_and_the_papers_file_stands(
    small: dict[str, bytes],
) -> None:
    changed = dict(small)
    records = [json.loads(line) for line in small[PAPERS].splitlines()]
    queries = {query.paper_id for query in read(small).queries}
    one, other = [record for record in records if record["paper_id"] not in queries][:2]
    one["pred_labels"] = ["other_label"] * len(one["pred_labels"])
    other["title"] = "Another Title"
    changed[PAPERS] = "\n".join(json.dumps(record) for record in records).encode()
    part = read(changed)
    assert set(part.facts.differing_papers) == {one["paper_id"], other["paper_id"]}
    papers = {paper.paper_id: paper for paper in part.papers}
    assert set(papers[one["paper_id"]].labels or ()) == {"other"}
    assert papers[other["paper_id"]].title == "Another Title"


def edit_json(name: str, change: Callable[[Any], None]) -> Callable[[dict[str, bytes]], None]:
    def edit(files: dict[str, bytes]) -> None:
        value = json.loads(files[name])
        change(value)
        files[name] = json.dumps(value).encode()

    return edit


def edit_text(name: str, old: str, new: str) -> Callable[[dict[str, bytes]], None]:
    def edit(files: dict[str, bytes]) -> None:
        assert old.encode() in files[name]
        files[name] = files[name].replace(old.encode(), new.encode(), 1)

    return edit


def set_line(name: str, number: int, content: str) -> Callable[[dict[str, bytes]], None]:
    def edit(files: dict[str, bytes]) -> None:
        lines = files[name].split(b"\n")
        lines[number - 1] = content.encode()
        files[name] = b"\n".join(lines)

    return edit


@pytest.mark.parametrize(
    ("edit", "fault"),
    [
        (set_line(PAPERS, 17, '{"paper_id": "9", '), f"CSFCube/{PAPERS}:17: not valid JSON"),
        (edit_text(PAPERS, "background_label", "backgruond_label"), f"CSFCube/{PAPERS}:1: unknown sentence label"),
        (set_line(RATINGS, 1, '{"1": {'), f"CSFCube/{RATINGS}:1: not valid JSON"),
        (edit_json(RATINGS, lambda v: v["1791179"]["cands"].pop()),
         f"CSFCube/{RATINGS}: 1791179: relevance_adju has 92 values for 91 candidates"),
        (edit_json(RATINGS, lambda v: v["1791179"]["relevance_adju"].__setitem__(0, 4)),
         f"CSFCube/{RATINGS}: 1791179, relevance_adju, entry 1: found 4, expected less than or equal to 3"),
        (edit_json(RATINGS, lambda v: v["1791179"]["relevance_max"].__setitem__(0, 3)), "relevance_max is 3"),
        (edit_json(RATINGS, lambda v: v["1791179"].pop("relevance_ann3")), "1 lists of ratings"),
        (edit_json(RATINGS, lambda v: v["1791179"]["cands"].__setitem__(0, v["1791179"]["cands"][1])),
         "is listed twice"),
        (edit_json(POOLS, lambda v: v["1791179"]["cand_source"].pop()),
         f"CSFCube/{POOLS}: 1791179: cand_source has 93 values for 94 candidates"),
        (edit_json(POOLS, lambda v: v["1791179"]["cand_source"].__setitem__(0, [])),
         "1791179, cand_source, entry 1: found [], expected at least 1 item"),
        (edit_json(POOLS, lambda v: v.pop("1791179")), f"CSFCube: {POOLS}: no pool of query 1791179"),
        (edit_json(POOLS, lambda v: v["1791179"]["cand_source"].__setitem__(30, ["specter", "x"])),
         "sources specter - x"),
        (edit_json(RANKED, lambda v: v["1791179"].reverse()), "expected smallest first"),
        (edit_json(RANKED, lambda v: v["1791179"][0].__setitem__(0, "9999")), "candidate 9999 is not in its pool"),
        (edit_json(RANKED, lambda v: v["1791179"][0].__setitem__(1, float("nan"))), "expected a finite number"),
        (edit_json("evaluation_splits.json", lambda v: v["method"]["fold1_dev"].append("5_method")),
         "CSFCube: evaluation_splits.json: method, fold1_dev: query 5 has no ratings for facet method"),
        (edit_text("queries-release.csv", "paper type", "type"), "CSFCube/queries-release.csv:1: no column paper type"),
        (edit_text("queries-release.csv", "1198964,method,2015,", "1198964,method,"),
         "CSFCube/queries-release.csv:2: expected 5 columns"),
        (edit_text("queries-release.csv", "1198964,method", "1198965,method"),
         "query 1198964 is rated for facet method"),
        (edit_text(READABLE, "Irrelevant (0)", "Irelevant (0)"),
         "grade 'Irelevant (0)': did you mean 'Irrelevant (0)'?"),
        (edit_text(READABLE, "difference: 1", "difference: 2"), "difference 2 between"),
        (edit_text(READABLE, "annotator2", "annotator5"), "X and Y two of 1 to 4"),
        (edit_text(READABLE, "TITLE: ", "TITEL: "), "expected 'TITLE: ...'"),
        (edit_text(READABLE, "sources: ", "source: "), "expected 'sources: <method> - <method>'"),
        (edit_text(READABLE, "=" * 70, "=" * 60), f"CSFCube/{READABLE}:1: found"),
        (edit_text(READABLE, "paper_id: 1791179", "paper_id: 1791178"), "its query is 1791178, expected 1791179"),
        (edit_text(READABLE, "background_label: ", ""), "expected '<label>: <sentence>'"),
    ],
)  # fmt: skip
def test_one_change_in_one_file_is_named(
    small: dict[str, bytes], edit: Callable[[dict[str, bytes]], None], fault: str
) -> None:
    broken = dict(small)
    edit(broken)
    found = faults_of(broken)
    assert any(fault in one for one in found), found


def test_a_grade_that_the_two_formats_tell_differently_is_named_with_both(small: dict[str, bytes]) -> None:
    broken = dict(small)
    value = json.loads(small[RATINGS])
    entry = value["1791179"]
    at = entry["relevance_adju"].index(0)
    entry["relevance_adju"][at] = 1
    broken[RATINGS] = json.dumps(value).encode()
    (fault,) = faults_of(broken)
    assert fault.startswith(f"CSFCube: {READABLE}: candidate {entry['cands'][at]}: grade 0 ")


def test_faults_of_several_files_come_together(small: dict[str, bytes]) -> None:
    broken = dict(small)
    set_line(PAPERS, 17, "{")(broken)
    edit_text(READABLE, "Irrelevant (0)", "Good")(broken)
    edit_json(POOLS, lambda v: v["1791179"]["cand_source"].pop())(broken)
    broken["queries-release.csv"] = b"\xff"
    places = [fault.split(": ")[0] for fault in faults_of(broken)]
    assert len(places) == 4
    assert places[0] == f"CSFCube/{PAPERS}:17"
    assert places[1].startswith(f"CSFCube/{READABLE}:")
    assert places[2:] == [f"CSFCube/{POOLS}", "CSFCube/queries-release.csv:1"]


def test_a_facet_that_the_settings_do_not_know_is_named(small: dict[str, bytes]) -> None:
    with pytest.raises(InputError) as caught:
        read_release(small, name="CSFCube", known_labels=LABELS, facet_labels={"methods": ("method",)})
    assert f"CSFCube: {RATINGS}: facet 'method': did you mean 'methods'?" in caught.value.faults


def test_a_query_without_a_sentence_of_its_facet_is_a_fault(small: dict[str, bytes]) -> None:
    with pytest.raises(InputError) as caught:
        read_release(small, name="CSFCube", known_labels=LABELS, facet_labels={**FACETS, "method": ("other",)})
    assert (
        "CSFCube: abstracts-csfcube-preds.jsonl: query 1791179 has no sentence of its facet method"
        in caught.value.faults
    )
