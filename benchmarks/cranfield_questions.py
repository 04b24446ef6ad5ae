"""Take Cranfield's questions from corpus to release on a real Label Studio, judged by two simulated people who err.

    python benchmarks/cranfield_questions.py FOLDER CRANFIELD [--questions 40] [--per-method 10] [--seed 13]

CRANFIELD has `documents.jsonl` (paper_id, title, abstract), `questions.jsonl` (question_id, text) and `codes.txt`
(question, document, code). Four methods draw the pools, disputes are adjudicated, four systems are evaluated. Prints
how often the final grades are Cranfield's, and each system's means by the grades of the study, by Cranfield's of what
was pooled, and by all of Cranfield's. Exit code 1 if the check of all files or ir_datasets objects to the release.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from annot.steps import setup
from annot.study.workspace import Workspace
from cranfield_study import CranfieldStudy, Found, read_cranfield


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("cranfield", type=Path)
    for name, default in (("questions", 40), ("per-method", 10), ("seed", 13)):
        parser.add_argument(f"--{name}", type=int, default=default)
    options = parser.parse_args()
    if (options.folder / "annot.toml").exists():
        parser.error(f"{options.folder} holds a study already")
    study = CranfieldStudy(
        options.folder,
        read_cranfield(options.cranfield),
        asked=options.questions,
        per_method=options.per_method,
        seed=options.seed,
        start=start,
        tell=lambda text: print(text, flush=True),
    )
    try:
        found = study.run()
    finally:
        setup.down(study.ws)
    print(table(found))
    sys.exit(1 if found.problems else 0)


def start(ws: Workspace) -> None:
    """A Label Studio of the study's own."""
    setup.up(ws, port=None, per_assessor=False, tell=lambda text: print(text, flush=True))


def table(found: Found) -> str:
    """What came of it, for people."""
    lines = [f"{count:9,}  {what}" for what, count in found.counts.items()]
    lines += [f"{100 * found.right:9.1f}  percent of the final grades are Cranfield's"]
    lines += [f"{value:9.3f}  {name}, median over questions" for name, value in found.agreement.items()]
    lines += ["", "    study  pooled   whole"]
    lines += [
        f"{one.study:9.4f} {one.pooled:7.4f} {one.whole:7.4f}  {one.measure} of {one.system}" for one in found.biases
    ]
    lines += [f"{sum(found.seconds.values()):9,.0f}  seconds", *found.problems]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
