"""Topics of pools: papers of the corpus, and texts."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from annot.base.errors import InputError
from annot.base.records import CITED, Paper, Topic
from annot.corpus.corpus_facts import papers_of
from annot.pools.pool_design import PoolDesign, without
from annot.ranking import vectors
from annot.ranking.methods import METHODS
from annot.ranking.paper_vectors import vectors_of
from annot.ranking.submission import imported_methods
from annot.ranking.tokens import Field
from annot.study.workspace import Workspace


class Topics(NamedTuple):
    """Topics by id."""

    papers: dict[str, Paper]
    texts: dict[str, Topic]

    @property
    def ids(self) -> list[str]:
        """All of them, in order."""
        return sorted((*self.papers, *self.texts))

    @property
    def citations(self) -> dict[str, Sequence[str] | None]:
        """Citations of each topic; None of a text."""
        return {name: self.papers[name].citations if name in self.papers else None for name in self.ids}


def topics_of(ws: Workspace, topic_ids: Iterable[str], texts: Mapping[str, Topic]) -> Topics:
    """Topics of these ids. texts: those that are texts; any other is a paper. Raises MissingInput for papers that are
    not in the corpus."""
    names = set(topic_ids)
    return Topics(papers_of(ws, names - texts.keys()), {name: topic for name, topic in texts.items() if name in names})


def searched(topic: Topic) -> dict[Field, str]:
    """Text of a topic for each field of the papers: its title, and its title with its description."""
    return {"title": topic.title, "abstract": " ".join(part for part in (topic.title, topic.description) if part)}


def read_of(topics: Mapping[str, Topic]) -> dict[str, str]:
    """Texts that an encoder reads, by topic."""
    return {topic_id: searched(topic)["abstract"] for topic_id, topic in topics.items()}


def left_out_of(
    ws: Workspace,
    methods: Iterable[str],
    topics: Mapping[str, Topic],
    *,
    frozen: Mapping[str, Collection[str]] | None = None,
) -> dict[str, set[str]]:
    """Topics that are texts and that a method cannot rank for, by method: a text has no citations, and it has a vector
    only if the set of the method includes it. Methods that rank for all are left out.

    frozen: these topics on record, for rankings that are drawn from as they are, whichever sets of vectors exist now.
    """
    without_sets = {*METHODS, *imported_methods(ws)}

    def lacking(name: str) -> set[str]:
        if name == CITED:
            return set(topics)
        if frozen is not None:
            return topics.keys() & set(frozen.get(name, ()))
        # Where there is no set of this name, ranking says so and what to do.
        is_set = name not in without_sets and (ws.vectors / name).is_dir()
        return vectors.topics_without(vectors_of(ws, name), read_of(topics)) if is_set else set()

    return {name: missing for name in methods if topics and (missing := lacking(name))}


def for_text(design: PoolDesign, topic_id: str, left_out: Mapping[str, Collection[str]]) -> PoolDesign:
    """The design without the methods that cannot rank for this text, which are on record as left out.

    left_out: by method, the texts that it cannot rank for. Raises InputError if no method stays.
    """
    reduced = without(design, [name for name, topic_ids in left_out.items() if topic_id in topic_ids])
    if not reduced.methods:
        raise InputError(
            f"{topic_id}: no method is left that can rank for a text",
            hint="name one that can, such as abs_bm25, with --method or in `[pool] methods` of annot.toml",
        )
    return reduced
