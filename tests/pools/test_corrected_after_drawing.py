"""Texts that are corrected after the pools were drawn: the pools stay, and are no sign of another corpus."""

import json
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

import pytest
from annot.base.records import Paper
from annot.pools import chain, drawn_pools
from annot.pools.frozen_rankings import ranked_corpus
from annot.steps import corpus
from annot.store import pools as stored_pools
from annot.store.papers import corpus_sha256, paper_ids, read_papers
from annot.study.workspace import Workspace
from command_line import annot, annot_done
from study_stages import DEMO, copied, quietly


def put(ws: Workspace, paper: Paper, *, corrected: str | None = None, **changes: object) -> corpus.AddedPapers:
    record = {name: value for name, value in asdict(paper).items() if name not in ("sentences", "labels", "part_of")}
    file = ws.root / "one.jsonl"
    file.write_text(json.dumps(record | {"abstract": list(paper.sentences)} | changes) + "\n", encoding="utf-8")
    return corpus.add(ws, [file], form=None, dry_run=False, advance=quietly, corrected=corrected)


def test_a_corrected_record_takes_the_place_of_the_earlier_one(tmp_path: Path) -> None:
    ws = copied(DEMO, "pooled", tmp_path / "study")
    before = list(read_papers(ws.corpus))
    chosen = before[17]
    untouched = put(ws, chosen, title="Another title")
    assert (untouched.kept, untouched.differing_ids, untouched.corrected.papers) == (0, (chosen.paper_id,), ())
    assert list(read_papers(ws.corpus)) == before
    put(ws, chosen, title="Another title", corrected="erratum")
    after = list(read_papers(ws.corpus))
    assert [one.paper_id for one in after] == [one.paper_id for one in before]
    assert [one for one in after if one not in before] == [after[17]]
    assert after[17].title == "Another title"


def test_pools_stay_and_only_the_correction_is_told(tmp_path: Path) -> None:
    ws = copied(DEMO, "pooled", tmp_path / "study")
    first, second = list(read_papers(ws.corpus))[3:5]
    pools = {path.name: path.read_bytes() for path in ws.query_pools.glob("*.jsonl")}
    ranked = corpus_sha256(ws.corpus)
    put(ws, first, corrected="erratum", title="Corrected once")
    put(ws, second, corrected="erratum", title="Corrected, too")
    put(ws, first, corrected="another erratum", title="Corrected twice")
    found = ranked_corpus(ws)
    assert (found.corrected, found.unknown, found.added) == (tuple(sorted([first.paper_id, second.paper_id])), (), ())
    assert found.ranked == ranked != corpus_sha256(ws.corpus)
    put(
        ws, Paper("new-1", "A paper that was added later", tuple(f"Sentence {at} of the new paper." for at in range(4)))
    )
    assert ranked_corpus(ws).added == ("new-1",)
    with ws.reading() as session:
        assert list(chain.link_faults(ws, session, chain.CORPUS)) == []
    assert {path.name: path.read_bytes() for path in ws.query_pools.glob("*.jsonl")} == pools
    assert drawn_pools.replay(ws, advance=quietly).differences == {}


def test_a_correction_that_is_killed_is_finished_by_the_same_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from annot.corpus import corpus_facts

    ws = copied(DEMO, "pooled", tmp_path / "study")
    chosen = list(read_papers(ws.corpus))[5]

    class Killed(BaseException):
        pass

    def killed(*_: object) -> None:
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(corpus_facts, "replace_papers", killed)
        with suppress(Killed):
            put(ws, chosen, corrected="erratum", title="Corrected")
    assert len(list(paper_ids(ws.corpus))) == len(set(paper_ids(ws.corpus)))
    put(ws, chosen, corrected="erratum", title="Corrected")
    assert list(read_papers(ws.corpus))[5].title == "Corrected"
    with ws.reading() as session:
        from annot.store.shown import read_versions

        assert [one.why for one in read_versions(session, "text")["text", chosen.paper_id]] == [None, "erratum"]
    assert ranked_corpus(ws).unknown == ()


def test_a_new_query_gets_a_pool_from_the_corrected_corpus_and_the_others_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The pools on record are judged, so they cannot be drawn again; a restored text is ranked as before."""
    ws = copied(DEMO, "settled", tmp_path / "study")
    with ws.reading() as session:
        drawn = stored_pools.read_pools(session)
    pooled = {entry.doc_id for pool in drawn.values() for entry in pool.entries}
    papers = {paper.paper_id: paper for paper in read_papers(ws.corpus)}
    new = next(name for name in papers if name not in {*drawn, *pooled})
    put(ws, papers[sorted(pooled - drawn.keys())[0]], corrected="erratum", title="Corrected")
    before = {path.name: path.read_bytes() for path in ws.query_pools.glob("*.jsonl")}
    annot_done("query", "add", new, "--facet", "method", folder=ws.root)
    annot_done("pool", "--query", f"{new}-method", folder=ws.root)
    after = {path.name: path.read_bytes() for path in ws.query_pools.glob("*.jsonl")}
    assert {name: after[name] for name in before} == before
    assert after.keys() - before.keys() == {f"{new}.jsonl"}
    manifest = json.loads((ws.rankings / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["corpora"] == {new: corpus_sha256(ws.corpus)}
    assert ranked_corpus(ws).unknown == ranked_corpus(ws).added == ()
    assert annot("check", "pools", folder=ws.root).exit_code == 0
    # Papers that were added without a version, as before 1.1, are another matter: no pool on record can hold them.
    monkeypatch.setattr(corpus, "begin_version", lambda *_, **__: None)
    put(ws, Paper("new-1", "A paper that was added later", tuple(f"Sentence {at} of it is here." for at in range(4))))
    refused = annot("pool", "--query", f"{new}-method", folder=ws.root)
    assert refused.exit_code == 2
    assert "the corpus has changed since the other pools were drawn" in refused.stderr
