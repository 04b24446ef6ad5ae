"""The pools of a study ranked by systems: each gets what it needs, made once for all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

from annot.records import Paper
from annot.store.papers import corpus_sha256
from annot.study.index import Advance, Index, open_index
from annot.study.workspace import Workspace
from annot.systems import terms
from annot.systems.system import Made, System, Topic
from annot.systems.terms import TermSystem


class RankedPools:
    """The topics of a study with what ranks them.

    systems: all that will be asked. papers: those of the pools and of the queries, by id.
    """

    def __init__(
        self,
        ws: Workspace,
        systems: Sequence[System],
        topics: Sequence[Topic],
        papers: Mapping[str, Paper],
        *,
        advance: Advance,
    ) -> None:
        self._ws = ws
        self._systems = systems
        self._topics = topics
        self._papers = papers
        self._advance = advance

    @cached_property
    def corpus_sha256(self) -> str:
        return corpus_sha256(self._ws.corpus)

    def rank(self, system: System) -> Made:
        """Put the documents of every topic in the system's order."""
        assert isinstance(system, TermSystem)
        return terms.rank(system, self._topics, bench=self._index.bench)

    @cached_property
    def _index(self) -> Index:
        needs = terms.index_needs(one for one in self._systems if isinstance(one, TermSystem))
        return open_index(self._ws, methods=needs, advance=self._advance)
