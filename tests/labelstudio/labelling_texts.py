"""Made-up texts for the labelling screens, and tasks made of them."""

from typing import Any

from annot.base.records import Judgement, PairKey, Paper, Query
from annot.labelstudio.tasks import judge_task

SCALE = ("Irrelevant", "Related", "Similar", "Near-identical")
LABELS = ("background", "objective", "method", "result", "other")
FACETS = {"background": ("background", "objective"), "method": ("method",), "result": ("result",)}
HELP = {
    "background": "The problem, its setting and the aim.",
    "method": "How it is done: models, algorithms, data and procedures.",
    "result": "What came out: findings, measurements and conclusions.",
}


def text(title: str, sentences: tuple[str, ...], labels: tuple[str, ...]) -> Paper:
    return Paper("p", title, sentences, labels=labels)


def opinion(grade: int | None, cannot_judge: str | None, comment: str | None) -> Judgement:
    return Judgement("q", "d", "a9", grade, cannot_judge=cannot_judge, comment=comment)


QUERY = text(
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
CANDIDATE = text(
    "What Truffle Hounds Attend To",
    (
        "Truffle hounds find what no instrument has found so far.",
        "Their search paths were logged with collars over two seasons and segmented by a hidden Markov model.",
        "Hounds slow down four metres before the find, whatever the wind.",
    ),
    ("background", "method", "result"),
)


def long_text(paper: Paper, sentences: int = 20, *, labels: tuple[str, ...] = ()) -> Paper:
    """The same text again and again, up to so many sentences, under labels of their own where they are given."""
    times = sentences // len(paper.sentences) + 1
    own = labels or ((paper.labels or ()) * times)[:sentences]
    return text(paper.title, (paper.sentences * times)[:sentences], own)


def task(
    number: int = 1,
    *,
    facet: str = "method",
    query: Paper = QUERY,
    candidate: Paper = CANDIDATE,
    query_sentences: tuple[int, ...] | None = None,
    of: int = 300,
) -> dict[str, Any]:
    """The judging task of candidate `number`."""
    by_label = tuple(index for index, label in enumerate(query.labels or ()) if label in FACETS[facet])
    query_id = f"fic1-{facet}"
    return judge_task(
        question=PairKey(query_id, f"fic{100 + number}"),
        query=Query(query_id, "fic1", facet, by_label if query_sentences is None else query_sentences),
        topic=query,
        document=candidate,
        facet_help=HELP[facet],
        facet_labels=FACETS[facet],
        progress=f"{number} of {of} · query 1, candidate {number} of {of}",
        first=False,
        fold_after=500,
        mark_terms=False,
    )
