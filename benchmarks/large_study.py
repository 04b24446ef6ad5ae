"""Time commands on a study of the size of Cranfield with every pair judged by two people.

    python benchmarks/large_study.py FOLDER [--topics 225] [--documents 333] [--people 12] [--runs 2] [--only agreement]

Makes a table of judgements (225 topics, 74,925 pairs, 149,850 judgements of 12 people), qrels of the same pairs and
runs 1,000 deep over a corpus of 1,400 made-up abstracts, and imports them into studies in FOLDER. Prints for each
command processor seconds (user and system), the peak of memory in MB, and what it wrote: bytes of the database for each
judgement, or the size of a page. A second call with the same FOLDER makes nothing again. `--only` times some commands;
name those that they need, too, if they were not run before: `--runs 20 --only import qrels evaluate`.
"""

import json
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from subprocess import CalledProcessError

from command import Command

from pools import ANNOT, measured, texts

RECORDS, DEPTH, HIGHEST = 1_400, 1_000, 2
MEASURE = """
import sys, annot
qrels, *runs = sys.argv[1:]
if runs:
    annot.evaluate(runs, qrels)
else:
    annot.read_qrels(qrels)
"""
COMMAND = Command(
    __doc__,
    paths=("folder",),
    options={"topics": 225, "documents": 333, "people": 12, "runs": 2, "only": [""]},
    smallest="FOLDER --topics 3 --documents 20 --runs 1",
    seconds=lambda options: 30 + 0.001 * options.topics * options.documents,
)
Pair = tuple[str, str]


def main() -> None:
    options = COMMAND.read()
    folder: Path = options.folder
    folder.mkdir(parents=True, exist_ok=True)
    study, graded = folder / "study", folder / "graded"
    if not study.exists():
        make(folder, options.topics, options.documents, options.people, options.runs)
    runs = [folder / f"run{number}.run" for number in range(1, options.runs + 1)]
    commands: dict[str, list[object]] = {
        "import of judgements": ["import", folder / "judgements.csv", "-C", study],
        "import of grades": ["import", folder / "graded.qrels", "-C", graded],
        "assessor list": ["assessor", "list", "-C", study],
        "status": ["status", "-C", study],
        "agreement": ["agreement", "-C", study],
        "agreement --all": ["agreement", "--all", "-C", study],
        "agreement --by assessor": ["agreement", "--by", "assessor", "-C", study],
        "qrels": ["qrels", "--partial", "-C", study],
        **{
            f"run import {path.stem}": ["run", "import", path, "--tag", path.stem, "--foreign", "keep", "-C", study]
            for path in runs
        },
        "evaluate": ["evaluate", "-C", study],
        "browse": ["browse", "-C", study],
        "annot.evaluate of one run": [folder / "graded.qrels", runs[0]],
        "read_qrels": [folder / "graded.qrels"],
    }
    print(f"{'':28} {'cpu s':>8} {'MB':>6}")
    for name, words in commands.items():
        if any(part in name for part in options.only):
            report(name, words, {"import of j": study / "annot.db", "browse": study / "exports" / "browse.html"})


def report(name: str, words: list[object], files: dict[str, Path]) -> None:
    """Run a command and print what it took."""
    library = name.startswith(("annot.", "read_"))
    try:
        cost, _ = measured([sys.executable, "-c", MEASURE, *words] if library else [ANNOT, *words])
    except CalledProcessError as error:
        sys.exit(f"{name}: {error.stderr}")
    sizes = [file.stat().st_size for part, file in files.items() if name.startswith(part) and file.is_file()]
    written = f"{sizes[0]:12,} bytes" if sizes else ""
    print(f"{name:28} {cost.processor:8.2f} {cost.peak_mb:6.0f} {written}", flush=True)


def make(folder: Path, topics: int, documents: int, people: int, runs: int) -> None:
    """Write all files, and make the two studies that they are imported into."""
    rng = random.Random(46)
    papers = {str(number): text for number, text in enumerate(texts(RECORDS, seed=13), 1)}
    ids = list(papers)
    write(folder / "papers.jsonl", (
        json.dumps({"paper_id": name, "title": title, "abstract": sentences})
        for name, (title, sentences) in papers.items()
    ))  # fmt: skip
    names = [str(number) for number in range(1, topics + 1)]
    write(folder / "topics.jsonl", (
        json.dumps({"topic_id": name, "title": title}) for name, (title, _) in zip(names, papers.values(), strict=False)
    ))  # fmt: skip
    pairs = [(name, doc) for name in names for doc in sorted(rng.sample(ids, min(documents, RECORDS)))]
    grades = {pair: min(HIGHEST, int(rng.expovariate(1.2))) for pair in pairs}
    write(folder / "judgements.csv", ["query,document,assessor,grade", *judgements(grades, people, rng)])
    write(folder / "graded.qrels", (f"{query} 0 {doc} {grade}" for (query, doc), grade in grades.items()))
    for number in range(1, runs + 1):
        write(folder / f"run{number}.run", ranked(grades, ids, f"run{number}", names, rng))
    for name in ("study", "graded"):
        study = folder / name
        measured([ANNOT, "init", study, "--kind", "topics"])
        measured([ANNOT, "corpus", "add", folder / "papers.jsonl", "-C", study])
        measured([ANNOT, "query", "add", "--file", folder / "topics.jsonl", "-C", study])


def judgements(grades: dict[Pair, int], people: int, rng: random.Random) -> Iterator[str]:
    """Rows of two people for each pair, one in four a grade away from the truth."""
    for (query, doc), grade in grades.items():
        for person in sorted(rng.sample(range(1, people + 1), 2)):
            given = min(HIGHEST, max(0, grade + rng.choice((0, 0, 0, 0, 0, 0, -1, 1))))
            yield f"{query},{doc},a{person},{given}"


def ranked(grades: dict[Pair, int], ids: list[str], tag: str, names: list[str], rng: random.Random) -> Iterator[str]:
    """Lines of a run that finds relevant documents somewhat better than chance."""
    for name in names:
        scores = {doc: rng.gauss(grades.get((name, doc), 0), 1.5) for doc in ids}
        for rank, doc in enumerate(sorted(scores, key=scores.__getitem__, reverse=True)[:DEPTH], 1):
            yield f"{name} Q0 {doc} {rank} {scores[doc]:.6f} {tag}"


def write(path: Path, lines: Iterator[str] | list[str]) -> None:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


if __name__ == "__main__":
    main()
