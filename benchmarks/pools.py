"""Time pools of six rankings over a made-up corpus, stage by stage, beside the obvious script's.

    python benchmarks/pools.py FOLDER [--papers 100000] [--queries 34] [--untrained]

Makes the corpus (`made_corpus.py`), runs `obvious_pools.py` on it, then `annot`: each command a process of its own, in
a study in FOLDER. Word vectors are trained with the same settings on both sides: 200 numbers, 5 passes, words that
stand 5 times, two workers; with `--untrained` both take random ones. Prints for each stage wall and processor seconds,
and the peak of memory in MB: the proportional set of the process and of all it has started, read ten times a second; in
brackets without the files that are mapped into it.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryFile
from typing import NamedTuple

import made_corpus
import numpy as np
from command import Command

HERE = Path(__file__).parent
ANNOT = Path(sys.executable).with_name("annot")
SETTINGS = """
[word_vectors]
dimensions = 200
min_count = 5
epochs = 5
workers = 2
"""
ARMS = ("--without", "specter", "--without", "cited")


class Cost(NamedTuple):
    """What a stage took."""

    wall: float
    processor: float
    peak_mb: float
    own_mb: float


COMMAND = Command(
    __doc__,
    paths=("folder",),
    options={"papers": 100_000, "queries": 34, "without-obvious": False, "untrained": False},
    smallest="FOLDER --papers 400 --queries 2",
    seconds=lambda options: (
        30
        + options.papers * (0.0008 if options.untrained else 0.003)
        + (0 if options.without_obvious else 0.001 * options.papers)
    ),
)
"""`--without-obvious` leaves the obvious script out; with `--untrained` both sides take random word vectors."""


def main() -> None:
    options = COMMAND.read()
    options.folder.mkdir(parents=True, exist_ok=True)
    corpus = options.folder / f"{options.papers}.jsonl"
    if not corpus.is_file():
        made_corpus.write(corpus, papers=options.papers, seed=13)
    words = options.folder / "words.bin" if options.untrained else None
    if words:
        made_corpus.write_word_vectors(words, dimensions=200)
    print(f"{options.papers} papers, {options.queries} queries, {os.cpu_count()} cores")
    print(f"{'':44} {'wall s':>8} {'cpu s':>8} {'MB':>7}")
    if not options.without_obvious:
        obvious(corpus, options.queries, words)
    annot(options.folder / "study", corpus, papers=options.papers, queries=options.queries, words=words)


def obvious(corpus: Path, queries: int, words: Path | None) -> None:
    command = [sys.executable, HERE / "obvious_pools.py", corpus, "--queries", str(queries)]
    command += ["--word-vectors", words] if words else []
    whole, output = measured(command)
    stages = [json.loads(line) for line in output.splitlines()]
    for one in stages:
        row(f"obvious: {one['stage']}", Cost(one["wall"], one["processor"], one["peak_mb"], one["peak_mb"]))
    training = next(one for one in stages if one["stage"] == "word2vec")
    peak = max(one["peak_mb"] for one in stages)
    rest = Cost(whole.wall - training["wall"], whole.processor - training["processor"], peak, peak)
    row("obvious: all but word2vec", rest)


def annot(study: Path, corpus: Path, *, papers: int, queries: int, words: Path | None) -> None:
    rows = np.random.default_rng(0).choice(papers, queries + 1, replace=False)
    chosen = study.parent / "queries.csv"
    chosen.write_text("paper_id,facet,sentences\n" + "".join(f"{row},method,1\n" for row in rows[:-1]))
    run("init", study)
    settings = study / "annot.toml"
    settings.write_text(re.sub(r"\n\[word_vectors\][^[]*", "\n", settings.read_text()) + SETTINGS)
    for name, command in {
        "corpus add": ("corpus", "add", corpus),
        "facets": ("facets",),
        "query add": ("query", "add", "--file", chosen),
        **({"vectors add --words": ("vectors", "add", "--words", words)} if words else {}),
        "index": ("index",),
        **({} if words else {"index, word vectors there": ("index",)}),
        "pool": ("pool", *ARMS),
        "pool again": ("pool", *ARMS),
        "query add, one more": ("query", "add", str(rows[-1]), "--facet", "method", "--sentences", "1"),
        "pool, one more": ("pool", *ARMS, "--query", f"{rows[-1]}-method"),
    }.items():
        if name == "index, word vectors there" or (words and name == "index"):
            forget_all_but_words(study)
        row(f"annot {name}", run(*command, folder=study))


def forget_all_but_words(study: Path) -> None:
    """Remove the index but for the word vectors, whose training takes longer than all else."""
    index = study / ".annot" / "index"
    for part in (index / "shards", *index.glob("corpora/*/*")):
        if not part.name.startswith("words-"):
            shutil.rmtree(part)


def run(*command: object, folder: Path | None = None) -> Cost:
    cost, _ = measured([ANNOT, *command, *(("-C", folder) if folder else ())])
    return cost


def measured(command: Sequence[object], *, beside: int | None = None) -> tuple[Cost, str]:
    """Run it to its end. Raises CalledProcessError where it fails, with what it said.

    beside: a process whose memory counts with that of all it has started, the command among them.
    """
    peaks = {"Pss": 0, "Pss_Anon": 0}
    done = threading.Event()
    with TemporaryFile("w+") as said:
        begin = time.perf_counter()
        # Modules are compiled once, not at every start.
        environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": ""}
        process = subprocess.Popen(
            [str(word) for word in command], stdout=subprocess.PIPE, stderr=said, text=True, env=environment
        )
        watch = threading.Thread(target=_watch, args=(beside or process.pid, peaks, done))
        watch.start()
        assert process.stdout is not None
        output = process.stdout.read()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        wall = time.perf_counter() - begin
        done.set()
        watch.join()
        if process.returncode:
            said.seek(0)
            raise subprocess.CalledProcessError(process.returncode, process.args, output, said.read())
    return Cost(wall, used.ru_utime + used.ru_stime, peaks["Pss"] / 1024, peaks["Pss_Anon"] / 1024), output


def _watch(pid: int, peaks: dict[str, int], done: threading.Event) -> None:
    while not done.wait(0.1):
        sums = dict.fromkeys(peaks, 0)
        for one in _family(pid):
            try:
                lines = Path(f"/proc/{one}/smaps_rollup").read_text().splitlines()
            except OSError:
                continue
            for name, value in (line.split(":") for line in lines[1:]):
                if name in sums:
                    sums[name] += int(value.split()[0])
        for name, total in sums.items():
            peaks[name] = max(peaks[name], total)


def _family(pid: int) -> list[int]:
    try:
        threads = list(Path(f"/proc/{pid}/task").iterdir())
        children = [int(child) for thread in threads for child in (thread / "children").read_text().split()]
    except OSError:
        return [pid]
    return [pid, *(one for child in children for one in _family(child))]


def row(name: str, cost: Cost) -> None:
    print(f"{name:44} {cost.wall:8.1f} {cost.processor:8.1f} {cost.peak_mb:7.0f} ({cost.own_mb:.0f})", flush=True)


if __name__ == "__main__":
    main()
