"""The words of a topic in a document, for the lead who wants them marked."""

from __future__ import annotations

import re
from collections.abc import Iterator

from annot.base.records import Paper, Topic

WORD = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)*")
_COMMON = """
a about after all also am an and any are as at be because been before being between both but by can could did do does
during each few for from had has have having he her here him his how i if in into is it its just may me more most my no
nor not of off on once only or other our out over own per she should so some such than that the their them then there
these they this those through to too under until up use used using very via was we were what when where which while who
whom whose why will with within without would you your
"""
"""Words of English that say nothing of a topic."""
_COMMON_WORDS = frozenset(_COMMON.split())


def terms_of(topic: Paper | Topic) -> frozenset[str]:
    """The words that are marked: of a text its title and description, of a paper its title; singular, in small letters.

    >>> sorted(terms_of(Topic("T1", "Bees and hives", "Why do bees lose their hive?")))
    ['bee', 'hive', 'lose']
    """
    texts = [topic.title] if isinstance(topic, Paper) else [topic.title, topic.description or ""]
    words = (word.casefold() for text in texts for word in WORD.findall(text))
    return frozenset(singular(word) for word in words if word not in _COMMON_WORDS)


def pieces(text: str, terms: frozenset[str]) -> Iterator[tuple[str, bool]]:
    """The text in order, cut around the words that are terms, and whether a piece is one.

    >>> list(pieces("A hive of bees.", frozenset({"bee", "hive"})))
    [('A ', False), ('hive', True), (' of ', False), ('bees', True), ('.', False)]
    """
    end = 0
    for found in WORD.finditer(text):
        if singular(found[0].casefold()) in terms:
            if found.start() > end:
                yield text[end : found.start()], False
            yield found[0], True
            end = found.end()
    if end < len(text):
        yield text[end:], False


def singular(word: str) -> str:
    """An English plural without its ending: the S stemmer of Harman (1991), JASIS 42(1), table 1.

    >>> [singular(word) for word in ("queries", "heroes", "does", "bees", "glass", "corpus")]
    ['query', 'heroe', 'doe', 'bee', 'glass', 'corpus']
    """
    if word.endswith("ies") and not word.endswith(("eies", "aies")):
        return f"{word[:-3]}y"
    if word.endswith("es") and not word.endswith(("aes", "ees", "oes")):
        return word[:-1]
    return word[:-1] if word.endswith("s") and not word.endswith(("us", "ss")) else word
