"""The two columns of a pair as a screen shows them: pure functions from texts to HTML.

All text is escaped. A pair that is judged by a facet shows abstracts with the labels of their sentences; one that is
judged whole shows plain paragraphs: nobody labels those.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from annot.base.records import Paper, Topic
from annot.labelstudio.controls import COLUMN_KEYS

NO_TEXT = "No text is on record."
"""What a column without any says."""


class Words(NamedTuple):
    """What the two sides of a pair are called."""

    topic: str
    document: str


def words_of(topic: Paper | Topic) -> Words:
    """The words of the screen: who asks with a paper looks for papers like it."""
    return Words("Topic", "Document") if isinstance(topic, Topic) else Words("Query", "Candidate")


def whole_pair(topic: Paper | Topic, document: Paper, *, opened: bool) -> str:
    """The columns of a pair that is judged whole. opened: whether the narrative is unfolded."""
    return pair((topic_column(topic, opened=opened), document_column(document, words_of(topic).document)), whole=True)


def pair(columns: Iterable[str], *, whole: bool = False) -> str:
    """Both columns side by side."""
    return f'<div class="a-pair{" a-whole" if whole else ""}">{"".join(columns)}</div>'


def topic_column(topic: Paper | Topic, *, opened: bool) -> str:
    """What is asked: of a text its title, description and narrative; of a paper its title and abstract."""
    if isinstance(topic, Paper):
        return _plain("query", words_of(topic).topic, topic.title, topic.sentences)
    narrative = _folded("narrative", "Narrative", [topic.narrative], opened=opened) if topic.narrative else ""
    return _plain("query", words_of(topic).topic, topic.title, [topic.description or ""], narrative)


def document_column(document: Paper, word: str) -> str:
    """A document whose sentences nobody labels."""
    return _plain("cand", word, document.title, document.sentences or (NO_TEXT,))


def _plain(side: str, word: str, title: str, paragraphs: Sequence[str], behind: str = "") -> str:
    texts = _paragraphs(paragraphs) + behind
    return (
        f'<div class="a-side a-{side}"><h2><span>{word}</span> {escaped(title)}</h2>'
        f'<div class="a-text" tabindex="0" accesskey="{COLUMN_KEYS[side]}">{texts}</div></div>'
    )


def _paragraphs(texts: Iterable[str]) -> str:
    return "".join(f'<p class="a-s">{text}</p>' for text in map(escaped, texts) if text)


def _folded(name: str, label: str, paragraphs: Sequence[str], *, opened: bool) -> str:
    """Paragraphs that a click on their label, or its key, shows and hides."""
    shown = " open" if opened else ""
    return (
        f'<details class="a-{name}"{shown}><summary accesskey="{COLUMN_KEYS[name]}">{escaped(label)}</summary>'
        f"{_paragraphs(paragraphs)}</details>"
    )


def labelled_column(
    side: str, heading: str, paper: Paper, facet: str, facet_labels: Sequence[str], chosen: tuple[int, ...] | None
) -> str:
    """One column. `a-wants-...` makes the screen mark sentences by their present label; `chosen` marks fixed ones.

    A key (`COLUMN_KEYS`, with Alt) and Tab go to its text, which then scrolls by the usual keys.
    """
    if chosen is None:
        wants = "".join(f" a-wants-{label}" for label in facet_labels)
        marked = {index for index, label in enumerate(paper.labels or ()) if label in facet_labels}
    else:
        wants, marked = " a-fixed", set(chosen)
    sentences = "".join(
        f'<p class="{"a-s a-hit" if index in marked else "a-s"}">{escaped(sentence)}</p>'
        for index, sentence in enumerate(paper.sentences)
    )
    return (
        f'<div class="a-side a-{side}{wants}"><h2><span>{heading}</span> {escaped(paper.title)}</h2>'
        f'<div class="a-none">No sentence here is labelled {escaped(" or ".join(facet_labels) or facet)}.</div>'
        f'<div class="a-text" tabindex="0" accesskey="{COLUMN_KEYS[side]}">{sentences}</div></div>'
    )


def full_text_column(side: str, heading: str, paper: Paper, where: str) -> str:
    """One column: where the full text is. The key of the column opens it where it is a link."""
    shown = escaped(where)
    key = COLUMN_KEYS[side]
    link = f'<a href="{shown}" target="_blank" rel="noopener noreferrer" accesskey="{key}">{shown}</a>'
    return (
        f'<div class="a-side a-{side} a-fixed"><h2><span>{heading}</span> {escaped(paper.title)}</h2>'
        '<div class="a-none">Judge by the full text, not by the abstract.</div>'
        f'<div class="a-text"><p class="a-s">{link if is_link(where) else shown}</p></div></div>'
    )


def is_link(where: str) -> bool:
    """Whether a browser can open it from the screen."""
    return re.fullmatch(r"https?://[^\s\"'<>]+", where) is not None


_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f]")


def escaped(text: str) -> str:
    """`text` as HTML shows it."""
    return html.escape(cleaned(text))


def cleaned(text: str) -> str:
    """`text` with runs of whitespace and unprintable control characters as one space: what an HTML parser leaves."""
    if text.isprintable() and "  " not in text:
        # The usual text; of all that is whitespace or a control, only the space is printable.
        return text.strip(" ")
    kept = _UNPRINTABLE.sub(" ", text)
    return " ".join(kept.encode("utf-8", "replace").decode("utf-8").split())
