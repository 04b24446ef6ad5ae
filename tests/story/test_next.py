"""A study from its first command to a backup of what was published, by one who types only what `next:` says.

What a person decides is given: files and names, ratings, answers; and events that come in between: an assessor leaves,
a pair goes back, a pool grows, a setting changes, a file is deleted, an answer is changed. After each the last line of
the commands leads back to the end. The people judge and settle on a real Label Studio.
"""

import csv
import json
import shlex
import sqlite3
from contextlib import closing
from pathlib import Path

import tomlkit
from annot.study.workspace import Workspace
from annot_demo import simulated_people
from command_line import Result, annot
from complete_study import rating
from memory_studio import StudioOfMemory
from studies import Study, address_of
from study_stages import COLLECTION, answered

SIGN = "next: "
FILES = {
    "exports/agreement.json": "annot agreement",
    "exports/qrels.txt": "annot qrels",
    "exports/runs/fabs_bm25.run": "annot run fabs_bm25",
    "exports/evaluation.json": "annot evaluate",
    "exports/report.html": "annot report",
    "exports/browse.html": "annot browse",
    "exports/datasheet.md": "annot datasheet",
}
"""What is deleted, and the command that makes it again."""
GRADES = {"a1": 1, "a2": 1, "a3": 2}
MOST = 60
"""Commands from one end of the way to the other; a loop has more."""


class Lead:
    """Types what comes next, and decides what has to be decided."""

    def __init__(self, folder: Path, memory: StudioOfMemory) -> None:
        self.study = Study(folder, memory)
        self.typed: list[str] = []
        self.people = iter(("a1", "a2", "a3"))
        self.files = iter(range(9))

    def types(self, line: str, folder: Path | None = None) -> Result:
        done = annot(*shlex.split(line)[1:], folder=folder or self.study.folder)
        assert done.exit_code == 0, f"{line}: {done.exit_code}\n{done.stderr}"
        self.typed.append(line)
        return done

    def follows(self, done: Result, *, to: str = "") -> Result:
        """Go on from what a command said until `to` is named, or nothing is left to do."""
        for _ in range(MOST):
            (said,) = [line.removeprefix(SIGN) for line in done.stderr.splitlines() if line.startswith(SIGN)]
            command, _, _why = said.partition(" (")
            if said.startswith(to or "nothing is left to do"):
                return done
            assert command.startswith("annot "), said
            before = self.state()
            self.acts(command)
            done = self.types(self.decided(command))
            assert self.state() != before, f"{command} changed nothing"
        raise AssertionError(self.typed)

    def state(self) -> tuple[str, str]:
        """What is on record of the study: what was decided and answered, and what was made of it."""
        root = self.study.folder
        names = ("made.json", "pools/plan.jsonl", "corpus/manifest.json", "exports/qrels.txt")
        files = [root / name for name in names]
        on_server = self.study.projects() if (root / ".annot" / "studio").exists() else {}
        text = "".join(file.read_text(encoding="utf-8") for file in files if file.is_file())
        with closing(sqlite3.connect(root / "annot.db")) as connection:
            text += "\n".join(connection.iterdump())
        return text, json.dumps([on_server, (root / "queries.csv").is_file()])

    def decided(self, command: str) -> str:
        """The command with what a person decides in place of the words in capitals."""
        name = "j1" if "--adjudicator" in command else None
        words = {
            "corpus add FILE": lambda: ("FILE", "papers.jsonl"),
            "query choose": lambda: ("NUMBER", "2"),
            "backup": lambda: ("FILE", f"../backup-{next(self.files)}.tar.gz"),
            "release": lambda: ("FOLDER", "../release"),
        }
        for of, word in words.items():
            if command.startswith(f"annot {of}"):
                command = command.replace(*word())
        if "NAME" in command:
            name = name or next(self.people)
            command = command.replace("NAME", name).replace("EMAIL", address_of(name))
        assert not any(word.isupper() and len(word) > 2 for word in command.split()), command
        return command

    def acts(self, command: str) -> None:
        """What people do before the command."""
        if command.startswith("annot query choose"):
            rate(self.study.folder / "queries.csv")
        if command == "annot pull":
            self.judge()
        if command == "annot pull adjudication":
            self.settle()
        if command == "annot datasheet":
            (self.study.folder / "datasheet.toml").write_text(answered(), encoding="utf-8")

    def judge(self) -> None:
        """Everyone answers what is open in their project; a2 does half of it at a time."""
        for name in self.study.projects():
            tasks = [task["id"] for task in self.study.on_server(name) if not task["annotations"]]
            for task in tasks[: len(tasks) // 2] if name == "a2" else tasks:
                self.study.answer(name, task, GRADES[name])

    def settle(self) -> None:
        for task in self.study.on_server("j1", "adjudicate"):
            if not task["annotations"]:
                self.study.answer("j1", task["id"], 2)


def rate(sheet: Path) -> None:
    """The lead rates every paper of the sheet."""
    rows = list(csv.DictReader(sheet.read_text(encoding="utf-8-sig").splitlines()))
    for at, row in enumerate(row for row in rows if not row["paper_id"].startswith("#")):
        row["type"], row["rating"] = ("empirical", "resource")[at % 2], "4"
    with sheet.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)


def sets(folder: Path, section: str, **values: object) -> None:
    path = folder / "annot.toml"
    settings = tomlkit.parse(path.read_text(encoding="utf-8"))
    settings[section].update(values)  # type: ignore[union-attr]
    path.write_text(tomlkit.dumps(settings), encoding="utf-8")


def test_what_is_next_leads_from_the_first_command_to_the_last(memory: StudioOfMemory, tmp_path: Path) -> None:
    lead = Lead(tmp_path / "study", memory)
    folder = lead.study.folder
    begun = lead.types("annot init study --name next-story", folder=tmp_path)
    (folder / ".annot").mkdir()
    (folder / ".annot" / "studio").symlink_to(memory.folder)
    (folder / "papers.jsonl").write_text(simulated_people.corpus_text(), encoding="utf-8")
    sets(folder, "pool", per_method=1, methods=["title_tfidf", "abs_tfidf", "cited"])
    sets(folder, "word_vectors", epochs=1, dimensions=10)
    sets(folder, "queries", per_period=3, two_facet_share=0.0)
    sets(folder, "collection", **COLLECTION)

    # Half-way an assessor leaves, and another takes over.
    lead.follows(begun, to="annot pull (")
    lead.judge()
    lead.types("annot pull")
    left = lead.types("annot assessor leave a2")
    lead.follows(left, to="annot agreement")

    # A pair goes back to its assessor, and a pool grows.
    judged = lead.study.planned()["a1"]
    returned = lead.types(f"annot return {' '.join(judged[0])} --to a1 --why 'Read the candidate again.'")
    lead.follows(returned, to="annot agreement")
    grown = lead.types("annot pool add --method lsa --depth 2 --grow")
    ready = lead.follows(grown, to="annot agreement")
    lead.follows(ready)

    way = [" ".join(line.split()[1:3]) for line in lead.typed]
    assert way.index("corpus add") < way.index("facets") < way.index("query sample") < way.index("query choose")

    # A setting, a file, an answer: each makes old what was made from it, and nothing else.
    sets(folder, "evaluation", relevant_from=1)
    assert lead.types("annot status").stdout.splitlines()[-1].startswith(f"{SIGN}annot evaluate (")
    sets(folder, "evaluation", relevant_from=2)
    for name, command in FILES.items():
        (folder / name).rename(tmp_path / "aside")
        assert lead.types("annot status").stdout.splitlines()[-1].startswith(f"{SIGN}{command} (")
        (tmp_path / "aside").rename(folder / name)
    assert lead.types("annot status").stdout.splitlines()[-1].startswith(f"{SIGN}nothing is left to do")
    (changed, *_) = (task["annotations"][0]["id"] for task in lead.study.on_server("a1") if task["annotations"])
    with lead.study.as_person("a1") as person:
        person.change_annotation(changed, rating("3"))
    lead.follows(lead.types("annot pull"))
    assert Workspace.open(folder).qrels.is_file()
