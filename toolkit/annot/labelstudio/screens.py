"""Labelling screens and their instructions, and the check that a task shows nothing else."""

from __future__ import annotations

import html
import re
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Generic, Literal, NamedTuple, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, ValidationInfo, model_validator

from annot.base.errors import InputError, LeakError
from annot.base.names import counted
from annot.base.templating import converter, render
from annot.base.words import ENGLISH, Words
from annot.formats.input_files import in_words
from annot.labelstudio import studio_records
from annot.labelstudio.studio_records import KEY, Payload, Prediction, Screen
from annot.labelstudio.tasks import LABELS_FROM, place_pattern

# ----------------------------------------------------------------------------------------------------------------------
# The labelling configurations of the screens and their instructions, rendered and checked without a server.
# ----------------------------------------------------------------------------------------------------------------------


def screen_of(
    kind: Screen,
    *,
    scale_names: Sequence[str],
    labels: Sequence[str],
    language: str,
    overrides: Path | None,
    opinions: int = 0,
    published: bool = False,
    criteria: Mapping[str, Sequence[str]] | None = None,
    words: Words = ENGLISH,
) -> str:
    """The configuration of the screen of a kind. `overrides` is the study's `templates/`.

    `labels` are those that a sentence may be given, none if no facet is judged; `language` is the collection's
    (BCP 47); `opinions`: how many others' an adjudicator is shown (0 where the policy hides them), and 0 on the other
    screens.
    published: True if comments go into a release. criteria: by facet, the meaning of each grade in a few words.
    words: those of the screen, in the person's language.
    Raises InputError (template, line, cause) if a template does not render or does not hold.
    """
    from label_studio_sdk.label_interface import LabelInterface

    values: dict[str, Any] = {
        "controls": studio_records,
        "say": words,
        "reasons": studio_records.reasons(language),
        "label_keys": studio_records.label_keys(labels),
        "differences": studio_records.DIFFERENCES if labels else studio_records.DIFFERENCES_OF_WHOLES,
        "grades": [
            {"value": str(grade), "key": str(grade), "html": _grade_html(grade, words.name(name), criteria or {})}
            for grade, name in enumerate(scale_names)
        ],
        "criteria": sorted(criteria or {}),
        "opinions": list("abcdefghij"[:opinions]),
        "published": published,
    }
    template = f"{kind}.xml.j2"
    xml = render(template, values, overrides=overrides)
    try:
        LabelInterface(xml).validate()
    except Exception as error:  # the library raises many kinds, its own and lxml's
        raise InputError(
            f"{template}: not a valid labelling configuration: {error}", hint="correct the template"
        ) from None
    # Feedback shows grades, and asks for none.
    grades = None if kind in ("feedback", "facets") else [grade["value"] for grade in values["grades"]]
    faults = _faults(xml, grades=grades, labelled=bool(labels))
    if faults:
        raise InputError(f"{template}: the screen cannot be used", faults=faults, hint="correct the template")
    return xml


def _grade_html(grade: int, name: str, criteria: Mapping[str, Sequence[str]]) -> str:
    """The button of a grade: its number and name, and its meaning in each facet, of which the screen shows one."""
    meanings = (f'<i class="a-in-{facet}">{html.escape(words[grade])}</i>' for facet, words in sorted(criteria.items()))
    return f"<b>{grade}</b> {html.escape(name)}{''.join(meanings)}"


def check_predictions(xml: str, tasks: Sequence[Payload]) -> None:
    """Check the predictions of `tasks` against the screen: the server stores any. Raises InputError.

    `lint_tasks` has proved the form of every region. What it cannot know is whether the screen has that control with
    that label; of the regions that are alike in this, the first is checked.
    """
    from label_studio_sdk.label_interface import LabelInterface

    first: dict[tuple[Any, ...], tuple[str, Payload]] = {}
    for task in tasks:
        for region in (filled_in for prediction in task["predictions"] for filled_in in prediction["result"]):
            chosen = region["value"].get("labels") or region["value"]["choices"]
            like = (region["from_name"], region["to_name"], region["type"], *chosen)
            first.setdefault(like, (task["data"][KEY], region))
    interface: Any = LabelInterface(xml)
    faults = [
        f"{key}: {fault}"
        for key, region in first.values()
        for fault in interface.validate_prediction({"result": [region]}, True)
    ]
    if faults:
        raise InputError(f"{counted(len(faults), 'fault')} in the predictions", faults=faults)


def _faults(xml: str, *, grades: Sequence[str] | None, labelled: bool) -> list[str]:
    """Faults of a valid screen: missing controls that are read back, missing grades, keys used twice."""
    root = ET.fromstring(xml)
    named = {element.get("name"): element for element in root.iter() if element.get("name")}
    needed = (
        [studio_records.TEXT]
        + [studio_records.SENTENCE_LABEL] * labelled
        + [studio_records.RATING] * (grades is not None)
    )
    faults = [f"found no control named {name!r}" for name in needed if name not in named]
    if grades is not None and studio_records.RATING in named:
        values = [choice.get("value", "") for choice in named[studio_records.RATING].iter("Choice")]
        faults += [
            f"{studio_records.RATING}: found no choice {grade!r}, a grade of the scale"
            for grade in grades
            if grade not in values
        ]
        faults += [
            f"{studio_records.RATING}: the choice {value!r} is not a grade of the scale"
            for value in values
            if value not in (*grades, studio_records.CANNOT_JUDGE)
        ]
        if studio_records.CANNOT_JUDGE in values and studio_records.REASON not in named:
            faults.append(f"found no control named {studio_records.REASON!r} for {studio_records.CANNOT_JUDGE!r}")
    keys = Counter(element.get("hotkey") for element in root.iter() if element.get("hotkey"))
    return faults + [
        f"the key {key!r} is used for {count} choices, expected one" for key, count in keys.items() if count > 1
    ]


def instructions_html(
    pages: Sequence[str],
    *,
    scale_names: Sequence[str],
    labels: Sequence[str],
    language: str,
    screen: Screen,
    fold_after: int | None = None,
    words: Words = ENGLISH,
) -> str:
    """The guideline `pages` (Markdown, the task first) with a short table of the keys of that screen behind them.

    labels: of sentences, none if no facet is judged. fold_after: the words of a document after which it is folded,
    if any pair is judged whole. HTML inside the Markdown is shown as text, and a picture as a link to it.
    """
    values = {
        "scale_names": scale_names,
        "screen": screen,
        "controls": studio_records,
        "reasons": studio_records.reasons(language),
        "label_keys": studio_records.label_keys(labels),
        "differences": studio_records.DIFFERENCES if labels else studio_records.DIFFERENCES_OF_WHOLES,
        "fold_after": fold_after,
        "say": words,
    }
    return _bullets_as_text("\n".join([*_read(pages), render("keys.html.j2", values, overrides=None).strip()]))


def _read(pages: Sequence[str]) -> list[str]:
    """Markdown as HTML. Label Studio takes every picture out that is not on a server, so none can be embedded."""
    reader = converter(extensions=["tables", "sane_lists"], output_format="html")
    return [reader.reset().convert(page) for page in pages]


_BLOCK = re.compile(r"<(/?)(ol|ul|li|p|table|blockquote|h[1-6])>((?<=<li>)\s*<p>)?")
_GAP = '<br class="a-gap">'


def _bullets_as_text(page: str) -> str:
    """The HTML `page` with its numbers, bullets and gaps in the text itself.

    Label Studio's own style takes them from every page until the screen behind it is there with ours, and on a project
    without open tasks.
    """
    lists: list[int | None] = []
    depth = 0

    def marked(match: re.Match[str]) -> str:
        nonlocal depth
        closing, tag, paragraph = match[1], match[2], match[3] or ""
        # A paragraph right behind the tag of an item is one of its matches.
        depth += bool(paragraph)
        if tag == "li":
            if closing or not lists:
                return match[0]
            number = lists[-1]
            if number is not None:
                lists[-1] = number = number + 1
            return f"{match[0]}{'• ' if number is None else f'{number}. '}"
        depth += -1 if closing else 1
        if tag in ("ol", "ul"):
            if closing:
                lists.pop()
            else:
                lists.append(0 if tag == "ol" else None)
        return match[0] + (_GAP if closing and depth == 0 else "")

    return _BLOCK.sub(marked, page)


# ----------------------------------------------------------------------------------------------------------------------
# The proof before a push that a task carries everything that the assessor may see, and nothing else.
#
# Not a search for bad words: the form of everything is closed. Known keys only, texts only in the tags that `tasks`
# builds, progress and keys only in their one form; and in the fields that are neither the papers' own text nor
# a person's comment no method, account or pseudonym.
# ----------------------------------------------------------------------------------------------------------------------


_TEXT = "[^<>]*(?:<mark>[^<>]*</mark>[^<>]*)*"
_PLAIN = rf'(?:<p class="a-s">{_TEXT}</p>)*'
_ABOUT = r" a-is-[\w.+-]+(?: a-first)?"
_COLUMN = '<div class="a-text" tabindex="0" accesskey="[a-z]">'
_WHY = re.compile(r'<div class="a-returned"><p>([^<>]*)</p></div>$')
"""Words that a person wrote into the text: the reason why the pair comes again."""
_LANGUAGE = re.compile(
    r'(<(?:h2|p class="a-s(?: a-hit)?"|div class="a-none"|span|summary))(?: dir="auto" lang="[\w-]+")'
)
"""Languages where a task may have them; they are no part of the form."""


@cache
def _forms(words: Words) -> dict[str, re.Pattern[str]]:
    """Patterns of the parts of a task, by name, with these words around the texts. The names are those of `_formed`."""

    def pattern(key: str, **patterns: str) -> str:
        return words.pattern(f"task.{key}", in_html=True, **patterns)

    def any_of(*keys: str) -> str:
        return f"(?:{'|'.join(map(pattern, keys))})"

    none = f'<div class="a-none">{pattern("no_label", labels="[^<>]*")}</div>'
    labelled = "".join(
        rf'<div class="a-side a-{side}(?: a-fixed|(?: a-wants-[\w-]+)*)"><h2><span>{pattern(name)}</span> [^<>]*</h2>'
        rf'{none}{_COLUMN}(?:<p class="a-s(?: a-hit)?">[^<>]*</p>)*</div></div>'
        for side, name in (("query", "query"), ("cand", "candidate"))
    )

    def plain(side: str, heads: str, folded: str, summary: str) -> str:
        return (
            rf'<div class="a-side a-{side}"><h2><span>{heads}</span> {_TEXT}</h2>{_COLUMN}{_PLAIN}'
            rf'(?:<details class="a-{folded}"(?: open)?><summary accesskey="[a-z]">{summary}</summary>{_PLAIN}'
            "</details>)?</div></div>"
        )

    topic = plain("query", any_of("query", "topic"), "narrative", pattern("narrative"))
    document = plain("cand", any_of("candidate", "document"), "rest", pattern("rest", count=r"[\d.,\s]+"))
    by_full_text = f'<div class="a-none">{any_of("full_text", "full_text_of_paper")}</div>'
    left, right = (
        rf'<div class="a-side a-{side} a-fixed"><h2><span>{heads}</span> [^<>]*</h2>{by_full_text}'
        r'<div class="a-text"><p class="a-s">(?:<a href="https?://[^<>"\s]+" target="_blank" rel="noopener '
        r'noreferrer" accesskey="[a-z]">[^<>]*</a>|[^<>]*)</p></div></div>'
        for side, heads in (("query", pattern("query")), ("cand", any_of("candidate", "document")))
    )
    criteria = f'<details class="a-criteria"><summary accesskey="[a-z]">{pattern("grades")}</summary></details>'
    returned = rf'(?:<div class="a-returned"><p>{pattern("again")} [^<>]*</p></div>)?'
    pair = rf'<div class="a-pair(?:{_ABOUT}">{labelled}| a-whole{_ABOUT}">{topic}{document})</div>{criteria}{returned}'
    full_text = rf'<div class="a-pair(?: a-whole)?{_ABOUT}">(?:{topic}|{left}){right}</div>{criteria}'
    alone = (
        rf'<div class="a-pair a-alone"><div class="a-side a-query a-fixed"><h2><span>{pattern("abstract")}</span> '
        rf'[^<>]*</h2>{none}{_COLUMN}(?:<p class="a-s">[^<>]*</p>)*</div></div></div>'
    )
    opinion = rf"(?:\d .+|{words.pattern('task.could_not', reason='.+')})"
    patterns = {
        "pair": pair,
        # Grades that were given, on an adjudicator's tasks alone.
        "disputed": rf'{pair}(?:<div class="a-gave(?: a-gave-[0-9][a-j])*"></div>)?',
        "full-text": full_text,
        "alone": alone,
        "place": place_pattern(words),
        "place of a paper": words.pattern("task.place", position=r"\d+", count=r"\d+"),
        "opinion": rf"(?:rating_[a-j]\0(?:{opinion}|{words.pattern('task.did_not')})|comment_[a-j]\0.*)",
        "own opinion": opinion,
        "gold": r"\d .+",
    }
    return {name: re.compile(pattern, re.DOTALL if name == "opinion" else 0) for name, pattern in patterns.items()}


class _Shown(NamedTuple):
    """Context in which a task is checked: the labels of the study, and the words around the texts."""

    labels: Sequence[str] = ()
    words: Words = ENGLISH


def _formed(name: str) -> AfterValidator:
    """Check of a field against the pattern of this name."""

    def check(text: str, info: ValidationInfo) -> str:
        shown = info.context or _Shown()
        if not _forms(shown.words)[name].fullmatch(_LANGUAGE.sub(r"\1", text)):
            raise ValueError(f"found {text[:60]!r}, expected the form of a task")
        return text

    return AfterValidator(check)


_FILE = re.compile(r'<div class="a-text"><p class="a-s">([^<>]+)</p>')
"""The name of a file that is no link."""
_WANTED = re.compile(r" a-wants-([\w-]+)(?=[^<>]*><h2>)")
"""Sentence label that the class of a text on the screen asks for; texts are escaped, so none can look like it."""


def _label_of_study(label: str, info: ValidationInfo) -> str:
    labels = (info.context or _Shown()).labels
    if label not in labels:
        raise ValueError(f"found label {label!r}, expected one of {', '.join(labels)}")
    return label


def _labels_of_study(text: str, info: ValidationInfo) -> str:
    for label in _WANTED.findall(text):
        _label_of_study(label, info)
    return text


class _Closed(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class _Passage(_Closed):
    start: str
    end: str
    startOffset: int  # noqa: N815
    endOffset: int  # noqa: N815
    text: str
    labels: list[Annotated[str, AfterValidator(_label_of_study)]]


class _Region(_Closed):
    id: str
    from_name: Literal["sentence_label"]
    to_name: Literal["pair"]
    type: Literal["labels"]
    value: _Passage


class _Prediction(_Closed):
    model_version: str = Field(pattern=r"^[a-z][a-z0-9.-]{0,60}$")
    result: list[_Region]


class _Chosen(_Closed):
    choices: list[Literal["reason_needed", "cause_needed"]]


class _Need(_Closed):
    id: str
    from_name: Literal["reason_needed", "cause_needed"]
    to_name: Literal["pair"]
    type: Literal["choices"]
    value: _Chosen


class _DisputedPrediction(_Prediction):
    result: list[_Region | _Need]  # type: ignore[assignment]


class _Data(_Closed):
    pair_id: str = Field(pattern=r"^[^/]+/[^/]+(/[2-9])?$")
    facet: str
    facet_help: str = Field(max_length=140)
    progress: Annotated[str, _formed("place")]
    pair_html: Annotated[str, _formed("pair"), AfterValidator(_labels_of_study)]


class _DisputedData(_Data):
    model_config = ConfigDict(extra="allow")
    pair_html: Annotated[str, _formed("disputed"), AfterValidator(_labels_of_study)]
    __pydantic_extra__: dict[str, str]

    @model_validator(mode="after")
    def _opinions_have_their_form(self, info: ValidationInfo) -> _DisputedData:
        form = _forms((info.context or _Shown()).words)["opinion"]
        for name, text in self.__pydantic_extra__.items():
            if not form.fullmatch(f"{name}\0{text}"):
                raise ValueError(f"{name}: found {text[:60]!r}, expected only ratings and comments in their form")
        return self


class _FullTextData(_Data):
    pair_html: Annotated[str, _formed("full-text")]


class _LabelsData(_Data):
    progress: Annotated[str, _formed("place of a paper")]
    pair_html: Annotated[str, _formed("alone")]


class _FeedbackData(_Data):
    rating_own: Annotated[str, _formed("own opinion")]
    comment_own: str
    rating_gold: Annotated[str, _formed("gold")]
    comment_gold: str


D = TypeVar("D", bound=_Data)


class _Task(_Closed, Generic[D]):
    data: D
    predictions: list[_Prediction] = []

    def texts(self) -> Iterator[tuple[str, str]]:
        """Texts that are neither a paper's text nor a comment; ids, which are never shown, may hold any word."""
        for name, text in self.data:
            if name not in ("pair_id", "pair_html") and not name.startswith("comment_"):
                yield f"data.{name}", text
        for why in _WHY.findall(self.data.pair_html):
            yield "the reason for returning the pair", why
        # A link leads to public texts.
        for name in _FILE.findall(self.data.pair_html):
            yield "the place of a full text", html.unescape(name)
        for prediction in self.predictions:
            yield "prediction.model_version", prediction.model_version


class _DisputedTask(_Task[_DisputedData]):
    predictions: list[_DisputedPrediction] = []  # type: ignore[assignment]

    @model_validator(mode="after")
    def _needs_tell_of_grades_that_are_shown(self) -> _DisputedTask:
        needs = any(isinstance(region, _Need) for filled_in in self.predictions for region in filled_in.result)
        if needs and not self.data.__pydantic_extra__:
            raise ValueError("found a mark of grades far apart on a task that shows no grades")
        return self


class _FullTextTask(_Task[_FullTextData]):
    predictions: list[_Prediction] = Field(default=[], max_length=0)


_TASKS: dict[Screen, type[_Task[Any]]] = {
    "judge": _Task[_Data],
    "adjudicate": _DisputedTask,
    "full-text": _FullTextTask,
    "feedback": _Task[_FeedbackData],
    "facets": _Task[_LabelsData],
}


def written_on(task: Payload) -> Iterator[str]:
    """Words of the lead that a task shows: the line above the pair, and the reason why the pair comes again."""
    data = task["data"]
    yield data["facet_help"]
    yield from map(html.unescape, _WHY.findall(data["pair_html"]))


def is_prediction_of_ours(prediction: Prediction, *, screen: Screen, labels: Sequence[str]) -> bool:
    """True if a prediction has labels of sentences only, and for an adjudicator the mark that a reason is needed: no
    grade, score or other words."""
    if prediction.model_version != LABELS_FROM or prediction.score is not None:
        return False
    filled_in = {"model_version": prediction.model_version, "result": [*prediction.result]}
    try:
        (_DisputedPrediction if screen == "adjudicate" else _Prediction).model_validate(
            filled_in, context=_Shown(labels)
        )
    except ValidationError:
        return False
    return True


def named_in(text: str, words: Collection[str]) -> list[str]:
    """Words that are in a text, in capitals or not."""
    return [word for word in words if word and _pattern(re.escape(word)).search(text)]


@cache
def _pattern(words: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{words})(?!\w)", re.IGNORECASE)


def lint_tasks(
    tasks: Sequence[Payload],
    *,
    screen: Screen,
    labels: Sequence[str],
    private: Collection[str],
    words: Words = ENGLISH,
) -> None:
    """Raise LeakError, with every fault, if a task carries more than its screen may show.

    `labels` are those that sentences may have, `words` those around the texts.
    `private` are the words that must not appear outside the papers' text and the assessors' comments: names of methods,
    accounts, pseudonyms.
    """
    private_words = tuple(filter(None, private))
    # One search for all: hardly a text names any.
    any_word = _pattern("|".join(map(re.escape, private_words)))
    model = _TASKS[screen]
    faults: list[str] = []
    for task in tasks:
        name = str(task["data"]["pair_id"])
        try:
            texts = list(model.model_validate(task, context=_Shown(labels, words)).texts())
        except ValidationError as error:
            faults += [f"{name}: {fault}" for fault in in_words(error)]
            continue
        faults += [
            f"{name}: {where} names {word!r}"
            for where, text in texts
            if private_words and any_word.search(text)
            for word in named_in(text, private_words)
        ]
    if faults:
        raise LeakError(
            f"{counted(len(faults), 'fault')}: tasks would show what assessors must not see; nothing was sent",
            faults=faults,
        )
