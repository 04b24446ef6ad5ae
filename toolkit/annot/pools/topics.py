"""What pools are drawn for: papers of the corpus, and texts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from annot.base.errors import InputError
from annot.base.records import CITED, Paper, Topic
from annot.corpus.corpus_facts import papers_of
from annot.pools.pool_design import PoolDesign, without
from annot.ranking.methods import ranks_texts
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
    def citations(self) -> dict[str, Sequence[str]]:
        """What each cites: a text cites nothing."""
        return {name: self.papers[name].citations if name in self.papers else () for name in self.ids}


def topics_of(ws: Workspace, topic_ids: Iterable[str], texts: Mapping[str, Topic]) -> Topics:
    """These topics. texts: those that are texts; any other is a paper. Raises MissingInput for papers that are not in
    the corpus."""
    wanted = set(topic_ids)
    return Topics(
        papers_of(ws, wanted - texts.keys()), {name: topic for name, topic in texts.items() if name in wanted}
    )


def searched(topic: Topic) -> dict[Field, str]:
    """What of a text is held against each field of the papers: its title, and its title with its description."""
    return {"title": topic.title, "abstract": " ".join(part for part in (topic.title, topic.description) if part)}


def of_papers_alone(ws: Workspace, methods: Iterable[str]) -> list[str]:
    """Those of the methods that need citations, or a vector of the query paper, and so cannot rank for a text."""
    brought = imported_methods(ws)
    return [name for name in methods if name == CITED or not (ranks_texts(name) or name in brought)]


def for_texts(ws: Workspace, design: PoolDesign) -> PoolDesign:
    """The design without the methods that cannot rank for a text, which are on record as left out."""
    found = without(design, of_papers_alone(ws, design.methods))
    if not found.methods:
        raise InputError(
            "no method is left that can rank for a text",
            hint="add one to `[pool] methods` in annot.toml, such as abs_tfidf",
        )
    return found
