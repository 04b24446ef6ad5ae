"""The chain of hashes from the corpus to the qrels and runs: each step's manifest names its files and its inputs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from annot.base.errors import InputError
from annot.base.names import sha256_of
from annot.base.records import Source
from annot.formats.trec import write_qrels
from annot.pools import drawn_pools, frozen_rankings
from annot.pools.one_version import recorded_run
from annot.ranking import given_vectors
from annot.ranking.word_vectors import sha256_of as sha256_of_words
from annot.store import people, runs
from annot.store.answers import unsound_revisions
from annot.store.models import Session
from annot.store.shown import changed_contents
from annot.study import outcome
from annot.study.workspace import Workspace, is_named_inside, read_manifest

MANIFEST_OF_RANKINGS = "pools/rankings/manifest.json"
MANIFEST_OF_POOLS = "pools/manifest.json"
MANIFEST_OF_CITATIONS = "corpus/citations/manifest.json"
LINKS = (
    ("corpus/manifest.json", "annot corpus add"),
    ("corpus/ids/manifest.json", "annot corpus add"),
    (MANIFEST_OF_CITATIONS, "annot import --as citations` or `annot corpus add"),
    ("pools/imported/manifest.json", "annot pool import"),
    (MANIFEST_OF_RANKINGS, "annot pool"),
    (MANIFEST_OF_POOLS, "annot pool"),
    ("pools/plan.manifest.json", "annot plan"),
    ("exports/qrels.manifest.json", "annot qrels"),
)
"""The manifests in the order of the work, and the command that writes each."""
CORPUS = "corpus"
"""The input that is named by the hash of its content, not by a file."""
CHECKED_APART = (CORPUS, MANIFEST_OF_CITATIONS)
"""Inputs that grow after the pools were drawn; they are looked at by themselves."""
VECTORS, SHOWN, PLAN, POOLS, RUNS = "vectors", "shown", "plan", "pools", "runs"
GRADES, REVISIONS, CITATIONS = "grades", "revisions", "citations"
"""Links that are compared with the database or a hash of their own, not with a manifest."""


def broken_links(ws: Workspace, session: Session) -> tuple[str, ...]:
    """Differences from the manifests, the database and the hashes; nothing is changed.

    Files that a study does not have yet are no difference.
    """
    return tuple(fault for name in NAMES for fault in link_faults(ws, session, name))


def link_faults(ws: Workspace, session: Session, name: str) -> Iterator[str]:
    """Differences of one link: a manifest, or one of those that are compared with the database."""
    return LINKED[name](ws, session) if name in LINKED else _files(ws, name, dict(LINKS)[name])


def _corpus(ws: Workspace, session: Session) -> Iterator[str]:
    corpus = frozen_rankings.ranked_corpus(ws)
    for sha256 in corpus.unknown:
        yield f"{MANIFEST_OF_RANKINGS}: made from another corpus ({sha256[:12]}, found {corpus.current[:12]})"


def _files(ws: Workspace, name: str, command: str) -> Iterator[str]:
    """Changes of the files and inputs of one manifest."""
    path = ws.root / name
    if not path.is_file():
        return
    try:
        manifest = read_manifest(path, hint=f"make it again with `{command}`")
    except InputError as error:
        yield error.message
        return
    for file, sha256 in manifest.get("files", {}).items():
        yield from _changed(path.parent / file, sha256, f"{name} says", ws.root)
    inputs = manifest.get("inputs", {})
    yield from _inputs(ws, name, command, {key: sha256 for key, sha256 in inputs.items() if key not in CHECKED_APART})


def _citations(ws: Workspace, session: Session) -> Iterator[str]:
    """Citations that were added after the pools were drawn: the pools do not change."""
    path = ws.root / MANIFEST_OF_POOLS
    with suppress(InputError):
        manifest = read_manifest(path, hint="") if path.is_file() else {}
        later = {key: sha256 for key, sha256 in manifest.get("inputs", {}).items() if key == MANIFEST_OF_CITATIONS}
        yield from _inputs(ws, MANIFEST_OF_POOLS, "annot pool", later)


def _inputs(ws: Workspace, name: str, command: str, inputs: Mapping[str, str]) -> Iterator[str]:
    path = ws.root / name
    for source, sha256 in inputs.items():
        # An input is named from the study's folder, or from the folder of the manifest.
        places = (ws.root / source, path.parent / source)
        place = next((place for place in places if is_named_inside(place, ws.root) and place.is_file()), None)
        if place is None:
            yield f"{name}: its input {source} is missing"
        elif sha256_of(place) != sha256:
            yield f"{name}: its input {source} has changed since; run `{command}` again"


def _vectors(ws: Workspace, session: Session) -> Iterator[str]:
    for path, sha256, record in given_vectors.recorded_files(ws):
        yield from _changed(path, sha256, f"{record} says", ws.root)
    words = given_vectors.imported_word_vectors(ws)
    if words is not None and sha256_of_words(words.words, words.matrix) != words.facts["sha256"]:
        yield f"{ws.word_vectors.relative_to(ws.root)}: changed; import the word vectors again"


def _plan(ws: Workspace, session: Session) -> Iterator[str]:
    plan, path = people.read_plan(session), ws.pools / "plan.jsonl"
    # An import puts a plan on record that was never drawn, and writes no file of it.
    imported = any(record.what in (Source.CSFCUBE, Source.FILE) for record in runs.read_imports(session))
    if plan is not None and (path.is_file() or not imported):
        yield from _changed(path, plan.sha256, "the database says", ws.root)


def _runs(ws: Workspace, session: Session) -> Iterator[str]:
    for run in runs.read_runs(session):
        yield from _changed(ws.run_file(run.tag), run.sha256, "the database says", ws.root)
    for about in sorted(ws.runs.glob("*/*.json")):
        path, corpus = about.with_suffix(".run"), about.parent.name
        again = f"`annot run {path.stem} --corpus {corpus}` makes it again"
        try:
            kept = recorded_run(path, hint=again)
        except InputError as error:
            yield f"{error.message}; {again}"
            continue
        if kept is None:
            yield f"{path.relative_to(ws.root)}: missing, although its record is there; {again}"
        else:
            yield from _changed(path, kept.sha256, f"{about.name} says", ws.root)


def _grades(ws: Workspace, session: Session) -> Iterator[str]:
    """Final grades that do not follow from the judgements on record."""
    if ws.qrels.is_file() and ws.qrels.read_text(encoding="utf-8") != write_qrels(
        outcome.outcome_of(session, ws.settings).qrels
    ):
        yield "exports/qrels.txt: does not follow from the judgements on record; run `annot qrels` again"


def _changed(path: Path, sha256: str, source: str, root: Path) -> Iterator[str]:
    if not is_named_inside(path, root):
        yield f"{path}: not checked, because it is outside the study; {source} SHA-256 {sha256[:12]}"
        return
    name = path.relative_to(root).as_posix()
    if not path.is_file():
        yield f"{name}: missing; {source} SHA-256 {sha256[:12]}"
        return
    if (current := sha256_of(path)) != sha256:
        yield f"{name}: changed; {source} SHA-256 {sha256[:12]}, found {current[:12]}"


LINKED: dict[str, Callable[[Workspace, Session], Iterator[str]]] = {
    CORPUS: _corpus,
    VECTORS: _vectors,
    SHOWN: lambda _ws, session: changed_contents(session),
    PLAN: _plan,
    POOLS: lambda ws, session: (fault for _, fault in drawn_pools.unrecorded_differences(ws, session)),
    RUNS: _runs,
    GRADES: _grades,
    REVISIONS: lambda _ws, session: unsound_revisions(session),
    CITATIONS: _citations,
}
"""Comparison of each link that is no manifest."""
NAMES = (*dict(LINKS), *LINKED)
"""Every link, in the order of the work."""
