"""From the fields of a record, whatever its format, to a topic: which is what, and the rules for ids and texts."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from annot.base.errors import Faults
from annot.base.records import Topic
from annot.formats.cleaning import clean

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
    """By the plain name of the field."""
    more: Mapping[str, Any] = {}
    """What else there is of it, such as BEIR's metadata: nothing of it is the id."""


class GivenTopic(NamedTuple):
    """A topic and the line on which it begins."""

    line: int
    topic: Topic


@dataclass(frozen=True, slots=True)
class TopicFile:
    """The topics of a file, in its order."""

    form: str
    """The format, in words."""
    fields: Mapping[str, str]
    """The name in the file of each field of a topic that it has."""
    topics: tuple[GivenTopic, ...]


def topics_of(records: Iterable[Record], faults: Faults, *, form: str) -> TopicFile:
    """The topics that the records are. Raises InputError with every fault, those that reading the records found too."""
    read = list(records)
    own = dict.fromkeys(name for one in read for name, value in one.values.items() if value not in (None, ""))
    fields = _fields(own, dict.fromkeys(name for one in read for name in one.more))
    if read:
        _check_fields(fields, own, faults, line=read[0].line)
    topics: dict[str, GivenTopic] = {}
    for one in read if {"topic_id", "title"} <= fields.keys() else ():
        if topic := _topic(one, fields, faults):
            if topic.topic_id in topics:
                first = topics[topic.topic_id].line
                faults.add(f"topic {topic.topic_id!r} is listed twice, first on line {first}", line=one.line)
            topics[topic.topic_id] = GivenTopic(one.line, topic)
    faults.raise_if_any(hint="nothing was added", found=topics, nothing="found no topic")
    return TopicFile(form, fields, tuple(topics.values()))


def id_fault(topic_id: str) -> str:
    """What is wrong with the id of a topic, which files of runs and qrels have to carry; "" for nothing."""
    if topic_id.isprintable() and not re.search(r"[\s/\\]", topic_id) and 0 < len(topic_id) <= LONGEST_ID:
        return ""
    return f"{topic_id[:SHOWN]!r}: expected no space, no slash and nothing that cannot be printed"


def tidy(text: str) -> str:
    """The text as a person should read it: paragraphs, with an empty line between, each on one line."""
    return "\n\n".join(filter(None, map(clean, re.split(r"\n[^\S\n]*\n", text.replace("\r\n", "\n")))))


def _fields(own: Collection[str], more: Iterable[str]) -> dict[str, str]:
    """The name in the file of each field of a topic; own: those that may be its id."""
    found: dict[str, str] = {}
    anywhere = {*own, *more}
    names = {"topic_id": IDS, "title": TITLES, "description": DESCRIPTIONS, "narrative": NARRATIVES}
    for name, known in names.items():
        there = own if name == "topic_id" else anywhere
        if first := next((one for one in known if one in there and one not in found.values()), None):
            found[name] = first
    return found


def _check_fields(fields: Mapping[str, str], having: Collection[str], faults: Faults, *, line: int) -> None:
    for what, name, names in (("id", "topic_id", IDS), ("title or question", "title", TITLES)):
        if name not in fields:
            among = f" among {', '.join(having)}" if having else ""
            faults.add(f"found no {what}{among}; expected one of {', '.join(names)}", line=line)


def _topic(one: Record, fields: Mapping[str, str], faults: Faults) -> Topic | None:
    before = len(faults.found)
    topic_id = _id(one.values.get(fields["topic_id"]))
    if problem := "no id" if topic_id is None else id_fault(topic_id):
        faults.add(f"{fields['topic_id']}: {problem}", line=one.line)
    texts: dict[str, str] = {}
    for name, value in {**one.more, **one.values}.items():
        text = value if isinstance(value, str) else "" if value is None else _as_json(value)
        if name == fields["topic_id"]:
            continue
        if name in fields.values() and text and not isinstance(value, str):
            faults.add(f"topic {topic_id}: {name}: found {text[:SHOWN]}, expected text", line=one.line)
        elif len(text) > LONGEST:
            problem = f"{len(text):,} characters, expected {LONGEST:,} at most"
            faults.add(f"topic {topic_id}: {name}: {problem}", line=one.line)
        else:
            texts[name] = tidy(text)
    said = {name: texts.get(source, "") for name, source in fields.items() if name != "topic_id"}
    if len(faults.found) == before and not said["title"]:
        faults.add(f"topic {topic_id}: {fields['title']}: found no words", line=one.line)
    if len(faults.found) > before or topic_id is None:
        return None
    # What another field says word for word is not kept twice: BEIR's `text` is a title or a description.
    others = texts.keys() - fields.values()
    return Topic(
        topic_id,
        " ".join(said["title"].split()),
        said.get("description") or None,
        said.get("narrative") or None,
        {name: text for name, text in texts.items() if name in others and text not in ("", *said.values())},
    )


def _id(value: Any) -> str | None:
    if isinstance(value, bool) or not isinstance(value, str | int):
        return None
    return str(value).strip() or None


def _as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)
