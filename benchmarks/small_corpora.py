"""Rank CSFCube's judged pools by word vectors that were trained on ever fewer of its abstracts, and by chance.

    python benchmarks/small_corpora.py CSFCUBE [--sizes 125 250 500 1000 2000] [--draws 3]

CSFCUBE: the folder of the release. The word vectors read that many abstracts, drawn anew in each of `--draws`; pools,
idf and queries stay. Prints, for each of the four systems, NDCG%20 in percent over all queries less that of a random
order, the mean over the draws, and in brackets its interval at 95% over query papers. `annot.ranking.word_vectors`
warns below the first size at which both `fabs` systems are better than chance, and has the figures.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
from annot.base.records import nested
from annot.base.settings import Settings
from annot.base.stats.inference import ratio_interval
from annot.base.stats.values import Interval
from annot.measuring.evaluation.measures import MeasureSelection, columns, evaluate, random_orders
from annot.measuring.measured import primary_of, read_run_files
from annot.steps import imports, run
from annot.steps.setup import init
from annot.study.snapshot import exported_qrels, read_snapshot
from annot.study.workspace import Workspace
from command import Command

SYSTEMS = ("fabs_cbow200", "fabs_tfidfcbow200", "whole_cbow200", "whole_tfidfcbow200")
CONVENTION, MEASURE = primary_of(Settings())


COMMAND = Command(
    __doc__,
    paths=("release",),
    options={"sizes": [125, 250, 500, 1000, 2000, 0], "draws": 3},
    smallest="CSFCUBE --sizes 125 --draws 1",
    seconds=lambda options: 10 + 15 * options.draws * len(options.sizes),
)


def main() -> None:
    options = COMMAND.read()
    with tempfile.TemporaryDirectory() as folder:
        init(Path(folder) / "study", name=None, dry_run=False)
        imports.csfcube(Workspace.open(Path(folder) / "study"), options.release, dry_run=False)
        ws = Workspace.open(Path(folder) / "study")
        snapshot = read_snapshot(ws)
        qrels = exported_qrels(snapshot)
        papers = {query.query_id: query.topic_id for query in snapshot.queries}
        graded = nested(qrels)
        cuts = [(query_id, len(of)) for query_id, of in graded.items()]
        asked = MeasureSelection(CONVENTION, columns(CONVENTION), 2)
        floor = {cut[0]: of[MEASURE] for cut, of in random_orders(graded, cuts, graded, asked).items()}
        print(
            f"chance {100 * np.mean([*floor.values()]):.1f}; {len(floor)} queries of {len({*papers.values()})} papers"
        )
        print(f"{'abstracts':>9}" + "".join(f"{name:>26}" for name in SYSTEMS))
        for size in options.sizes:
            above = {name: dict.fromkeys(floor, 0.0) for name in SYSTEMS}
            for seed in range(1, (options.draws if size else 1) + 1):
                run.make(ws.replaced("word_vectors", sample=size, seed=seed), systems=SYSTEMS, advance=_silent)
                runs = read_run_files(ws)
                for name in SYSTEMS:
                    for query in evaluate(runs[name], qrels, MeasureSelection(CONVENTION, (), 2), ties="order").queries:
                        above[name][query.query_id] += (query.values[MEASURE] - floor[query.query_id]) / (
                            options.draws if size else 1
                        )
            print(f"{size or 'all':>9}" + "".join(f"{_told(above[name], papers):>26}" for name in SYSTEMS), flush=True)


def _told(above: dict[str, float], papers: dict[str, str]) -> str:
    """The mean over the queries, with its interval over query papers."""
    order = sorted({papers[query_id] for query_id in above})
    sums = np.array([[sum(value for query_id, value in above.items() if papers[query_id] == one)] for one in order])
    sizes = np.array([[float(sum(papers[query_id] == one for query_id in above))] for one in order])
    found = ratio_interval(sums, sizes, level=0.95, unit="query paper", least=-1.0)
    ends = f"[{100 * found.low:+.1f}, {100 * found.high:+.1f}]" if isinstance(found, Interval) else ""
    return f"{100 * sums.sum() / sizes.sum():+.1f} {ends}"


def _silent(done: int, total: int | None) -> None:
    pass


if __name__ == "__main__":
    main()
