"""Pairs as Label Studio tasks: pure functions from texts to the dicts that are sent."""

from __future__ import annotations

import hmac
import html
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import accumulate, groupby
from operator import itemgetter
from typing import Any
from urllib.parse import unquote

from annot.base.records import Adjudication, Judgement, PairKey, Paper, Query, Topic
from annot.base.settings import CollectionSettings
from annot.base.words import ENGLISH, Words, is_english
from annot.formats.paper_text import count_words, language_code, language_of, word_places
from annot.labelstudio import studio_records

# ----------------------------------------------------------------------------------------------------------------------
# The words of a topic in a document, for the lead who wants them marked.
# ----------------------------------------------------------------------------------------------------------------------


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
    """The words that are marked: of a text its title and description, of a paper its title; singular, in lower case.

    >>> sorted(terms_of(Topic("T1", "Bees and hives", "Why do bees lose their hive?")))
    ['bee', 'hive', 'lose']
    """
    texts = [topic.title] if isinstance(topic, Paper) else [topic.title, topic.description or ""]
    words = (text[start:end].casefold() for text in texts for start, end in word_places(text, apostrophes=True))
    return frozenset(singular(word) for word in words if word not in _COMMON_WORDS)


def pieces(text: str, terms: frozenset[str]) -> Iterator[tuple[str, bool]]:
    """The text in order, cut around the words that are terms, and whether a piece is one.

    >>> list(pieces("A hive of bees.", frozenset({"bee", "hive"})))
    [('A ', False), ('hive', True), (' of ', False), ('bees', True), ('.', False)]
    """
    marked = [False] * len(text)
    for start, end in word_places(text, apostrophes=True):
        if singular(text[start:end].casefold()) in terms:
            marked[start:end] = [True] * (end - start)
    for is_term, letters in groupby(zip(text, marked, strict=True), key=itemgetter(1)):
        yield "".join(letter for letter, _ in letters), is_term


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


# ----------------------------------------------------------------------------------------------------------------------
# The two columns of a pair as a screen shows them: pure functions from texts to HTML.
#
# All text is escaped. A pair that is judged by a facet shows abstracts with the labels of their sentences; one that
# is judged whole shows plain paragraphs, which have no labels.
# ----------------------------------------------------------------------------------------------------------------------


OF_PAPERS, OF_TEXTS = ("query", "candidate"), ("topic", "document")


def sides_of(topic: Paper | Topic, words: Words) -> tuple[str, str]:
    """The words of the screen for the two sides of a pair: who asks with a paper looks for papers like it."""
    query, document = OF_TEXTS if isinstance(topic, Topic) else OF_PAPERS
    return words(f"task.{query}"), words(f"task.{document}")


def pair(columns: Iterable[str], facet: str, *, whole: bool, first: bool, words: Words) -> str:
    """Both columns side by side. The screen marks a new topic, and in a low window shows the grades in `facet`."""
    classes = f"a-pair{' a-whole' * whole} a-is-{facet}{' a-first' * first}"
    grades = f'<summary accesskey="{studio_records.COLUMN_KEYS["criteria"]}">{escaped(words("task.grades"))}</summary>'
    return f'<div class="{classes}">{"".join(columns)}</div><details class="a-criteria">{grades}</details>'


def gave(grades: Mapping[str, int]) -> str:
    """Marks on the button of each grade: the letters of the assessors who gave it. grades: by letter."""
    return f'<div class="a-gave{"".join(f" a-gave-{grade}{letter}" for letter, grade in grades.items())}"></div>'


def is_whole(pair_html: str) -> bool:
    """True if the columns are of a pair that is judged as a whole: no region is drawn on them."""
    return pair_html.startswith('<div class="a-pair a-whole')


_TAG = re.compile(r"<[^<>]*>")
GIVEN_GRADE = r'<div class="a-gave[^"]*"></div>'
"""Pattern of the marks that `gave` writes."""
_WORDS = re.compile(r'(?<=<div class="a-none">)[^<]*|(?<=<span>)[^<]*(?=</span>)|(?<=<summary accesskey="[a-z]">)[^<]*')
"""Words around the texts."""
_LANGUAGE = re.compile(r' dir="auto" lang="[\w-]+"')
"""Direction and language of a text."""


def same_texts(shown: str, wanted: str) -> bool:
    """True if two pairs read the same; marks, folds and the language of the words are ignored."""
    return shown == wanted or _texts_in(without_words(shown)) == _texts_in(without_words(wanted))


def same_words(shown: str, wanted: str, words: Words) -> bool:
    """True if two pairs read the same, including the words around the texts; marks and folds are ignored."""
    return shown == wanted or _texts_in(shown, words) == _texts_in(wanted, words)


def without_languages(pair_html: str) -> str:
    """The pair without the direction and the language of its texts."""
    return _LANGUAGE.sub("", pair_html)


def without_words(pair_html: str) -> str:
    """The pair without the words around its texts, and without languages."""
    return _WORDS.sub("", without_languages(pair_html))


def _markup_by_setting(criteria: str, rest: str) -> str:
    """Pattern of the markup that depends on the settings of the screen. criteria, rest: the words in it."""
    summary = '<summary accesskey="[a-z]">'
    return (
        rf'</?mark>|<details class="a-criteria">{summary}{criteria}</summary></details>|{GIVEN_GRADE}|'
        rf'<details class="a-rest">{summary}{rest}</summary>|</details>'
    )


_ANY_BY_SETTING = re.compile(_markup_by_setting("", ""))


_TEXT = re.compile(r'<(h2|p class="a-s(?: a-hit)?")>')
_AROUND = re.compile(r'<(span|summary|div class="a-none")([ >])')


def in_languages(
    pair_html: str, topic: Paper | Topic, document: Paper, collection: CollectionSettings, words: Words = ENGLISH
) -> str:
    """The pair with direction and language of its texts, of topic and document, and of the words around them.

    If all are English, the page of Label Studio has said so, and the pair stays as it is.
    """
    spoken_in = [spoken(text, collection) for text in (topic, document)]
    if all(map(is_english, (*spoken_in, words.language))):
        return pair_html
    left, cand, right = pair_html.partition('<div class="a-side a-cand')
    sides = [
        _TEXT.sub(rf'<\1 dir="auto" lang="{escaped(language)}">', side)
        for side, language in zip((left, right), spoken_in, strict=True)
    ]
    around = rf'<\1 dir="auto" lang="{escaped(words.language)}"\2'
    return _AROUND.sub(around, cand.join(sides) if cand else sides[0])


IN_ENGLISH = CollectionSettings()
"""Settings of a collection in English."""


def spoken(text: Paper | Topic, collection: CollectionSettings) -> str:
    """The language of a text: its own or the stated one, unless it is not written in the letters of the text."""
    parts = (text.description or "", text.narrative or "") if isinstance(text, Topic) else text.sentences
    stated = collection.language_of_topics if isinstance(text, Topic) else text.language or collection.language
    language = language_of(" ".join((text.title, *parts)), stated)
    return stated if language == language_code(stated) else language


def reads(pair_html: str, side: str, title: str, sentences: Sequence[str]) -> bool:
    """True if a side of a pair, `query` or `cand`, has this title and these sentences; marks are ignored."""
    topic, _, document = without_words(pair_html).partition('<div class="a-side a-cand')
    shown = _ANY_BY_SETTING.sub("", topic if side == "query" else document)
    heading = re.search(r"<h2><span></span>(.*?)</h2>", shown, re.DOTALL)
    texts = [text for text in re.findall(r'<p class="a-s[^"]*">(.*?)</p>', shown, re.DOTALL) if text]
    wanted = [text for text in map(escaped, sentences) if text]
    return heading is not None and heading[1].strip() == escaped(title) and texts == wanted


def _texts_in(pair_html: str, words: Words | None = None) -> list[str]:
    """The texts between the tags. words: the only ones around them, if they are compared too."""
    if words is None:
        return _TAG.split(_ANY_BY_SETTING.sub("", pair_html))
    by_setting = _markup_by_setting(
        words.pattern("task.grades", in_html=True), words.pattern("task.rest", in_html=True, count=r"[\d,.\s]+")
    )
    return _TAG.split(re.sub(by_setting, "", pair_html))


def topic_column(topic: Paper | Topic, *, opened: bool, words: Words) -> str:
    """Column of the topic: title, description and narrative of a text, or title and abstract of a paper."""
    heading = sides_of(topic, words)[0]
    if isinstance(topic, Paper):
        return _column("query", heading, escaped(topic.title), _paragraphs(topic.sentences))
    narrative = ""
    if topic.narrative:
        narrative = _folded("narrative", words("task.narrative"), _written(topic.narrative), opened=opened)
    return _column("query", heading, escaped(topic.title), _written(topic.description or "") + narrative)


def document_column(document: Paper, heading: str, *, fold_after: int, terms: frozenset[str], words: Words) -> str:
    """Column of a document without labels: open up to `fold_after` words, and folded from the next sentence on.

    terms: the words that are marked.
    """
    shown = _sentences_within(document.sentences, fold_after)
    rest = document.sentences[shown:]
    texts = _paragraphs(document.sentences[:shown] or (words("task.no_text"),), terms)
    if rest:
        more = words("task.rest", count=sum(map(count_words, rest)))
        texts += _folded("rest", more, _paragraphs(rest, terms), opened=False)
    return _column("cand", heading, _marked(document.title, terms), texts)


def _sentences_within(sentences: Sequence[str], most: int) -> int:
    """Number of sentences that have `most` words together, or fewer; at least one."""
    words = accumulate(map(count_words, sentences))
    return max(1, sum(count <= most for count in words))


def _column(side: str, heading: str, title: str, texts: str, *, kind: str = "", note: str = "") -> str:
    """A column, to whose text a key (`COLUMN_KEYS`, with Alt) and Tab go, which then scrolls by the usual keys.

    title, texts, note: as HTML. kind: further classes.
    """
    return (
        f'<div class="a-side a-{side}{kind}"><h2><span>{escaped(heading)}</span> {title}</h2>{note}'
        f'<div class="a-text" tabindex="0" accesskey="{studio_records.COLUMN_KEYS[side]}">{texts}</div></div>'
    )


def _written(text: str) -> str:
    """A text in its original paragraphs."""
    return _paragraphs(re.split(r"\n\s*\n", text))


def _paragraphs(texts: Iterable[str], terms: frozenset[str] = frozenset()) -> str:
    return "".join(f'<p class="a-s">{text}</p>' for text in (_marked(paragraph, terms) for paragraph in texts) if text)


def _marked(text: str, terms: frozenset[str]) -> str:
    """The text as HTML, the terms in it marked."""
    if not terms:
        return escaped(text)
    parts = ((html.escape(piece), is_term) for piece, is_term in pieces(cleaned(text), terms))
    return "".join(f"<mark>{piece}</mark>" if is_term else piece for piece, is_term in parts)


def _folded(name: str, label: str, texts: str, *, opened: bool) -> str:
    """Texts that a click on their label, or its key, shows and hides."""
    shown, key = " open" if opened else "", studio_records.COLUMN_KEYS[name]
    return f'<details class="a-{name}"{shown}><summary accesskey="{key}">{escaped(label)}</summary>{texts}</details>'


def labelled_column(
    side: str,
    heading: str,
    paper: Paper,
    facet: str,
    facet_labels: Sequence[str],
    chosen: tuple[int, ...] | None,
    words: Words,
) -> str:
    """One column. `a-wants-...` makes the screen mark sentences by their present label; `chosen` marks fixed ones."""
    if chosen is None:
        kind = "".join(f" a-wants-{label}" for label in facet_labels)
        marked = {index for index, label in enumerate(paper.labels or ()) if label in facet_labels}
    else:
        kind, marked = " a-fixed", set(chosen)
    sentences = "".join(
        f'<p class="{"a-s a-hit" if index in marked else "a-s"}">{escaped(sentence)}</p>'
        for index, sentence in enumerate(paper.sentences)
    )
    missing = words("task.no_label", labels=words("task.or").join(map(words.name, facet_labels or (facet,))))
    note = f'<div class="a-none">{escaped(missing)}</div>'
    return _column(side, heading, escaped(paper.title), sentences, kind=kind, note=note)


def full_text_column(side: str, heading: str, paper: Paper, where: str, *, note: str) -> str:
    """One column with the place of the full text; the key of the column opens a link. note: on judging by it."""
    shown = escaped(where)
    key = studio_records.COLUMN_KEYS[side]
    link = f'<a href="{shown}" target="_blank" rel="noopener noreferrer" accesskey="{key}">{shown}</a>'
    return (
        f'<div class="a-side a-{side} a-fixed"><h2><span>{escaped(heading)}</span> {escaped(paper.title)}</h2>'
        f'<div class="a-none">{escaped(note)}</div>'
        f'<div class="a-text"><p class="a-s">{link if is_link(where) else shown}</p></div></div>'
    )


def is_link(where: str) -> bool:
    """True if a browser can open it from the screen."""
    return re.fullmatch(r"https?://[^\s\"'<>]+", where) is not None


_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f]")


def escaped(text: str) -> str:
    """`text` as HTML shows it."""
    return html.escape(cleaned(text))


def cleaned(text: str) -> str:
    """`text` with runs of whitespace and unprintable control characters as one space, as an HTML parser leaves it."""
    if text.isprintable() and "  " not in text:
        # The usual text; of all that is whitespace or a control, only the space is printable.
        return text.strip(" ")
    kept = _UNPRINTABLE.sub(" ", text)
    return " ".join(kept.encode("utf-8", "replace").decode("utf-8").split())


# ----------------------------------------------------------------------------------------------------------------------
# Pairs as Label Studio tasks: pure functions from texts to the dicts that are sent.
#
# A task carries only the texts that the assessor sees; `pair` makes their HTML. The sentences' labels
# travel as predictions (regions of the text), so that they can be corrected; a grade is never filled in.
# ----------------------------------------------------------------------------------------------------------------------


LABELS_FROM = "sentence-labels"
"""Named as the predictions' model: one word for every origin, since assessors are not told the origin."""
SEALED_LETTERS = 24
"""Hexadecimal digits of a sealed key: 96 bits."""

OCCASIONS = range(1, 10)
"""Number of times that one person may be asked one pair."""
LABELS_SHOWN = "labels"
"""Name in place of the facet on the screen where labels are corrected."""

LAST = "task.last"
"""Words of a person's last task after `83 of 83`: Label Studio's own words at the end cannot be changed."""


def place_pattern(words: Words) -> str:
    """Pattern of the place that a task shows."""
    number: dict[str, Any] = {"position": r"\d+", "count": r"\d+", "topic": r"\d+", "document": r"\d+"}
    in_topic = "|".join(words.pattern(f"task.place_of_{kind}", **number) for kind in ("paper", "text"))
    return f"{words.pattern('task.place', **number)}(?:{words.pattern(LAST)})? · (?:{in_topic})"


def place_of(
    topic: Paper | Topic,
    words: Words,
    *,
    position: int,
    count: int,
    topics: int,
    documents: int,
    of_topic: int,
    last: bool,
) -> str:
    """Place of a task among all and in its topic: `37 of 300 · query 4, candidate 7 of 30`. last: no task follows."""
    kind = "text" if isinstance(topic, Topic) else "paper"
    place = words("task.place", position=str(position), count=str(count)) + (words(LAST) if last else "")
    in_topic = words(f"task.place_of_{kind}", topic=str(topics), document=str(documents), count=str(of_topic))
    return f"{place} · {in_topic}"


def pair_key(query_id: str, doc_id: str, occasion: int = 1) -> str:
    """The key of a task on the server: `query_id/doc_id`, with `/` and `%` inside an id escaped.

    A hidden repeat has `/2` behind it.
    """
    key = f"{_escape_id(query_id)}/{_escape_id(doc_id)}"
    return key if occasion == 1 else f"{key}/{occasion}"


def split_key(key: str) -> PairKey:
    """Question of a key that `pair_key` made."""
    query_id, doc_id, *occasion = key.split("/")
    return PairKey(unquote(query_id), unquote(doc_id), *map(int, occasion))


def judge_task(
    *,
    question: PairKey,
    query: Query,
    topic: Paper | Topic,
    document: Paper,
    facet_help: str,
    facet_labels: Sequence[str],
    progress: str,
    first: bool,
    fold_after: int,
    mark_terms: bool,
    words: Words = ENGLISH,
    collection: CollectionSettings = IN_ENGLISH,
) -> dict[str, Any]:
    """The task in which one assessor judges one pair.

    `facet_help` is the facet's definition in at most 140 characters, for the bar. `facet_labels` are the sentence
    labels of the facet: with any, `topic` is a paper, and it and `document` carry the label of each sentence; without,
    the pair is judged whole. `progress` is the place of the task: `37 of 300 · query 4, candidate 7 of 30`.

    words: those around the texts, in the person's language. collection: states the languages of the texts.

    first: True for the first pair of its topic: the task says so, and a narrative is unfolded. fold_after: words of a
    document that are shown at once; the rest is folded. mark_terms: True if the topic's words are marked in it.
    """
    predictions = []
    left, right = sides_of(topic, words)
    if facet_labels and isinstance(topic, Paper):
        by_label = tuple(index for index, label in enumerate(topic.labels or ()) if label in facet_labels)
        chosen = query.sentences if query.sentences != by_label else None
        columns = (
            labelled_column("query", left, topic, query.facet, facet_labels, chosen, words),
            labelled_column("cand", right, document, query.facet, facet_labels, None, words),
        )
        regions = [*_regions("query", topic, column=1), *_regions("cand", document, column=2)]
        predictions = [{"model_version": LABELS_FROM, "result": regions}]
    else:
        terms = terms_of(topic) if mark_terms else frozenset()
        columns = (
            topic_column(topic, opened=first, words=words),
            document_column(document, right, fold_after=fold_after, terms=terms, words=words),
        )
    pair_html = pair(columns, query.facet, whole=not predictions, first=first, words=words)
    return {
        "data": {
            "pair_id": pair_key(*question),
            "facet": words.name(query.facet),
            "facet_help": facet_help,
            "progress": progress,
            "pair_html": in_languages(pair_html, topic, document, collection, words),
        },
        "predictions": predictions,
    }


def adjudicate_task(
    task: dict[str, Any], opinions: Sequence[Judgement], *, scale_names: Sequence[str], words: Words = ENGLISH
) -> dict[str, Any]:
    """`task` (of `judge_task`) with the assessors' answers, unnamed, in the order given: the caller shuffles them.

    With the policy `hidden` an adjudicator gets the plain task.
    """
    by_letter = dict(zip("abcdefghij", opinions, strict=False))
    shown = {}
    for letter, opinion in by_letter.items():
        shown[f"rating_{letter}"] = opinion_text(opinion, scale_names, words)
        shown[f"comment_{letter}"] = comment_text(opinion.comment, words)
    grades = {letter: opinion.grade for letter, opinion in by_letter.items() if opinion.grade is not None}
    marked = task["data"]["pair_html"] + (gave(grades) if grades else "")
    return {**task, "data": {**task["data"], **shown, "pair_html": marked}}


def reasoned_task(task: dict[str, Any]) -> dict[str, Any]:
    """`task` (of `adjudicate_task`), of grades far apart: it is sent only with a cause and a reason."""
    filled_in = [region for prediction in task["predictions"] for region in prediction["result"]]
    filled_in += [
        {"id": name, "from_name": name, "to_name": studio_records.TEXT, "type": "choices", "value": {"choices": [name]}}
        for name in (studio_records.REASON_NEEDED, studio_records.CAUSE_NEEDED)
    ]
    return {**task, "predictions": [{"model_version": LABELS_FROM, "result": filled_in}]}


def full_text_task(
    task: dict[str, Any],
    topic: Paper | Topic,
    document: Paper,
    where: Mapping[str, str],
    *,
    facet: str,
    words: Words = ENGLISH,
    collection: CollectionSettings = IN_ENGLISH,
) -> dict[str, Any]:
    """`task` (of `judge_task`) with the place of each full text instead of the abstract, and without its labels.

    A topic that is a text has no other, and stays. where: by `paper_id` a link (http or https), or a file's name as the
    assessor knows it.
    """
    topic_word, document_word = sides_of(topic, words)
    note = words(f"task.full_text{'_of_paper' if isinstance(topic, Paper) else ''}")
    left = (
        full_text_column("query", topic_word, topic, where[topic.paper_id], note=note)
        if isinstance(topic, Paper)
        else topic_column(topic, opened=True, words=words)
    )
    right = full_text_column("cand", document_word, document, where[document.paper_id], note=note)
    # Only where a facet is judged, labels come with the task.
    whole = not task["predictions"]
    columns = pair((left, right), facet, whole=whole, first=False, words=words)
    pair_html = in_languages(columns, topic, document, collection, words)
    return {"data": {**task["data"], "pair_html": pair_html}, "predictions": []}


def feedback_task(
    task: dict[str, Any],
    answer: Judgement,
    *,
    gold: int,
    why: str,
    scale_names: Sequence[str],
    words: Words = ENGLISH,
) -> dict[str, Any]:
    """`task` (of `judge_task`) with the answer of the assessor in training, the gold grade, and its reason."""
    shown = {
        "rating_own": opinion_text(answer, scale_names, words),
        "comment_own": comment_text(answer.comment, words),
        "rating_gold": grade_text(gold, scale_names, words),
        "comment_gold": cleaned(why) or words("task.no_reason"),
    }
    return {**task, "data": {**task["data"], **shown}}


def returned_task(task: dict[str, Any], why: str, words: Words = ENGLISH) -> dict[str, Any]:
    """`task` (of `judge_task`) put before its assessor again, with the reason above the pair and no earlier answer."""
    # After the two columns, where it changes no place in them; the style sheet shows it above.
    reason = words("task.corrected") if why == ENGLISH("task.corrected") else why
    banner = f'<div class="a-returned"><p>{escaped(words("task.again"))} {escaped(reason)}</p></div>'
    return {**task, "data": {**task["data"], "pair_html": task["data"]["pair_html"] + banner}}


def facets_task(
    key: str, paper: Paper, *, progress: str, words: Words = ENGLISH, collection: CollectionSettings = IN_ENGLISH
) -> dict[str, Any]:
    """The task in which one person corrects the labels of a paper's sentences; `progress` is such as `2 of 9`."""
    side = labelled_column("query", words("task.abstract"), paper, LABELS_SHOWN, (), (), words)
    pair_html = f'<div class="a-pair a-alone">{side}</div>'
    return {
        "data": {
            "pair_id": key,
            "facet": words("task.labels"),
            "facet_help": words("task.correct"),
            "progress": progress,
            "pair_html": in_languages(pair_html, paper, paper, collection, words),
        },
        "predictions": [{"model_version": LABELS_FROM, "result": _regions("query", paper, column=1)}],
    }


def opinions_in(data: Mapping[str, Any]) -> dict[str, Any]:
    """Fields of a task's data with answers of assessors; empty if it shows none."""
    return {name: value for name, value in data.items() if name.startswith(("rating_", "comment_"))}


def opinion_text(opinion: Judgement | Adjudication, scale_names: Sequence[str], words: Words = ENGLISH) -> str:
    """`1 Related`, or why it could not be judged."""
    if opinion.grade is None:
        reason = opinion.cannot_judge
        return words("task.could_not", reason=words.choice(reason)) if reason else words("task.did_not")
    return grade_text(opinion.grade, scale_names, words)


def grade_text(grade: int, scale_names: Sequence[str], words: Words = ENGLISH) -> str:
    """A grade with its name. One that the scale does not have any more has none.

    >>> grade_text(1, ("No", "Yes")), grade_text(3, ("No", "Yes"))
    ('1 Yes', '3 (not on the scale)')
    """
    if grade < len(scale_names):
        return f"{grade} {words.name(scale_names[grade])}"
    return words("task.off_scale", grade=grade)


def comment_text(comment: str | None, words: Words = ENGLISH) -> str:
    """A comment as it is shown to another person."""
    return cleaned(comment or "") or words("task.no_comment")


def _regions(side: str, paper: Paper, *, column: int) -> list[dict[str, Any]]:
    """The labelled sentences as regions; offsets count UTF-16 units, as browsers do."""
    regions = []
    for index, (sentence, label) in enumerate(zip(paper.sentences, paper.labels or (), strict=True)):
        shown = cleaned(sentence)
        if not shown:
            continue
        node = f"/div[1]/div[{column}]/div[2]/p[{index + 1}]/text()[1]"
        regions.append(
            {
                "id": f"{side}-{index}",
                "from_name": studio_records.SENTENCE_LABEL,
                "to_name": studio_records.TEXT,
                "type": "labels",
                "value": {
                    "start": node,
                    "end": node,
                    "startOffset": 0,
                    "endOffset": len(shown.encode("utf-16-le")) // 2,
                    "text": shown,
                    "labels": [label],
                },
            }
        )
    return regions


def _escape_id(identifier: str) -> str:
    return identifier.replace("%", "%25").replace("/", "%2F")


class TaskKeys:
    """Keys of a study's tasks on any server, which reveal nothing.

    Label Studio shows every field of a task in a column of its data manager. A key that names the pair would show an
    assessor which pairs are asked twice. So the server has a keyed hash (HMAC-SHA-256) of project and key, and two
    people's projects do not show that they hold the same pair either. Inside the program keys are as `pair_key` makes
    them.

    secrets: the first seals, all of them open: the study may have had others before it was restored. pairs: every
    (query_id, doc_id) that may be on a server.
    """

    def __init__(self, secrets: Sequence[str], pairs: Iterable[tuple[str, str]]) -> None:
        self._secrets = [bytes.fromhex(secret) for secret in secrets]
        self._pairs = list(pairs)
        self._keys_of = cache(self._sealed_keys)

    def sealed(self, project_id: int, task: studio_records.Payload) -> dict[str, object]:
        """The task as it is sent to that project."""
        key = _seal(self._secrets[0], project_id, task["data"][studio_records.KEY])
        return {**task, "data": {**task["data"], studio_records.KEY: key}}

    def opened(self, project_id: int, key: str) -> str:
        """The key that was sealed as `key` in that project. A key that is not ours, or was sent before keys were
        sealed, is returned as it is."""
        for occasion in OCCASIONS:
            if opened_key := self._keys_of(project_id, occasion).get(key):
                return opened_key
        return key

    def _sealed_keys(self, project_id: int, occasion: int) -> Mapping[str, str]:
        """Keys of all pairs, by their sealed form."""
        keys = [pair_key(*pair, occasion) for pair in self._pairs]
        return {_seal(secret, project_id, key): key for key in keys for secret in self._secrets}


def _seal(secret: bytes, project_id: int, key: str) -> str:
    return hmac.digest(secret, f"{project_id}/{key}".encode(), "sha256").hex()[:SEALED_LETTERS]
