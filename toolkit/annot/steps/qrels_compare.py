"""Two qrels compared: grades, topic by topic, and the order of the runs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from annot.base.errors import InputError
from annot.formats.trec import read_qrels
from annot.measuring.evaluation.evaluated import TOGETHER
from annot.measuring.evaluation.two_qrels import TwoQrels, compare_qrels
from annot.measuring.measured import comparable_runs, evaluation_of
from annot.publishing.report.terminal import table_text
from annot.publishing.report.words import sentence, table
from annot.study.given_files import given_text
from annot.study.snapshot import read_snapshot
from annot.study.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Compared:
    """The two files, and what they say."""

    a: str
    b: str
    found: TwoQrels
    notes: tuple[str, ...]


def compare(ws: Workspace, a: Path, b: Path, *, conventions: tuple[str, ...], measures: tuple[str, ...]) -> Compared:
    """The qrels files `a` and `b` on the queries of this study that both have, and the runs of `exports/runs/` on each.

    conventions: in the first of them; measures: by the first of them (else NDCG%20; nDCG in trec).
    """
    snapshot = read_snapshot(ws)
    texts = [(str(path), given_text(path, expected="TREC qrels")) for path in (a, b)]
    files = [(name, read_qrels(text.splitlines(), name=name)) for name, text in texts]
    queries = [{one.query_id for one in qrels} for _, qrels in files]
    common = queries[0] & queries[1] & snapshot.facets.keys()
    if not common:
        raise InputError(
            f"{a} and {b}: no query of this study is in both",
            faults=[f"{path}: found {', '.join(sorted(of)[:3])}" for (path, _), of in zip(files, queries, strict=True)],
        )
    notes = tuple(
        f"{path}: {len(of - common)} of its {len(of)} queries are left out: not in the other file, or not in this study"
        for (path, _), of in zip(files, queries, strict=True)
        if of - common
    )
    runs = comparable_runs(snapshot)
    of_a, of_b = (tuple(one for one in qrels if one.query_id in common) for _, qrels in files)
    by_a, by_b = (
        evaluation_of(snapshot, runs, qrels, conventions=conventions[:1], measures=measures) for qrels in (of_a, of_b)
    )
    facets = {snapshot.facets[query_id] for query_id in common}
    facet = TOGETHER if len(facets) > 1 else next(iter(facets))
    found = compare_qrels(
        of_a, of_b, by_a, by_b, facet=facet, level=ws.settings.agreement.level, papers=snapshot.papers
    )
    return Compared(str(a), str(b), found, notes)


def describe(compared: Compared) -> str:
    """The verdict in one line; then grades, runs that change sides, and topics."""
    found = compared.found
    rows = list(zip(found.grades, found.confusion, strict=True))
    tables = [
        table("two_qrels.confusion", rows, compared=compared, grades=[str(grade) for grade in found.grades]),
        table("two_qrels.means", found.means.items(), found=found),
        table("two_qrels.changed", found.changed, found=found),
        table("two_qrels.topics", found.topics, found=found),
    ]
    shown = [table_text(one) for one in tables if one.rows]
    return "\n\n".join([sentence("two_qrels.verdict", found=found), *shown])
