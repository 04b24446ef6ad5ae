"""Which sentences make which facet, and making a query of them (CSFCube, Definitions 1 and 2)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from annot.base.errors import InputError
from annot.base.names import counted, near
from annot.base.records import Paper, Query

Facets = Mapping[str, Sequence[str]]
"""The sentence labels that make each facet, as `Settings.facets` has them; one without labels is the whole abstract."""


def make_query(
    paper: Paper, labels: Sequence[str], facet: str, *, facets: Facets, sentences: Sequence[int] | None
) -> Query:
    """The query for `facet` of `paper`: by the sentences labelled so, or by the chosen `sentences`.

    `labels`: one for each sentence of the paper. `sentences` are numbered as people count, from 1; the record counts
    from 0. Chosen sentences stand as chosen, whatever their labels: a person's choice is Definition 2 (retrieval by
    sentences), and how a wrong label of a query is put right.
    Raises InputError for an unknown facet, for a paper without a sentence of the facet, and for sentence numbers that
    are out of range, doubled or none at all.
    """
    check_facet(facet, facets=facets)
    if len(labels) != len(paper.sentences):
        raise InputError(
            f"paper {paper.paper_id}: {counted(len(labels), 'label')} for {counted(len(paper.sentences), 'sentence')}",
            hint="run `annot facets`",
        )
    if sentences is None:
        positions = facet_sentences(labels, facet, facets=facets)
        if not positions:
            raise InputError(
                f"paper {paper.paper_id} has no sentence of facet {facet!r}: found "
                + (", ".join(f"{number} {label}" for number, label in enumerate(labels, start=1)) or "no sentences")
                + f"; expected at least one of {', '.join(facets[facet])}",
                hint="choose another facet, or name the sentences with --sentences",
            )
    else:
        positions = _chosen(paper, sentences)
    return Query(f"{paper.paper_id}-{facet}", paper.paper_id, facet, positions)


def sentence_numbers(text: str) -> tuple[int, ...]:
    """The numbers in a list such as `2,3` or `2-4, 7`, as written. Raises InputError for anything else."""
    numbers: list[int] = []
    for part in text.split(","):
        match = re.fullmatch(r"\s*([0-9]{1,6})\s*(?:-\s*([0-9]{1,6})\s*)?", part)
        if match is None or (match[2] is not None and int(match[2]) < int(match[1])):
            raise InputError(f"sentence numbers: found {text!r}, expected numbers from 1 such as 2,3 or 2-4")
        numbers += range(int(match[1]), int(match[2] or match[1]) + 1)
    return tuple(numbers)


def facet_sentences(labels: Sequence[str], facet: str, *, facets: Facets) -> tuple[int, ...]:
    """Positions (from 0) of the sentences whose label belongs to `facet`. Raises InputError for an unknown facet."""
    check_facet(facet, facets=facets)
    return tuple(position for position, label in enumerate(labels) if label in (facets[facet] or (label,)))


def offered_facets(labels: Sequence[str], *, facets: Facets) -> tuple[str, ...]:
    """The facets that have at least one sentence, in the order of `facets`."""
    return tuple(facet for facet in facets if facet_sentences(labels, facet, facets=facets))


def check_facet(facet: str, *, facets: Facets) -> None:
    """Raise InputError with the near name when there is no facet of this name."""
    if facet not in facets:
        raise InputError(f"unknown facet {facet!r}: {near(facet, facets)}")


def _chosen(paper: Paper, numbers: Sequence[int]) -> tuple[int, ...]:
    """Positions from 0, ascending, of sentences numbered from 1."""
    count = len(paper.sentences)
    faults = [
        f"sentence {number}: found no such sentence, expected 1 to {count}"
        for number in sorted(set(numbers))
        if not 1 <= number <= count
    ]
    faults += [
        f"sentence {number} is named twice" for number in sorted(set(numbers)) if list(numbers).count(number) > 1
    ]
    if not numbers:
        faults.append("found no sentence numbers, expected at least one")
    if faults:
        raise InputError(f"paper {paper.paper_id}: the sentences cannot be chosen", faults=faults)
    return tuple(sorted(number - 1 for number in numbers))
