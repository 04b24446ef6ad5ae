"""The words of people in a release: comments of assessors and reasons of adjudicators, of those who knew or agreed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from annot.base.names import check_name, moment_of
from annot.base.records import Adjudication, Judgement
from annot.store.people import Kind, Notice
from annot.study.adjudication import Pair
from annot.study.snapshot import Snapshot

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
