"""TREC's topics in XML, as of TREC-COVID, the Web tracks and the clinical ones: an element each below the root."""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.parsers import expat

from annot.base.errors import Faults
from annot.formats.topics.fields import SHOWN, Record

DEEPEST = 20
"""Elements within one another; topics have four."""


def xml_records(text: str, faults: Faults) -> Iterator[Record]:
    """The topics: the attributes of each element below the root, and the texts of the elements in it, by name.

    An element of which a topic has several gives one text. Text of the topic's own is its `text`. NTCIR's files have no
    root. Raises InputError for a document type, which could name other files or say a long text with few words, and for
    elements nested too deeply.
    """
    reading = _Reading(faults)
    if re.match(r"\s*<(topic|query)[\s>]", text, re.IGNORECASE):
        text = f"<topics>{text}</topics>"
    try:
        reading.parser.Parse(text.encode(), True)
    except expat.ExpatError as error:
        faults.add(f"not valid XML: {expat.ErrorString(error.code)} at column {error.offset + 1}", line=error.lineno)
    yield from reading.records


class _Reading:
    _line: int
    """On which the topic begins that is being read."""
    _values: dict[str, str]

    def __init__(self, faults: Faults) -> None:
        self.records: list[Record] = []
        self.parser = expat.ParserCreate("utf-8")
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._text
        self.parser.StartDoctypeDeclHandler = self._refuse_document_type
        self._faults = faults
        self._open: list[str] = []

    def _refuse_document_type(self, name: str, *_: object) -> None:
        self._faults.add(f"declares a document type (<!DOCTYPE {name}>)", line=self.parser.CurrentLineNumber)
        self._faults.raise_if_any(hint="remove it: topics need no DTD and no entities of their own")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._open.append(name.lower())
        if len(self._open) > DEEPEST:
            self._faults.add(f"<{name}> is nested too deeply", line=self.parser.CurrentLineNumber)
            self._faults.raise_if_any(hint=f"expected at most {DEEPEST} elements within one another")
        if len(self._open) == 2:
            self._line = self.parser.CurrentLineNumber
            self._values = {key.lower(): value for key, value in attributes.items()}
        elif len(self._open) == 3 and name.lower() in self._values:
            self._values[name.lower()] += "\n\n"

    def _text(self, text: str) -> None:
        if len(self._open) > 1:
            name = self._open[2] if len(self._open) > 2 else "text"
            self._values[name] = self._values.get(name, "") + text
        elif text.strip():
            problem = f"found {text.strip()[:SHOWN]!r} outside of every topic"
            self._faults.add(problem, line=self.parser.CurrentLineNumber)

    def _end(self, _name: str) -> None:
        if len(self._open) == 2:
            # Between elements there is white space.
            own = {name: text for name, text in self._values.items() if text.strip()}
            self.records.append(Record(self._line, own))
        self._open.pop()
