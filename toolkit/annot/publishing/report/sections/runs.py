"""Scores of the runs, significant differences, and analyses of errors."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from annot.base.records import CHANCE, WHOLE
from annot.base.stats.inference import POWER, share_of_counts
from annot.base.stats.values import Estimate, Interval, Share, Undefined
from annot.measuring.evaluation import comparisons
from annot.measuring.evaluation.evaluated import ONE_ASSESSOR, EvaluatedRuns, RunMeasures, mean_of_all
from annot.measuring.evaluation.measures import TIES, MeasureSelection
from annot.publishing.report import figures
from annot.publishing.report.cells import EFFECT, MEASURE, POINTS, SHARE, Number, P, measured
from annot.publishing.report.cells import WHOLE as COUNT
from annot.publishing.report.tables import (
    Chapter,
    Column,
    Figure,
    Table,
    columns_for,
    facet_column,
    picture,
    sentence,
    sentences,
    table,
)
from annot.publishing.report.verdict import Best, best, figure, lines_of_all_queries
from annot.ranking.word_vectors import trained_on_few

if TYPE_CHECKING:
    from annot.publishing.report.study import Study

# ----------------------------------------------------------------------------------------------------------------------
# Scores of the runs on the final grades, and the significant differences between them.
# ----------------------------------------------------------------------------------------------------------------------


TITLE = "Runs"
LIKE_CHANCE = "°"
"""After a figure that is not shown to be better than a random order."""
MOST_AT_A_GLANCE = 8
"""Runs of the drawing on the first screen."""
MOST_SIGNIFICANT = 20
"""Rows of the table of significant differences; the appendix has all pairs of runs."""
MOST_DRAWN = 15
"""Pairs of runs that the report draws query by query; `annot figures` draws all."""
DEPTHS = (1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000)
"""Ranks down to which runs are measured for the drawing of their depth."""
NO_RUNS = (CHANCE, ONE_ASSESSOR)
"""Rows below those of the runs."""


def body(study: Study) -> Chapter:
    """The runs by the measure that decides, best first, and which differences hold."""
    evaluated = study.evaluated
    leader = best(evaluated)
    if isinstance(evaluated, Undefined) or leader is None:
        reason = evaluated.reason if isinstance(evaluated, Undefined) else ""
        return Chapter("runs", TITLE, sentences("runs.none", reason=reason, words=study.words))
    text = sentences("runs.body", words=study.words, best=leader, evaluated=evaluated, holding=holding(evaluated))
    few_abstracts = trained_on_few({run.tag: run.facts for run in study.snapshot.runs})
    text += sentences("runs.few_abstracts", few=few_abstracts, words=study.words)
    drawn: list[Table | Figure] = [drawing(evaluated)] if leader.runs > 1 and leader.queries > 1 else []
    blocks = (*drawn, *compared(evaluated), *significant(evaluated), *scores_before_topups(evaluated))
    return Chapter("runs", TITLE, text, blocks)


def best_line(evaluated: EvaluatedRuns) -> str:
    """Sentence on the best run, and whether that is certain."""
    return sentence("runs.best_line", best=best(evaluated), words=evaluated.words)


def holding(evaluated: EvaluatedRuns) -> list[tuple[str, list[str]]]:
    """Each run, best first, that is better than others by a difference that holds on all queries, and these."""
    leader = best(evaluated)
    beaten_by: dict[str, list[str]] = {}
    for comparison in evaluated.comparisons:
        if leader and comparison.facet == leader.verdict.facet and comparison.holds:
            beaten_by.setdefault(comparison.run_a, []).append(comparison.run_b)
    return list(beaten_by.items())


def glance(evaluated: EvaluatedRuns | Undefined) -> Figure | None:
    """The best runs on all queries with a random order, without the differences between them."""
    leader = best(evaluated)
    if isinstance(evaluated, Undefined) or leader is None or leader.queries < 2:
        return None
    drawn = dict(islice(_drawn(evaluated, leader).items(), MOST_AT_A_GLANCE))
    return Figure(
        "glance",
        sentence("runs.glance", best=leader, shown=len(drawn), bracketed=any(number.ends for number in drawn.values())),
        figures.runs(drawn, {}, chance=leader.chance, measure=leader.measure),
        sentence("runs.drawn", best=replace(leader, runs=1), runs=drawn, holding=()),
    )


def _drawn(evaluated: EvaluatedRuns, leader: Best) -> dict[str, Number]:
    """The figure of each run on all queries, best first."""
    lines = sorted(lines_of_all_queries(evaluated)[0], key=lambda line: (-line.values[leader.measure], line.run))
    return {line.run: figure(line, leader.measure) for line in lines}


def drawing(evaluated: EvaluatedRuns) -> Figure:
    """The runs on all queries, and which of them differ."""
    leader = best(evaluated)
    assert leader is not None
    drawn = _drawn(evaluated, leader)
    holds = {(two.run_a, two.run_b): two.holds for two in evaluated.comparisons if two.facet == leader.verdict.facet}
    dots = figures.runs(drawn, holds, chance=leader.chance, measure=leader.measure)
    values = {"several": bool(holds), "bracketed": any(number.ends for number in drawn.values())}
    return picture("runs", dots, "runs.", best=leader, runs=drawn, holding=holding(evaluated), **values)


def ranks(evaluated: EvaluatedRuns) -> Iterator[Figure]:
    """Rank of each run on all queries, with simultaneous intervals from the significant differences.

    A run is below those that beat it and above those that it beats; all of this holds together, because the tests are
    corrected for all pairs (Al Mohamad, Goeman and van Zwet 2022, Simultaneous confidence intervals for ranks,
    Biometrics 78).
    """
    leader = best(evaluated)
    if leader is None or leader.runs < 2 or leader.queries < 2:
        return
    lines = sorted(lines_of_all_queries(evaluated)[0], key=lambda line: (-line.values[leader.measure], line.run))
    beaten = dict(holding(evaluated))
    drawn = {}
    for place, line in enumerate(lines, start=1):
        better = sum(line.run in others for others in beaten.values())
        ends = Interval(1 + better, len(lines) - len(beaten.get(line.run, ())), 1 - comparisons.ALPHA, "simultaneous")
        drawn[line.run] = Number(place, COUNT, ends)
    dots = figures.forest(drawn, unit=f"rank by {leader.measure}", zero=False)
    yield picture("ranks", dots, "runs.ranks_", best=leader, level=1 - comparisons.ALPHA, runs=drawn)


def by_depth(study: Study, evaluated: EvaluatedRuns) -> Iterator[Figure]:
    """The gain of each run down to several ranks, if there is more than one run."""
    # It reads a study; figures alone do without.
    from annot.measuring.measured import graded_pools

    snapshot, gain = study.snapshot, "NDCG" if evaluated.convention == "csfcube" else "nDCG"
    longest = max((len(ranking) for run in study.runs.values() for ranking in run.values()), default=0)
    depths = [depth for depth in DEPTHS if depth <= longest]
    selection = MeasureSelection(evaluated.convention, [f"{gain}@{k}" for k in depths], evaluated.relevant_from)
    # Only a study has pools: users of the library do without its database.

    pools = graded_pools(snapshot, study.outcome.qrels, unfinished=True)
    scores: dict[str, list[tuple[float, float]]] = {}
    for tag, by_convention in evaluated.evaluations.items():
        query_ids = [query.query_id for query in by_convention[evaluated.convention].queries]
        queries = pools.measured(study.runs[tag], query_ids, selection, ties=TIES[0]).queries
        for k, name in zip(depths, selection.names, strict=True):
            mean = mean_of_all({query.query_id: query.values[name] for query in queries}, snapshot.splits)
            scores.setdefault(tag, []).append((k, 100 * mean))
    if len(scores) > 1 and len(depths) > 1 and len(study.queries) > 1:
        ordered = dict(sorted(scores.items(), key=lambda run: (-run[1][-1][1], run[0])))
        drawn = figures.lines(ordered, across="rank", up=f"{gain} down to this rank, %", marked=depths)
        yield picture("depth", drawn, "runs.depth_", gain=gain, runs=ordered)


def by_query(evaluated: EvaluatedRuns) -> Iterator[Figure]:
    """The scores of every two runs on each query, those with the best run first."""
    convention, measure = evaluated.convention, evaluated.measure
    scores = {
        tag: {
            query.query_id: value for query in runs[convention].queries if (value := query.shown(measure)) is not None
        }
        for tag, runs in evaluated.evaluations.items()
    }
    order = sorted(scores, key=lambda tag: (-evaluated.evaluations[tag][convention].mean[measure], tag))
    for first, second in itertools.combinations(order, 2):
        both = {name: (value, scores[second][name]) for name, value in scores[first].items() if name in scores[second]}
        if len(both) > 1:
            apart = sorted(both, key=lambda name: (both[name][0] - both[name][1], name))
            values = {"first": first, "second": second, "measure": measure, "scores": both, "apart": apart}
            dots = figures.two_runs(both, names=(first, second), unit=f"{measure}, %")
            yield picture(f"queries-{first}-{second}", dots, "runs.two_", **values)


def compared(evaluated: EvaluatedRuns) -> Iterator[Table]:
    """The table of the runs, if there are two that can be compared."""
    leader = best(evaluated)
    if leader is not None and evaluated.verdicts:
        yield by_measure(evaluated, leader)


def by_measure(evaluated: EvaluatedRuns, leader: Best) -> Table:
    """A row for each run, best first, with letters for the runs that it beats; chance and one assessor last."""
    measure = evaluated.measure
    lines = [line for line in (*evaluated.lines, *evaluated.ceiling) if line.convention == evaluated.convention]
    facets = list(dict.fromkeys(line.facet for line in lines))
    names = _best_first(lines, leader.verdict.facet, measure)
    ranked = [run for run in names if run not in NO_RUNS]
    letters = {run: letter_of(place) for place, run in enumerate(ranked if evaluated.verdicts else ())}
    line_of = {(line.run, line.facet): line for line in lines}
    beaten = {(pair.facet, pair.run_a, pair.run_b) for pair in evaluated.comparisons if pair.holds}
    few = [line for line in lines if line.run in ranked and line.topics < comparisons.FEWEST_PAPERS]

    def cell(run: str, facet: str) -> Number:
        line = line_of.get((run, facet))
        plain = Number(None, MEASURE) if line is None else figure(line, measure)
        chance = [LIKE_CHANCE] if line is not None and run in ranked and not line.above_chance else []
        marks = [*chance, *(letter for name, letter in letters.items() if (facet, run, name) in beaten)]
        return replace(plain, after=" ".join(part for part in (plain.after, *marks) if part))

    return table(
        "compared",
        names,
        [Column[str]("Run", str), *([Column[str]("Letter", lambda run: letters.get(run, ""))] if letters else [])],
        columns_for(facets, cell, str if evaluated.words.faceted else lambda _facet: measure),
        caption="runs.compared",
        words=evaluated.words,
        command="annot evaluate",
        evaluated=evaluated,
        best=leader,
        power=POWER,
        silent=list(dict.fromkeys(line.facet for line in few)),
        like_chance=any(run in ranked and not line.above_chance for (run, _), line in line_of.items()),
    )


def _best_first(lines: Sequence[RunMeasures], facet: str, measure: str) -> list[str]:
    """The runs by the measure on the facet; chance and one assessor last."""
    values = {line.run: line.values[measure] for line in lines if line.facet == facet}
    return sorted(
        dict.fromkeys(line.run for line in lines),
        key=lambda run: (NO_RUNS.index(run) + 1 if run in NO_RUNS else 0, -values.get(run, -1.0), run),
    )


def scores_before_topups(evaluated: EvaluatedRuns) -> Iterator[Table]:
    """Scores before each top-up of the pools next to those of now, if there was one."""
    restated_runs = evaluated.restated
    if restated_runs is not None:
        like_chance = {
            (line.facet, line.run)
            for line in evaluated.lines
            if line.topics >= comparisons.FEWEST_PAPERS and not line.above_chance
        }
        yield table(
            "restated",
            restated_runs.scores,
            [
                facet_column(lambda row: row.facet, evaluated.words),
                Column(
                    "Run", lambda row: f"{row.run} {LIKE_CHANCE}" if (row.facet, row.run) in like_chance else row.run
                ),
            ],
            [
                *columns_for(
                    range(len(restated_runs.topups)),
                    lambda row, position: Number(row.values[position], MEASURE),
                    lambda position: f"Before version {restated_runs.topups[position].version}",
                ),
                Column("Now", lambda row: Number(row.values[-1], MEASURE)),
                Column("Difference", lambda row: Number(row.values[-1] - row.values[0], POINTS)),
                Column("Places", lambda row: ", ".join(map(str, row.places))),
            ],
            caption="runs.restated",
            words=evaluated.words,
            command="annot evaluate",
            restated=restated_runs,
            evaluated=evaluated,
        )


def scores_by_version(evaluated: EvaluatedRuns, facet: str | None = None) -> Iterator[Table]:
    """Scores of each run on each version of the corpus, with the differences and their parts, if there are several.

    facet: on this one alone.
    """
    if evaluated.by_version:
        yield table(
            "by-version",
            [row for row in evaluated.by_version if facet in (None, row.facet)],
            [
                facet_column(lambda row: row.facet, evaluated.words),
                Column("Run", lambda row: row.run),
                Column("Version", lambda row: row.corpus, "corpus"),
            ],
            [
                Column("Queries", lambda row: row.queries),
                Column(evaluated.measure, lambda row: Number(row.value, MEASURE, row.interval), "value"),
                Column("Since", lambda row: row.since or ""),
                Column("Difference", lambda row: _points(row.difference)),
                Column("By documents", lambda row: _points(row.by_documents)),
                Column("By queries", lambda row: _points(row.by_queries)),
            ],
            caption="runs.by_version",
            words=evaluated.words,
            command="annot evaluate",
            evaluated=evaluated,
        )


def _points(difference: Estimate | None) -> Number | str:
    """A difference in points of 100; no text without one."""
    return "" if difference is None else Number(difference.value, POINTS, difference.interval)


def letter_of(place: int) -> str:
    """a, b, ..., z, aa, ab, ..."""
    return (letter_of(place // 26 - 1) if place >= 26 else "") + chr(ord("a") + place % 26)


def significant(evaluated: EvaluatedRuns) -> Iterator[Table]:
    """The significant differences on all queries, the largest first, each with the size of its effect."""
    leader = best(evaluated)
    facet = leader.verdict.facet if leader else None
    rows = [comparison for comparison in evaluated.comparisons if comparison.holds and comparison.facet == facet]
    if rows:
        shown = sorted(rows, key=lambda row: -row.difference)[:MOST_SIGNIFICANT]
        yield table(
            "significant",
            shown,
            [Column("Better run", lambda row: row.run_a, "run"), Column("Other run", lambda row: row.run_b, "against")],
            [
                Column("Difference", lambda row: Number(row.difference, POINTS, row.interval), "value"),
                Column("d", effect, "effect"),
                Column("p", lambda row: Number(row.p_corrected, P), "p_corrected"),
            ],
            caption="runs.significant",
            words=evaluated.words,
            command="annot evaluate --all",
            evaluated=evaluated,
            best=leader,
            shown=len(shown),
            whole=len(rows),
        )


def effect(comparison: comparisons.RunComparison) -> Number:
    """Cohen's d for pairs, with its interval."""
    return Number(comparison.effect, EFFECT, comparison.effect_interval)


def pairs(evaluated: EvaluatedRuns) -> Iterator[Table]:
    """Every two runs on every facet."""
    if evaluated.comparisons:
        yield table(
            "comparisons",
            evaluated.comparisons,
            [
                Column("", lambda row: row.convention, "convention"),
                facet_column(lambda row: row.facet, evaluated.words),
                Column("Better run", lambda row: row.run_a, "run"),
                Column("Other run", lambda row: row.run_b, "against"),
                Column("", lambda row: row.measure, "measure"),
            ],
            [
                Column("Difference", lambda row: Number(row.difference, POINTS, row.interval), "value"),
                Column("d", effect, ""),
                Column("", lambda row: Number(row.p_value, P), "p_value"),
                Column("p", lambda row: Number(row.p_corrected, P), "p_corrected"),
                Column("p (Holm)", lambda row: Number(row.p_holm, P), "p_holm"),
                Column("p (Tukey)", lambda row: Number(row.p_tukey, P), "p_tukey"),
                Column("p (t)", lambda row: Number(row.p_t, P), "p_t"),
                Column("", effect, "effect"),
                Column("Holds", lambda row: row.holds),
            ],
            caption="runs.comparisons",
            words=evaluated.words,
            evaluated=evaluated,
            alpha=comparisons.ALPHA,
        )


def appendix(study: Study) -> Iterator[Chapter]:
    """Every measure of every run, and how the runs were made."""
    evaluated = study.evaluated
    if isinstance(evaluated, Undefined):
        return
    elsewhere = sorted(evaluated.evaluations.keys() - {tag for tag, _ in study.run_settings})
    text = sentences("runs.method", words=study.words, evaluated=evaluated, elsewhere=elsewhere)
    blocks: tuple[Table | Figure, ...] = (
        *ranks(evaluated),
        *by_depth(study, evaluated),
        *measures(evaluated, per_query=False),
        *pairs(evaluated),
        *settings(study),
    )
    yield Chapter("measures", "Runs: every measure", (), blocks, text)
    if drawn := tuple(by_query(evaluated)):
        text = sentences("runs.two", shown=min(MOST_DRAWN, len(drawn)), whole=len(drawn))
        yield Chapter("run-queries", "Runs: query by query", text, drawn[:MOST_DRAWN])


def settings(study: Study) -> Iterator[Table]:
    """Settings of the runs that were made here."""
    if study.run_settings:
        yield table(
            "run-settings",
            study.run_settings,
            [Column("Run", lambda row: row[0]), Column("Settings", lambda row: row[1])],
            caption="runs.settings",
        )


def terminal(evaluated: EvaluatedRuns, *, per_query: bool, measured: bool, paired: bool) -> Iterator[Table]:
    """Tables that `annot evaluate` prints: the better runs; on request every two runs, and every measure, which is also
    there if nothing can be compared."""
    table_of_runs = (*compared(evaluated), *scores_before_topups(evaluated), *scores_by_version(evaluated))
    yield from table_of_runs
    yield from pairs(evaluated) if paired else significant(evaluated)
    if measured or per_query or not table_of_runs:
        yield from measures(evaluated, per_query=per_query)


def measures(evaluated: EvaluatedRuns, *, per_query: bool) -> Iterator[Table]:
    """A table a convention, and on request each query."""
    for convention in dict.fromkeys(line.convention for line in evaluated.lines):
        lines = [line for line in (*evaluated.lines, *evaluated.ceiling) if line.convention == convention]
        facets = list(dict.fromkeys(line.facet for line in lines))
        yield table_of_lines(evaluated, convention, sorted(lines, key=lambda line: facets.index(line.facet)))
        if per_query:
            yield table_of_queries(evaluated, convention, evaluated.evaluations)


def table_of_lines(evaluated: EvaluatedRuns, convention: str, lines: Sequence[RunMeasures]) -> Table:
    """Every measure of these runs by one convention."""
    averages = list(dict.fromkeys(line.average for line in lines))
    return table(
        f"measures-{convention}",
        lines,
        [
            Column("", lambda line: line.convention, "convention"),
            facet_column(lambda line: line.facet, evaluated.words),
            Column("Run", lambda line: f"{line.run} ({line.runs} runs)" if line.runs > 1 else line.run, ""),
            Column("", lambda line: line.run, "run"),
        ],
        [
            *columns_for(tuple(lines[0].values), figure),
            Column("Queries", lambda line: line.queries),
            Column("Average" if len(averages) > 1 else "", lambda line: line.average, "average"),
        ],
        caption="runs.measures",
        words=evaluated.words,
        command=f"annot evaluate --all --convention {convention}",
        evaluated=evaluated,
        convention=convention,
        average=averages[0] if len(averages) == 1 else "",
    )


def table_of_queries(evaluated: EvaluatedRuns, convention: str, tags: Iterable[str]) -> Table:
    """Every measure of these runs on every query by one convention."""
    rows = [(tag, query) for tag in tags for query in evaluated.evaluations[tag][convention].queries]
    return table(
        f"queries-{convention}",
        rows,
        [
            Column("", lambda row: convention, "convention"),
            Column("Run", lambda row: row[0]),
            Column("Query", lambda row: row[1].query_id, "query_id"),
        ],
        [
            *columns_for(tuple(rows[0][1].values), lambda row, name: Number(row[1].shown(name), MEASURE)),
            Column("", lambda row: row[1].submitted, "submitted"),
            Column("", lambda row: row[1].relevant, "relevant"),
            Column("", lambda row: row[1].unjudged, "unjudged"),
            Column("", lambda row: row[1].judged_at_20, "judged_at_20"),
        ],
        caption="runs.by_query",
        command=f"annot evaluate --convention {convention} --per-query",
        evaluated=evaluated,
        convention=convention,
    )


# ----------------------------------------------------------------------------------------------------------------------
# The runs from the sides that CSFCube looks from: two facets of a paper, errors.
# ----------------------------------------------------------------------------------------------------------------------


def analyses_appendix(study: Study) -> Iterator[Chapter]:
    """One section, where there are runs."""
    evaluated = study.evaluated
    if not isinstance(evaluated, Undefined):
        blocks = (*_facets(study, evaluated), _errors(study), *_kinds(study))
        title = "Runs: facets and errors" if study.words.faceted else "Runs: errors"
        yield Chapter("analyses", title, (), blocks)


def _facets(study: Study, evaluated: EvaluatedRuns) -> Iterator[Table | Figure]:
    """The best run on each paper that has several facets."""
    leader = best(evaluated)
    assert leader is not None
    measured = evaluated.evaluations[leader.verdict.best][evaluated.convention].queries
    papers = comparisons.on_facets(
        {query.query_id: query.values[leader.measure] for query in measured},
        facets=study.snapshot.facets,
        topics=study.snapshot.topics,
    )
    if not papers:
        return
    named: dict[str, Any] = {"measure": leader.measure, "run": leader.verdict.best, "n": len(papers), "papers": papers}
    facets = [name for name in study.settings.facets if any(name in values for values in papers.values())]
    marks = {name: {paper: values[name] for paper, values in papers.items() if name in values} for name in facets}
    spans = {paper: (min(values.values()), max(values.values())) for paper, values in papers.items()}
    drawn = figures.ranges(marks, spans, spanned=None, unit=f"{leader.measure}, %")
    yield picture("facets", drawn, "analyses.facets_", **named)
    yield table(
        "runs-by-facet",
        papers.items(),
        [Column("Paper", lambda row: row[0])],
        [
            *columns_for(facets, lambda row, facet: Number(row[1].get(facet), MEASURE)),
            Column("Difference", lambda row: Number(comparisons.spread_of(row[1]), POINTS)),
        ],
        caption="analyses.facets",
        **named,
    )


def _errors(study: Study) -> Table:
    """Errors of each run on each facet."""
    facets, relevant_from = study.snapshot.facets, study.settings.evaluation.relevant_from
    cases = Counter(
        (case.run, case.query_id, case.error)
        for case in comparisons.error_cases(study.runs, study.outcome.qrels, relevant_from=relevant_from)
    )
    relevant = Counter(qrel.query_id for qrel in study.outcome.qrels if qrel.relevance >= relevant_from)
    judged = sorted({qrel.query_id for qrel in study.outcome.qrels}, key=lambda query_id: (facets[query_id], query_id))
    sampled = study.snapshot.sample is not None
    rows: list[tuple[str, str, Share, Share]] = []
    for facet in dict.fromkeys(facets[query_id] for query_id in judged):
        for run, rankings in study.runs.items():
            ranked = [query_id for query_id in judged if facets[query_id] == facet and rankings.get(query_id)]
            if ranked:
                first_fifth = {query_id: len(rankings[query_id]) // comparisons.NEAR_TOP_DIVISOR for query_id in ranked}
                topics = [study.snapshot.topics[query_id] for query_id in ranked]
                kinds: dict[comparisons.Error, Mapping[str, int]]
                kinds = {comparisons.NEAR_TOP: first_fifth, comparisons.FAR_DOWN: relevant}
                near_top, far_down = (
                    share_of_counts(
                        [cases[run, query_id, error] for query_id in ranked],
                        [possible[query_id] for query_id in ranked],
                        level=study.settings.agreement.level,
                        topics=topics,
                    )
                    for error, possible in kinds.items()
                )
                rows.append((facet, run, near_top, far_down))
    return table(
        "errors",
        rows,
        [facet_column(lambda row: row[0], study.words), Column("Run", lambda row: row[1])],
        [
            Column("Irrelevant near the top", lambda row: row[2].count),
            *([] if sampled else [Column("Share of the first fifth", lambda row: measured(row[2], SHARE))]),
            Column("Relevant far down", lambda row: row[3].count),
            *([] if sampled else [Column("Share of the relevant", lambda row: measured(row[3], SHARE))]),
        ],
        caption="analyses.errors",
        words=study.words,
        relevant_from=relevant_from,
        sampled=sampled,
    )


def _kinds(study: Study) -> Iterator[Table]:
    """Kinds of error that the lead found."""
    counts = Counter((kind, study.snapshot.facets.get(query_id)) for (query_id, _), kind in study.error_kinds.items())
    if counts:
        facets = [name for name in (*study.settings.facets, WHOLE) if any(facet == name for _, facet in counts)]
        kinds = [kind for kind in study.settings.evaluation.error_kinds if any(kind == used for used, _ in counts)]
        yield table(
            "error-kinds",
            kinds,
            [Column[str]("Kind", str)],
            columns_for(
                facets, lambda kind, facet: counts[kind, facet], str if study.words.faceted else lambda _facet: "Pairs"
            ),
            caption="analyses.kinds",
        )
