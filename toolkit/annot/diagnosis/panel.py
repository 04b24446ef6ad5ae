"""All judgements of a study side by side: a row a pair, a column an assessor."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from annot.errors import InputError
from annot.judged import counted
from annot.records import Decision, Judgement

Index = npt.NDArray[np.int64]
NO_GRADE = -1


@dataclass(frozen=True, slots=True)
class Panel:
    """N pairs by (query, document), M assessors by pseudonym. A judgement without grade is missing, never 0."""

    assessors: tuple[str, ...]
    query_ids: tuple[str, ...]
    doc_ids: tuple[str, ...]
    facets: tuple[str, ...]
    """The facet of each pair's query."""
    scale: tuple[int, ...]
    """The grades, ascending."""
    grades: Index
    """Shape (N, M), the place of the grade in the scale, -1 where there is none."""
    final: Index
    """Shape (N,), the place of the final grade in the scale, -1 where there is none yet."""
    adjudicated: npt.NDArray[np.bool_]
    """Shape (N,), true where a person settled the pair."""
    open: npt.NDArray[np.bool_]
    """Shape (N,), true where the pair is in dispute and nobody has settled it yet."""

    @property
    def judged(self) -> npt.NDArray[np.bool_]:
        return np.not_equal(self.grades, NO_GRADE)

    @property
    def independent(self) -> npt.NDArray[np.bool_]:
        """Shape (N,), true where the final grade is not simply the only one given."""
        return np.asarray((self.final != NO_GRADE) & (self.adjudicated | (self.judged.sum(axis=1) > 1)))


def panel_of(
    judgements: Iterable[Judgement],
    decisions: Iterable[Decision],
    facets: Mapping[str, str],
    *,
    scale: Sequence[int],
    open_pairs: Iterable[tuple[str, str]],
) -> Panel:
    """The panel of the judgements that count and have a grade. facets: the facet of each `query_id`.

    open_pairs: (query, document) in dispute that nobody has settled; also where one of two could not judge.
    Raises InputError for a double judgement, a query without facet, or a grade outside the scale.
    """
    graded = [one for one in counted(judgements) if one.grade is not None]
    place = {grade: at for at, grade in enumerate(scale)}
    final = {(one.query_id, one.doc_id): one for one in decisions}
    unknown = sorted({one.query_id for one in graded} - set(facets))
    faults = [f"{name}: judged, but no such query is known" for name in unknown]
    expected = ", ".join(map(str, scale))
    given = [(one.query_id, one.doc_id, one.assessor, one.grade) for one in graded]
    settled = [(one.query_id, one.doc_id, "the final decision", one.grade) for one in final.values()]
    faults += [
        f"{query_id} {doc_id}: {who} has grade {grade}, expected one of {expected}"
        for query_id, doc_id, who, grade in [*given, *settled]
        if grade not in place
    ]
    if faults:
        raise InputError(f"{len(faults)} fault(s) in the judgements", faults=faults)
    assessors = tuple(sorted({one.assessor for one in graded}))
    pairs = sorted({(one.query_id, one.doc_id) for one in graded})
    row = {pair: at for at, pair in enumerate(pairs)}
    column = {name: at for at, name in enumerate(assessors)}
    unsettled = set(open_pairs)
    grades = np.full((len(pairs), len(assessors)), NO_GRADE, dtype=np.int64)
    for one in graded:
        assert one.grade is not None
        grades[row[one.query_id, one.doc_id], column[one.assessor]] = place[one.grade]
    return Panel(
        assessors=assessors,
        query_ids=tuple(query_id for query_id, _ in pairs),
        doc_ids=tuple(doc_id for _, doc_id in pairs),
        facets=tuple(facets[query_id] for query_id, _ in pairs),
        scale=tuple(scale),
        grades=grades,
        final=np.array([place[final[pair].grade] if pair in final else NO_GRADE for pair in pairs], dtype=np.int64),
        adjudicated=np.array([pair in final and final[pair].origin == "adjudicated" for pair in pairs], dtype=np.bool_),
        open=np.array([pair in unsettled for pair in pairs], dtype=np.bool_),
    )


def partners(panel: Panel) -> tuple[frozenset[int], ...]:
    """For each assessor all those that they can be compared with, directly or through others, themselves included."""
    met = panel.judged.astype(np.int64)
    reach = (met.T @ met) > 0
    np.fill_diagonal(reach, True)
    for _ in panel.assessors:
        reach = (reach.astype(np.int64) @ reach.astype(np.int64)) > 0
    return tuple(frozenset(int(other) for other in np.flatnonzero(row)) for row in reach)
