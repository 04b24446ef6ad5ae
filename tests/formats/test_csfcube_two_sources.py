"""A CSFCube release that has the same query in JSON and in a readable file: what is compared, and whose word counts."""

import json
from typing import Any

import pytest
from annot.base.errors import InputError
from annot_csfcube.files import Release, read_release
from csfcube_files import PAPERS, POOLS, RATINGS

LABELS = {"method": ("method",), "result": ("result",)}


def readable_name(query: str, facet: str = "method") -> str:
    return f"readable_annotations/{query}-{facet}-adju.txt"


def readable(
    *candidates: str, query: str = "7", labels: tuple[str, str] = ("method", "other"), title: str = "T"
) -> str:
    """The file of a query of two sentences, and candidates as `id grade` of one sentence each, drawn by `cited`."""
    lines = ["=" * 70, f"paper_id: {query}; YEAR: 1999", f"TITLE: {title}", f"ABSTRACT: {labels[0]}_label: One."]
    lines.append(f"{labels[1]}_label: Two.")
    for candidate in candidates:
        doc_id, _, grade = candidate.partition(" ")
        lines += ["=" * 35, f"paper_id: {doc_id}; YEAR: 2000", f"adju relevance: {grade}"]
        lines += ["difference: 1; annotator3: 1; annotator1: 2", "sources: cited - abs", "TITLE: C"]
        lines.append("ABSTRACT: method_label: Only.")
    return "".join(f"{line}\n" for line in lines)


def paper(paper_id: str, *sentences: tuple[str, str], title: str = "C", year: int = 2000) -> dict[str, Any]:
    return {
        **{"paper_id": paper_id, "title": title, "metadata": {"year": year}},
        **{"abstract": [text for _, text in sentences], "pred_labels": [label for label, _ in sentences]},
    }


QUERY = paper("7", ("method", "One."), ("other", "Two."), title="T", year=1999)
CONTENT: dict[str, Any] = {
    RATINGS: {
        "7": {
            **{"cands": ["12", "13"], "relevance_adju": [2, 1], "relevance_ann3": [2, 2], "relevance_ann2": [1, 1]},
            **{"relevance_max": [2, 2], "relevance_min": [1, 1]},
        }
    },
    POOLS: {"7": {"cands": ["12", "13"], "cand_source": [["cited", "abs"], ["cited", "abs"]]}},
    PAPERS: [QUERY, paper("12", ("method", "Only.")), paper("13", ("method", "Only."))],
    readable_name("7"): readable("12 Similar (+2)", "13 Related (+1)"),
}


def read(facets: dict[str, tuple[str, ...]] = LABELS, **changed: Any) -> Release:
    files = {}
    for name, content in (CONTENT | changed).items():
        if content is not None:
            text = "\n".join(map(json.dumps, content)) if name == PAPERS else content
            files[name] = (
                text if isinstance(text, bytes) else (text if isinstance(text, str) else json.dumps(text)).encode()
            )
    return read_release(files, name="f", known_labels=("method", "result", "other"), facet_labels=facets)


def faults_of(facets: dict[str, tuple[str, ...]] = LABELS, **changed: Any) -> tuple[str, ...]:
    with pytest.raises(InputError) as caught:
        read(facets, **changed)
    return caught.value.faults


def test_files_that_say_the_same_are_one_release() -> None:
    found = read()
    assert [(one.doc_id, one.grade, one.origin) for one in found.decisions] == [
        ("12", 2, "adjudicated"),
        ("13", 1, "adjudicated"),
    ]
    assert (found.facts.corrected_queries, found.facts.differing_papers, found.changed) == ((), (), ())
    assert [one.paper_id for one in found.papers] == ["7", "12", "13"]
    alone = read(**dict.fromkeys((RATINGS, POOLS, PAPERS)))
    assert (alone.papers, alone.queries, alone.decisions) == (found.papers, found.queries, found.decisions)
    assert (found.facts.pools_in_order, alone.facts.pools_in_order) == (True, False)


def test_each_pair_that_one_of_the_two_has_otherwise_or_not_at_all_is_named() -> None:
    name = readable_name("7")
    same, other = "grade 2 and ratings {'a2': 1, 'a3': 2}", "grade 3 and ratings {'a2': 1, 'a3': 2}"
    assert faults_of(**{name: readable("12 Identical (+3)", "13 Related (+1)")}) == (
        f"f: {name}: candidate 12: {other}, {RATINGS} has {same}",
    )
    assert faults_of(**{name: readable("13 Related (+1)")}) == (
        f"f: {name}: candidate 12: no such candidate, {RATINGS} has {same}",
    )
    more = readable("12 Similar (+2)", "13 Related (+1)", "14 Similar (+2)")
    assert faults_of(**{name: more}) == (f"f: {name}: candidate 14: {same}, {RATINGS} has no such candidate",)


def test_a_readable_file_of_another_query_is_named() -> None:
    assert faults_of(**{readable_name("7"): readable(query="8")})[0] == (
        f"f: {readable_name('7')}: its query is 8, expected 7"
    )
    assert f"f: {readable_name('8')}: not a query of {RATINGS}" in faults_of(
        **{readable_name("8"): readable("12 Similar (+2)", query="8")}
    )


def test_the_labels_of_a_query_are_those_of_its_readable_file() -> None:
    corrected = read(
        **{readable_name("7"): readable(*["12 Similar (+2)", "13 Related (+1)"], labels=("other", "method"))}
    )
    assert corrected.facts.corrected_queries == ("7",)
    assert corrected.facts.differing_papers == ()
    assert corrected.queries[0].sentences == (1,)
    # Labels of other sentences cannot be taken over.
    longer = paper("7", ("method", "One."), ("other", "Two."), ("other", "Three."), title="T", year=1999)
    kept = read(**{PAPERS: [longer, *CONTENT[PAPERS][1:]]})
    assert kept.facts.corrected_queries == ()
    assert kept.papers[0].labels == ("method", "other", "other")


def test_a_paper_that_differs_is_counted_and_the_papers_file_stands() -> None:
    first = CONTENT[PAPERS]
    labels = read(**{PAPERS: [first[0], paper("12", ("other", "Only.")), first[2]]})
    title = read(**{PAPERS: [first[0], paper("12", ("method", "Only."), title="D"), first[2]]})
    citing = read(**{PAPERS: [first[0], first[1] | {"citations": ["13"]}, first[2]]})
    assert [found.facts.differing_papers for found in (labels, title, citing)] == [("12",), ("12",), ()]
    assert (labels.papers[1].labels, title.papers[1].title) == (("other",), "D")


def test_two_readable_files_of_a_query_have_the_same_labels() -> None:
    name = readable_name("7", "result")
    assert faults_of(**{name: readable("12 Similar (+2)", labels=("other", "result"))}) == (
        f"f: {name}: the labels of the query differ from those in {readable_name('7')}",
    )


def test_a_facet_that_is_not_known_is_named_with_the_file_of_its_ratings() -> None:
    unknown = "facet 'method': did you mean 'methods'?"
    assert faults_of({"methods": ()}) == (f"f: {RATINGS}: {unknown}",)
    assert faults_of({"methods": ()}, **dict.fromkeys((RATINGS, POOLS, PAPERS))) == (
        f"f: readable_annotations: {unknown}",
    )


def test_sources_that_differ_are_named() -> None:
    assert faults_of(**{POOLS: {"7": {"cands": ["12", "13"], "cand_source": [["abs"], ["cited", "abs"]]}}}) == (
        f"f: {POOLS}: query 7, candidate 12: sources abs, readable_annotations has cited - abs",
    )


def test_without_an_order_the_cited_papers_come_first_and_then_methods_by_name() -> None:
    text = readable("12 Similar (+2)", "13 Related (+1)").replace("sources: cited - abs", "sources: abs - cited", 1)
    (pool,) = read(**{readable_name("7"): text} | dict.fromkeys((RATINGS, POOLS, PAPERS))).pools
    assert (pool.methods, pool.per_method) == (("cited", "abs"), None)
    assert [(entry.drawn.method, len(entry.also)) for entry in pool.entries] == [("abs", 1), ("cited", 0)]
