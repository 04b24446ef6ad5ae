"""Let a model's opinion predict in samples of collections that were judged whole: does it bias, what does it bring?

    python benchmarks/sampled_opinions.py CRANFIELD CSFCUBE [--redraws 60] [--share 0.33] [--judges good]

The judges are those of `opinion_judges.py`. Each gives its opinion again on the topics and pairs of each redraw of
`sampled_judging.py`, and predictions are fitted with it, as with `cheap_label`. Columns are those of that script, on
the measure by which runs are compared, and: `than ranks`, by how many percent intervals of differences are wider than
with the rankings alone (below 0 they are narrower), and `draw`, the same of the scatter that drawing pairs adds.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from annot.base.stats.inference import generator
from command import Command
from planted_judges import KINDS, Judge, Planted, good, planted_on
from sampled_collections import HIGHEST, TOPICS, Collection
from sampled_judging import Redraw, redraw, sampled, together

JUDGES: dict[str, Judge] = {"good": good, **{name: judge for name, (judge, _) in KINDS.items()}}
ALONE = "rankings alone"
EVERY = 10**6
"""Questions of Cranfield to take, which has 217 with a relevant document."""


def redraws(
    planted: Planted, collection: Collection, share: float, count: int, judges: Sequence[str]
) -> dict[str, Redraw]:
    """Redraws by judge; first with the rankings alone."""
    found: dict[str, list[Redraw]] = {}
    for seed in range(count):
        for name, figures in redrawn(planted, collection, share, seed, judges):
            found.setdefault(name, []).append(figures)
    return {name: together(of_judge) for name, of_judge in found.items()}


def redrawn(
    planted: Planted, collection: Collection, share: float, seed: int, judges: Sequence[str]
) -> Iterator[tuple[str, Redraw]]:
    """One redraw, for each judge."""
    topics = collection.drawn_topics(seed)
    sample = sampled(collection, topics, share, seed)
    asked = {*topics.query.values()}
    for name in (ALONE, *judges):
        said: dict[str, dict[str, tuple[float, ...]]] = {}
        grades = [] if name == ALONE else JUDGES[name](planted, generator(seed, name)).tolist()
        for (query_id, doc_id), grade in zip(planted.pairs, grades, strict=name != ALONE):
            if query_id in asked:
                said.setdefault(query_id, {})[doc_id] = tuple(float(grade >= cut) for cut in range(1, HIGHEST + 1))
        opinions = {copy: said[query_id] for copy, query_id in topics.query.items()} if said else None
        yield name, redraw(collection, topics, sample.grades("tuned", opinions))


def lines(collection: Collection, found: dict[str, Redraw], share: float) -> Iterator[str]:
    """A line for each judge."""
    alone = found[ALONE]
    for name, judged in found.items():
        (level, apart), (means, differences) = judged.bias(0), judged.means("held", 0)
        full_means, full_differences = judged.means("held_full", 0)
        half, missed = judged.half.mean(), judged.missed(0, share)
        yield (
            f"{collection.whole.name:<10}{name:<15}{level:7.3f}{apart:7.3f}{means:8.1f} /{full_means:5.1f}"
            f"{differences:8.1f} /{full_differences:5.1f}{100 * (half / judged.half_full.mean() - 1):7.0f}"
            f"{100 * (half / alone.half.mean() - 1):12.1f}{100 * (judged.design.mean() / alone.design.mean() - 1):7.0f}"
            f"  {''.join(bar for bar in missed if missed[bar]) or '-'}"
        )


COMMAND = Command(
    __doc__,
    paths=("cranfield", "csfcube"),
    options={"redraws": 60, "share": 0.33, "only": None, "judges": [*JUDGES]},
    choices={"only": [*TOPICS], "judges": [*JUDGES]},
    smallest="CRANFIELD CSFCUBE --redraws 1 --only CSFCube --judges good",
    seconds=lambda options: (20 + 0.35 * options.redraws * (1 + len(options.judges))) * (1 if options.only else 3),
)


def main() -> None:
    options = COMMAND.read()
    print(f"{'':<25}  level  apart   means / full   diffs / full  wider  than ranks   draw  misses", flush=True)
    for name in (options.only,) if options.only else TOPICS:
        planted = planted_on(name, options.csfcube if name == "CSFCube" else options.cranfield, questions=EVERY)
        collection = Collection(replace(planted.whole, measures=planted.whole.measures[:1]))
        found = redraws(planted, collection, options.share, options.redraws, options.judges)
        for line in lines(collection, found, options.share):
            print(line, flush=True)


if __name__ == "__main__":
    main()
