"""Vectors as a pooling method and a system of their name: from files, or by an encoder; and vectors of words."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from annot.base.errors import InputError
from annot.base.names import check_name, counted, near
from annot.base.records import Advance
from annot.base.shards import Engine
from annot.formats.vector_files import RowCounts
from annot.pools.topics import read_of
from annot.publishing.report.tables import Column, Columns
from annot.publishing.report.words import sentences
from annot.ranking import vectors, wordvectors
from annot.ranking.dense import Metric
from annot.ranking.encoding import EncodedTopics, Encoding, weights_folder
from annot.ranking.given_vectors import (
    SEMANTIC_SCHOLAR,
    Coverage,
    Form,
    KeptRows,
    WordsForm,
    blocks_of,
    coverage_of,
    read_word_vectors,
)
from annot.ranking.index import open_index
from annot.ranking.paper_vectors import check_replaceable, check_set_name, only_space
from annot.ranking.systems.abstracts import SYSTEMS
from annot.ranking.systems.encoders import PaperReading, metric_of, open_paper_encoder, open_topic_encoder, reading_of
from annot.ranking.systems.weights import EncoderWeights, digest_of
from annot.ranking.vectors import Precision, VectorsWriter
from annot.store.papers import paper_ids
from annot.store.queries import read_topics
from annot.study.workspace import Workspace, check_files, sha256_of

KNOWN: dict[str, EncoderWeights] = {system.name: system.weights for system in SYSTEMS if system.weights is not None}
LACKING = 10
"""Frequent words without a vector that are named."""
ENOUGH = 0.9
"""The share of running words with a vector below which the lead is warned: then every tenth word counts for nothing."""


@dataclass(frozen=True, slots=True)
class ImportedVectors:
    """A set of vectors, and what became of the rows of its files."""

    name: str
    space: str
    metric: Metric
    precision: Precision
    dimensions: int
    kept: int
    zero: int
    """Of these, the vectors of zeros, which never rank."""
    missing: int
    """Papers of the corpus without a vector."""
    foreign: int
    """Rows of papers that are not in the corpus."""
    duplicate: int
    """Repeated rows of a paper; the first is kept."""
    differing: int
    """Of these, the ones with other numbers."""
    not_finite: int
    broken: int
    """Lines that hold no vector."""
    notes: tuple[str, ...]


def add_files(
    ws: Workspace,
    name: str,
    files: Sequence[Path],
    *,
    form: Form,
    space: str | None,
    model: str | None,
    metric: str,
    half: bool,
    dry_run: bool,
    advance: Advance,
) -> ImportedVectors:
    """Keep the vectors of the corpus's papers under this name, in place of those of the same space that it had.

    A topic that is a text may have a row of its id, or, where a paper has that id, of the word `topic`, a space and it.

    space: the one the vectors lie in; None if the files or the name of the set tell it. half: keep half precision.
    Raises InputError when the files are not of the format, differ in width or space, or hold no paper of the corpus.
    """
    check_set_name(name)
    compared = _metric(metric)
    check_files([*files, *filter(None, [form.ids])])
    if form.ids is not None and len(files) > 1:
        raise InputError(f"--ids: found {len(files)} files of vectors, expected one")
    papers = frozenset(paper_ids(ws.corpus))
    name_of = {
        f"topic {topic_id}" if topic_id in papers else topic_id: vectors.topic_name(topic_id, text)
        for topic_id, text in _topics(ws).items()
    }
    wanted = papers | name_of.keys()
    tally = RowCounts()
    own_space = None if SEMANTIC_SCHOLAR in map(form.of, files) else only_space(ws, name)
    precision: Precision = "float16" if half else "float32"
    kept = KeptRows(ws, name, tally, asked_space=space, own_space=own_space, precision=precision)
    writer = VectorsWriter(ws.vectors / name, most=len(wanted), precision=kept.precision)
    with nullcontext() if dry_run else writer:
        for block in blocks_of(files, form, wanted, tally, advance):
            ids, rows = kept.take(block)
            if ids and not dry_run:
                writer.add([name_of.get(one, one) for one in ids], rows)
        if not kept.ids:
            raise InputError(
                f"{name}: {counted(len(files), 'file')} without vectors for papers in the corpus "
                f"({tally.foreign} for other papers, {kept.not_finite} not finite in {kept.precision})",
                faults=tally.examples,
                hint="check that the ids are those of the corpus; in half precision, 65,504 is the largest number",
            )
        if not dry_run:
            sources = {path.name: sha256_of(path) for path in files}
            writer.about = {"model": model or kept.space, "space": kept.space, "metric": metric, "sources": sources}
    return ImportedVectors(
        name,
        kept.space,
        compared,
        kept.precision,
        kept.dimensions,
        kept=len(kept.ids),
        zero=kept.zero,
        missing=len(papers - kept.ids.keys()),
        foreign=tally.foreign,
        duplicate=kept.duplicate,
        differing=kept.differing,
        not_finite=kept.not_finite,
        broken=tally.broken,
        notes=tuple(tally.examples),
    )


@dataclass(frozen=True, slots=True)
class ImportedWordVectors:
    """A file of word vectors in figures."""

    form: WordsForm
    dimensions: int
    kept: int
    unusable: int
    """Words that no text has once it is lower-cased and cut into words."""
    not_finite: int
    sha256: str
    coverage: Coverage | None
    """Of the corpus's text; None if there is no corpus yet."""


def add_words(ws: Workspace, file: Path, *, dry_run: bool, advance: Advance) -> ImportedWordVectors:
    """Keep the word vectors of a file, in place of those that were imported before; none are trained from then on.

    To tell how much of the corpus they cover, its index is made where it is missing.
    """
    check_files([file])
    read = read_word_vectors(file)
    coverage = None
    if any(ws.corpus.glob("*.parquet")):
        with TemporaryDirectory(prefix="annot-") as scratch:
            index = open_index(ws, methods=(), advance=advance, scratch=Path(scratch) if dry_run else None)
            coverage = coverage_of(index.inputs.corpus, read.vectors, most=LACKING)
    if not dry_run:
        wordvectors.save(read.vectors, ws.word_vectors)
    rows, dimensions = read.vectors.matrix.shape
    return ImportedWordVectors(
        read.form, dimensions, rows, read.unusable, read.not_finite, str(read.vectors.facts["sha256"]), coverage
    )


def word_notes(imported: ImportedWordVectors) -> tuple[str, ...]:
    """Which frequent words have no vector, and what to do where these are many."""
    return sentences("commands.word_vectors", coverage=imported.coverage, enough=ENOUGH)


@dataclass(frozen=True, slots=True)
class EncodedPapers:
    """A set of vectors that an encoder made."""

    name: str
    model: str
    space: str
    metric: Metric
    precision: Precision
    device: str
    papers: int
    topics: int
    """Topics that are texts; each has a vector, too."""
    encoded: int
    """Papers encoded now, or in a dry run to be encoded; the others had been before."""
    path: Path


class Model(NamedTuple):
    """Weights, and how they are read."""

    folder: Path
    reading: PaperReading
    name: str
    space: str


def encode(
    ws: Workspace,
    name: str,
    *,
    model: str,
    metric: str | None,
    half: bool,
    device: str | None,
    batch: int,
    dry_run: bool,
    advance: Advance,
) -> EncodedPapers:
    """Encode every paper that has no vector yet by this encoder; a killed run goes on.

    model: an encoder that is known by name, a folder of weights, or a model in the hub's cache. half: keep half
    precision, and on a GPU compute in it. device: as torch names it; None is a GPU where there is one.
    """
    check_set_name(name)
    asked = None if metric is None else _metric(metric)
    found = _model(ws, name, model)
    check_replaceable(ws, name, found.space, encoded=True)
    kind = _device(device, found.folder)
    on_gpu = not kind.startswith("cpu")
    precision: Precision = "float16" if half else "float32"
    facts: dict[str, Any] = {
        "encoder": found.name, "weights_sha256": digest_of(found.folder), "reading": found.reading,
        "device": kind.partition(":")[0], "batch": batch, "computed_in": "float16" if half and on_gpu else "float32",
    }  # fmt: skip
    compared = asked or metric_of(found.folder, found.reading)
    encoding = Encoding(ws, name, facts=facts, precision=precision)
    texts = _topics(ws)
    opened: dict[str, Any] = {"device": kind, "half": half and on_gpu, "batch": batch}
    place = found.folder.resolve()
    if dry_run:
        kept, papers = encoding.count()
        encoded = papers - kept
    else:
        papers, encoded = encoding.run(
            partial(open_paper_encoder, place, found.reading, **opened),
            topics=EncodedTopics(texts, partial(open_topic_encoder, place, found.reading, **opened)) if texts else None,
            engine=Engine.of(ws.machine),
            about={"model": found.name, "space": found.space, "metric": compared},
            advance=advance,
        )
    return EncodedPapers(
        name, found.name, found.space, compared, precision, kind, papers, len(texts), encoded, ws.vectors / name
    )


def _topics(ws: Workspace) -> dict[str, str]:
    """What encoders read of the topics that are texts."""
    with ws.reading() as session:
        return read_of(read_topics(session))


def _metric(name: str) -> Metric:
    check_name(name, ("l2", "cosine"), what="--metric")
    return "cosine" if name == "cosine" else "l2"


def _device(asked: str | None, folder: Path) -> str:
    # The libraries load for seconds: only here, once all else is known to be right.
    from annot.ranking.systems.reading import prepare_libraries, usable_device

    prepare_libraries(folder)
    return str(usable_device(asked))


def _model(ws: Workspace, name: str, asked: str) -> Model:
    """Which weights are meant. Raises MissingInput if they are not there, InputError if the name says nothing."""
    known = KNOWN.get(asked)
    if name in KNOWN and asked.count("/") == 1 and asked != KNOWN[name].hub and not Path(asked).is_dir():
        raise InputError(f"--encoder {asked}: {name} is {KNOWN[name].hub}", hint="give the set another name")
    if known is not None:
        return Model(known.find(weights_folder(ws)), "document", known.hub or asked, known.hub or asked)
    own = weights_folder(ws) / asked
    folder = own if own.is_dir() else Path(asked)
    if folder.is_dir():
        return Model(folder, reading_of(folder), folder.resolve().name, f"weights {digest_of(folder)[:12]}")
    if asked.count("/") == 1:
        folder = EncoderWeights(name, asked, "own").find(weights_folder(ws))
        return Model(folder, reading_of(folder), asked, asked)
    raise InputError(
        f"--encoder {asked}: no such folder, and no encoder of this name; {near(asked, KNOWN)}",
        hint="name a folder of weights, or a model in the cache of the hub",
    )


@dataclass(frozen=True, slots=True)
class VectorSet:
    """One set of paper vectors."""

    name: str
    model: str
    space: str
    metric: str
    dimensions: int
    precision: str
    papers: int
    """Papers of the corpus that have a vector."""
    missing: int


SETS = Columns[VectorSet](
    [Column("set", lambda one: one.name)],
    [
        Column("papers", lambda one: one.papers),
        Column("missing", lambda one: one.missing),
        Column("dimensions", lambda one: one.dimensions),
        Column("precision", lambda one: one.precision),
        Column("metric", lambda one: one.metric),
        Column("space", lambda one: one.space),
        Column("model", lambda one: one.model),
    ],
)


def list_sets(ws: Workspace) -> tuple[VectorSet, ...]:
    """Every set in `corpus/vectors/`, by name. Raises InputError when one is damaged."""
    wanted = frozenset(paper_ids(ws.corpus))
    found = []
    for folder in sorted(path for path in ws.vectors.glob("[!.]*") if path.is_dir()):
        loaded = vectors.load(folder, hint=f"correct the files in {folder}, or remove it")
        papers = len(wanted.intersection(loaded.ids.to_pylist()))
        kind = loaded.matrix.dtype.name
        width = int(loaded.matrix.shape[1])
        one = (folder.name, loaded.model, loaded.space, loaded.metric, width, kind, papers, len(wanted) - papers)
        found.append(VectorSet(*one))
    return tuple(found)
