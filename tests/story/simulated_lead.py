"""A project lead whose commands are real processes, some of them killed with SIGKILL in the middle of their work.

With a server of the tests, only those that are killed are processes of their own: a start takes longer than the work.
"""

import json
import multiprocessing
import os
import random
import sqlite3
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from annot.cli.main import run
from command_line import annot

PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(
    [
        *("annot.cli.main", "annot.cli.judge", "annot.cli.people", "annot.steps.exchange", "annot.steps.exchange"),
        *("annot.labelstudio.gateway", "annot.publishing.report.commands", "annot.publishing.report.terminal"),
        *("annot.cli.judge", "annot.steps.people", "annot.steps.check", "annot.steps.plan", "annot.steps.status"),
        *("annot.steps.training", "label_studio_sdk.client", "label_studio_sdk.organizations.client"),
        *("label_studio_sdk.organizations.invites.client", "label_studio_sdk.tokens.client_ext", "httpcore"),
        *("sqlalchemy.dialects.sqlite", "joblib", "yaml"),
        *("scipy.special", "krippendorff", "markdown"),
    ]
)
"""Each command is a process of its own, forked off one that has imported already what most of them need."""
COUNTED = {"task": "tasks", "judgement": "judgements", "adjudication": "adjudications"}
"""What a kill may interrupt, by table."""
TRIES = 5
"""Runs for each kill that is still due in the end; one that comes after the end of a command is none."""


class Hit(NamedTuple):
    """A command that was killed."""

    command: str
    after: float
    """Seconds after its start."""
    took: float
    """Seconds that the run took which then came to its end."""
    written: str
    """What it had put on record by then."""


class Command:
    """`annot` with these arguments, as a process of its own."""

    def __init__(self, folder: Path, arguments: Sequence[str]) -> None:
        self._written = tempfile.TemporaryDirectory(prefix="annot-command-")
        for name in STREAMS:  # it may be killed before it writes
            (Path(self._written.name) / name).touch()
        environment = {name: value for name, value in os.environ.items() if not name.startswith("LABEL_STUDIO")}
        words = ["annot", *arguments, "-C", str(folder), "--json"]
        self._process = PROCESSES.Process(target=_run, args=(words, environment, self._written.name))
        self._process.start()

    def ended(self, *, within: float | None = None) -> tuple[int | None, str, str]:
        """The exit code and what was printed to both streams; killed where it takes more seconds than these."""
        with self._written as folder:
            self._process.join(within)
            self._process.kill()
            self._process.join()
            out, err = ((Path(folder) / name).read_text(encoding="utf-8") for name in STREAMS)
        return self._process.exitcode, out, err


STREAMS = ("stdout", "stderr")


def _run(words: list[str], environment: dict[str, str], folder: str) -> None:
    os.setsid()
    os.environ.clear()
    os.environ.update(environment)
    for number, name in enumerate(STREAMS, start=1):
        os.dup2(os.open(Path(folder) / name, os.O_WRONLY), number)
    sys.argv = words
    run()


class Lead:
    """Runs `annot`, kills some of its runs, and starts the server anew.

    switch: brings the server "up" or "down"; `annot studio` where none is given. kills: dealt at random to the calls of
    `killable`, of which there are `stages`; one that finds a command at its end already is due at the next call, and
    what is left over at the last.
    """

    def __init__(
        self,
        folder: Path,
        *,
        kills: int,
        stages: int,
        rng: random.Random,
        tell: Callable[[str], None],
        switch: Callable[[str], object] | None,
    ):
        self.folder = folder
        self.hits: list[Hit] = []
        self.serving = threading.Event()
        """Cleared while the server is down."""
        self.restarts = 0
        self._rng, self._tell = rng, tell
        self._switch = switch or partial(self.done, "studio")
        self._in_process = switch is not None
        self._stages = stages
        self._dealt = Counter(rng.choices(range(stages), k=kills))
        self._stage = 0
        self._due = 0
        self._span: dict[str, float] = {}
        self._start = 1.0

    def done(self, *arguments: str, code: int = 0) -> Any:
        """Run the command to its end, which must have this exit code; what `--json` carries."""
        found: int | None
        if self._in_process:
            result = annot(*arguments, "--json", folder=self.folder)
            found, out, err = result.exit_code, result.stdout, result.stderr
        else:
            found, out, err = Command(self.folder, arguments).ended()
        self._refuse(arguments, found, {code}, err)
        return json.loads(out)["data"] if out else err

    def measure_start(self, *arguments: str) -> None:
        """Note how long a command takes that does next to nothing: no kill falls into that."""
        began = time.monotonic()
        Command(self.folder, arguments).ended()
        self._start = time.monotonic() - began

    def killable(self, *arguments: str, about: float) -> Any:
        """Run the command, killed as often as is due, and then to its end.

        about: the seconds that it may take, where no such command has been run yet.
        """
        self._due += self._dealt[self._stage]
        self._stage += 1
        last = self._stage == self._stages
        name = " ".join(arguments[:2]) if arguments[0] == "adjudicate" else arguments[0]
        hits = []
        for _ in range(TRIES * self._due if last else self._due):
            if self._due == 0:
                break
            moment = self._start + self._rng.random() * self._span.get(arguments[0], about)
            before = self._on_record()
            began = time.monotonic()
            if not self._killed(arguments, moment):
                # Sooner the next time, also where the start was measured while the machine was busy.
                took = time.monotonic() - began
                self._start = min(self._start, 0.75 * took)
                self._span[arguments[0]] = took - self._start
                if not last:
                    break
                continue
            self._due -= 1
            hits.append((moment, before, self._on_record()))
        began = time.monotonic()
        data = self.done(*arguments)
        took = time.monotonic() - began
        self._span[arguments[0]] = max(took - (0.0 if self._in_process else self._start), 0.1)
        for moment, before, after in hits:
            written = [f"{after[what] - before[what]} {rows}" for what, rows in COUNTED.items()]
            told = ", ".join(one for one in written if not one.startswith("0 ")) or "nothing"
            self.hits.append(Hit(name, moment, took, told))
        self._tell(f"annot {name}: {took:.0f} s" + (f", after {len(hits)} kill(s)" if hits else ""))
        return data

    def restart(self, meanwhile: Callable[[], None]) -> None:
        """Stop the server and start it again; whoever waits for `serving` goes on then.

        meanwhile: called while it is down.
        """
        self.serving.clear()
        self.stop()
        meanwhile()
        self.start()
        self.restarts += 1
        self._tell("server restarted")

    def start(self) -> None:
        """Start the server."""
        self._switch("up")
        self.serving.set()

    def stop(self) -> None:
        """Stop the server."""
        self._switch("down")

    def _killed(self, arguments: tuple[str, ...], moment: float) -> bool:
        """Whether SIGKILL met the command before its end."""
        command = Command(self.folder, arguments)
        code, _, err = command.ended(within=moment)
        self._refuse(arguments, code, {0, -9}, err)
        return code == -9

    def _refuse(self, arguments: tuple[str, ...], found: int | None, expected: set[int], err: str) -> None:
        if found not in expected:
            raise AssertionError(f"annot {' '.join(arguments)}: exit code {found}, expected {expected}\n{err}")

    def _on_record(self) -> dict[str, int]:
        with closing(sqlite3.connect(self.folder / "annot.db")) as database:
            return {name: database.execute(f"SELECT count(*) FROM {name}").fetchone()[0] for name in COUNTED}
