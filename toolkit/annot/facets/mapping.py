"""From sentence labels to facets: which sentences make which facet, and where a paper's labels come from."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple, Protocol

from annot.errors import InputError
from annot.facets.training import unknown_label
from annot.records import LABELS, Paper

Facets = Mapping[str, Sequence[str]]
"""The sentence labels that make each facet, as `Settings.facets` has them."""


class PaperLabels(NamedTuple):
    """The labels of one paper's sentences, in order, and whether the corpus carried them or a model gave them."""

    paper_id: str
    labels: tuple[str, ...]
    origin: Literal["corpus", "predicted"]


class SentenceLabeller(Protocol):
    """Anything that labels the sentences of one abstract."""

    def label(self, sentences: Sequence[str]) -> tuple[str, ...]:
        """One label for each sentence."""
        ...


def label_papers(papers: Iterable[Paper], labeller: SentenceLabeller) -> Iterator[PaperLabels]:
    """The labels of each paper in turn: kept where the corpus carries them, predicted where it carries none.

    Raises InputError at a paper whose carried labels do not fit its sentences.
    """
    for paper in papers:
        if paper.labels is None:
            yield PaperLabels(paper.paper_id, labeller.label(paper.sentences), "predicted")
            continue
        if len(paper.labels) != len(paper.sentences):
            raise InputError(
                f"paper {paper.paper_id}: found {len(paper.labels)} label(s) for {len(paper.sentences)} sentence(s), "
                "expected one each"
            )
        unknown = sorted(set(paper.labels) - set(LABELS))
        if unknown:
            raise InputError(
                f"paper {paper.paper_id}: the corpus carries unknown labels",
                faults=[unknown_label(label) for label in unknown],
            )
        yield PaperLabels(paper.paper_id, paper.labels, "corpus")


def facet_sentences(labels: Sequence[str], facet: str, *, facets: Facets) -> tuple[int, ...]:
    """Positions (from 0) of the sentences whose label belongs to `facet`. Raises InputError for an unknown facet."""
    members = facets[known_facet(facet, facets=facets)]
    return tuple(at for at, label in enumerate(labels) if label in members)


def offered_facets(labels: Sequence[str], *, facets: Facets) -> tuple[str, ...]:
    """The facets that have at least one sentence, in the order of `facets`."""
    present = set(labels)
    return tuple(facet for facet, members in facets.items() if present.intersection(members))


def known_facet(facet: str, *, facets: Facets) -> str:
    """`facet` itself if there is one of that name. Raises InputError with the near name if not."""
    if facet in facets:
        return facet
    near = difflib.get_close_matches(facet, list(facets), 1)
    raise InputError(
        f"unknown facet {facet!r}" + (f", did you mean {near[0]!r}?" if near else ""),
        hint=f"the facets of this study are {', '.join(facets)}",
    )
