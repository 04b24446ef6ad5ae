"""Who judged a collection under which rules, and what came of it, counted from its records."""

from __future__ import annotations

from collections import Counter
from typing import Any

from annot.base.names import without_ids
from annot.base.records import Source
from annot.formats.csfcube import ADJUDICATOR
from annot.measuring.measured import repeats_of
from annot.measuring.results import read_audit
from annot.publishing.report.study import Study
from annot.study.adjudication import unexplained_of
from annot.study.outcome import Outcome
from annot.study.snapshot import Snapshot


def judging_facts(study: Snapshot, *, missing: str) -> dict[str, Any]:
    """Who judged under which rules, and what came of it.

    `assignment`: `per-query` or `per-pair`. `missing`: the policy for missing judgements in the agreement figures,
    `drop` or `zero`. `ratings`: what the adjudicator saw of the ratings, `shown`, `hidden` or `unknown`, or several
    where it differed. `repeats`: answers to hidden repeats where both times a grade was given; `repeats_same`: those
    with the same grade again. `audit`: see `annot.measuring.results.read_audit`. `not_counted`: (why judgements do not
    count, how many). `simulated`: whether programs stood in for the assessors. `imported`: `release`, `file`, or None
    if the judgements were made here; no plan and no audit of ours stands behind imported ones.
    `given_to`: (assessors of a pair, planned pairs that have so many). `pairs_by_judgements`: (judgements of a pair,
    pairs that have so many), of the judged pairs; `decided_by_judgements`: of those with a final grade. `per_item`: how
    many judgements a pair has, `2` or `1 to 3`. `accepted`: (why, pairs with a final grade although they have fewer
    judgements than planned). `unsettled`: judged pairs that wait for a final grade. `unjudgeable`: (query, pairs that
    nobody can judge, planned pairs of it), of the queries that have such pairs; they have no final grade and never
    get one. `returned`: how often a pair was put before its assessor again with a reason; `returned_changed`: how
    often the answer then given is another one. `unexplained`: see
    `annot.study.adjudication.Unexplained`. `single`: pairs whose final grade is the only judgement that they
    have.
    """
    outcome = study.outcome
    counting = [judgement for judgement in study.outcome.judgements if judgement.counts]
    answered = {(judgement.query_id, judgement.doc_id, judgement.assessor) for judgement in counting}
    teams = {(query_id, team) for (query_id, _), team in outcome.planned.items()}
    by_pair = Counter((query_id, doc_id) for query_id, doc_id, _ in answered)
    repeats = repeats_of(outcome)
    # CSFCube's release does not say who adjudicated; the name in the store is ours.
    nameless = {ADJUDICATOR} if Source.CSFCUBE in study.sources else set()
    imported = "release" if Source.CSFCUBE in study.sources else "file" if Source.FILE in study.sources else None
    report = Study(study)
    return {
        "sources": study.sources,
        "studio_versions": sorted({project.version for project in study.projects}),
        "assessors": len({judgement.assessor for judgement in counting}),
        "adjudicators": len({settled.adjudicator for settled in outcome.adjudications.values()} - nameless),
        "planned_per_pair": outcome.per_pair,
        "given_to": report.given_to,
        "per_item": " to ".join(dict.fromkeys(str(end(by_pair.values())) for end in (min, max) if by_pair)),
        "assignment": "per-query" if len(teams) == len({query_id for query_id, _ in teams}) else "per-pair",
        "isolation": isolation_of(study),
        "terms_marked": not imported and _terms_marked(study),
        "missing": missing,
        "ratings": sorted({settled.ratings for settled in outcome.adjudications.values()}),
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
        "pairs_by_judgements": sorted(Counter(by_pair.values()).items()),
        "decided_by_judgements": sorted(
            Counter(by_pair[decision.pair] for decision in outcome.decisions).items(), reverse=True
        ),
        "accepted": report.accepted,
        "unsettled": len(
            by_pair.keys() - {decision.pair for decision in outcome.decisions} - outcome.unjudgeable.keys()
        ),
        "unjudgeable": _unjudgeable(outcome),
        **_returned(outcome),
        "unexplained": unexplained_of(outcome.adjudications, outcome.current),
        "single": sum(by_pair[decision.pair] == 1 for decision in outcome.decisions if decision.origin == "agreed"),
    }


def _unjudgeable(outcome: Outcome) -> list[tuple[str, int, int]]:
    planned = Counter(query_id for query_id, _ in outcome.planned)
    ended = Counter(query_id for query_id, _ in outcome.unjudgeable)
    return [(query_id, ended[query_id], planned[query_id]) for query_id in sorted(ended)]


def _returned(outcome: Outcome) -> dict[str, int]:
    said = {(answer.asked, answer.assessor): answer for answer in outcome.everything if answer.counts}
    changed = 0
    for back in outcome.returned:
        first, then = (said.get((asked, back.assessor)) for asked in (back.asked._replace(occasion=1), back.asked))
        changed += first is not None and then is not None and first.grade != then.grade
    return {"returned": len(outcome.returned), "returned_changed": changed}


def isolation_of(study: Snapshot) -> str:
    """`project`, or `server` where no two people shared one in any round; `unknown` where judgements were imported."""
    if Source.LABEL_STUDIO not in study.sources:
        return "unknown"
    owners = {(project.server, project.assessor) for project in study.projects}
    servers, people = ({pair[at] for pair in owners} for at in (0, 1))
    return "server" if len(people) > 1 and len(servers) == len(owners) else "project"


def _terms_marked(study: Snapshot) -> bool:
    """Whether the screens mark the topic's words in the documents of pairs that are judged whole."""
    settings = study.ws.settings
    return settings.screen.mark_terms and not all(settings.facets.get(facet) for facet in study.facets.values())
