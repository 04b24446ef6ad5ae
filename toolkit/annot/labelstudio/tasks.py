"""Pairs as Label Studio tasks: pure functions from texts to the dicts that are sent.

A task carries what the assessor sees and nothing else. All text is escaped; the only tags are `div`, `h2`, `span` and
`p`. The sentences' labels travel as predictions (regions of the text), so that they can be corrected; a grade is never
filled in.
"""

from __future__ import annotations

import hmac
import html
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import unquote

from annot.base.records import Asked, Judgement, Paper, Query
from annot.labelstudio.controls import COLUMN_KEYS, SENTENCE_LABEL, TEXT
from annot.labelstudio.studio_records import KEY, Payload

LABELS_FROM = "sentence-labels"
"""Named as the predictions' model: one word for every origin, since the origin is none of the assessor's business."""
SEALED_LETTERS = 24
"""Hexadecimal digits of a sealed key: 96 bits."""

OCCASIONS = range(1, 10)
"""How often one person may be asked one pair."""
ASKED_AGAIN = "Please judge this pair once more."
"""What stands before the reason on a pair that was returned."""
LAST_FOR_NOW = ", the last for now"
"""What the last task of a person says behind `83 of 83`: Label Studio's own words at the end cannot be changed."""
LABELS_SHOWN = "labels"
"""What stands for the facet on the screen where labels are corrected."""

HOW_TO_CORRECT = (
    "To correct a label, click its sentence (or press Alt and full stop), then press the right label's key. "
    "Deleting one changes nothing."
)


def pair_key(query_id: str, doc_id: str, occasion: int = 1) -> str:
    """The key of a task on the server: `query_id/doc_id`, with `/` and `%` inside an id escaped.

    A hidden repeat has `/2` behind it.
    """
    key = f"{_escape_id(query_id)}/{_escape_id(doc_id)}"
    return key if occasion == 1 else f"{key}/{occasion}"


def split_key(key: str) -> Asked:
    """What `pair_key` stands for."""
    query_id, doc_id, *occasion = key.split("/")
    return Asked(unquote(query_id), unquote(doc_id), *map(int, occasion))


def judge_task(
    *,
    asked: Asked,
    query: Query,
    query_paper: Paper,
    candidate: Paper,
    facet_help: str,
    facet_labels: Sequence[str],
    progress: str,
) -> dict[str, Any]:
    """The task in which one assessor judges one pair.

    `query_paper` and `candidate` carry the label of each sentence. `facet_help` is the facet's definition in at most
    140 characters, for the bar; `facet_labels` are the sentence labels that make the facet. `progress` tells where the
    task stands: `37 of 300 · query 4, candidate 7 of 30`.
    """
    by_label = tuple(index for index, label in enumerate(query_paper.labels or ()) if label in facet_labels)
    chosen = query.sentences if query.sentences != by_label else None
    sides = (
        _side("query", "Query", query_paper, query.facet, facet_labels, chosen),
        _side("cand", "Candidate", candidate, query.facet, facet_labels, None),
    )
    regions = [*_regions("query", query_paper, column=1), *_regions("cand", candidate, column=2)]
    return {
        "data": {
            "pair_id": pair_key(*asked),
            "facet": query.facet,
            "facet_help": facet_help,
            "progress": progress,
            "pair_html": f'<div class="a-pair">{"".join(sides)}</div>',
        },
        "predictions": [{"model_version": LABELS_FROM, "result": regions}],
    }


def adjudicate_task(
    task: dict[str, Any], opinions: Sequence[Judgement], *, scale_names: Sequence[str]
) -> dict[str, Any]:
    """`task` (of `judge_task`) with what the assessors said, unnamed, in the order given: the caller shuffles them.

    With the policy `hidden` an adjudicator gets the plain task.
    """
    shown = {}
    for letter, opinion in zip("abcdefghij", opinions, strict=False):
        shown[f"rating_{letter}"] = opinion_text(opinion, scale_names)
        shown[f"comment_{letter}"] = comment_text(opinion.comment)
    return {**task, "data": {**task["data"], **shown}}


def full_text_task(
    task: dict[str, Any], query_paper: Paper, candidate: Paper, where: Mapping[str, str]
) -> dict[str, Any]:
    """`task` (of `judge_task`) with the place of each full text instead of the abstract, and without its labels.

    where: by `paper_id` a link (http or https), or a file's name as the assessor knows it.
    """
    sides = (
        _full_text_side(side, heading, paper, where[paper.paper_id])
        for side, heading, paper in (("query", "Query", query_paper), ("cand", "Candidate", candidate))
    )
    data = {**task["data"], "pair_html": f'<div class="a-pair">{"".join(sides)}</div>'}
    return {"data": data, "predictions": []}


def feedback_task(
    task: dict[str, Any], answer: Judgement, *, gold: int, why: str, scale_names: Sequence[str]
) -> dict[str, Any]:
    """`task` (of `judge_task`) with what the assessor in training said, the gold grade and why it is that."""
    shown = {
        "rating_own": opinion_text(answer, scale_names),
        "comment_own": comment_text(answer.comment),
        "rating_gold": f"{gold} {scale_names[gold]}",
        "comment_gold": _clean(why) or "no reason given",
    }
    return {**task, "data": {**task["data"], **shown}}


def returned_task(task: dict[str, Any], why: str) -> dict[str, Any]:
    """`task` (of `judge_task`) put before its assessor again: the reason stands above the pair, no earlier answer."""
    # After the two columns, where it changes no place in them; the style sheet shows it above.
    asked = f'<div class="a-returned"><p>{_text(f"{ASKED_AGAIN} {why}")}</p></div>'
    return {**task, "data": {**task["data"], "pair_html": task["data"]["pair_html"] + asked}}


def facets_task(key: str, paper: Paper, *, progress: str) -> dict[str, Any]:
    """The task in which one person corrects the labels of a paper's sentences; `progress` is such as `2 of 9`."""
    side = _side("query", "Abstract", paper, LABELS_SHOWN, (), ())
    return {
        "data": {
            "pair_id": key,
            "facet": LABELS_SHOWN,
            "facet_help": HOW_TO_CORRECT,
            "progress": progress,
            "pair_html": f'<div class="a-pair a-alone">{side}</div>',
        },
        "predictions": [{"model_version": LABELS_FROM, "result": _regions("query", paper, column=1)}],
    }


def opinions_in(data: Mapping[str, Any]) -> dict[str, Any]:
    """What a task's data show of the assessors: empty where they show nothing."""
    return {name: value for name, value in data.items() if name.startswith(("rating_", "comment_"))}


def opinion_text(opinion: Judgement, scale_names: Sequence[str]) -> str:
    """`1 Related`, or why it could not be judged."""
    if opinion.grade is None:
        return f"Could not judge: {opinion.cannot_judge}" if opinion.cannot_judge else "Did not judge"
    return f"{opinion.grade} {scale_names[opinion.grade]}"


def comment_text(comment: str | None) -> str:
    """A comment as it is shown to another person."""
    return _clean(comment or "") or "no comment"


def _side(
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
        f'<p class="{"a-s a-hit" if index in marked else "a-s"}">{_text(sentence)}</p>'
        for index, sentence in enumerate(paper.sentences)
    )
    return (
        f'<div class="a-side a-{side}{wants}"><h2><span>{heading}</span> {_text(paper.title)}</h2>'
        f'<div class="a-none">No sentence here is labelled {_text(" or ".join(facet_labels) or facet)}.</div>'
        f'<div class="a-text" tabindex="0" accesskey="{COLUMN_KEYS[side]}">{sentences}</div></div>'
    )


def _full_text_side(side: str, heading: str, paper: Paper, where: str) -> str:
    """One column: where the full text is. The key of the column opens it where it is a link."""
    shown = _text(where)
    key = COLUMN_KEYS[side]
    link = f'<a href="{shown}" target="_blank" rel="noopener noreferrer" accesskey="{key}">{shown}</a>'
    return (
        f'<div class="a-side a-{side} a-fixed"><h2><span>{heading}</span> {_text(paper.title)}</h2>'
        '<div class="a-none">Judge by the full text, not by the abstract.</div>'
        f'<div class="a-text"><p class="a-s">{link if is_link(where) else shown}</p></div></div>'
    )


def is_link(where: str) -> bool:
    """Whether a browser can open it from the screen."""
    return re.fullmatch(r"https?://[^\s\"'<>]+", where) is not None


def _regions(side: str, paper: Paper, *, column: int) -> list[dict[str, Any]]:
    """The labelled sentences as regions; offsets count UTF-16 units, as browsers do."""
    regions = []
    for index, (sentence, label) in enumerate(zip(paper.sentences, paper.labels or (), strict=True)):
        cleaned = _clean(sentence)
        if not cleaned:
            continue
        node = f"/div[1]/div[{column}]/div[2]/p[{index + 1}]/text()[1]"
        regions.append(
            {
                "id": f"{side}-{index}",
                "from_name": SENTENCE_LABEL,
                "to_name": TEXT,
                "type": "labels",
                "value": {
                    "start": node,
                    "end": node,
                    "startOffset": 0,
                    "endOffset": len(cleaned.encode("utf-16-le")) // 2,
                    "text": cleaned,
                    "labels": [label],
                },
            }
        )
    return regions


_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f]")


def _text(text: str) -> str:
    return html.escape(_clean(text))


def _clean(text: str) -> str:
    """`text` with runs of whitespace and unprintable control characters as one space: what an HTML parser leaves."""
    if text.isprintable() and "  " not in text:
        # The usual text; of all that is whitespace or a control, only the space is printable.
        return text.strip(" ")
    kept = _CONTROLS.sub(" ", text)
    return " ".join(kept.encode("utf-8", "replace").decode("utf-8").split())


def _escape_id(identifier: str) -> str:
    return identifier.replace("%", "%25").replace("/", "%2F")


class TaskKeys:
    """The keys of a study's tasks on any server, which tell nothing.

    Label Studio shows every field of a task in a column of its data manager. A key that names the pair shows an
    assessor which pairs are asked twice. On the server stands a keyed hash (HMAC-SHA-256) of project and key, so that
    two people's projects do not show that they hold the same pair either. Inside the program keys stay what `pair_key`
    makes.

    secrets: the first seals, all of them open: a study that was put together again has had others before.
    pairs: (query_id, doc_id) of everything that may stand on a server.
    """

    def __init__(self, secrets: Sequence[str], pairs: Iterable[tuple[str, str]]) -> None:
        self._secrets = [bytes.fromhex(secret) for secret in secrets]
        self._pairs = list(pairs)
        self._opened: dict[tuple[int, int], Mapping[str, str]] = {}

    def sealed(self, project_id: int, task: Payload) -> dict[str, object]:
        """The task as it is sent to that project."""
        key = _seal(self._secrets[0], project_id, task["data"][KEY])
        return {**task, "data": {**task["data"], KEY: key}}

    def opened(self, project_id: int, key: str) -> str:
        """What `key` stands for in that project. A key that is not ours, or was sent before keys were sealed, stays."""
        for occasion in OCCASIONS:
            if found := self._keys_of(project_id, occasion).get(key):
                return found
        return key

    def _keys_of(self, project_id: int, occasion: int) -> Mapping[str, str]:
        """The keys of all pairs, by what they are sealed as; made when they are first asked for."""
        if (project_id, occasion) not in self._opened:
            self._opened[project_id, occasion] = {
                _seal(secret, project_id, known): known
                for known in (pair_key(*pair, occasion) for pair in self._pairs)
                for secret in self._secrets
            }
        return self._opened[project_id, occasion]


def _seal(secret: bytes, project_id: int, key: str) -> str:
    return hmac.digest(secret, f"{project_id}/{key}".encode(), "sha256").hex()[:SEALED_LETTERS]
