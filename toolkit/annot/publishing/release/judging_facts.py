"""Who judged a collection under which rules, and what came of it, counted from its records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from typing import Any

from annot.base.names import without_ids
from annot.base.records import Source, grouped
from annot.formats.csfcube import ADJUDICATOR
from annot.measuring.measured import repeats_of
from annot.measuring.results import read_audit
from annot.publishing.report.study import Study
from annot.study.adjudication import Pair, unexplained_of
from annot.study.outcome import Outcome
from annot.study.snapshot import Snapshot


def judging_facts(study: Snapshot, *, missing: str) -> dict[str, Any]:
    """Who judged under which rules, and what came of it.

    Sentences on the design rest on what was judged, never on how the plan was drawn: people leave. `same_team`:
    (queries of which the same assessors judged every judged pair, queries with judged pairs). `missing`: the policy
    for missing judgements in the agreement figures, `drop` or `zero`. `ratings`: what the adjudicator saw of the
    ratings, `shown`, `hidden` or `unknown`, or several where it differed. `studios`: servers on which people
    judged. `repeats`: answers to hidden repeats where both times a grade was given; `repeats_same`: those with the
    same grade again. `audit`: see `annot.measuring.results.read_audit`. `not_counted`: (why judgements do not
    count, how many). `simulated`: whether programs stood in for the assessors. `imported`: `release`, `file`, or
    None if the judgements were made here; no plan and no audit of ours stands behind imported ones. `given_to`:
    (assessors of a pair, planned pairs that have so many). `pairs_by_judgements`: (judgements of a pair, pairs that
    have so many), of the judged pairs, the most first. `disputes`: see `_disputes`. `agreed`: pairs whose final
    grade is that of all their assessors, of whom there are several. `not_judged`: pairs of the pools that were to
    be judged and have no judgement, and all that were to be judged. `accepted`: (why, pairs with a final grade
    although they have fewer judgements than planned). `unsettled`: judged pairs that wait for a final grade.
    `unjudgeable`: (query, pairs that nobody can judge, planned pairs of it), of the queries that have such pairs;
    they have no final grade and never get one. `returned`: how often a pair was put before its assessor again with
    a reason; `returned_changed`: how often the answer then given is another one. `unexplained`: see
    `annot.study.adjudication.Unexplained`. `days`: the first and the last of the answers that count, None if none is on
    record or programs gave them. `single`: pairs whose final grade is the only judgement that they have.
    """
    outcome = study.outcome
    counting = [judgement for judgement in study.outcome.judgements if judgement.counts]
    answered = {(judgement.query_id, judgement.doc_id, judgement.assessor) for judgement in counting}
    judges = grouped((judgement.pair, judgement.assessor) for judgement in counting)
    teams = grouped((query_id, frozenset(names)) for (query_id, _), names in judges.items())
    by_pair = Counter((query_id, doc_id) for query_id, doc_id, _ in answered)
    repeats = repeats_of(outcome)
    # CSFCube's release does not say who adjudicated; the name in the store is ours.
    nameless = {ADJUDICATOR} if Source.CSFCUBE in study.sources else set()
    imported = "release" if Source.CSFCUBE in study.sources else "file" if Source.FILE in study.sources else None
    moments = [*(one.judged_at for one in counting), *(one.judged_at for one in outcome.adjudications.values())]
    days = sorted(moment[:10] for moment in moments if moment)
    report = Study(study)
    return {
        "sources": study.sources,
        "studio_versions": sorted({project.version for project in study.projects}),
        "assessors": len({judgement.assessor for judgement in counting}),
        "adjudicators": len({settled.adjudicator for settled in outcome.adjudications.values()} - nameless),
        "planned_per_pair": outcome.per_pair,
        "given_to": report.given_to,
        "same_team": (sum(len(set(of_query)) == 1 for of_query in teams.values()), len(teams)),
        "isolation": report.isolation,
        "studios": len({project.server for project in study.projects}),
        "terms_marked": not imported and _terms_marked(study),
        "missing": missing,
        "ratings": sorted(Counter(settled.ratings for settled in outcome.adjudications.values()).items()),
        "cannot_judge": sum(judgement.grade is None for judgement in counting),
        "missing_judgements": outcome.progress.missing,
        "repeats": len(repeats),
        "repeats_same": sum(repeat.first == repeat.second for repeat in repeats),
        "not_counted": sorted(
            Counter(without_ids(flag) for judgement in study.flagged for flag in judgement.flags).items()
        ),
        "audit": read_audit(study.ws),
        "simulated": report.notice is not None,
        "imported": imported,
        "pairs_by_judgements": sorted(Counter(by_pair.values()).items(), reverse=True),
        "disputes": _disputes(outcome),
        "agreed": sum(by_pair[decision.pair] > 1 for decision in outcome.decisions if decision.origin == "agreed"),
        "not_judged": _not_judged(study, by_pair.keys()),
        "accepted": report.accepted,
        "unsettled": len(
            by_pair.keys() - {decision.pair for decision in outcome.decisions} - outcome.unjudgeable.keys()
        ),
        "unjudgeable": _unjudgeable(outcome),
        **_returned(outcome),
        "unexplained": unexplained_of(outcome.adjudications, outcome.current),
        "days": (days[0], days[-1]) if days and report.notice is None else None,
        "single": sum(by_pair[decision.pair] == 1 for decision in outcome.decisions if decision.origin == "agreed"),
    }


def _disputes(outcome: Outcome) -> dict[str, int]:
    """How many pairs an adjudicator was wanted for: those in which the grades that count differ, or one is lacking
    because its assessor could not judge (`in_dispute`, which are `settled`, `open` or `closed` without a grade), and
    others on which an adjudicator decided (`besides`)."""
    differing = {one.pair for one in outcome.settlement.disputed if len({said.grade for said in one.judgements}) > 1}
    differing |= {one.pair for one in outcome.settlement.disputed if one.judgements[0].grade is None}
    return {
        "in_dispute": len(differing),
        "settled": len(differing & outcome.adjudications.keys()),
        "open": len(differing & set(outcome.open)),
        "closed": len(differing & outcome.unjudgeable.keys()),
        "besides": len(outcome.adjudications.keys() - differing),
    }


def _not_judged(study: Snapshot, judged: Collection[Pair]) -> tuple[int, int]:
    if Source.FILE in study.sources:
        return 0, 0
    wanted = {
        (query.query_id, entry.doc_id)
        for query in study.queries
        if query.topic_id in study.pools
        for entry in study.pools[query.topic_id].entries
    }
    if study.sample is not None:
        wanted = {pair for pair in wanted if study.sample.drawn(*pair)}
    return len(wanted - set(judged)), len(wanted)


def _unjudgeable(outcome: Outcome) -> list[tuple[str, int, int]]:
    planned = Counter(query_id for query_id, _ in outcome.planned)
    ended = Counter(query_id for query_id, _ in outcome.unjudgeable)
    return [(query_id, ended[query_id], planned[query_id]) for query_id in sorted(ended)]


def _returned(outcome: Outcome) -> dict[str, int]:
    said = {(answer.asked, answer.assessor): answer for answer in outcome.everything if answer.counts}
    changed = 0
    # What goes back because a text was corrected is no second look at the same pair.
    corrected = {(one.pair, one.assessor) for one in outcome.set_aside}
    returned = [one for one in outcome.returned if (one.pair, one.assessor) not in corrected]
    for back in returned:
        first, then = (said.get((asked, back.assessor)) for asked in (back.asked._replace(occasion=1), back.asked))
        changed += first is not None and then is not None and first.grade != then.grade
    return {"returned": len(returned), "returned_changed": changed}


def _terms_marked(study: Snapshot) -> bool:
    """Whether the screens mark the topic's words in the documents of pairs that are judged whole."""
    settings = study.ws.settings
    return settings.screen.mark_terms and not all(settings.facets.get(facet) for facet in study.facets.values())
