"""Sentence labels for one shard of the corpus, in whole columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import IO, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from annot.base.errors import InputError
from annot.base.records import Source
from annot.corpus.facets.attributes import Ints
from annot.corpus.facets.crf import Labeller
from annot.store.facet_labels import FacetLabels
from annot.store.papers import RowGroups, read_columns


class LabelledShard(NamedTuple):
    """The labels of the papers of one shard, and how many there are of each kind."""

    papers: pa.RecordBatch
    """Record batch: `paper_id`; `labels`, joined by commas; `carried`, true where the paper came with them."""
    by_label: Counter[str]
    """Sentences of each label."""
    by_facet: Counter[str]
    """Papers with at least one sentence of the facet."""
    carried: Counter[bool]
    """Sentences that came with a label: those whose label the model gives too (true), and the others."""
    without: tuple[str, ...]
    """Papers that came without labels and got none, since the model gives others than those of the study."""


@lru_cache(maxsize=1)
def labeller_of(model: bytes, name: str) -> Labeller:
    """The labeller of a model file, made once in each process."""
    return Labeller(model, name=name)


@dataclass(frozen=True)
class LabelShard:
    """Labels the papers of a shard: labels that a paper came with are kept, all others are predicted."""

    model: bytes
    """The model file."""
    name: str
    """Its name, in messages."""
    labels: Sequence[str]
    """The labels of the study."""
    facets: Mapping[str, Sequence[str]]
    """The labels of each facet; a facet without labels is the whole abstract."""
    misfit: InputError | None
    """Why the model cannot label this study: then only labels that papers came with are kept."""

    def __call__(self, shard: RowGroups) -> LabelledShard:
        """Raises InputError when a paper came with a label that the study does not have."""
        batches = list(read_columns([shard], ("paper_id", "sentences", "labels")))
        ids, sentences, given = (pa.concat_arrays([batch.column(at) for batch in batches]) for at in range(3))
        came = given.is_valid().to_numpy(zero_copy_only=False)
        without: tuple[str, ...] = ()
        if self.misfit:
            without = tuple(ids.filter(pa.array(~came)).to_pylist())
            ids, sentences, given = (column.filter(pa.array(came)) for column in (ids, sentences, given))
            came = np.ones(len(ids), bool)
        counts = pc.list_value_length(sentences).to_numpy(zero_copy_only=False).astype(np.int64)
        paper_of = np.repeat(np.arange(len(counts)), counts)
        names = pa.array(self.labels, pa.string())
        carried = came[paper_of]
        codes = np.zeros(len(paper_of), np.int64)
        codes[carried] = self._known(given.flatten(), names, ids.filter(pa.array(came)), counts[came])
        agreement: Counter[bool] = Counter()
        if not self.misfit:
            predicted = self._predicted(sentences.flatten().to_pylist(), counts)
            agreement.update((predicted == codes)[carried].tolist())
            codes[~carried] = predicted[~carried]
        offsets = pa.array(np.concatenate(([0], np.cumsum(counts))), pa.int32())
        joined = pc.binary_join(pa.ListArray.from_arrays(offsets, names.take(pa.array(codes))), ",")
        return LabelledShard(
            pa.RecordBatch.from_arrays([ids, joined, pa.array(came)], ["paper_id", "labels", "carried"]),
            Counter(dict(zip(self.labels, np.bincount(codes, minlength=len(self.labels)).tolist(), strict=True))),
            Counter({facet: self._offering(facet, codes, paper_of) for facet in self.facets}),
            agreement,
            without,
        )

    def _known(self, given: pa.Array, names: pa.Array, ids: pa.Array, counts: Ints) -> Ints:
        """Positions of the given labels in those of the study."""
        codes = pc.index_in(given, value_set=names)
        if codes.null_count:
            at = int(np.flatnonzero(codes.is_null().to_numpy(zero_copy_only=False))[0])
            paper = ids[int(np.searchsorted(np.cumsum(counts), at, side="right"))]
            raise InputError(
                f"paper {paper} came with the label {given[at].as_py()!r}, expected one of {', '.join(self.labels)}",
                hint="add the label to [labels] in annot.toml; or add the papers to a new study",
            )
        return np.asarray(codes.to_numpy(zero_copy_only=False))

    def _predicted(self, sentences: Sequence[str], counts: Ints) -> Ints:
        labeller = labeller_of(self.model, self.name)
        place = np.array([self.labels.index(label) for label in labeller.labels])
        return np.asarray(place[labeller.label_all(sentences, counts)])

    def _offering(self, facet: str, codes: Ints, paper_of: Ints) -> int:
        wanted = self.facets[facet] or self.labels
        of_facet = np.isin(codes, [self.labels.index(label) for label in wanted])
        return len(np.unique(paper_of[of_facet]))


def write_labels(file: IO[bytes], shards: Iterable[pa.RecordBatch]) -> None:
    """Put the labels of shards aside in a file, so that memory does not have to hold them."""
    fields = [("paper_id", pa.string()), ("labels", pa.string()), ("carried", pa.bool_())]
    with pa.ipc.new_stream(file, pa.schema(fields)) as stream:
        for shard in shards:
            stream.write_batch(shard)


def labels_in(file: IO[bytes], *, predicted_by: str) -> Iterator[FacetLabels]:
    """The labels that were put aside; `predicted_by` is the origin of those that the papers did not come with."""
    file.seek(0)
    with pa.ipc.open_stream(file) as stream:
        for shard in stream:
            for paper_id, joined, carried in zip(*(column.to_pylist() for column in shard.columns), strict=True):
                labels = tuple(joined.split(",")) if joined else ()
                yield FacetLabels(paper_id, labels, Source.CARRIED if carried else predicted_by)
