"""Made-up texts for the labelling screens, and tasks made of them."""

from __future__ import annotations

from typing import Any

from annot.labelstudio.tasks import Place, Text, judge_task
from annot.records import Asked

SCALE = ("Irrelevant", "Related", "Similar", "Near-identical")
FACETS = {"background": ("background", "objective"), "method": ("method",), "result": ("result",)}
HELP = {
    "background": "The problem, its setting and the aim.",
    "method": "How it is done: models, algorithms, data and procedures.",
    "result": "What came out: findings, measurements and conclusions.",
}

QUERY = Text(
    "Sorting Mushrooms by Smell with a Lattice of Small Noses",
    (
        "Forest inventories still rely on people who know each mushroom by sight.",
        "We ask whether smell alone can tell edible species from their doubles.",
        "Forty cheap gas sensors are arranged in a lattice, and each votes with its neighbours.",
        "The votes are pooled by a small decision forest trained on 3,100 sniffs.",
        "On twelve species the lattice errs on 4.1 percent of the samples.",
    ),
    ("background", "objective", "method", "method", "result"),
)
CANDIDATE = Text(
    "What Truffle Hounds Attend To",
    (
        "Truffle hounds find what no instrument has found so far.",
        "Their search paths were logged with collars over two seasons and segmented by a hidden Markov model.",
        "Hounds slow down four metres before the find, whatever the wind.",
    ),
    ("background", "method", "result"),
)


def long_text(text: Text, sentences: int = 20) -> Text:
    """The same text again and again, up to so many sentences."""
    times = sentences // len(text.sentences) + 1
    return Text(text.title, (text.sentences * times)[:sentences], (text.labels * times)[:sentences])


def task(
    number: int = 1,
    *,
    facet: str = "method",
    query: Text = QUERY,
    candidate: Text = CANDIDATE,
    query_sentences: tuple[int, ...] | None = None,
    of: int = 300,
) -> dict[str, Any]:
    """The judging task of candidate `number`."""
    by_label = tuple(index for index, label in enumerate(query.labels) if label in FACETS[facet])
    return judge_task(
        asked=Asked(f"fic1-{facet}", f"fic{100 + number}"),
        facet=facet,
        facet_help=HELP[facet],
        facet_labels=FACETS[facet],
        place=Place(number, of, 1, number, of),
        query=query,
        candidate=candidate,
        query_sentences=by_label if query_sentences is None else query_sentences,
        model_version="sentence-labels",
    )
