"""Changes while people judge: answers gone from the server, pairs sent back, people who leave."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from sqlmodel import Session

from annot.base.errors import Faults, InputError, MissingInput, StudioError
from annot.base.names import check_name, counted, known_query, moment_now, near
from annot.base.records import Assessor, Judgement, PairKey, PairReturn, Source
from annot.formats.input_files import RETURNED_COLUMNS, ReturnedLine, read_returned_lines
from annot.judging.exchange.servers import connect
from annot.judging.plan_on_record import adjudicators_of, plan_sha256, record_plan, write_plan
from annot.judging.planning import PlanHandedOn, hand_on
from annot.judging.rounds.judging import unpulled
from annot.judging.withdrawn import TABLES, WithdrawnAnswer, lines_withdrawn, withdrawn_of
from annot.publishing.report.tables import Column, Columns, sentences
from annot.store import judgements, people, projects
from annot.store.people import read_assessors
from annot.store.pools import read_queries
from annot.store.projects import read_hidden
from annot.study.judged_texts import set_aside_of
from annot.study.outcome import Outcome, answered_of, outcome_of
from annot.study.snapshot import export_judgements
from annot.study.workspace import Workspace, given_bytes

# ----------------------------------------------------------------------------------------------------------------------
# Answers that the server no longer has: which they are, and the lead's word that they count.
# ----------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RestoredAnswers:
    """What `annot answers restore` did."""

    restored: tuple[WithdrawnAnswer, ...]
    """Answers that had been withdrawn and count again."""
    kept: tuple[WithdrawnAnswer, ...]
    """Answers that counted on and will not be listed again."""


def withdrawn(ws: Workspace) -> tuple[WithdrawnAnswer, ...]:
    """Every answer that stopped counting, or that counts although the server no longer has it as it was."""
    with ws.reading() as session:
        return withdrawn_of(session)


def restore(
    ws: Workspace, query_id: str | None, doc_id: str | None, *, assessor: str | None, every: bool, dry_run: bool
) -> RestoredAnswers:
    """Make these answers count, by a revision of each that is the lead's word; a pull does not list them again.

    every: all that are listed, of the person where one is named. Otherwise one pair of one person. Raises InputError
    for a query, a person or a pair that there is not; one whose answer counts already is left as it is.
    """
    recorded_at = moment_now()
    if every == (query_id is not None) or (not every and (doc_id is None or assessor is None)):
        raise InputError("expected QUERY DOC --assessor NAME, or --all", hint="`annot answers list` shows the answers")
    with ws.reading() as session:
        names = [person.assessor for person in read_assessors(session)]
        if assessor is not None:
            check_name(assessor, names, what="assessor")
        if query_id is not None:
            known_query({query.query_id: query for query in read_queries(session)}, query_id)
        listed = withdrawn_of(session)
        outcome = outcome_of(session, ws.settings)
    wanted = [
        one
        for one in listed
        if (every or (one.query_id, one.doc_id) == (query_id, doc_id)) and assessor in (None, one.assessor)
    ]
    answered = {(one.query_id, one.doc_id, one.assessor) for one in outcome.everything if one.counts}
    answered |= {(*pair, one.adjudicator) for pair, one in outcome.adjudications.items()}
    if not wanted and not every and (query_id, doc_id, assessor) not in answered:
        raise InputError(f"{assessor}: no answer to {query_id} {doc_id}", hint="`annot answers list` shows the answers")
    if not dry_run:
        chosen = {(one.role, one.asked, one.assessor) for one in wanted}
        with ws.writing() as session:
            for role, revisions in TABLES.items():
                answers = [
                    line.answer
                    for person in sorted({person for of, _, person in chosen if of == role})
                    for line in lines_withdrawn(session, role, person=person, payload=True)
                    if (role, line.record.asked, person) in chosen and line.answer is not None
                ]
                revisions.restore(session, answers, recorded_at=recorded_at)
            outcome = outcome_of(session, ws.settings)
        if wanted:
            export_judgements(ws, outcome)
    return RestoredAnswers(tuple(one for one in wanted if not one.counts), tuple(one for one in wanted if one.counts))


# ----------------------------------------------------------------------------------------------------------------------
# Sending a pair back: it is put before its assessor again with a reason, and both answers are kept.
# ----------------------------------------------------------------------------------------------------------------------


LONGEST_WHY = 300
"""Characters: two lines above the pair."""

State = Literal["not sent yet", "waiting", "answered", "adjudicated meanwhile"]


@dataclass(frozen=True, slots=True)
class ReturnedPair:
    """A pair that was put before its assessor again, and what came of it."""

    query_id: str
    doc_id: str
    assessor: str
    why: str
    returned_at: str
    state: State
    before: str
    """The first answer: a grade, or `cannot judge`."""
    after: str | None
    """The answer given then; None while there is none."""


RETURNED = Columns[ReturnedPair](
    [
        Column("query", lambda one: one.query_id, "query_id"),
        Column("document", lambda one: one.doc_id, "doc_id"),
        Column("assessor", lambda one: one.assessor),
        Column("state", lambda one: one.state),
        Column("first answer", lambda one: one.before),
        Column("new answer", lambda one: one.after or ""),
        Column("returned at", lambda one: one.returned_at),
        Column("reason", lambda one: one.why),
    ]
)


@dataclass(frozen=True, slots=True)
class Change:
    """What came of asking for a pair to go back, or to be taken back."""

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
    lines = read_returned_lines(given_bytes(file, expected="a table of pairs"), name=str(file))
    return _change(ws, lines, Faults(str(file)), undo=undo, dry_run=dry_run)


def change_one(
    ws: Workspace, pair: tuple[str, str], *, assessor: str, why: str, undo: bool, dry_run: bool
) -> tuple[Change, ...]:
    """Put the pair before its assessor again, or take it back where it is not answered yet: the first answer counts.

    The same once more changes nothing. An adjudicator's grade of the pair does not count, until it is taken back or
    adjudicated again. Raises InputError for a pair that is not the assessor's, that they have not judged, or that waits
    for them already, and for a reason that is empty, too long, or names a person; and for taking back what was never
    returned or is answered.
    """
    return _change(ws, [ReturnedLine(*pair, assessor, why)], None, undo=undo, dry_run=dry_run)


def _change(
    ws: Workspace, rows: Sequence[ReturnedLine], faults: Faults | None, *, undo: bool, dry_run: bool
) -> tuple[Change, ...]:
    """faults: where those of a file are noted; without it, the first one is raised as it is."""
    decide = _to_take_back if undo else _to_send_back
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
        new = [one for _, one in decided if one is not None and not dry_run]
        for one in new:
            if undo:
                judgements.withdraw_returned(session, one, withdrawn_at=now)
            else:
                judgements.add_returned(session, one)
    return tuple(Change(*row[:3], changed=one is not None) for row, one in decided)


def _to_send_back(ws: Workspace, session: Session, outcome: Outcome, row: ReturnedLine, now: str) -> PairReturn | None:
    """What is to be noted down; None if it was returned with this reason already."""
    pair, assessor, why = row[:2], row.assessor, " ".join(row.why.split())
    earlier = [one for one in outcome.returned if one.pair == pair and one.assessor == assessor]
    if any(one.why == why for one in earlier):
        return None
    if earlier and (assessor, earlier[-1].asked) not in outcome.answered:
        raise InputError(
            f"{' '.join(pair)}: already waits for {assessor}",
            hint=f"wait for the answer, or take it back: `annot return {' '.join(pair)} --to {assessor} --undo`",
        )
    _check_present(session, outcome, pair, assessor)
    _check_judged(session, outcome, pair, assessor)
    _check_why(ws, session, why)
    return PairReturn(*pair, assessor, _next_occasion(session, outcome, pair, assessor), why, now)


def _to_take_back(ws: Workspace, session: Session, outcome: Outcome, row: ReturnedLine, now: str) -> PairReturn | None:
    """The one to take back; None if it was taken back already."""
    pair, assessor = row[:2], row.assessor
    mine = [one for one in judgements.read_returned(session) if one.pair == pair and one.assessor == assessor]
    if not mine:
        raise InputError(
            f"{' '.join(pair)}: was not returned to {assessor}", hint="`annot status --returned` lists returned pairs"
        )
    if mine[-1].withdrawn_at is not None:
        return None
    if any(one.pair == pair and one.assessor == assessor for one in outcome.set_aside):
        raise InputError(
            f"{' '.join(pair)}: goes back because its text was corrected",
            hint="the first answer cannot count again; `annot corpus corrected` shows your decision",
        )
    if (assessor, mine[-1].asked) in outcome.answered:
        raise InputError(
            f"{' '.join(pair)}: {assessor} has already answered", hint="return it again with another reason"
        )
    return mine[-1]


def describe(changes: Sequence[Change], *, undo: bool) -> str:
    """What was done, in words."""
    done = Counter(one.assessor for one in changes if one.changed)
    return "\n".join(
        sentences("commands.returned", done=sorted(done.items()), same=len(changes) - done.total(), undo=undo)
    )


def listing(ws: Workspace) -> tuple[ReturnedPair, ...]:
    """Every pair that was put before its assessor again and not taken back, by time."""
    with ws.reading() as session:
        outcome = outcome_of(session, ws.settings)
        sent = set(projects.read_asked(session, round="judge"))
    answers = {(one.asked, one.assessor): one for one in outcome.everything if one.counts}

    def told(one: PairReturn) -> ReturnedPair:
        before = answers.get((one.asked._replace(occasion=1), one.assessor))
        after = answers.get((one.asked, one.assessor))
        state: State = "answered" if after else "waiting"
        if after is None and (one.pair in outcome.adjudications or one.pair in outcome.unjudgeable):
            state = "adjudicated meanwhile"
        elif after is None and (one.assessor, one.asked) not in sent:
            state = "not sent yet"
        answered = _answer(before) or "none", _answer(after)
        return ReturnedPair(*one.pair, one.assessor, one.why, one.returned_at, state, *answered)

    return tuple(map(told, sorted(outcome.returned, key=lambda one: (one.returned_at, one.asked))))


def notes(listed: Sequence[ReturnedPair]) -> tuple[str, ...]:
    """How to take back what is not answered."""
    waiting = [one for one in listed if one.state in ("not sent yet", "waiting")]
    return sentences("commands.returned_waiting", waiting=waiting)


def _answer(judgement: Judgement | None) -> str | None:
    if judgement is None:
        return None
    return "cannot judge" if judgement.grade is None else str(judgement.grade)


def _check_pair(session: Session, outcome: Outcome, pair: tuple[str, str], assessor: str) -> None:
    """Raise InputError if this is no pair of this assessor."""
    query_id, doc_id = pair
    known_query({known.query_id: known for known in read_queries(session)}, query_id)
    documents = [known for query, known in outcome.planned if query == query_id]
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


def _check_present(session: Session, outcome: Outcome, pair: tuple[str, str], assessor: str) -> None:
    """Raise InputError for a person who has left."""
    left = people.who_left(session)
    if assessor in left:
        others = [name for name in outcome.planned[pair] if name not in left]
        raise InputError(
            f"{' '.join(pair)}: {assessor} has left the study",
            hint=f"return it to {others[0]}" if others else "`annot assessor add` brings a person back",
        )


def _check_judged(session: Session, outcome: Outcome, pair: tuple[str, str], assessor: str) -> None:
    """Raise InputError if there is nothing to think over, or it is too late."""
    name = " ".join(pair)
    if not any(one.counts and one.assessor == assessor and one.pair == pair for one in outcome.judgements):
        raise InputError(f"{name}: {assessor} has not judged it", hint="if it was judged since, run `annot pull`")
    history = judgements.read_history(session, *pair)
    if not any(one.source == Source.LABEL_STUDIO and one.record.assessor == assessor for one in history):
        raise InputError(
            f"{name}: was judged with another tool", hint="judge it there again and use `annot import --as judgements`"
        )


def _check_why(ws: Workspace, session: Session, why: str) -> None:
    """Raise InputError for a reason that cannot be shown to an assessor."""
    if not 0 < len(why) <= LONGEST_WHY:
        raise InputError(f"the reason has {len(why)} characters, expected 1 to {LONGEST_WHY}")
    everyone = people.read_assessors(session)
    private = {*ws.settings.pool.methods, *(person.assessor for person in everyone)}
    private |= {person.account for person in everyone if person.account is not None}
    named = sorted(word for word in private if re.search(rf"(?<!\w){re.escape(word)}(?!\w)", why, re.IGNORECASE))
    if named:
        raise InputError(
            f"the reason names {', '.join(named)}, which assessors must not see", hint="write about the texts"
        )


def _next_occasion(session: Session, outcome: Outcome, pair: tuple[str, str], assessor: str) -> int:
    """One that neither the plan nor an earlier return, taken back or not, has used for this person and pair."""
    planned = [one.occasion for one in people.read_assignments(session, assessor) if one.pair == pair]
    given = [one.occasion for one in outcome.everything if one.pair == pair and one.assessor == assessor]
    back = [one.occasion for one in judgements.read_returned(session) if one.pair == pair and one.assessor == assessor]
    return max(planned + given + back) + 1


# ----------------------------------------------------------------------------------------------------------------------
# People leave: their open pairs go to others, what they answered stays with them.
# ----------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class HandedOverPairs:
    """How many pairs one person got."""

    assessor: str
    pairs: int


RECEIVED = Columns[HandedOverPairs](
    [Column("assessor", lambda one: one.assessor)], [Column("pairs received", lambda one: one.pairs)]
)


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """A pair that the successor could not take, and who has it."""

    query_id: str
    doc_id: str
    assessor: str


@dataclass(frozen=True, slots=True)
class Left:
    """What became of a person's pairs."""

    assessor: str
    successor: str | None
    open: int
    """Pairs that the person had not answered."""
    kept: int
    """Pairs that the person has answered, and keeps."""
    received: tuple[HandedOverPairs, ...]
    elsewhere: tuple[Elsewhere, ...]
    """The pairs that the successor could not take and another person took."""
    unassigned: tuple[tuple[str, str], ...]
    """(query_id, doc_id) of the pairs that no one could take."""
    returned: tuple[tuple[str, str], ...]
    """(query_id, doc_id) of the pairs that were put before the person again and that they had not answered."""
    contested: bool
    """Whether an adjudicator decides on these; otherwise they have again the decision that they had."""
    repeats_gone: int
    to_withdraw: int
    """Tasks on the server that the next push withdraws."""
    sha256: str


def leave(ws: Workspace, leaver: str, *, successor: str | None, contest: bool, offline: bool, dry_run: bool) -> Left:
    """Take a person out of the study. Their open pairs go to the successor, or are spread evenly over the others.

    contest: pairs that were put before the person again, and that they have not answered, go to an adjudicator;
    otherwise their first answer counts as before. offline: do not ask the server whether the person has answered more
    than was pulled. Raises InputError if they have, and for people whom the study does not have or who left.
    """
    with ws.reading() as session:
        everyone = {person.assessor: person for person in people.read_assessors(session)}
    _check(ws, everyone, leaver, successor)
    if not offline:
        _refuse_unpulled(ws, leaver)
    with ws.writing() as session:
        found = _handed_on(ws, session, everyone, leaver, successor)
        answered, aside = answered_of(session), {asked.pair for name, asked in set_aside_of(session) if name == leaver}
        sent = projects.read_sent(session).get(leaver, set())
        back = [
            one
            for one in judgements.read_returned(session)
            if one.assessor == leaver and one.withdrawn_at is None and (leaver, one.asked) not in answered
        ]
        if dry_run:
            session.rollback()
        else:
            now = moment_now()
            if everyone[leaver].left_on is None:
                people.set_left(session, leaver, now)
            for one in back:
                # Where a text was corrected, the first answer does not count, and another person gets the pair.
                contested = contest and one.pair not in aside
                judgements.withdraw_returned(session, one, withdrawn_at=now, contested=contested)
            if found.given_up:
                record_plan(ws, session, found.plan, handed_on=found.given_up)
    if found.given_up and not dry_run:
        write_plan(ws, found.plan)
    received = Counter(name for name in found.moved.values() if name is not None)
    kept = {one.asked for one in found.plan if one.assessor == leaver}
    return Left(
        assessor=leaver,
        successor=successor,
        open=len(found.moved),
        kept=sum(asked.occasion == 1 for asked in kept),
        received=tuple(HandedOverPairs(name, count) for name, count in sorted(received.items())),
        elsewhere=tuple(
            Elsewhere(*pair, name)
            for pair, name in found.moved.items()
            if successor is not None and name is not None and name != successor
        ),
        unassigned=tuple(pair for pair, name in found.moved.items() if name is None),
        returned=tuple(one.pair for one in back),
        contested=contest,
        repeats_gone=found.repeats_gone,
        to_withdraw=sum(asked not in kept and (leaver, asked) not in answered for asked in sent),
        sha256=plan_sha256(found.plan),
    )


def _check(ws: Workspace, everyone: dict[str, Assessor], leaver: str, successor: str | None) -> None:
    check_name(leaver, tuple(everyone), what="assessor")
    if successor is None:
        return
    check_name(successor, tuple(everyone), what="--to")
    person = everyone[successor]
    if successor == leaver:
        raise InputError(f"--to {successor}: found the person who leaves, expected another")
    if person.left_on is not None:
        raise InputError(f"--to {successor}: has also left", hint="`annot assessor add` brings a person back")
    if person.adjudicator and not ws.settings.adjudication.adjudicator_may_assess:
        raise InputError(
            f"--to {successor}: an adjudicator, expected an assessor",
            hint="name an assessor, or set adjudicator_may_assess = true in annot.toml",
        )


def _refuse_unpulled(ws: Workspace, leaver: str) -> None:
    """Raise InputError if the person has answered pairs that would go to others, because they are not pulled yet."""
    with ws.reading() as session:
        recorded = {one.asked for one in judgements.read_judgements(session) if one.assessor == leaver}
        sent = [
            (project, tasks)
            for project in projects.read_projects(session, round="judge")
            if project.assessor == leaver and project.remote_id is not None
            if (tasks := projects.read_tasks(session, project.project))
        ]
        # Hidden gold pairs are not passed on.
        hidden = read_hidden(session).get(leaver, ())
        sent = [
            (project, {asked: task for asked, task in tasks.items() if asked.pair not in hidden})
            for project, tasks in sent
        ]
    if not sent:
        return
    hint = "--offline continues without asking, but pairs answered since the last `annot pull` then go to others, too"
    try:
        with connect(ws, person=leaver) as gateway:
            server = gateway.identity()
            here = [(project, tasks) for project, tasks in sent if project.server == server]
            if not here:
                raise InputError(
                    f"the tasks of {leaver} are on {sent[0][0].url}, not on {gateway.url}",
                    hint=f"name that server with --url; {hint}",
                )
            waiting: list[PairKey] = [
                asked for project, tasks in here for asked in unpulled(gateway, project, tasks, recorded)
            ]
    except StudioError as error:
        raise StudioError(error.message, faults=error.faults, hint=f"{error.hint or ''}; {hint}".lstrip("; ")) from None
    if waiting:
        raise InputError(
            f"{counted(len(waiting), 'answer')} of {leaver} not pulled yet",
            hint="run `annot pull` first, so that these pairs stay with the person",
        )


def _handed_on(
    ws: Workspace, session: Session, everyone: dict[str, Assessor], leaver: str, successor: str | None
) -> PlanHandedOn:
    plan = people.read_assignments(session)
    answered = answered_of(session) - set_aside_of(session)
    may_assess = ws.settings.adjudication.adjudicator_may_assess
    others = [
        name
        for name, person in everyone.items()
        if name != leaver and person.left_on is None and (may_assess or not person.adjudicator)
    ]
    return hand_on(
        plan,
        leaver=leaver,
        answered={asked for name, asked in answered if name == leaver},
        successor=successor,
        others=others,
        together=ws.settings.judging.assignment == "per-query",
        open_loads=Counter(one.assessor for one in plan if (one.assessor, one.asked) not in answered),
        shares={name: person.share for name, person in everyone.items() if person.share is not None},
        barred=adjudicators_of(session),
    )
