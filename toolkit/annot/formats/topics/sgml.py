"""TREC's classic topics: tags of SGML, with or without end tags, and a label such as `Description:` before a text.

The tracks of TREC-1 to TREC-13 (https://trec.nist.gov/data/topics_eng/), and those that followed them: CLEF puts the
language before the name of a tag (`EN-title`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

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
