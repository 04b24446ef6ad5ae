"""The proof before a push that a task carries what the assessor may see, and nothing else.

Not a search for bad words: the form of everything is closed. Known keys only, texts only in the tags that `tasks`
builds, progress and keys only in their one form; and in the fields that are neither the papers' own text nor somebody's
comment no method, account or pseudonym.
"""

from __future__ import annotations

import html
import re
from collections.abc import Collection, Iterator, Sequence
from functools import cache
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, ValidationInfo, model_validator

from annot.base.errors import LeakError
from annot.base.names import counted
from annot.formats.json_lines import in_words
from annot.labelstudio.controls import Screen
from annot.labelstudio.studio_records import Payload, Prediction
from annot.labelstudio.tasks import LABELS_FROM, PLACE

_OPINION = re.compile(r"(?:rating_[a-j]\0(?:\d .+|Could not judge: .+|Did not judge)|comment_[a-j]\0.*)", re.DOTALL)
"""The name of a field, and what may stand in it."""
_SIDES = (("query", "Query"), ("cand", "Candidate"))
_LABELLED = "".join(
    rf'<div class="a-side a-{side}(?: a-fixed|(?: a-wants-[\w-]+)*)"><h2><span>{name}</span> [^<>]*</h2>'
    r'<div class="a-none">[^<>]*</div><div class="a-text" tabindex="0" accesskey="[a-z]">'
    r'(?:<p class="a-s(?: a-hit)?">[^<>]*</p>)*</div></div>'
    for side, name in _SIDES
)
_ABOUT = r" a-is-[\w.+-]+(?: a-first)?"
_CRITERIA = '<details class="a-criteria"><summary accesskey="[a-z]">Grades</summary></details>'
_TEXT = "[^<>]*(?:<mark>[^<>]*</mark>[^<>]*)*"
_PLAIN = rf'(?:<p class="a-s">{_TEXT}</p>)*'
_TOPIC, _DOCUMENT = (
    rf'<div class="a-side a-{side}"><h2><span>(?:{name}|{of_text})</span> {_TEXT}</h2>'
    rf'<div class="a-text" tabindex="0" accesskey="[a-z]">{_PLAIN}'
    rf'(?:<details class="a-{folded}"(?: open)?><summary accesskey="[a-z]">[^<>]*</summary>{_PLAIN}</details>)?'
    "</div></div>"
    for (side, name), of_text, folded in zip(_SIDES, ("Topic", "Document"), ("narrative", "rest"), strict=True)
)
_HTML = (
    rf'^<div class="a-pair(?:{_ABOUT}">{_LABELLED}| a-whole{_ABOUT}">{_TOPIC}{_DOCUMENT})</div>{_CRITERIA}'
    r'(?:<div class="a-returned"><p>[^<>]*</p></div>)?'
)
_GAVE = '(?:<div class="a-gave(?: a-gave-[0-9][a-j])*"></div>)?'
"""Which grades were given: on an adjudicator's tasks alone."""
_WHY = re.compile(r'<div class="a-returned"><p>([^<>]*)</p></div>$')
"""What a person wrote into the text: why the pair comes again."""
_ALONE = (
    '^<div class="a-pair a-alone"><div class="a-side a-query a-fixed"><h2><span>Abstract</span> [^<>]*</h2>'
    r'<div class="a-none">[^<>]*</div><div class="a-text" tabindex="0" accesskey="[a-z]">'
    r'(?:<p class="a-s">[^<>]*</p>)*</div></div></div>$'
)
_FULL_TEXT_SIDES = [
    rf'<div class="a-side a-{side} a-fixed"><h2><span>{name}</span> [^<>]*</h2><div class="a-none">[^<>]*</div>'
    r'<div class="a-text"><p class="a-s">(?:<a href="https?://[^<>"\s]+" target="_blank" rel="noopener '
    r'noreferrer" accesskey="[a-z]">[^<>]*</a>|[^<>]*)</p></div></div>'
    for side, name in (("query", "Query"), ("cand", "(?:Candidate|Document)"))
]
_FULL_TEXT_HTML = (
    rf'^<div class="a-pair(?: a-whole)?{_ABOUT}">(?:{_TOPIC}|{_FULL_TEXT_SIDES[0]}){_FULL_TEXT_SIDES[1]}</div>'
    rf"{_CRITERIA}$"
)
_FILE = re.compile(r'<div class="a-text"><p class="a-s">([^<>]+)</p>')
"""The name of a file that is no link."""
_WANTED = re.compile(r" a-wants-([\w-]+)(?=[^<>]*><h2>)")
"""A label in the class of a side; text has no quotation mark or angle bracket of its own."""


def _label_of_study(label: str, info: ValidationInfo) -> str:
    known = info.context or ()
    if label not in known:
        raise ValueError(f"found label {label!r}, expected one of {', '.join(known)}")
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
    progress: str = Field(pattern=rf"^{PLACE}$")
    pair_html: Annotated[str, Field(pattern=f"{_HTML}$"), AfterValidator(_labels_of_study)]


class _DisputedData(_Data):
    model_config = ConfigDict(extra="allow")
    pair_html: Annotated[str, Field(pattern=f"{_HTML}{_GAVE}$"), AfterValidator(_labels_of_study)]
    __pydantic_extra__: dict[str, str]

    @model_validator(mode="after")
    def _opinions_have_their_form(self) -> _DisputedData:
        for name, text in self.__pydantic_extra__.items():
            if not _OPINION.fullmatch(f"{name}\0{text}"):
                raise ValueError(f"{name}: found {text[:60]!r}, expected only ratings and comments in their form")
        return self


class _FullTextData(_Data):
    pair_html: str = Field(pattern=_FULL_TEXT_HTML)


class _FeedbackData(_Data):
    rating_own: str = Field(pattern=r"^(?:\d .+|Could not judge: .+)$")
    comment_own: str
    rating_gold: str = Field(pattern=r"^\d .+$")
    comment_gold: str


class _JudgeTask(_Closed):
    data: _Data
    predictions: list[_Prediction] = []

    def texts(self) -> Iterator[tuple[str, str]]:
        """What is shown that is neither a paper's text nor a comment; ids are shown to nobody, and hold any word."""
        for name, text in self.data:
            if name not in ("pair_id", "pair_html") and not name.startswith("comment_"):
                yield f"data.{name}", text
        for why in _WHY.findall(self.data.pair_html):
            yield "the reason for returning the pair", why
        for prediction in self.predictions:
            yield "prediction.model_version", prediction.model_version


class _DisputedTask(_JudgeTask):
    data: _DisputedData
    predictions: list[_DisputedPrediction] = []  # type: ignore[assignment]

    @model_validator(mode="after")
    def _needs_tell_of_grades_that_are_shown(self) -> _DisputedTask:
        needs = any(isinstance(region, _Need) for filled_in in self.predictions for region in filled_in.result)
        if needs and not self.data.__pydantic_extra__:
            raise ValueError("found a mark of grades far apart on a task that shows no grades")
        return self


class _FullTextTask(_JudgeTask):
    data: _FullTextData
    predictions: list[_Prediction] = Field(default=[], max_length=0)

    def texts(self) -> Iterator[tuple[str, str]]:
        """What all tasks show, and the names of files; a link leads to what everybody can find."""
        yield from super().texts()
        for where in _FILE.findall(self.data.pair_html):
            yield "the place of a full text", html.unescape(where)


class _FeedbackTask(_JudgeTask):
    data: _FeedbackData


class _LabelsData(_Data):
    progress: str = Field(pattern=r"^\d+ of \d+$")
    pair_html: str = Field(pattern=_ALONE)


class _LabelsTask(_JudgeTask):
    data: _LabelsData


_TASKS: dict[Screen, type[_JudgeTask]] = {
    "judge": _JudgeTask,
    "adjudicate": _DisputedTask,
    "full-text": _FullTextTask,
    "feedback": _FeedbackTask,
    "facets": _LabelsTask,
}


def written_on(task: Payload) -> Iterator[str]:
    """What the lead wrote that a task shows: the line above the pair, and why the pair comes again."""
    data = task["data"]
    yield data["facet_help"]
    yield from map(html.unescape, _WHY.findall(data["pair_html"]))


def is_prediction_of_ours(prediction: Prediction, *, screen: Screen, labels: Sequence[str]) -> bool:
    """Whether only labels of sentences are filled in on a task, and for an adjudicator that a reason is needed: no
    grade, score or other words."""
    if prediction.model_version != LABELS_FROM or prediction.score is not None:
        return False
    told = {"model_version": prediction.model_version, "result": [*prediction.result]}
    try:
        (_DisputedPrediction if screen == "adjudicate" else _Prediction).model_validate(told, context=labels)
    except ValidationError:
        return False
    return True


def named_in(text: str, words: Collection[str]) -> list[str]:
    """Those of the words that stand in a text, in capitals or not."""
    return [word for word in words if word and _pattern(re.escape(word)).search(text)]


@cache
def _pattern(words: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{words})(?!\w)", re.IGNORECASE)


def lint_tasks(tasks: Sequence[Payload], *, screen: Screen, labels: Sequence[str], private: Collection[str]) -> None:
    """Raise LeakError, with every fault, if a task carries more than its screen may show.

    `labels` are those that sentences may have.
    `private` are the words that must not appear outside the papers' text and the assessors' comments: names of methods,
    accounts, pseudonyms.
    """
    words = tuple(filter(None, private))
    # One search for all: hardly a text names any.
    any_word = _pattern("|".join(map(re.escape, words)))
    model = _TASKS[screen]
    faults: list[str] = []
    for task in tasks:
        name = str(task["data"]["pair_id"])
        try:
            texts = list(model.model_validate(task, context=labels).texts())
        except ValidationError as error:
            faults += [f"{name}: {fault}" for fault in in_words(error)]
            continue
        faults += [
            f"{name}: {where} names {word!r}"
            for where, text in texts
            if words and any_word.search(text)
            for word in named_in(text, words)
        ]
    if faults:
        raise LeakError(
            f"{counted(len(faults), 'fault')}: tasks would show what assessors must not see; nothing was sent",
            faults=faults,
        )
