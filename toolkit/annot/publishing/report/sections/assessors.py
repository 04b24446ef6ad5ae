"""Assessors: their judging, its effect on the comparison of runs, and their training and other trials."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from annot.base.names import OF_PAPERS, StudyVocabulary, percent
from annot.base.stats.values import Undefined
from annot.judging.trial_answers import HIDDEN, TRAIN, recorded_against_gold, recorded_substudy
from annot.measuring.assessor_effect import FINAL, AssessorEffect, GradingRanking
from annot.measuring.diagnosis.findings import (
    AssessorAnalysis,
    AssessorComparison,
    Drift,
    order_of_hard,
    papers_needed_for_drift,
)
from annot.publishing.report import cells, figures
from annot.publishing.report.study import Study
from annot.publishing.report.tables import (
    Chapter,
    Column,
    Figure,
    Row,
    Table,
    columns_for,
    facet_column,
    in_words,
    picture,
    sentences,
    table,
)
from annot.publishing.report.verdict import OrderChanges, robustness, tau

# ----------------------------------------------------------------------------------------------------------------------
# The assessors: against each other, the final grades and themselves, how they work, and why they disagree.
# ----------------------------------------------------------------------------------------------------------------------


COMMAND = "annot agreement --by assessor"
MOST_PAIRS, MOST_HARD, MOST_ROWS = 10, 20, 200
"""Most pairs of assessors with matrices, most candidates, and most rows of any other table; JSON has all of them."""
UNIT = {"agreement": "share of partners with the same grade", "severity": "grades", "speed": "seconds per pair"}
CHANGE = {"agreement": cells.Quantity(0, 0, scale=100), "severity": cells.Quantity(2, 2), "speed": cells.Quantity(2, 2)}
"""Printed form of a detectable change."""


def appendix(study: Study) -> Chapter:
    """Chapter on the judging of each assessor, and the parts of their disagreement."""
    analysis, words = study.diagnosed, study.words
    return Chapter(
        "assessors",
        "Assessors, and why they disagree",
        conclusions(analysis, words),
        (*(drawing(analysis) if len(study.queries) > 1 else ()), *tables(analysis, words)),
        method(analysis),
    )


def drawing(analysis: AssessorAnalysis) -> Iterator[Figure]:
    """The grades of every two assessors against each other."""
    matrix = analysis.diagnosed.matrix
    if met := {(pair.first, pair.second): pair.table for pair in matrix if pair.same.of}:
        squares, pairs = figures.heat_maps(met, grades=analysis.diagnosed.scale, most=MOST_PAIRS), matrix[:MOST_PAIRS]
        yield picture("assessors", squares, "assessors.", shown=min(MOST_PAIRS, len(met)), of=len(met), pairs=pairs)


def conclusions(analysis: AssessorAnalysis, words: StudyVocabulary = OF_PAPERS) -> tuple[str, ...]:
    """The findings."""
    return (*findings(analysis, words), *changes(analysis, words))


def method(analysis: AssessorAnalysis) -> tuple[str, ...]:
    """Notes on the tables."""
    comparison = analysis.diagnosed
    some = [missing for missing in comparison.missing if missing.asked > missing.graded]
    return sentences("assessors.missing", policy=comparison.policy, some=some)


def tables(
    analysis: AssessorAnalysis, words: StudyVocabulary = OF_PAPERS, queries: Collection[str] = ()
) -> Iterator[Table]:
    """All measurements of assessors. queries: show hard candidates of these only, and all of them.

    Measurements without data have no table.
    """
    comparison = analysis.diagnosed
    for block in (*_grades(comparison, words), *_reason_tables(comparison, queries, words), *_work(analysis, words)):
        if block.rows:
            cut = _cut(MOST_ROWS, len(block.rows), "rows")
            yield replace(block, rows=block.rows[:MOST_ROWS], notes=(*block.notes, *cut))


def findings(analysis: AssessorAnalysis, words: StudyVocabulary) -> tuple[str, ...]:
    """Findings on single assessors and on the guidelines; a sentence if there are none."""
    diagnosis = analysis.diagnosed.diagnosis
    values = {"words": words, "diagnosis": diagnosis, "power": analysis.power}
    return sentences("assessors.findings", undefined=isinstance(diagnosis, Undefined), **values)


def changes(analysis: AssessorAnalysis, words: StudyVocabulary = OF_PAPERS) -> tuple[str, ...]:
    """Changes and runs of one grade in words; where there is no change, how large one would have to be."""
    changed = [drift for drift in analysis.drifts if drift.changed]
    # They were tested, but no change of any size could have been found.
    beyond = [drift for drift in analysis.drifts if drift.levels and isinstance(drift.detectable, Undefined)]
    needed = papers_needed_for_drift(sum(bool(drift.levels) for drift in analysis.drifts) or len(analysis.drifts))
    return sentences(
        "assessors.changes",
        words=words,
        changes=[(change, _kind(change)) for change in changed],
        runs=[(streak.assessor, run) for streak in analysis.streaks for run in streak.flagged],
        power=analysis.power,
        detectable=_detectable_range(analysis),
        never=sorted({drift.assessor for drift in beyond}),
        needed=needed,
        short=any(drift.queries < needed for drift in beyond),
    )


def _grades(comparison: AssessorComparison, words: StudyVocabulary) -> Iterator[Table]:
    """The assessors against each other, the final grades and themselves; as a whole and grade by grade."""
    met = comparison.matrix
    yield _table(
        "between",
        words,
        met,
        [Column("Assessor", lambda row: row.first), Column("Compared with", lambda row: row.second)],
        [
            Column("Pairs", lambda row: row.same.of),
            Column("Equal grades", lambda row: cells.measured(row.same, cells.SHARE)),
            Column("Kappa", lambda row: cells.Number(row.coefficient, cells.COEFFICIENT, row.coefficient_interval)),
            Column("Difference", lambda row: cells.measured(row.difference, cells.GRADES)),
        ],
    )
    yield _table(
        "between-grades",
        words,
        [(pair, *row) for pair in met[:MOST_PAIRS] for row in zip(comparison.scale, pair.table, strict=True)],
        [Column("Assessor", lambda row: row[0].first), Column("Compared with", lambda row: row[0].second)],
        [
            Column("Grade", lambda row: row[1]),
            *columns_for(comparison.scale, lambda row, grade: row[2][comparison.scale.index(grade)]),
        ],
        notes=_cut(MOST_PAIRS, len(met), "pairs of assessors"),
    )
    severity = {severities.assessor: severities.severity for severities in comparison.severities}
    yield _table(
        "against-final",
        words,
        comparison.against_final,
        [Column("Assessor", lambda row: row.assessor)],
        [
            Column("Pairs", lambda row: row.same.of),
            Column("Equal to final grade", lambda row: cells.measured(row.same, cells.SHARE)),
            Column("Bias", lambda row: cells.measured(row.bias, cells.GRADES)),
            Column("Severity", lambda row: cells.measured(severity[row.assessor], cells.GRADES)),
            Column("Adjudicated", lambda row: row.upheld.of),
            Column("Upheld", lambda row: cells.measured(row.upheld, cells.SHARE)),
        ],
    )
    yield _table(
        "against-final-grades",
        words,
        [
            (assessor, *row)
            for assessor in comparison.against_final
            if not isinstance(assessor.table, Undefined)
            for row in zip(comparison.scale, assessor.table, strict=True)
        ],
        [Column("Assessor", lambda row: row[0].assessor)],
        [
            Column("Final grade", lambda row: row[1]),
            Column("Pairs", lambda row: sum(row[2])),
            *columns_for(
                comparison.scale,
                lambda row, grade: row[2][comparison.scale.index(grade)],
                lambda grade: f"Gave {grade}",
            ),
            Column("Equal", lambda row: cells.measured(row[0].by_grade[row[1]], cells.SHARE)),
        ],
    )
    yield _table(
        "repeats",
        words,
        comparison.self_consistency,
        [Column("Assessor", lambda row: "together" if row.assessor is None else row.assessor)],
        [
            Column("Repeats", lambda row: row.same.of),
            Column("Same grade again", lambda row: cells.measured(row.same, cells.SHARE)),
            Column("Within one grade", lambda row: cells.measured(row.within_one, cells.SHARE)),
            Column("Change", lambda row: cells.measured(row.change, cells.GRADES)),
        ],
    )


def _reason_tables(comparison: AssessorComparison, queries: Collection[str], words: StudyVocabulary) -> Iterator[Table]:
    """Parts of disagreement, and the hardest candidates: of all queries, or all that are known of some."""
    yield _table(
        "parts",
        words,
        comparison.matrix[:MOST_PAIRS],
        [Column("Assessor", lambda row: row.first), Column("Compared with", lambda row: row.second)],
        [
            Column("Pairs", lambda row: row.same.of),
            Column("Different grades", lambda row: row.same.of - row.same.count),
            Column("Distance", lambda row: cells.Number(row.distance, cells.DISTANCE)),
            *columns_for(
                ("severity", "threshold", "noise"),
                lambda row, part: cells.Number(row.parts[part], cells.DISTANCE),
                str.capitalize,
            ),
        ],
        notes=_cut(MOST_PAIRS, len(comparison.matrix), "pairs of assessors"),
    )
    if isinstance(comparison.diagnosis, Undefined):
        return
    hard = [candidate for candidate in comparison.diagnosis.hardest if not queries or candidate.query_id in queries]
    hard.sort(key=order_of_hard)
    shown = hard if queries else hard[:MOST_HARD]
    cut = _cut(len(shown), len(hard), "candidates (the hardest of each query)", "--query QUERY")
    yield _table(
        "hardest",
        words,
        shown,
        [
            Column("Query", lambda row: row.query_id),
            facet_column(lambda row: row.facet, words),
            Column("Document", lambda row: row.doc_id),
            Column("Grades", lambda row: ", ".join(f"{name} {grade}" for name, grade in sorted(row.grades.items()))),
        ],
        [
            Column("Distance", lambda row: row.spread),
            Column("Share", lambda row: cells.Number(row.share, cells.PERCENT)),
        ],
        notes=cut,
    )


def _work(analysis: AssessorAnalysis, words: StudyVocabulary) -> Iterator[Table]:
    """Time for a pair, longest run of one grade, and each assessor in both halves of the queries."""
    timed = [pace for pace in analysis.paces if pace.n]
    if timed:
        yield _table(
            "pace",
            words,
            timed,
            [Column("Assessor", lambda row: row.assessor)],
            [
                Column("Timed", lambda row: row.n),
                Column("Median", lambda row: cells.Number(row.median, cells.SECONDS, row.median_interval)),
                Column("Q1", lambda row: cells.Number(row.q1, cells.SECONDS)),
                Column("Q3", lambda row: cells.Number(row.q3, cells.SECONDS)),
                Column("Mean", lambda row: cells.Number(row.winsorised, cells.SECONDS)),
                Column("Idle", lambda row: row.n_slow),
                Column("Too fast", lambda row: len(row.too_fast)),
            ],
            fence=analysis.fence,
            limit=analysis.reading_limit,
        )
    yield _table(
        "streaks",
        words,
        analysis.streaks,
        [Column("Assessor", lambda row: row.assessor)],
        [
            Column("Judgements", lambda row: row.n),
            Column("Longest run", lambda row: row.longest.length),
            Column("Grade", lambda row: row.longest.grade),
            Column("First judgement", lambda row: row.longest.start),
            Column("Expected", lambda row: cells.Number(row.expected, cells.MEAN)),
            Column("p", lambda row: cells.Number(row.p_value, cells.P)),
        ],
        order=analysis.order,
    )
    drifts = [drift for drift in analysis.drifts if drift.levels]
    yield _table(
        "change-sizes",
        words,
        drifts,
        [
            Column("Assessor", lambda row: row.assessor),
            Column("Measure", lambda row: f"{row.measure} ({UNIT[row.measure]})"),
        ],
        [
            Column("Queries", lambda row: row.queries),
            Column("First half", lambda row: cells.Number(row.levels[0].mean, _kind(row))),
            Column("Second half", lambda row: cells.Number(row.levels[1].mean, _kind(row))),
            Column("p", lambda row: cells.Number(row.p_value, cells.P)),
            Column("Detectable change", _detectable),
        ],
        order=analysis.order,
        power=analysis.power,
    )


def _table(
    name: str,
    words: StudyVocabulary,
    rows: Iterable[Row],
    names: Sequence[Column[Row]],
    numbers: Sequence[Column[Row]],
    *,
    notes: tuple[str, ...] = (),
    **values: object,
) -> Table:
    caption = f"assessors.{name.replace('-', '_')}"
    return table(name, rows, names, numbers, caption=caption, command=COMMAND, notes=notes, words=words, **values)


def _detectable_range(analysis: AssessorAnalysis) -> list[tuple[str, str]]:
    """Least and largest detectable change, by measure."""
    figures = []
    for measure in ("severity", "agreement", "speed"):
        sizes = sorted(
            (drift for drift in analysis.drifts if drift.measure == measure and isinstance(drift.detectable, float)),
            key=lambda drift: (drift.detectable, drift.assessor),
        )
        if sizes:
            ends = dict.fromkeys((_detectable(sizes[0]), _detectable(sizes[-1])))
            figures.append((measure, " to ".join(ends)))
    return figures


def _detectable(drift: Drift) -> str:
    if isinstance(drift.detectable, Undefined):
        return cells.NONE
    unit = {"speed": "times as long", "agreement": "points", "severity": "grades"}[drift.measure]
    return f"{cells.Number(drift.detectable, CHANGE[drift.measure])} {unit}"


def _kind(drift: Drift) -> cells.Quantity:
    return cells.SECONDS if drift.measure == "speed" else cells.Quantity(2, 2)


def _cut(most: int, total: int, noun: str, *options: str) -> tuple[str, ...]:
    """Note that rows are left out, and the options that show more."""
    commands = [f"`{COMMAND} {option}`" for option in (*options, "--json")]
    return sentences("assessors.cut", shown=most, of=total, what=noun, commands=commands) if most < total else ()


# ----------------------------------------------------------------------------------------------------------------------
# The effect of the assessor: how each one grades, and whether the comparison of runs depends on who judged.
# ----------------------------------------------------------------------------------------------------------------------


def body(study: Study) -> Chapter:
    """Chapter on strict and lenient assessors, and their effect on the runs."""
    blocks: list[Table | Figure] = []
    diagnosed = study.diagnosed.diagnosed
    severity = {assessor_severity.assessor: assessor_severity.severity for assessor_severity in diagnosed.severities}
    drawn = {name: cells.measured(assessor_severity, cells.GRADES) for name, assessor_severity in severity.items()}
    several = len(study.queries) > 1
    if several and sum(bar.value is not None for bar in drawn.values()) > 1:
        dots = figures.forest(drawn, unit="severity, in grades", zero=True)
        bracketed = any(bar.ends for bar in drawn.values())
        blocks.append(picture("severity", dots, "effect.severity_", severity=drawn, bracketed=bracketed))
    effect = study.effect
    if isinstance(effect, Undefined):
        text = sentences("effect.unknown", reason=effect.reason, words=study.words)
    else:
        marks = {grading(ranking.name): ranking.means for ranking in effect.rankings[:3]}
        spans = {tag: effect.random_assessors.means.get(tag) for tag in effect.rankings[0].means}
        if several:
            spanned = f"random assessor per {study.words.topic}, middle {percent(effect.settings.level)}"
            bars = figures.ranges(marks, spans, spanned=spanned, unit=f"{effect.settings.measure}, %")
            values = {"words": study.words, "effect": effect, "marks": marks, "spans": spans}
            blocks.append(picture("effect", bars, "effect.", **values))
        blocks.append(ranges(effect, study.words))
        judged_twice = study.agreement.groups[-1].n_pairs
        order_known = robustness(effect, study.evaluated, judged_twice=judged_twice) != "unknown"
        text = sentences("effect.body", known=order_known, **values_of_order(effect, study.words))
    return Chapter("effect", "Effect of the assessor", (*findings(study.diagnosed, study.words), *text), tuple(blocks))


def effect_appendix(study: Study) -> Iterator[Chapter]:
    """The runs under each grading, and how their orders compare."""
    effect = study.effect
    if not isinstance(effect, Undefined):
        title = "Effect of the assessor on the order of the runs"
        yield Chapter("orders", title, effect_method(effect, study.words), tuple(orders(effect, study.words)))


def effect_method(effect: AssessorEffect, words: StudyVocabulary) -> tuple[str, ...]:
    """Explanation of whose grades are used, of the comparison, and of the changes."""
    return sentences("effect.method", **values_of_order(effect, words))


def values_of_order(effect: AssessorEffect, words: StudyVocabulary) -> dict[str, object]:
    """Values for sentences on the order of the runs."""
    return {"words": words, "effect": effect, "tau": tau(effect), "changes": OrderChanges(effect)}


def terminal(effect: AssessorEffect, words: StudyVocabulary) -> list[Table]:
    """Tables that `annot assessor-effect` prints."""
    return [ranges(effect, words), *in_words(tuple(orders(effect, words)), words)]


def ranges(effect: AssessorEffect, words: StudyVocabulary = OF_PAPERS) -> Table:
    """Each run under the final grades, the two assessors of each pair, and a random one of them."""
    complete = {
        ranking.name: ranking.means for ranking in effect.rankings if len(ranking.queries) == len(effect.queries)
    }
    spans = effect.random_assessors.means

    def span(tag: str) -> str | None:
        ends = spans.get(tag)
        return None if ends is None else cells.bracket((100 * ends[0], 100 * ends[1]), cells.MEASURE.plain)

    return table(
        "ranges",
        complete[FINAL],
        [Column[str]("Run", str)],
        [
            *columns_for(complete, lambda tag, name: cells.Number(complete[name][tag], cells.MEASURE), grading),
            Column("random assessor", lambda tag: span(tag) or cells.NONE, ""),
            Column("", lambda tag: spans[tag][0] if tag in spans else None, "random_low"),
            Column("", lambda tag: spans[tag][1] if tag in spans else None, "random_high"),
        ],
        caption="effect.ranges",
        words=words,
        command=_command(effect),
        effect=effect,
    )


def grading(name: str) -> str:
    """Name of a set of grades."""
    return f"{name} grades" if name == FINAL else f"assessor {name}"


def orders(effect: AssessorEffect, words: StudyVocabulary = OF_PAPERS) -> Iterator[Table]:
    """The runs in order under each grading, and each comparison of two gradings."""
    yield table(
        "orders",
        ranking_rows(effect),
        [
            Column("Grades of", lambda row: words.said(row.name)),
            Column("Queries", lambda row: len(row.queries)),
            Column("Pairs", lambda row: row.n_pairs),
            Column("No grade", lambda row: row.n_ungraded),
            Column("Runs, best first", lambda row: run_order(row.means)),
        ],
        caption="effect.orders",
        command=_command(effect),
        effect=effect,
    )
    yield table(
        "tau",
        effect.comparisons,
        [Column("Grades of", lambda row: row.first), Column("Compared with", lambda row: row.second)],
        [
            Column("Tau", lambda row: cells.Number(row.tau, cells.TAU)),
            Column("Reversed pairs", lambda row: f"{row.reversed_pairs} of {row.n_run_pairs}", ""),
            Column("", lambda row: row.reversed_pairs, "reversed_pairs"),
            Column("", lambda row: row.n_run_pairs, "pairs_of_runs"),
            Column("Significant reversals", lambda row: len(row.swaps)),
            Column("Queries", lambda row: row.n_queries),
        ],
        caption="effect.tau",
        command=_command(effect),
        effect=effect,
    )


def _command(effect: AssessorEffect) -> str:
    return f"annot assessor-effect --convention {effect.settings.convention} --measure {effect.settings.measure}"


def ranking_rows(effect: AssessorEffect) -> list[GradingRanking]:
    """The runs under each grading; where a grading covers some of the queries only, below it under the final grades on
    the same."""
    against_final = {comparison.first: comparison for comparison in effect.comparisons if comparison.second == FINAL}
    rows = []
    for ranking in effect.rankings:
        rows.append(ranking)
        if len(ranking.queries) < len(effect.queries):
            means = against_final[ranking.name].means[FINAL]
            rows.append(replace(ranking, name=f"{FINAL}, queries of {ranking.name}", means=means, n_ungraded=0))
    return rows


def run_order(means: Mapping[str, float]) -> str:
    """The runs, best first, with their means in percent: `b 61.20, a 58.03 = c 58.03`."""
    text, last = "", None
    for tag, mean in means.items():
        text += ("" if last is None else " = " if mean == last else ", ") + f"{tag} {100 * mean:.2f}"
        last = mean
    return text


# ----------------------------------------------------------------------------------------------------------------------
# Judgements outside the collection, on record: who passed the training, hidden gold, and the sub-study.
# ----------------------------------------------------------------------------------------------------------------------


_Trial = Mapping[str, Any]


def trials_appendix(study: Study) -> Iterator[Chapter]:
    """The training with hidden gold, and the sub-study; each where something of it is on record."""
    on_record = study.snapshot.trials
    trained = list(recorded_against_gold(on_record, TRAIN))
    hidden = list(recorded_against_gold(on_record, HIDDEN))
    blocks = [
        *([_gold_table("training", "Gold pairs", "gold", trained, study.words, verdict=True)] if trained else []),
        *([_gold_table("hidden-gold", "Hidden pairs", "hidden", hidden, study.words)] if hidden else []),
    ]
    if blocks:
        text = sentences("trials.against_gold", words=study.words, trained=trained, hidden=hidden, level=study.level)
        yield Chapter("training", "Training of the assessors", text, tuple(blocks))
    substudy = recorded_substudy(on_record)
    if substudy is not None:
        text = sentences("trials.substudy_told", words=study.words, substudy=substudy, level=study.level)
        yield Chapter("substudy", "Sub-study on full texts", text, tuple(_substudy(substudy, study.words)))


def _gold_table(
    name: str, heading: str, gold: str, rows: Sequence[_Trial], words: StudyVocabulary, *, verdict: bool = False
) -> Table:
    return table(
        name,
        rows,
        [Column("Assessor", lambda row: row["assessor"])],
        [
            *([Column[_Trial]("Batches", lambda row: row["batches"])] if verdict else []),
            Column(heading, lambda row: row[gold]),
            Column("Answered", lambda row: row["answered"]),
            Column("Compared", lambda row: row["pairs"]),
            Column("Kappa (quadratic)", lambda row: cells.measured(row["kappa"], cells.COEFFICIENT)),
            *([Column[_Trial]("Verdict", lambda row: row["verdict"])] if verdict else []),
        ],
        caption=f"trials.{name.replace('-', '_')}",
        command="annot train report",
        words=words,
    )


def _substudy(substudy: _Trial, words: StudyVocabulary) -> Iterator[Table]:
    command = "annot substudy report"
    titles = {"spearman_rho": "Spearman's rho", "alpha_ordinal": "Alpha (ordinal)", "kappa": "Cohen's kappa"}
    yield table(
        "substudy",
        substudy["compared"],
        [Column[_Trial]("First", lambda row: row["first"]), Column("Second", lambda row: row["second"])],
        [
            Column("Pairs", lambda row: row["pairs"]),
            *columns_for(
                titles, lambda row, name: cells.measured(row["figures"][name], cells.COEFFICIENT), titles.__getitem__
            ),
            Column("Equal grades, %", lambda row: cells.measured(row["figures"]["percent"], cells.PERCENTAGE)),
        ],
        caption="trials.substudy",
        command=command,
        words=words,
    )
    yield table(
        "substudy-times",
        substudy["views"],
        [Column[_Trial]("View", lambda row: row["view"])],
        [
            Column("Timed pairs", lambda row: row["timed"]),
            Column("Seconds per pair", lambda row: cells.measured(row["seconds"], cells.SECONDS)),
        ],
        caption="trials.substudy_times",
        command=command,
        words=words,
    )
