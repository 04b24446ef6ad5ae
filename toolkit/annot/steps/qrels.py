"""The final grades as TREC qrels; two qrels compared: grades, topic by topic, and the order of the runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from annot.base.errors import InputError
from annot.base.names import StudyVocabulary, counted, moment_now, verb
from annot.base.records import Qrel
from annot.base.stats.values import Estimate
from annot.formats.trec import read_qrels
from annot.measuring.evaluation import evaluated, other_figures
from annot.measuring.measured import evaluation_of, read_run_files, topups
from annot.measuring.sampled_study import SHOWN, grade_counts
from annot.publishing.report.cells import COEFFICIENT, ESTIMATED, MEASURE, POINTS, Number, measured
from annot.publishing.report.sections.runs import LIKE_CHANCE
from annot.publishing.report.tables import Column, Columns, Table, columns_for, sentence, sentences, table
from annot.publishing.report.terminal import table_text
from annot.store.answers import accept
from annot.store.pools import read_corpus_versions
from annot.study.outcome import Pair, outcome_of
from annot.study.snapshot import export_qrels, final_qrels, read_snapshot, refuse_unfinished, too_few
from annot.study.workspace import Workspace, given_text


@dataclass(frozen=True, slots=True)
class WrittenQrels:
    """Files of grades: pairs by query and grade, unjudgeable pairs, and pairs that are still open."""

    path: Path
    pairs: int
    unjudgeable: int
    open: int
    incomplete: int
    short: tuple[str, ...]
    """The pairs left out because they have fewer judgements than planned."""
    accepted: int
    """Pairs among these that have fewer judgements than planned, by the lead's word."""
    scale: tuple[int, ...]
    grades: dict[str, tuple[int, ...]]
    relevant: dict[str, Estimate]
    """The relevant documents of each pool, estimated if a sample of the pools is judged; else empty."""
    notes: tuple[str, ...]


def grade_columns(written: WrittenQrels) -> Columns[tuple[str, Sequence[int]]]:
    """Number of pairs of a query with each grade, and the estimated number of relevant pairs of its pool."""
    columns: list[Column[tuple[str, Sequence[int]]]] = columns_for(
        written.scale,
        lambda row, grade: row[1][written.scale.index(grade)],
        lambda grade: f"drawn, grade {grade}" if written.relevant else f"grade {grade}",
    )
    if written.relevant:
        columns.append(Column("relevant in the pool", lambda row: measured(written.relevant[row[0]], ESTIMATED)))
    return Columns([Column("query", lambda row: row[0], "query_id")], columns)


def write(ws: Workspace, *, partial: bool, allow_single: str | None = None) -> WrittenQrels:
    """Write `exports/qrels.txt`, and next to it each query's topic and each decision with its origin.

    partial: write although pairs are open or not judged by all; those stay out: unjudged is not 0. allow_single: the
    reason for counting pairs that no present assessor will complete with the judgements that they have; it goes on
    record, and such pairs with a judgement count from then on.
    """
    if allow_single is not None:
        _accept(ws, " ".join(allow_single.split()), partial=partial)
    snapshot = read_snapshot(ws)
    outcome = snapshot.outcome
    refuse_unfinished(outcome, partial=partial)
    earlier = ws.write(final_qrels, ws) if ws.read(read_corpus_versions) else {}
    qrels = export_qrels(ws, outcome, snapshot.queries, snapshot.texts, earlier=earlier)
    scale = ws.settings.scale.grades
    times = Counter((query_id, grade) for query_id, _, grade in qrels)
    grades = {
        query_id: tuple(times[query_id, grade] for grade in scale)
        for query_id in sorted({query_id for query_id, _ in times})
    }
    pools = grade_counts(snapshot) if snapshot.samples else {}
    relevant_from, level = ws.settings.evaluation.relevant_from, ws.settings.agreement.level
    relevant = {query_id: pool.number(relevant_from, level=level) for query_id, pool in pools.items()}
    accepted = sum(decision.pair in outcome.accepted for decision in outcome.decisions)
    notes = sentences(
        "commands.qrels",
        words=snapshot.words,
        sample=snapshot.sample,
        estimated=bool(relevant),
        relevant_from=relevant_from,
        level=level,
        outcome=outcome,
        accepted=accepted,
        why=sorted(set(outcome.accepted.values())),
        added=[topup for topup, _ in topups(snapshot, qrels)],
    )
    return WrittenQrels(
        path=ws.qrels,
        pairs=len(qrels),
        unjudgeable=len(outcome.unjudgeable),
        open=len(outcome.open),
        incomplete=len(outcome.incomplete),
        short=tuple(too_few(outcome)),
        accepted=accepted,
        scale=scale,
        grades=grades,
        relevant=relevant,
        notes=notes,
    )


def _accept(ws: Workspace, why: str, *, partial: bool) -> None:
    """Put on record that the pairs that no present assessor will complete count as they are.

    Raises InputError for an empty reason, if there is no such pair, and as `write` does; then nothing is on record.
    """
    if not why:
        raise InputError("--allow-single: the reason is empty; say why these pairs count with fewer judgements")
    with ws.writing() as session:
        outcome = outcome_of(session, ws.settings)
        judged = {judgement.pair for judgement in outcome.judgements if judgement.counts}
        pairs = [pair for pair in outcome.short if pair in judged]
        if not pairs and not outcome.accepted:
            raise InputError(
                "--allow-single: every pair with fewer judgements than planned has an assessor who can complete it",
                hint="if a person no longer answers, use `annot assessor leave`",
            )
        accept(session, pairs, why=why, accepted_at=moment_now())
        refuse_unfinished(outcome_of(session, ws.settings), partial=partial)


@dataclass(frozen=True, slots=True)
class ComparedQrels:
    """Text on the two files and their differences."""

    a: str
    b: str
    found: other_figures.TwoQrels
    notes: tuple[str, ...]


def compare(
    ws: Workspace, a: Path, b: Path, *, conventions: tuple[str, ...], measures: tuple[str, ...]
) -> ComparedQrels:
    """The qrels files `a` and `b` on the queries of this study that both have, and the runs of `exports/runs/` on each.

    conventions: in the first of them; measures: by the first of them (else NDCG%20; nDCG in trec).
    """
    snapshot = read_snapshot(ws)
    files = [(str(path), _qrels_in(path)) for path in (a, b)]
    queries = [{qrel.query_id for qrel in qrels} for _, qrels in files]
    common = queries[0] & queries[1] & snapshot.facets.keys()
    if not common:
        raise InputError(
            f"{a} and {b}: the two files have no query of this study in common",
            faults=[
                f"{path}: found {', '.join(sorted(qrels_of_file)[:3])}"
                for (path, _), qrels_of_file in zip(files, queries, strict=True)
            ],
        )
    notes = tuple(
        f"{path}: {len(of - common)} of its {len(of)} queries are left out: not in the other file, or not in this study"
        for (path, _), of in zip(files, queries, strict=True)
        if of - common
    )
    runs = read_run_files(snapshot.ws)
    of_a, of_b = (tuple(qrel for qrel in qrels if qrel.query_id in common) for _, qrels in files)
    weights = None
    if snapshot.sample is not None:
        weights = snapshot.sample.weights
        drawn = weights.keys()
        _refuse_open(files, {pair for pair in drawn if pair[0] in common} - set(snapshot.outcome.unjudgeable))
        notes += tuple(_beside_drawn(files, drawn, common))
        of_a, of_b = (tuple(qrel for qrel in of if (qrel.query_id, qrel.doc_id) in drawn) for of in (of_a, of_b))
    by_a, by_b = (
        evaluation_of(snapshot, runs, qrels, conventions=conventions[:1], measures=measures, queries=common)
        for qrels in (of_a, of_b)
    )
    facets = {snapshot.facets[query_id] for query_id in common}
    facet = evaluated.TOGETHER if len(facets) > 1 else next(iter(facets))
    found = other_figures.compare_qrels(
        of_a, of_b, by_a, by_b, facet=facet, level=ws.settings.agreement.level, topics=snapshot.topics, weights=weights
    )
    return ComparedQrels(str(a), str(b), found, notes)


def _qrels_in(path: Path) -> tuple[Qrel, ...]:
    return read_qrels(given_text(path, expected="TREC qrels").splitlines(), name=str(path))


def _refuse_open(files: Iterable[tuple[str, tuple[Qrel, ...]]], wanted: Collection[Pair]) -> None:
    """Raise InputError if a file lacks grades of drawn pairs: estimates need them all."""
    for path, qrels in files:
        if lacking := sorted({*wanted} - {(qrel.query_id, qrel.doc_id) for qrel in qrels}):
            raise InputError(
                f"{path}: no grade for {counted(len(lacking), 'drawn pair')}, expected one for each",
                faults=[" ".join(pair) for pair in lacking[:SHOWN]],
                hint="add these grades, or leave their queries out of one of the files",
            )


def _beside_drawn(
    files: Iterable[tuple[str, tuple[Qrel, ...]]], drawn: Collection[Pair], queries: Collection[str]
) -> Iterator[str]:
    """Note on the counts of files of grades if a sample of the pools is judged."""
    drawn_pairs = {pair for pair in drawn if pair[0] in queries}
    yield (
        "a sample of the pools was judged: measures of runs and coefficients of agreement are estimates of the whole "
        "pools; the table of grades counts drawn pairs"
    )
    for path, qrels in files:
        listed = {(qrel.query_id, qrel.doc_id) for qrel in qrels if qrel.query_id in queries}
        if others := listed - drawn_pairs:
            yield f"{path}: {counted(len(others), 'pair')} {verb(len(others), 'was', 'were')} not drawn: left out"


def tables(compared: ComparedQrels, words: StudyVocabulary) -> list[Table]:
    """The grades, the order of the runs, the runs that change sides, and the topics; without those that have no row."""
    agreement = compared.found
    made = [
        table(
            "confusion",
            list(zip(agreement.grades, agreement.confusion, strict=True)),
            [Column("Grade", lambda row: row[0])],
            columns_for(agreement.grades, lambda row, grade: row[1][agreement.grades.index(grade)]),
            caption="two_qrels.confusion",
            compared=compared,
        ),
        table(
            "means",
            agreement.means.items(),
            [Column("Run", lambda row: row[0])],
            [
                Column("A", lambda row: _mean(row[1][0], agreement.above_chance[row[0]][0])),
                Column("B", lambda row: _mean(row[1][1], agreement.above_chance[row[0]][1])),
            ],
            caption="two_qrels.means",
            words=words,
            found=agreement,
        ),
        table(
            "changed",
            agreement.changed,
            [Column("Better by A", lambda row: row.better_by_a), Column("Better by B", lambda row: row.better_by_b)],
            [
                Column("Lead by A", lambda row: Number(row.lead_by_a, POINTS)),
                Column("Holds by A", lambda row: row.holds_by_a),
                Column("Lead by B", lambda row: Number(row.lead_by_b, POINTS)),
                Column("Holds by B", lambda row: row.holds_by_b),
            ],
            caption="two_qrels.changed",
        ),
        table(
            "topics",
            agreement.topics,
            [Column("Query", lambda row: row.query_id)],
            [
                Column("Pairs", lambda row: row.pairs),
                Column("Only A", lambda row: row.only_a),
                Column("Only B", lambda row: row.only_b),
                Column("Kappa", lambda row: Number(row.kappa, COEFFICIENT)),
                Column("Alpha", lambda row: Number(row.alpha, COEFFICIENT)),
            ],
            caption="two_qrels.topics",
            words=words,
        ),
    ]
    return [table for table in made if table.rows]


def describe(compared: ComparedQrels, tables: Iterable[Table]) -> str:
    """The verdict in one line, and the tables."""
    return "\n\n".join([sentence("two_qrels.verdict", found=compared.found), *map(table_text, tables)])


def _mean(value: float, above_chance: bool) -> Number:
    return Number(value, MEASURE, after="" if above_chance else LIKE_CHANCE)
