"""The rankings that pools are drawn from: made by every method, and kept on disk exactly as their manifest has them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import count, groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import Any

from annot.base.errors import InputError, MissingInput
from annot.base.records import MANUAL, Advance, Pool, Ranking, grouped
from annot.corpus.corpus_facts import current_sha256
from annot.formats.trec import read_run, run_lines, write_run
from annot.pools.pool_design import PoolDesign
from annot.ranking.index import open_index
from annot.ranking.methods import method_named, rank_all
from annot.ranking.submission import imported_methods, ranking_file, read_imported
from annot.ranking.tokens import Field
from annot.study.workspace import Workspace, read_manifest, text_of, write_file, write_manifest

MANIFEST = "manifest.json"
NOT_RANKED = "not_ranked"
"""In the manifest: by method, the topics that it was not asked for; those of all others it was."""
CORPORA = "corpora"
"""In the manifest: by topic, the SHA-256 of the corpus in which it was ranked, if texts were corrected before."""
HINT = "make new rankings with `annot pool`, without --frozen"

Rankings = dict[str, dict[str, Ranking]]
"""By method, then by topic."""
Lines = dict[str, dict[str, str]]
"""The same as lines of run files."""


def rankings_manifest(ws: Workspace) -> Path:
    """The manifest of the rankings."""
    return ws.rankings / MANIFEST


def needed(designs: Mapping[str, PoolDesign], pools: Mapping[str, Pool]) -> dict[str, list[str]]:
    """By method, the topics whose pools follow from its ranking.

    designs: of the pools that are drawn; pools: those on record, of which what was added is kept.
    """
    drawing = {topic_id: design.ranked_methods for topic_id, design in designs.items()}
    later = {topic_id: [one.method for one in pool.additions] for topic_id, pool in pools.items()}
    found = grouped(
        (method, topic_id)
        for topic_id in dict.fromkeys((*designs, *pools))
        for method in dict.fromkeys((*drawing.get(topic_id, ()), *later.get(topic_id, ())))
        if method != MANUAL
    )
    return dict(sorted(found.items()))


def read_rankings(ws: Workspace, wanted: Mapping[str, Collection[str]]) -> Rankings:
    """The rankings on disk. wanted: by method, for which topics.

    Raises MissingInput for what is not there, InputError for a file that is not what its manifest says: pools drawn
    from it could never be drawn again.
    """
    manifest = _manifest(ws)
    absent = sorted({topic_id for of in wanted.values() for topic_id in of} - set(manifest["topics"]))
    absent += [
        f"{topic_id} by {method}"
        for method, of in wanted.items()
        for topic_id in of
        if topic_id in manifest.get(NOT_RANKED, {}).get(method, ())
    ]
    if absent:
        raise MissingInput(f"{ws.rankings}: no rankings for these query papers: {', '.join(absent)}", hint=HINT)
    return {method: _read(ws, method, manifest, of) for method, of in wanted.items()}


def not_ranked(ws: Workspace) -> dict[str, list[str]]:
    """By method, the topics that the rankings on disk do not have, because the method cannot rank for them."""
    return dict(_manifest(ws).get(NOT_RANKED, {}))


def method_settings(ws: Workspace) -> dict[str, Any]:
    """What each method's ranking on disk was made with; nothing if there are no rankings."""
    return dict(_manifest(ws).get("methods", {})) if rankings_manifest(ws).is_file() else {}


def lines_of(rankings: Mapping[str, Mapping[str, Ranking]]) -> Lines:
    """The rankings as they are written: TREC runs."""
    return {method: run_lines(by_topic, tag=method) for method, by_topic in rankings.items()}


def lines_on_disk(ws: Workspace) -> Lines:
    """The run files as they are there, whatever their manifest says."""
    return {path.stem: _by_topic(path.read_text(encoding="utf-8")) for path in sorted(ws.rankings.glob("*.run"))}


def write_rankings(ws: Workspace, lines: Lines, *, facts: Mapping[str, Any]) -> None:
    """Write a run file for each method, and the manifest; all others go."""
    for method, by_topic in lines.items():
        write_file(ws.rankings / f"{method}.run", "".join(of for _, of in sorted(by_topic.items())))
    for stale in ws.rankings.glob("*.run"):
        if stale.stem not in lines:
            stale.unlink()
    inputs = {"corpus": str(facts["corpus_sha256"]), **facts.get("inputs", {})}
    told = {name: value for name, value in facts.items() if name not in ("corpus_sha256", "inputs")}
    write_manifest(rankings_manifest(ws), files=ws.rankings.glob("*.run"), inputs=inputs, facts=told)


def joined(
    ws: Workspace, lines: Lines, *, facts: Mapping[str, Any], of_topics: bool = False
) -> tuple[Lines, dict[str, Any]]:
    """Those on disk with these in their place: what `write_rankings` takes, so that the others stay.

    Of a method that was ranked in another corpus the manifest says so, or, with `of_topics`, of topics.
    """
    if not rankings_manifest(ws).is_file():
        return lines, dict(facts)
    manifest = _manifest(ws)
    recorded, before = list(manifest["topics"]), manifest.get(NOT_RANKED, {})
    topics = [*recorded, *(topic_id for topic_id in facts["topics"] if topic_id not in recorded)]
    found: Lines = {}
    for method in manifest.get("methods", {}):
        asked = [topic_id for topic_id in recorded if topic_id not in before.get(method, ())]
        there = _by_topic(_text(ws, method, manifest))
        found[method] = {topic_id: there.get(topic_id, "") for topic_id in asked}
    for method, by_topic in lines.items():
        found[method] = {**found.get(method, {}), **by_topic}
    skipped = {
        method: missing
        for method in sorted(found)
        if (missing := [topic_id for topic_id in topics if topic_id not in found[method]])
    }
    methods = dict(facts["methods"])
    inputs = manifest.get("inputs", {})
    corpora = {name: one for name, one in manifest.get(CORPORA, {}).items() if name not in facts["topics"]}
    if of_topics and inputs.get("corpus") != facts["corpus_sha256"]:
        corpora |= dict.fromkeys(facts["topics"], facts["corpus_sha256"])
    elif inputs.get("corpus") != facts["corpus_sha256"]:
        methods = {name: {**of, "corpus_sha256": facts["corpus_sha256"]} for name, of in methods.items()}
    told = {
        "corpus_sha256": inputs.get("corpus", facts["corpus_sha256"]),
        "inputs": {name: one for name, one in inputs.items() if name != "corpus"} | facts.get("inputs", {}),
        "ranking_depth": max(manifest.get("ranking_depth", 1), facts["ranking_depth"]),
        "topics": topics,
        "methods": {**manifest.get("methods", {}), **methods},
    }
    return found, told | ({NOT_RANKED: skipped} if skipped else {}) | ({CORPORA: corpora} if corpora else {})


def refuse_other_corpus(ws: Workspace, facts: Mapping[str, Any], *, corrected_only: bool) -> None:
    """Raise InputError if the rankings on disk, which are to stay beside new ones, are of another corpus.

    corrected_only: whether the corpus differs from the one that was ranked by recorded corrections alone.
    """
    if not rankings_manifest(ws).is_file():
        return
    recorded = str(_manifest(ws).get("inputs", {}).get("corpus"))
    if recorded != facts["corpus_sha256"] and not corrected_only:
        raise InputError(
            f"the corpus has changed since the other pools were drawn (SHA-256 {facts['corpus_sha256'][:12]}, expected "
            f"{recorded[:12]})",
            hint="draw all pools again with `annot pool`, or restore the corpus",
        )


def _manifest(ws: Workspace) -> dict[str, Any]:
    manifest = read_manifest(rankings_manifest(ws), hint=HINT)
    if not isinstance(manifest.get("topics"), list):
        raise InputError(f"{rankings_manifest(ws)}: found no `topics`, expected a list", hint=HINT)
    return manifest


def _read(ws: Workspace, method: str, manifest: Mapping[str, Any], topics: Iterable[str]) -> dict[str, Ranking]:
    text = _text(ws, method, manifest)
    # A topic without a usable token has an empty ranking, and so no line in the file; without any line all have.
    found = read_run(text.splitlines(), name=str(ws.rankings / f"{method}.run")).rankings if text else {}
    return {topic_id: found.get(topic_id, ()) for topic_id in topics}


def _by_topic(text: str) -> dict[str, str]:
    """The lines of each topic."""
    lines = text.splitlines(keepends=True)
    return {topic_id: "".join(of) for topic_id, of in groupby(lines, key=lambda line: line.partition(" ")[0])}


def _text(ws: Workspace, method: str, manifest: Mapping[str, Any]) -> str:
    path = ws.rankings / f"{method}.run"
    if not path.is_file():
        raise MissingInput(f"{path}: no rankings to draw from", hint=HINT)
    return text_of(path, manifest, told_by=rankings_manifest(ws), hint=HINT)


def rank_corpus(
    ws: Workspace,
    *,
    methods: Sequence[str],
    topics: Sequence[str],
    excluded: Callable[[], Mapping[str, Collection[str]]],
    ranking_depth: int,
    keep: bool,
    advance: Advance,
    given: Mapping[str, Mapping[str, Ranking]] = MappingProxyType({}),
    texts: Mapping[str, Mapping[Field, str]] = MappingProxyType({}),
) -> tuple[Rankings, dict[str, Any]]:
    """The best `ranking_depth` papers for each topic by every method, and the facts of `write_rankings`.

    excluded: by topic, the papers that must not rank for it, besides itself; asked once all is there to rank by.
    keep: what an index lacks is made and kept. given: by method, rankings that are being imported and need not be
    kept yet. texts: what of the topics that are texts is held against each field of the papers; a method that cannot
    rank for a text is not asked. Raises MissingInput for a method that is neither ours nor imported.
    """
    brought = {name: str(about["sha256"]) for name, about in imported_methods(ws).items() if name in methods}
    for name, of in given.items():
        brought[name] = hashlib.sha256(write_run(of, tag=name).encode()).hexdigest()
    own = [name for name in methods if name not in brought]
    found = {name: given[name] if name in given else read_imported(ws, name) for name in brought}
    rankings: Rankings = {}
    facts: dict[str, Any] = {}
    if own:
        done = count(1)
        with TemporaryDirectory(prefix="annot-") as scratch:
            index = open_index(ws, methods=own, advance=advance, scratch=None if keep else Path(scratch))
            out = excluded()
            rankings = rank_all(
                index.inputs,
                methods=own,
                paper_ids=[topic_id for topic_id in topics if topic_id not in texts],
                texts={topic_id: texts[topic_id] for topic_id in topics if topic_id in texts},
                excluded=out,
                ranking_depth=ranking_depth,
                after_method=lambda _name: advance(next(done), len(own)),
            )
            facts = {method: method_named(method).settings(index.inputs) for method in own}
            digest = index.corpus_sha256
    else:
        digest, out = current_sha256(ws, keep=False), excluded()
    for method, sha256 in brought.items():
        rankings[method] = {
            topic_id: tuple(
                doc
                for doc in found[method].get(topic_id, ())
                if doc.doc_id not in out.get(topic_id, ()) and (doc.doc_id != topic_id or topic_id in texts)
            )[:ranking_depth]
            for topic_id in topics
        }
        facts[method] = {"imported": sha256}
    skipped = {name: missing for name in sorted(own) if (missing := sorted(texts.keys() - rankings[name].keys()))}
    inputs = {ranking_file(ws, method).relative_to(ws.root).as_posix(): sha256 for method, sha256 in brought.items()}
    return {method: rankings[method] for method in methods}, {
        "corpus_sha256": digest,
        "ranking_depth": ranking_depth,
        "topics": list(topics),
        "methods": facts,
        **({NOT_RANKED: skipped} if skipped else {}),
        **({"inputs": inputs} if inputs else {}),
    }
