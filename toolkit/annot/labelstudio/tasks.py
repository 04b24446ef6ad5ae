"""Pairs as Label Studio tasks: pure functions from texts to the dicts that are sent.

A task carries what the assessor sees and nothing else; `columns` makes the HTML of the pair. The sentences' labels
travel as predictions (regions of the text), so that they can be corrected; a grade is never filled in.
"""

from __future__ import annotations

import hmac
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import unquote

from annot.base.records import Adjudication, Asked, Judgement, Paper, Query, Topic
from annot.labelstudio.columns import (
    Layout,
    cleaned,
    escaped,
    full_text_column,
    gave,
    labelled_column,
    pair,
    topic_column,
    whole_pair,
    words_of,
)
from annot.labelstudio.controls import CAUSE_NEEDED, REASON_NEEDED, SENTENCE_LABEL, TEXT
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
PLACE = rf"\d+ of \d+(?:{LAST_FOR_NOW})? · (?:query \d+, candidate|topic \d+, document) \d+ of \d+"
"""The form in which a task says where it stands."""
LABELS_SHOWN = "labels"
"""What stands for the facet on the screen where labels are corrected."""

HOW_TO_CORRECT = (
    "To correct a label, click its sentence (or press Alt and full stop), then press the right label's key. "
    "Do not delete labels."
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
    topic: Paper | Topic,
    document: Paper,
    facet_help: str,
    facet_labels: Sequence[str],
    progress: str,
    layout: Layout,
) -> dict[str, Any]:
    """The task in which one assessor judges one pair.

    `facet_help` is the facet's definition in at most 140 characters, for the bar. `facet_labels` are the sentence
    labels of the facet: with any, `topic` is a paper, and it and `document` carry the label of each sentence; without,
    the pair is judged whole. `progress` tells where the task stands: `37 of 300 · query 4, candidate 7 of 30`.
    """
    predictions = []
    if facet_labels and isinstance(topic, Paper):
        pair_html = _by_facet(query, topic, document, facet_labels, first=layout.first)
        regions = [*_regions("query", topic, column=1), *_regions("cand", document, column=2)]
        predictions = [{"model_version": LABELS_FROM, "result": regions}]
    else:
        pair_html = whole_pair(query.facet, topic, document, layout)
    return {
        "data": {
            "pair_id": pair_key(*asked),
            "facet": query.facet,
            "facet_help": facet_help,
            "progress": progress,
            "pair_html": pair_html,
        },
        "predictions": predictions,
    }


def _by_facet(query: Query, topic: Paper, document: Paper, facet_labels: Sequence[str], *, first: bool) -> str:
    """Two abstracts with the sentences of the facet marked: those with its labels, or the query's that were chosen."""
    by_label = tuple(index for index, label in enumerate(topic.labels or ()) if label in facet_labels)
    chosen = query.sentences if query.sentences != by_label else None
    words = words_of(topic)
    return pair(
        (
            labelled_column("query", words.topic, topic, query.facet, facet_labels, chosen),
            labelled_column("cand", words.document, document, query.facet, facet_labels, None),
        ),
        query.facet,
        whole=False,
        first=first,
    )


def adjudicate_task(
    task: dict[str, Any], opinions: Sequence[Judgement], *, scale_names: Sequence[str]
) -> dict[str, Any]:
    """`task` (of `judge_task`) with what the assessors said, unnamed, in the order given: the caller shuffles them.

    With the policy `hidden` an adjudicator gets the plain task.
    """
    by_letter = dict(zip("abcdefghij", opinions, strict=False))
    shown = {}
    for letter, opinion in by_letter.items():
        shown[f"rating_{letter}"] = opinion_text(opinion, scale_names)
        shown[f"comment_{letter}"] = comment_text(opinion.comment)
    grades = {letter: opinion.grade for letter, opinion in by_letter.items() if opinion.grade is not None}
    marked = task["data"]["pair_html"] + (gave(grades) if grades else "")
    return {**task, "data": {**task["data"], **shown, "pair_html": marked}}


def reasoned_task(task: dict[str, Any]) -> dict[str, Any]:
    """`task` (of `adjudicate_task`), of grades far apart: it is sent only with a cause and a reason."""
    filled_in = [region for prediction in task["predictions"] for region in prediction["result"]]
    filled_in += [
        {"id": name, "from_name": name, "to_name": TEXT, "type": "choices", "value": {"choices": [name]}}
        for name in (REASON_NEEDED, CAUSE_NEEDED)
    ]
    return {**task, "predictions": [{"model_version": LABELS_FROM, "result": filled_in}]}


def full_text_task(
    task: dict[str, Any], topic: Paper | Topic, document: Paper, where: Mapping[str, str]
) -> dict[str, Any]:
    """`task` (of `judge_task`) with the place of each full text instead of the abstract, and without its labels.

    A topic that is a text has no other, and stays. where: by `paper_id` a link (http or https), or a file's name as the
    assessor knows it.
    """
    words = words_of(topic)
    left = (
        full_text_column("query", words.topic, topic, where[topic.paper_id])
        if isinstance(topic, Paper)
        else topic_column(topic, opened=True)
    )
    right = full_text_column("cand", words.document, document, where[document.paper_id])
    # Only where a facet is judged, labels come with the task.
    whole = not task["predictions"]
    columns = pair((left, right), task["data"]["facet"], whole=whole, first=False)
    return {"data": {**task["data"], "pair_html": columns}, "predictions": []}


def feedback_task(
    task: dict[str, Any], answer: Judgement, *, gold: int, why: str, scale_names: Sequence[str]
) -> dict[str, Any]:
    """`task` (of `judge_task`) with what the assessor in training said, the gold grade and why it is that."""
    shown = {
        "rating_own": opinion_text(answer, scale_names),
        "comment_own": comment_text(answer.comment),
        "rating_gold": grade_text(gold, scale_names),
        "comment_gold": cleaned(why) or "no reason given",
    }
    return {**task, "data": {**task["data"], **shown}}


def returned_task(task: dict[str, Any], why: str) -> dict[str, Any]:
    """`task` (of `judge_task`) put before its assessor again: the reason stands above the pair, no earlier answer."""
    # After the two columns, where it changes no place in them; the style sheet shows it above.
    asked = f'<div class="a-returned"><p>{escaped(f"{ASKED_AGAIN} {why}")}</p></div>'
    return {**task, "data": {**task["data"], "pair_html": task["data"]["pair_html"] + asked}}


def facets_task(key: str, paper: Paper, *, progress: str) -> dict[str, Any]:
    """The task in which one person corrects the labels of a paper's sentences; `progress` is such as `2 of 9`."""
    side = labelled_column("query", "Abstract", paper, LABELS_SHOWN, (), ())
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
    """What a task's data show of the assessors: empty if they show nothing."""
    return {name: value for name, value in data.items() if name.startswith(("rating_", "comment_"))}


def opinion_text(opinion: Judgement | Adjudication, scale_names: Sequence[str]) -> str:
    """`1 Related`, or why it could not be judged."""
    if opinion.grade is None:
        return f"Could not judge: {opinion.cannot_judge}" if opinion.cannot_judge else "Did not judge"
    return grade_text(opinion.grade, scale_names)


def grade_text(grade: int, scale_names: Sequence[str]) -> str:
    """A grade with its name. One that the scale does not have any more has none.

    >>> grade_text(1, ("No", "Yes")), grade_text(3, ("No", "Yes"))
    ('1 Yes', '3 (not on the scale)')
    """
    return f"{grade} {scale_names[grade]}" if grade < len(scale_names) else f"{grade} (not on the scale)"


def comment_text(comment: str | None) -> str:
    """A comment as it is shown to another person."""
    return cleaned(comment or "") or "no comment"


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
                "from_name": SENTENCE_LABEL,
                "to_name": TEXT,
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
