"""The proof before a push that a task carries what the assessor may see, and nothing else.

Not a search for bad words: the form of everything is closed. Known keys only, texts only in the tags that `tasks`
builds, progress and keys only in their one form; and in the fields that are not the papers' own text no method, account
or pseudonym.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal

from annot.errors import LeakError
from annot.labelstudio.controls import SENTENCE_LABEL, TEXT
from annot.labelstudio.studio_records import Payload
from annot.records import LABELS

_DATA = {"pair_id", "facet", "facet_help", "progress", "pair_html"}
_OPINION = re.compile(r"(rating|comment)_[a-j]")
_REGION = {"id", "from_name", "to_name", "type", "value"}
_VALUE = {"start", "end", "startOffset", "endOffset", "text", "labels"}
_PROGRESS = re.compile(r"\d+ of \d+ · query \d+, candidate \d+ of \d+")
_KEY = re.compile(r"[^/]+/[^/]+(/[2-9])?")
_MODEL = re.compile(r"[a-z][a-z0-9.-]{0,60}")
_RATING = re.compile(r"\d .+|Could not judge: .+|Did not judge", re.DOTALL)
_LABEL = "|".join(LABELS)
_HTML = re.compile(
    r'<div class="a-pair">'
    + "".join(
        rf'<div class="a-side a-{side}(?: a-fixed|(?: a-wants-(?:{_LABEL}))*)"><h2><span>{name}</span> [^<>]*</h2>'
        r'<div class="a-none">[^<>]*</div><div class="a-text">(?:<p class="a-s(?: a-hit)?">[^<>]*</p>)*</div></div>'
        for side, name in (("query", "Query"), ("cand", "Candidate"))
    )
    + "</div>"
)


def lint_tasks(tasks: Sequence[Payload], *, screen: Literal["judge", "adjudicate"], private: Collection[str]) -> None:
    """Raise LeakError, with every fault, where a task carries more than its screen may show.

    `private` are the words that must not appear outside the papers' text and the assessors' comments: names of methods,
    accounts, pseudonyms.
    """
    words = [(word, re.compile(rf"(?<!\w){re.escape(word)}(?!\w)", re.IGNORECASE)) for word in private if word]
    faults: list[str] = []
    for number, task in enumerate(tasks, start=1):
        data = task.get("data")
        name = str(data.get("pair_id")) if isinstance(data, dict) else f"task {number}"
        faults += [f"{name}: {fault}" for fault in _faults(task, screen, words)]
    if faults:
        raise LeakError(
            f"{len(faults)} fault(s): tasks would show what assessors must not see; nothing was sent", faults=faults
        )


def _faults(task: Payload, screen: str, words: Sequence[tuple[str, re.Pattern[str]]]) -> list[str]:
    data = task.get("data")
    if not isinstance(data, dict):
        return ["no data"]
    faults = _closed("task", task, {"data", "predictions"})
    faults += [f"data.{key} is missing" for key in sorted(_DATA - data.keys())]
    for key, value in data.items():
        opinion = _OPINION.fullmatch(key)
        if key not in _DATA and not (opinion and screen == "adjudicate"):
            faults.append(f"data.{key} is not a field of the {screen} screen")
        elif not isinstance(value, str):
            faults.append(f"data.{key} is not text")
        elif not _has_form(key, value):
            faults.append(f"data.{key} does not have its form, found {value[:80]!r}")
        elif key != "pair_html" and not key.startswith("comment_"):
            # Ids may hold any word: a paper's id is shown to nobody but stands in the key.
            faults += [] if key == "pair_id" else _spoken(f"data.{key}", value, words)
    predictions = task.get("predictions", [])
    if not isinstance(predictions, list):
        return [*faults, "predictions is not a list"]
    for prediction in predictions:
        faults += _prediction_faults(prediction, words)
    return faults


def _prediction_faults(prediction: Any, words: Sequence[tuple[str, re.Pattern[str]]]) -> list[str]:
    if not isinstance(prediction, dict):
        return ["a prediction is not an object"]
    faults = _closed("prediction", prediction, {"model_version", "result"})
    version = prediction.get("model_version")
    if not isinstance(version, str) or not _MODEL.fullmatch(version):
        faults.append(f"prediction.model_version does not have its form, found {version!r}")
    else:
        faults += _spoken("prediction.model_version", version, words)
    for region in prediction.get("result", ()):
        faults += _closed("region", region, _REGION)
        if (region.get("from_name"), region.get("to_name"), region.get("type")) != (SENTENCE_LABEL, TEXT, "labels"):
            faults.append(f"a prediction for {region.get('from_name')!r}: only sentence labels are filled in")
        else:
            faults += _closed("region.value", region["value"], _VALUE)
            if not all(label in LABELS for label in region["value"].get("labels", ())):
                faults.append(f"region {region.get('id')}: unknown label")
    return faults


def _closed(what: str, value: Mapping[str, Any], known: Collection[str]) -> list[str]:
    return [f"{what} carries {key!r}" for key in value if key not in known]


def _has_form(key: str, value: str) -> bool:
    if key == "pair_html":
        return _HTML.fullmatch(value) is not None
    if key == "progress":
        return _PROGRESS.fullmatch(value) is not None
    if key == "pair_id":
        return _KEY.fullmatch(value) is not None
    if key.startswith("rating_"):
        return _RATING.fullmatch(value) is not None
    return key != "facet_help" or len(value) <= 140


def _spoken(where: str, value: str, words: Sequence[tuple[str, re.Pattern[str]]]) -> list[str]:
    return [f"{where} names {word!r}" for word, pattern in words if pattern.search(value)]
