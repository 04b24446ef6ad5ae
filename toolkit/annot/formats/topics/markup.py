"""TREC's classic topics: tags of SGML, with or without end tags, and a label such as `Description:` before a text.

The tracks of TREC-1 to TREC-13 (https://trec.nist.gov/data/topics_eng/), and those that followed them: CLEF puts the
language before the name of a tag (`EN-title`). TREC-COVID, the Web tracks and the clinical ones have XML: an
element for each topic below the root.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.parsers import expat

from annot.base.errors import Faults
from annot.formats.topics.fields import SHOWN, Record

LABELS = {
    "num": r"Number\s*:",
    "title": r"Topic\s*:",
    "desc": r"Description\s*:",
    "narr": r"Narrative\s*:",
    "dom": r"Domain\s*:",
    "smry": r"Summary\s*:",
    "con": r"Concept\(s\)\s*:",
    "fac": r"Factor\(s\)\s*:",
    "nat": r"Nationality\s*:",
    "def": r"Definition\(s\)\s*:",
    "time": r"Time\s*:",
    "head": "",
}
"""The tags, each with the label that its text may begin with; a tag that is not among them is text."""
_ONCE = ("num", "title", "desc", "narr")
_TAG = re.compile(
    rf"<(?P<end>/?)(?:[a-z]{{2}}-)?(?P<name>tops?|topics|{'|'.join(LABELS)})(?:\s[^<>]*)?>", re.IGNORECASE | re.ASCII
)
_MARKUP = re.compile("<[^<>]*>")


def is_sgml(text: str) -> bool:
    """Whether the text has a topic in it as TREC's classic tracks write them."""
    return bool(re.search(r"<top[\s>]", text, re.IGNORECASE))


def sgml_records(text: str, faults: Faults) -> Iterator[Record]:
    """The topics, each from its `<top>` to the next.

    Text outside of every tag, and a tag of title, description or narrative that a topic has twice, are faults: with a
    tag lost, a text would get into another one. Of another tag, such as the nationalities of a topic, all texts count.
    """
    topic: dict[str, str] | None = None
    tag, line, place = "", 1, 0
    begun = line
    for match in (*_TAG.finditer(text), None):
        between = text[place : match.start() if match else len(text)]
        if tag and topic is not None:
            said = re.sub(rf"^\s*{LABELS[tag]}", "", between, flags=re.IGNORECASE)
            topic[tag] = f"{topic[tag]}\n\n{said}" if tag in topic and tag not in _ONCE else said
        elif stray := _MARKUP.sub("", between).strip():
            faults.add(
                f"found {stray.splitlines()[0][:SHOWN]!r} outside of every tag",
                line=line + between[: between.index(stray.split()[0])].count("\n"),
            )
        line += between.count("\n")
        if match is None:
            break
        place, name = match.end(), match["name"].lower()
        tag = name if name in LABELS and not match["end"] else ""
        if name == "top" and not match["end"]:
            if topic is not None:
                yield Record(begun, topic)
            topic, begun = {}, line
        elif tag and topic is None:
            tag = ""
            faults.add(f"found <{name}> before the first <top>", line=line)
        elif tag in _ONCE and topic is not None and tag in topic:
            faults.add(f"found a second <{tag}> in the topic of line {begun}; is a <top> missing?", line=line)
        line += match[0].count("\n")
    if topic is not None:
        yield Record(begun, topic)


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
