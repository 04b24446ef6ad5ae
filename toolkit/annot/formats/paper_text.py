"""The language of a text, and its sentences and words in this language."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

from annot.base.errors import InputError
from annot.formats.cleaning import PARAGRAPH
from annot.formats.input_files import packaged_table

# ----------------------------------------------------------------------------------------------------------------------
# Languages, by the first part of a BCP 47 tag, and the scripts in which they are written.
#
# The language of a collection is that of its papers, unless a record has another. Neither can be right about a text in
# a script in which the language is not written: an English abstract in a Chinese corpus is cut by the rules of English.
# ----------------------------------------------------------------------------------------------------------------------


ENGLISH = "en"
_TABLE = packaged_table("languages.toml")
_CODES: dict[str, str] = {name: code for code, names in _TABLE["names"].items() for name in (code, *names.split())}
_NAMES = {code: names.split()[-1].title() for code, names in _TABLE["names"].items()}
_LETTERS = {languages.split()[0]: letters for languages, letters in _TABLE["scripts"].items()}
_SCRIPTS = {tuple(languages.split()): re.compile(f"[{letters}]") for languages, letters in _TABLE["scripts"].items()}
_WRITTEN_ELSEWHERE = frozenset(language for languages in _SCRIPTS for language in languages)
_LATIN, _KANA = (languages for languages in _SCRIPTS if languages in ((ENGLISH,), ("ja",)))
_ENGLISH_WORD = re.compile(rf"\b(?:{_TABLE['english']['words'].replace(' ', '|')})\b", re.IGNORECASE)
_ENGLISH_WORDS = 0.05
"""Share of these words from which on a text is English: 99.6 % of 5,329 English abstracts have it, and fewer than 0.1 %
of 25,000 texts of 60 words in 56 other languages."""
_OTHER_LETTER = re.compile("[\u0370-\u1dff\u2e80-\u3007\u3041-\ua7ff\ua8e0-\uffdc\U00010000-\U0003ffff]")
"""A character of a script other than Latin, and no punctuation that is common to scripts."""


def language_code(tag: str) -> str:
    """The language of a BCP 47 tag, an ISO 639 code or an English name, by its code of two letters if it has one.

    >>> [language_code(tag) for tag in ("pt-BR", "zho", "German", "yue")]
    ['pt', 'zh', 'de', 'yue']
    """
    language = str(re.split("[-_]", tag.strip().lower())[0])
    return _CODES.get(language, language)


def known_language(value: object) -> str | None:
    """The language that a field of a record states; None if it states none that is known."""
    language = language_code(value) if isinstance(value, str) else ""
    return language if language in _NAMES or language in _WRITTEN_ELSEWHERE else None


def language_name(language: str) -> str:
    """English name of a language, with its code."""
    return f"{_NAMES[language]} ({language})" if language in _NAMES else f"the language {language}"


def language_of(text: str, stated: str) -> str:
    """The language of a text: the stated one, unless most letters are of a script in which it is not written, or the
    words are English. A database states the language of a whole paper, whose abstract is often English.

    >>> [language_of("Танцы пчёл", "en"), language_of("Танцы пчёл", "uk"), language_of("Bees dance", "zh")]
    ['ru', 'uk', 'en']
    """
    language = language_code(stated)
    others = [] if text.isascii() else _OTHER_LETTER.findall(text)
    # A character of Chinese, Japanese or Korean says as much as some three letters.
    weight = sum(3 if letter > "\u2e7f" else 1 for letter in others)
    if not weight or weight <= sum(map(str.isalpha, text)) - len(others):
        languages = _LATIN
        if language != ENGLISH and len(_ENGLISH_WORD.findall(text)) > _ENGLISH_WORDS * len(text.split()):
            return ENGLISH
    else:
        counts = {script: len(letters.findall(text)) for script, letters in _SCRIPTS.items() if script != _LATIN}
        languages = max(counts, key=counts.__getitem__)
        # Japanese has characters of Chinese, and characters of its own among them.
        if languages[0] == "zh" and 10 * counts[_KANA] > counts[languages]:
            languages = _KANA
    return language if language in languages or language not in _WRITTEN_ELSEWHERE else languages[0]


# ----------------------------------------------------------------------------------------------------------------------
# Sentences: English by rules of our own, other languages by sentencex (https://github.com/wikimedia/sentencex).
# ----------------------------------------------------------------------------------------------------------------------


_UNCUT = frozenset(_TABLE["unspaced"]["uncut"].split())
_ALWAYS, _NUMBERED = (frozenset(words.split()) for words in _TABLE["abbreviations"].values())
_LATIN_END = re.compile(r"(?<![A-Za-z.])[A-Z][a-z]{1,9}\.$|\b(?:e\.g|i\.e|vs|cf|al)\.$")
"""A word with a full stop, at the end of a text, that may be an English abbreviation."""


def sentences_in(text: str, language: str) -> tuple[str, ...]:
    """The sentences of a text in this language, in order; nothing but white space is lost.

    Raises InputError for a language whose texts cannot be cut.
    """
    if language == ENGLISH:
        return split_sentences(text)
    if language in _UNCUT:
        raise InputError(
            f"{language_name(language)} cannot be cut into sentences",
            faults=[f"abstract: found one text in {language_name(language)}, expected a list of its sentences"],
        )
    from sentencex import segment

    # A space that is not ASCII's can end sentencex 1.0 with an error.
    paragraphs = (" ".join(paragraph.split()) for paragraph in PARAGRAPH.split(text))
    parts = (segment(language, paragraph) for paragraph in paragraphs if paragraph)
    return tuple(sentence for paragraph in parts for sentence in _rejoined(paragraph, language))


def _rejoined(parts: list[str], language: str) -> list[str]:
    """The sentences of a paragraph: parts that were cut within one are joined again."""
    sentences = [""]
    for part in parts:
        if not sentences[-1] or _continues_sentence(sentences[-1], part, language):
            sentences[-1] += part
        else:
            sentences.append(part)
    return [sentence.strip() for sentence in sentences if sentence.strip()]


def _continues_sentence(before: str, part: str, language: str) -> bool:
    """True if a part does not begin a sentence: by its first letter, or by the abbreviation before it."""
    if part[0].islower() or not any(map(str.isalnum, part)):
        return True
    before = before.rstrip()
    if not before.endswith("."):
        return False
    word = before[-_LONGEST_WORD:-1].rsplit(None, 1)[-1:] or [""]
    abbreviation = word[0].lstrip("\"'“‘«([{（「")
    if abbreviation in _ALWAYS or (abbreviation in _NUMBERED and part[0].isdigit()):
        return True
    # English abbreviations, such as those of journals, come in texts of every script.
    if language in _WRITTEN_ELSEWHERE:
        latin = _LATIN_END.search(before)
        return latin is not None and not _full_stop_ends(latin[0][:-1], part.split()[0])
    return False


_INSIDE, _BEFORE_NUMBER, _BEFORE_BRACKET, _BEFORE_LETTER, _DOUBTFUL, _OPENERS = (
    frozenset(words.split()) for words in packaged_table("sentences.toml").values()
)
"""Words before a full stop that is inside a sentence always, before a number, before a number that may be in brackets,
before a letter that names a part, or unless an opener follows; openers."""

# A run of stops is tried from its first one only: from each, and it would cost the square of its length. A set comes
# first, as a text is searched for it in a tenth of the time that it takes to look behind each character.
_STOP = re.compile(
    r"[.!?؟…](?:(?:(?<=…)|(?<!…)(?<![.!?][.!?])[.!?]*+)[\"'”’»)\]}]*+(?=\s+(\S+))"
    r"|(?<=[a-z)\d][a-z)\d][.?!])(?=([A-Z][a-z]*)\s))"
)
_CAPITAL_INSIDE = re.compile(r"[a-z]+[-‐]?[A-Z]")
_CITATION = re.compile(r"[(\[]\s*\d")
_SEVERAL_LETTERS = re.compile(r"(?:[A-Za-z]\.)+[A-Za-z]")
_NUMBER = re.compile(r"[(\[]*\d")
_LETTER = re.compile(r"[(\[]*[A-Z](?![A-Za-z])")
_LIST_MARK = re.compile(r"[(\[]?(?:\d{1,2}|[ivx]{1,4}|[A-Za-z])[)\]]?[.)]?")
_LONGEST_MARK = 8
_CLOSES = re.compile(r"[^()]*\)")
_NEAR = 120
"""Characters within which an open bracket must close to hold a sentence together."""
_LONGEST_WORD = 200
"""Characters of the last word that are looked at; longer ones are no abbreviation."""


def split_sentences(text: str) -> tuple[str, ...]:
    """The sentences of an English text, in order, without white space at their ends; nothing else is lost or changed.

    Rules, no model. A sentence ends at an empty line, and at `.`, `!`, `?` or an ellipsis (with the quotation marks
    and brackets that close there) before white space and a word that can open a sentence: one with a capital, a digit,
    an opening quotation mark, or of a script without capitals. It does not end

    - after `e.g.`, `i.e.`, `cf.`, `vs.`, `Fig.`, titles of persons, and, before a number, `No.`, `Sec.`, `Eq.`, `pp.`,
      also in brackets (`Eq. (3)`, `Ref. [4]`); or before a letter, `App.`, `Sec.` (`App. A`);
    - after `et al.`, `etc.`, `U.S.`, months, `sp.`, abbreviated names of journals, and single letters (initials),
      unless the next word is one that opens sentences ("The", "We", "However");
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
    start = counted_to = unclosed = 0
    for match in _STOP.finditer(text):
        end = match.end()
        unclosed += text.count("(", counted_to, end) - text.count(")", counted_to, end)
        counted_to = end
        following = match[1] or match[2]
        ends = following in _OPENERS if match[2] else _ends(text, start, end, match[0], following)
        if ends and not (unclosed > 0 and _CLOSES.match(text, end, end + _NEAR)):
            sentences.append(text[start:end])
            start, unclosed = max(match.start(1), match.start(2)), 0
    sentences.append(text[start:])
    return sentences


def _ends(text: str, start: int, end: int, stop: str, following: str) -> bool:
    """Test whether the sentence from `start`, which runs up to and with `stop` at `end`, is complete."""
    if not _can_open(following):
        return False
    if end - start <= _LONGEST_MARK and _LIST_MARK.fullmatch(text, start, end):
        return False
    return stop != "." or _full_stop_ends(text[max(start, end - _LONGEST_WORD) : end - 1], following)


def _full_stop_ends(text: str, following: str) -> bool:
    """Test whether a full stop after `text`, before a word that can open a sentence, ends one."""
    # Tokenised texts have a space before the stop.
    word = (text.rsplit(None, 1) or [""])[-1].lstrip("\"'“‘«([{")
    lowered = word.lower()
    if lowered in _INSIDE or (following[0].isdigit() and (lowered in _BEFORE_NUMBER or word.isdigit())):
        return False
    if (lowered in _BEFORE_BRACKET and _NUMBER.match(following)) or (
        word in _BEFORE_LETTER and _LETTER.match(following)
    ):
        return False
    if lowered in _DOUBTFUL or _SEVERAL_LETTERS.fullmatch(word):
        return _is_opener(following) and not _CITATION.match(following)
    if len(word) == 1 and word.isalpha() and word.isupper():
        return _is_opener(following)
    return True


def _is_opener(word: str) -> bool:
    return word.strip("\"'“”‘’«»()[],;:") in _OPENERS


def _can_open(word: str) -> bool:
    """True if a sentence can begin with `word`: `The`, `3D`, `“we`, `eBay`, `©`, `我们`."""
    if "A" <= word[0] <= "Z" or word[0] in "“«•©†‡":
        return True
    bare = word.lstrip("\"'“‘«([{$`¿¡")
    first = bare[:1]
    return first.isdigit() or (first.isalpha() and not first.islower()) or bool(_CAPITAL_INSIDE.match(bare))


# ----------------------------------------------------------------------------------------------------------------------
# Words: English has rules of its own (`ranking.corpus.RULES`); those of all other languages are here.
#
# A word is a run of letters, digits and the marks that belong to them (vowel signs of the scripts of India, joiners),
# in Unicode's form NFKC and without case. A run of a script without spaces gives the pairs of its neighbouring
# characters instead, as is usual in retrieval (Lucene's CJKAnalyzer).
# ----------------------------------------------------------------------------------------------------------------------


_UNSPACED = "".join(_LETTERS[language] for language in _TABLE["unspaced"]["scripts"].split())
_UNSPACED_CHARACTER = re.compile(f"[{_UNSPACED}]")


@lru_cache(maxsize=2)
def _words(*, apostrophes: bool) -> re.Pattern[str]:
    """Pattern of a run of a script without spaces (its first group), or of a word, which may have apostrophes."""
    marks = "".join(map(chr, filter(lambda code: unicodedata.category(chr(code))[0] == "M", range(0x300, 0x1F000))))
    letter = f"[^\\W_{_UNSPACED}]"
    word = f"{letter}(?:{letter}|[{marks}\u200c\u200d])*"
    more = f"(?:['\u2019]{word})*" if apostrophes else ""
    return re.compile(f"([{_UNSPACED}][{_UNSPACED}{marks}]*)|{word}{more}")


def word_places(text: str, *, apostrophes: bool) -> Iterator[tuple[int, int]]:
    """Start and end of each word and, in scripts without spaces, of each pair of neighbouring characters."""
    for match in _words(apostrophes=apostrophes).finditer(text):
        start, end = match.span()
        if not match[1] or end == start + 1:
            yield start, end
        else:
            yield from ((place, place + 2) for place in range(start, end - 1))


def terms_in(text: str) -> list[str]:
    """The terms of a text in any language but English.

    >>> terms_in("Käfer, DÉJÀ-vu; हिन्दी 蜜蜂舞蹈")
    ['käfer', 'déjà', 'vu', 'हिन्दी', '蜜蜂', '蜂舞', '舞蹈']
    """
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return [folded[start:end] for start, end in word_places(folded, apostrophes=False)]


def count_words(text: str) -> int:
    """Number of words between spaces; in scripts without them, two characters count as one word.

    >>> [count_words("Bees dance."), count_words("蜜蜂的舞蹈。"), count_words("用ResNet模型")]
    [2, 3, 3]
    """
    rest, characters = ("", 0) if text.isascii() else _UNSPACED_CHARACTER.subn(" ", text)
    if not characters:
        return len(text.split())
    return (characters + 1) // 2 + sum(any(map(str.isalnum, word)) for word in rest.split())


def words_of_text(text: str) -> list[str]:
    """The words between spaces; each character of a script without spaces is one."""
    return text.split() if text.isascii() else _UNSPACED_CHARACTER.sub(r" \g<0> ", text).split()
