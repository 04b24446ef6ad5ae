"""From sentence labels to facets: which sentences make which facet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from annot.errors import InputError
from annot.names import near

Facets = Mapping[str, Sequence[str]]
"""The sentence labels that make each facet, as `Settings.facets` has them."""


def facet_sentences(labels: Sequence[str], facet: str, *, facets: Facets) -> tuple[int, ...]:
    """Positions (from 0) of the sentences whose label belongs to `facet`. Raises InputError for an unknown facet."""
    check_facet(facet, facets=facets)
    return tuple(position for position, label in enumerate(labels) if label in facets[facet])


def offered_facets(labels: Sequence[str], *, facets: Facets) -> tuple[str, ...]:
    """The facets that have at least one sentence, in the order of `facets`."""
    return tuple(facet for facet, members in facets.items() if not {*members}.isdisjoint(labels))


def check_facet(facet: str, *, facets: Facets) -> None:
    """Raise InputError with the near name when there is no facet of this name."""
    if facet not in facets:
        hint = f"the facets of this study are {', '.join(facets)}"
        raise InputError(f"unknown facet {facet!r}: {near(facet, facets)}", hint=hint)
