"""Comments of people: those that may be published, and topics for assessors to discuss between two batches."""

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
from annot.store.models import Kind, Notice
from annot.study.outcome import Outcome, Pair, gap_of, unexplained_of
from annot.study.snapshot import Snapshot

# ----------------------------------------------------------------------------------------------------------------------
# The words of people in a release: comments of assessors and reasons of adjudicators, of those who knew or agreed.
# ----------------------------------------------------------------------------------------------------------------------


ROLES_OF_KINDS: dict[Kind, str] = {"comments": "assessors", "reasons": "adjudicators"}


@dataclass(frozen=True, slots=True)
class WordsOfKind:
    """Words of one kind."""

    kind: Kind
    whose: str
    decided: str | None
    """`published` or `left out`; None while that is not decided."""
    given: int
    early: dict[str, int]
    """Number of each person's words left out, as no record shows that they knew of publication when they wrote."""
    consents: tuple[str, ...]
    """Way in which people agreed who had not known, in the lead's words."""

    @property
    def published(self) -> int:
        """Number that goes into a release."""
        return self.given - sum(self.early.values()) if self.decided == "published" else 0


class PublishedWords:
    """Words that go into a release, by the settings and the notices that each person had."""

    def __init__(self, study: Snapshot) -> None:
        outcome, release, notices = study.outcome, study.ws.settings.release, study.notices
        given_up = {pair: rulings[-1] for pair, rulings in outcome.unjudgeable.items()}
        judged = [judgement for judgement in outcome.everything if judgement.counts and judgement.comment]
        rulings = sorted((outcome.adjudications | given_up).items())
        settled = {pair: ruling for pair, ruling in rulings if ruling.comment}
        comments = [(judgement.assessor, judgement) for judgement in judged]
        reasons = [(ruling.adjudicator, ruling) for ruling in settled.values()]
        kinds = (
            _words_of_kind(notices, "comments", release.comments, comments),
            _words_of_kind(notices, "reasons", release.reasons, reasons),
        )
        self.kinds = tuple(words for words in kinds if words.given)
        """Kinds of which there are any words."""
        self.comments = frozenset(
            judgement
            for judgement in judged
            if release.comments == "published" and knew(notices, judgement.assessor, "comments", judgement.judged_at)
        )
        """Judgements whose comments go into a release."""
        self.reasons = {
            pair: ruling.comment
            for pair, ruling in settled.items()
            if ruling.comment
            and release.reasons == "published"
            and knew(notices, ruling.adjudicator, "reasons", ruling.judged_at)
        }
        """Words of adjudicators that go into a release."""

    @property
    def undecided(self) -> tuple[str, ...]:
        """Decisions that `[release]` lacks, each in a sentence."""
        return tuple(
            f'release.{words.kind}: not set, but {words.given} {words.kind} are on record; set it to "published" or '
            '"left out" in annot.toml'
            for words in self.kinds
            if words.decided is None
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on people whose words are left out although words are published, with the remedy."""
        return tuple(
            f"{n} of the {words.kind} by {person} left out: no letter or screen on record had announced that "
            f'{words.kind} are published; if {person} agrees, record how: --consented "HOW" --consented-by {person}'
            for words in self.kinds
            if words.decided == "published"
            for person, n in words.early.items()
        )


def knew(notices: Iterable[Notice], person: str, kind: Kind, moment: str | None) -> bool:
    """True if a person knew of publication at this moment, or agreed later; without a moment only the latter."""
    written_at = moment_of(moment)
    notices_of_person = [notice for notice in notices if (notice.assessor, notice.kind) == (person, kind)]
    if any(
        notice.how == "consent" and (written_at is None or written_at <= datetime.fromisoformat(notice.at))
        for notice in notices_of_person
    ):
        return True
    letter = announced = False
    for notice in notices_of_person:
        if notice.how == "consent" or written_at is None or datetime.fromisoformat(notice.at) > written_at:
            continue
        if notice.how == "letter":
            letter = notice.published
        # A screen without a notice leaves that of the letter in force.
        announced = notice.published or (notice.how == "screen" and letter)
    return announced


def consent(study: Snapshot, *, how: str, people: Sequence[str]) -> tuple[Notice, ...]:
    """Notices that these people agree, or all whose words would stay out; they are not on record yet.

    Raises InputError for a name that is not known.
    """
    for name in people:
        check_name(name, [person.assessor for person in study.people], what="--consented-by")
    now = datetime.now(UTC)
    answers: tuple[Judgement | Adjudication, ...] = (*study.outcome.everything, *study.outcome.adjudications.values())
    # They agree to everything on record, even if the server's clock is ahead of this one.
    latest = max([now, *filter(None, (moment_of(answer.judged_at) for answer in answers))]).isoformat()
    return tuple(
        Notice(person, words.kind, "consent", latest, True, how)
        for words in PublishedWords(study).kinds
        for person in words.early
        if not people or person in people
    )


def _words_of_kind(
    notices: Iterable[Notice], kind: Kind, decided: str | None, words: Sequence[tuple[str, Judgement | Adjudication]]
) -> WordsOfKind:
    early = Counter(person for person, answer in words if not knew(notices, person, kind, answer.judged_at))
    writers = {person for person, _ in words}
    agreed = [row for row in notices if row.how == "consent" and row.kind == kind and row.assessor in writers]
    consents = tuple(dict.fromkeys(notice.words for notice in agreed))
    return WordsOfKind(kind, ROLES_OF_KINDS[kind], decided, len(words), dict(sorted(early.items())), consents)


# ----------------------------------------------------------------------------------------------------------------------
# Topics for assessors to discuss between two batches: differing pairs, comments, and the change of agreement.
#
# No person is named, and no pair is shown that a person has still to judge alone.
# ----------------------------------------------------------------------------------------------------------------------


DAYS = 7
"""Length of the period, in days up to the newest answer, if none is given."""
WIDEST = 15
"""Pairs that are shown with their grades; more than a meeting has time for."""
COEFFICIENTS = ("alpha_ordinal", "percent")


@dataclass(frozen=True, slots=True)
class GradePair:
    """Two grades that were given to the same pair of a facet."""

    facet: str
    low: int
    high: int
    pairs: int
    of: int
    """Pairs of the facet with two grades or more in the period."""


class Meeting:
    """Everything for the talk. A pair belongs to the period in which the last of its assessors answered it.

    since: beginning of the period; None takes the last `DAYS` days. Raises MissingInput if no pair has all of its
    answers, InputError if none has since then.
    """

    def __init__(self, snapshot: Snapshot, *, since: datetime | None) -> None:
        facets, complete = snapshot.facets, _complete_pairs(snapshot.outcome)
        moments = {pair: _last(answers) for pair, answers in complete.items()}
        timed = {pair: moment for pair, moment in moments.items() if moment is not None}
        if not timed:
            raise MissingInput(
                "no pair has the answers of all its assessors yet", hint="fetch answers with `annot pull`"
            )
        newest = max(timed.values())
        start = since or newest - timedelta(days=DAYS)
        period = {pair for pair, moment in timed.items() if moment >= start}
        if not period:
            raise InputError(
                f"no pair was finished since {start.isoformat()}", hint=f"the newest: {newest.isoformat()}"
            )
        held_back = period & asked_again(snapshot)
        to_discuss = {pair: complete[pair] for pair in sorted(period - held_back)}
        differing = sorted(
            (answers for answers in map(_ordered, to_discuss.values()) if gap_of(answers)),
            key=lambda answers: (-gap_of(answers), answers[0].pair),
        )
        self.since, self.until = start.astimezone(UTC).isoformat(), newest.astimezone(UTC).isoformat()
        """ISO 8601, UTC; the latter is the moment of the newest answer."""
        self.pairs = len(period)
        """Pairs of the period that all of their assessors have answered."""
        self.differing = len(differing)
        self.facets = facets
        """Facet of each query."""
        self.widest = tuple(differing[:WIDEST])
        """Answers on the pairs whose grades differ most, in an order that reveals no person."""
        self.recurring = _recurring(to_discuss, facets)
        """The most frequent first."""
        self.cannot_judge = _most_frequent(
            answer.cannot_judge for answers in to_discuss.values() for answer in answers if answer.cannot_judge
        )
        """Reasons and how often, the most frequent first."""
        shown = {answers[0].pair for answers in self.widest}
        self.remarks = tuple(
            answer
            for pair, answers in to_discuss.items()
            for answer in _ordered(answers)
            if answer.comment and pair not in shown
        )
        """Answers with a comment on other pairs than the widest, by query."""
        self.held_back = len(held_back)
        """Number of pairs of the period that a person is asked about again and that must not be discussed yet."""
        self.without_moment = len(complete) - len(timed)
        """Pairs whose answers do not say when they were given."""
        self.unexplained = unexplained_of(snapshot.outcome.adjudications, snapshot.outcome.current)
        """Unexplained settlements of all settled pairs."""
        self.agreement = _agreement(snapshot, complete, period)
        """Agreement in the period, before adjudication."""
        self.before = _agreement(snapshot, complete, timed.keys() - period)
        """Agreement on all earlier answers."""


def _complete_pairs(outcome: Outcome) -> dict[Pair, list[Judgement]]:
    """The answers of each pair that all of its assessors have answered."""
    by_pair = grouped(
        (answer.pair, answer)
        for answer in outcome.judgements
        if answer.counts and answer.assessor in outcome.planned.get(answer.pair, ())
    )
    return {
        pair: answers
        for pair, answers in by_pair.items()
        if len(answers) == len(outcome.planned[pair]) and pair not in outcome.progress.vacant
    }


def _last(answers: Iterable[Judgement]) -> datetime | None:
    """Moment of the last of the answers; None if one has no moment."""
    moments = [moment_of(answer.judged_at) for answer in answers]
    timed = [moment for moment in moments if moment is not None]
    return max(timed) if len(timed) == len(moments) else None


def asked_again(snapshot: Snapshot) -> set[Pair]:
    """Pairs that a person has still to judge once more, as a hidden repeat or because they were returned."""
    answered = snapshot.outcome.answered
    repeats = {
        assigned.pair
        for assigned in snapshot.assignments
        if assigned.occasion > 1 and (assigned.assessor, assigned.pair_key) not in answered
    }
    return repeats | {back.pair for back in snapshot.outcome.returned if (back.assessor, back.pair_key) not in answered}


def _recurring(to_discuss: dict[Pair, list[Judgement]], facets: dict[str, str]) -> tuple[GradePair, ...]:
    meetings: Counter[tuple[str, int, int]] = Counter()
    compared: Counter[str] = Counter()
    for (query_id, _), answers in to_discuss.items():
        grades = sorted(answer.grade for answer in answers if answer.grade is not None)
        compared[facets[query_id]] += len(grades) > 1
        meetings.update({(facets[query_id], low, high) for low in grades for high in grades if low < high})
    ordered = sorted(meetings.items(), key=lambda item: (-item[1], item[0]))
    return tuple(GradePair(facet, low, high, n, compared[facet]) for (facet, low, high), n in ordered)


def _ordered(answers: Iterable[Judgement]) -> list[Judgement]:
    """Answers by grade and comment, so that a place reveals no person."""
    return sorted(answers, key=lambda answer: (answer.grade is None, answer.grade or 0, answer.comment or ""))


def _most_frequent(reasons: Iterable[str | None]) -> tuple[tuple[str, int], ...]:
    counted = Counter(reason for reason in reasons if reason is not None)
    return tuple(sorted(counted.items(), key=lambda reason: (-reason[1], reason[0])))


def _agreement(snapshot: Snapshot, complete: dict[Pair, list[Judgement]], pairs: Iterable[Pair]) -> AgreementTable:
    answers = [answer for pair in pairs for answer in complete[pair]]
    return agreement_of(snapshot, judgements=answers, decisions=(), coefficients=COEFFICIENTS)
