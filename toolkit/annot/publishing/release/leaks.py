"""A search through every byte of a release for secrets."""

from __future__ import annotations

import base64
import html
import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import chain
from typing import Any, Literal, NamedTuple
from urllib.parse import unquote

from annot.base.names import counted
from annot.base.records import Assessor, grouped
from annot.base.templating import packaged_table
from annot.judging.comments import PublishedWords
from annot.judging.exchange.outgoing import variables_of_keys
from annot.judging.exchange.servers import studio_folders
from annot.labelstudio.accounts import local_secrets
from annot.labelstudio.studio_records import DIFFERENCES, DIFFERENCES_OF_WHOLES, KNOWN_REASONS
from annot.store.database import parse_url, password_of
from annot.store.papers import paper_ids
from annot.study.outcome import Outcome
from annot.study.provenance import ANSWERS_FILE
from annot.study.shown_versions import changed_versions
from annot.study.snapshot import ReleaseRecords, Snapshot

# ----------------------------------------------------------------------------------------------------------------------
# A search through every byte of a release for what must not leave the house.
# ----------------------------------------------------------------------------------------------------------------------


BLOCK_LINES = 2000
SHORT_NUMBER = 6
"""Digits of the shortest server id that is searched for everywhere; a shorter one is in any text by chance, so it
counts only next to a key."""

Kind = Literal["name", "e-mail", "token", "studio id", "studio address"]


Secret = tuple[Kind, str]
"""Something that must not be in the release, after its kind."""


class Leak(NamedTuple):
    """Place of a leak. `shown` is masked: a finding that is printed must not leak in its turn."""

    path: str
    line: int
    """Line from 1; 0 is the name of the file."""
    what: str
    shown: str


def leaks(files: Mapping[str, bytes], secrets: Iterable[Secret], *, allowed: Collection[str]) -> tuple[Leak, ...]:
    """Parts of `files` that must not be published, by path and line.

    Looked for: each secret; and by their patterns e-mail addresses, tokens and keys, passwords in URLs, Label Studio's
    field names and addresses. Upper and lower case, accents written in two ways and wide letters are the same. Each
    line is read as it is and with JSON's, URLs' and HTML's ways of writing characters undone; secrets also in base64.
    A release holds texts in UTF-8; anything else in it is a finding, for it was not searched.

    A name is found as whole words, its parts in either order, whatever stands between them. A server id of fewer than
    six digits is only found with one of Label Studio's field names. There may be many thousand server ids: they are
    looked up, not searched one by one.
    allowed: e-mail addresses that are meant to be public, such as the maintainer's.
    """
    once = [(kind, value.strip()) for kind, value in dict.fromkeys(secrets) if value.strip()]
    ids = frozenset(_folded(value) for kind, value in once if _is_id(kind, value))
    searches = [*(_search(*secret) for secret in once if not _is_id(*secret)), *_PATTERNS]
    public = {_folded(address) for address in allowed}
    found_leaks: set[Leak] = set()
    for path, content in files.items():
        found_leaks.update(_leaks_in_text(path, -1, path, searches, ids, public))
        try:
            text = content.decode("utf-8-sig")
        except UnicodeDecodeError:
            text = "\0"
        if "\0" in text:
            found_leaks.add(Leak(path, 0, "not searched: not a text in UTF-8", ""))
            continue
        for lines_before, block in _blocks(text):
            found_leaks.update(_leaks_in_text(path, lines_before, block, searches, ids, public))
    return tuple(sorted(found_leaks))


_TABLE = packaged_table("leaks.toml")
_FIELDS = "|".join(_TABLE["fields"].split())


_KEYED_ID = re.compile(
    rf"(?:(?<![\w-])(?:id|{_FIELDS})[\"']?|[\"'](?:annotation|prediction|project|task|user)[\"'])"
    r"\s*[:=]\s*[\"']?(\d+)(?!\w)"
)
_LONG_ID = re.compile(
    rf"(?<!\w)(?<!\d\.)([0-9a-f]{{8}}(?:-[0-9a-f]{{4}}){{3}}-[0-9a-f]{{12}}|\d{{{SHORT_NUMBER},}}(?!\.\d))(?!\w)"
)
"""A whole number, or a UUID as Label Studio's `unique_id`; a score's digits are neither."""


class _Search(NamedTuple):
    what: str
    needles: tuple[str, ...]
    """Words of which every match has one; texts without any are not searched further."""
    pattern: re.Pattern[str]
    """True if the pattern is for folded text."""
    secret: str = ""
    """The value of a known secret; empty if only the pattern is known."""
    encoded: tuple[str, ...] = ()
    """The secret in text as it is: base64 at its three alignments."""


_PATTERNS = [
    _Search(
        entry["what"],
        tuple(_FIELDS.split("|") if entry["needles"] == ["<fields>"] else entry["needles"]),
        re.compile("".join(entry["pattern"]).replace("<fields>", _FIELDS)),
    )
    for entry in _TABLE["patterns"]
]
_BEFORE_THE_SIGN = re.compile(r"[\w.+-]{1,64}\Z")


def addresses(texts: Iterable[str]) -> frozenset[str]:
    """The e-mail addresses in texts that are public already, such as printed abstracts: for `allowed`."""
    return frozenset(
        address for text in texts for reading in _readings(text) for address, _ in _matches(_PATTERNS[0], reading)
    )


def _matches(search: _Search, text: str) -> Iterator[tuple[str, int]]:
    """Each match, and the position where it begins."""
    if search.needles and not any(needle in text for needle in search.needles):
        return
    for match in search.pattern.finditer(text):
        start = match.start()
        if search is _PATTERNS[0] and (local := _BEFORE_THE_SIGN.search(text, max(0, start - 64), start)):
            start = local.start()
        yield text[start : match.end()], start


def _blocks(text: str) -> Iterator[tuple[int, str]]:
    """Pieces of the text in whole lines, with the number of lines before each.

    Two pieces share a line, so that what is broken over two lines is in one of them.
    """
    lines = text.split("\n")
    for start in range(0, len(lines), BLOCK_LINES):
        yield start, "\n".join(lines[start : start + BLOCK_LINES + 1])


def _leaks_in_text(
    path: str, lines_before: int, text: str, searches: Sequence[_Search], ids: frozenset[str], public: set[str]
) -> Iterator[Leak]:
    def leak(reading: str, start: int, meaning: str, value: str) -> Leak:
        return Leak(path, lines_before + reading.count("\n", 0, start) + 1, meaning, _masked(value))

    for reading in _readings(text):
        for id_pattern in (_KEYED_ID, _LONG_ID) if ids else ():
            for match in id_pattern.finditer(reading):
                if match[1] in ids:
                    yield leak(reading, match.start(), "a known studio id", match[1])
        for search in searches:
            for match_text, start in _matches(search, reading):
                if search.secret or match_text not in public:
                    yield leak(reading, start, search.what, search.secret or match_text)
    for search in searches:
        for form in search.encoded:
            if (start := text.find(form)) >= 0:
                yield leak(text, start, f"{search.what}, in base64", search.secret)


def _readings(text: str) -> list[str]:
    """The text folded: as it is, and with each way of writing characters undone, one by one and all in turn.

    Line breaks that are written so become spaces, and lines in which nothing is undone are empty in all but the first:
    the numbers of the lines stay.
    """
    lines = text.split("\n")
    readings = [text.lower() if text.isascii() else "\n".join(_folded(line) for line in lines)]
    escaped = [line if "\\" in line or "%" in line or "&" in line else "" for line in lines]
    if any(escaped):
        for undo in (_unescape_json, _unescape_url, _unescape_html, _unescape_all):
            changed = (undone if line and (undone := undo(line)) != line else "" for line in escaped)
            readings.append("\n".join(_folded(line) for line in changed))
    return list(dict.fromkeys(readings))


def _unescape_all(text: str) -> str:
    return _unescape_html(_unescape_url(_unescape_json(text)))


def _unescape_url(text: str) -> str:
    return unquote(re.sub("%0[AaDd]", " ", text))


def _unescape_html(text: str) -> str:
    return html.unescape(re.sub("&#(?:1[03]|[xX]0*[AaDd]);", " ", text))


def _unescape_json(text: str) -> str:
    if "\\" not in text:
        return text

    def unescape(match: re.Match[str]) -> str:
        if match[1]:
            return chr(int(match[1], 16)).replace("\n", " ")
        return {"n": " ", "t": " ", "r": " ", "b": " ", "f": " "}.get(match[2], match[2])

    # Twice: a JSON text may be a string in another.
    for _ in range(2):
        text = re.sub(r"\\(?:u([0-9A-Fa-f]{4})|([\"\\/bfnrt]))", unescape, text)
    # Letters beyond U+FFFF are two escapes in JSON.
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _folded(text: str) -> str:
    if text.isascii():
        return text.lower()
    bare = "".join(char for char in unicodedata.normalize("NFKD", text) if not unicodedata.combining(char))
    return bare.casefold()


def _is_id(kind: Kind, value: str) -> bool:
    """True if the secret is looked up among the numbers and UUIDs of a text."""
    return kind == "studio id" and bool(_folded(value).isdigit() or _LONG_ID.fullmatch(_folded(value)))


def _search(kind: Kind, value: str) -> _Search:
    folded = _folded(value)
    needles: tuple[str, ...] = ()
    if kind == "name":
        parts = [part for part in re.split(r"[\W_]+", folded) if part]
        orders = {r"[\W_]{1,3}".join(parts), r"[\W_]{1,3}".join([*parts[-1:], *parts[:-1]])}
        pattern = rf"(?<![^\W_])(?:{'|'.join(sorted(orders))})(?![^\W_])"
        needles = (max(parts, key=len),) if parts else ()
    elif kind == "studio id":
        pattern = rf"(?<!\w){re.escape(folded)}(?!\w)"
    elif kind == "studio address":
        # With or without scheme and slash, it is the same server.
        pattern = re.escape(re.sub(r"^[a-z]+://", "", folded).rstrip("/"))
    else:
        pattern = re.escape(folded)
    encoded = _base64_forms(value) if len(value) >= SHORT_NUMBER else ()
    return _Search(f"a known {kind}", needles, re.compile(pattern), value, encoded)


def _base64_forms(value: str) -> tuple[str, ...]:
    """Forms of `value` inside a base64 text, at each of three alignments, without the characters it shares."""
    data = value.encode("utf-8")
    forms = []
    for shift in range(3):
        text = base64.b64encode(b"\0" * shift + data).decode("ascii")
        n_bytes = len(data) + shift
        forms.append(text[-(-shift * 8 // 6) : n_bytes * 8 // 6])
    return tuple(dict.fromkeys([*forms, *(form.replace("+", "-").replace("/", "_") for form in forms)]))


def _masked(text: str) -> str:
    """First two and last character, enough to recognise a known secret."""
    text = text.strip()
    return f"{text[:2]}…{text[-1:]} ({len(text)} characters)" if len(text) > 4 else f"… ({len(text)} characters)"


# ----------------------------------------------------------------------------------------------------------------------
# Names, accounts and addresses of a study: everything that must not leave it.
# ----------------------------------------------------------------------------------------------------------------------


ID_FIELDS = (
    *("id", "unique_id", "task", "project", "completed_by", "updated_by", "created_by", "last_created_by", "import_id"),
    *("prediction", "parent_prediction", "parent_annotation"),
)
"""Keys of ids that Label Studio puts into an annotation; the marks of assessors (`result`) have ids of our own."""
SHORTEST_TOKEN = 8
"""Characters of the shortest password that is searched for; a shorter one is in any text by chance."""
SHORTEST_WORD = 3
_ADDRESS = re.compile(r"[^\s@,;<>]+@[^\s@,;<>]+")


def secrets_of(
    study: Snapshot, server: ReleaseRecords, *, environ: Mapping[str, str], allowed: Collection[str]
) -> tuple[Secret, ...]:
    """All secrets: accounts, names, tokens, passwords, server ids and addresses.

    From the store, from the payloads that were pulled, from the local server's folder, and from the variables that
    name a server. Not among them: what is `allowed`, the names under which the makers want to be named, and server ids
    that are also ids of papers or of topics.
    """
    local = local_secrets(*studio_folders(study.ws))
    people = list(_people(server.payloads))
    accounts = {person.account for person in study.people if person.account} | local.addresses | set(people)
    addresses = {text for text in accounts if "@" in text}
    names = {name for text in accounts | local.names if (name := _name(text))}
    keys = (environ.get(name, "") for name in ("LABEL_STUDIO_API_KEY", *variables_of_keys(study.ws)))
    tokens = {*keys, password_of(parse_url(study.ws.database_url)) or "", *local.tokens}
    servers = {project.url for project in study.projects} | {environ.get("LABEL_STUDIO_URL", "")}
    public = {bare(text) for text in (*allowed, *study.ws.settings.collection.creators)}
    values: dict[Kind, set[str]] = {
        "e-mail": addresses,
        "name": names,
        "token": {token for token in tokens if len(token) >= SHORTEST_TOKEN},
        "studio address": servers - {""},
        "studio id": _server_ids(study, server) - _public_ids(study),
    }
    return tuple((kind, value) for kind in values for value in sorted(values[kind]) if bare(value) not in public)


def telling_pseudonyms(people: Iterable[Assessor], *, allowed: Collection[str]) -> tuple[str, ...]:
    """Pseudonyms that are a word of the account's own name and so hide no name."""
    return tuple(
        person.assessor
        for person in people
        if person.account is not None
        and len(word := bare(person.assessor)) >= SHORTEST_WORD
        and word in {bare(part) for part in words_of(person.account.partition("@")[0])}
        and person.assessor not in allowed
    )


def _public_ids(study: Snapshot) -> set[str]:
    """Ids of papers and of topics: TREC numbers its topics as a server numbers its tasks."""
    return {*(paper_ids(study.ws.corpus) if study.ws.has_corpus else ()), *study.texts}


def _people(payloads: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Addresses and names in pulled records: accounts come as objects or as a line unless they are mere ids."""
    for payload in payloads:
        for field in ("created_username", "assessor", "annotator"):
            if isinstance(text := payload.get(field), str):
                yield from _ADDRESS.findall(text)
                yield re.sub(r",\s*\d+\s*$", "", _ADDRESS.sub("", text)).strip()
        for field in ("completed_by", "updated_by", "created_by"):
            if isinstance(account := payload.get(field), dict):
                yield from (account[key] for key in ("email", "username") if isinstance(account.get(key), str))
                yield " ".join(str(account.get(key) or "") for key in ("first_name", "last_name")).strip()


def _server_ids(study: Snapshot, server: ReleaseRecords) -> set[str]:
    of_projects = {*chain(*((project.remote_id, project.account_id) for project in study.projects))} - {None}
    server_ids = set(map(str, (*of_projects, *server.task_ids)))
    for payload in server.payloads:
        for field in ID_FIELDS:
            value = payload.get(field)
            if isinstance(value, dict):
                value = value.get("id")
            if isinstance(value, int | str) and not isinstance(value, bool) and str(value):
                server_ids.add(str(value))
    return server_ids


def _name(text: str) -> str | None:
    """A person's name in a name, or in an address such as `ada.planter@...`; one word alone is too common."""
    words = words_of(text.partition("@")[0])
    is_name = all(len(word) > 1 for word in words) or "@" not in text
    return " ".join(words) if len(words) > 1 and is_name else None


def words_of(text: str) -> list[str]:
    """The words of a name, or of the part of an address before the @."""
    return [word for word in re.split(r"[\W\d_]+", text) if word]


def bare(text: str) -> str:
    """Text without case, accents, digits and the characters between words."""
    plain = _folded(text)
    return plain if "@" in text else " ".join(words_of(plain)) or plain


# ----------------------------------------------------------------------------------------------------------------------
# Texts in people's own words that go out with a release: a search for people, paths and addresses.
#
# A secret that must never leave the study is refused wherever it is, see above. The words of this section may be meant
# so: a first name is a word as well, and an assessor may name another by pseudonym. The lead is asked about them.
# ----------------------------------------------------------------------------------------------------------------------


OFFERED = KNOWN_REASONS | {keyed.value for keyed in (*DIFFERENCES, *DIFFERENCES_OF_WHOLES)}
"""Reasons that a screen offers, so that no person wrote them."""
ROLES = frozenset({"adjudicator", "annotator", "assessor", "expert", "judge"})
"""Pseudonyms that are words of every datasheet."""
CONTEXT_CHARACTERS = 30
"""Characters that are shown on both sides of a match."""
_REST = r"[^\s\"'<>,;)]+"
PATH = re.compile(
    rf"(?<![\w/.:~-])(?:~|/(?:home|Users|root|mnt|media|tmp|var|opt|srv|data|Volumes))/{_REST}"
    r"|(?<![\w/.:~-])/(?:[\w.~-]+/){2,}[\w.~-]+"
    rf"|\b[A-Za-z]:\\{_REST}|\\\\[\w.-]+\\{_REST}"
)
"""Path in a home or below a usual root, of three parts or more, on a drive of Windows, or on a server of its network.
"""
WEB = re.compile(r"\b(?:https?://|www\.)[^\s\"'<>)]+", re.IGNORECASE)
WORD = re.compile(r"[^\W\d_]+")


class FreeText(NamedTuple):
    """A text, where it is, and whether addresses are expected in it."""

    place: str
    text: str
    public: bool = False


class KnownPeople(NamedTuple):
    """The words by which a text can name a person of the study."""

    accounts: frozenset[str]
    """Local parts of accounts that are no plain words, in lower case, such as `ada.planter`."""
    names: frozenset[str]
    """Parts of names, bare: `ada` and `planter`. Capitalised in a text, they are taken for a person."""
    pseudonyms: frozenset[str]


def known_people(study: Snapshot, secrets: Iterable[Secret]) -> KnownPeople:
    """Everyone of the study, less the names under which the makers want to be named."""
    accounts = {person.account for person in study.people if person.account}
    accounts |= {value for kind, value in secrets if kind in ("e-mail", "name")}
    local_parts = {account.partition("@")[0] for account in accounts}
    public = {bare(word) for creator in study.ws.settings.collection.creators for word in words_of(creator)}
    names = {bare(word) for local in local_parts for word in words_of(local) if len(word) >= SHORTEST_WORD}
    pseudonyms = ({person.assessor for person in study.people} | study.outcome.people) - ROLES
    telling = {local.lower() for local in local_parts if words_of(local) and not local.isalpha() and " " not in local}
    return KnownPeople(frozenset(telling - pseudonyms), frozenset(names - public), frozenset(pseudonyms))


def free_texts(
    study: Snapshot, words: PublishedWords, answers: Mapping[str, str], *, added: Iterable[tuple[str, str]]
) -> Iterator[FreeText]:
    """Every text of a person that the release has. added: place and text of those that wings and plug-ins add."""
    yield from _texts_of_judging(study.outcome, words)
    for question, answer in answers.items():
        yield FreeText(f"{ANSWERS_FILE}, {question}", answer, public=True)
    for why_accepted in sorted(set(study.outcome.accepted.values())):
        yield FreeText("the reason why pairs count with fewer judgements", why_accepted)
    for kind in words.kinds:
        yield from (FreeText(f"how people agreed that {kind.kind} are published", consent) for consent in kind.consents)
    reasons = {added.reason for pool in study.pools.values() for added in pool.additions if added.reason}
    yield from (FreeText("the reason why documents were added to pools", reason) for reason in sorted(reasons))
    yield from (FreeText(place, text) for place, text in added)
    for version in changed_versions(study.shown):
        if version.why:
            yield FreeText(f"the reason for version {version.number} of {version.name}", version.why)
    for text_id, versions in sorted(study.text_versions.items()):
        explanations = [text.why for text in versions if text.why]
        yield from (FreeText(f"why the text of {text_id} was corrected", reason) for reason in explanations)
    for run in study.runs:
        yield from (FreeText(f"the settings of run {run.tag}", text, public=True) for text in _texts_in(run.facts))


def _texts_of_judging(outcome: Outcome, words: PublishedWords) -> Iterator[FreeText]:
    """The comments that are published, and reasons that no screen offers."""
    for comment in sorted(words.comments, key=lambda comment: (comment.pair, comment.assessor, comment.occasion)):
        yield FreeText(f"the comment of {comment.assessor} on {' '.join(comment.pair)}", comment.comment or "")
    for pair, text in sorted(words.reasons.items()):
        yield FreeText(f"the adjudicator's comment on {' '.join(pair)}", text)
    reasons = [
        *(
            (f"the answer of {answer.assessor} on {' '.join(answer.pair)}", answer.cannot_judge)
            for answer in outcome.everything
        ),
        *((f"the adjudicator's reason on {' '.join(ruling.pair)}", ruling.reason) for ruling in outcome.decisions),
        *(
            (f"the adjudicator's reason on {' '.join(pair)}", rulings[-1].cannot_judge)
            for pair, rulings in outcome.unjudgeable.items()
        ),
    ]
    yield from (FreeText(place, text) for place, text in reasons if text and text not in OFFERED)


def mentions(text: FreeText, people: KnownPeople) -> Iterator[tuple[re.Match[str], str]]:
    """Names, paths and addresses in the text, each with its meaning."""
    for word in WORD.finditer(text.text):
        if word[0][0].isupper() and bare(word[0]) in people.names:
            yield word, "the name of a person"
    patterns = [(_any_of(people.accounts), "an account"), (_any_of(people.pseudonyms), "a pseudonym"), (PATH, "a path")]
    for pattern, meaning in patterns if text.public else (*patterns, (WEB, "an address")):
        for match in pattern.finditer(text.text):
            # Accounts are no words, and are found in any letters; a pseudonym is found as it is.
            if meaning != "a pseudonym" or match[0] in people.pseudonyms:
                yield match, meaning


@cache
def _any_of(names: frozenset[str]) -> re.Pattern[str]:
    """Any of the names as whole words; nothing matches if there is none."""
    longest_first = sorted(names, key=lambda name: (-len(name), name))
    any_word = "|".join(map(re.escape, longest_first)) or r"(?!)"
    return re.compile(rf"(?<![\w@./-])(?:{any_word})(?![\w@-])", re.IGNORECASE)


def mentioned(
    texts: Iterable[FreeText], people: KnownPeople, *, allowed: Collection[str], excerpts: bool
) -> tuple[str, ...]:
    """A line for each name, path and address in the texts: its kind, its first place, and the number of other texts.

    allowed: what is meant to be public, as it is written or in other letters. excerpts: whether lines show the words
    around it; not where a text may have what must not be printed either.
    """
    public = {text.casefold() for text in allowed}
    places_by_mention = grouped(
        ((match[0], meaning), (text, match.start()))
        for text in texts
        for match, meaning in mentions(text, people)
        if match[0].casefold() not in public
    )
    return tuple(
        _line(words, meaning, places, excerpts=excerpts)
        for (words, meaning), places in sorted(places_by_mention.items())
    )


def _line(words: str, meaning: str, places: Sequence[tuple[FreeText, int]], *, excerpts: bool) -> str:
    text, begin = places[0]
    start, end = max(0, begin - CONTEXT_CHARACTERS), begin + len(words) + CONTEXT_CHARACTERS
    shown = " ".join(text.text[start:end].split())
    shown = f"{'...' if start else ''}{shown}{'...' if end < len(text.text) else ''}"
    n_others = len({mentioned_in.place for mentioned_in, _ in places}) - 1
    and_others = f", and {counted(n_others, 'more text')}" if n_others else ""
    excerpt = f', "{shown}"' if excerpts else ""
    return f"{words!r}, {meaning}: {text.place}{excerpt}{and_others}"


def _texts_in(facts: Any) -> Iterator[str]:
    if isinstance(facts, str):
        yield facts
    elif isinstance(facts, Mapping):
        yield from (text for value in facts.values() for text in _texts_in(value))
    elif isinstance(facts, list | tuple):
        yield from (text for value in facts for text in _texts_in(value))
