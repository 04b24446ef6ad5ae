"""A study's folder opened for reading: its judgements, final grades, pools and agreement as tables."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any

import pandas as pd

from annot.api import tidy
from annot.base.records import Decision, Judgement
from annot.study.snapshot import Snapshot, read_snapshot
from annot.study.workspace import Workspace


@dataclass(frozen=True, eq=False)
class OpenStudy:
    """A study as it was when `annot.open_study` read it; nothing is ever written.

    Attributes
    ----------
    path : Path
        The study's folder.
    """

    path: Path
    _snapshot: Snapshot = field(repr=False)

    @cached_property
    def judgements(self) -> pd.DataFrame:
        """Every judgement: query_id, facet, query_paper, doc_id, assessor, occasion, grade, cannot_judge, comment, ...

        The last columns are flags, revision and times. ``occasion`` is 2 for the answer to a hidden repeat; ``flags``
        are the reasons for which a judgement does not count; ``grade`` is empty where none was given.
        `annot.measure_agreement` takes this table as it is.
        """
        columns = ["query_id", "facet", "query_paper", "doc_id", "assessor", "occasion", "grade", "cannot_judge"]
        rows = [
            {**self._row(judgement), "flags": "; ".join(judgement.flags)}
            for judgement in self._snapshot.outcome.everything
        ]
        frame = pd.DataFrame(rows, columns=[*columns, "comment", "flags", "revision", "judged_at", "lead_time"])
        return frame.astype({"grade": "Int64"})

    @cached_property
    def qrels(self) -> pd.DataFrame:
        """Every final grade: query_id, facet, query_paper, doc_id, relevance, origin, adjudicator, reason.

        A pair that is not settled has no row: unjudged is not 0. `annot.evaluate` takes this table as it is.
        """
        columns = ["query_id", "facet", "query_paper", "doc_id", "relevance", "origin", "adjudicator", "reason"]
        decisions = self._snapshot.outcome.decisions
        rows = [{**self._row(decision), "relevance": decision.grade} for decision in decisions]
        return pd.DataFrame(rows, columns=columns)

    @cached_property
    def pool(self) -> pd.DataFrame:
        """Every pooled document: query_paper, doc_id, turn, method, rank, score, also_had_by.

        All facets of a query paper share its pool.
        """
        frames = [tidy.pool(pool) for pool in self._snapshot.pools.values()]
        columns = ["query_paper", "doc_id", "turn", "method", "rank", "score", "also_had_by"]
        return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=columns)

    @cached_property
    def agreement(self) -> pd.DataFrame:
        """The figures of `annot agreement`, as `MeasuredAgreement.to_frame` has them.

        Pairs that not all of their assessors have judged yet are left out. Raises MissingInput when nothing is judged.
        """
        from annot.measuring.measured import agreement_of

        return tidy.agreement(agreement_of(self._snapshot))

    def _row(self, one: Judgement | Decision) -> dict[str, Any]:
        """Its fields, with the facet and the paper of its query."""
        of_query = {"facet": self._snapshot.facets[one.query_id], "query_paper": self._snapshot.papers[one.query_id]}
        return asdict(one) | of_query


def open_study(path: str | PathLike[str] = ".") -> OpenStudy:
    """Open a study's folder for reading.

    Everything is read at once, in one transaction: the tables fit each other, and later pulls do not change them.

    Parameters
    ----------
    path : str or path
        The folder that holds ``annot.toml``.

    Returns
    -------
    OpenStudy
        With the tables ``judgements``, ``qrels``, ``pool`` and ``agreement``.

    Raises
    ------
    MissingInput
        If the folder is not a study, or its database is missing.
    SettingsError
        With every fault in ``annot.toml``.

    Examples
    --------
    >>> import annot
    >>> study = annot.open_study("study")
    >>> study.judgements[["query_id", "doc_id", "assessor", "grade"]].head(2)
      query_id doc_id assessor  grade
    0    q1-method     d1       a1      3
    1    q1-method     d1       a2      2
    """
    workspace = Workspace.open(Path(path))
    return OpenStudy(workspace.root, read_snapshot(workspace))
