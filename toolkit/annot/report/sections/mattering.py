"""Does it matter who judged? The runs under each grading, and how the orders compare."""

from __future__ import annotations

from annot.agreement import Interval, Undefined
from annot.report.document import Section, Table, rows_of
from annot.reusability import Comparison, DoesItMatter

ANCHOR, TITLE = "mattering", "Does it matter who judged?"


def mattering(found: DoesItMatter | Undefined) -> Section:
    """The rankings of the runs under every grading, Kendall's tau between them, and random mixtures."""
    if isinstance(found, Undefined):
        return Section(ANCHOR, TITLE, (f"Not asked: {found.reason}.",))
    settings = found.settings
    command = f"annot reusability --dialect {settings.dialect} --measure {settings.measure}"
    return Section(
        ANCHOR,
        TITLE,
        (
            f"The runs ranked by {settings.measure} (dialect {settings.dialect}) under the final grades, under the "
            "grades of the first and of the second assessor of each query (A and B), and under each assessor on the "
            f"queries they judged; {len(found.queries)} queries, {found.n_pairs} pairs. Voorhees (1998, 2000) asked it "
            "of TREC.",
            mixtures_text(found) + ".",
            *found.notes,
        ),
        (
            Table(
                "The runs in order, with their means in percent.",
                ("Grades of", "Queries", "Runs, best first"),
                rows_of(ranking_rows(found)),
                command,
                numeric_from=3,
            ),
            Table(
                "Kendall's tau-b between two orders of the runs; a swap is a pair of runs in another order whose "
                f"difference is significant (p <= {settings.alpha}, paired randomisation) under one of the two.",
                ("Grades of", "Against", "Tau", "Interval", "Reversed", "Swaps", "Queries"),
                rows_of(tau_rows(found)),
                command,
                numeric_from=2,
            ),
        ),
    )


def ranking_rows(found: DoesItMatter) -> list[tuple[object, ...]]:
    """The runs in order under each grading, with their means in percent."""
    return [
        (one.name, len(one.queries), ", ".join(f"{tag} {100 * mean:.2f}" for tag, mean in one.means.items()))
        for one in found.rankings
    ]


def tau_rows(found: DoesItMatter) -> list[tuple[object, ...]]:
    """Each comparison of two gradings."""
    return [
        (
            one.first,
            one.second,
            number(one.tau),
            _interval(one),
            f"{one.reversed_pairs} of {one.n_run_pairs}",
            len(one.swaps),
            one.n_queries,
        )
        for one in found.comparisons
    ]


def mixtures_text(found: DoesItMatter) -> str:
    """What happens when chance decides whose grade counts."""
    mixed = found.mixtures
    spread = ""
    if not isinstance(mixed.tau_range, Undefined):
        low, high = mixed.tau_range
        spread = f" (middle {100 * found.settings.bootstrap.level:g}%: {low:.2f} to {high:.2f})"
    return (
        f"{mixed.n} mixtures, each pair's grade from one of its assessors at random: mean tau with the final ranking "
        f"{number(mixed.tau)}{spread}; {mixed.same_order} rank the runs exactly alike; {mixed.with_swap} have a "
        "significant pair of runs in another order"
    )


def number(value: float | Undefined) -> str:
    """Tau to two decimals, or why there is none."""
    return f"undefined: {value.reason}" if isinstance(value, Undefined) else f"{value:.2f}"


def _interval(one: Comparison) -> str:
    for found in (one.intervals.bca, one.intervals.percentile):
        if isinstance(found, Interval):
            return f"[{found.low:.2f}, {found.high:.2f}]"
    return ""
