"""Examples from a corpus: triplets of citations, pairs of co-cited papers or of contexts, and the inverse cloze task.

Each paper and each set of papers has a generator of its own.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from annot.base.records import Paper
from annot.base.stats.seeding import generator
from annot.ranking.systems.training.cocitations import Papers, Said, Share, mixed
from annot.ranking.systems.training.examples import Example

MOST_CONTEXTS = 10
"""Of a set of papers, kept with an example, as in the code of Aspire's authors."""


class Drawn(NamedTuple):
    """Ids of one triplet before its texts are read."""

    query: str
    positive: str
    negative: str


def split(names: Sequence[str], *, dev_share: float, seed: int) -> tuple[list[str], list[str]]:
    """What to train on and what to hold out, each in a drawn order; a name's side depends on itself alone."""
    keys = {name: float(generator(seed, "split", name).random()) for name in names}
    order = sorted(keys, key=lambda name: (float(generator(seed, "order", name).random()), name))
    return [name for name in order if keys[name] >= dev_share], [name for name in order if keys[name] < dev_share]


def triplets(
    paper_id: str,
    citations: Mapping[str, Sequence[str]],
    corpus: Sequence[str],
    *,
    easy: int,
    hard: int,
    seed: int,
) -> tuple[list[Drawn], str]:
    """The triplets of one query paper, and why there are fewer than wanted ("" where there are not).

    Cohan et al. 2020 (SPECTER): a positive is cited; a hard negative is cited by a paper that is cited, and not by the
    query; an easy one is any other paper. citations: of each paper of the corpus, within the corpus.
    """
    cited = sorted(set(citations.get(paper_id, ())) - {paper_id})
    if not cited:
        return [], "cites no paper of the corpus"
    random = generator(seed, "triplets", paper_id)
    known = {paper_id, *cited}
    further = sorted({one for middle in cited for one in citations.get(middle, ())} - known)
    negatives = [further[at] for at in random.permutation(len(further))[:hard]]
    short = "fewer hard negatives than wanted" if len(negatives) < hard else ""
    if len(corpus) > len(known):
        while len(negatives) < min(hard, len(further)) + easy:
            one = corpus[int(random.integers(len(corpus)))]
            if one not in known:
                negatives.append(one)
    return [Drawn(paper_id, cited[int(random.integers(len(cited)))], one) for one in negatives], short


def contexts_of(papers: Papers, said: Sequence[Said], *, seed: int) -> tuple[str, ...]:
    """At most ten contexts of a set of papers, drawn."""
    order = generator(seed, "contexts", *papers).permutation(len(said))[:MOST_CONTEXTS]
    return tuple(said[at].text for at in order)


def pairs_of_contexts(papers: Papers, said: Sequence[Said]) -> Iterator[Example]:
    """Every two contexts that cite the same papers (CoSentBert: they say similar things)."""
    for one, other in itertools.combinations(said, 2):
        yield Example(one.text, other.text, None, papers)


def cloze(paper: Paper, *, sentences: int, removed: float, seed: int) -> Iterator[Example]:
    """Drawn sentences, each with the abstract it comes from (inverse cloze task, Lee et al. 2019).

    removed: how often the sentence is taken out of the abstract. A paper of one sentence gives nothing.
    """
    if len(paper.sentences) < 2:
        return
    random = generator(seed, "cloze", paper.paper_id)
    for at in random.permutation(len(paper.sentences))[:sentences]:
        left = [one for place, one in enumerate(paper.sentences) if place != at or random.random() >= removed]
        yield Example(paper.sentences[at], " ".join(left), None, (paper.paper_id,))


def chosen_sets(
    sets: Sequence[Papers],
    contexts: Mapping[Papers, Sequence[Said]],
    *,
    mix: Sequence[Share],
    wanted: int,
    examples_of: Callable[[Papers], int],
) -> list[Papers]:
    """Sets of papers, in the order given, until `wanted` examples are there, each part of the mix by its share.

    examples_of: how many a set gives. The last set of a part may bring it over its share.
    """
    chosen: list[Papers] = []
    for part, (_, share) in zip(mixed(sets, contexts, mix), mix, strict=True):
        left = round(share * wanted)
        for papers in part:
            if left <= 0:
                break
            chosen.append(papers)
            left -= examples_of(papers)
    return chosen


def with_negatives(examples: Sequence[Example], *, seed: int) -> tuple[list[Example], Counter[str]]:
    """Each with a negative for good: the positive of a drawn example that shares no paper with it.

    Counted are those that have none, which are left out.
    """
    left_out = Counter[str]()
    found = []
    for place, example in enumerate(examples):
        random = generator(seed, "negative", str(place), *example.papers)
        for at in random.permutation(len(examples)):
            if not set(examples[at].papers) & set(example.papers):
                found.append(example._replace(negative=examples[at].positive))
                break
        else:
            left_out["no example to take a negative from"] += 1
    return found, left_out
