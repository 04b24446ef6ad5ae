"""The certificate: whether systems that did not help to build the pools can be measured on them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from annot.base.errors import MissingInput
from annot.base.records import Qrel
from annot.judging.state_memory import remembered_findings
from annot.measuring.evaluation.computed import MeasuresAsked
from annot.measuring.evaluation.evaluated import PRIMARY
from annot.measuring.evaluation.graded_pools import GradedPools
from annot.measuring.evaluation.measures import TIES
from annot.measuring.measured import graded_pools, of_all_topics, primary_of, read_run_files
from annot.measuring.results import as_text, keep
from annot.measuring.reusability.certificate import Certificate, Runs, certify
from annot.measuring.reusability.own_finds import Estimating, Score
from annot.measuring.sampled.pools import SampledPools
from annot.measuring.sampled_study import drawn_pairs
from annot.pools.pool_facts import drawn_rankings
from annot.publishing.neighbours import write_pages
from annot.publishing.report.certificate import certificate_page, terminal
from annot.publishing.report.notices import RESTS_ON, notices
from annot.publishing.report.pages import markdown, page
from annot.publishing.report.study import Study
from annot.publishing.report.terminal import table_text
from annot.store.pools import read_pools
from annot.study.exports import exported_qrels
from annot.study.snapshot import Snapshot, read_snapshot
from annot.study.workspace import Workspace

LOSS_CONVENTION = "trec"
LOSS_MEASURE = PRIMARY[LOSS_CONVENTION]
"""Rankings of the corpus hold much that is not judged: CSFCube's measures, whose ideal order is of the submitted list,
are made for rankings of a pool."""
PAGE, MARKDOWN, FIGURES = "certificate.html", "certificate.md", "certificate.json"


def certificate(ws: Workspace, *, tell: Callable[[str], None]) -> tuple[Certificate, Path]:
    """Write `exports/certificate.html`, the same as Markdown, and its figures. Raises MissingInput without pools."""
    snapshot = read_snapshot(ws)
    qrels, runs = exported_qrels(snapshot), read_run_files(snapshot.ws)
    with ws.reading() as session:
        pools = read_pools(session)
    if not pools:
        raise MissingInput("no pools on record", hint="draw them with `annot pool`")
    compared = primary_of(ws.settings)
    graded = graded_pools(snapshot, qrels)
    found = certify(
        of_all_topics(snapshot, runs),
        qrels,
        pools,
        drawn_rankings(ws, pools),
        snapshot.topics,
        _score(snapshot, graded, *compared, ties=TIES[0]),
        _score(snapshot, graded, LOSS_CONVENTION, LOSS_MEASURE, ties="expected"),
        measure=compared[1],
        loss_measure=LOSS_MEASURE,
        relevant_from=ws.settings.evaluation.relevant_from,
        tolerance=ws.settings.evaluation.tolerated_loss,
        level=ws.settings.agreement.level,
        estimating=_estimating(snapshot, qrels, graded) if isinstance(graded, SampledPools) else None,
    )
    rests_on = RESTS_ON["runs"]
    untrue = notices(remembered_findings(ws, snapshot.states, on=rests_on), rests_on)
    notice = " ".join(filter(None, (Study(snapshot).notice, *untrue))) or None
    made = certificate_page(found, title=ws.settings.collection.title, notice=notice)
    keep(ws, FIGURES, as_text(found), tell=tell)
    write_pages(ws.exports, {MARKDOWN: markdown(made), PAGE: page(made, overrides=ws.root / "templates")})
    return found, ws.exports / PAGE


def describe(found: Certificate) -> str:
    """The verdict and the tables."""
    verdict, tables = terminal(found)
    return "\n\n".join([verdict, *map(table_text, tables)])


def _estimating(snapshot: Snapshot, qrels: tuple[Qrel, ...], graded: SampledPools) -> Estimating:
    relevant_from = snapshot.ws.settings.evaluation.relevant_from
    return Estimating(
        relevant={
            (query_id, doc_id): estimate
            for query_id, pool in graded.pools.items()
            for doc_id, estimate in zip(
                pool.doc_ids, pool.weighed(0).relevant(relevant_from).estimate.tolist(), strict=True
            )
        },
        score_without=lambda method: _score(
            snapshot,
            drawn_pairs(snapshot, qrels, without=method).pools,
            LOSS_CONVENTION,
            LOSS_MEASURE,
            ties="expected",
        ),
    )


def _score(snapshot: Snapshot, graded: GradedPools, convention: str, measure: str, *, ties: str) -> Score:
    asked = MeasuresAsked(convention, (), snapshot.ws.settings.evaluation.relevant_from)

    def values(runs: Runs) -> Mapping[str, Mapping[str, float]]:
        measured = {tag: graded.measured(run, graded.query_ids, asked, ties=ties) for tag, run in runs.items()}
        return {tag: {query.query_id: query.values[measure] for query in one.queries} for tag, one in measured.items()}

    return values
