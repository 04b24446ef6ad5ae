"""The pools of a study ranked by systems: each gets what it needs, made once for all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from annot.base.errors import InputError
from annot.base.records import Paper
from annot.corpus.corpus_state import current_sha256
from annot.measuring import trained_pools
from annot.measuring.folds.grouped import test_folds
from annot.ranking.encoded import encoded_abstracts, encoded_sentences, own_vectors, weights_folder
from annot.ranking.index import Advance, Index, open_index
from annot.ranking.methods import LSA
from annot.ranking.systems import abstracts, alignment, sentences, terms
from annot.ranking.systems.abstracts import AbstractSystem
from annot.ranking.systems.alignment import Align, Similarity
from annot.ranking.systems.aspire import AspireSystem, align_by
from annot.ranking.systems.registry import system_named
from annot.ranking.systems.scisearch import Features
from annot.ranking.systems.scisearch_systems import SciSearchSystem
from annot.ranking.systems.sentences import SentenceSystem
from annot.ranking.systems.system import Made, System, Topic
from annot.ranking.systems.terms import TermSystem
from annot.ranking.systems.weights import Weights
from annot.ranking.vectors import Vectors
from annot.study.snapshot import read_snapshot
from annot.study.workspace import Workspace

GIVEN_UP = "plans_given_up"
"""The fact of a run that says how many plans of transport are not exact."""


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
        self._by_id = papers
        self._papers = tuple(papers[paper_id] for paper_id in sorted(papers))
        self._advance = advance

    @cached_property
    def corpus_sha256(self) -> str:
        return current_sha256(self._ws, keep=True)

    def rank(self, system: System) -> Made:
        """Put the documents of every topic in the system's order."""
        views = {"query": system.query, "candidate": system.candidate}
        match system:
            case TermSystem():
                return terms.rank(system, self._topics, bench=self._index.bench)
            case SentenceSystem():
                similarity = self._ws.settings.systems.similarity or system.similarity
                return self._aligned(system.weights, similarity, alignment.best_pair, {**views, "match": "best pair"})
            case AspireSystem():
                return self._aspire(system, views)
            case SciSearchSystem():
                settings = self._ws.settings
                features = [self._features(name) for name in settings.systems.features]
                snapshot = read_snapshot(self._ws)
                return trained_pools.rank(
                    *(system, self._topics, features, snapshot.outcome.qrels, self._by_id),
                    recorded=test_folds(snapshot.splits.get("all", {})),
                    grades=len(settings.scale.names),
                    seed=settings.seed,
                )
            case AbstractSystem():
                vectors = self._abstracts(system)
                by_weights = not (self._ws.vectors / system.name).is_dir()
                lacks = {"lacks": system.lacks} if system.lacks and by_weights else {}
                return Made(abstracts.rank(self._topics, vectors), {**views, "vectors": vectors.description, **lacks})
        raise AssertionError(f"a system of a family without a ranker: {system}")

    def _abstracts(self, system: AbstractSystem) -> Vectors:
        vectors = own_vectors(self._ws, system.name)
        if vectors is None:
            assert system.weights is not None, "a system without weights is known by its vectors"
            vectors = encoded_abstracts(self._ws, system.weights, self._papers, advance=self._advance)
        return vectors

    def _features(self, name: str) -> Features:
        """What SciSearch learns from, under the name of a system. Raises InputError for one that has no vectors."""
        if name == LSA:
            return trained_pools.of_lsa(self._topics, self._index.bench)
        (system,) = systems_of(self._ws, [name])
        if isinstance(system, SentenceSystem):
            vectors = encoded_sentences(self._ws, system.weights, self._papers, advance=self._advance)
            return trained_pools.of_sentences(name, self._topics, vectors)
        if isinstance(system, AbstractSystem):
            return trained_pools.of_abstracts(name, self._topics, self._abstracts(system))
        raise InputError(f"systems.features: {name} has no vectors", hint="name lsa, or systems that have them")

    def _aspire(self, system: AspireSystem, views: Mapping[str, Any]) -> Made:
        settings = self._ws.settings.systems
        chosen: dict[str, float] = {
            "temperature": settings.temperature,
            "whole_temperature": settings.whole_temperature,
        }
        align = align_by(system.matching, **chosen, eps=1 / settings.entropy)
        facts = {**views, "match": system.matching}
        if system.matching != "single":
            facts |= chosen
        if system.matching == "transport":
            facts["lambda"] = settings.entropy
        return self._aligned(system.weights, "l2", align, facts)

    def _aligned(self, weights: Weights, similarity: Similarity, align: Align, facts: Mapping[str, Any]) -> Made:
        vectors = encoded_sentences(self._ws, weights, self._papers, advance=self._advance)
        found = alignment.rank(self._topics, vectors, kind=similarity, align=align)
        facts = {**facts, **vectors.facts, "similarity": similarity}
        if found.unconverged:
            facts[GIVEN_UP] = found.unconverged
        return Made(found.rankings, facts, found.matches)

    @cached_property
    def _index(self) -> Index:
        needs = terms.index_needs(one for one in self._systems if isinstance(one, TermSystem))
        if any(isinstance(one, SciSearchSystem) for one in self._systems):
            needs += [LSA] if LSA in self._ws.settings.systems.features else []
        return open_index(self._ws, methods=needs, advance=self._advance)


def systems_of(ws: Workspace, names: Sequence[str]) -> tuple[System, ...]:
    """The systems of these names: registered ones, and what lies under the name in corpus/vectors/ or weights/.

    Raises InputError with the near name.
    """
    own: dict[str, System] = {}
    for name in (name for name in names if Path(name).name == name):
        if (ws.vectors / name).is_dir():
            own[name] = abstracts.own_system(name)
        elif (weights_folder(ws) / name).is_dir():
            own[name] = sentences.own_system(name)
    return tuple(system_named(name, own) for name in names)
