"""Time pools of six rankings over a made-up corpus, stage by stage, next to the obvious script.

    python benchmarks/pools.py FOLDER [--papers 100000] [--queries 34] [--untrained] [--counts] [--grow 5000]

Makes the corpus, runs `obvious_pools.py` on it, then `annot`, each command in a process of its own. Word vectors are
trained with the same settings on both sides (200 numbers, 5 passes, words that occur 5 times, two workers), or are
random (`--untrained`); with `--counts`, `annot` takes count vectors instead. `--grow` then adds a version of the
corpus with so many new papers, and prints the share of the processor seconds of making all that it takes. Prints for
each stage wall and processor seconds, and the peak of memory in MB: the proportional set of the process and of all it
has started, read ten times a second; in brackets without mapped files.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryFile
from typing import NamedTuple

import numpy as np
from annot.base.array_files import Array
from command import Command

WORDS, TOPICS, WORDS_OF_TOPIC, ON_TOPIC = 200_000, 300, 400, 0.18
TITLE, AT_ONCE = 10, 10_000
WORD = np.array([f"w{number:05x}" for number in range(WORDS)], dtype=object)
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
    options={"papers": 100_000, "queries": 34, "without-obvious": False, "untrained": False, "counts": False}
    | {"grow": 0},
    smallest="FOLDER --papers 400 --queries 2 --without-obvious --untrained --grow 40",
    seconds=lambda options: (
        25 + options.papers * (0.0005 if options.untrained else 0.003) * (1 if options.without_obvious else 2)
    ),
)
"""`--without-obvious` leaves the obvious script out; with `--untrained` both sides take random word vectors."""


def main() -> None:
    options = COMMAND.read()
    options.folder.mkdir(parents=True, exist_ok=True)
    corpus = options.folder / f"{options.papers}.jsonl"
    if not corpus.is_file():
        write_corpus(corpus, papers=options.papers, seed=13)
    words = options.folder / "words.bin" if options.untrained else None
    if words:
        write_word_vectors(words, dimensions=200)
    print(f"{options.papers} papers, {options.queries} queries, {os.cpu_count()} cores")
    print(f"{'':44} {'wall s':>8} {'cpu s':>8} {'MB':>7}")
    if not options.without_obvious:
        obvious(corpus, options.queries, words)
    study = options.folder / "study"
    new = options.folder / f"{options.grow}-new.jsonl"
    write_corpus(new, papers=options.grow, seed=14, prefix="new-")
    sizes = {"papers": options.papers, "queries": options.queries, "counts": options.counts}
    annot(study, corpus, words=words, new=new if options.grow else None, **sizes)


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


def annot(
    study: Path, corpus: Path, *, papers: int, queries: int, words: Path | None, counts: bool, new: Path | None
) -> None:
    rows = np.random.default_rng(0).choice(papers, queries + 1, replace=False)
    chosen = study.parent / "queries.csv"
    chosen.write_text("paper_id,facet,sentences\n" + "".join(f"{row},method,1\n" for row in rows[:-1]))
    run("init", study)
    settings = study / "annot.toml"
    text = re.sub(r"\n\[word_vectors\][^[]*", "\n", settings.read_text()) + SETTINGS
    settings.write_text(text.replace("cbow200", "ppmi200") if counts else text)
    growth = ("--version", "2", "--reason", "more papers")
    seconds: dict[str, float] = {}
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
        **({"corpus add, grown": ("corpus", "add", new, *growth)} if new else {}),
        **({"facets, grown": ("facets",), "index, grown": ("index",)} if new else {}),
        **({"pool, grown": ("pool", "--grow")} if new else {}),
    }.items():
        if name == "index, word vectors there" or (words and name == "index"):
            forget_all_but_words(study)
        cost = run(*command, folder=study)
        row(f"annot {name}", cost)
        seconds[name] = cost.processor
    if new:
        making = sum(seconds[name] for name in ("corpus add", "facets", "index", "pool"))
        growing = sum(seconds[f"{name}, grown"] for name in ("corpus add", "facets", "index"))
        ranking = seconds["pool, grown"]
        print(f"growing: {growing / making:.2f} of making; with the ranking: {(growing + ranking) / making:.2f}")


def forget_all_but_words(study: Path) -> None:
    """Remove the index but for the word vectors, whose training takes longer than all else."""
    index = study / ".annot" / "index"
    for part in (index / "shards", *index.glob("corpora/*/*")):
        if not part.name.startswith(("words-", "ppmi-")):
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
        with process.stdout as stream:
            output = stream.read()
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


def write_corpus(path: Path, *, papers: int, seed: int, prefix: str = "") -> None:
    """Write made-up papers as JSON lines; the ids are the numbers from 0 after the prefix, and the same seed gives the
    same bytes.

    Words follow a Zipf-Mandelbrot law; each paper has one of 300 topics, from whose 400 words 18% of its running words
    come; 3 to 20 sentences (mean 7.2) of 5 to 60 words (mean 21), so about 154 words each.
    """
    with path.open("w", encoding="utf-8") as file:
        for number, (title, abstract) in enumerate(texts(papers, seed)):
            file.write(json.dumps({"paper_id": f"{prefix}{number}", "title": title, "abstract": abstract}) + "\n")


def write_word_vectors(path: Path, *, dimensions: int) -> None:
    """Write numbers drawn at random for every word, in word2vec's binary format: they cost what trained ones cost."""
    rng = np.random.default_rng(0)
    with path.open("wb") as file:
        file.write(f"{WORDS} {dimensions}\n".encode())
        for word in WORD:
            file.write(word.encode() + b" " + rng.standard_normal(dimensions, dtype=np.float32).tobytes() + b"\n")


def texts(papers: int, seed: int) -> Iterator[tuple[str, list[str]]]:
    """Title and sentences of each paper."""
    rng = np.random.default_rng(seed)
    share = shares(WORDS)
    topics = rng.integers(300, 60_000, size=(TOPICS, WORDS_OF_TOPIC))
    for start in range(0, papers, AT_ONCE):
        count = min(AT_ONCE, papers - start)
        sentences = np.clip(rng.normal(7.2, 2.2, count).round(), 3, 20).astype(int)
        lengths = np.clip(rng.normal(21, 7, sentences.sum()).round(), 5, 60).astype(int)
        ends = np.cumsum(sentences)
        running = np.add.reduceat(lengths, ends - sentences) + TITLE
        drawn = np.minimum(np.searchsorted(share, rng.random(running.sum())), WORDS - 1)
        topic = np.repeat(rng.integers(0, TOPICS, count), running)
        on = rng.random(len(drawn)) < ON_TOPIC
        drawn[on] = topics[topic[on], rng.integers(0, WORDS_OF_TOPIC, int(on.sum()))]
        texts_of = WORD[drawn]
        at = 0
        for own in np.split(lengths, ends[:-1]):
            title = " ".join(texts_of[at : at + TITLE])
            at += TITLE
            abstract = []
            for length in own.tolist():
                abstract.append(" ".join(texts_of[at : at + length]) + ".")
                at += length
            yield title, abstract


def shares(words: int) -> Array:
    """The share of running words that are the first, one of the first two, and so on: shape (words,)."""
    weights = 1.0 / (np.arange(1, words + 1) + 2.7) ** 1.07
    return np.cumsum(weights / weights.sum())


if __name__ == "__main__":
    main()
