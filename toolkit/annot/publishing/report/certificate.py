"""The certificate as one page: its first sentence is the verdict."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from annot.measuring.reusability.certificate import JUDGED, Certificate
from annot.measuring.reusability.own_finds import MOST_PAPERS
from annot.measuring.reusability.reductions import Reduction, Swaps
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
    if found.methods:
        yield _reduced("methods", "The runs without one method", found.methods)
    if found.depths:
        yield _reduced("depths", "Shallower pools", found.depths)
    runs = table(
        "runs",
        found.runs,
        [Column("Run", lambda one: one.run), Column("Also a pool method", lambda one: one.pooled)],
        [
            Column("Judged of the first 20", lambda one: Number(one.judged_at_20, SHARE)),
            Column("As it is", lambda one: Number(one.as_it_is, MEASURE)),
            Column("Condensed", lambda one: Number(one.condensed, MEASURE)),
        ],
        caption="reusability.unjudged_table",
        command=COMMAND,
    )
    yield Chapter("unjudged", "Unjudged papers", sentences("reusability.unjudged"), (runs,))
    halves = (_halves(found.halves.swaps),) if found.halves else ()
    yield Chapter("halves", "Half of the queries", sentences("reusability.halves", found=found), halves)


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
        ],
        caption="reusability.losses_table",
        command=COMMAND,
        found=found,
    )


def _halves(swaps: Sequence[Swaps]) -> Table:
    def sizes(one: Swaps) -> str:
        return f"{100 * one.least:g}" + (" or more" if one.below == 1 else f" to {100 * one.below:g}")

    return table(
        "halves",
        swaps,
        [Column("Difference, points", sizes)],
        [
            Column("Differences", lambda one: one.differences),
            Column("Reversed", lambda one: Number(one.swapped / one.differences, SHARE)),
        ],
        caption="reusability.halves_table",
        command=COMMAND,
    )


def _reduced(name: str, heading: str, rows: tuple[Reduction, ...]) -> Chapter:
    changed = [
        (row.name, change)
        for row in rows
        for change in row.changes
        if change.rank_before != change.rank_after or abs(change.before - change.after) >= NOTABLE
    ]
    first = "Without" if name == "methods" else "Depth"
    lost: list[Column[Reduction]] = [
        Column("Judged pairs lost", lambda one: one.lost),
        Column("Relevant lost", lambda one: one.lost_relevant),
    ]
    blocks = [
        table(
            name,
            rows,
            [Column(first, lambda one: one.name)],
            [
                *(lost if name == "depths" else ()),
                Column("Tau", lambda one: Number(one.tau, TAU)),
                Column("Differences kept", lambda one: f"{one.kept} of {one.significant}"),
                Column("Reversed", lambda one: one.reversed),
            ],
            caption=f"reusability.{name}_table",
            command=COMMAND,
        )
    ]
    if changed:
        blocks.append(
            table(
                f"{name}_runs",
                changed,
                [Column(first, lambda one: one[0]), Column("Run", lambda one: one[1].run)],
                [
                    Column("All grades", lambda one: Number(one[1].before, MEASURE)),
                    Column("Grades left", lambda one: Number(one[1].after, MEASURE)),
                    Column("Rank", lambda one: one[1].rank_before),
                    Column("Rank after", lambda one: one[1].rank_after),
                ],
                caption=f"reusability.{name}_runs_table",
                command=COMMAND,
            )
        )
    return Chapter(name, heading, sentences(f"reusability.{name}"), tuple(blocks))


COMMAND = "annot reusability"
NOTABLE = 0.005
"""Half a point: changes below, without another rank, are in the JSON only."""


def _values(found: Certificate) -> dict[str, object]:
    unjudged = [run.run for run in found.runs if run.judged_at_20 < JUDGED]
    return {"found": found, "judged": JUDGED, "most_papers": MOST_PAPERS, "unjudged": unjudged}
