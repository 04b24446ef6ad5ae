"""Vectors of a study's papers from encoders: made once, and kept under a hash of the texts and the encoder.

Some papers, of pools or of queries, are kept in the cache. All papers of the corpus are encoded part by part, so that a
killed run continues where it stopped: a part is some hundred papers in the order of the corpus, named by the hash of
their texts and of all that their vectors depend on. Parts stay in the cache until the last one is made; then they
become the set and are removed. A set lists its parts: if papers are added, unchanged parts are taken from it, so the
bytes are those of one undisturbed run.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, chain, islice
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from annot.base import array_files
from annot.base.errors import InputError
from annot.base.names import sha256_of
from annot.base.parallel import Engine, map_shards
from annot.base.records import Advance, Paper
from annot.ranking.systems import encoders
from annot.ranking.systems.system import EncoderWeights, SentenceVectors, digest_of
from annot.ranking.vectors import ABOUT, MATRIX, PARTS, Precision, Vectors, VectorsWriter, topic_name
from annot.store.papers import RowGroups, count_papers, groups_for, read_columns, read_papers
from annot.study.workspace import Workspace

TEXT = ("paper_id", "title", "sentences")
PART = 512
"""Papers in a part: the most that is lost when a run is killed."""
KIND = "annot-encoded-1"


def weights_folder(ws: Workspace) -> Path:
    """Folder of the weights, each under its system's name."""
    return ws.root / "weights"


def encoded_sentences(
    ws: Workspace, weights: EncoderWeights, papers: Sequence[Paper], *, advance: Advance
) -> SentenceVectors:
    """The vectors of the papers' sentences, read by themselves or in their abstract, as the weights are to be read.

    Raises MissingInput when the weights are not there.
    """

    def make(folder: Path) -> dict[str, Any]:
        if weights.reading == "context":
            parts = encoders.encode_in_context(folder, papers, advance=advance)
            return {"matrix": np.concatenate(parts), "starts": np.cumsum([0, *map(len, parts)])}
        texts = [sentence for paper in papers for sentence in paper.sentences]
        matrix = encoders.open_text_encoder(folder, weights.reading, device=None)(texts, advance)
        return {"matrix": matrix, "starts": np.cumsum([0, *(len(paper.sentences) for paper in papers)])}

    stored = _kept(ws, weights, papers, make)
    ids = tuple(paper.paper_id for paper in papers)
    return SentenceVectors(ids, np.asarray(stored.arrays["starts"]), stored.arrays["matrix"], stored.facts)


def encoded_abstracts(
    ws: Workspace, weights: EncoderWeights, papers: Sequence[Paper], texts: Mapping[str, str], *, advance: Advance
) -> Vectors:
    """Vectors of each paper's title and abstract, followed by those of the topics that are texts.

    texts: by topic. Raises MissingInput when the weights are missing.
    """

    def make(folder: Path) -> dict[str, Any]:
        return {"matrix": encoders.open_paper_encoder(folder, "document", device=None)(papers, advance)}

    def make_topics(folder: Path) -> dict[str, Any]:
        encode = encoders.open_text_encoder(folder, "document", device=None, topics=True)
        return {"matrix": encode(list(texts.values()), advance)}

    stored = _kept(ws, weights, papers, make)
    matrix, ids = stored.arrays["matrix"], [paper.paper_id for paper in papers]
    if texts:
        topics = [Paper(topic_name(*item), item[1], ()) for item in texts.items()]
        matrix = np.concatenate([matrix, _kept(ws, weights, topics, make_topics).arrays["matrix"]])
        ids += [topic.paper_id for topic in topics]
    names = array_files.strings_of(ids)
    return Vectors(names, matrix, weights.name, weights.name, metric="l2", facts=stored.facts)


def _kept(
    ws: Workspace, weights: EncoderWeights, papers: Sequence[Paper], make: Callable[[Path], Mapping[str, Any]]
) -> array_files.StoredArrays:
    folder = weights.find(weights_folder(ws))
    facts = {"encoder": weights.hub or weights.name, "weights_sha256": digest_of(folder), "reading": weights.reading}
    if (folder / encoders.MIXED).is_file():
        facts["layers"] = "mixed"
    contents = [[paper.paper_id, paper.title, list(paper.sentences)] for paper in papers]
    key = hashlib.sha256(json.dumps([facts, contents]).encode()).hexdigest()
    place = ws.cache / "encoded" / key[:32]
    if not place.is_dir():
        array_files.save(place, kind=KIND, arrays=make(folder), texts={}, facts=facts)
    return array_files.load(place, kind=KIND)


@dataclass(frozen=True)
class EncodePart:
    """Encodes the papers from one place of the corpus up to another, wherever it is sent."""

    groups: tuple[RowGroups, ...]
    """Row groups of the whole corpus."""
    open_encoder: Callable[[], encoders.PaperEncoder]

    def __call__(self, bounds: tuple[int, int]) -> tuple[list[str], NDArray[np.float32]]:
        """The ids of these papers, and their vectors."""
        from threadpoolctl import threadpool_limits

        start, stop = bounds
        papers: list[Paper] = []
        for group, place in self.starts.items():
            position = start + len(papers)
            if place <= position < min(stop, place + group.papers):
                rows = chain.from_iterable(batch.to_pylist() for batch in read_columns([group], TEXT))
                papers += (Paper(**row) for row in islice(rows, position - place, stop - place))
        encoder = self.encoder
        # Its libraries are loaded only now.
        with threadpool_limits(1):
            return [paper.paper_id for paper in papers], encoder(papers, lambda _done, _total: None)

    @cached_property
    def encoder(self) -> encoders.PaperEncoder:
        return self.open_encoder()

    @cached_property
    def starts(self) -> dict[RowGroups, int]:
        """Place of the first paper of each group of rows."""
        ends = accumulate(group.papers for group in self.groups)
        return {group: end - group.papers for group, end in zip(self.groups, ends, strict=True)}


class CorpusEncoding:
    """The vectors of a study's papers by one encoder, complete or in progress.

    facts: all that a vector depends on besides the paper's text.
    """

    def __init__(self, ws: Workspace, name: str, *, facts: Mapping[str, Any], precision: Precision) -> None:
        self._ws = ws
        self._set = ws.vectors / name
        self._facts = facts
        self._precision = precision
        self._cache = ws.cache / "encoding" / name

    def count(self) -> tuple[int, int]:
        """Number of papers that have a vector, and of all papers."""
        encoded = sum(len(papers) for key, papers in self._parts() if self._kept(key, len(papers)) is not None)
        return encoded, count_papers(self._ws.corpus)

    def run(
        self,
        open_encoder: Callable[[], encoders.PaperEncoder],
        *,
        engine: Engine,
        about: Mapping[str, Any],
        advance: Advance,
        topics: Mapping[str, str] = MappingProxyType({}),
        open_topic_encoder: Callable[[], encoders.TextEncoder] | None = None,
    ) -> tuple[int, int]:
        """Encode the papers without a vector and write the set; returns the number of papers and of those encoded now.

        open_encoder: called when the first paper is to be encoded. topics: texts by topic id, whose vectors follow the
        papers'; open_topic_encoder: called if they are to be encoded. engine: its workers encode if it has a cluster,
        else this process, as a model uses every core or the GPU by itself. Raises InputError if a vector is not finite.
        """
        total = count_papers(self._ws.corpus)
        encoder: encoders.PaperEncoder | None = None
        keys, encoded = [], 0
        # It takes hours, in which others may work in the study: only a second run for the same set is refused.
        lock = self._cache.with_name(f"{self._set.name}.lock")
        busy = f"{self._set.name}: another process is encoding it"
        with array_files.held_alone(lock, busy=busy, hint="wait until it ends"):
            self._cache.mkdir(exist_ok=True)
            if engine.cluster is not None:
                encoded = self._encode_on_cluster(open_encoder, engine, total, advance)
            for number, (key, papers) in enumerate(self._parts()):
                keys.append(key)
                if self._kept(key, len(papers)) is None:
                    encoder = encoder or open_encoder()
                    rows = encoder(papers, _advance_from(number * PART, total, advance))
                    self._keep(key, [paper.paper_id for paper in papers], rows)
                    encoded += len(papers)
                advance(number * PART + len(papers), total)
            contents = json.dumps([dict(self._facts), list(topics.items())], sort_keys=True)
            sha256 = hashlib.sha256(contents.encode()).hexdigest()
            recorded = {"topics": {"number": len(topics), "sha256": sha256} if topics else None, **about}
            if list(self._rows_in_set) != keys or any(
                self._about.get(name) != value for name, value in recorded.items()
            ):
                self._write(recorded if topics else about, total, topics, open_topic_encoder)
            shutil.rmtree(self._cache, ignore_errors=True)
        return total, encoded

    def _parts(self) -> Iterator[tuple[str, tuple[Paper, ...]]]:
        """Key and papers of each part."""
        papers = read_papers(self._ws.corpus, columns=("title", "sentences"))
        settings = json.dumps([self._facts, self._precision], sort_keys=True)
        while part := tuple(islice(papers, PART)):
            contents = [[paper.paper_id, paper.title, list(paper.sentences)] for paper in part]
            yield hashlib.sha256((settings + json.dumps(contents)).encode()).hexdigest()[:32], part

    def _kept(self, key: str, count: int) -> NDArray[Any] | None:
        """The vectors of a finished part with this number of papers."""
        path = self._cache / f"{key}.npy"
        if path.is_file():
            return np.asarray(np.load(path, mmap_mode="r"))
        if key in self._rows_in_set:
            start = self._rows_in_set[key]
            return np.asarray(self._matrix[start : start + count])
        return None

    def _encode_on_cluster(
        self, open_encoder: Callable[[], encoders.PaperEncoder], engine: Engine, total: int, advance: Advance
    ) -> int:
        """Have the workers encode the papers without a vector; returns the number of these."""
        missing = [
            (key, number * PART, len(papers))
            for number, (key, papers) in enumerate(self._parts())
            if self._kept(key, len(papers)) is None
        ]
        work = EncodePart(tuple(groups_for(self._ws.corpus, self._ws.machine.url)), open_encoder)
        encoded = map_shards(work, [(start, start + count) for _key, start, count in missing], engine=engine)
        for (key, start, count), (ids, rows) in zip(missing, encoded, strict=True):
            self._keep(key, ids, rows)
            advance(start + count, total)
        return sum(count for _key, _start, count in missing)

    def _keep(self, key: str, ids: Sequence[str], rows: NDArray[np.float32]) -> None:
        vectors = self._finite(ids, rows)
        path = self._cache / f"{key}.npy"
        array_files.save_array(path.with_suffix(".tmp"), vectors)
        path.with_suffix(".tmp").replace(path)

    def _finite(self, ids: Sequence[str], rows: NDArray[np.float32]) -> NDArray[Any]:
        """The rows in the precision of the set."""
        with np.errstate(over="ignore"):
            vectors = rows.astype(self._precision)
        broken = np.flatnonzero(~np.isfinite(vectors).all(axis=1)).tolist()
        if broken:
            faults = [f"{ids[row]}: not finite in {self._precision}" for row in broken]
            raise InputError(f"{self._set.name}: the encoder made vectors that are not finite", faults=faults)
        return vectors

    def _write(
        self,
        about: Mapping[str, Any],
        total: int,
        topics: Mapping[str, str],
        open_topic_encoder: Callable[[], encoders.TextEncoder] | None,
    ) -> None:
        keys = []
        with VectorsWriter(self._set, most=total + len(topics), precision=self._precision) as writer:
            for key, papers in self._parts():
                rows = self._kept(key, len(papers))
                if rows is None:
                    raise InputError(
                        f"{self._set.name}: papers were added to the corpus in the meantime", hint="run it again"
                    )
                writer.add([paper.paper_id for paper in papers], rows)
                keys.append(key)
            if topics and open_topic_encoder is not None:
                rows = open_topic_encoder()(list(topics.values()), lambda _done, _total: None)
                writer.add([topic_name(*item) for item in topics.items()], self._finite(list(topics), rows))
            writer.about, writer.parts = {**about, **self._facts}, keys

    @cached_property
    def _rows_in_set(self) -> dict[str, int]:
        """First row of each part in the set; none if its files have changed."""
        try:
            keys = (self._set / PARTS).read_text(encoding="utf-8").split()
            hashes = self._about["files"].items()
            sound = all(sha256_of(self._ws.inside(self._set, name)) == sha256 for name, sha256 in hashes)
        except (OSError, KeyError):
            return {}
        return {key: PART * number for number, key in enumerate(keys)} if sound else {}

    @cached_property
    def _about(self) -> dict[str, Any]:
        """Description of the set; empty if there is no set."""
        try:
            about: dict[str, Any] = json.loads((self._set / ABOUT).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return about

    @cached_property
    def _matrix(self) -> NDArray[Any]:
        matrix: NDArray[Any] = np.load(self._set / MATRIX, mmap_mode="r")
        return matrix


def _advance_from(start: int, total: int, advance: Advance) -> Advance:
    return lambda done, _: advance(start + done, total)
