"""Sentence labels for the corpus, and training a labeller of one's own."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import chain
from pathlib import Path
from tempfile import TemporaryFile

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from annot.base.errors import InputError
from annot.base.parallel import Engine, map_shards
from annot.base.records import Advance, Source
from annot.base.settings import Settings
from annot.corpus import corpus_facts, labelling, query_sentences
from annot.formats.input_files import content_of
from annot.formats.paper_text import ENGLISH, language_code, language_name
from annot.publishing.report.tables import sentences
from annot.ranking.index import is_english
from annot.store import facet_labels, papers, pools, runs
from annot.store.models import ImportedSource
from annot.study.provenance import note, states_of
from annot.study.workspace import Workspace, given_text, write_file

LABELLED = pa.schema(
    [("paper_id", pa.string()), ("labels", pa.string()), ("carried", pa.bool_()), ("agreeing", pa.int64())]
)
"""Labels of papers: joined by commas, null for a paper that came without labels and got none; whether the paper came
with them; and the number of its sentences whose carried label the model gives, too."""


@lru_cache(maxsize=1)
def labeller_of(model: bytes, name: str) -> labelling.Labeller:
    """The labeller of a model file, made once in each process."""
    return labelling.Labeller(model, name=name)


def label_shard(
    shard: papers.RowGroups, *, model: bytes, name: str, labels: Sequence[str], fits: bool
) -> pa.RecordBatch:
    """The labels of the papers of a shard, as in `LABELLED`: labels that a paper came with are kept, all others are
    predicted, if the model fits the study.

    name: of the model, in messages. labels: those of the study. Raises InputError when a paper came with a label that
    the study does not have.
    """
    batches = list(papers.read_columns([shard], ("paper_id", "sentences", "labels")))
    ids, sentences, carried_labels = (pa.concat_arrays([batch.column(at) for batch in batches]) for at in range(3))
    has_labels = carried_labels.is_valid().to_numpy(zero_copy_only=False)
    counts = pc.list_value_length(sentences).to_numpy().astype(np.int64)
    paper_of = np.repeat(np.arange(len(counts)), counts)
    carried = has_labels[paper_of]
    known = pc.index_in(carried_labels.flatten(), value_set=pa.array(labels, pa.string()))
    if known.null_count:
        at = pc.index(known.is_null(), value=True).as_py()
        raise InputError(
            f"paper {ids[int(paper_of[carried][at])]} came with the label {carried_labels.flatten()[at].as_py()!r}, "
            f"expected one of {', '.join(labels)}",
            hint="add the label to [labels] in annot.toml, or add the papers to a new study",
        )
    codes = np.zeros(len(paper_of), np.int64)
    codes[carried] = known.to_numpy()
    agreeing: labelling.Ints = np.zeros(len(ids), np.int64)
    if fits:
        labeller = labeller_of(model, name)
        place = np.array([labels.index(label) for label in labeller.labels])
        predicted = place[labeller.label_all(sentences.flatten().to_pylist(), counts)]
        agreeing = np.bincount(paper_of[carried & (predicted == codes)], minlength=len(ids)).astype(np.int64)
        codes[~carried] = predicted[~carried]
    offsets = pa.array(np.concatenate(([0], np.cumsum(counts))), pa.int32())
    joined = pc.binary_join(pa.ListArray.from_arrays(offsets, pa.array(labels).take(pa.array(codes))), ",")
    if not fits:
        joined = pc.if_else(pa.array(has_labels), joined, pa.scalar(None, pa.string()))
    return pa.RecordBatch.from_arrays([ids, joined, pa.array(has_labels), pa.array(agreeing)], schema=LABELLED)


def labels_in(batch: pa.RecordBatch, *, predicted_by: str) -> Iterator[facet_labels.FacetLabels]:
    """The labels of the papers that have any. predicted_by: the origin of those that the papers did not come with."""
    for paper_id, joined, carried, _ in zip(*(column.to_pylist() for column in batch.columns), strict=True):
        if joined is not None:
            labels = tuple(joined.split(",")) if joined else ()
            yield facet_labels.FacetLabels(paper_id, labels, Source.CARRIED if carried else predicted_by)


SHA_PREFIX = 12
NO_LABELS = "no sentence labels of the study"
"""Reason for which papers left the corpus, next to the reasons for which others are not in it."""


@dataclass(frozen=True, slots=True)
class LabellingResult:
    """Result of `annot facets`. `agreement` is the share of carried labels that the model gives too.

    No model was used if every paper came with labels and the shipped model gives other labels.
    """

    papers: int
    by_origin: dict[str, int]
    by_earlier_run: int
    """Papers that keep the labels that this model gave them before, whatever it would give them now."""
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


class _LabelCounts:
    """Counts of papers and sentences by their labels, with those on record that people corrected."""

    def __init__(self, ws: Workspace) -> None:
        self._facets = ws.settings.facets
        with ws.reading() as session:
            corrected = facet_labels.read_labels(session, origin=Source.CORRECTED)
            self.corrected = {paper.paper_id: paper for paper in corrected}
        self.labels, self.facets, self.origins = Counter[str](), Counter[str](), Counter[str]()
        self.bare: list[str] = []
        """Papers that came without labels and got none."""
        self.agreeing = self.carried = 0
        """Sentences that came with a label: those whose label the model gives too, and all of them."""

    @property
    def agreement(self) -> float | None:
        """The share of carried labels that the model gives too; None if there are none."""
        return self.agreeing / self.carried if self.carried else None

    def take(self, labelled: Iterable[facet_labels.FacetLabels]) -> None:
        """Count these papers, corrected ones with the labels that a person gave."""
        for paper in (self.corrected.get(paper.paper_id, paper) for paper in labelled):
            self.labels.update(paper.labels)
            self.facets.update(query_sentences.offered_facets(paper.labels, facets=self._facets))
            self.origins[paper.origin] += 1

    def take_batch(self, batch: pa.RecordBatch, *, predicted_by: str, fits: bool) -> None:
        """Count the papers of a shard, as in `LABELLED`. fits: whether the model gives the labels of the study."""
        self.take(labels_in(batch, predicted_by=predicted_by))
        self.bare += batch.filter(batch["labels"].is_null())["paper_id"].to_pylist()
        if fits:
            carried = batch["labels"].filter(batch["carried"]).to_pylist()
            self.carried += sum(len(joined.split(",")) for joined in carried if joined)
            self.agreeing += pc.sum(batch["agreeing"]).as_py() or 0


FEWEST_FOR_PROCESSES = 20_000
"""Papers below which a process of its own, with its model, costs more than it saves."""


def _engine_for(ws: Workspace, papers: int) -> Engine:
    """Engine of the machine; few papers are labelled in this process."""
    engine = Engine.of(ws.machine)
    return Engine(1) if engine.cluster is None and papers < FEWEST_FOR_PROCESSES else engine


def _without_labels(
    ws: Workspace, shards: Iterable[papers.RowGroups], predicted_by: str, counts: _LabelCounts, kept: set[str]
) -> Iterator[papers.RowGroups]:
    """The shards that the model has not labelled as they are now, or with a paper that came with labels: of these the
    model's agreement is counted. The papers of all others are counted, and their ids join `kept`."""
    for shard in shards:
        ids, bare = list[str](), True
        for batch in papers.read_columns([shard], ("paper_id", "labels")):
            bare &= batch.column(1).null_count == len(batch)
            ids += batch.column(0).to_pylist()
        with ws.reading() as session:
            recorded = facet_labels.read_labels(session, ids if bare else ())
            known = [row for row in recorded if row.origin in (predicted_by, Source.CORRECTED)]
        if not bare or len(known) < len(ids):
            yield shard
        else:
            counts.take(known)
            kept.update(ids)


def label(ws: Workspace, *, model: Path | None, dry_run: bool, advance: Advance) -> LabellingResult:
    """Label the papers: labels that came with a paper and corrected ones are kept, and so are those on record that this
    model predicted; a text that is corrected loses its labels. The papers of a row group are labelled together.

    If the shipped model gives other labels than those of the study, all labels on record are kept, and the papers
    without labels are named. Raises InputError if no paper came with labels then.
    """
    raw, name = _model(model)
    labeller = labeller_of(raw, name)
    misfit = _misfit(labeller, model, ws.settings.labels.names)
    if misfit and model is not None:
        raise misfit
    predicted_by = f"{Source.PREDICTED}:{labeller.sha256[:SHA_PREFIX]}"
    reader = partial(label_shard, model=raw, name=name, labels=ws.settings.labels.names, fits=misfit is None)
    shards = papers.groups_for(ws.corpus, ws.machine.url)
    total = sum(shard.papers for shard in shards)
    states = states_of(ws)
    counts, kept = _LabelCounts(ws), set[str]()
    to_label = list(_without_labels(ws, shards, predicted_by, counts, kept))
    engine = _engine_for(ws, total - len(kept))
    # All are predicted before the first is written: that takes minutes, in which others may write.
    with TemporaryFile(dir=None if dry_run else ws.root) as aside:
        with pa.ipc.new_stream(aside, LABELLED) as stream:
            for batch in map_shards(reader, to_label, engine=engine):
                stream.write_batch(batch)
                counts.take_batch(batch, predicted_by=predicted_by, fits=misfit is None)
                advance(counts.origins.total() + len(counts.bare), total)
        if misfit and not counts.origins.total():
            raise misfit
        if not dry_run:
            aside.seek(0)
            with ws.writing() as session, pa.ipc.open_stream(aside) as batches:
                labelled = chain.from_iterable(map(partial(labels_in, predicted_by=predicted_by), batches))
                facet_labels.replace_labels(session, labelled, keep=None if misfit else kept)
    with ws.reading() as session:
        on_record = {paper.paper_id: paper for paper in facet_labels.read_labels(session, counts.bare)}
    counts.take(on_record.values())
    without = tuple(paper_id for paper_id in counts.bare if paper_id not in on_record)
    if not (dry_run or without):
        note(ws, "facets", states)
    return LabellingResult(
        papers=total - len(without),
        by_origin=dict(sorted(counts.origins.items())),
        by_earlier_run=len(kept - counts.corrected.keys()),
        by_label=dict(sorted(counts.labels.items())),
        by_facet={facet: counts.facets[facet] for facet in ws.settings.facets},
        model=None if misfit else labeller.name,
        model_sha256=None if misfit else labeller.sha256,
        carried_sentences=counts.carried,
        agreement=counts.agreement,
        without=without,
        misfit=misfit.message if misfit and without else None,
    )


def model_notes(ws: Workspace, model: Path | None) -> tuple[str, ...]:
    """Sentences on what the shipped model was trained on and what to do instead; none if it labels no paper."""
    shards = papers.groups_for(ws.corpus, ws.machine.url)
    if model is not None or not any(batch.column(0).null_count for batch in papers.read_columns(shards, ("labels",))):
        return ()
    stated = language_code(ws.settings.collection.language)
    other = "another script than Latin" if stated == ENGLISH else language_name(stated)
    return sentences("commands.shipped_model", language=None if is_english(ws) else other)


def leave_out(ws: Workspace, *, dry_run: bool) -> tuple[tuple[str, ...], int]:
    """Take the papers that have no sentence labels out of the corpus; these papers, and the number of those that stay.

    Raises InputError, and takes none, if one of them is a query paper or in a pool, or if no paper has labels.
    """
    with ws.reading() as session:
        labelled = facet_labels.labelled_ids(session)
        drawn = pools.read_pools(session).values()
        used = {entry.doc_id for pool in drawn for entry in pool.entries}
        used |= {query.topic_id for query in pools.read_queries(session)}
    unlabelled = [paper_id for paper_id in papers.paper_ids(ws.corpus) if paper_id not in labelled]
    if not labelled:
        raise InputError(
            "no paper has sentence labels, so all papers would be removed", hint="label them with `annot facets`"
        )
    if faults := [f"{paper_id}: a query paper, or in a pool" for paper_id in unlabelled if paper_id in used]:
        hint = "label them: `annot facets train FILE --out model.xz`, then `annot facets --model model.xz`"
        raise InputError("these papers without sentence labels cannot be removed", faults=faults, hint=hint)
    if unlabelled and not dry_run:
        papers.remove_papers(ws.corpus, unlabelled)
        corpus_facts.write_corpus_manifest(ws)
        digest = hashlib.sha256("\n".join(sorted(unlabelled)).encode()).hexdigest()
        facts = {"read": 0, "kept": 0, "rejected": {NO_LABELS: len(unlabelled)}}
        ws.write(runs.put_import, ImportedSource(Source.CORPUS, digest, facts))
        note(ws, "facets", states_of(ws))
    return tuple(unlabelled), len(labelled)


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
    model_name = "the model that comes with annot" if model is None else f"{model}: the model"
    return InputError(
        f"{model_name} gives other labels than those of the study: found {', '.join(sorted(labels_of_model))}, "
        f"expected {', '.join(labels)}",
        hint="train a model on abstracts with these labels (`annot facets train FILE --out model.xz`) and use it "
        "(`annot facets --model model.xz`); or change [labels] in annot.toml",
    )


def _read(path: Path, labels: Sequence[str] | None) -> tuple[labelling.LabelledAbstract, ...]:
    text = given_text(path, expected="labelled abstracts as JSON Lines")
    return labelling.read_labelled(text.split("\n"), name=str(path), known_labels=labels)
