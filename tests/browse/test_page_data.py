"""The data behind the page on which a collection is read."""

import gzip
import json
from base64 import b64decode
from types import SimpleNamespace
from typing import Any

import pytest
from annot.base.records import Decision, Draw, Paper, Pool, PoolEntry, Query, Ranking, ScoredDoc
from annot.formats.trec import Match
from annot.measuring.evaluation.comparisons import FAR_DOWN, NEAR_TOP, ErrorCase
from annot.publishing.browse_page import STANDINGS, BrowsedRun, pack, page, page_data

QUERIES = (Query("p1-aim", "p1", "aim", (0, 2)), Query("p1-new", "p1", "new", ()), Query("p2-aim", "p2", "aim", (1,)))


def ranking(*names: str) -> Ranking:
    return tuple(ScoredDoc(name, -float(at)) for at, name in enumerate(names))


def snapshot() -> Any:
    entries = (
        PoolEntry("d1", Draw("bm25", 1, 1.0, 1), (Draw("lsa", 3, 0.5, None),)),
        PoolEntry("d2", Draw("lsa", 1, 0.9, 2)),
    )
    pair = ("p2-aim", "d9")
    outcome = SimpleNamespace(
        planned={("p1-aim", "d2"): (), ("p1-aim", "d3"): (), pair: ()},
        decisions=(Decision("p1-aim", "d1", 3, "agreed"),),
        open=(("p1-aim", "d2"),),
        waiting=(("p1-aim", "d3"),),
        unjudgeable={pair: ()},
        disputed=[(SimpleNamespace(pair=one),) for one in (("p1-aim", "d3"), pair)],
    )
    settings = SimpleNamespace(
        facets={"aim": ("objective",), "way": ("method",)},
        collection=SimpleNamespace(language="en", language_of_topics="en"),
        scale=SimpleNamespace(names=("no", "yes")),
        facet_of=lambda label: {"objective": "aim", "method": "way"}.get(label),
    )
    pool = Pool("p1", "blocks", 2, 10, 1, ("bm25", "lsa"), (), (), 0, entries)
    ws = SimpleNamespace(settings=settings)
    return SimpleNamespace(ws=ws, queries=QUERIES, pools={"p1": pool}, outcome=outcome, texts={}, sample=None)


def run(tag: str, rankings: dict[str, Ranking], matches: Any = (), values: Any = ()) -> BrowsedRun:
    return BrowsedRun(tag, rankings, dict(matches), dict(values))


PAPERS = {"p1": Paper("p1", "One", ("a", "b", "c"), 2001), "d1": Paper("d1", "Two", ("x", "y"))}
LABELS = {"p1": ("objective", "other", "method")}
RUNS = (
    run("good", {"p1-aim": ranking("d1", "d2", "d3")}, values={"p1-aim": 0.45678}),
    run("gaps", {"p1-aim": ranking("d2", "z", "d1", "y")}, {("p1-aim", "d1"): [Match(0, 1, 0.123456)]}),
)


def data(cases: list[ErrorCase] | None = None, kinds: Any = None) -> dict[str, Any]:
    return page_data(snapshot(), RUNS, papers=PAPERS, labels=LABELS, measure="NDCG", cases=cases, kinds=kinds or {})


def test_queries_name_their_paper_documents_and_methods_by_place() -> None:
    found = data()
    names = [paper[0] for paper in found["papers"]]
    assert names == ["p1", "d1", "d2", "d3", "p2", "d9"]
    assert (found["facets"], found["methods"], found["systems"]) == (
        ["aim", "way", "new"],
        ["bm25", "lsa"],
        ["good", "gaps"],
    )
    first, second, third = found["queries"]
    assert (first["id"], first["paper"], first["facet"], first["sentences"]) == ("p1-aim", 0, 0, (0, 2))
    # The pool first, then what else was given to people.
    assert (first["docs"], first["methods"]) == ([1, 2, 3], [[0, 1], [1], []])
    assert (second["docs"], second["facet"]) == ([1, 2], 2)
    assert (third["docs"], third["methods"], third["paper"]) == ([5], [[]], 4)
    assert not found["graded"]
    assert not {"grades", "disputed"} & first.keys()


def test_a_system_has_its_order_and_what_lies_between() -> None:
    good, gaps = data()["queries"][0]["systems"]
    assert good == {"order": [0, 1, 2], "value": 45.7}
    assert gaps == {"order": [1, 0], "ranks": [1, 3], "outside": 2, "matches": {0: [(0, 1, 0.123)]}}
    assert data()["queries"][2]["systems"] == [None, None]


def test_papers_have_their_text_and_the_facet_of_each_sentence() -> None:
    papers = data()["papers"]
    assert papers[0] == ["p1", "One", 2001, ("a", "b", "c"), [0, -1, 1]]
    assert papers[1] == ["d1", "Two", None, ("x", "y"), [-1, -1]]
    assert papers[2] == ["d2", "", None, [], []]


def test_grades_errors_and_kinds_belong_to_their_query() -> None:
    cases = [
        ErrorCase("good", "p1-aim", "d3", NEAR_TOP, 0, 1),
        ErrorCase("good", "p1-aim", "d1", FAR_DOWN, 3, 9),
        ErrorCase("gaps", "p1-aim", "d1", FAR_DOWN, 3, None),
        ErrorCase("gaps", "p1-aim", "elsewhere", FAR_DOWN, 3, None),
        ErrorCase("good", "p2-aim", "d9", NEAR_TOP, 0, 1),
    ]
    kinds = {("p1-aim", "d1"): "other words", ("p2-aim", "d9"): "x", ("p1-aim", "elsewhere"): "y"}
    found = data(cases, kinds)
    first, second, third = found["queries"]
    assert found["graded"]
    said = [first["grades"][0], *(STANDINGS[-1 - grade] for grade in first["grades"][1:])]
    assert said == [3, "in dispute", "asked again"]
    assert [STANDINGS[-1 - grade] for grade in second["grades"]] == ["not judged"] * 2
    assert STANDINGS[-1 - third["grades"][0]] == "nobody can judge"
    assert [query["disputed"] for query in found["queries"]] == [[2], [], [0]]
    assert first["errors"] == [[[2], [0]], [[], [0]]]
    assert third["errors"] == [[[0], []], [[], []]]
    assert (first["kinds"], second["kinds"], third["kinds"]) == ({0: "other words"}, {}, {0: "x"})


def test_nothing_in_the_data_ends_its_script(monkeypatch: pytest.MonkeyPatch) -> None:
    from annot.publishing import browse_page

    kept: dict[str, Any] = {}
    monkeypatch.setattr(browse_page, "render", lambda name, values, overrides: kept.update(values) or name)
    page({"title": "</script><b>\u00e9", "language": "en"}, overrides=None, title="T")
    assert str(kept["data"]) == '{"title":"\\u003c/script>\\u003cb>\u00e9","language":"en"}'
    assert kept["title"] == "T"


@pytest.mark.parametrize("text", ['we dance, we dance\\ \\u0041 "we"', "蜜蜂的舞蹈 蜜蜂 é", "once", ""])
def test_packed_data_is_the_same_once_its_codes_are_words_again(text: str) -> None:
    plain = json.dumps({"text": [text] * 3})
    head, coded = gzip.decompress(b64decode(pack(plain.encode()))).split(b"\n", 1)
    words, read, rest = json.loads(head), "", iter(coded)
    for byte in rest:
        code = byte - 128 if byte < 192 else 64 + 256 * (byte - 192) + (next(rest) if byte >= 192 else 0)
        read += chr(byte) if byte < 128 else words[code]
    assert read == plain
