"""JSON texts of many records (RFC 8259), read record by record: memory holds one of them, however large the file.

One text is a list of records, a page of an API with them in its `results` (OpenAlex), an object with them by their ids
(SciDocs), or a single record. Several texts after one another are read, too. Python's own decoder reads each record: it
is three times as fast as one that reports every value on its way.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import IO, Any

from annot.base.errors import json_problem

Entry = tuple[Any, str]
"""A value, and its text as it is in the file; bytes that are not UTF-8 are lone surrogates in it."""
DECODER = json.JSONDecoder(parse_constant=lambda _: None)
_BLOCK = 1 << 18
_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_SPACE = re.compile(r"[ \t\n\r]*")
_TOKEN = 16
"""No sign, escape or word of JSON is longer. A fault this near to the end may mean that the text goes on."""
_INNER = re.compile(rb'"(?:[^"\\]|\\.)*"\s*:|[]},]')
"""The beginning of a line that is part of an object over several lines."""
_SHOWN = 2_000
_HELD = 50
"""An object with at least so many objects, and nothing else, has records by their ids."""
_OF_A_RECORD = {"id", "_id", "paper_id", "title", "abstract"}
"""An object with one of these before its `results` is no page."""


class NotJson(ValueError):
    """Raised when a text cannot be read any further; its message says where and why."""

    def __init__(self, reason: str, text: str) -> None:
        super().__init__(reason)
        self.text = text
        """From the last value on, as far as it was read."""


def entries(file: IO[bytes], longest: int) -> Iterator[Entry]:
    """The records of a file of JSON texts, whatever they are.

    longest: characters of a record. Raises NotJson if the file cannot be read on.
    """
    text = _Text(file, longest)
    while first := text.peek():
        if first == "[":
            yield from text.items()
        elif first == "{":
            yield from _of_object(text)
        else:
            yield text.value()


def is_json_text(file: IO[bytes], longest: int) -> bool:
    """Whether a file that begins so has JSON texts over several lines, or of several records, not a record a line.

    A broken line at the beginning of JSON Lines makes no text of them: only what text alone can have tells it.
    """
    lines = _lines(file, longest)
    first, second = (*islice(lines, 2), b"", b"")[:2]
    start = first[:4].replace(b"\0", b"")
    if start.startswith((b"[", *_UTF_16)):
        return True
    if not start.startswith(b"{"):
        return False
    if start != first[:4] or first.endswith((b"{", b"[")) or len(first) > longest or _INNER.match(second):
        return True
    if second and b'"results"' not in first:
        return False
    try:
        value = json.loads(first)
    except (ValueError, RecursionError):
        return not second
    return isinstance(value, dict) and (_is_page(value) or (not second and _is_by_id(value)))


def _lines(file: IO[bytes], longest: int) -> Iterator[bytes]:
    mark = codecs.BOM_UTF8
    while line := file.readline(longest + 1):
        if line := line.removeprefix(mark).strip():
            yield line
        mark = b""


def _is_page(value: dict[str, Any]) -> bool:
    results = value.get("results")
    return isinstance(results, list) and not _OF_A_RECORD & value.keys() and all(isinstance(r, dict) for r in results)


def _is_by_id(value: dict[str, Any]) -> bool:
    return bool(value) and all(isinstance(one, dict) for one in value.values())


def _of_object(text: _Text) -> Iterator[Entry]:
    """The records of a page, those that an object has by their ids, or the object."""
    held: dict[str, Entry] = {}
    by_id = page = False
    for name in text.names():
        if by_id:
            yield text.value()
        elif name == "results" and text.peek() == "[" and not _OF_A_RECORD & held.keys():
            page = True
            yield from text.items()
        else:
            held[name] = text.value()
            text.check_length(sum(len(raw) for _, raw in held.values()))
            by_id = len(held) == _HELD and not page and _is_by_id(_values(held))
            if by_id:
                yield from held.values()
    if by_id or page:
        return
    if _is_by_id(_values(held)):
        yield from held.values()
    else:
        yield _values(held), "{" + ", ".join(f"{json.dumps(name)}: {raw}" for name, (_, raw) in held.items()) + "}"


def _values(held: Mapping[str, Entry]) -> dict[str, Any]:
    return {name: value for name, (value, _) in held.items()}


class _Text:
    """The text of a file, of which memory holds what is being read."""

    def __init__(self, file: IO[bytes], longest: int) -> None:
        start = file.read(_BLOCK)
        self._file, self._longest, self._ended = file, longest, not start
        self._decoder = codecs.getincrementaldecoder(json.detect_encoding(start))("surrogateescape")
        self._text, self._at = self._decoder.decode(start), 0
        self._line, self._column = 1, 1
        """The place in the file where the text in memory begins."""

    def _more(self) -> bool:
        """Read on; as much again as is held, so that a long value costs no more than its length."""
        if self._ended:
            return False
        before = self._text[: self._at]
        if lines := before.count("\n"):
            self._line, self._column = self._line + lines, 1
        self._column += len(before) - (before.rfind("\n") + 1)
        block = self._file.read(max(_BLOCK, len(self._text) - self._at))
        self._ended = not block
        self._text, self._at = self._text[self._at :] + self._decoder.decode(block, not block), 0
        return True

    def peek(self) -> str:
        """The next character that is not white space; none at the end."""
        while True:
            if found := _SPACE.match(self._text, self._at):
                self._at = found.end()
            if self._at < len(self._text) or not self._more():
                return self._text[self._at : self._at + 1]

    def _take(self, *expected: str) -> str:
        if (found := self.peek()) not in expected or not found:
            raise self._fault(f"Expecting {' or '.join(map(repr, expected))}", self._at, ends=not found)
        self._at += 1
        return found

    def items(self) -> Iterator[Entry]:
        """What the list that begins here has."""
        self._take("[")
        if self.peek() == "]":
            self._take("]")
            return
        yield self.value()
        while self._take(",", "]") == ",":
            yield self.value()

    def names(self) -> Iterator[str]:
        """The names in the object that begins here; after each, its value comes next."""
        self._take("{")
        if self.peek() == "}":
            self._take("}")
            return
        while True:
            if (found := self.peek()) != '"':
                raise self._fault("Expecting property name enclosed in double quotes", self._at, ends=not found)
            name = self.value()[0]
            self._take(":")
            yield name
            if self._take(",", "}") == "}":
                return

    def value(self) -> Entry:
        """The value that begins here."""
        self.peek()
        while True:
            try:
                value, end = DECODER.raw_decode(self._text, self._at)
            except json.JSONDecodeError as error:
                cut_off = error.pos > len(self._text) - _TOKEN or error.msg.startswith("Unterminated string")
                if not cut_off or not self._more():
                    raise self._fault(error.msg, error.pos, ends=cut_off) from None
                self.check_length(len(self._text))
            except (ValueError, RecursionError) as error:
                raise self._fault(json_problem(error).removeprefix("not valid JSON: "), self._at) from None
            else:
                # A number may go on in what is read next.
                if end < len(self._text) or self._text[end - 1] in '"}]' or not self._more():
                    raw, self._at = self._text[self._at : end], end
                    return value, raw

    def check_length(self, characters: int) -> None:
        """Raise NotJson for so many characters of a record if they are too many."""
        if characters > self._longest + 2 * _BLOCK:
            raise self._fault(f"a record of more than {self._longest} characters", self._at)

    def _fault(self, reason: str, at: int, *, ends: bool = False) -> NotJson:
        before = self._text[:at]
        line = self._line + before.count("\n")
        column = at - before.rfind("\n") if "\n" in before else self._column + at
        where = f"line {line}, column {column}" + ("; the file ends before this is closed" if ends else "")
        return NotJson(f"not valid JSON: {reason} at {where}", self._text[self._at : self._at + _SHOWN])
