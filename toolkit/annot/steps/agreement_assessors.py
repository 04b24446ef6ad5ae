"""Assessors one by one and two by two: how they judge, whether they change, and why they disagree."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Collection, Sequence
from typing import Any

from annot.agreement import COEFFICIENTS
from annot.diagnosis import Repeat, drifts, paces, panel_of, sequences_of, streaks, to_json
from annot.errors import MissingInput
from annot.names import known_query
from annot.records import Assignment, Judgement, Source
from annot.report.diagnosed import Asked, Looked, diagnosed
from annot.report.document import Table
from annot.report.sections.assessors import assessors
from annot.report.text import text_table
from annot.stats.rounding import rounding
from annot.store import people
from annot.store.database import open_store
from annot.store.queries import read_queries
from annot.store.runs import read_imports
from annot.study.outcome import Outcome, outcome_of
from annot.study.workspace import Workspace

ALPHA = 0.02
"""The chance of any false finding, over all that is tested; `benchmarks/diagnosis_power.py` shows what it holds."""
PERMUTATIONS = 2_000
TOO_FAST_SECONDS, TOO_FAST_SHARE = 3.0, 0.2
"""A judgement is too fast below so many seconds, or below this share of the assessors' median."""
HARDEST, EXAMPLES = 3, 5
POWER = 0.8
"""The chance at which a change counts as one that would have been found."""
DAYS_BY_CLOCK = 3
"""On so many days or more people choose their moments; a sitting follows the plan's order, whatever clocks say."""
WIDTH = 100


def look(ws: Workspace, *, queries: Collection[str]) -> Looked:
    """Look at everyone who judged. Raises MissingInput when nobody did, InputError for a query that is not known."""
    with open_store(ws.database_url, create=False) as store, store.read() as session:
        outcome = outcome_of(session)
        known = {query.query_id: query for query in read_queries(session)}
        plan = people.read_assignments(session)
        elsewhere = any(one.what in (Source.CSFCUBE, Source.FILE) for one in read_imports(session))
    for name in queries:
        known_query(known, name)
    facets = {name: query.facet for name, query in known.items()}
    return of_outcome(ws, outcome, facets, plan=plan, elsewhere=elsewhere)


@rounding
def of_outcome(
    ws: Workspace, outcome: Outcome, facets: dict[str, str], *, plan: Sequence[Assignment], elsewhere: bool
) -> Looked:
    """One state of the study. elsewhere: the plan is only what an imported file had, and tells no order of judging.

    Nothing in it depends on the clock where a study of our own was judged within two days.
    """
    counting = [one for one in outcome.judgements if one.grade is not None and not one.flags]
    if not counting:
        raise MissingInput("no judgements", hint="bring them in with `annot pull` or `annot import judgements`")
    settings = ws.settings
    panel = panel_of(
        outcome.judgements, outcome.decisions, facets, scale=settings.scale.grades, open_pairs=outcome.open
    )
    by_clock = elsewhere or len({(one.judged_at or "")[:10] for one in counting}) >= DAYS_BY_CLOCK
    sequences = sequences_of(outcome.judgements, plan, by_clock=by_clock)
    level, seed, fence = settings.agreement.level, settings.seed, settings.forecast.fence
    return Looked(
        diagnosed=diagnosed(
            panel,
            repeats_of(outcome),
            policy=settings.judging.missing,
            missing=_asked(outcome, counting),
            coefficient=COEFFICIENTS["kappa_quadratic"],
            alpha=ALPHA,
            level=level,
            seed=seed,
            hardest=HARDEST,
            examples=EXAMPLES,
        ),
        order=_order({one.order for one in sequences}, elsewhere),
        fence=fence,
        power=POWER,
        paces=paces(sequences, fence=fence, floor=TOO_FAST_SECONDS, fraction=TOO_FAST_SHARE, level=level),
        streaks=streaks(sequences, alpha=ALPHA, permutations=PERMUTATIONS, seed=seed),
        drifts=drifts(panel, sequences, fence=fence, alpha=ALPHA, power=POWER, permutations=PERMUTATIONS, seed=seed),
    )


def _order(orders: set[str], elsewhere: bool) -> str:
    if orders == {"judged_at"}:
        return "the order of the clock"
    of_some = " of those whose judgements do not all have a moment" if "judged_at" in orders else ""
    if elsewhere:
        return f"the order of the imported file{of_some}, which need not be the order of judging"
    return f"the order of the plan{of_some}"


def _asked(outcome: Outcome, counting: Sequence[Judgement]) -> tuple[Asked, ...]:
    asked = Counter(name for names in outcome.planned.values() for name in names)
    graded = Counter(one.assessor for one in counting)
    return tuple(Asked(name, max(asked[name], graded[name]), graded[name]) for name in sorted(graded | asked))


def repeats_of(outcome: Outcome) -> tuple[Repeat, ...]:
    """What an assessor was asked a second time and answered with a grade both times."""
    graded = {
        (one.asked, one.assessor): one.grade for one in outcome.everything if not one.flags and one.grade is not None
    }
    return tuple(
        Repeat(one.assessor, *one.asked.pair, first, second)
        for one in outcome.repeats
        if (second := graded.get((one.asked, one.assessor))) is not None
        and (first := graded.get((one.asked._replace(occasion=one.occasion - 1), one.assessor))) is not None
    )


def as_data(looked: Looked) -> Any:
    """Everything as JSON can carry it."""
    return to_json(looked)


def describe(looked: Looked, *, queries: Collection[str]) -> str:
    """What the report's section has, as text. queries: show hard candidates of these only, and all of them."""
    section = assessors(looked, queries)
    parts = ["\n".join(textwrap.fill(line, WIDTH, subsequent_indent="  ") for line in section.paragraphs)]
    for block in section.blocks:
        if isinstance(block, Table):
            notes = [textwrap.fill(note, WIDTH) for note in block.notes]
            caption = textwrap.fill(block.caption, WIDTH)
            parts.append("\n".join([caption, "", text_table(block.headings, block.rows), *notes]))
    return "\n\n".join(parts)
