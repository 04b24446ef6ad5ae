"""Take ten million short made-up papers through index and pools, with the process pool and with Dask: the same bytes?

    python benchmarks/ten_million.py FOLDER [--papers 10000000] [--shards 200]

A paper is a title of 8 words and a labelled sentence of 6 to 18, of a million words under a Zipf-Mandelbrot law. Word
vectors of 50 numbers are trained once on the first million. Prints for each command wall and processor seconds, those
of Dask's workers too, and the peak of memory in MB: the proportional set of this process and of all it has started, in
brackets without mapped files. Papers, word vectors and corpus of an earlier run in FOLDER are used again.
"""

import hashlib
import json
import os
import re
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import psutil
from annot.study.workspace import VARIABLE
from command import Command

from pools import ANNOT, ARMS, Cost, measured, row, shares

WORDS, TITLE, SHORTEST, LONGEST = 1_000_000, 8, 6, 18
SEED = 13
DIMENSIONS, TRAINED_ON, MIN_COUNT = 50, 1_000_000, 5
SETTINGS = """
[corpus]
min_sentences = 1
"""


COMMAND = Command(
    __doc__,
    paths=("folder",),
    options={"papers": 10_000_000, "shards": 200, "queries": 34, "processes": os.cpu_count() or 1},
    smallest="FOLDER --papers 400 --shards 2 --queries 2 --processes 1",
    seconds=lambda options: 40 + 0.0002 * options.papers,
)


def main() -> None:
    options = COMMAND.read()
    folder = options.folder.resolve()
    files = made_papers(folder / "papers", options.papers, options.shards)
    words = trained_words(folder, files)
    print(f"{options.papers} papers, {options.queries} queries, {options.processes} processes")
    print(f"{'':44} {'wall s':>8} {'cpu s':>8} {'MB':>7}")
    study = folder / "study"
    if not (study / "corpus" / "word-vectors").is_dir():
        annot("init", study)
        settings = study / "annot.toml"
        settings.write_text(re.sub(r"\n\[corpus\][^[]*", "\n", settings.read_text()) + SETTINGS)
        row("corpus add, the first file", annot("corpus", "add", files[0], "-C", study))
        row("facets", annot("facets", "-C", study))
        of_first = options.papers // options.shards
        rows = np.random.default_rng(0).choice(of_first, options.queries, replace=False)
        chosen = folder / "queries.csv"
        chosen.write_text("paper_id,facet,sentences\n" + "".join(f"{number},method,1\n" for number in rows))
        row("query add", annot("query", "add", "--file", chosen, "-C", study))
        row("corpus add, all others", annot("corpus", "add", *files[1:], "-C", study))
        row("vectors add --words", annot("vectors", "add", "--words", words, "-C", study))
    made: dict[str, dict[str, str]] = {}
    for engine in ("processes", "dask"):
        shutil.rmtree(study / ".annot", ignore_errors=True)
        with machine(study, engine, options.processes):
            row(f"{engine}: index", annot("index", "-C", study))
            row(f"{engine}: pool", annot("pool", *ARMS, "-C", study))
            row(f"{engine}: pool again", annot("pool", *ARMS, "-C", study))
        made[engine] = digests(study)
        size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
        print(f"{'':44} {size / 2**30:.1f} GB on disk")
    differing = sorted({name for name, _ in made["dask"].items() ^ made["processes"].items()})
    print(f"{len(made['dask'])} files of rankings, pools and index, {len(differing)} differ", *differing[:9], sep="\n")
    sys.exit(bool(differing))


def made_papers(folder: Path, papers: int, files: int) -> list[Path]:
    """The papers, their ids the numbers from 0, in so many files of equal length."""
    folder.mkdir(parents=True, exist_ok=True)
    share = shares(WORDS)
    words = np.array([f"w{number:05x}" for number in range(WORDS)], dtype=object)
    bounds = np.linspace(0, papers, files + 1).astype(int).tolist()
    paths = [folder / f"{number:05d}.jsonl" for number in range(files)]
    for number, path in enumerate(paths):
        if path.is_file():
            continue
        rng = np.random.default_rng([SEED, number])
        count = bounds[number + 1] - bounds[number]
        lengths = TITLE + rng.integers(SHORTEST, LONGEST + 1, count)
        drawn = words[np.minimum(np.searchsorted(share, rng.random(lengths.sum())), WORDS - 1)]
        ends = np.cumsum(lengths).tolist()
        unfinished = path.with_suffix(".tmp")
        with unfinished.open("w", encoding="utf-8") as file:
            for at, (start, end) in enumerate(zip([0, *ends], ends, strict=False), start=bounds[number]):
                title, sentence = " ".join(drawn[start : start + TITLE]), " ".join(drawn[start + TITLE : end])
                record = {"paper_id": str(at), "title": title, "abstract": [f"{sentence}."], "labels": ["method"]}
                file.write(json.dumps(record) + "\n")
        unfinished.replace(path)
    return paths


def trained_words(folder: Path, files: list[Path]) -> Path:
    """Word vectors of the first papers' sentences, in word2vec's format."""
    from gensim.models import Word2Vec

    path = folder / "words.bin"
    if not path.is_file():
        text = folder / "sentences.txt"
        read = 0
        with text.open("w", encoding="utf-8") as sentences:
            for file in files:
                for line in file.read_text("utf-8").splitlines() if read < TRAINED_ON else ():
                    sentences.write(json.loads(line)["abstract"][0].rstrip(".") + "\n")
                    read += 1
        model = Word2Vec(
            corpus_file=str(text), vector_size=DIMENSIONS, min_count=MIN_COUNT, epochs=1, sg=0, workers=os.cpu_count()
        )
        model.wv.save_word2vec_format(str(path), binary=True)
        text.unlink()
    return path


@contextmanager
def machine(study: Path, engine: str, processes: int) -> Iterator[None]:
    """The study's settings name the engine; a cluster is there meanwhile."""
    settings = study / "annot.toml"
    before = settings.read_text()
    plain = re.sub(r"\n\[machine\][^[]*", "\n", before)
    try:
        if engine == "processes":
            settings.write_text(f"{plain}\n[machine]\nprocesses = {processes}\n")
            yield
        else:
            from distributed import LocalCluster

            with LocalCluster(n_workers=processes, threads_per_worker=1, dashboard_address=":0") as cluster:
                settings.write_text(f'{plain}\n[machine]\ncluster = "{cluster.scheduler_address}"\n')
                os.environ[VARIABLE] = cluster.scheduler_address
                yield
    finally:
        settings.write_text(before)


def annot(*command: object) -> Cost:
    workers = psutil.Process().children(recursive=True)
    before = seconds(workers)
    cost, _ = measured([ANNOT, *command], beside=os.getpid())
    return cost._replace(processor=cost.processor + seconds(workers) - before)


def seconds(processes: list[psutil.Process]) -> float:
    """Processor seconds that processes which still run have used."""
    return sum(sum(one.cpu_times()[:2]) for one in processes if one.is_running())


def digests(study: Path) -> dict[str, str]:
    """The SHA-256 of every file of the rankings, the pools and the index, by its path in the study."""
    found = {}
    for folder in ("pools", ".annot/index"):
        for path in sorted((study / folder).rglob("*")):
            if path.is_file():
                with path.open("rb") as file:
                    found[path.relative_to(study).as_posix()] = hashlib.file_digest(file, "sha256").hexdigest()
    return found


if __name__ == "__main__":
    main()
