"""The papers of one title or of nearly one text: found once for a corpus, and kept by its hash."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from annot.base.records import Advance
from annot.corpus.corpus_facts import current_sha256
from annot.corpus.corpus_filters import title_mark
from annot.corpus.near_duplicates import BANDS, SETTINGS, Sketches, candidates, groups, shingles, sketch, together
from annot.ranking.index import each_on
from annot.store import papers
from annot.store.papers import RowGroups, groups_for, ids_at
from annot.study.workspace import Workspace, write_file

Groups = tuple[tuple[str, ...], ...]
"""Ids of papers, each group in the order of the corpus."""


class NearDuplicates(NamedTuple):
    """The papers of a corpus that are alike."""

    texts: Groups
    """Near-duplicates of one another: a pool has one of a group."""
    titles: Groups
    """Papers of one normalised title, whichever texts they have; titles are compared by hashes of 64 bits."""

    def of_same_title(self, query_papers: Iterable[str]) -> dict[str, tuple[str, ...]]:
        """Other papers with the title of each query paper: they never enter its pool."""
        group_of = {doc_id: group for group in self.titles for doc_id in group}
        return {name: tuple(doc_id for doc_id in group_of.get(name, ()) if doc_id != name) for name in query_papers}


def near_duplicates(ws: Workspace, *, keep: bool, advance: Advance) -> NearDuplicates:
    """Papers that are alike: from the cache, or else computed, and with `keep` cached."""
    digest = current_sha256(ws, keep=False)
    path = ws.cache / "near-duplicates" / f"{digest[:16]}.json"
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        if (record["corpus"], record["settings"]) == (digest, SETTINGS):
            return NearDuplicates(*(tuple(map(tuple, record[name])) for name in NearDuplicates._fields))
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        pass
    duplicates = _found(ws, advance)
    if keep:
        record = {"corpus": digest, "settings": SETTINGS, **duplicates._asdict()}
        write_file(path, json.dumps(record, ensure_ascii=False) + "\n")
    return duplicates


def sketches_of(group: RowGroups) -> Sketches:
    """The sketches of one group of rows."""
    import pyarrow

    table = pyarrow.Table.from_batches(papers.read_columns([group], ("title", "sentences", papers.PART_OF)))
    parts = [sketch(*shingles(batch.column("sentences"))) for batch in table.to_batches(max_chunksize=1_000)]
    titles = np.array(list(map(title_mark, table.column("title").to_pylist())), np.uint64)
    passage = np.zeros(len(titles), np.bool_)
    if papers.PART_OF in table.column_names:
        passage = table.column(papers.PART_OF).is_valid().to_numpy()
    return Sketches(titles, np.concatenate([np.zeros((0, BANDS), np.uint64), *parts]), passage)


def shingles_of(rows: tuple[RowGroups, NDArray[np.int64]]) -> list[NDArray[np.uint64]]:
    """The different shingles of some rows of a group."""
    import pyarrow

    group, places = rows
    batches = papers.read_columns([group], ["sentences"])
    chosen = pyarrow.Table.from_batches(batches).take(places).column(0).combine_chunks()
    hashes, bounds = shingles(chosen)
    return [np.unique(hashes[bounds[place] : bounds[place + 1]]) for place in range(len(places))]


def _found(ws: Workspace, advance: Advance) -> NearDuplicates:
    each = each_on(ws.machine)
    shards = groups_for(ws.corpus, ws.machine.url)
    sketches = []
    for sketch_of_shard in each(sketches_of, shards):
        sketches.append(sketch_of_shard)
        advance(len(sketches), len(shards))
    pairs = candidates(sketches)
    places = np.unique(pairs)
    ends = np.cumsum([len(part.title) for part in sketches])
    cuts = np.split(places, np.searchsorted(places, ends))[: len(shards)]
    rows = [
        (shard, cut - (end - len(part.title)))
        for shard, cut, end, part in zip(shards, cuts, ends, sketches, strict=True)
        if len(cut)
    ]
    sets = (shingle_set for some in each(shingles_of, rows) for shingle_set in some)
    by_place = dict(zip(places.tolist(), sets, strict=True))
    titles = np.concatenate([part.title for part in sketches])
    title_marks = np.where(np.concatenate([part.passage for part in sketches]), np.uint64(0), titles)
    group_sets = (groups(pairs, title_marks, by_place), together(titles))
    ids = ids_at(ws.corpus, [place for group_set in group_sets for group in group_set for place in group])
    return NearDuplicates(
        *(tuple(tuple(ids[place] for place in group) for group in group_set) for group_set in group_sets)
    )
