"""Files of topics, each read into topics with the lines on which they begin."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple
from xml.parsers import expat

from annot.base.errors import Faults, InputError, numbered
from annot.base.plugins import PluginNames, loaded
from annot.base.records import Topic
from annot.formats.cleaning import clean
from annot.formats.corpora.tables import FIELD_NAMES, dataset_named, downloading
from annot.formats.input_files import (
    SAVE_AS_UTF_8,
    SEPARATORS,
    UnreadEncoding,
    content_of,
    decoded,
    encoding_of_start,
    plain,
    read_objects,
    read_table,
    unguarded,
)

# ----------------------------------------------------------------------------------------------------------------------
# From the fields of a record, whatever its format, to a topic: which is what, and the rules for ids and texts.
# ----------------------------------------------------------------------------------------------------------------------


IDS = ("topic_id", "query_id", "question_id", "_id", "id", "qid", "num", "number", "topic_number")
TITLES = ("title", "query", "question", "text", "desc", "description", "summary")
DESCRIPTIONS = ("description", "desc", "question", "text")
NARRATIVES = ("narrative", "narr")
"""The names of each field of a topic in files, the first that a file has counts: TREC-COVID's `query` is a title
because it has no other, and its `question` the description."""
LONGEST = 20_000
"""Characters of a text: the longest narratives of TREC have a tenth of that."""
LONGEST_ID = 200
SHOWN = 40
"""Characters of a text that cannot be read, in the message of it."""


class Record(NamedTuple):
    """One topic as its file has it."""

    line: int
    values: Mapping[str, Any]
    """Values by the plain name of the field."""
    more: Mapping[str, Any] = {}
    """Other values of the topic, such as BEIR's metadata; none of them is the id."""


@dataclass(frozen=True, slots=True)
class TopicFile:
    """The topics of a file, in its order."""

    form: str
    """The format, in words."""
    fields: Mapping[str, str]
    """The name in the file of each field of a topic that it has."""
    topics: tuple[tuple[int, Topic], ...]
    """The topics, each with the line on which it begins."""


def topics_of(records: Iterable[Record], faults: Faults, *, form: str) -> TopicFile:
    """Topics from the records. Raises InputError with every fault, including those found while reading."""
    read = list(records)
    named = dict.fromkeys(name for record in read for name, value in record.values.items() if value not in (None, ""))
    fields = _fields(named, dict.fromkeys(name for record in read for name in record.more))
    for noun, name, names in (("id", "topic_id", IDS), ("title or question", "title", TITLES)):
        if read and name not in fields:
            fields_read = f" among {', '.join(named)}" if named else ""
            faults.add(f"found no {noun}{fields_read}; expected one of {', '.join(names)}", line=read[0].line)
    topics: dict[str, tuple[int, Topic]] = {}
    for record in read if {"topic_id", "title"} <= fields.keys() else ():
        if topic := _topic(record, fields, faults):
            if topic.topic_id in topics:
                first, _ = topics[topic.topic_id]
                faults.add(f"topic {topic.topic_id!r} is listed twice, first on line {first}", line=record.line)
            topics[topic.topic_id] = record.line, topic
    faults.raise_if_any(hint="nothing was added", found=topics, nothing="found no topic")
    return TopicFile(form, fields, tuple(topics.values()))


def id_fault(topic_id: str) -> str:
    """Fault of a topic's id, which files of runs and qrels have to carry; "" if there is none."""
    if topic_id.isprintable() and not re.search(r"[\s/\\]", topic_id) and 0 < len(topic_id) <= LONGEST_ID:
        return ""
    return f"{topic_id[:SHOWN]!r}: expected no space, no slash and nothing that cannot be printed"


def tidy(text: str) -> str:
    """The text as a person should read it: paragraphs, with an empty line between, each on one line."""
    return "\n\n".join(filter(None, map(clean, re.split(r"\n[^\S\n]*\n", text.replace("\r\n", "\n")))))


def _fields(id_names: Collection[str], other_names: Iterable[str]) -> dict[str, str]:
    """The name in the file of each field of a topic; id_names: names that may be those of its id."""
    fields: dict[str, str] = {}
    anywhere = {*id_names, *other_names}
    names = {"topic_id": IDS, "title": TITLES, "description": DESCRIPTIONS, "narrative": NARRATIVES}
    for name, usual_names in names.items():
        present = id_names if name == "topic_id" else anywhere
        usual = [heading for heading in usual_names if heading in present and heading not in fields.values()]
        if usual:
            fields[name] = usual[0]
    return fields


def _topic(record: Record, fields: Mapping[str, str], faults: Faults) -> Topic | None:
    faults_before = len(faults.found)
    topic_id = _id(record.values.get(fields["topic_id"]))
    if problem := "no id" if topic_id is None else id_fault(topic_id):
        faults.add(f"{fields['topic_id']}: {problem}", line=record.line)
    texts = _texts(record, fields, topic_id, faults)
    named = {name: texts.get(source, "") for name, source in fields.items() if name != "topic_id"}
    if len(faults.found) == faults_before and not named["title"]:
        faults.add(f"topic {topic_id}: {fields['title']}: found no words", line=record.line)
    if len(faults.found) > faults_before or topic_id is None:
        return None
    # A text that another field has word for word is not kept twice: BEIR's `text` is a title or a description.
    other_fields = texts.keys() - fields.values()
    return Topic(
        topic_id,
        " ".join(named["title"].split()),
        named.get("description") or None,
        named.get("narrative") or None,
        {name: text for name, text in texts.items() if name in other_fields and text not in ("", *named.values())},
    )


def _texts(record: Record, fields: Mapping[str, str], topic_id: str | None, faults: Faults) -> dict[str, str]:
    """The text of each field but the id, by its name in the file."""
    texts: dict[str, str] = {}
    for name, value in {**record.more, **record.values}.items():
        text = "" if value is None else value
        if not isinstance(text, str):
            text = json.dumps(value, ensure_ascii=False, default=str)
        if name == fields["topic_id"]:
            continue
        if name in fields.values() and text and not isinstance(value, str):
            faults.add(f"topic {topic_id}: {name}: found {text[:SHOWN]}, expected text", line=record.line)
        elif len(text) > LONGEST:
            problem = f"{len(text):,} characters, expected {LONGEST:,} at most"
            faults.add(f"topic {topic_id}: {name}: {problem}", line=record.line)
        else:
            texts[name] = tidy(text)
    return texts


def _id(value: Any) -> str | None:
    if isinstance(value, bool) or not isinstance(value, str | int):
        return None
    return str(value).strip() or None


# ----------------------------------------------------------------------------------------------------------------------
# TREC's classic topics: tags of SGML, with or without end tags, and a label such as `Description:` before a text.
#
# The tracks of TREC-1 to TREC-13 (https://trec.nist.gov/data/topics_eng/), and those that followed them: CLEF puts
# the language before the name of a tag (`EN-title`). TREC-COVID, the Web tracks and the clinical ones have XML: an
# element for each topic below the root.
# ----------------------------------------------------------------------------------------------------------------------


LABELS: dict[str, str] = FIELD_NAMES["topics"]
"""The tags, each with the label that its text may begin with; a tag that is not among them is text."""
_ONCE = ("num", "title", "desc", "narr")
_TAG = re.compile(
    rf"<(?P<end>/?)(?:[a-z]{{2}}-)?(?P<name>tops?|topics|{'|'.join(LABELS)})(?:\s[^<>]*)?>", re.IGNORECASE | re.ASCII
)
_MARKUP = re.compile("<[^<>]*>")


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
            text_of_tag = re.sub(rf"^\s*{LABELS[tag]}", "", between, flags=re.IGNORECASE)
            topic[tag] = f"{topic[tag]}\n\n{text_of_tag}" if tag in topic and tag not in _ONCE else text_of_tag
        elif text_between := _MARKUP.sub("", between).strip():
            faults.add(
                f"found {text_between.splitlines()[0][:SHOWN]!r} outside of every tag",
                line=line + between[: between.index(text_between.split()[0])].count("\n"),
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


def xml_records(text: str, faults: Faults) -> Iterator[Record]:
    """The topics: the attributes of each element below the root, and the texts of the elements in it, by name.

    An element of which a topic has several gives one text. Text of the topic's own is its `text`. NTCIR's files have no
    root. Raises InputError for a document type, which could name other files or say a long text with few words.
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
    """Line on which the topic begins that is being read."""
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
            texts = {name: text for name, text in self._values.items() if text.strip()}
            self.records.append(Record(self._line, texts))
        self._open.pop()


# ----------------------------------------------------------------------------------------------------------------------
# The files in which topics come, each read into topics with the lines on which they begin.
#
# The beginning of a file decides its format. Whatever the format, `fields.topics_of` makes the topics: one set of rules
# for ids and texts.
# ----------------------------------------------------------------------------------------------------------------------


LARGEST = 1 << 26
"""64 MiB: all queries of MS MARCO have half of that."""
EXPECTED = "TREC topics, BEIR queries, JSON Lines, CSV or TSV"


@dataclass(frozen=True)
class TopicFormat:
    """A format of topics that a plug-in adds."""

    name: str
    matches: Callable[[str], bool]
    """Test for a file's text: True if it is of this format."""
    records: Callable[[str, Faults], Iterator[Record]]
    """Function that reads the text and adds what is wrong to the faults."""


def read_topics(source: str, plugins: PluginNames = ()) -> TopicFile:
    """The topics of a file, or of a dataset of `ir_datasets` given as `irds:NAME`, in their order. Formats of plug-ins
    are tried first.

    Raises InputError with the line of every fault.
    """
    if source.startswith(PREFIX):
        name = source.removeprefix(PREFIX)
        return topics_of(dataset_records(name), Faults(f"{source}, query"), form="ir_datasets")
    return topics_in(given_topics(Path(source)), name=source, plugins=plugins)


def given_topics(path: Path) -> bytes:
    """The content of the file, decompressed. Raises InputError if there is none, or more than topics can have."""
    return content_of(path, expected=EXPECTED, most=LARGEST)


def names_papers(path: Path) -> bool:
    """True if the file is a table of queries that are papers: a column paper_id or facet, and no id of topics."""
    if not path.is_file():
        return False
    headings = headings_of(decoded(given_topics(path)))
    return bool(headings & {"paper_id", "facet"}) and headings.isdisjoint(IDS)


def topics_in(data: bytes, *, name: str, plugins: PluginNames = ()) -> TopicFile:
    """The topics in the bytes of a file. Raises InputError with the line of every fault."""
    faults = Faults(name)
    text = text_of(data, faults)
    for added in loaded("topic_formats", plugins).values():
        if added.matches(text):
            return topics_of(added.records(text, faults), faults, form=added.name)
    form, records = _records(text, faults)
    return topics_of(records, faults, form=form)


def _records(text: str, faults: Faults) -> tuple[str, Iterator[Record]]:
    start = text.lstrip()
    if re.match(r"<(!doctype\s+)?html\b", start, re.IGNORECASE):
        return _unknown("a web page (HTML)", faults)
    if start.startswith("<"):
        is_classic = re.search(r"<top[\s>]", text, re.IGNORECASE)
        return ("TREC SGML", sgml_records(text, faults)) if is_classic else ("XML", xml_records(text, faults))
    if start.startswith("{"):
        return "JSON Lines", _json_records(text, faults)
    if start.startswith("["):
        return _unknown("a JSON array: write one object per line", faults)
    if headings_of(text) & KNOWN:
        return "CSV or TSV with header", table_records(text, faults)
    first = next((line for line in text.splitlines() if line.strip()), "")
    if "\t" in first:
        return "TSV without header", list_records(text, faults)
    return _unknown(repr(first[:SHOWN]) if first else "an empty file", faults)


def _json_records(text: str, faults: Faults) -> Iterator[Record]:
    for line, record in read_objects(io.StringIO(text), faults):
        fields = {plain(name): value for name, value in record.items()}
        metadata = fields.pop("metadata", None)
        yield Record(line, fields, metadata if isinstance(metadata, dict) else {})


def _unknown(problem: str, faults: Faults) -> tuple[str, Iterator[Record]]:
    faults.add(f"found {problem}, expected {EXPECTED}")
    faults.raise_if_any(
        hint="a table of topics has a header with topic_id and title; one of papers, paper_id and facet"
    )
    raise AssertionError


def text_of(data: bytes, faults: Faults) -> str:
    """Text in the encoding that its first bytes show or that an XML declaration names.

    A byte of another encoding is not guessed at, as people judge what they read. Raises InputError with its place.
    """
    text, fault, line = "", "", 1
    try:
        text = data.decode(encoding_of_start(data)).removeprefix("\ufeff")
    except UnreadEncoding as error:
        fault = str(error)
    except UnicodeDecodeError as error:
        fault = f"not {error.encoding.upper()}: byte 0x{data[error.start]:02X} at position {error.start}"
        line = data.count(b"\n", 0, error.start) + 1
    if "\0" in text:
        fault, line = "found a zero byte, expected text", text[: text.index("\0")].count("\n") + 1
    if fault:
        faults.add(fault, line=line)
        faults.raise_if_any(hint=SAVE_AS_UTF_8)
    return text


KNOWN = frozenset((*IDS, *TITLES, *DESCRIPTIONS, *NARRATIVES))


def headings_of(text: str) -> set[str]:
    """The cells of the first line that is not empty, as headings are compared."""
    lines = (
        line for line in text.splitlines() if line.strip(f"{SEPARATORS} ") and not line.strip('"').startswith("sep=")
    )
    return {plain(cell.strip(' "')) for cell in re.split(f"[{SEPARATORS}]", next(lines, "").removeprefix("\ufeff"))}


def table_records(text: str, faults: Faults) -> Iterator[Record]:
    """The rows that are not empty; columns of any name."""
    for line, cells in read_table(text, faults, known_headings=KNOWN).rows:
        yield Record(line, {plain(heading): unguarded(cell) for heading, cell in cells.items() if heading})


def list_records(text: str, faults: Faults) -> Iterator[Record]:
    """An id, a tab and a text on each line; quotation marks are text."""
    for line, row in numbered(io.StringIO(text), faults):
        cells = row.split("\t")
        if len(cells) == 2:
            yield Record(line, {"id": cells[0], "text": cells[1]})
        else:
            faults.add(f"found {len(cells)} cells, expected an id, a tab and a text", line=line)


PREFIX = "irds:"


def dataset_records(name: str) -> Iterator[Record]:
    """The queries, in the dataset's order and with its names of their fields. Raises InputError if it has none."""
    dataset = dataset_named(name)
    if not dataset.has_queries():
        raise InputError(f"{name}: this dataset of ir_datasets has no queries")
    with downloading(name):
        for number, query in enumerate(dataset.queries_iter(), start=1):
            yield Record(number, query._asdict())
