"""All judgements of a study side by side: a row a pair, a column an assessor."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from annot.judged import first_judgements
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
    def widest(self) -> float:
        """The largest difference between two grades."""
        return float(self.scale[-1] - self.scale[0])

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
    decided = {(decision.query_id, decision.doc_id): decision for decision in decisions}
    counting = first_judgements(judgements, decided.values(), facets, grades=scale)
    given = {(answer.query_id, answer.doc_id, answer.assessor): answer.grade for answer in counting}
    place = {grade: at for at, grade in enumerate(scale)}
    graded = {key: place[grade] for key, grade in given.items() if grade is not None}
    assessors = sorted({assessor for _, _, assessor in graded})
    pairs = sorted({(query_id, doc_id) for query_id, doc_id, _ in graded})
    final = [decided.get(pair) for pair in pairs]
    unsettled = set(open_pairs)
    return Panel(
        assessors=tuple(assessors),
        query_ids=tuple(query_id for query_id, _ in pairs),
        doc_ids=tuple(doc_id for _, doc_id in pairs),
        facets=tuple(facets[query_id] for query_id, _ in pairs),
        scale=tuple(scale),
        grades=np.array(
            [[graded.get((*pair, assessor), NO_GRADE) for assessor in assessors] for pair in pairs], dtype=np.int64
        ).reshape(len(pairs), len(assessors)),
        final=np.array([NO_GRADE if decision is None else place[decision.grade] for decision in final], dtype=np.int64),
        adjudicated=np.array(
            [decision is not None and decision.origin == "adjudicated" for decision in final], dtype=np.bool_
        ),
        open=np.array([pair in unsettled for pair in pairs], dtype=np.bool_),
    )


def partners(panel: Panel) -> tuple[frozenset[int], ...]:
    """For each assessor all those that they can be compared with, directly or through others, themselves included."""
    from scipy.sparse.csgraph import connected_components

    met = panel.judged.astype(np.int64)
    _, group = connected_components(met.T @ met, directed=False)
    return tuple(frozenset(np.flatnonzero(group == mine).tolist()) for mine in group)
