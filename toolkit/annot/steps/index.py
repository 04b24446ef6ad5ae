"""The index of the corpus: make it, list it, hold it against its hashes, remove what nothing uses."""

from __future__ import annotations

import shutil
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path

from annot.base.errors import InputError
from annot.base.records import Advance
from annot.pools.pool_design import design_of_settings
from annot.publishing.report.tables import Column, Columns
from annot.ranking.index import IndexPart, damaged, lsa_place, open_index, parts_of, places_of, words_place
from annot.ranking.index_parts import WHOLE, lacks_shards, missing_averages
from annot.ranking.methods import LSA, METHODS
from annot.study.workspace import Workspace

UNITS = {"K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}


@dataclass(frozen=True, slots=True)
class BuiltIndex:
    """What the index holds for the methods of annot.toml."""

    methods: tuple[str, ...]
    papers: int | None
    """None in a dry run."""
    missing: tuple[str, ...]
    """What was not there before, in words."""
    damaged: tuple[str, ...]
    """The parts that were not as they were written, and were made again."""


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """Parts of one kind, or one part."""

    name: str
    parts: int
    bytes: int
    made: str
    used: bool


PARTS = Columns[IndexEntry](
    [Column("part", lambda one: one.name), Column("made", lambda one: one.made), Column("used", lambda one: one.used)],
    [Column("folders", lambda one: one.parts), Column("size", lambda one: in_words(one.bytes))],
)


def build(ws: Workspace, *, memory: str, repair: bool, dry_run: bool, advance: Advance) -> BuiltIndex:
    """Build all that the pooling methods of annot.toml need; existing parts are left as they are.

    repair: first check existing parts against their hashes, and rebuild damaged ones.
    """
    wanted = design_of_settings(ws.settings).ranked_methods
    methods = tuple(name for name in wanted if name in METHODS)
    limit = parsed_memory(memory)
    broken = damaged(ws) if repair else ()
    names = tuple(path.relative_to(ws.cache / "index").as_posix() for path in broken)
    missing = tuple(_missing(ws, methods, without=broken))
    if dry_run:
        return BuiltIndex(methods, None, missing, names)
    for path in broken:
        shutil.rmtree(path)
    index = open_index(ws, methods=methods, advance=advance, memory=limit)
    return BuiltIndex(methods, len(index.inputs.corpus), missing, names)


def listed(ws: Workspace) -> tuple[IndexEntry, ...]:
    """What there is; the shards that are used are one line, those that are not another."""

    def kind(part: IndexPart) -> tuple[str, bool]:
        return ("shards" if part.path.parent.name == "shards" else _name(ws, part), part.used)

    return tuple(
        IndexEntry(name, len(group), sum(one.bytes for one in group), _day(max(one.made for one in group)), used)
        for (name, used), group in ((key, list(same)) for key, same in groupby(sorted(parts_of(ws), key=kind), kind))
    )


def clean(ws: Workspace, *, dry_run: bool) -> tuple[IndexEntry, ...]:
    """Remove what the corpus and the settings of today do not use; returns what that is."""
    unused = [part for part in parts_of(ws) if not part.used]
    for part in () if dry_run else unused:
        if part.path.is_dir():
            shutil.rmtree(part.path)
        else:
            part.path.unlink()
        if part.path.parent.parent.name == "corpora" and not any(part.path.parent.iterdir()):
            part.path.parent.rmdir()
    return tuple(IndexEntry(_name(ws, one), 1, one.bytes, _day(one.made), used=False) for one in unused)


def parsed_memory(text: str) -> int:
    """Bytes, of a number with K, M, G or T. Raises InputError for anything else.

    >>> parsed_memory("4G"), parsed_memory("1.5g"), parsed_memory("512M")
    (4294967296, 1610612736, 536870912)
    """
    try:
        return int(float(text[:-1]) * UNITS[text[-1:].upper()])
    except (ValueError, KeyError, OverflowError):
        raise InputError(f"memory {text!r}, expected a number with a unit, as in 4G") from None


def in_words(size: int) -> str:
    """So many bytes in a unit that fits.

    >>> in_words(0), in_words(1536), in_words(3 * 2**30)
    ('0 K', '1.5 K', '3 G')
    """
    unit = next((name for name, least in reversed(UNITS.items()) if size >= least), "K")
    return f"{float(f'{size / UNITS[unit]:.3g}'):g} {unit}"


def _missing(ws: Workspace, methods: Iterable[str], *, without: Collection[Path]) -> Iterable[str]:
    """What is to be made, where the folders `without` are damaged."""
    places = places_of(ws, keep=False)
    unreadable = places.own(WHOLE) in without
    if unreadable or lacks_shards(places):
        yield "tokens and counts"
    words = words_place(ws, places)
    variants = [variant for method in methods for variant in METHODS[method].needs.averages]
    if variants and (words in without or not words.is_dir()):
        yield "word vectors and averages"
    elif variants and (unreadable or missing_averages(places, words, variants)):
        yield "averages"
    if LSA in methods and not lsa_place(places).is_dir():
        yield LSA


def _name(ws: Workspace, part: IndexPart) -> str:
    return part.path.relative_to(ws.cache / "index").as_posix()


def _day(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M")
