"""A made-up topic that is a text, and tasks of its pairs, which are judged whole."""

from typing import Any

from annot.base.records import WHOLE, PairKey, Paper, Query, Topic
from annot.labelstudio.screens import screen_of
from annot.labelstudio.tasks import judge_task
from labelling_texts import CANDIDATE, SCALE

TOPIC = Topic(
    "T1",
    "how hounds find truffles",
    "What do trained hounds do in the last metres before a truffle?",
    "Relevant: what hounds were seen to do. " + "Guesses of their handlers do not count, whatever was guessed. " * 20,
    {"track": "of forests"},
)
JUDGE = screen_of("judge", scale_names=SCALE, labels=(), language="en", overrides=None)
ADJUDICATE = screen_of("adjudicate", scale_names=SCALE, labels=(), language="en", opinions=2, overrides=None)
HELP = "Whether the document answers the topic."


def whole_task(
    number: int = 1,
    *,
    topic: Topic | Paper = TOPIC,
    document: Paper = CANDIDATE,
    opened: bool = False,
    fold_after: int = 500,
    mark_terms: bool = False,
) -> dict[str, Any]:
    """The judging task of document `number`."""
    return judge_task(
        question=PairKey("T1", f"d{number}"),
        query=Query("T1", "T1", WHOLE, ()),
        topic=topic,
        document=document,
        facet_help=HELP,
        facet_labels=(),
        progress=f"{number} of 3 · topic 1, document {number} of 3",
        first=opened,
        fold_after=fold_after,
        mark_terms=mark_terms,
    )
