"""Does it matter who judged? The runs under each grading, and how the orders compare."""

from __future__ import annotations

from collections.abc import Mapping

from annot.agreement import Undefined
from annot.assessor_effect import DoesItMatter
from annot.assessor_effect.regrading import FINAL
from annot.report.document import Section, Table, rows_of
from annot.report.intervals import how_drawn, interval_text

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
            f"The runs ranked by {settings.measure} (dialect {settings.dialect}) under every grading; "
            f"{len(found.queries)} queries, {found.n_pairs} pairs. Voorhees (1998, 2000) asked it of TREC.",
            gradings_text(),
            f"{comparison_text(found)} {how_drawn(settings.bootstrap, over='queries')}",
            mixtures_text(found) + ".",
            *(f"{note}." for note in found.notes),
        ),
        (
            Table(
                "The runs in order, with their means in percent.",
                ("Grades of", "Queries", "Pairs", "No grade", "Runs, best first"),
                rows_of(ranking_rows(found)),
                command,
                numeric_from=5,
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


def gradings_text() -> str:
    """Whose grades are whose, and what counts where there is none."""
    return (
        "A and B are the first and the second assessor of each pair, in the order of their pseudonyms: two people for "
        "each pair, not the same two for all. A line of grades stands on the queries of which whom it names was given "
        "every pair. Missing judgements: zero. A pair that came back without a grade counts as not relevant, whatever "
        "it counts as in the agreement, and is counted under no grade; the mixtures take grades that there are."
    )


def comparison_text(found: DoesItMatter) -> str:
    """What tau compares, and where the orders stand that it compares."""
    text = "Tau compares two orders of the runs on the queries that both gradings have"
    if any(len(one.queries) < len(found.queries) for one in found.rankings):
        text += "; where these are not all, the order under the final grades on the same queries stands below"
    return f"{text}. An equals sign joins runs that tie."


def ranking_rows(found: DoesItMatter) -> list[tuple[object, ...]]:
    """The runs in order under each grading, with their means in percent; where a grading stands on some of the queries
    only, below it the final grades on the same."""
    against_final = {one.first: one for one in found.comparisons if one.second == FINAL}
    rows: list[tuple[object, ...]] = []
    for one in found.rankings:
        rows.append((one.name, len(one.queries), one.n_pairs, one.n_ungraded, _order(one.means)))
        if len(one.queries) < len(found.queries):
            same = against_final[one.name].means[FINAL]
            rows.append((f"{FINAL}, queries of {one.name}", len(one.queries), one.n_pairs, 0, _order(same)))
    return rows


def _order(means: Mapping[str, float]) -> str:
    """`b 61.20, a 58.03 = c 58.03`."""
    text, last = "", None
    for tag, mean in means.items():
        text += ("" if last is None else " = " if mean == last else ", ") + f"{tag} {100 * mean:.2f}"
        last = mean
    return text


def tau_rows(found: DoesItMatter) -> list[tuple[object, ...]]:
    """Each comparison of two gradings."""
    return [
        (
            one.first,
            one.second,
            number(one.tau),
            interval_text(one.intervals),
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
        spread = f" (middle {100 * found.settings.bootstrap.level:g}%: {low:z.2f} to {high:z.2f})"
    return (
        f"{mixed.n} mixtures, each pair's grade from one of its assessors at random: mean tau with the final ranking "
        f"{number(mixed.tau)}{spread}; {mixed.same_order} rank the runs exactly alike; {mixed.with_swap} have a "
        "significant pair of runs in another order"
    )


def number(value: float | Undefined) -> str:
    """Tau to two decimals, or why there is none."""
    return f"undefined: {value.reason}" if isinstance(value, Undefined) else f"{value:z.2f}"
