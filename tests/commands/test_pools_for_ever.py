"""Pools are drawn again as they were, whatever came after: papers, citations, near-duplicates, additions."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from annot.study.workspace import Workspace
from command_line import Result
from pooled_corpus import drawn, made, paper, words_of

Annot = Callable[..., Result]
FAR = min(range(10, 20), key=lambda at: (len({*words_of(at)} & {*words_of(5)}), at))
"""The paper that comes twice and has the least of the words of p5."""
COPY = f"twice{FAR}"


def lines() -> Iterator[str]:
    """Ten of sixty papers come twice; the copy of the farthest has half of the title of p5, which cites three."""
    for number in range(60):
        given = {"title": "Alpha beta gamma delta", "citations": ["p1", "p2", "later1"]} if number == 5 else {}
        yield paper(number, **given)
    for number in range(10, 20):
        yield paper(number, f"twice{number}", **({"title": "Alpha beta"} if number == FAR else {}))


@pytest.fixture
def pooled(ws: Workspace, annot: Annot) -> Workspace:
    made(ws, annot, list(lines()), ("pool", "--per-method", "3"))
    return ws


def replayed(annot: Annot) -> Any:
    """The pools are those on record; what is told of them."""
    found = annot("check", "pools", "--json")
    assert found.exit_code == 0, found.stdout
    return found.data["pools"]


def done(annot: Annot, *words: object) -> Result:
    result = annot(*words)
    assert result.exit_code == 0, result.stderr
    return result


def citations(ws: Workspace, annot: Annot) -> None:
    """p5 cites a paper that is in the corpus, one that may come, and the copy."""
    (ws.root / "edges.tsv").write_text(f"p5\tp40\np5\tlater1\np5\t{COPY}\np5\tnever\n")
    done(annot, "import", "--as", "citations", "edges.tsv")


def papers(ws: Workspace, annot: Annot) -> None:
    """A paper that p5 cites, one of its title, a near-duplicate of it, and one of two papers that come twice."""
    (ws.root / "more.jsonl").write_text(
        "\n".join(
            [
                paper(100, "later1"),
                paper(101, "twin5", title="Alpha: beta, gamma -- delta!"),
                paper(5, "copy5", title="Another title"),
                paper(10, "thrice10"),
                paper(FAR, f"thrice{FAR}"),
            ]
        )
        + "\n"
    )
    done(annot, "corpus", "add", "more.jsonl")
    done(annot, "facets")


def by_hand(ws: Workspace, annot: Annot) -> None:
    done(annot, "pool", "add", "p5", COPY, "--reason", "seen")


def top_up(ws: Workspace, annot: Annot) -> None:
    """An engine that has every paper that comes twice but the farthest, the copies first."""
    docs = [name for at in range(10, 20) if at != FAR for name in (f"twice{at}", f"p{at}")]
    (ws.root / "engine.run").write_text(
        "".join(f"p5 Q0 {doc_id} {at} {90 - at} engine\n" for at, doc_id in enumerate(docs, start=1))
    )
    done(annot, "pool", "add", "--run", "engine.run", "--method", "engine", "--depth", "12")


def test_however_a_study_goes_on_its_pools_are_drawn_again(pooled: Workspace, annot: Annot) -> None:
    for what in (top_up, by_hand, papers, citations):
        before = drawn(pooled)
        what(pooled, annot)
        after = drawn(pooled)
        if what in (citations, papers):
            assert after == before
        assert all(before[name] <= after[name] for name in before)
        told = replayed(annot)
        assert told["documents"] == sum(map(len, after.values()))
    for at in range(10, 20):
        assert len({f"p{at}", f"twice{at}"} & drawn(pooled)["p5"]) <= 1
    assert (told["cited_since"], told["cited_gone"]) == (3, 0), "p40, the copy, and the paper that came"
    said = done(annot, "check", "pools").stdout
    assert "3 citations of query papers came into the corpus after the draw" in said
    # From what is on disk the same again; drawn anew, with what has come, and true again.
    frozen = drawn(pooled)
    done(annot, "pool", "--frozen")
    assert drawn(pooled) == frozen
    done(annot, "pool")
    assert {"p1", "p2", "p40", "later1"} <= drawn(pooled)["p5"]
    assert not {"twin5", "copy5"} & drawn(pooled)["p5"]
    assert replayed(annot)["cited_since"] == 0
    done(annot, "check", "files")


def test_what_was_written_down_of_a_draw_is_not_to_be_changed(pooled: Workspace, annot: Annot) -> None:
    path = pooled.pools / "admission.jsonl"
    text = path.read_text()
    assert json.loads(text.splitlines()[1])["barred"]["1"][COPY] == f"p{FAR}"
    for changed in (text.replace('"p1"', '"p3"'), ""):
        path.write_text(changed)
        refused = annot("check", "pools")
        assert refused.exit_code == 2
        assert "admission.jsonl: its SHA-256 is" in refused.stderr
        assert annot("check", "files").exit_code == 1
    path.write_text("{}\n")
    assert "not what `annot pool` writes" in annot("pool", "show").stderr
    path.unlink()
    assert "its SHA-256 is none, expected" in annot("check", "pools").stderr
    done(annot, "pool")
    assert path.read_text() == text
