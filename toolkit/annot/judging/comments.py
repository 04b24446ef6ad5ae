"""Comments of people: whose may be published, and what assessors should talk about between two batches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from annot.base.errors import InputError, MissingInput
from annot.base.names import check_name, moment_of
from annot.base.records import Adjudication, Judgement, grouped
from annot.measuring.agreement.estimates import AgreementTable
from annot.measuring.measured import agreement_of
from annot.store.people import Kind, Notice
from annot.study.outcome import Pair, UnexplainedSettlements, unexplained_of
from annot.study.snapshot import Snapshot

# ----------------------------------------------------------------------------------------------------------------------
# The words of people in a release: comments of assessors and reasons of adjudicators, of those who knew or agreed.
# ----------------------------------------------------------------------------------------------------------------------


WHOSE: dict[Kind, str] = {"comments": "assessors", "reasons": "adjudicators"}


@dataclass(frozen=True, slots=True)
class OfKind:
    """The words of one kind."""

    kind: Kind
    whose: str
    decided: str | None
    """`published` or `left out`; None while that is not decided."""
    given: int
    early: dict[str, int]
    """Of each person, how many stay out: nothing on record says that they knew of publication when they wrote."""
    consents: tuple[str, ...]
    """How those agreed who had not known, in the lead's words."""

    @property
    def published(self) -> int:
        """How many go into a release."""
        return self.given - sum(self.early.values()) if self.decided == "published" else 0


@dataclass(frozen=True, slots=True)
class OwnWords:
    """All of them."""

    kinds: tuple[OfKind, ...]
    """Those of which there are any."""
    comments: frozenset[Judgement]
    """Judgements whose comments go into a release."""
    reasons: dict[Pair, str]
    """The adjudicators' words that do."""

    @property
    def undecided(self) -> tuple[str, ...]:
        """What `[release]` has to decide, each in a sentence."""
        return tuple(
            f'release.{one.kind}: not set, but {one.given} {one.kind} are on record; set it to "published" or '
            '"left out" in annot.toml'
            for one in self.kinds
            if one.decided is None
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """Whose words stay out although words are published, and what brings them in."""
        return tuple(
            f"{n} of the {one.kind} by {person} left out: no letter or screen on record had announced that "
            f'{one.kind} are published; if {person} agrees, record how: --consented "HOW" --consented-by {person}'
            for one in self.kinds
            if one.decided == "published"
            for person, n in one.early.items()
        )


def own_words(study: Snapshot) -> OwnWords:
    """What goes into a release, by the settings and by what each person had been told."""
    outcome, release = study.outcome, study.ws.settings.release
    given_up = {pair: said[-1] for pair, said in outcome.unjudgeable.items()}
    judged = [one for one in outcome.everything if one.counts and one.comment]
    settled = {pair: said for pair, said in sorted((outcome.adjudications | given_up).items()) if said.comment}
    kinds = [
        _of_kind(study.notices, "comments", release.comments, [(one.assessor, one) for one in judged]),
        _of_kind(study.notices, "reasons", release.reasons, [(one.adjudicator, one) for one in settled.values()]),
    ]
    return OwnWords(
        kinds=tuple(one for one in kinds if one.given),
        comments=frozenset(
            one
            for one in judged
            if release.comments == "published" and knew(study.notices, one.assessor, "comments", one.judged_at)
        ),
        reasons={
            pair: said.comment
            for pair, said in settled.items()
            if said.comment
            and release.reasons == "published"
            and knew(study.notices, said.adjudicator, "reasons", said.judged_at)
        },
    )


def knew(notices: Iterable[Notice], person: str, kind: Kind, moment: str | None) -> bool:
    """Whether a person knew of publication at this moment, or agreed later; without a moment only the latter."""
    at = moment_of(moment)
    own = [one for one in notices if (one.assessor, one.kind) == (person, kind)]
    if any(one.how == "consent" and (at is None or at <= datetime.fromisoformat(one.at)) for one in own):
        return True
    letter = said = False
    for one in own:
        if one.how == "consent" or at is None or datetime.fromisoformat(one.at) > at:
            continue
        if one.how == "letter":
            letter = one.published
        # A screen that says nothing leaves what the letter said.
        said = one.published or (one.how == "screen" and letter)
    return said


def consent(study: Snapshot, *, how: str, people: Sequence[str]) -> tuple[Notice, ...]:
    """Notices that these people agree, or all whose words would stay out; they are not on record yet.

    Raises InputError for a name that is not known.
    """
    for name in people:
        check_name(name, [one.assessor for one in study.people], what="--consented-by")
    now = datetime.now(UTC)
    answers: tuple[Judgement | Adjudication, ...] = (*study.outcome.everything, *study.outcome.adjudications.values())
    # To all that is on record, also where the server's clock is ahead of this one.
    until = max([now, *filter(None, (moment_of(one.judged_at) for one in answers))]).isoformat()
    return tuple(
        Notice(person, one.kind, "consent", until, True, how)
        for one in own_words(study).kinds
        for person in one.early
        if not people or person in people
    )


def _of_kind(
    notices: Iterable[Notice], kind: Kind, decided: str | None, given: Sequence[tuple[str, Judgement | Adjudication]]
) -> OfKind:
    early = Counter(person for person, one in given if not knew(notices, person, kind, one.judged_at))
    writers = {person for person, _ in given}
    agreed = [one for one in notices if one.how == "consent" and one.kind == kind and one.assessor in writers]
    consents = tuple(dict.fromkeys(one.words for one in agreed))
    return OfKind(kind, WHOSE[kind], decided, len(given), dict(sorted(early.items())), consents)


# ----------------------------------------------------------------------------------------------------------------------
# What assessors should talk about between two batches: where they differ, what they wrote, how agreement moves.
#
# Nobody is named, and nothing is shown that somebody has still to judge alone.
# ----------------------------------------------------------------------------------------------------------------------


DAYS = 7
"""The period, where none is given: so many days up to the newest answer."""
WIDEST = 15
"""Pairs that are shown with their grades; more than a meeting has time for."""
COEFFICIENTS = ("alpha_ordinal", "percent")


@dataclass(frozen=True, slots=True)
class DifferingPair:
    """A pair on which the assessors differ."""

    query_id: str
    doc_id: str
    facet: str
    grades: tuple[int, ...]
    """From the lowest up: no place is a person."""
    comments: tuple[tuple[str, str], ...]
    """(grade or why there is none, what was written with it), in the order of the grades."""

    @property
    def gap(self) -> int:
        """The largest difference between two grades."""
        return self.grades[-1] - self.grades[0]


@dataclass(frozen=True, slots=True)
class GradePair:
    """Two grades that were given to the same pair of a facet."""

    facet: str
    low: int
    high: int
    pairs: int
    of: int
    """Pairs of the facet with two grades or more in the period."""


@dataclass(frozen=True, slots=True)
class Remark:
    """What somebody wrote of a pair."""

    query_id: str
    doc_id: str
    facet: str
    said: str
    """The grade, or why there is none."""
    comment: str


@dataclass(frozen=True, slots=True)
class Meeting:
    """Everything for the talk. A pair belongs to the period in which the last of its assessors answered it."""

    since: str
    """ISO 8601, UTC."""
    until: str
    """Of the newest answer."""
    pairs: int
    """Pairs of the period that all of their assessors have answered."""
    differing: int
    widest: tuple[DifferingPair, ...]
    recurring: tuple[GradePair, ...]
    """The most frequent first."""
    cannot_judge: tuple[tuple[str, int], ...]
    """Reasons and how often, the most frequent first."""
    remarks: tuple[Remark, ...]
    """Comments on other pairs than the widest, by query."""
    held_back: int
    """Pairs of the period that somebody is asked about again, so that nobody may speak of them yet."""
    without_moment: int
    """Pairs whose answers do not say when they were given."""
    unexplained: UnexplainedSettlements
    """Of all that is settled."""
    agreement: AgreementTable
    """Of the period, before adjudication."""
    before: AgreementTable
    """Of all that was answered before it."""


def meeting_of(snapshot: Snapshot, *, since: datetime | None) -> Meeting:
    """What there is to talk about. since: when the period began; None takes the last `DAYS` days.

    Raises MissingInput if no pair has all of its answers, InputError if none has since then.
    """
    outcome = snapshot.outcome
    by_pair = grouped(
        (answer.pair, answer)
        for answer in outcome.judgements
        if answer.counts and answer.assessor in outcome.planned.get(answer.pair, ())
    )
    whole = {
        pair: answers
        for pair, answers in by_pair.items()
        if len(answers) == len(outcome.planned[pair]) and pair not in outcome.progress.vacant
    }
    moments = {pair: _last(answers) for pair, answers in whole.items()}
    timed = {pair: moment for pair, moment in moments.items() if moment is not None}
    if not timed:
        raise MissingInput("no pair has the answers of all its assessors yet", hint="fetch answers with `annot pull`")
    newest = max(timed.values())
    start = since or newest - timedelta(days=DAYS)
    period = {pair for pair, moment in timed.items() if moment >= start}
    if not period:
        raise InputError(f"no pair was finished since {start.isoformat()}", hint=f"the newest: {newest.isoformat()}")
    held_back = period & asked_again(snapshot)
    told = {pair: whole[pair] for pair in sorted(period - held_back)}
    differing = sorted(_differing(told, snapshot.facets), key=lambda one: (-one.gap, one.query_id, one.doc_id))
    widest = tuple(differing[:WIDEST])
    shown = {(one.query_id, one.doc_id) for one in widest}
    return Meeting(
        since=start.astimezone(UTC).isoformat(),
        until=newest.astimezone(UTC).isoformat(),
        pairs=len(period),
        differing=len(differing),
        widest=widest,
        recurring=_recurring(told, snapshot.facets),
        cannot_judge=_most_frequent(
            answer.cannot_judge for answers in told.values() for answer in answers if answer.cannot_judge
        ),
        remarks=tuple(
            Remark(*pair, snapshot.facets[pair[0]], _said(answer), answer.comment)
            for pair, answers in told.items()
            for answer in _ordered(answers)
            if answer.comment and pair not in shown
        ),
        held_back=len(held_back),
        without_moment=len(whole) - len(timed),
        unexplained=unexplained_of(outcome.adjudications, outcome.current),
        agreement=_agreement(snapshot, whole, period),
        before=_agreement(snapshot, whole, timed.keys() - period),
    )


def _last(answers: Iterable[Judgement]) -> datetime | None:
    """When the last of the answers was given; None if one does not say when."""
    moments = [moment_of(answer.judged_at) for answer in answers]
    known = [moment for moment in moments if moment is not None]
    return max(known) if len(known) == len(moments) else None


def asked_again(snapshot: Snapshot) -> set[Pair]:
    """Pairs that somebody has still to judge once more, as a hidden repeat or because they were returned."""
    answered = snapshot.outcome.answered
    repeats = {
        assigned.pair
        for assigned in snapshot.assignments
        if assigned.occasion > 1 and (assigned.assessor, assigned.asked) not in answered
    }
    return repeats | {back.pair for back in snapshot.outcome.returned if (back.assessor, back.asked) not in answered}


def _differing(told: dict[Pair, list[Judgement]], facets: dict[str, str]) -> Iterable[DifferingPair]:
    for (query_id, doc_id), answers in told.items():
        grades = sorted(answer.grade for answer in answers if answer.grade is not None)
        if len(set(grades)) > 1:
            comments = tuple((_said(answer), answer.comment) for answer in _ordered(answers) if answer.comment)
            yield DifferingPair(query_id, doc_id, facets[query_id], tuple(grades), comments)


def _recurring(told: dict[Pair, list[Judgement]], facets: dict[str, str]) -> tuple[GradePair, ...]:
    met: Counter[tuple[str, int, int]] = Counter()
    of: Counter[str] = Counter()
    for (query_id, _), answers in told.items():
        grades = sorted(answer.grade for answer in answers if answer.grade is not None)
        of[facets[query_id]] += len(grades) > 1
        met.update({(facets[query_id], low, high) for low in grades for high in grades if low < high})
    ordered = sorted(met.items(), key=lambda item: (-item[1], item[0]))
    return tuple(GradePair(facet, low, high, n, of[facet]) for (facet, low, high), n in ordered)


def _ordered(answers: Iterable[Judgement]) -> list[Judgement]:
    """By grade, and then by what is written: no place is a person."""
    return sorted(answers, key=lambda one: (one.grade is None, one.grade or 0, one.comment or ""))


def _said(answer: Judgement) -> str:
    return f"cannot judge: {answer.cannot_judge}" if answer.grade is None else str(answer.grade)


def _most_frequent(reasons: Iterable[str | None]) -> tuple[tuple[str, int], ...]:
    counted = Counter(reason for reason in reasons if reason is not None)
    return tuple(sorted(counted.items(), key=lambda reason: (-reason[1], reason[0])))


def _agreement(snapshot: Snapshot, whole: dict[Pair, list[Judgement]], pairs: Iterable[Pair]) -> AgreementTable:
    answers = [answer for pair in pairs for answer in whole[pair]]
    return agreement_of(snapshot, judgements=answers, decisions=(), coefficients=COEFFICIENTS)
