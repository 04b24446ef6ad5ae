"""What people wrote in their own words and what goes out with a release: a search for people, paths and addresses.

What must never leave the study is refused wherever it is (`annot.publishing.release.leaks`). Here are words that may be
meant so: a first name is a word as well, and an assessor may name another by pseudonym. The lead is asked about them.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from annot.base.names import counted
from annot.base.records import grouped
from annot.judging.own_words import OwnWords
from annot.labelstudio.controls import DIFFERENCES, DIFFERENCES_OF_WHOLES, KNOWN_REASONS
from annot.publishing.release.identities import SHORTEST_WORD, bare, words_of
from annot.publishing.release.leaks import Secret
from annot.study.made import ANSWERS_FILE
from annot.study.shown_versions import changed_versions
from annot.study.snapshot import Snapshot

OFFERED = KNOWN_REASONS | {keyed.value for keyed in (*DIFFERENCES, *DIFFERENCES_OF_WHOLES)}
"""What a screen offers as a reason: nobody wrote it."""
ROLES = frozenset({"adjudicator", "annotator", "assessor", "expert", "judge"})
"""Pseudonyms that are words of every datasheet."""
AROUND = 30
"""Characters that are shown on both sides of what was found."""
_REST = r"[^\s\"'<>,;)]+"
PATH = re.compile(
    rf"(?<![\w/.:~-])(?:~|/(?:home|Users|root|mnt|media|tmp|var|opt|srv|data|Volumes))/{_REST}"
    r"|(?<![\w/.:~-])/(?:[\w.~-]+/){2,}[\w.~-]+"
    rf"|\b[A-Za-z]:\\{_REST}|\\\\[\w.-]+\\{_REST}"
)
"""In a home or below a usual root, of three parts or more, on a drive of Windows, or on a server of its network."""
WEB = re.compile(r"\b(?:https?://|www\.)[^\s\"'<>)]+", re.IGNORECASE)
WORD = re.compile(r"[^\W\d_]+")


class FreeText(NamedTuple):
    """A text, where it is, and whether addresses are expected in it."""

    place: str
    text: str
    public: bool = False


class Mention(NamedTuple):
    """What was found in a text, as it is written there, and what it is."""

    words: str
    what: str
    at: int


class KnownPeople(NamedTuple):
    """The words by which a text can name a person of the study."""

    accounts: frozenset[str]
    """Local parts of accounts that are no plain words, in small letters, such as `ada.planter`."""
    names: frozenset[str]
    """Parts of names, bare: `ada` and `planter`. Capitalised in a text, they are taken for a person."""
    pseudonyms: frozenset[str]


def known_people(study: Snapshot, secrets: Iterable[Secret]) -> KnownPeople:
    """Everyone of the study, less the names under which the makers want to be named."""
    accounts = {person.account for person in study.people if person.account}
    accounts |= {secret.value for secret in secrets if secret.kind in ("e-mail", "name")}
    local_parts = {account.partition("@")[0] for account in accounts}
    public = {bare(word) for creator in study.ws.settings.collection.creators for word in words_of(creator)}
    names = {bare(word) for local in local_parts for word in words_of(local) if len(word) >= SHORTEST_WORD}
    pseudonyms = ({person.assessor for person in study.people} | study.outcome.people) - ROLES
    telling = {local.lower() for local in local_parts if words_of(local) and not local.isalpha() and " " not in local}
    return KnownPeople(frozenset(telling - pseudonyms), frozenset(names - public), frozenset(pseudonyms))


def free_texts(
    study: Snapshot, words: OwnWords, answers: Mapping[str, str], *, early: Iterable[str]
) -> Iterator[FreeText]:
    """Every text of a person that the release has. early: why models were asked before people had judged."""
    outcome = study.outcome
    for said in sorted(words.comments, key=lambda one: (one.pair, one.assessor, one.occasion)):
        yield FreeText(f"the comment of {said.assessor} on {' '.join(said.pair)}", said.comment or "")
    for pair, text in sorted(words.reasons.items()):
        yield FreeText(f"the adjudicator's comment on {' '.join(pair)}", text)
    given = [(f"the answer of {one.assessor} on {' '.join(one.pair)}", one.cannot_judge) for one in outcome.everything]
    given += [(f"the adjudicator's reason on {' '.join(one.pair)}", one.reason) for one in outcome.decisions]
    given += [
        (f"the adjudicator's reason on {' '.join(pair)}", said[-1].cannot_judge)
        for pair, said in outcome.unjudgeable.items()
    ]
    yield from (FreeText(place, text) for place, text in given if text and text not in OFFERED)
    for question, answer in answers.items():
        yield FreeText(f"{ANSWERS_FILE}, {question}", answer, public=True)
    for why in sorted(set(outcome.accepted.values())):
        yield FreeText("the reason why pairs count with fewer judgements", why)
    for kind in words.kinds:
        yield from (FreeText(f"how people agreed that {kind.kind} are published", how) for how in kind.consents)
    reasons = {added.reason for pool in study.pools.values() for added in pool.additions if added.reason}
    yield from (FreeText("the reason why documents were added to pools", reason) for reason in sorted(reasons))
    yield from (FreeText("why a model was asked early", why) for why in early)
    for version in changed_versions(study.shown):
        if version.why:
            yield FreeText(f"the reason for version {version.number} of {version.name}", version.why)
    for text_id, versions in sorted(study.text_versions.items()):
        yield from (FreeText(f"why the text of {text_id} was corrected", one.why) for one in versions if one.why)
    for run in study.runs:
        yield from (FreeText(f"the settings of run {run.tag}", text, public=True) for text in _texts_in(run.facts))


def mentions(text: FreeText, people: KnownPeople) -> Iterator[Mention]:
    """What in the text names a person, a path or an address."""
    for word in WORD.finditer(text.text):
        if word[0][0].isupper() and bare(word[0]) in people.names:
            yield Mention(word[0], "the name of a person", word.start())
    patterns = [(_any_of(people.accounts), "an account"), (_any_of(people.pseudonyms), "a pseudonym"), (PATH, "a path")]
    for pattern, what in patterns if text.public else (*patterns, (WEB, "an address")):
        for match in pattern.finditer(text.text):
            # Accounts are no words, and are found in any letters; a pseudonym is found as it is.
            if what != "a pseudonym" or match[0] in people.pseudonyms:
                yield Mention(match[0], what, match.start())


@cache
def _any_of(names: frozenset[str]) -> re.Pattern[str]:
    """Any of the names as whole words; nothing matches if there is none."""
    longest_first = sorted(names, key=lambda name: (-len(name), name))
    either = "|".join(map(re.escape, longest_first)) or r"(?!)"
    return re.compile(rf"(?<![\w@./-])(?:{either})(?![\w@-])", re.IGNORECASE)


def mentioned(
    texts: Iterable[FreeText], people: KnownPeople, *, allowed: Collection[str], excerpts: bool
) -> tuple[str, ...]:
    """A line for each name, path and address that is found: what it is, where it is first, and in how many more texts.

    allowed: what is meant to be public, as it is written or in other letters. excerpts: whether lines show the words
    around it; not where a text may have what must not be printed either.
    """
    public = {text.casefold() for text in allowed}
    found = grouped(
        ((mention.words, mention.what), (text, mention.at))
        for text in texts
        for mention in mentions(text, people)
        if mention.words.casefold() not in public
    )
    return tuple(_line(words, what, places, excerpts=excerpts) for (words, what), places in sorted(found.items()))


def _line(words: str, what: str, places: Sequence[tuple[FreeText, int]], *, excerpts: bool) -> str:
    text, at = places[0]
    start, end = max(0, at - AROUND), at + len(words) + AROUND
    shown = " ".join(text.text[start:end].split())
    shown = f"{'...' if start else ''}{shown}{'...' if end < len(text.text) else ''}"
    others = len({one.place for one, _ in places}) - 1
    more = f", and {counted(others, 'more text')}" if others else ""
    excerpt = f', "{shown}"' if excerpts else ""
    return f"{words!r}, {what}: {text.place}{excerpt}{more}"


def _texts_in(facts: Any) -> Iterator[str]:
    if isinstance(facts, str):
        yield facts
    elif isinstance(facts, Mapping):
        yield from (text for value in facts.values() for text in _texts_in(value))
    elif isinstance(facts, list | tuple):
        yield from (text for value in facts for text in _texts_in(value))
