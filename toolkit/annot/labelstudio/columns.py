"""The two columns of a pair as a screen shows them: pure functions from texts to HTML.

All text is escaped. A pair that is judged by a facet shows abstracts with the labels of their sentences; one that is
judged whole shows plain paragraphs: nobody labels those.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple

from annot.base.names import counted
from annot.base.records import Paper, Topic
from annot.labelstudio.controls import COLUMN_KEYS
from annot.labelstudio.term_marks import pieces, terms_of

NO_TEXT = "No text is on record."
"""What a column without any says."""
_CRITERIA = f'<details class="a-criteria"><summary accesskey="{COLUMN_KEYS["criteria"]}">Grades</summary></details>'
"""Where the window is low, the meaning of the grades shows only with this."""
REST = "The rest of the document"
"""What stands above the part that is folded, before the number of its words."""


class Words(NamedTuple):
    """What the two sides of a pair are called."""

    topic: str
    document: str


OF_PAPERS, OF_TEXTS = Words("Query", "Candidate"), Words("Topic", "Document")


def words_of(topic: Paper | Topic) -> Words:
    """The words of the screen: who asks with a paper looks for papers like it."""
    return OF_TEXTS if isinstance(topic, Topic) else OF_PAPERS


class Layout(NamedTuple):
    """How a pair is shown."""

    first: bool
    """Whether it is the first pair of its topic: this is said, and a narrative is unfolded."""
    fold_after: int
    """How many words of a document are shown at once; the rest is folded."""
    mark_terms: bool
    """Whether the topic's words are marked in the document."""


def whole_pair(facet: str, topic: Paper | Topic, document: Paper, layout: Layout) -> str:
    """The columns of a pair that is judged whole."""
    terms = terms_of(topic) if layout.mark_terms else frozenset()
    right = document_column(document, words_of(topic).document, fold_after=layout.fold_after, terms=terms)
    return pair((topic_column(topic, opened=layout.first), right), facet, whole=True, first=layout.first)


def pair(columns: Iterable[str], facet: str, *, whole: bool, first: bool) -> str:
    """Both columns side by side. The screen shows what the grades mean in `facet`, and that the topic is new."""
    classes = f"a-pair{' a-whole' * whole} a-is-{facet}{' a-first' * first}"
    return f'<div class="{classes}">{"".join(columns)}</div>{_CRITERIA}'


def gave(grades: Mapping[str, int]) -> str:
    """What marks the button of each grade with the letters of the assessors who gave it. grades: by letter."""
    return f'<div class="a-gave{"".join(f" a-gave-{grade}{letter}" for letter, grade in grades.items())}"></div>'


def is_whole(pair_html: str) -> bool:
    """Whether the columns are of a pair that is judged whole: no region is drawn on them."""
    return pair_html.startswith('<div class="a-pair a-whole')


_TAG = re.compile(r"<[^<>]*>")
GAVE = r'<div class="a-gave[^"]*"></div>'
"""What `gave` writes."""
_BY_SETTING = re.compile(
    rf"</?mark>|{_CRITERIA}|{GAVE}|"
    rf'<details class="a-rest"><summary accesskey="[a-z]">{REST}: [\d,]+ words?</summary>|</details>'
)
"""What comes and goes with the settings of the screen."""


def same_texts(shown: str, wanted: str) -> bool:
    """Whether two pairs read the same, whatever is marked or folded."""
    return shown == wanted or _texts_in(shown) == _texts_in(wanted)


def reads(pair_html: str, side: str, title: str, sentences: Sequence[str]) -> bool:
    """Whether a side of a pair, `query` or `cand`, shows this title and these sentences, whatever is marked."""
    topic, _, document = pair_html.partition('<div class="a-side a-cand')
    shown = _BY_SETTING.sub("", topic if side == "query" else document)
    heading = re.search(r"<h2><span>[^<]*</span>(.*?)</h2>", shown, re.DOTALL)
    found = [text for text in re.findall(r'<p class="a-s[^"]*">(.*?)</p>', shown, re.DOTALL) if text]
    wanted = [text for text in map(escaped, sentences) if text]
    return heading is not None and heading[1].strip() == escaped(title) and found == wanted


def _texts_in(pair_html: str) -> list[str]:
    return _TAG.split(_BY_SETTING.sub("", pair_html))


def topic_column(topic: Paper | Topic, *, opened: bool) -> str:
    """What is asked: of a text its title, description and narrative; of a paper its title and abstract."""
    if isinstance(topic, Paper):
        return _plain("query", words_of(topic).topic, topic.title, _paragraphs(topic.sentences))
    narrative = _folded("narrative", "Narrative", _written(topic.narrative), opened=opened) if topic.narrative else ""
    return _plain("query", words_of(topic).topic, topic.title, _written(topic.description or "") + narrative)


def document_column(document: Paper, word: str, *, fold_after: int, terms: frozenset[str]) -> str:
    """A document whose sentences nobody labels: whole up to `fold_after` words, and from the next sentence on folded.

    terms: the words that are marked.
    """
    shown = _within(document.sentences, fold_after)
    rest = document.sentences[shown:]
    texts = _paragraphs(document.sentences[:shown] or (NO_TEXT,), terms)
    if rest:
        more = f"{REST}: {counted(sum(map(_words_in, rest)), 'word')}"
        texts += _folded("rest", more, _paragraphs(rest, terms), opened=False)
    return _plain("cand", word, document.title, texts, terms)


def _within(sentences: Sequence[str], most: int) -> int:
    """How many sentences have `most` words together, or fewer; one at least."""
    words = accumulate(map(_words_in, sentences))
    return max(1, sum(count <= most for count in words))


def _words_in(text: str) -> int:
    return len(text.split())


def _plain(side: str, word: str, title: str, texts: str, terms: frozenset[str] = frozenset()) -> str:
    return (
        f'<div class="a-side a-{side}"><h2><span>{word}</span> {_marked(title, terms)}</h2>'
        f'<div class="a-text" tabindex="0" accesskey="{COLUMN_KEYS[side]}">{texts}</div></div>'
    )


def _written(text: str) -> str:
    """A text in the paragraphs in which it was written."""
    return _paragraphs(re.split(r"\n\s*\n", text))


def _paragraphs(texts: Iterable[str], terms: frozenset[str] = frozenset()) -> str:
    return "".join(f'<p class="a-s">{text}</p>' for text in (_marked(one, terms) for one in texts) if text)


def _marked(text: str, terms: frozenset[str]) -> str:
    """The text as HTML, the terms in it marked."""
    if not terms:
        return escaped(text)
    found = ((html.escape(piece), is_term) for piece, is_term in pieces(cleaned(text), terms))
    return "".join(f"<mark>{piece}</mark>" if is_term else piece for piece, is_term in found)


def _folded(name: str, label: str, texts: str, *, opened: bool) -> str:
    """Texts that a click on their label, or its key, shows and hides."""
    shown = " open" if opened else ""
    return (
        f'<details class="a-{name}"{shown}><summary accesskey="{COLUMN_KEYS[name]}">{label}</summary>{texts}</details>'
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
    instead = ", not by the abstract" if heading in OF_PAPERS else ""
    shown = escaped(where)
    key = COLUMN_KEYS[side]
    link = f'<a href="{shown}" target="_blank" rel="noopener noreferrer" accesskey="{key}">{shown}</a>'
    return (
        f'<div class="a-side a-{side} a-fixed"><h2><span>{heading}</span> {escaped(paper.title)}</h2>'
        f'<div class="a-none">Judge by the full text{instead}.</div>'
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
