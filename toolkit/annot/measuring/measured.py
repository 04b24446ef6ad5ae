"""Figures measured on one record of a study, and the files of exports/ that hold it."""

from __future__ import annotations

import errno
import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from annot.base.errors import InputError, MissingInput
from annot.base.libraries import evaluator_of
from annot.base.names import sha256_of
from annot.base.records import CHANCE, GROWN, Decision, Judgement, Qrel, Ranking, Source, nested
from annot.base.settings import Settings
from annot.base.stats.inference import POWER
from annot.base.stats.values import rounding, to_json
from annot.formats.trec import ENDING, Match, Matches, match_lines, read_matches, read_tagged_run
from annot.measuring.agreement.coefficients import COEFFICIENTS, HEADLINE
from annot.measuring.agreement.estimates import AgreementTable, agreement_table
from annot.measuring.diagnosis import findings
from annot.measuring.diagnosis import panel as panels
from annot.measuring.diagnosis.panel import Panel, panel_of
from annot.measuring.evaluation.comparisons import ALPHA, RunsBeforeTopups, ToppedUp, restated_scores
from annot.measuring.evaluation.evaluated import PRIMARY, EvaluatedRuns, evaluate_runs, version_scores
from annot.measuring.evaluation.measures import CONVENTIONS, JudgedWhole, QueryMeasures
from annot.measuring.sampled.estimates import GradedPools
from annot.measuring.sampled_study import drawn_pairs, with_cost
from annot.pools.one_version import read_version
from annot.pools.pooling import refuse_zero, versions_by_document, versions_of
from annot.study.guidelines import distinct
from annot.study.outcome import Outcome, Pair
from annot.study.snapshot import JUDGEMENTS_FILE, Snapshot, exported_qrels, refuse_unjudged
from annot.study.workspace import Workspace, given_text, write_file

# ----------------------------------------------------------------------------------------------------------------------
# Files of exports/ with measurements, and the sentences that runs matched.
# ----------------------------------------------------------------------------------------------------------------------


AUDIT_FILE = "audit.json"


def keep(ws: Workspace, name: str, text: str, *, tell: Callable[[str], None]) -> None:
    """Write a file of figures into `exports/`; if the study can only be read, `tell` that they are not kept."""
    try:
        write_file(ws.exports / name, text)
    except OSError as error:
        if error.errno not in (errno.EACCES, errno.EPERM, errno.EROFS):
            raise
        tell(f"{ws.exports / name}: cannot be written ({error.strerror}); the figures are only printed here")


AGREEMENT_FILE, EVALUATION_FILE, EFFECT_FILE = "agreement.json", "evaluation.json", "assessor-effect.json"
"""Files in `exports/`: an `AgreementTable`, `evaluation_data`, an `AssessorEffect`."""


def evaluation_data(evaluated: EvaluatedRuns) -> Any:
    """Data of the lines, the comparisons and the queries' own values."""
    of_corpus: dict[str, Any] = {}
    if evaluated.corpus is not None:
        evaluators = {name: evaluator_of(name) for name in sorted({line.convention for line in evaluated.lines})}
        of_corpus = {"corpus": evaluated.corpus, "evaluators": evaluators, "versions": evaluated.by_version}
    return {
        "relevant_from": evaluated.relevant_from,
        "intervals": {"over": evaluated.words.topics, "level": evaluated.level},
        "lines": evaluated.lines,
        "ceiling": evaluated.ceiling,
        "comparison": {
            "convention": evaluated.convention,
            "measure": evaluated.measure,
            "test": "two-sided paired randomisation test",
            "unit": evaluated.words.topic,
            "correction": "step-down maximum of t (Westfall and Young 1993), over all pairs of runs of a facet",
            "alpha": ALPHA,
            "power": POWER,
            "verdicts": evaluated.verdicts,
            "pairs": evaluated.comparisons,
        },
        "queries": {
            tag: {
                convention: {query.query_id: _shown(query) for query in evaluation.queries}
                for convention, evaluation in by_convention.items()
            }
            for tag, by_convention in evaluated.evaluations.items()
        },
        "notes": (*filter(None, [evaluated.warning]), *evaluated.notes),
        **({} if evaluated.sampled is None else {"sample": evaluated.sampled}),
        **({} if evaluated.restated is None else {"restated": evaluated.restated}),
        **of_corpus,
    }


def _shown(query: QueryMeasures) -> Any:
    """Values of the query, null if an estimate cannot be true."""
    return to_json(query) | {"values": {name: query.shown(name) for name in query.values}}


def judgements_sha256(ws: Workspace) -> str:
    """Hash of `exports/judgements.jsonl`; "" if it is not written yet."""
    path = ws.exports / JUDGEMENTS_FILE
    return sha256_of(path) if path.is_file() else ""


def read_audit(ws: Workspace) -> dict[str, Any] | None:
    """Findings of the last `annot check server`; `current` is true if they are about the judgements as they are now."""
    try:
        audit: dict[str, Any] = json.loads((ws.exports / AUDIT_FILE).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    return audit | {"current": audit["judgements_sha256"] == judgements_sha256(ws)}


def as_text(data: Any) -> str:
    """JSON of a record, or of data that JSON can carry, in the format of files."""
    return json.dumps(to_json(data), indent=2, ensure_ascii=False) + "\n"


def matches_file(ws: Workspace, tag: str) -> Path:
    """Path of the file with the matches of a run."""
    return ws.runs / f"{tag}{ENDING}"


def write_matches(ws: Workspace, tag: str, matches: Matches | None) -> None:
    """Write the matches of a run; an earlier file of the same tag is removed if this run matched nothing."""
    if matches is None:
        matches_file(ws, tag).unlink(missing_ok=True)
    else:
        write_file(matches_file(ws, tag), match_lines(matches))


def matches_of(ws: Workspace, tag: str) -> dict[Pair, tuple[Match, ...]]:
    """Matches of a run in each pair, heaviest first; empty if the run has no such file."""
    path = matches_file(ws, tag)
    if not path.is_file():
        return {}
    with path.open(encoding="utf-8") as lines:
        return read_matches(lines, name=str(path))


# ----------------------------------------------------------------------------------------------------------------------
# Measurements on one record of a study: agreement, assessors, runs.
#
# The scores before each top-up of the pools are from the qrels without the pairs that came then.
# ----------------------------------------------------------------------------------------------------------------------


DAYS_BY_CLOCK = 3
"""Number of days from which on people choose their moments; a sitting follows the plan's order, whatever clocks say."""


def conventions_of(settings: Settings) -> tuple[str, ...]:
    """Conventions to measure in; by the first runs are compared. Topics and questions are measured as at TREC."""
    return CONVENTIONS if settings.kind == "facets" else ("trec", "csfcube")


def primary_of(settings: Settings) -> tuple[str, str]:
    """Convention and measure by which runs are compared unless another one is chosen."""
    convention = conventions_of(settings)[0]
    return convention, PRIMARY[convention]


def agreement_of(
    snapshot: Snapshot,
    *,
    judgements: Iterable[Judgement] | None = None,
    decisions: Iterable[Decision] | None = None,
    missing: str | None = None,
    binarised_at: int | None = None,
    coefficients: Sequence[str] = tuple(COEFFICIENTS),
) -> AgreementTable:
    """Coefficients with their intervals; `missing` None takes the policy of annot.toml.

    judgements, decisions: those that count; None takes all, and raises MissingInput if no pair is judged. binarised_at:
    compare "this grade or higher" instead of grades. If a sample was judged, figures describe the whole pools: each
    pair counts 1 / pi.
    """
    outcome, settings = snapshot.outcome, snapshot.ws.settings
    missing = missing or settings.judging.missing
    if judgements is None:
        refuse_unjudged(snapshot)
    if snapshot.sample is not None:
        refuse_zero(missing)
    return agreement_table(
        outcome.of_answered_pairs if judgements is None else judgements,
        outcome.decisions if decisions is None else decisions,
        snapshot.facets,
        grades=settings.scale.grades,
        missing=missing,
        binarised_at=binarised_at,
        level=settings.agreement.level,
        topics=snapshot.topics,
        coefficients=coefficients,
        unjudgeable=outcome.unjudgeable if judgements is None else (),
        weights=None if snapshot.sample is None else snapshot.sample.weights,
    )


def binarised_agreement_of(snapshot: Snapshot) -> tuple[AgreementTable, ...]:
    """Headline coefficients, "this grade or higher" against lower, at each grade but the lowest.

    None on a scale of two grades, which is binary as it is.
    """
    grades = snapshot.ws.settings.scale.grades
    return tuple(
        agreement_of(snapshot, binarised_at=grade, coefficients=HEADLINE)
        for grade in (grades[1:] if len(grades) > 2 else ())
    )


def agreement_by_guidelines(snapshot: Snapshot) -> tuple[ByGuidelines, ...]:
    """Agreement on the pairs that were judged by each version of the guidelines, of facets that have several.

    A text that was sent again is no other version. A pair whose assessors judged by different versions belongs to none.
    """
    results = []
    for (part, facet), sent_of_facet in snapshot.shown.items():
        versions = distinct(sent_of_facet) if part == "guidelines" else []
        answered = snapshot.outcome.of_answered_pairs
        judgements = [judgement for judgement in answered if snapshot.facets[judgement.query_id] == facet]
        sha256s: dict[Pair, set[str | None]] = {}
        for judgement in judgements:
            # None if the guidelines by which a judgement was given are not known.
            sha256s.setdefault(judgement.pair, set()).add(snapshot.displays.get(judgement, {}).get("guidelines"))
        mixed = sum(len(used) > 1 for used in sha256s.values())
        for number, sent in enumerate(versions if len(versions) > 1 else (), start=1):
            of_version = [judgement for judgement in judgements if sha256s[judgement.pair] == {sent.sha256}]
            table = None
            if of_version:
                table = agreement_of(snapshot, judgements=of_version, coefficients=HEADLINE)
            results.append(ByGuidelines(facet, number, sent.since, sent.sha256, sent.why, table, mixed))
    return tuple(results)


@dataclass(frozen=True, slots=True)
class ByGuidelines:
    """Agreement by one version of the guidelines of a facet."""

    facet: str
    number: int
    sent_at: str
    sha256: str
    why: str | None
    table: AgreementTable | None
    """Agreement table; None if no pair was judged by this version alone."""
    mixed: int
    """Pairs of the facet that were judged by several versions."""


@rounding
def assessors_of(snapshot: Snapshot) -> findings.AssessorAnalysis:
    """Analysis of how each assessor judges. Raises MissingInput without judgements.

    It does not depend on the clock if a study made here was judged within two days.
    """
    outcome, settings = snapshot.outcome, snapshot.ws.settings
    if snapshot.sample is not None:
        refuse_zero(settings.judging.missing)
    counting = [judgement for judgement in outcome.judgements if judgement.grade is not None and not judgement.flags]
    if not counting:
        raise MissingInput(
            "no judgements", hint="collect them with `annot pull`, or import them with `annot import --as judgements`"
        )
    elsewhere = snapshot.judged_elsewhere
    days = {(judgement.judged_at or "")[:10] for judgement in counting}
    panel = panel_of(
        outcome.judgements,
        outcome.decisions,
        snapshot.facets,
        topics=snapshot.topics,
        scale=settings.scale.grades,
        open_pairs=outcome.open,
        assignments=snapshot.assignments,
        by_clock=elsewhere or len(days) >= DAYS_BY_CLOCK,
    )
    level, fence, (reading_limit, rushed) = settings.agreement.level, settings.forecast.fence, snapshot.rushed
    rushed_judgements = {name: pairs for (name, round), pairs in rushed.items() if round == "judge"}
    return findings.AssessorAnalysis(
        diagnosed=findings.AssessorComparison(
            scale=panel.scale,
            level=level,
            policy=settings.judging.missing,
            missing=_judgement_counts(outcome, counting),
            matrix=panels.pairwise_matrix(panel, level=level),
            against_final=panels.against_final(panel, level=level),
            severities=panels.severities(panel, level=level),
            diagnosis=findings.diagnose(panel, level=level),
            self_consistency=panels.self_consistency(
                repeats_of(outcome), widest=panel.widest, level=level, topics=snapshot.topics
            ),
        ),
        order=_order(panel, elsewhere=elsewhere),
        reading_limit=reading_limit,
        fence=fence,
        power=POWER,
        paces=findings.paces(panel, rushed=rushed_judgements, fence=fence, level=level),
        streaks=findings.streaks(panel, seed=settings.seed),
        drifts=findings.drifts(panel, fence=fence),
    )


def _order(panel: Panel, *, elsewhere: bool) -> str:
    if panel.by_clock.all():
        return "the order of time"
    of_some = " for assessors whose judgements do not all have a time" if panel.by_clock.any() else ""
    if elsewhere:
        return f"the order of the imported file{of_some}, which need not be the order of judging"
    return f"the order of the plan{of_some}"


def _judgement_counts(outcome: Outcome, counting: Sequence[Judgement]) -> tuple[findings.JudgementCount, ...]:
    plan = Counter(name for names in outcome.planned.values() for name in names)
    graded = Counter(judgement.assessor for judgement in counting)
    return tuple(
        findings.JudgementCount(name, max(plan[name], graded[name]), graded[name]) for name in sorted(graded | plan)
    )


def repeats_of(outcome: Outcome) -> tuple[panels.Repeat, ...]:
    """Pairs that an assessor was asked a second time and answered with a grade both times."""
    graded = {
        (answer.pair_key, answer.assessor): answer.grade
        for answer in (outcome.everything if outcome.repeats else ())
        if not answer.flags and answer.grade is not None
    }
    return tuple(
        panels.Repeat(again.assessor, *again.pair, first, second)
        for again in outcome.repeats
        if (second := graded.get((again.pair_key, again.assessor))) is not None
        and (first := graded.get((again.pair_key._replace(occasion=again.occasion - 1), again.assessor))) is not None
    )


def graded_pools(snapshot: Snapshot, qrels: tuple[Qrel, ...], *, unfinished: bool = False) -> GradedPools:
    """Pools that measure runs on these qrels: by estimates if a sample of the pools is judged.

    unfinished: allow drawn pairs without a grade.
    """
    if snapshot.sample is None:
        return JudgedWhole(qrels, snapshot.outcome.judgements)
    return drawn_pairs(snapshot, qrels, unfinished=unfinished).pools


def evaluation_of(
    snapshot: Snapshot,
    runs: Mapping[str, Mapping[str, Ranking]],
    qrels: tuple[Qrel, ...],
    *,
    conventions: tuple[str, ...],
    measures: tuple[str, ...] = (),
    ties: str = "order",
    average: str = "test",
    unfinished: bool = False,
    queries: Collection[str] | None = None,
) -> EvaluatedRuns:
    """Measure the runs on the qrels, and compare them on the first of `measures` in the first of the conventions.

    If a sample was judged, they are measured on the whole pools by estimates; unfinished: allow drawn pairs without a
    grade; queries: of these only.
    """
    drawn = None
    if snapshot.sample is not None:
        drawn = drawn_pairs(snapshot, qrels, unfinished=unfinished, queries=queries)
    evaluated = evaluate_runs(
        runs,
        JudgedWhole(qrels, snapshot.outcome.judgements) if drawn is None else drawn.pools,
        facets=snapshot.facets,
        topics=snapshot.topics,
        splits=snapshot.splits,
        systems={run.tag: run.system for run in snapshot.runs},
        left_out=left_out_of(snapshot),
        conventions=conventions,
        measures=measures,
        ties=ties,
        average=average,
        relevant_from=snapshot.ws.settings.evaluation.relevant_from,
        level=snapshot.ws.settings.agreement.level,
        seed=snapshot.ws.settings.seed,
        words=snapshot.words,
    )
    return evaluated if drawn is None else with_cost(snapshot, runs, drawn, evaluated, ties=ties)


def left_out_of(snapshot: Snapshot) -> dict[str, frozenset[str]]:
    """Queries, by run, that its system cannot rank for."""
    topics = {run.tag: run.facts.get("topics_left_out", ()) for run in snapshot.runs}
    return {
        tag: frozenset(query.query_id for query in snapshot.queries if query.topic_id in left_out)
        for tag, left_out in topics.items()
        if left_out
    }


def of_all_topics(snapshot: Snapshot, runs: Runs) -> Runs:
    """Runs whose systems can rank for every topic; all, if none can."""
    left_out = left_out_of(snapshot)
    return {tag: run for tag, run in runs.items() if tag not in left_out} or runs


def runs_of(snapshot: Snapshot) -> dict[str, dict[str, Ranking]]:
    """Read the runs of the study, or of the version of its corpus to which it is limited, by tag.

    Raises MissingInput if there are none.
    """
    if snapshot.version and not snapshot.run_files:
        raise MissingInput(
            f"no run of version {snapshot.corpora[-1]} of the corpus",
            hint=f"`annot run SYSTEM --corpus {snapshot.corpora[-1]}` ranks its pools",
        )
    return read_run_files(snapshot.ws, snapshot.run_files)


def read_run_files(ws: Workspace, files: Sequence[Path] = ()) -> dict[str, dict[str, Ranking]]:
    """Read the runs in `files`, or those of `exports/runs/`, by tag. Raises MissingInput if there are none."""
    paths = files or tuple(sorted(ws.runs.glob("*.run")))
    if not paths:
        raise MissingInput(f"{ws.runs}: no runs", hint="make baselines with `annot run`, or give run files")
    runs: dict[str, dict[str, Ranking]] = {}
    for path in paths:
        tag, rankings = read_tagged_run(given_text(path, expected="a TREC run").splitlines(), name=str(path))
        if tag in runs:
            raise InputError(f"{path}: the tag {tag!r} is also in another file")
        runs[tag] = rankings
    return runs


Runs = Mapping[str, Mapping[str, Ranking]]


def topups(snapshot: Snapshot, qrels: Collection[Qrel]) -> list[tuple[ToppedUp, frozenset[Pair]]]:
    """Top-ups with judged pairs, the oldest first, each with every pair that came with it or later."""
    judged = {(qrel.query_id, qrel.doc_id) for qrel in qrels}
    versions = {paper_id: versions_by_document(pool) for paper_id, pool in snapshot.pools.items()}
    results = []
    for version in versions_of(snapshot.pools.values()):
        # Documents of a new version of the corpus are no top-up: `with_earlier` has the scores of each.
        if version.depth is None or version.method == GROWN:
            continue
        added = [
            ((query.query_id, doc_id), number)
            for query in snapshot.queries
            for doc_id, number in versions.get(query.topic_id, {}).items()
            if number >= version.number
        ]
        if any(number == version.number and pair in judged for pair, number in added):
            pairs = frozenset(pair for pair, _ in added)
            results.append((ToppedUp(version.number, version.method, len(pairs & judged)), pairs))
    return results


def with_earlier(
    snapshot: Snapshot,
    runs: Runs,
    qrels: tuple[Qrel, ...],
    evaluated: EvaluatedRuns,
    *,
    named: bool = False,
    **how: Any,
) -> EvaluatedRuns:
    """Add the scores before each top-up to the evaluation, and those on earlier versions of the corpus.

    They are measured by `evaluation_of` with the options `how`. Before a top-up: on the qrels without the pairs that
    were added then and later. From a run made here, and from one that was imported without papers outside the pools,
    these papers are left out, too: it would not have ranked them. On an earlier version: its runs on its qrels; named:
    of these runs alone.
    """
    topped_up, earlier = [], []
    how["conventions"] = (evaluated.convention,)
    for topup, added in topups(snapshot, qrels) if snapshot.sample is None else ():
        if left := tuple(qrel for qrel in qrels if (qrel.query_id, qrel.doc_id) not in added):
            topped_up.append(topup)
            earlier.append(
                _values(evaluation_of(snapshot, _earlier_rankings(snapshot, runs, added), left, **how), evaluated)
            )
    if topped_up:
        scores = restated_scores(earlier, _values(evaluated, evaluated))
        restated = RunsBeforeTopups(tuple(topped_up), evaluated.convention, evaluated.measure, scores)
        evaluated = replace(evaluated, restated=restated)
    if not snapshot.corpora:
        return evaluated
    *before, corpus = snapshot.corpora
    evaluated, then, notes = replace(evaluated, corpus=corpus), {}, []
    for name in before:
        version = read_version(snapshot.ws, name)
        try:
            of_version = {tag: run for tag, run in runs_of(version).items() if tag in runs or not named}
            if of_version:
                then[name] = evaluation_of(version, of_version, exported_qrels(version), **how)
            if lacking := " ".join(sorted(runs.keys() - of_version.keys())):
                remedy = f"`annot run {lacking} --corpus {name}` makes runs of systems that are known here"
                notes.append(f"{lacking}: not run on version {name} of the corpus; {remedy}")
        except MissingInput as error:
            notes.append(f"no scores on version {name} of the corpus: {error.message}; {error.hint}")
    systems = {run.tag: run.system for run in snapshot.runs}
    by_version = version_scores(then | {corpus: evaluated}, systems) if then else ()
    return replace(evaluated, by_version=by_version, notes=(*evaluated.notes, *notes))


def _values(evaluated: EvaluatedRuns, by: EvaluatedRuns) -> dict[str, dict[str, float]]:
    """Value by facet and run, on the measure by which runs are compared."""
    return nested(
        (line.facet, line.run, line.values[by.measure])
        for line in evaluated.lines
        if line.convention == by.convention and line.run != CHANCE
    )


def _earlier_rankings(snapshot: Snapshot, runs: Runs, added: Collection[Pair]) -> dict[str, dict[str, Ranking]]:
    complete = {
        run.tag
        for run in snapshot.runs
        if run.kind == Source.IMPORTED and run.facts.get("rules", {}).get("foreign") == "keep"
    }
    pooled = {run.tag for run in snapshot.runs} - complete
    return {
        tag: {
            query_id: tuple(doc for doc in ranking if tag not in pooled or (query_id, doc.doc_id) not in added)
            for query_id, ranking in rankings.items()
        }
        for tag, rankings in runs.items()
    }
