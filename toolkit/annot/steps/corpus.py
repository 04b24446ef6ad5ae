"""Papers into the corpus: read, filtered, counted, kept as Parquet."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from annot.corpus_filters import Tally, filter_papers
from annot.errors import InputError, MissingInput
from annot.formats.json_lines import whole_json
from annot.formats.paper_lines import read_papers as parse_papers
from annot.records import Paper, Source
from annot.report.terminal import told
from annot.store import papers as parquet
from annot.store.database import Store, open_store
from annot.store.runs import Imported, put_import, read_imports
from annot.study.corpus_facts import write_corpus_manifest
from annot.study.workspace import Workspace, sha256_of

REPORTED = 10
"""Examples of each kind that are told; all of them are counted."""
OFTEN = 2_000

Advance = Callable[[int, int | None], None]


@dataclass(frozen=True, slots=True)
class AddedPapers:
    """What became of the papers read."""

    read: int
    kept: int
    in_corpus: int
    rejected: dict[str, int]
    differing_ids: tuple[str, ...]
    """Ids that came again with other content; the first paper stands."""
    same_title: tuple[tuple[str, str], ...]
    """Pairs of ids with one normalised title; both are kept."""
    sha256: str | None


def add(ws: Workspace, files: list[Path], *, dry_run: bool, advance: Advance) -> AddedPapers:
    """Add the papers of `files`; the same files again add nothing. All files are sound, or nothing is kept."""
    missing = [str(path) for path in files if not path.is_file()]
    if missing:
        raise InputError(f"{len(missing)} file(s) not found", faults=[f"{path}: no such file" for path in missing])
    tally = Tally()
    before = 0
    try:
        for paper in parquet.read_papers(ws.corpus):
            tally.remember(paper)
            before += 1
    except MissingInput:
        pass
    known_titles = len(tally.same_title)
    kept = filter_papers(_counted(_parse(files, ws.settings.labels.names), advance), ws.settings.corpus, tally)
    if dry_run:
        for _paper in kept:
            pass
        digest = None
    else:
        with open_store(ws.database_url, create=False) as store, parquet.PaperWriter(ws.corpus) as writer:
            for paper in kept:
                writer.add(paper)
            _remember(store, files, tally)
        digest = write_corpus_manifest(ws) if before + tally.kept else None
    return AddedPapers(
        read=tally.read,
        kept=tally.kept,
        in_corpus=before + tally.kept,
        rejected={reason.value: count for reason, count in sorted(tally.rejected.items())},
        differing_ids=tuple(tally.differing),
        same_title=tuple(tally.same_title[known_titles:]),
        sha256=digest,
    )


def _remember(store: Store, files: list[Path], tally: Tally) -> None:
    """Note down what was left out of these files, once: the same files again are all known, which is no news."""
    content = hashlib.sha256("".join(sorted(sha256_of(path) for path in files)).encode()).hexdigest()
    rejected = {reason.value: count for reason, count in sorted(tally.rejected.items())}
    with store.begin() as session:
        if not any((known.what, known.source_sha256) == (Source.CORPUS, content) for known in read_imports(session)):
            facts = {"read": tally.read, "kept": tally.kept, "rejected": rejected}
            put_import(session, Imported(Source.CORPUS, content, facts))


def describe(added: AddedPapers) -> str:
    """The counts in words."""
    return told("added", added=added, reported=REPORTED)


def _parse(files: list[Path], labels: tuple[str, ...]) -> Iterator[Paper]:
    for path in files:
        try:
            with path.open(encoding="utf-8") as file:
                lines = whole_json(file) if path.suffix == ".json" else file
                yield from parse_papers(lines, name=str(path), known_labels=labels, clean_text=True)
        except UnicodeDecodeError as error:
            raise InputError(
                f"{path}: not UTF-8 text at byte {error.start}", hint="expected JSON Lines, one paper per line"
            ) from None


def _counted(papers: Iterator[Paper], advance: Advance) -> Iterator[Paper]:
    done = 0
    for done, paper in enumerate(papers, start=1):
        if done % OFTEN == 0:
            advance(done, None)
        yield paper
    advance(done, done)
