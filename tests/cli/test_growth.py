"""A study under way neither grows nor shrinks unasked: pools and plans are drawn again as they were."""

from collections.abc import Callable
from pathlib import Path

import pytest
from annot.base.records import PairKey
from annot.store import people, projects
from annot.store.database import open_store
from annot.study.workspace import Workspace
from command_line import annot, annot_done, difference, snapshot
from study_stages import Recipe, copied

SETTINGS = """
[collection]
name = "growth"

[pool]
methods = ["title_tfidf", "abs_tfidf"]
per_method = 3
"""
GROWTH = Recipe(
    file=SETTINGS,
    settings={},
    queries=(("fic0802", ("background",)), ("fic0903", ("method",))),
    frozen=False,
    people=(("a1", "a1@example.org"), ("a2", "a2@example.org")),
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two queries, pooled by two methods three deep, planned for two people, nothing sent."""
    return copied(GROWTH, "planned", tmp_path / "study").root


def pairs_of(folder: Path) -> set[tuple[str, str]]:
    with open_store(Workspace.open(folder).database_url) as store, store.read() as session:
        return {one.pair_key.pair for one in people.read_assignments(session)}


def send_all(folder: Path, *, but: Callable[[PairKey], bool] = lambda asked: False) -> None:
    """What a push leaves on record."""
    with open_store(Workspace.open(folder).database_url) as store, store.begin() as session:
        for at, name in enumerate(("a1", "a2")):
            project = projects.open_project(
                session, round="judge", assessor=name, server="s", url="u", version="1", account_id=at
            )
            projects.set_remote_project(session, project.project, at + 1)
            asked = [one.pair_key for one in people.read_assignments(session, name) if not but(one.pair_key)]
            projects.record_tasks(session, project.project, {one: place for place, one in enumerate(asked)})


def test_a_study_that_was_sent_grows_only_with_grow(folder: Path) -> None:
    planned = pairs_of(folder)
    send_all(folder)
    before = snapshot(folder)
    promised = annot_done("pool", "--per-method", 5, "--dry-run", folder=folder)
    assert "would be 4 added, 0 left out" in promised.stderr
    assert "the study has been sent: add --grow to add pairs" in promised.stderr
    refused = annot("pool", "--per-method", 5, folder=folder)
    assert refused.exit_code == 2
    assert "pairs would be added to a study that was sent" in refused.stderr
    assert "fic0802-background: 4 more" in refused.stderr
    assert "--grow" in refused.stderr
    assert not difference(before, snapshot(folder))
    grown = annot_done("pool", "--per-method", 5, "--grow", "--json", folder=folder).data
    assert sum(one["added"] for one in grown["pools"]) == 8
    # The pool has grown; the plan grows only when that is said, too.
    before = snapshot(folder)
    promised = annot_done("plan", "--dry-run", folder=folder)
    assert "would add 16 assignments" in promised.stderr
    refused = annot("plan", folder=folder)
    assert refused.exit_code == 2
    assert "8 pairs would be added to a study that was sent" in refused.stderr
    assert not difference(before, snapshot(folder))
    assert annot_done("plan", "--grow", "--json", folder=folder).data["new"] == 16
    assert pairs_of(folder) > planned
    # A second time nothing is new, and nothing has to be said.
    assert annot_done("plan", "--json", folder=folder).data["new"] == 0
    # What was not sent can be taken back: the finished study is as it was.
    assert annot_done("plan", "--withdraw", "--json", folder=folder).data == {"assignments": 16}
    assert pairs_of(folder) == planned
    refused = annot("plan", "--withdraw", folder=folder)
    assert (refused.exit_code, "was sent or judged" in refused.stderr) == (2, True)


def test_a_redraw_that_would_drop_pairs_that_were_sent_is_refused(folder: Path) -> None:
    send_all(folder)
    before = snapshot(folder)
    refused = annot("pool", "--per-method", 2, folder=folder)
    assert refused.exit_code == 2
    assert "4 pairs would leave the pool, with 8 pushed tasks" in refused.stderr
    assert "annot pool` without options" in refused.stderr
    assert not difference(before, snapshot(folder))
