"""One paper from its raw parts: labels named as ours, text cleaned, an abstract in one string split."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import compress

from annot.base.errors import InputError
from annot.base.names import near
from annot.base.records import Paper
from annot.formats.cleaning import Cleaned, Way, clean, clean_all, cleaned


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# A full stop after one of these never ends a sentence.
_INSIDE = _words("e.g i.e eg ie cf vs viz resp w.r.t s.t i.i.d fig figs eqs eqn ph dr prof mr mrs ms")
# A full stop after one of these does not end a sentence when a number follows.
_BEFORE_NUMBER = _words("no nos vol pp ch chap sec sect eq ref refs tab thm def alg app ver v approx ca p")
# A full stop after one of these ends a sentence only when the next word is one that opens sentences.
_DOUBTFUL = _words(
    "al etc inc ltd co corp u.s u.k u.s.a u.n e.u d.c a.m p.m a.d b.c ph.d m.sc b.sc st jr sr proc conf univ dept inst "
    "int jan feb mar apr jun jul aug sep sept oct nov dec approx"
)
_ABBREVIATED = _INSIDE | _BEFORE_NUMBER | _DOUBTFUL
_OPENERS = _words(
    "A Additionally After All Although An And Another As At Based Because Besides Both But By Compared Consequently "
    "Currently Despite Due During Each Empirical Even Every Evaluation Existing Experimental Experiments Extensive "
    "Finally First Firstly For From Further Furthermore Given He Hence Here How However I If In Indeed Instead It Its "
    "Later Many More Moreover Most Much Nevertheless Next No Not Nowadays Of On Once One Other Our Overall Previous "
    "Recent Recently Results Second Secondly Several She Similarly Since So Some Specifically Still Such That The "
    "Their Then There Thereby Therefore These They Third Thirdly This Those Though Through Thus To Today Together "
    "Traditional Two Under Unfortunately Unlike Using Various We What When Where Whereas Whether Which While Why With "
    "Within Without Yet You"
)

# A run of stops is tried from its first one only: from each, and it would cost the square of its length. A set comes
# first, as a text is searched for it in a tenth of the time that it takes to look behind each character.
_STOP = re.compile(
    r"[.!?…](?:(?:(?<=…)|(?<!…)(?<![.!?][.!?])[.!?]*+)[\"'”’»)\]}]*+(?=\s+(\S+))"
    r"|(?<=[a-z)\d][a-z)\d][.?!])(?=([A-Z][a-z]*)\s))"
)
_CAPITAL_INSIDE = re.compile(r"[a-z]+[-‐]?[A-Z]")
_CITATION = re.compile(r"[(\[]\s*\d")
_SEVERAL_LETTERS = re.compile(r"(?:[A-Za-z]\.)+[A-Za-z]")
_LIST_MARK = re.compile(r"[(\[]?(?:\d{1,2}|[ivx]{1,4}|[A-Za-z])[)\]]?[.)]?")
_LONGEST_MARK = 8
_NEAR = 120
"""Characters within which an open bracket must close to hold a sentence together."""
_LONGEST_WORD = 200
"""Characters of the last word that are looked at; longer ones are no abbreviation."""
PARAGRAPH = re.compile(r"\n[^\S\n]*\n\s*")
"""An empty line, where a paragraph ends."""


def split_sentences(text: str) -> tuple[str, ...]:
    """The sentences of `text`, in order, without white space at their ends; nothing else is lost or changed.

    Rules, no model. A sentence ends at an empty line, and at `.`, `!`, `?` or an ellipsis (with the quotation marks
    and brackets that close there) before white space and a word that can open a sentence: one with a capital, a digit,
    an opening quotation mark, or of a script without capitals. It does not end

    - after `e.g.`, `i.e.`, `cf.`, `vs.`, `Fig.`, titles of persons, and, before a number, `No.`, `Sec.`, `Eq.`, `pp.`;
    - after `et al.`, `etc.`, `U.S.`, months, and single letters (initials), unless the next word is one that opens
      sentences ("The", "We", "However");
    - between the two halves of a number (`0. 95`), after a list mark (`1.`, `(ii).`), or inside an open bracket that
      closes soon.

    Where the space was lost (`was used.The`), it ends before a word that opens sentences.

    >>> split_sentences("We beat Lee et al. (2010) by 3.5 points, e.g. on Fig. 2. The gain holds.")
    ('We beat Lee et al. (2010) by 3.5 points, e.g. on Fig. 2.', 'The gain holds.')
    """
    return tuple(
        sentence for paragraph in PARAGRAPH.split(text) for sentence in _split_paragraph(paragraph.strip()) if sentence
    )


def _split_paragraph(text: str) -> list[str]:
    sentences = []
    start = seen = unclosed = 0
    brackets = "(" in text
    for match in _stops(text):
        end = match.end()
        if brackets:
            unclosed += text.count("(", seen, end) - text.count(")", seen, end)
            seen = end
        following = match[1] or match[2]
        ends = following in _OPENERS if match[2] else _ends(text, start, end, match[0], following)
        if ends and not (unclosed > 0 and _closes_soon(text[end : end + _NEAR])):
            sentences.append(text[start:end])
            start, unclosed = max(match.start(1), match.start(2)), 0
    sentences.append(text[start:])
    return sentences


def _stops(text: str) -> Iterator[re.Match[str]]:
    """Where a sentence may end. A full stop, which is nearly all of it, is found faster than one of four signs."""
    if "!" in text or "?" in text or "…" in text:
        yield from _STOP.finditer(text)
        return
    at = text.find(".")
    while at >= 0:
        if match := _STOP.match(text, at):
            yield match
        at = text.find(".", match.end() if match else at + 1)


def _ends(text: str, start: int, end: int, stop: str, following: str) -> bool:
    """Whether the sentence from `start`, which runs up to and with `stop` at `end`, is whole before `following`."""
    if stop == "." and "A" <= following[0] <= "Z" and end - start > _LONGEST_MARK:
        # Of nearly all: a word in small letters, a full stop, a capital.
        before = text[text.rfind(" ", start, end) + 1 : end - 1]
        if before.isalpha() and before.islower() and len(before) < _LONGEST_WORD and before not in _ABBREVIATED:
            return True
    if not _can_open(following):
        return False
    if end - start <= _LONGEST_MARK and _LIST_MARK.fullmatch(text, start, end):
        return False
    if stop != ".":
        return True
    # Tokenised texts have a blank before the stop.
    word = (text[max(start, end - _LONGEST_WORD) : end - 1].rsplit(None, 1) or [""])[-1].lstrip("\"'“‘«([{")
    lowered = word.lower()
    if lowered in _INSIDE:
        return False
    if following[0].isdigit() and (lowered in _BEFORE_NUMBER or word.isdigit()):
        return False
    if lowered in _DOUBTFUL or _SEVERAL_LETTERS.fullmatch(word):
        return _is_opener(following) and not _CITATION.match(following)
    if len(word) == 1 and word.isalpha() and word.isupper():
        return _is_opener(following)
    return True


def _is_opener(word: str) -> bool:
    return word.strip("\"'“”‘’«»()[],;:") in _OPENERS


def _can_open(word: str) -> bool:
    """Whether a sentence can begin with `word`: `The`, `3D`, `“we`, `eBay`, `©`, `我们`."""
    if "A" <= word[0] <= "Z" or word[0] in "“«•©†‡":
        return True
    bare = word.lstrip("\"'“‘«([{$`")
    first = bare[:1]
    return first.isdigit() or (first.isalpha() and not first.islower()) or bool(_CAPITAL_INSIDE.match(bare))


def _closes_soon(rest: str) -> bool:
    """Whether an open bracket closes in `rest`, the characters that follow."""
    within, closing, _ = rest.partition(")")
    return bool(closing) and "(" not in within


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
    part_of: str | None = None,
    changed: list[Cleaned] | None = None,
) -> Paper:
    """The paper with these parts.

    `labels` has the length of the list `abstract`, or has one for each paragraph of one string. Each is one of
    `known_labels`, or one with `_label` behind it, as CSFCube's are. The title and the sentences are cleaned, a heading
    `Abstract.` at the beginning goes, and sentences of which nothing stays are left out with their labels; what that
    changed is put into `changed`. Citations keep their order; repeated ones and the paper itself go.
    A document that is part of itself is no passage.
    Raises InputError with a fault for each unknown label.
    """
    known = None if labels is None else _known(labels, known_labels)
    heading = as_it_came = False
    if isinstance(abstract, str):
        given = PARAGRAPH.split(abstract)
        paragraphs = [clean(paragraph) for paragraph in given]
        as_it_came = paragraphs == given
        heading, paragraphs[0] = without_heading(paragraphs[0])
        parts = [split_sentences(paragraph) for paragraph in paragraphs]
        sentences = [sentence for part in parts for sentence in part]
        if known is not None:
            known = [label for label, part in zip(known, parts, strict=True) for _ in part]
    else:
        sentences = clean_all(abstract)
        if sentences:
            heading, sentences[0] = without_heading(sentences[0])
        known = None if known is None else list(compress(known, sentences))
        sentences = list(filter(None, sentences))
    cited = [other for other in dict.fromkeys(citations) if other != paper_id]
    read_title = clean(title)
    if changed is not None and (heading or not as_it_came or read_title != title):
        also = (Way.HEADING,) if heading else ()
        found = cleaned(paper_id, (title, read_title), (abstract, sentences), also=also)
        changed += [] if found is None else [found]
    return Paper(
        paper_id=paper_id,
        title=read_title,
        sentences=tuple(sentences),
        year=year,
        labels=None if known is None else tuple(known),
        citations=tuple(cited),
        part_of=None if part_of == paper_id else part_of,
    )


def without_heading(text: str) -> tuple[bool, str]:
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
