"""Sentence labels for the corpus, and training a labeller of one's own."""

from __future__ import annotations

import hashlib
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from annot.base.errors import InputError
from annot.base.parallel import Engine, map_shards
from annot.base.records import Advance, Source
from annot.base.settings import Settings
from annot.corpus import corpus_facts, labelling, query_sentences
from annot.formats.input_files import content_of
from annot.store import facet_labels, papers, pools, runs
from annot.store.models import ImportedSource
from annot.study.provenance import note, states_of
from annot.study.workspace import Workspace, given_text, write_file

if TYPE_CHECKING:
    from pyarrow import RecordBatch


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
def labeller_of(model: bytes, name: str) -> labelling.Labeller:
    """The labeller of a model file, made once in each process."""
    return labelling.Labeller(model, name=name)


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
    """Reason why the model cannot label this study: then only labels that papers came with are kept."""

    def __call__(self, shard: papers.RowGroups) -> LabelledShard:
        """Raises InputError when a paper came with a label that the study does not have."""
        batches = list(papers.read_columns([shard], ("paper_id", "sentences", "labels")))
        ids, sentences, carried_labels = (pa.concat_arrays([batch.column(at) for batch in batches]) for at in range(3))
        came = carried_labels.is_valid().to_numpy(zero_copy_only=False)
        without: tuple[str, ...] = ()
        if self.misfit:
            without = tuple(ids.filter(pa.array(~came)).to_pylist())
            ids, sentences, carried_labels = (
                column.filter(pa.array(came)) for column in (ids, sentences, carried_labels)
            )
            came = np.ones(len(ids), bool)
        counts = pc.list_value_length(sentences).to_numpy().astype(np.int64)
        paper_of = np.repeat(np.arange(len(counts)), counts)
        names = pa.array(self.labels, pa.string())
        carried = came[paper_of]
        codes = np.zeros(len(paper_of), np.int64)
        codes[carried] = self._known(carried_labels.flatten(), names, ids.filter(pa.array(came)), counts[came])
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

    def _known(self, given: pa.Array, names: pa.Array, ids: pa.Array, counts: labelling.Ints) -> labelling.Ints:
        """Positions of the given labels in those of the study."""
        codes = pc.index_in(given, value_set=names)
        if codes.null_count:
            at = pc.index(codes.is_null(), value=True).as_py()
            paper = ids[int(np.searchsorted(np.cumsum(counts), at, side="right"))]
            raise InputError(
                f"paper {paper} came with the label {given[at].as_py()!r}, expected one of {', '.join(self.labels)}",
                hint="add the label to [labels] in annot.toml, or add the papers to a new study",
            )
        return np.asarray(codes.to_numpy())

    def _predicted(self, sentences: Sequence[str], counts: labelling.Ints) -> labelling.Ints:
        labeller = labeller_of(self.model, self.name)
        place = np.array([self.labels.index(label) for label in labeller.labels])
        return np.asarray(place[labeller.label_all(sentences, counts)])

    def _offering(self, facet: str, codes: labelling.Ints, paper_of: labelling.Ints) -> int:
        expected = self.facets[facet] or self.labels
        of_facet = np.isin(codes, [self.labels.index(label) for label in expected])
        return len(np.unique(paper_of[of_facet]))


def write_labels(file: IO[bytes], shards: Iterable[pa.RecordBatch]) -> None:
    """Put the labels of shards aside in a file, so that memory does not have to hold them."""
    fields = [("paper_id", pa.string()), ("labels", pa.string()), ("carried", pa.bool_())]
    with pa.ipc.new_stream(file, pa.schema(fields)) as stream:
        for shard in shards:
            stream.write_batch(shard)


def labels_in(file: IO[bytes], *, predicted_by: str) -> Iterator[facet_labels.FacetLabels]:
    """The labels that were put aside; `predicted_by` is the origin of those that the papers did not come with."""
    file.seek(0)
    with pa.ipc.open_stream(file) as stream:
        for shard in stream:
            for paper_id, joined, carried in zip(*(column.to_pylist() for column in shard.columns), strict=True):
                labels = tuple(joined.split(",")) if joined else ()
                yield facet_labels.FacetLabels(paper_id, labels, Source.CARRIED if carried else predicted_by)


SHA_PREFIX = 12
NO_LABELS = "no sentence labels of the study"
"""Reason for which papers left the corpus, next to the reasons for which others are not in it."""


@dataclass(frozen=True, slots=True)
class LabellingResult:
    """Result of `annot facets`. `agreement` is the share of carried labels that the model gives too.

    Without a model, where every paper came with labels and the shipped model gives others.
    """

    papers: int
    by_origin: dict[str, int]
    by_label: dict[str, int]
    by_facet: dict[str, int]
    """Papers with at least one sentence of the facet."""
    model: str | None
    model_sha256: str | None
    carried_sentences: int
    agreement: float | None
    without: tuple[str, ...] = ()
    """Papers that have no labels: they came with none, and the model gives others than those of the study."""
    misfit: str | None = None
    """Reason why the model cannot label them."""


@dataclass(frozen=True, slots=True)
class TrainedLabeller:
    """A model that was trained, and its scores on held-out abstracts where there were any."""

    path: Path
    abstracts: int
    left_out: int
    """Abstracts not learnt from, since they share a sentence with those held out."""
    size: int
    sha256: str
    scores: labelling.LabelScores | None


def label(ws: Workspace, *, model: Path | None, dry_run: bool, advance: Advance) -> LabellingResult:
    """Label the papers: labels that came with a paper and corrected ones are kept, all others are predicted again.

    If the shipped model gives other labels than those of the study, all labels on record are kept, and the papers
    without labels are named. Raises InputError if no paper came with labels then.
    """
    raw, name = _model(model)
    labeller = labeller_of(raw, name)
    misfit = _misfit(labeller, model, ws.settings.labels.names)
    if misfit and model is not None:
        raise misfit
    predicted_by = f"{Source.PREDICTED}:{labeller.sha256[:SHA_PREFIX]}"
    work = LabelShard(raw, name, ws.settings.labels.names, ws.settings.facets, misfit)
    shards = papers.groups_for(ws.corpus, ws.machine.url)
    total = sum(shard.papers for shard in shards)
    origins, labels, facets, carried = Counter[str](), Counter[str](), Counter[str](), Counter[bool]()
    bare: list[str] = []

    def labelled() -> Iterator[RecordBatch]:
        """The labels of the papers, shard by shard, counted as they pass by."""
        for done in map_shards(work, shards, engine=Engine.of(ws.machine)):
            came = done.papers.column("carried").true_count
            origins.update({Source.CARRIED: came, predicted_by: len(done.papers) - came})
            labels.update(done.by_label)
            facets.update(done.by_facet)
            carried.update(done.carried)
            bare.extend(done.without)
            yield done.papers
            advance(origins.total() + len(bare), total)
        if misfit and not origins.total():
            raise misfit

    states = states_of(ws)
    if dry_run:
        deque(labelled(), maxlen=0)
    else:
        # All are predicted before the first is written: that takes minutes, in which others may write.
        with TemporaryFile(dir=ws.root) as aside:
            write_labels(aside, labelled())
            with ws.writing() as session:
                found = labels_in(aside, predicted_by=predicted_by)
                facet_labels.replace_labels(session, found, keep_others=misfit is not None)
    with ws.reading() as session:
        corrected = facet_labels.count_by_origin(session).get(Source.CORRECTED, 0)
        on_record = {paper.paper_id: paper for paper in facet_labels.read_labels(session, bare)}
    for paper in on_record.values():
        labels.update(paper.labels)
        facets.update(query_sentences.offered_facets(paper.labels, facets=ws.settings.facets))
        origins.update([paper.origin] if paper.origin != Source.CORRECTED else [])
    without = tuple(paper_id for paper_id in bare if paper_id not in on_record)
    if not dry_run and not without:
        note(ws, "facets", states)
    by_origin = +origins | ({Source.CORRECTED: corrected} if corrected else {})
    return LabellingResult(
        papers=total - len(without),
        by_origin=dict(sorted(by_origin.items())),
        by_label=dict(sorted((+labels).items())),
        by_facet={facet: facets[facet] for facet in ws.settings.facets},
        model=None if misfit else labeller.name,
        model_sha256=None if misfit else labeller.sha256,
        carried_sentences=carried.total(),
        agreement=carried[True] / carried.total() if carried else None,
        without=without,
        misfit=misfit.message if misfit and without else None,
    )


def leave_out(ws: Workspace, *, dry_run: bool) -> tuple[tuple[str, ...], int]:
    """Take the papers that have no sentence labels out of the corpus; these papers, and the number of those that stay.

    Raises InputError, and takes none, if one of them is a query paper or in a pool, or if no paper has labels.
    """
    with ws.reading() as session:
        labelled = facet_labels.labelled_ids(session)
        drawn = pools.read_pools(session).values()
        used = {entry.doc_id for pool in drawn for entry in pool.entries}
        used |= {query.topic_id for query in pools.read_queries(session)}
    out = [paper_id for paper_id in papers.paper_ids(ws.corpus) if paper_id not in labelled]
    if not labelled:
        raise InputError(
            "no paper has sentence labels, so all papers would be removed", hint="label them with `annot facets`"
        )
    if faults := [f"{paper_id}: a query paper, or in a pool" for paper_id in out if paper_id in used]:
        hint = "label them: `annot facets train FILE --out model.xz`, then `annot facets --model model.xz`"
        raise InputError("these papers without sentence labels cannot be removed", faults=faults, hint=hint)
    if out and not dry_run:
        papers.remove_papers(ws.corpus, out)
        corpus_facts.write_corpus_manifest(ws)
        digest = hashlib.sha256("\n".join(sorted(out)).encode()).hexdigest()
        facts = {"read": 0, "kept": 0, "rejected": {NO_LABELS: len(out)}}
        with ws.writing() as session:
            runs.put_import(session, ImportedSource(Source.CORPUS, digest, facts))
        note(ws, "facets", states_of(ws))
    return tuple(out), len(labelled)


def train(file: Path, *, out: Path, held_out: Path | None, ws: Workspace | None) -> TrainedLabeller:
    """Train a model on the labelled abstracts of `file` and write it to `out`.

    The labels are those of the study; without a study, the default ones or, where `file` has others, its own.
    """
    if out.is_dir():
        raise InputError(f"{out}: a folder, expected a file for the model")
    labelled = _read(file, None if ws is None else ws.settings.labels.names)
    labels = (Settings() if ws is None else ws.settings).labels.names
    found = sorted({label for abstract in labelled for label in abstract.labels})
    if not set(found) <= set(labels):
        labels = tuple(found)
    checks = _read(held_out, labels) if held_out is not None else ()
    abstracts = labelling.without_held_out(labelled, checks)
    if not abstracts:
        raise InputError(
            f"{file}: every abstract shares a sentence with {held_out}, so no training data are left",
            hint="hold out other abstracts than those for training",
        )
    model = labelling.train(abstracts)
    labeller = labelling.Labeller(model, name=str(out))
    predicted = [labeller.label(abstract.sentences) for abstract in checks]
    scores = labelling.score([abstract.labels for abstract in checks], predicted, labels=labels) if checks else None
    write_file(out, model)
    return TrainedLabeller(out, len(abstracts), len(labelled) - len(abstracts), len(model), labeller.sha256, scores)


def _model(model: Path | None) -> tuple[bytes, str]:
    """The model file's bytes, and its name in messages."""
    if model is None:
        return labelling.shipped_model(), labelling.SHIPPED_MODEL
    return content_of(model, expected="a model made by `annot facets train`"), str(model)


def _misfit(labeller: labelling.Labeller, model: Path | None, labels: Sequence[str]) -> InputError | None:
    """Error for a model whose labels are not those of the study; None if they are.

    A model may lack a label that its training did not have; the shipped one has all of its labels, so it must fit.
    """
    labels_of_model = set(labeller.labels)
    if labels_of_model == set(labels) or (model is not None and labels_of_model <= set(labels)):
        return None
    which = "the model that comes with annot" if model is None else f"{model}: the model"
    return InputError(
        f"{which} gives other labels than those of the study: found {', '.join(sorted(labels_of_model))}, "
        f"expected {', '.join(labels)}",
        hint="train a model on abstracts with these labels (`annot facets train FILE --out model.xz`) and use it "
        "(`annot facets --model model.xz`); or change [labels] in annot.toml",
    )


def _read(path: Path, labels: Sequence[str] | None) -> tuple[labelling.LabelledAbstract, ...]:
    text = given_text(path, expected="labelled abstracts as JSON Lines")
    return labelling.read_labelled(text.split("\n"), name=str(path), known_labels=labels)
