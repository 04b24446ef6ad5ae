"""A system that ranks pools: its name, its inputs, its weights, and how it ranks."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np

from annot.base.errors import InputError, MissingInput
from annot.base.names import sha256_of
from annot.base.records import Qrel, Query, Ranking
from annot.base.settings import SystemSettings
from annot.base.stats.arrays import Integers, Matrix
from annot.formats.trec import Matches
from annot.ranking import methods, vectors

# ----------------------------------------------------------------------------------------------------------------------
# The weights of encoders: their names on the hub, and the folders that are searched. Nothing is fetched here.
# ----------------------------------------------------------------------------------------------------------------------


Reading = Literal["own", "cls", "pooler", "mean", "document", "context"]
"""Way in which an encoder reads and pools: `own` is that of its sentence-transformers folder; the first token's state
(`cls`), the pooler's output (`pooler`) or the mean of the tokens' states (`mean`) of a sentence; the first token's
state of title, separator and abstract (`document`); for each sentence the mean over its tokens in all of these
(`context`)."""

INSTALL = "`pip install torch`, then `pip install 'annot-collections[neural]'`"


def require_libraries(name: object, *modules: str) -> None:
    """Raise MissingInput if a library that the system or the weights of this name need is not installed."""
    try:
        for module in modules:
            import_module(module)
    except ImportError:
        raise MissingInput(f"{name}: the libraries that it needs are not installed", hint=INSTALL) from None


@dataclass(frozen=True, slots=True)
class EncoderWeights:
    """An encoder's weights: in `weights/NAME` of the study, or else the hub's own cache under `hub`."""

    name: str
    hub: str | None
    """Name on the hub; None if they were never published."""
    reading: Reading
    trainable: bool = False
    """True if `annot encoder train` makes them."""

    @property
    def needs(self) -> str:
        """Description of the weights that a lead has to get."""
        return f"weights {self.hub}" if self.hub else f"weights of your own in weights/{self.name}"

    def find(self, folder: Path) -> Path:
        """The folder that has them. folder: the study's, which is searched first.

        Raises MissingInput with the hub's command that fetches them.
        """
        folder_of_study = folder / self.name
        if (folder_of_study / "config.json").is_file() or (folder_of_study / "modules.json").is_file():
            return folder_of_study
        searched = [str(folder_of_study)]
        if self.hub:
            cached, cache = _cached(self.hub)
            if cached:
                return cached
            searched.append(cache)
        hint = f"put a folder of weights at {folder_of_study}; they were never published"
        if self.hub:
            hint = f"fetch them with `hf download {self.hub} --local-dir {folder_of_study}`"
        if self.trainable:
            hint += f"; or train them with `annot encoder train {self.name}`"
        raise MissingInput(f"{self.name}: no weights in {' or in '.join(searched)}", hint=hint)


def digest_of(folder: Path) -> str:
    """The SHA-256 of all files of weights and settings, by name and content."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.suffix in (".safetensors", ".bin", ".pt", ".json", ".txt", ".model") and path.is_file():
            digest.update(f"{path.relative_to(folder).as_posix()}\0".encode())
            digest.update(bytes.fromhex(sha256_of(path)))
    return digest.hexdigest()


def _cached(hub: str) -> tuple[Path | None, str]:
    """Folder of a model in the hub's cache, if it is there, and the folder of the cache."""
    require_libraries(hub, "huggingface_hub")
    from huggingface_hub import constants, snapshot_download
    from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError

    try:
        return Path(snapshot_download(hub, local_files_only=True)), constants.HF_HUB_CACHE
    except LocalEntryNotFoundError:
        return None, constants.HF_HUB_CACHE
    except HFValidationError:
        raise InputError(f"{hub}: no such folder, and not the name of a model on the hub") from None


# ----------------------------------------------------------------------------------------------------------------------
# Inputs of systems: pooled queries, the vectors of papers and of sentences, and grades to learn from.
# ----------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PooledQuery:
    """A query with the documents that a system is to put in order."""

    query_id: str
    topic_id: str
    facet: str
    sentences: tuple[int, ...]
    """Positions (from 0) of the sentences of the query paper that make the query; none of a topic that is a text."""
    whole: bool
    """True if these are all sentences of the abstract."""
    doc_ids: tuple[str, ...]
    text: str | None = None
    """Text that a topic is ranked by; None if the topic is a paper."""


@dataclass(frozen=True)
class SentenceVectors:
    """Vectors of the sentences of papers. Paper p has the rows `starts[p]` to `starts[p + 1] - 1`, one for each
    sentence from its first on.

    An encoder with a limit of tokens leaves the last sentences of a long abstract without a row.
    """

    ids: tuple[str, ...]
    starts: Integers
    """Shape (papers + 1,)."""
    matrix: Matrix
    """Shape (sentences, dimensions)."""
    facts: Mapping[str, Any]

    @cached_property
    def rows(self) -> dict[str, int]:
        """The place of each paper."""
        return {paper_id: place for place, paper_id in enumerate(self.ids)}

    def of(self, paper_id: str) -> Matrix:
        """The vectors of a paper's sentences: shape (sentences, dimensions)."""
        place = self.rows[paper_id]
        return np.asarray(self.matrix[self.starts[place] : self.starts[place + 1]])


@dataclass(frozen=True)
class Features:
    """Vectors of queries and of candidates from one system, by id, for SciSearch to learn from."""

    name: str
    queries: Mapping[str, Matrix]
    candidates: Mapping[str, Matrix]


class Grades(Protocol):
    """The grades of a study, and how systems that learn from them are trained and tested."""

    qrels: Sequence[Qrel]
    count: int
    """Number of grades on the scale."""
    seed: int

    def folds(self, queries: Sequence[Query]) -> tuple[list[list[str]], bool]:
        """Query ids of each test fold, and True if the folds were drawn now rather than taken from the record."""

    def shared(
        self, learned: Sequence[Query], tested: Sequence[Query], *, documents: Mapping[str, Sequence[str]], where: str
    ) -> tuple[Sequence[str], Sequence[tuple[str, str]]]:
        """The candidates that both sides have, and pairs of query papers that each judges for the other.

        documents: of each query. Raises LeakError if a figure would be void.
        """


class SystemInputs(Protocol):
    """A study as its systems see it: each thing is made when it is asked for, once for all of them."""

    topics: Sequence[PooledQuery]

    @property
    def settings(self) -> SystemSettings: ...

    @property
    def ranking_inputs(self) -> methods.RankingInputs:
        """The corpus with the vectors that the formulas of terms need."""

    @property
    def grades(self) -> Grades: ...

    def sentence_vectors(self, weights: EncoderWeights) -> SentenceVectors:
        """The vectors of the sentences of all papers. Raises MissingInput when the weights are not there."""

    def own_vectors(self, name: str) -> vectors.Vectors | None:
        """Vectors in `corpus/vectors/NAME`; None if there is no such folder."""

    def paper_vectors(self, weights: EncoderWeights) -> vectors.Vectors:
        """A vector for each paper's title and abstract, and for each text. Raises MissingInput when the weights are not
        there."""

    def features(self, name: str) -> Features:
        """Features that the system of this name provides. Raises InputError for one that has no vectors."""


# ----------------------------------------------------------------------------------------------------------------------
# Interface of a system: its name, its inputs and needs, its ranking, and the facts that its figures depend on.
# ----------------------------------------------------------------------------------------------------------------------


Family = Literal["terms", "sentences", "abstracts", "aspire", "scisearch"]

CSFCUBE = "Mysore et al. 2021 (CSFCube)"
ASPIRE = "Mysore et al. 2022 (Aspire)"
SCISEARCH = "SciSearch 2021"

FACET, ABSTRACT, TITLE_AND_ABSTRACT = "facet sentences", "abstract", "title and abstract"
IN_CONTEXT = "facet sentences, in context"
EACH_SENTENCE, EACH_IN_CONTEXT = "each sentence", "each sentence, in context"
TEXT = "title and description"
"""Views that a system can have of a query or of a candidate; `TEXT` is of a topic that is a text."""


@dataclass(frozen=True, slots=True)
class RankedPools:
    """Result of a system: the order of each query's documents, the facts that the figures depend on, and the
    matches."""

    rankings: Mapping[str, Ranking]
    facts: Mapping[str, Any]
    """Facts kept with the run."""
    matches: Matches | None = None
    given_up: int = 0
    """Number of documents whose transport ended before it was exact."""


@dataclass(frozen=True, slots=True)
class System(ABC):
    """A system as `annot run list` shows it, which ranks the pools of a study."""

    name: str
    family: Family
    source: str
    """The paper that names it, or describes it."""
    query: str
    """View of the query paper."""
    candidate: str
    """View of a candidate."""
    needs: str
    """Files that it needs besides the corpus; empty if it needs none."""
    weights: EncoderWeights | None
    """Weights of its encoder, if it has one."""

    @property
    def of_texts(self) -> str:
        """Name of the input that it needs and that most topics that are texts do not have."""
        return "the sentences of a query paper"

    def topics(self, inputs: SystemInputs) -> Sequence[PooledQuery]:
        """Queries that it can rank for; it may need the sentences of a query paper."""
        return [topic for topic in inputs.topics if topic.text is None]

    @abstractmethod
    def rank(self, inputs: SystemInputs) -> RankedPools:
        """Put the documents of the pool of each of its `topics` in the system's order. Raises MissingInput if it lacks
        an input."""

    def index_methods(self, settings: SystemSettings) -> Sequence[str]:
        """Methods whose matrices an index must have for it."""
        return ()

    def features(self, inputs: SystemInputs) -> Features:
        """Vectors for another system to learn from."""
        raise InputError(f"systems.features: {self.name} has no vectors", hint="name lsa, or a system that has vectors")

    @property
    def views(self) -> dict[str, Any]:
        """Views of query and candidate, as its runs record them."""
        return {"query": self.query, "candidate": self.candidate}


def features_of(
    name: str,
    topics: Sequence[PooledQuery],
    *,
    query: Callable[[PooledQuery], Matrix],
    candidate: Callable[[str], Matrix],
) -> Features:
    """The vectors of every query, and those of every candidate."""
    documents = {doc_id: np.asarray(candidate(doc_id)) for topic in topics for doc_id in topic.doc_ids}
    return Features(name, {topic.query_id: query(topic) for topic in topics}, documents)
