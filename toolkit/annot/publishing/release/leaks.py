"""A search through every byte of a release for what must not leave the house."""

from __future__ import annotations

import base64
import html
import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple
from urllib.parse import unquote

BLOCK_LINES = 2000
SHORT_NUMBER = 6
"""A server's id with fewer digits than this stands in any text by chance; it counts only with a key beside it."""

Kind = Literal["name", "e-mail", "token", "studio id", "studio address"]


class Secret(NamedTuple):
    """Something that must not be in the release."""

    kind: Kind
    value: str


class Leak(NamedTuple):
    """Where something was found. `shown` is masked: a finding that is printed must not leak in its turn."""

    path: str
    line: int
    """From 1; 0 is the name of the file."""
    what: str
    shown: str


def leaks(files: Mapping[str, bytes], secrets: Iterable[Secret], *, allowed: Collection[str]) -> tuple[Leak, ...]:
    """Everything in `files` that must not be published, by path and line.

    Looked for: each secret; and by their patterns e-mail addresses, tokens and keys, passwords in URLs, Label Studio's
    field names and addresses. Upper and lower case, accents written in two ways and wide letters are the same. Each
    line is read as it is and with JSON's, URLs' and HTML's ways of writing characters undone; secrets also in base64.
    A release holds texts in UTF-8; anything else in it is a finding, for it was not searched.

    A name is found as whole words, its parts in either order, whatever stands between them. A server id of fewer than
    six digits is only found with one of Label Studio's field names. There may be many thousand server ids: they are
    looked up, not searched one by one.
    allowed: e-mail addresses that are meant to be public, such as the maintainer's.
    """
    once = [secret for secret in dict.fromkeys(secrets) if secret.value.strip()]
    ids = frozenset(_folded(one.value.strip()) for one in once if _is_id(one))
    searches = [*(_search(secret) for secret in once if not _is_id(secret)), *_PATTERNS]
    public = {_folded(address) for address in allowed}
    found: set[Leak] = set()
    for path, content in files.items():
        found.update(_in_text(path, -1, path, searches, ids, public))
        try:
            text = content.decode("utf-8-sig")
        except UnicodeDecodeError:
            text = "\0"
        if "\0" in text:
            found.add(Leak(path, 0, "not searched: not a text in UTF-8", ""))
            continue
        for before, block in _blocks(text):
            found.update(_in_text(path, before, block, searches, ids, public))
    return tuple(sorted(found))


_FIELDS = (
    "annotation_id|annotator_id|completed_by|created_username|draft_id|inner_id|lead_time|project_id|prediction_id"
    "|server_user_id|task_id|total_annotations|unique_id|updated_by|user_id|was_cancelled"
)


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
    """One of these stands in every match; texts without any are not searched further."""
    pattern: re.Pattern[str]
    """In folded text."""
    secret: str = ""
    """The value of a known secret; empty if only the pattern is known."""
    encoded: tuple[str, ...] = ()
    """The secret in text as it is: base64 at its three alignments."""


_PATTERNS = (
    _Search(
        "an e-mail address",
        ("@",),
        # The part before the sign is looked for backwards: forwards it would be tried at every letter of the corpus.
        re.compile(r"@(?<=[\w.+-]@)(?:[a-z0-9-]+\.)*[a-z0-9-]*[a-z][a-z0-9-]*\.[a-z]{2,24}(?![\w-])"),
    ),
    _Search("a token (JWT)", ("eyj",), re.compile(r"\beyj[\w-]{8,}\.eyj[\w-]{8,}(?:\.[\w-]*)?")),
    _Search(
        "a token of Label Studio",
        ("token", "key", "authorization"),
        re.compile(r"\b(?:token|api[_ -]?key|authorization)\W{1,6}(?:token\W+)?[0-9a-f]{40}\b"),
    ),
    _Search(
        "a token",
        ("bearer", "hf_", "gho_", "ghp_", "ghs_", "ghu_", "github_pat_"),
        re.compile(
            r"\b(?:bearer\s+(?=\S*\d)[\w.~+/-]{16,}|hf_[a-z0-9]{30,}|gh[opsu]_[a-z0-9]{30,}|github_pat_\w{40,})"
        ),
    ),
    _Search("a private key", ("-----begin",), re.compile(r"-----begin [a-z ]*private key-----")),
    _Search("a password in a URL", ("://",), re.compile(r"://[^\s/:@\"']+:[^\s/@\"']+@")),
    _Search(
        "a password",
        ("pass", "_key", "access_token"),
        re.compile(r"\b(?:password|passwd|api_key|secret_key|access_token)[\"']?\s*[:=]\s*[\"']?[^\s\"',}]{6,}"),
    ),
    _Search(
        "a field of Label Studio", tuple(_FIELDS.split("|")), re.compile(rf"(?<![\w-])(?:{_FIELDS})[\"']?\s*[:=,\t]")
    ),
    _Search(
        "an address of a server",
        ("http://", "https://", "/projects/", "/api/"),
        re.compile(
            r"https?://(?:localhost|127(?:\.\d+){3}|0\.0\.0\.0|\[::1\]|10(?:\.\d+){3}|192\.168(?:\.\d+){2}"
            r"|172\.(?:1[6-9]|2\d|3[01])(?:\.\d+){2})(?![\w.-])\S*"
            r"|/(?:projects/\d+/data|api/(?:projects|tasks|annotations)(?!\w))\S*"
        ),
    ),
)
_BEFORE_THE_SIGN = re.compile(r"[\w.+-]{1,64}\Z")


def addresses(texts: Iterable[str]) -> frozenset[str]:
    """The e-mail addresses in texts that are public already, such as printed abstracts: for `allowed`."""
    return frozenset(
        found for text in texts for reading in _readings(text) for found, _ in _matches(_PATTERNS[0], reading)
    )


def _matches(search: _Search, text: str) -> Iterator[tuple[str, int]]:
    """What matches, and where it begins."""
    if search.needles and not any(needle in text for needle in search.needles):
        return
    for match in search.pattern.finditer(text):
        start = match.start()
        if search is _PATTERNS[0] and (local := _BEFORE_THE_SIGN.search(text, max(0, start - 64), start)):
            start = local.start()
        yield text[start : match.end()], start


def _blocks(text: str) -> Iterator[tuple[int, str]]:
    """The text in pieces of whole lines, with the number of lines before each.

    Two pieces share a line, so that what is broken over two lines is in one of them.
    """
    lines = text.split("\n")
    for start in range(0, len(lines), BLOCK_LINES):
        yield start, "\n".join(lines[start : start + BLOCK_LINES + 1])


def _in_text(
    path: str, before: int, text: str, searches: Sequence[_Search], ids: frozenset[str], public: set[str]
) -> Iterator[Leak]:
    def leak(reading: str, at: int, what: str, value: str) -> Leak:
        return Leak(path, before + reading.count("\n", 0, at) + 1, what, _masked(value))

    for reading in _readings(text):
        for id_pattern in (_KEYED_ID, _LONG_ID) if ids else ():
            for match in id_pattern.finditer(reading):
                if match[1] in ids:
                    yield leak(reading, match.start(), "a known studio id", match[1])
        for search in searches:
            for found, at in _matches(search, reading):
                if search.secret or found not in public:
                    yield leak(reading, at, search.what, search.secret or found)
    for search in searches:
        for form in search.encoded:
            if (at := text.find(form)) >= 0:
                yield leak(text, at, f"{search.what}, in base64", search.secret)


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
            changed = (undone if (undone := undo(line)) != line else "" for line in escaped)
            readings.append("\n".join(_folded(line) for line in changed))
    return list(dict.fromkeys(readings))


def _unescape_all(text: str) -> str:
    return _unescape_html(_unescape_url(_unescape_json(text)))


def _unescape_url(text: str) -> str:
    if "%" not in text:
        return text
    return unquote(re.sub("%0[AaDd]", " ", text))


def _unescape_html(text: str) -> str:
    if "&" not in text:
        return text
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


def _is_id(secret: Secret) -> bool:
    """Whether it is looked up among the numbers and UUIDs of a text."""
    value = _folded(secret.value.strip())
    return secret.kind == "studio id" and bool(value.isdigit() or _LONG_ID.fullmatch(value))


def _search(secret: Secret) -> _Search:
    value = secret.value.strip()
    folded = _folded(value)
    needles: tuple[str, ...] = ()
    if secret.kind == "name":
        parts = [part for part in re.split(r"[\W_]+", folded) if part]
        orders = {r"[\W_]{1,3}".join(parts), r"[\W_]{1,3}".join([*parts[-1:], *parts[:-1]])}
        pattern = rf"(?<![^\W_])(?:{'|'.join(sorted(orders))})(?![^\W_])"
        needles = (max(parts, key=len),) if parts else ()
    elif secret.kind == "studio id":
        pattern = rf"(?<!\w){re.escape(folded)}(?!\w)"
    elif secret.kind == "studio address":
        # With or without scheme and slash, it is the same server.
        pattern = re.escape(re.sub(r"^[a-z]+://", "", folded).rstrip("/"))
    else:
        pattern = re.escape(folded)
    encoded = _base64_forms(value) if len(value) >= SHORT_NUMBER else ()
    return _Search(f"a known {secret.kind}", needles, re.compile(pattern), value, encoded)


def _base64_forms(value: str) -> tuple[str, ...]:
    """What `value` is inside a base64 text, at each of three alignments, without the characters it shares."""
    data = value.encode("utf-8")
    forms = []
    for shift in range(3):
        text = base64.b64encode(b"\0" * shift + data).decode("ascii")
        whole = len(data) + shift
        forms.append(text[-(-shift * 8 // 6) : whole * 8 // 6])
    return tuple(dict.fromkeys([*forms, *(form.replace("+", "-").replace("/", "_") for form in forms)]))


def _masked(text: str) -> str:
    """The first two and the last character, enough to recognise what one knows."""
    text = text.strip()
    return f"{text[:2]}…{text[-1:]} ({len(text)} characters)" if len(text) > 4 else f"… ({len(text)} characters)"
