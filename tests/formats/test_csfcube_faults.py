"""What is broken in a CSFCube release is named fault by fault, with its file and line."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from annot.base.errors import InputError
from annot_csfcube.files import read_release
from csfcube_files import FACETS, LABELS, PAPERS, POOLS, RANKED, RATINGS, READABLE, faults_of


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
