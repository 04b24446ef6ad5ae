"""What is read when a CSFCube release has only some of its files, or files that differ."""

from __future__ import annotations

import json

import pytest
from annot.base.errors import MissingInput
from annot_csfcube.files import Release
from csfcube_files import PAPERS, read


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
    queries = {query.topic_id for query in read(small).queries}
    one, other = [record for record in records if record["paper_id"] not in queries][:2]
    one["pred_labels"] = ["other_label"] * len(one["pred_labels"])
    other["title"] = "Another Title"
    changed[PAPERS] = "\n".join(json.dumps(record) for record in records).encode()
    part = read(changed)
    assert set(part.facts.differing_papers) == {one["paper_id"], other["paper_id"]}
    papers = {paper.paper_id: paper for paper in part.papers}
    assert set(papers[one["paper_id"]].labels or ()) == {"other"}
    assert papers[other["paper_id"]].title == "Another Title"
