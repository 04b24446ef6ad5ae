"""The plain files that follow from the outcome: judgements, final grades, qrels; and the sheet of errors, read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping

from sqlmodel import Session

from annot.base.errors import InputError, MissingInput
from annot.base.names import counted, without_ids
from annot.base.records import Judgement, Qrel, Query
from annot.formats.json_lines import json_lines
from annot.formats.judgements_file import decided, judgement_record
from annot.formats.spreadsheet import SHEET, read_error_sheet
from annot.formats.trec import (
    TOPIC_COLUMNS,
    read_qrels,
    refuse_grades_of_models,
    topics_file,
    write_qrels,
    write_query_topics,
)
from annot.store.judgements import read_current
from annot.store.queries import read_queries
from annot.store.shown import OF_SETTINGS, display_parts, read_versions
from annot.study.adjudication import Pair
from annot.study.outcome import Outcome
from annot.study.shown_versions import VersionNumbers, by_part, numbers_of_answers
from annot.study.snapshot import Snapshot, no_judgements, text_versions
from annot.study.workspace import Workspace, given_bytes, sha256_of, write_file, write_manifest

DECISIONS_FILE, JUDGEMENTS_FILE = "decisions.jsonl", "judgements.jsonl"
SET_ASIDE = "given on another version of a text than the pair is judged on"
HINT = "write them with `annot qrels`"
SHORT_HINT = (
    "have the missing judgements made (`annot assessor add`, then `annot plan` and `annot push`), leave out these "
    'pairs with `annot qrels --partial`, or accept them with `annot qrels --allow-single "why"`'
)


def export_judgements(ws: Workspace, outcome: Outcome) -> None:
    """Write `exports/judgements.jsonl`: hidden repeats among them, under pseudonyms, without times and server ids.

    An answer that was given because the pair was returned is marked with `returned`, and one on another version of a
    text than the pair is judged on has a flag. If something was shown in several versions, `versions` has the numbers
    of those by which the answer was given, as in a release.
    """
    again, aside = outcome.given_again, dict.fromkeys(outcome.set_aside, (SET_ASIDE,))
    with ws.reading() as session:
        numbers = _numbers(session)
    lines = (
        judgement_record(
            judgement,
            judgement in again,
            comment=judgement.comment,
            flags=[*map(without_ids, (*judgement.flags, *aside.get(judgement, ())))],
            **({"versions": numbers[judgement]} if numbers.get(judgement) else {}),
        )
        for judgement in outcome.everything
    )
    write_file(ws.exports / JUDGEMENTS_FILE, json_lines(lines))


def _numbers(session: Session) -> dict[Judgement, dict[str, int]]:
    """Numbers of the versions by which each judgement was given, for content that was shown in several versions."""
    numbers = VersionNumbers({**read_versions(session, *OF_SETTINGS), **by_part(text_versions(session))})
    if not numbers:
        return {}
    judged = read_current(session)
    displays = display_parts(session, (sourced.shown_sha256 for sourced in judged))
    shown = {sourced.record: displays[sourced.shown_sha256] for sourced in judged if sourced.shown_sha256 in displays}
    return numbers_of_answers(shown, numbers, read_queries(session))


def export_qrels(ws: Workspace, outcome: Outcome, queries: Iterable[Query], texts: Collection[str]) -> tuple[Qrel, ...]:
    """Write `exports/qrels.txt`, next to it each query's topic and each decision with its origin, and their manifest.

    texts: the topics that are texts.
    """
    decisions, topics = ws.exports / DECISIONS_FILE, ws.exports / topics_file(texts)
    write_file(ws.qrels, write_qrels(outcome.qrels))
    write_file(
        decisions, json_lines(decided(outcome.decisions, [rulings[-1] for rulings in outcome.unjudgeable.values()]))
    )
    write_file(topics, write_query_topics(queries, file=topics.name))
    for unused_name in TOPIC_COLUMNS.keys() - {topics.name}:
        (ws.exports / unused_name).unlink(missing_ok=True)
    plan = ws.pools / "plan.manifest.json"
    write_manifest(
        ws.exports / "qrels.manifest.json",
        files=[ws.qrels, topics, decisions],
        inputs={"pools/plan.manifest.json": sha256_of(plan)} if plan.is_file() else {},
        facts={
            "pairs": len(outcome.qrels),
            "unjudgeable": len(outcome.unjudgeable),
            "open": len(outcome.open),
            "incomplete": len(outcome.progress.unfinished),
        },
    )
    return outcome.qrels


def refuse_qrels_of_models(ws: Workspace) -> None:
    """Raise InputError if a model's grades are in the place of the study's qrels."""
    if ws.qrels.is_file():
        with ws.qrels.open(encoding="utf-8", errors="replace") as lines:
            refuse_grades_of_models(lines, name=str(ws.qrels))


def exported_qrels(snapshot: Snapshot) -> tuple[Qrel, ...]:
    """Qrels on disk. Raises MissingInput when they have not been written, InputError when they are not of this study's
    queries."""
    ws = snapshot.ws
    if not ws.qrels.is_file():
        raise MissingInput(f"{ws.qrels}: not written yet", hint=HINT)
    refuse_qrels_of_models(ws)
    with ws.qrels.open(encoding="utf-8") as lines:
        qrels = read_qrels(lines, name=str(ws.qrels))
    strangers = sorted({qrel.query_id for qrel in qrels} - {query.query_id for query in snapshot.queries})
    if strangers:
        raise InputError(
            f"{ws.qrels}: {len(strangers)} of its queries are not in this study",
            faults=[f"query {name!r}: not in this study" for name in strangers],
            hint=HINT,
        )
    return qrels


def refuse_unfinished(outcome: Outcome, *, partial: bool) -> None:
    """Raise InputError naming every pair without a final grade, unless `partial`; MissingInput if none has one."""
    if not outcome.judgements:
        raise no_judgements()
    if not outcome.decisions and not outcome.unjudgeable:
        raise MissingInput("no pair is settled yet", hint="see `annot status --adjudication`")
    faults = unfinished(outcome)
    if partial or not faults:
        return
    raise InputError(
        f"{counted(len(faults), 'pair')} without a final grade",
        faults=faults,
        hint=SHORT_HINT
        if len(faults) == len(outcome.short)
        else "finish with `annot pull` and `annot push adjudication` (if you judge with another tool, import the "
        "adjudicator's grades with --adjudicator), or write only the settled pairs with --partial"
        + (f"; if a pair has too few judgements: {SHORT_HINT}" if outcome.short else ""),
    )


def unfinished(outcome: Outcome) -> list[str]:
    """Every pair that may still get a final grade, and why it has none. A pair that cannot be judged is closed."""
    faults = [
        f"{' '.join(pair)}: in dispute, "
        + ("one adjudicator could not judge it, a second is needed" if pair in outcome.passed_on else "not adjudicated")
        for pair in outcome.open
    ]
    assessor_of = {key.pair: name for name, key in outcome.progress.pending}
    faults += [
        f"{' '.join(pair)}: returned to {assessor_of[pair]}, who has not answered yet; `annot return "
        f"{' '.join(pair)} --to {assessor_of[pair]} --undo` takes it back"
        for pair in outcome.waiting
    ]
    short = set(outcome.short)
    faults += [f"{' '.join(pair)}: not judged by all assessors yet" for pair in outcome.incomplete if pair not in short]
    return faults + too_few(outcome)


def too_few(outcome: Outcome) -> list[str]:
    """The pairs that have fewer judgements than planned and that no present assessor will complete."""
    counts = Counter(judgement.pair for judgement in outcome.judgements if judgement.counts)
    return [f"{' '.join(pair)}: {counts[pair]} of {outcome.per_pair} judgements" for pair in outcome.short]


def read_entered(ws: Workspace) -> Mapping[Pair, tuple[str, str]]:
    """Kind and note of each pair for which either was entered; none if there is no sheet."""
    path = ws.root / SHEET
    if not path.is_file():
        return {}
    return read_error_sheet(
        given_bytes(path, expected="a sheet of errors"), name=str(path), kinds=ws.settings.evaluation.error_kinds
    )


def read_kinds(ws: Workspace) -> dict[Pair, str]:
    """The kind of each pair that has one."""
    return {pair: kind for pair, (kind, _) in read_entered(ws).items() if kind}
