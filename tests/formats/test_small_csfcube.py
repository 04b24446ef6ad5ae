"""A CSFCube release of one query, every kind of file made by hand: what each says, and how their faults are named."""

import json
from typing import Any

import pytest
from annot.base.errors import InputError
from annot.base.records import Draw, Paper, Pool, PoolEntry, ScoredDoc
from annot_csfcube.contents import is_release_file
from annot_csfcube.files import Material, Release, read_release, write_csfcube
from csfcube_files import PAPERS, POOLS, RANKED, RATINGS

LIST = "queries-release.csv"
SPLITS = "evaluation_splits.json"
LABELS = {"method": ("method",), "result": ("result",)}


def paper(paper_id: str, *labels: str) -> dict[str, Any]:
    return {
        "paper_id": paper_id,
        "title": f"Title {paper_id}",
        "abstract": [f"Sentence {at}." for at in range(len(labels))],
        "pred_labels": [f"{label}_label" for label in labels],
    }


RATED = {
    "cands": ["12", "13", "7"],
    "relevance_adju": [2, 0, 3],
    "relevance_annB": [3, -1, 3],
    "relevance_annA": [1, 0, 3],
    "relevance_max": [3, 0, 3],
    "relevance_min": [1, -1, 3],
}
CONTENT: dict[str, Any] = {
    RATINGS: {"7": RATED},
    POOLS: {
        "7": {
            "cands": ["99", "7", "12", "13"],
            "cand_source": [["cited"], ["cited", "bm25"], ["specter", "bm25"], ["bm25"]],
        }
    },
    PAPERS: [paper("7", "other", "method", "method"), paper("12", "method"), paper("13", "other")],
    SPLITS: {"method": {"dev": ["7_method"], "test": []}, "all": {"dev": []}, "result": {"dev": ["8_result"]}},
    RANKED: {"7": [["13", 0.5], ["7", 0.5], ["50", 2]]},
    LIST: 'pid,facet,year,title,paper type\r\n8,result,2000,Other,survey\r\n7,method,1999,"T, t",\'=x\r\n',
}


def read(**changed: Any) -> Release:
    """The release with these files in their place; a file that is None is not there."""
    files = {}
    for name, content in (CONTENT | {RANKED: {"7": [["13", 0.5], ["7", 0.5]]}} | changed).items():
        if content is not None:
            text = "\n".join(map(json.dumps, content)) if name == PAPERS else content
            files[name] = (text if isinstance(text, str) else json.dumps(text)).encode()
    return read_release(files, name="f", known_labels=("method", "result", "other"), facet_labels=LABELS)


def faults_of(**changed: Any) -> tuple[str, ...]:
    with pytest.raises(InputError) as caught:
        read(**changed)
    return caught.value.faults


def test_papers_queries_and_judgements() -> None:
    found = read()
    assert found.facets == ("method",)
    assert [one.paper_id for one in found.papers] == ["7", "12", "13"]
    (query,) = found.queries
    assert (query.query_id, query.sentences, query.paper_type) == ("7-method", (1, 2), "=x")
    assert [(one.doc_id, one.assessor, one.grade) for one in found.judgements] == [
        *(("12", "aA", 1), ("12", "aB", 3)),
        *(("13", "aA", 0), ("13", "aB", None)),
        *(("7", "aA", 3), ("7", "aB", 3)),
    ]
    assert [(one.doc_id, one.grade, one.origin) for one in found.decisions] == [
        ("12", 2, "adjudicated"),
        ("13", 0, "adjudicated"),
        ("7", 3, "agreed"),
    ]


def test_the_pool_keeps_its_order_and_drops_what_has_neither_rating_nor_text() -> None:
    found = read()
    (pool,) = found.pools
    assert pool.entries == (
        PoolEntry("7", Draw("cited", None, None, 2)),
        PoolEntry("12", Draw("specter", None, None, 3), (Draw("bm25", None, None, None),)),
        PoolEntry("13", Draw("bm25", None, None, 4)),
    )
    assert (pool.methods, pool.per_method) == (("cited", "specter", "bm25"), 1)
    assert found.facts.dropped_candidates == {"99": 1}
    assert found.facts.self_candidates == ("7",)
    assert found.facts.pools_in_order
    assert found.papers[0].citations == ()


def test_a_quota_that_methods_do_not_share_is_not_told() -> None:
    one_more = {"7": {"cands": ["7", "12", "13"], "cand_source": [["bm25"], ["specter"], ["bm25"]]}}
    assert read(**{POOLS: one_more}).pools[0].per_method is None


def test_splits_and_runs_are_those_of_rated_queries_and_others_are_left_out() -> None:
    found = read()
    assert found.splits == {"method": {"dev": ("7-method",), "test": ()}}
    assert found.facts.left_out == ("8-result",)
    ((tag, run),) = found.runs.items()
    assert tag == "specter"
    assert run == {"7-method": (ScoredDoc("13", -0.5), ScoredDoc("7", -0.5))}
    assert found.facts.unranked == (("specter", "7-method", "12"),)
    assert (found.facts.papers_from, found.facts.missing_ratings) == (PAPERS, 1)


def changed_ratings(**columns: Any) -> dict[str, Any]:
    return {RATINGS: {"7": {name: of for name, of in (RATED | columns).items() if of is not None}}}


@pytest.mark.parametrize(
    ("changed", "fault"),
    [
        (changed_ratings(relevance_adju=[2, 0]), f"f/{RATINGS}: 7: relevance_adju has 2 values for 3 candidates"),
        (
            changed_ratings(relevance_annC=[0, 0, 0]),
            f"f/{RATINGS}: 7: 3 lists of ratings (relevance_ann...), expected 2",
        ),
        (
            changed_ratings(relevance_annA=[1, -2, 3]),
            f"f/{RATINGS}: 7, relevance_annA, entry 2: found -2, expected greater than or equal to -1",
        ),
        (changed_ratings(cands=["12", "13", "12"]), f"f/{RATINGS}: 7, cands: 12 is listed twice"),
        (
            changed_ratings(relevance_max=[3, 1, 3]),
            f"f/{RATINGS}: 7: candidate 13: relevance_max is 1, the ratings are [-1, 0]",
        ),
        (
            {RATINGS: f'{{"7": {json.dumps(RATED)}, "7": {json.dumps(RATED)}}}'},
            f"f/{RATINGS}: '7' is listed twice in one object",
        ),
        ({POOLS: {"8": CONTENT[POOLS]["7"]}}, f"f: {POOLS}: no pool of query 7"),
        (
            {POOLS: {"7": {"cands": ["12", "13"], "cand_source": [["a"], ["a"]]}}},
            f"f: {POOLS}: query 7: candidate 7 is rated but not in the pool",
        ),
        ({PAPERS: CONTENT[PAPERS][:2]}, f"f: {PAPERS}: no paper 13, which is rated in 7-method"),
        (
            {PAPERS: [paper("7", "other"), *CONTENT[PAPERS][1:]]},
            f"f: {PAPERS}: query 7 has no sentence of its facet method",
        ),
        ({RANKED: CONTENT[RANKED]}, f"f: {RANKED}: query 7: candidate 50 is not in its pool"),
        (
            {RANKED: {"7": [["13", 0.5], ["7", 0.25]]}},
            f"f/{RANKED}: 7: candidate 7: distance 0.25 after 0.5, expected smallest first",
        ),
        (
            {SPLITS: {"method": {"dev": ["8_method"]}}},
            f"f: {SPLITS}: method, dev: query 8 has no ratings for facet method",
        ),
        (
            {LIST: "pid,facet\r\n"},
            f"f/{LIST}:1: no column year, title, paper type, expected pid,facet,year,title,paper type",
        ),
        (
            {LIST: "pid,facet,year,title,paper type\r\n", SPLITS: None, RANKED: None},
            f"f: {LIST}: query 7 is rated for facet method but not listed",
        ),
    ],
)
def test_a_fault_is_named_with_its_file_and_place(changed: dict[str, Any], fault: str) -> None:
    assert faults_of(**changed) == (fault,)


def test_bytes_that_are_not_utf8_are_a_fault_of_their_line() -> None:
    files = {RATINGS: b'{"7":\n\xff}'}
    with pytest.raises(InputError) as caught:
        read_release(files, name="f", known_labels=(), facet_labels={})
    assert caught.value.faults == (f"f/{RATINGS}:2: not UTF-8: invalid start byte",)
    files = {RATINGS: b'\n\n{"7": \xff}\n'}
    with pytest.raises(InputError) as caught:
        read_release(files, name="f", known_labels=(), facet_labels={})
    assert caught.value.faults == (f"f/{RATINGS}:3: not UTF-8: invalid start byte",)


def test_a_facet_may_have_a_line_below_in_its_query_and_not_in_its_name() -> None:
    splits = {"method": {"dev": ["7_method", "7_1_method"]}}
    assert faults_of(**{SPLITS: splits}) == (f"f: {SPLITS}: method, dev: query 7_1 has no ratings for facet method",)


@pytest.mark.parametrize(
    ("path", "is_one"),
    [
        *((name, True) for name in (RATINGS, POOLS, PAPERS, LIST, SPLITS, RANKED)),
        ("readable_annotations/7-method-adju.txt", True),
        *((f"x/{PAPERS}", False), ("README.md", False), ("eval_scripts/README.md", False)),
    ],
)
def test_a_file_of_a_release_is_known_by_its_path(path: str, is_one: bool) -> None:
    assert is_release_file(path) == is_one


def written(*papers: Paper, entries: tuple[PoolEntry, ...] = ()) -> dict[str, Any]:
    pool = Pool(
        **{"topic_id": "p", "mode": "blocks", "per_method": None, "ranking_depth": None, "seed": None},
        **{"methods": ("m",), "without": (), "dry": (), "cited_outside": None, "entries": entries},
    )
    material = Material(papers, (), (pool,), (), (), {}, {})
    files = write_csfcube(material, folder="", with_text=True)
    return {name: [json.loads(line) for line in text.splitlines()] for name, text in files.items() if name != LIST}


@pytest.mark.parametrize(
    ("turns", "order"), [((3, 1, 2), "bca"), ((1, 2, 3), "abc"), ((3, 1, None), "abc"), ((None, None, None), "abc")]
)
def test_a_written_pool_has_the_order_in_which_it_was_drawn(turns: tuple[int | None, ...], order: str) -> None:
    also = (Draw("n", None, None, None),)
    entries = [PoolEntry(doc_id, Draw("m", None, None, turn), also) for doc_id, turn in zip("abc", turns, strict=True)]
    assert written(entries=tuple(entries))[POOLS] == [{"p": {"cands": [*order], "cand_source": [["m", "n"]] * 3}}]


def test_a_written_paper_has_labels_and_citations_only_where_it_has_some() -> None:
    full = Paper("b", "T", ("A.", "B."), 2001, labels=("method", "other"), citations=("a",))
    bare = {
        **{"paper_id": "a", "title": "T", "abstract": ["A.", "B."], "pred_labels_truncated": False},
        "metadata": {"authors": [], "year": 2001, "venue": None, "doi": None},
    }
    more = {"paper_id": "b", "pred_labels": ["method_label", "other_label"], "outbound_citations": ["a"]}
    assert written(full, Paper("a", "T", ("A.", "B."), 2001))[PAPERS] == [bare, bare | more]
