"""While one command changes a study, others that would are refused, and those that only read it never wait."""

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from annot.corpus.labelling import Labeller
from annot.store.database import hold_study, open_store
from annot.study.workspace import Workspace
from command_line import annot, annot_done, command_of, commands, difference, snapshot
from usual import USUAL

CHANGING = {
    *(
        "corpus add",
        "import --as csfcube",
        "import --as judgements",
        "import --as grades",
        "facets",
        "query choose",
        "query add",
        "pool",
    ),
    *("assessor add", "plan", "plan --withdraw", "push", "pull", "push adjudication", "run"),
}
"""What changes the study's database or the server; one of them at a time."""
WAITING = {command.name for command in commands() if "--wait" in command.options}


def test_every_command_that_changes_a_study_is_alone() -> None:
    assert set(map(command_of, CHANGING)) <= WAITING
    dry = {command.name for command in commands() if "--dry-run" in command.options}
    # A release is drawn from one snapshot; `init` and `restore` make a study that nobody has yet; encoders work for
    # hours beside a study, and refuse a second process at the same vectors or weights by themselves. So does what asks
    # a model, of a second process that asks under the same name.
    encoders = {"encoder contexts", "encoder examples", "encoder train"}
    assert WAITING - dry == {"invite", "run", "opinion qrels", "studio nightly"}
    assert dry - WAITING == {"init", "release", "opinion ask", *encoders}


@pytest.mark.parametrize("name", ["corpus add", "query add", "pool", "plan", "push"])
def test_a_second_command_that_changes_the_study_is_refused(name: str, study: Callable[[str], Path]) -> None:
    usual = USUAL[name]
    folder = study(usual.stage)
    usual.prepare(folder)
    words = [*name.split(), *usual.typed.replace("--dry-run", "").split()]
    with hold_study(Workspace.open(folder).database_url, command="facets", wait_seconds=0):
        before = snapshot(folder)
        refused = annot(*words, folder=folder)
        assert not difference(before, snapshot(folder))
        annot_done(*words, *(["--dry-run"] if name != "run" else ["--help"]), folder=folder)
    assert (refused.exit_code, refused.stdout) == (1, "")
    assert refused.stderr.startswith("annot: `annot facets` is changing this study: process ")
    assert "--wait SECONDS" in refused.stderr


def test_commands_that_read_never_wait(study: Callable[[str], Path]) -> None:
    folder = study("measured")
    names = ("status", "comments", "agreement", "qrels", "trace", "check")
    with hold_study(Workspace.open(folder).database_url, command="facets", wait_seconds=0):
        for name in names:
            annot_done(*name.split(), *USUAL[name].typed.split(), folder=folder)


def test_labelling_holds_no_write_transaction(study: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """A `pull --watch` may not wait for minutes, nor time out."""
    folder = study("labelled")
    url, label = Workspace.open(folder).database_url, Labeller.label_all
    written = []

    def writes_meanwhile(self: Labeller, sentences: Sequence[str], counts: Any) -> Any:
        with open_store(url, create=False, wait_seconds=0.1) as store, store.begin():
            written.append(len(counts))
        return label(self, sentences, counts)

    monkeypatch.setattr(Labeller, "label_all", writes_meanwhile)
    annot_done("facets", folder=folder)
    assert sum(written) == annot_done("status", "--json", folder=folder).data["labelled_papers"]


def test_a_command_waits_as_long_as_it_is_told(study: Callable[[str], Path]) -> None:
    folder = study("labelled")
    words = [sys.executable, "-c", "from annot.cli.main import run; run()", "query", "add", "fic0802", "-f", "method"]
    with hold_study(Workspace.open(folder).database_url, command="facets", wait_seconds=0):
        assert annot("query", "add", "fic0802", "-f", "method", "--wait", "0.2", folder=folder).exit_code == 1
        waiting = subprocess.Popen(
            [*words, "--wait", "600", "--json"], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        assert waiting.stderr is not None
        said = waiting.stderr.readline()
        assert said.startswith("`annot facets` is changing this study: process ")
        assert said.endswith("; waiting until it ends\n")
    out, _ = waiting.communicate(timeout=600)
    assert waiting.returncode == 0
    assert json.loads(out)["data"]["query_id"] == "fic0802-method"
