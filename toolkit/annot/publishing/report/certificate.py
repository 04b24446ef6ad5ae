"""The certificate as one page: its first sentence is the verdict."""

from __future__ import annotations

from collections.abc import Iterator

from annot.base.names import called
from annot.measuring.reusability.certificate import JUDGED, Certificate, SampledCertificate
from annot.measuring.reusability.own_finds import MOST_PAPERS
from annot.publishing.report.cells import LOSS, MEASURE, NONE, SHARE, TAU, Number
from annot.publishing.report.document import Chapter, Document, Reply, Table
from annot.publishing.report.tables import Column, table
from annot.publishing.report.words import sentence, sentences


def certificate_page(found: Certificate, *, title: str, notice: str | None) -> Document:
    """The verdict with its reasons, then what it rests on. notice: of the collection, as in its report."""
    values = _values(found)
    verdict = sentence("reusability.verdict", **values)
    return Document(
        title=sentence("reusability.title", title=title),
        subtitle="",
        notice=notice,
        answers=(Reply("Reusability", verdict, sentences("reusability.reasons", **values)),),
        body=tuple(_sections(found)),
    )


def terminal(found: Certificate) -> tuple[str, list[Table]]:
    """The verdict with its reasons, and the tables."""
    values = _values(found)
    told = [sentence("reusability.verdict", **values) + ".", *sentences("reusability.reasons", **values)]
    return "\n".join(told), [one for section in _sections(found) for one in section.blocks if isinstance(one, Table)]


def _sections(found: Certificate) -> Iterator[Chapter]:
    yield Chapter("losses", "What each method alone found", sentences("reusability.losses"), (_losses(found),))
    judged = "Judged of the first 20" if not isinstance(found, SampledCertificate) else "In the pools, of the first 20"
    runs = table(
        "runs",
        found.runs,
        [Column("Run", lambda one: one.run), Column("Also a pool method", lambda one: one.pooled)],
        [
            Column(judged, lambda one: Number(one.judged_at_20, SHARE)),
            Column("As it is", lambda one: Number(one.as_it_is, MEASURE)),
            Column("Condensed", lambda one: Number(one.condensed, MEASURE)),
        ],
        caption="reusability.unjudged_table",
        command=COMMAND,
    )
    yield Chapter("unjudged", f"Unjudged {called().document}s", sentences("reusability.unjudged"), (runs,))


def _losses(found: Certificate) -> Table:
    return table(
        "losses",
        found.losses,
        [Column("Without", lambda one: one.method)],
        [
            Column("Pairs from it alone", lambda one: one.alone),
            Column("Relevant ones", lambda one: one.alone_relevant),
            Column("Loss, points", lambda one: Number(one.loss, LOSS, one.interval)),
            Column("Score", lambda one: Number(one.score, MEASURE)),
            Column("Score without it", lambda one: Number(one.without, MEASURE)),
            Column("Rank", lambda one: one.rank or NONE),
            Column("Rank without it", lambda one: one.rank_without or NONE),
            Column("Tau", lambda one: Number(one.tau, TAU) if one.ranked else NONE),
        ],
        caption="reusability.losses_table",
        command=COMMAND,
        found=found,
    )


COMMAND = "annot reusability"


def _values(found: Certificate) -> dict[str, object]:
    unjudged = [run.run for run in found.runs if run.judged_at_20 < JUDGED]
    return {"found": found, "judged": JUDGED, "most_papers": MOST_PAPERS, "unjudged": unjudged}
