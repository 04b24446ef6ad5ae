"""Vectors of papers and words, and the index of the corpus."""

from __future__ import annotations

import shutil
from collections.abc import Collection, Iterable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from annot.base.array_files import scratch_for
from annot.base.errors import InputError
from annot.base.names import counted, near, sha256_of
from annot.base.parallel import Engine
from annot.base.records import Advance, grouped
from annot.formats.vector_files import RowCounts
from annot.pools.pool_design import design_of_settings, encoded_texts
from annot.publishing.report.tables import Column, Columns, sentences
from annot.ranking import given_vectors, index, search, vectors, word_vectors
from annot.ranking.encoding import CorpusEncoding, weights_folder
from annot.ranking.methods import LSA, known_methods
from annot.ranking.systems import papers, system
from annot.ranking.systems.encoders import PaperReading, metric_of, open_paper_encoder, open_text_encoder, reading_of
from annot.store.papers import paper_ids
from annot.store.pools import read_topics
from annot.study.workspace import Workspace, check_files

# ----------------------------------------------------------------------------------------------------------------------
# Vectors as a pooling method and a system of their name: from files, or by an encoder; and vectors of words.
# ----------------------------------------------------------------------------------------------------------------------


KNOWN: dict[str, system.EncoderWeights] = {
    system.name: system.weights for system in papers.VECTOR_SYSTEMS if system.weights is not None
}
LACKING = 10
"""Frequent words without a vector that are named."""
ENOUGH = 0.9
"""The share of running words with a vector below which the lead is warned: then every tenth word counts for nothing."""


def add_files(
    ws: Workspace,
    name: str,
    files: Sequence[Path],
    *,
    form: given_vectors.Form,
    space: str | None,
    model: str | None,
    metric: search.Metric,
    half: bool,
    dry_run: bool,
    advance: Advance,
) -> given_vectors.ImportedVectors:
    """Keep the vectors of the corpus's papers under this name, in place of those of the same space that it had.

    A topic that is a text may have a row of its id, or, where a paper has that id, of the word `topic`, a space and it.

    space: the one the vectors lie in; None if the files or the name of the set tell it. half: keep half precision.
    Raises InputError when the files are not of the format, differ in width or space, or hold no paper of the corpus.
    """
    given_vectors.check_set_name(name, ws.settings.plugins.names)
    check_files([*files, *filter(None, [form.ids])])
    if form.ids is not None and len(files) > 1:
        raise InputError(f"--ids: found {len(files)} files of vectors, expected one")
    papers = frozenset(paper_ids(ws.corpus))
    name_of = {
        f"topic {topic_id}" if topic_id in papers else topic_id: vectors.topic_name(topic_id, text)
        for topic_id, text in _topics(ws).items()
    }
    names = papers | name_of.keys()
    tally = RowCounts()
    own_space = None if given_vectors.SEMANTIC_SCHOLAR in map(form.of, files) else given_vectors.only_space(ws, name)
    counts = given_vectors.ImportedVectors(name, metric=metric, precision="float16" if half else "float32")
    kept = given_vectors.KeptRows(ws, counts, tally, asked_space=space, own_space=own_space)
    writer = vectors.VectorsWriter(ws.vectors / name, most=len(names), precision=counts.precision)
    with nullcontext() if dry_run else writer:
        for block in given_vectors.blocks_of(files, form, names, tally, advance):
            ids, rows = kept.take(block)
            if ids and not dry_run:
                writer.add([name_of.get(doc_id, doc_id) for doc_id in ids], rows)
        if not kept.ids:
            raise InputError(
                f"{name}: {counted(len(files), 'file')} without vectors for papers in the corpus "
                f"({tally.foreign} for other papers, {counts.not_finite} not finite in {counts.precision})",
                faults=tally.examples,
                hint="check that the ids are those of the corpus; in half precision, 65,504 is the largest number",
            )
        if not dry_run:
            sources = {path.name: sha256_of(path) for path in files}
            writer.about = {"model": model or counts.space, "space": counts.space, "metric": metric, "sources": sources}
    counts.kept, counts.missing = len(kept.ids), len(papers - kept.ids.keys())
    counts.foreign, counts.broken, counts.notes = tally.foreign, tally.broken, tuple(tally.examples)
    return counts


def add_words(ws: Workspace, file: Path, *, dry_run: bool, advance: Advance) -> given_vectors.ImportedWordVectors:
    """Keep the word vectors of a file, in place of those that were imported before; none are trained from then on.

    To tell how much of the corpus they cover, its index is made where it is missing.
    """
    check_files([file])
    with TemporaryDirectory(prefix="annot-") if dry_run else scratch_for(ws.word_vectors) as scratch:
        matrix = Path(scratch) / "matrix.npy"
        read, imported = given_vectors.read_word_vectors(file, english=index.is_english(ws), matrix=matrix)
        if any(ws.corpus.glob("*.parquet")):
            inputs, _ = index.open_index(ws, methods=(), advance=advance, scratch=Path(scratch) if dry_run else None)
            coverage = given_vectors.coverage_of(inputs.corpus, read, most=LACKING)
            imported = replace(imported, coverage=coverage)
        if not dry_run:
            word_vectors.save(read, ws.word_vectors, matrix=matrix)
    return imported


def word_notes(imported: given_vectors.ImportedWordVectors) -> tuple[str, ...]:
    """Note on frequent words without a vector, with a remedy if these are many."""
    return sentences("commands.word_vectors", coverage=imported.coverage, enough=ENOUGH)


@dataclass(frozen=True, slots=True)
class EncodedPapers:
    """A set of vectors that an encoder made."""

    name: str
    model: str
    space: str
    metric: search.Metric
    precision: vectors.Precision
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
    metric: search.Metric | None,
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
    given_vectors.check_set_name(name, ws.settings.plugins.names)
    found = _model(ws, name, model)
    given_vectors.check_replaceable(ws, name, found.space, encoded=True)
    kind = _device(device, found.folder)
    on_gpu = not kind.startswith("cpu")
    precision: vectors.Precision = "float16" if half else "float32"
    facts: dict[str, Any] = {
        "encoder": found.name, "weights_sha256": system.digest_of(found.folder), "reading": found.reading,
        "device": kind.partition(":")[0], "batch": batch, "computed_in": "float16" if half and on_gpu else "float32",
    }  # fmt: skip
    compared = metric or metric_of(found.folder, found.reading)
    encoding = CorpusEncoding(ws, name, facts=facts, precision=precision)
    texts = _topics(ws)
    opened: dict[str, Any] = {"device": kind, "half": half and on_gpu, "batch": batch}
    place = found.folder.resolve()
    if dry_run:
        kept, papers = encoding.count()
        encoded = papers - kept
    else:
        papers, encoded = encoding.run(
            partial(open_paper_encoder, place, found.reading, **opened),
            topics=texts,
            open_topic_encoder=partial(open_text_encoder, place, found.reading, **opened, topics=True),
            engine=Engine.of(ws.machine),
            about={"model": found.name, "space": found.space, "metric": compared},
            advance=advance,
        )
    return EncodedPapers(
        name, found.name, found.space, compared, precision, kind, papers, len(texts), encoded, ws.vectors / name
    )


def _topics(ws: Workspace) -> dict[str, str]:
    """Texts of topics that encoders read."""
    return encoded_texts(ws.read(read_topics))


def _device(device: str | None, folder: Path) -> str:
    # The libraries load for seconds: only here, once all else is known to be right.
    from annot.ranking.systems.encoders import prepare_libraries, usable_device

    prepare_libraries(folder)
    return str(usable_device(device))


def _model(ws: Workspace, name: str, model: str) -> Model:
    """Folder of these weights. Raises MissingInput if they are not there, InputError if the name is unknown."""
    known_model = KNOWN.get(model)
    if name in KNOWN and model.count("/") == 1 and model != KNOWN[name].hub and not Path(model).is_dir():
        raise InputError(f"--encoder {model}: {name} is {KNOWN[name].hub}", hint="give the set another name")
    if known_model is not None:
        return Model(
            known_model.find(weights_folder(ws)), "document", known_model.hub or model, known_model.hub or model
        )
    own_weights = weights_folder(ws) / model
    folder = own_weights if own_weights.is_dir() else Path(model)
    if folder.is_dir():
        return Model(folder, reading_of(folder), folder.resolve().name, f"weights {system.digest_of(folder)[:12]}")
    if model.count("/") == 1:
        folder = system.EncoderWeights(name, model, "own").find(weights_folder(ws))
        return Model(folder, reading_of(folder), model, model)
    raise InputError(
        f"--encoder {model}: no such folder, and no encoder of this name; {near(model, KNOWN)}",
        hint="name a folder of weights, or a model in the cache of the hub",
    )


@dataclass(frozen=True, slots=True)
class VectorSet:
    """A set of paper vectors."""

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
    [Column("set", lambda vector_set: vector_set.name)],
    [
        Column("papers", lambda vector_set: vector_set.papers),
        Column("missing", lambda vector_set: vector_set.missing),
        Column("dimensions", lambda vector_set: vector_set.dimensions),
        Column("precision", lambda vector_set: vector_set.precision),
        Column("metric", lambda vector_set: vector_set.metric),
        Column("space", lambda vector_set: vector_set.space),
        Column("model", lambda vector_set: vector_set.model),
    ],
)


def list_sets(ws: Workspace) -> tuple[VectorSet, ...]:
    """Sets in `corpus/vectors/`, by name. Raises InputError if one is damaged."""
    corpus_ids = frozenset(paper_ids(ws.corpus))
    sets = []
    for folder in sorted(path for path in ws.vectors.glob("[!.]*") if path.is_dir()):
        loaded = vectors.load(folder, hint=f"correct the files in {folder}, or remove it")
        papers = len(corpus_ids.intersection(loaded.ids.to_pylist()))
        kind = loaded.matrix.dtype.name
        width = int(loaded.matrix.shape[1])
        facts = (folder.name, loaded.model, loaded.space, loaded.metric, width, kind, papers, len(corpus_ids) - papers)
        sets.append(VectorSet(*facts))
    return tuple(sets)


# ----------------------------------------------------------------------------------------------------------------------
# The index of the corpus: make it, list it, hold it against its hashes, remove what nothing uses.
# ----------------------------------------------------------------------------------------------------------------------


UNITS = {"K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}


@dataclass(frozen=True, slots=True)
class BuiltIndex:
    """Contents of the index for the methods of annot.toml."""

    methods: tuple[str, ...]
    papers: int | None
    """Number of papers in the index; None in a dry run."""
    missing: tuple[str, ...]
    """New parts of the index, in words."""
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
    [
        Column("part", lambda entry: entry.name),
        Column("made", lambda entry: entry.made),
        Column("used", lambda entry: entry.used),
    ],
    [Column("folders", lambda entry: entry.parts), Column("size", lambda entry: in_words(entry.bytes))],
)


def build(ws: Workspace, *, memory: str, repair: bool, dry_run: bool, advance: Advance) -> BuiltIndex:
    """Build all that the pooling methods of annot.toml need; existing parts are left as they are.

    repair: first check existing parts against their hashes, and rebuild damaged ones.
    """
    wanted = design_of_settings(ws.settings).ranked_methods
    known = known_methods(ws.settings.plugins.names)
    methods = tuple(name for name in wanted if name in known)
    limit = parsed_memory(memory)
    broken = [folder for folder, faults in index.changed_folders(ws).items() if faults] if repair else []
    names = tuple(path.relative_to(ws.cache / "index").as_posix() for path in broken)
    missing = tuple(_missing(ws, methods, without=broken))
    if dry_run:
        return BuiltIndex(methods, None, missing, names)
    for path in broken:
        shutil.rmtree(path)
    inputs, _ = index.open_index(ws, methods=methods, advance=advance, memory=limit)
    return BuiltIndex(methods, len(inputs.corpus), missing, names)


def listed(ws: Workspace) -> tuple[IndexEntry, ...]:
    """Parts of the index: the shards in use are one line, all others another."""

    def kind(part: index.IndexPart) -> tuple[str, bool]:
        return ("shards" if part.path.parent.name == "shards" else _name(ws, part), part.used)

    return tuple(
        IndexEntry(name, len(group), sum(part.bytes for part in group), _day(max(part.made for part in group)), used)
        for (name, used), group in (
            (key, list(same)) for key, same in groupby(sorted(index.parts_of(ws), key=kind), kind)
        )
    )


def clean(ws: Workspace, *, dry_run: bool) -> tuple[IndexEntry, ...]:
    """Remove parts that the current corpus and settings do not use, and return them."""
    unused = [part for part in index.parts_of(ws) if not part.used]
    for part in () if dry_run else unused:
        if part.path.is_dir():
            shutil.rmtree(part.path)
        else:
            part.path.unlink()
        if part.path.parent.parent.name == "corpora" and not any(part.path.parent.iterdir()):
            part.path.parent.rmdir()
    return tuple(IndexEntry(_name(ws, part), 1, part.bytes, _day(part.made), used=False) for part in unused)


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
    """Parts of the index to make, if the folders `without` are damaged."""
    places = index.places_of(ws, keep=False)
    unreadable = places.corpus_part(index.WHOLE) in without
    if unreadable or index.lacks_shards(places):
        yield "tokens and counts"
    known = known_methods(ws.settings.plugins.names)
    for source, variants in grouped((v.source, v) for method in methods for v in known[method].averages).items():
        words = index.words_place(ws, places, source)
        if words in without or not words.is_dir():
            yield "word vectors and averages" if source == "cbow" else "count vectors and averages"
        elif (
            unreadable
            or not places.corpus_part(index.averages_name(words)).is_dir()
            or index.missing_averages(places, words, variants)
        ):
            yield "averages" if source == "cbow" else "averages of count vectors"
    if LSA in methods and not index.lsa_place(places).is_dir():
        yield LSA


def _name(ws: Workspace, part: index.IndexPart) -> str:
    return part.path.relative_to(ws.cache / "index").as_posix()


def _day(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M")
