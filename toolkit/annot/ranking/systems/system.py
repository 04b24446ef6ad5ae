"""What every system is known by, what it is asked, and what it gives back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from annot.base.records import Ranking
from annot.formats.matches import Matches

Family = Literal["terms", "sentences", "abstracts", "aspire", "scisearch"]

CSFCUBE = "Mysore et al. 2021 (CSFCube)"
ASPIRE = "Mysore et al. 2022 (Aspire)"
SCISEARCH = "SciSearch 2021"

FACET, ABSTRACT, TITLE_AND_ABSTRACT = "facet sentences", "abstract", "title and abstract"
IN_CONTEXT = "facet sentences, in context"
EACH_SENTENCE, EACH_IN_CONTEXT = "each sentence", "each sentence, in context"
"""What a system sees of a query or of a candidate."""


@dataclass(frozen=True, slots=True)
class System:
    """A system as `annot run list` shows it; the families add what they need to know."""

    name: str
    family: Family
    source: str
    """The paper that names it, or describes it."""
    query: str
    """What it sees of the query paper."""
    candidate: str
    """What it sees of a candidate."""
    needs: str
    """What has to be there beside the corpus; empty where nothing has."""


@dataclass(frozen=True, slots=True)
class Topic:
    """A query with the documents that a system is to put in order."""

    query_id: str
    paper_id: str
    facet: str
    sentences: tuple[int, ...]
    """Positions (from 0) of the sentences of the query paper that make the query."""
    whole: bool
    """Whether these are all sentences of the abstract."""
    doc_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Made:
    """What a system gave: the order of each query's documents, what the figures depend on, and what matched."""

    rankings: Mapping[str, Ranking]
    facts: Mapping[str, Any]
    matches: Matches | None = None
