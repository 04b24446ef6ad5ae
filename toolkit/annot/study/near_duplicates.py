"""The near-duplicates of the corpus: found once, and kept by the hash of the corpus."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from annot.corpus_filters import marks_of
from annot.near_duplicates import (
    BANDS,
    OF_ONE_TITLE,
    RESEMBLANCE,
    ROWS,
    WORDS,
    Sketches,
    candidates,
    groups,
    shingles,
    sketch,
)
from annot.records import Paper
from annot.shards import Advance
from annot.store import papers
from annot.store.paper_columns import ids_at
from annot.study.corpus_state import current_sha256
from annot.study.index import each_on
from annot.study.workspace import Workspace, write_file

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

SETTINGS = [WORDS, RESEMBLANCE, OF_ONE_TITLE, BANDS, ROWS]
Groups = tuple[tuple[str, ...], ...]
"""Ids of papers that are near-duplicates of one another, each group in the order of the corpus."""


def near_duplicates(ws: Workspace, *, keep: bool, advance: Advance) -> Groups:
    """Every group of near-duplicates: read where they were found before, else found, and with `keep` written down."""
    digest = current_sha256(ws, keep=False)
    kept = ws.cache / "near-duplicates" / f"{digest[:16]}.json"
    try:
        record = json.loads(kept.read_text(encoding="utf-8"))
        if (record["corpus"], record["settings"]) == (digest, SETTINGS):
            return tuple(map(tuple, record["groups"]))
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        pass
    found = _found(ws, advance)
    if keep:
        record = {"corpus": digest, "settings": SETTINGS, "groups": found}
        write_file(kept, json.dumps(record, ensure_ascii=False) + "\n")
    return found


def sketches_of(group: tuple[Path, int]) -> Sketches:
    """The sketches of one group of rows."""
    import numpy

    table = papers.group_table(*group, ("title", "sentences"))
    parts = [sketch(*shingles(batch.column("sentences"))) for batch in table.to_batches(max_chunksize=1_000)]
    titles = marks_of((Paper("", title, ()) for title in table.column("title").to_pylist()), None).title
    return Sketches(titles, numpy.concatenate([numpy.zeros((0, BANDS), numpy.uint64), *parts]))


def shingles_of(rows: tuple[Path, int, NDArray[numpy.int64]]) -> list[NDArray[numpy.uint64]]:
    """The different shingles of some rows of a group."""
    import numpy

    path, group, places = rows
    chosen = papers.group_table(path, group, ("sentences",)).take(places).column(0).combine_chunks()
    hashes, bounds = shingles(chosen)
    return [numpy.unique(hashes[bounds[at] : bounds[at + 1]]) for at in range(len(places))]


def _found(ws: Workspace, advance: Advance) -> Groups:
    import numpy

    each = each_on(ws.settings.machine)
    shards = papers.each_group(ws.corpus)
    sketches = []
    for one in each(sketches_of, shards):
        sketches.append(one)
        advance(len(sketches), len(shards))
    pairs = candidates(sketches)
    wanted = numpy.unique(pairs)
    ends = numpy.cumsum([len(one.title) for one in sketches])
    cuts = numpy.split(wanted, numpy.searchsorted(wanted, ends))[: len(shards)]
    rows = [
        (*shard, cut - (end - len(one.title)))
        for shard, cut, end, one in zip(shards, cuts, ends, sketches, strict=True)
        if len(cut)
    ]
    sets = (one for some in each(shingles_of, rows) for one in some)
    by_place = dict(zip(wanted.tolist(), sets, strict=True))
    titles = numpy.concatenate([one.title for one in sketches])
    found = groups(pairs, titles, by_place)
    ids = ids_at(ws.corpus, [place for group in found for place in group])
    return tuple(tuple(ids[place] for place in group) for group in found)
