"""Changes while people judge: answers gone from the server, pairs sent back, people who leave."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from typing import Literal, TypeVar

from annot.base.errors import Faults, InputError, MissingInput, StudioError
from annot.base.names import check_name, counted, known_query, moment_now, near
from annot.base.records import Assessor, Judgement, PairKey, PairReturn, Source
from annot.formats.input_files import RETURNED_COLUMNS, ReturnedLine, content_of, read_returned_lines
from annot.judging import plan_on_record, planning
from annot.judging.exchange.outgoing import private_words
from annot.judging.exchange.servers import connect
from annot.judging.rounds.judging import unpulled
from annot.judging.withdrawn import TABLES, WithdrawnAnswer, lines_withdrawn, withdrawn_of
from annot.labelstudio.screens import named_in
from annot.publishing.report.tables import Column, Columns, sentences
from annot.store import people, pools, projects
from annot.store.answers import JUDGEMENTS, add_returned, read_returned, withdraw_returned
from annot.store.models import Session
from annot.study import judged_texts, snapshot
from annot.study.outcome import Outcome, answered_of, outcome_of
from annot.study.workspace import Workspace

# ----------------------------------------------------------------------------------------------------------------------
# Answers that the server no longer has: the list, and the lead's decision that they count.
# ----------------------------------------------------------------------------------------------------------------------


def withdrawn(ws: Workspace) -> tuple[WithdrawnAnswer, ...]:
    """Answers that stopped counting, or that count although the server no longer has them unchanged."""
    return ws.read(withdrawn_of)


def restore(
    ws: Workspace, query_id: str | None, doc_id: str | None, *, assessor: str | None, every: bool, dry_run: bool
) -> tuple[list[WithdrawnAnswer], list[WithdrawnAnswer]]:
    """Make these answers count, by a revision of each that is the lead's decision; a pull does not list them again.

    Returns the answers that had been withdrawn, and those that still counted and will not be listed again.

    every: all that are listed, or all of the person who is named. Otherwise one pair of one person. Raises InputError
    for an unknown query, person or pair; an answer that counts already is left as it is.
    """
    recorded_at = moment_now()
    if every == (query_id is not None) or (not every and (doc_id is None or assessor is None)):
        raise InputError("expected QUERY DOC --assessor NAME, or --all", hint="see `annot answers list`")
    with ws.reading() as session:
        chosen = _chosen(ws, session, query_id, doc_id, assessor=assessor, every=every)
    if not dry_run:
        with ws.writing() as session:
            questions = {(answer.role, answer.pair_key, answer.assessor) for answer in chosen}
            for role, revisions in TABLES.items():
                restored = [
                    line.answer
                    for name in sorted({answer.assessor for answer in chosen if answer.role == role})
                    for line in lines_withdrawn(session, role, person=name, payload=True)
                    if (role, line.record.pair_key, name) in questions and line.answer is not None
                ]
                revisions.restore(session, restored, recorded_at=recorded_at)
            outcome = outcome_of(session, ws.settings)
        if chosen:
            snapshot.export_judgements(ws, outcome)
    return [answer for answer in chosen if not answer.counts], [answer for answer in chosen if answer.counts]


def _chosen(
    ws: Workspace, session: Session, query_id: str | None, doc_id: str | None, *, assessor: str | None, every: bool
) -> list[WithdrawnAnswer]:
    """The chosen ones of the listed answers. Raises InputError as `restore` does."""
    if assessor is not None:
        check_name(assessor, [person.assessor for person in people.read_assessors(session)], what="assessor")
    if query_id is not None:
        known_query(pools.queries_by_id(session), query_id)
    chosen = [
        answer
        for answer in withdrawn_of(session)
        if (every or (answer.query_id, answer.doc_id) == (query_id, doc_id)) and assessor in (None, answer.assessor)
    ]
    if not chosen and not every:
        outcome = outcome_of(session, ws.settings)
        counting = {(*answer.pair, answer.assessor) for answer in outcome.everything if answer.counts}
        counting |= {(*pair, decision.adjudicator) for pair, decision in outcome.adjudications.items()}
        if (query_id, doc_id, assessor) not in counting:
            raise InputError(f"{assessor}: no answer to {query_id} {doc_id}", hint="see `annot answers list`")
    return chosen


# ----------------------------------------------------------------------------------------------------------------------
# Pairs sent back to their assessor with a reason; both answers are kept.
# ----------------------------------------------------------------------------------------------------------------------


LONGEST_WHY = 300
"""Characters: two lines above the pair."""

Row = TypeVar("Row", Judgement, PairReturn)
State = Literal["not sent yet", "waiting", "answered", "adjudicated meanwhile"]


@dataclass(frozen=True, slots=True)
class ReturnedPair:
    """A pair that was put before its assessor again, and its state."""

    query_id: str
    doc_id: str
    assessor: str
    why: str
    returned_at: str
    state: State
    before: str
    """The first answer: a grade, or `cannot judge`."""
    after: str | None
    """The second answer; None while there is none."""


RETURNED = Columns[ReturnedPair](
    [
        Column("query", lambda pair: pair.query_id, "query_id"),
        Column("document", lambda pair: pair.doc_id, "doc_id"),
        Column("assessor", lambda pair: pair.assessor),
        Column("state", lambda pair: pair.state),
        Column("first answer", lambda pair: pair.before),
        Column("new answer", lambda pair: pair.after or ""),
        Column("returned at", lambda pair: pair.returned_at),
        Column("reason", lambda pair: pair.why),
    ]
)


@dataclass(frozen=True, slots=True)
class Change:
    """Result of sending back one pair, or of taking it back."""

    query_id: str
    doc_id: str
    assessor: str
    changed: bool


def change(ws: Workspace, file: Path, *, undo: bool, dry_run: bool) -> tuple[Change, ...]:
    """Send back every pair of the file, or take it back: all of them, or none if one row is wrong.

    The same file once more changes nothing. Raises MissingInput if there is no file, and InputError with the line of
    every row that `change_one` would refuse.
    """
    if not file.is_file():
        columns = ", ".join(RETURNED_COLUMNS)
        raise MissingInput(f"{file}: no such file", hint=f"expected a table with the columns {columns}")
    lines = read_returned_lines(content_of(file, expected="a table of pairs"), name=str(file))
    return _change(ws, lines, Faults(str(file)), undo=undo, dry_run=dry_run)


def change_one(
    ws: Workspace, pair: tuple[str, str], *, assessor: str, why: str, undo: bool, dry_run: bool
) -> tuple[Change, ...]:
    """Put the pair before its assessor again; or, with `undo`, take it back if it has no new answer.

    The same once more changes nothing. An adjudicator's grade of the pair does not count, until it is taken back or
    adjudicated again. Raises InputError for a pair that is not the assessor's, that they have not judged, or that waits
    for them already, and for a reason that is empty, too long, or names a person; with `undo`, for a pair that was
    never returned or is answered.
    """
    return _change(ws, [ReturnedLine(*pair, assessor, why)], None, undo=undo, dry_run=dry_run)


def _change(
    ws: Workspace, rows: Sequence[ReturnedLine], faults: Faults | None, *, undo: bool, dry_run: bool
) -> tuple[Change, ...]:
    """faults: collects the faults of a file; without it, the first one is raised as it is."""
    decide = _return_to_cancel if undo else _return_to_record
    now = moment_now()
    with ws.writing() as session:
        outcome = outcome_of(session, ws.settings)
        decided: list[tuple[ReturnedLine, PairReturn | None]] = []
        for row in rows:
            try:
                _check_pair(session, outcome, row[:2], row.assessor)
                decided.append((row, decide(ws, session, outcome, row, now)))
            except InputError as error:
                if faults is None:
                    raise
                faults.add(f"{error.message}; {error.hint}", line=row.line)
        if faults is not None:
            faults.raise_if_any(hint="nothing was changed; correct these rows and run the command again")
        for _, pair_return in decided:
            if pair_return is None or dry_run:
                continue
            if undo:
                withdraw_returned(session, pair_return, withdrawn_at=now)
            else:
                add_returned(session, pair_return)
    return tuple(Change(*row[:3], changed=pair_return is not None) for row, pair_return in decided)


def _return_to_record(
    ws: Workspace, session: Session, outcome: Outcome, row: ReturnedLine, now: str
) -> PairReturn | None:
    """The return to record; None if the pair was returned with this reason already."""
    pair, assessor, why = row[:2], row.assessor, " ".join(row.why.split())
    earlier = _rows_of_pair(outcome.returned, pair, assessor)
    if any(pair_return.why == why for pair_return in earlier):
        return None
    if earlier and (assessor, earlier[-1].pair_key) not in outcome.answered:
        raise InputError(
            f"{' '.join(pair)}: already waits for {assessor}",
            hint=f"wait for the answer, or take it back: `annot return {' '.join(pair)} --to {assessor} --undo`",
        )
    _check_return(ws, session, outcome, pair, assessor, why)
    # A number that neither the plan nor any earlier return has used for this person and pair.
    known = [row.occasion for row in people.read_assignments(session, assessor) if row.pair == pair]
    known += [answer.occasion for answer in _rows_of_pair(outcome.everything, pair, assessor)]
    known += [pair_return.occasion for pair_return in _rows_of_pair(read_returned(session), pair, assessor)]
    return PairReturn(*pair, assessor, max(known) + 1, why, now)


def _return_to_cancel(
    ws: Workspace, session: Session, outcome: Outcome, row: ReturnedLine, now: str
) -> PairReturn | None:
    """The return to take back; None if it was taken back already."""
    pair, assessor = row[:2], row.assessor
    returns = _rows_of_pair(read_returned(session), pair, assessor)
    if not returns:
        raise InputError(f"{' '.join(pair)}: was not returned to {assessor}", hint="see `annot status --returned`")
    latest = returns[-1]
    if latest.withdrawn_at is not None:
        return None
    if _rows_of_pair(outcome.set_aside, pair, assessor):
        raise InputError(
            f"{' '.join(pair)}: goes back because its text was corrected",
            hint="the first answer cannot count again; `annot corpus corrected` shows your decision",
        )
    if (assessor, latest.pair_key) in outcome.answered:
        raise InputError(f"{' '.join(pair)}: {assessor} has already answered", hint="return it once more")
    return latest


def describe(changes: Sequence[Change], *, undo: bool) -> str:
    """Sentences on the changes."""
    done = Counter(change.assessor for change in changes if change.changed)
    return "\n".join(
        sentences("commands.returned", done=sorted(done.items()), same=len(changes) - done.total(), undo=undo)
    )


def listing(ws: Workspace) -> tuple[ReturnedPair, ...]:
    """Pairs that were returned to their assessors and not taken back, by time."""
    with ws.reading() as session:
        outcome = outcome_of(session, ws.settings)
        sent = set(projects.read_asked(session, round="judge"))
    answers = {(answer.pair_key, answer.assessor): answer for answer in outcome.everything if answer.counts}

    def listed(pair_return: PairReturn) -> ReturnedPair:
        pair_key, assessor = pair_return.pair_key, pair_return.assessor
        first, second = answers.get((pair_key._replace(occasion=1), assessor)), answers.get((pair_key, assessor))
        state: State = "answered" if second else "waiting"
        if second is None and (pair_return.pair in outcome.adjudications or pair_return.pair in outcome.unjudgeable):
            state = "adjudicated meanwhile"
        elif second is None and (assessor, pair_key) not in sent:
            state = "not sent yet"
        answered = _answer(first) or "none", _answer(second)
        return ReturnedPair(*pair_return.pair, assessor, pair_return.why, pair_return.returned_at, state, *answered)

    return tuple(map(listed, sorted(outcome.returned, key=attrgetter("returned_at", "pair_key"))))


def notes(listed: Sequence[ReturnedPair]) -> tuple[str, ...]:
    """Notes on taking back pairs that are not answered."""
    waiting = [pair for pair in listed if pair.state in ("not sent yet", "waiting")]
    return sentences("commands.returned_waiting", waiting=waiting)


def _answer(judgement: Judgement | None) -> str | None:
    if judgement is None:
        return None
    return "cannot judge" if judgement.grade is None else str(judgement.grade)


def _check_pair(session: Session, outcome: Outcome, pair: tuple[str, str], assessor: str) -> None:
    """Raise InputError if the assessor does not have this pair."""
    query_id, doc_id = pair
    known_query(pools.queries_by_id(session), query_id)
    documents = [planned_id for planned_query, planned_id in outcome.planned if planned_query == query_id]
    if pair not in outcome.planned:
        raise InputError(
            f"document {doc_id!r}: not planned for {query_id}; "
            + (near(doc_id, documents) if len(documents) < 10 else "see the plan in pools/plan.jsonl"),
            hint="only planned pairs can be returned",
        )
    if assessor not in outcome.planned[pair]:
        raise InputError(
            f"{' '.join(pair)}: not a pair of {assessor}", hint=f"it belongs to {', '.join(outcome.planned[pair])}"
        )


def _check_return(
    ws: Workspace, session: Session, outcome: Outcome, pair: tuple[str, str], assessor: str, why: str
) -> None:
    """Raise InputError for a person who has left, or has not answered the pair, or not on the server, and for a reason
    that cannot be shown to an assessor.
    """
    name, left = " ".join(pair), people.people_who_left(session)
    if assessor in left:
        others = [other for other in outcome.planned[pair] if other not in left]
        raise InputError(
            f"{name}: {assessor} has left the study",
            hint=f"return it to {others[0]}" if others else "`annot assessor add` brings them back",
        )
    if not any(judgement.counts for judgement in _rows_of_pair(outcome.judgements, pair, assessor)):
        raise InputError(f"{name}: {assessor} has not judged it", hint="if it was judged since, run `annot pull`")
    history = JUDGEMENTS.history(session, *pair)
    if not any(answer.source == Source.LABEL_STUDIO and answer.record.assessor == assessor for answer in history):
        raise InputError(f"{name}: was judged with another tool", hint="judge it there again and import it")
    if not 0 < len(why) <= LONGEST_WHY:
        raise InputError(f"the reason has {len(why)} characters, expected 1 to {LONGEST_WHY}")
    if named := sorted(named_in(why, private_words(ws, session))):
        raise InputError(f"the reason names {', '.join(named)}, which assessors must not see", hint="name texts only")


def _rows_of_pair(rows: Iterable[Row], pair: tuple[str, str], assessor: str) -> list[Row]:
    return [row for row in rows if row.pair == pair and row.assessor == assessor]


# ----------------------------------------------------------------------------------------------------------------------
# People who leave: their open pairs go to others, and their answers stay theirs.
# ----------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class HandedOverPairs:
    """Number of pairs that one person received."""

    assessor: str
    pairs: int


RECEIVED = Columns[HandedOverPairs](
    [Column("assessor", lambda row: row.assessor)], [Column("pairs received", lambda row: row.pairs)]
)


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """A pair that the successor could not take, and the person who took it."""

    query_id: str
    doc_id: str
    assessor: str


@dataclass(frozen=True, slots=True)
class Left:
    """Pairs of a person who leaves, by their fate."""

    assessor: str
    adjudicator: bool
    successor: str | None
    open: int
    """Pairs that the person had not answered."""
    kept: int
    """Answered pairs, which stay theirs."""
    received: tuple[HandedOverPairs, ...]
    elsewhere: tuple[Elsewhere, ...]
    """The pairs that the successor could not take and another person took."""
    unassigned: tuple[tuple[str, str], ...]
    """(query_id, doc_id) of the pairs that no one could take."""
    returned: tuple[tuple[str, str], ...]
    """(query_id, doc_id) of the pairs that were returned to the person and had no new answer."""
    contested: bool
    """True if an adjudicator decides on these; otherwise their earlier decision counts again."""
    repeats_gone: int
    to_withdraw: int
    """Tasks on the server that the next push withdraws."""
    sha256: str


def leave(ws: Workspace, leaver: str, *, successor: str | None, contest: bool, offline: bool, dry_run: bool) -> Left:
    """Take a person out of the study. Their open pairs go to the successor, or are spread evenly over the others.

    contest: returned pairs without a new answer go to an adjudicator; otherwise their first answer counts as before.
    offline: do not ask the server for answers that were not pulled yet. Raises InputError if there are any, and for
    people who are not in the study or who left.
    """
    everyone = _people(ws, leaver, successor)
    if not offline:
        _refuse_unpulled(ws, leaver)
    with ws.writing() as session:
        handed_on = _handed_on(ws, session, everyone, leaver, successor)
        answered = {pair_key for name, pair_key in answered_of(session) if name == leaver}
        sent = projects.read_sent(session).get(leaver, set())
        if everyone[leaver].left_on is None:
            people.set_left(session, leaver, moment_now())
        waiting = _take_back(session, leaver, answered, contest=contest)
        if handed_on.given_up:
            plan_on_record.record_plan(ws, session, handed_on.plan, handed_on=handed_on.given_up)
        if dry_run:
            session.rollback()
    if handed_on.given_up and not dry_run:
        plan_on_record.write_plan(ws, handed_on.plan)
    receivers = {pair: name for pair, name in handed_on.moved.items() if name is not None}
    kept = {assignment.pair_key for assignment in handed_on.plan if assignment.assessor == leaver}
    return Left(
        assessor=leaver,
        adjudicator=everyone[leaver].adjudicator,
        successor=successor,
        open=len(handed_on.moved),
        kept=sum(pair_key.occasion == 1 for pair_key in kept),
        received=tuple(HandedOverPairs(name, count) for name, count in sorted(Counter(receivers.values()).items())),
        elsewhere=tuple(Elsewhere(*pair, name) for pair, name in receivers.items() if successor not in (None, name)),
        unassigned=tuple(pair for pair in handed_on.moved if pair not in receivers),
        returned=tuple(pair_return.pair for pair_return in waiting),
        contested=contest,
        repeats_gone=handed_on.repeats_gone,
        to_withdraw=len(sent - kept - answered),
        sha256=plan_on_record.plan_sha256(handed_on.plan),
    )


def _take_back(session: Session, leaver: str, answered: set[PairKey], *, contest: bool) -> list[PairReturn]:
    """Take back returned pairs that the person has not answered again."""
    returns = [
        pair_return
        for pair_return in read_returned(session)
        if pair_return.assessor == leaver and pair_return.withdrawn_at is None and pair_return.pair_key not in answered
    ]
    set_aside = {pair_key.pair for name, pair_key in judged_texts.set_aside_of(session) if name == leaver}
    now = moment_now()
    for pair_return in returns:
        # If a text was corrected, the first answer does not count, and another person gets the pair.
        contested = contest and pair_return.pair not in set_aside
        withdraw_returned(session, pair_return, withdrawn_at=now, contested=contested)
    return returns


def _people(ws: Workspace, leaver: str, successor: str | None) -> dict[str, Assessor]:
    """Everyone by name. Raises InputError if these two are not known, or the successor cannot take pairs."""
    everyone = {person.assessor: person for person in ws.read(people.read_assessors)}
    check_name(leaver, tuple(everyone), what="assessor")
    if successor is None:
        return everyone
    check_name(successor, tuple(everyone), what="--to")
    person = everyone[successor]
    if successor == leaver:
        raise InputError(f"--to {successor}: found the person who leaves, expected another")
    if person.left_on is not None:
        raise InputError(f"--to {successor}: has also left", hint="`annot assessor add` brings them back")
    if person.adjudicator and not ws.settings.adjudication.adjudicator_may_assess:
        raise InputError(
            f"--to {successor}: an adjudicator, expected an assessor",
            hint="or set adjudicator_may_assess in annot.toml",
        )
    return everyone


def _refuse_unpulled(ws: Workspace, leaver: str) -> None:
    """Raise InputError if the person has answered pairs that would go to others, because they are not pulled yet."""
    with ws.reading() as session:
        answered = {judgement.pair_key for judgement in JUDGEMENTS.records(session) if judgement.assessor == leaver}
        # Hidden gold pairs are not passed on.
        hidden = projects.read_hidden(session).get(leaver, ())
        sent = [
            (project, {pair_key: task for pair_key, task in tasks.items() if pair_key.pair not in hidden})
            for project in projects.sent_projects(session, round="judge")
            if project.assessor == leaver and (tasks := projects.read_tasks(session, project.project))
        ]
    if not sent:
        return
    hint = "--offline continues without asking, but pairs answered since the last `annot pull` then go to others, too"
    try:
        with connect(ws, person=leaver) as gateway:
            server = gateway.identity()
            on_server = [(project, tasks) for project, tasks in sent if project.server == server]
            if not on_server:
                raise InputError(
                    f"the tasks of {leaver} are on {sent[0][0].url}, not on {gateway.url}",
                    hint=f"name that server with --url; {hint}",
                )
            waiting: list[PairKey] = [
                pair_key for project, tasks in on_server for pair_key in unpulled(gateway, project, tasks, answered)
            ]
    except StudioError as error:
        raise StudioError(error.message, faults=error.faults, hint=f"{error.hint or ''}; {hint}".lstrip("; ")) from None
    if waiting:
        raise InputError(f"{counted(len(waiting), 'answer')} of {leaver} not pulled yet", hint="run `annot pull` first")


def _handed_on(
    ws: Workspace, session: Session, everyone: dict[str, Assessor], leaver: str, successor: str | None
) -> planning.PlanHandedOn:
    plan = people.read_assignments(session)
    answered = answered_of(session) - judged_texts.set_aside_of(session)
    may_assess = ws.settings.adjudication.adjudicator_may_assess
    others = [
        name
        for name, person in everyone.items()
        if name != leaver and person.left_on is None and (may_assess or not person.adjudicator)
    ]
    return planning.hand_on(
        plan,
        leaver=leaver,
        answered={pair_key for name, pair_key in answered if name == leaver},
        successor=successor,
        others=others,
        together=ws.settings.judging.assignment == "per-query",
        open_loads=Counter(row.assessor for row in plan if (row.assessor, row.pair_key) not in answered),
        shares={name: person.share for name, person in everyone.items() if person.share is not None},
        barred=plan_on_record.adjudicators_of(session),
    )
