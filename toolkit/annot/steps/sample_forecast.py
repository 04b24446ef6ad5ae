"""What a sample of the pools will take before anybody judges: the share that hours or a budget allow."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

from annot.base.errors import InputError, MissingInput
from annot.base.stats.values import Estimate, Undefined
from annot.judging.planning.drawing import FEWEST_FOR_REPEATS
from annot.judging.pool_samples import Frozen, design_of, documents_to_plan, frozen_of, rule_of
from annot.judging.progress import rules_of, settled_of
from annot.measuring.agreement.joint import joint_grades
from annot.measuring.agreement.per_query import ratings_of
from annot.measuring.forecast.effort import Effort
from annot.measuring.forecast.hours import NO_TIMES, Rules, settling_of, speed_of
from annot.pools.pair_sample import SHARES, ExpectedPairs, SampleRule, expected_pairs, probabilities, share_within
from annot.publishing.report.words import sentences
from annot.study.snapshot import Snapshot, read_snapshot
from annot.study.workspace import Workspace

LEVEL = 0.9
"""Of the ranges."""


@dataclass(frozen=True, slots=True)
class ShareFound:
    """The share that hours or a budget allow, and what it is expected to take."""

    share: float
    pairs: ExpectedPairs
    hours: Estimate
    cost: Estimate
    notes: tuple[str, ...]


class _Study(NamedTuple):
    """What a share is forecast from."""

    snapshot: Snapshot
    frozen: Frozen
    rule: SampleRule
    effort: Effort
    share_on_record: float
    """0 where there is no sample."""


def share_for(
    ws: Workspace, *, hours: float | None, cost: float | None, seconds: float | None, queries: tuple[str, ...]
) -> ShareFound:
    """The largest share of the pools whose expected hours, or cost, are within what is allowed.

    One of `hours` and `cost` is given. seconds: of a judgement; None takes the judgements so far. queries: as of
    `annot plan`. What is judged already counts as work, too. Raises InputError where not even the smallest sample is
    within it, or a larger share is drawn already.
    """
    study = _study(ws, queries=queries, seconds=seconds)
    effort, rate = study.effort, ws.settings.forecast.hourly_rate
    asked = f"--hours {hours:g}" if cost is None else f"--cost {cost:g}"
    if cost is not None and not rate:
        raise MissingInput(f"{asked}: no hourly rate is set", hint="set hourly_rate under [forecast] in annot.toml")
    if not effort.known:
        raise MissingInput(f"{asked}: {NO_TIMES.reason}", hint="give the time of one judgement with --seconds")
    limit = hours if cost is None or not rate else cost / rate
    assert limit is not None

    def expected(share: float) -> ExpectedPairs:
        return expected_pairs(probabilities(study.frozen, share=share, rule=study.rule))

    def amount(taken: float) -> str:
        return f"{taken:,.1f} hours" if cost is None else f"{taken * (rate or 0.0):,.2f} {currency}"

    currency = ws.settings.forecast.currency
    least = effort.value(expected(1 / SHARES).mean)
    if least > limit:
        raise InputError(
            f"{asked}: the smallest sample takes {amount(least)}",
            hint="it has 8 pairs of each query, and every pair has a chance (`floor` and `unranked` in annot.toml)",
        )
    share = share_within(
        study.frozen, limit=limit, acts=lambda pi: effort.value(expected_pairs(pi).mean), rule=study.rule
    )
    if share < study.share_on_record:
        raise InputError(
            f"{asked}: enough for {share:g} of the pools, but {study.share_on_record:g} of them are drawn already, "
            f"which takes {amount(effort.value(expected(study.share_on_record).mean))}",
            hint="a sample grows only; `annot plan --withdraw` takes back what was not sent",
        )
    pairs = expected(share)
    found = effort.hours(pairs)
    return ShareFound(
        share,
        pairs,
        found,
        effort.cost(pairs),
        sentences(
            "commands.share_found",
            asked=asked,
            share=share,
            pairs=round(pairs.mean),
            taken=amount(effort.value(pairs.mean)),
            effort=effort,
            settling=effort.settling.reason if isinstance(effort.settling, Undefined) else "",
        ),
    )


def _study(ws: Workspace, *, queries: tuple[str, ...], seconds: float | None) -> _Study:
    snapshot = read_snapshot(ws)
    known = {query.query_id: query for query in snapshot.queries}
    documents = {
        query.query_id: tuple(entry.doc_id for entry in snapshot.pools[query.topic_id].entries)
        for query in snapshot.queries
        if query.topic_id in snapshot.pools
    }
    wanted = documents_to_plan(known, documents, queries, snapshot.assignments)
    sample = snapshot.sample
    design = design_of(
        ws.settings.sample,
        share=None,
        seed=ws.settings.seed if snapshot.plan is None else snapshot.plan.seed,
        created="",
        before=None if sample is None else sample.design,
    )
    frozen = frozen_of(snapshot.pools, [known[name] for name in wanted], before=sample)
    effort = _effort(snapshot, seconds, replace(rules_of(ws.settings), level=LEVEL))
    return _Study(snapshot, frozen, rule_of(design), effort, 0.0 if sample is None else sample.design.share)


def _effort(snapshot: Snapshot, seconds: float | None, rules: Rules) -> Effort:
    settings, outcome = snapshot.ws.settings, snapshot.outcome
    given = [answer for answer in outcome.everything if answer.counts]
    names = sorted({answer.assessor for answer in given})
    speed = speed_of(
        {name: [one for one in given if one.assessor == name] for name in names},
        fence=rules.fence,
        topics=snapshot.topics,
    )
    per_pair = settings.judging.per_pair
    joint = joint_grades(
        ratings_of(outcome.of_answered_pairs, (), snapshot.facets), per_pair=per_pair, seed=settings.seed
    )
    pairs = int(joint.tables.sum())
    return Effort(
        per_pair=per_pair,
        assessors=sum(
            person.left_on is None and (not person.adjudicator or settings.adjudication.adjudicator_may_assess)
            for person in snapshot.people
        ),
        repeats=settings.judging.repeats,
        fewest_for_repeats=FEWEST_FOR_REPEATS,
        names=names,
        speed=speed,
        seconds=seconds,
        disputed=float(joint.tables[:, joint.disputed].sum()) / pairs if per_pair > 1 and pairs else None,
        settling=settling_of(
            settled_of(outcome), seconds=settings.forecast.dispute_seconds, fence=rules.fence, topics=snapshot.topics
        ),
        rules=rules,
    )
