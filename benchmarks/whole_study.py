"""Run a whole study through a real Label Studio with simulated people, and compare the store with their own log.

    python benchmarks/whole_study.py FOLDER [--query-facets 50] [--candidates 125] [--kills 10] [--restarts 1]

Every pair for two assessors: training, hidden repeats and hidden gold, answers of "cannot judge", changed minds, a
person replaced half-way, guidelines changed once, a batch sent back, and one answer that is changed after its pair was
settled, which the audit has to find. Commands are killed with SIGKILL on the way, and the server is restarted while
people answer. Prints a table. Exits with 1 if a revision or a final grade differs from the log.
"""

import sys

from command import Command
from simulated_setup import Size
from simulated_study import Found, WholeStudy

COMMAND = Command(
    __doc__,
    paths=("folder",),
    options={"query-facets": 50, "candidates": 125, "assessors": 8, "gold": 10, "kills": 10, "restarts": 1, "seed": 1},
    smallest="FOLDER --query-facets 4 --candidates 25 --assessors 4 --gold 4 --kills 2",
    seconds=lambda options: 60 + 0.2 * options.query_facets * options.candidates,
)


def main() -> None:
    options = vars(COMMAND.read())
    folder = options.pop("folder")
    if (folder / "annot.toml").exists():
        COMMAND.parser.error(f"{folder} holds a study already")
    folder.mkdir(parents=True, exist_ok=True)
    study = WholeStudy(folder, Size(**options), lambda text: print(text, flush=True))
    try:
        found = study.run()
    finally:
        study.stop()
    print(table(found))
    for difference in found.differences:
        print(difference)
    sys.exit(1 if found.differences else 0)


def table(found: Found) -> str:
    """What came of it, for people."""
    lines = [f"{count:9,}  {what}" for what, count in found.counts.items()]
    lines += [
        f"           annot {hit.command}, killed {hit.after:.1f} s after its start (a whole run {hit.took:.1f} s), "
        f"with {hit.written} written"
        for hit in found.hits
    ]
    lines += [f"{found.seconds:9,.0f}  seconds", f"{len(found.differences):9,}  differences"]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
