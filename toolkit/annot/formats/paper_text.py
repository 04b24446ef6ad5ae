"""One paper from its raw parts: labels named as ours, text cleaned, an abstract in one string split."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence

from annot.base.errors import InputError
from annot.base.names import near
from annot.base.records import Paper
from annot.formats.cleaned import Cleaned, cleaned
from annot.formats.cleaning import clean, clean_all
from annot.formats.sentences import PARAGRAPH, split_sentences

_HEADING = re.compile(r"(?:Abstract|ABSTRACT|abstract)(?:\s*(?:[.:—–]|-(?=[\sA-Z]))+\s*|$)")


def paper_of(
    paper_id: str,
    title: str,
    abstract: str | Sequence[str],
    *,
    year: int | None,
    labels: Sequence[str] | None,
    known_labels: Collection[str],
    citations: Iterable[str],
    clean_text: bool,
    changed: list[Cleaned] | None = None,
) -> Paper:
    """The paper with these parts.

    `labels` has the length of the list `abstract`; it is None when `abstract` is one string. Each is one of
    `known_labels`, or one with `_label` behind it, as CSFCube's are. With `clean_text` the
    title and the sentences are cleaned, a heading `Abstract.` at the beginning goes, and sentences of which nothing
    stays are left out with their labels; what that changed is put into `changed`. Citations keep their order; repeated
    ones and the paper itself go.
    Raises InputError with a fault for each unknown label.
    """
    known = None if labels is None else _known(labels, known_labels)
    heading = False
    if isinstance(abstract, str):
        paragraphs = PARAGRAPH.split(abstract)
        if clean_text:
            paragraphs = [clean(paragraph) for paragraph in paragraphs]
            heading, paragraphs[0] = _without_heading(paragraphs[0])
        sentences = [sentence for paragraph in paragraphs for sentence in split_sentences(paragraph)]
    else:
        sentences = list(abstract)
        if clean_text:
            sentences = clean_all(sentences)
            if sentences:
                heading, sentences[0] = _without_heading(sentences[0])
            kept = [position for position, sentence in enumerate(sentences) if sentence]
            sentences = [sentences[position] for position in kept]
            known = None if known is None else [known[position] for position in kept]
    cited = [other for other in dict.fromkeys(citations) if other != paper_id]
    read_title = clean(title) if clean_text else title
    if clean_text and changed is not None:
        found = cleaned(paper_id, title=(title, read_title), abstract=(abstract, sentences), heading=heading)
        changed += [] if found is None else [found]
    return Paper(
        paper_id=paper_id,
        title=read_title,
        sentences=tuple(sentences),
        year=year,
        labels=None if known is None else tuple(known),
        citations=tuple(cited),
    )


def _without_heading(text: str) -> tuple[bool, str]:
    """Whether there was one, and the text without it."""
    heading = _HEADING.match(text)
    return (True, text[heading.end() :]) if heading else (False, text)


def _known(labels: Sequence[str], known: Collection[str]) -> list[str]:
    ours = [label if label in known else label.removesuffix("_label") for label in labels]
    unknown = dict.fromkeys(label for label in ours if label not in known)
    if unknown:
        raise InputError(
            "unknown sentence label",
            faults=[f"unknown sentence label {label!r}: {near(label, known)}" for label in unknown],
        )
    return ours
