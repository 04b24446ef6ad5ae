"""An assessor leaves half-way: pairs with fewer judgements than planned have no final grade, and no page says that they
have; the lead can take them with a reason, which every page repeats."""

import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from annot.base.records import PairKey
from annot.store import people, projects
from annot.store.answers import JUDGEMENTS
from annot.store.database import open_store
from annot.study.workspace import Workspace
from command_line import Result
from small_study import DOCUMENTS, QUERIES, RECORDED, build, judgement, sourced

Run = Callable[..., Result]
SINGLE = {f"{query.query_id} {doc_id}" for query in QUERIES[2:] for doc_id in DOCUMENTS}
"""What a1 alone has judged."""


@pytest.fixture
def half(ws: Workspace) -> Workspace:
    """a1 has judged all 40 pairs, a2 the first 20; everything was sent."""
    build(ws, judged=20)
    with open_store(ws.database_url) as store, store.begin() as session:
        plan = people.read_assignments(session)
        mine = [judgement(one) for one in plan if one.assessor == "a1"]
        JUDGEMENTS.record(session, sourced(mine), recorded_at=RECORDED)
        for at, name in enumerate(("a1", "a2"), start=1):
            project = projects.open_project(
                session,
                round="judge",
                assessor=name,
                server="1 of 2031",
                url="http://studio.judges.example:8080",
                version="1.23.2",
                account_id=at,
            )
            own = [one.pair_key for one in plan if one.assessor == name]
            projects.record_tasks(session, project.project, {asked: n for n, asked in enumerate(own, start=1)})
    return ws


def test_a_pair_that_one_has_judged_and_one_who_left_has_not_is_incomplete(half: Workspace, annot: Run) -> None:
    left = annot("assessor", "leave", "a2", "--offline")
    assert left.exit_code == 0
    assert "a2 gives up 20 open pairs and keeps 20 answered pairs" in left.stdout
    status = annot("status", "--json").data
    assert (status["agreed"], status["incomplete"], status["unassigned"]) == (16, 20, 20)
    assert status["next_command"] == "annot push"
    # a2 owed the 20 judgements that nobody has now: at 30 and 60 seconds a pair they take about a quarter of an hour.
    forecast = annot("forecast", "--json").data
    assert (status["to_judge"], forecast["planned"] - forecast["judged"], forecast["vacant_pairs"]) == (20, 20, 20)
    assert forecast["forecast"]["hours_left"]["value"] == pytest.approx(20 * (30 * 60) ** 0.5 / 3600, rel=0.1)
    assert forecast["forecast"]["finish"]["date"] == {"undefined": "20 judgements without an assessor"}
    assert sum(one["complete"] for one in forecast["queries"]) == 20
    text = annot("forecast").stdout
    assert "60 of 80 judgements (75%)" in text
    assert "all pairs are judged" not in text
    refused = annot("qrels")
    assert refused.exit_code == 2
    assert {f"{pair}: 1 of 2 judgements" for pair in SINGLE} <= {line.strip() for line in refused.stderr.splitlines()}
    partial = annot("qrels", "--partial")
    assert partial.exit_code == 0
    listed = {
        line.removeprefix("left out: ").split(":")[0] for line in partial.stdout.splitlines() if "left out" in line
    }
    assert listed == SINGLE
    written = {" ".join(line.split()[::2][:2]) for line in half.qrels.read_text(encoding="utf-8").splitlines()}
    assert not written & SINGLE

    # The commands that the command named after leaving do what is said of them, also after a push.
    assert left.stderr == "next: annot push (20 tasks to send, withdraw or update on the server)\n"
    added = annot("assessor", "add", "a3", "--account", "cy@example.org")
    assert added.stderr.endswith("next: annot plan (20 pairs without an assessor, because a person left)\n")
    planned = annot("plan")
    assert planned.exit_code == 0
    assert "20 pairs that lacked an assessor got one" in planned.stderr
    status = annot("status", "--json").data
    assert (status["pairs"], status["incomplete"], status["unassigned"]) == (40, 20, 0)
    with open_store(half.database_url) as store, store.begin() as session:
        new = [judgement(one) for one in people.read_assignments(session, "a3")]
        JUDGEMENTS.record(session, sourced(new), recorded_at=RECORDED)
    assert annot("status", "--json").data["incomplete"] == 0


WHY = "the second assessor fell ill"


def test_pairs_taken_with_fewer_judgements_are_counted_on_every_page(
    half: Workspace, annot: Run, tmp_path: Path
) -> None:
    nothing = annot("qrels", "--allow-single", WHY)
    assert nothing.exit_code == 2
    assert "annot assessor leave" in nothing.stderr
    assert annot("assessor", "leave", "a2", "--offline").exit_code == 0
    # Two disputes are open: what is refused leaves nothing on record.
    assert annot("qrels", "--allow-single", WHY).exit_code == 2
    assert annot("status", "--json").data["accepted"] == 0
    taken = annot("qrels", "--partial", "--allow-single", WHY)
    assert taken.exit_code == 0
    assert f"20 pairs with fewer than 2 judgements accepted: {WHY}" in taken.stderr
    written = {" ".join(line.split()[::2][:2]) for line in half.qrels.read_text(encoding="utf-8").splitlines()}
    assert written >= SINGLE
    assert annot("status", "--json").data["accepted"] == 20

    folder = tmp_path / "release"
    assert annot("release", str(folder), "--draft").exit_code == 0
    pages = {name: (folder / name).read_text(encoding="utf-8") for name in ("README.md", "DATASHEET.md", "report.md")}
    accepted = "20 pairs with a final grade have fewer judgements than the 2 planned"
    for name, page in pages.items():
        flowed = " ".join(page.split())
        assert accepted in flowed, name
        assert f"for the following reason: {WHY}." in flowed, name
        assert "Each pair" not in re.sub(r"Each pair of a query", "", flowed), name

    # Every sentence on judgements per pair is what a reader of the release counts.
    decided = [json.loads(line) for line in (folder / "decisions.jsonl").read_text(encoding="utf-8").splitlines()]
    given = Counter(
        (one["query_id"], one["doc_id"])
        for one in map(json.loads, (folder / "judgements.jsonl").read_text(encoding="utf-8").splitlines())
    )
    planned = Counter(
        (one["query_id"], one["doc_id"])
        for one in map(json.loads, (folder / "plan.jsonl").read_text(encoding="utf-8").splitlines())
    )
    by_judgements = Counter(given.values())
    by_assessors = Counter(planned.values())
    assert (by_judgements, by_assessors, len(decided)) == ({2: 20, 1: 20}, {2: 20, 1: 20}, 38)
    card = " ".join(pages["README.md"].split())
    assert f"{by_judgements[2]} of 40 judged pairs have 2 independent judgements, {by_judgements[1]} have 1." in card
    # Of the last two documents of each query a2 gives a grade more than a1; j1 has settled those of the first query.
    assert "In 4 pairs the grades differ" in card
    assert "an adjudicator settled 2 of them, 2 are still open." in card
    datasheet = " ".join(pages["DATASHEET.md"].split())
    assert "20 of 40 pairs were given to 2 assessors, 20 were given to 1." in datasheet
    assert f"{40 * 2 - given.total()} planned judgements are missing." in datasheet
    assert "20 pairs went to 2 assessors, 20 pairs went to 1 assessor." in " ".join(pages["report.md"].split())
    croissant = json.loads((folder / "croissant.json").read_text(encoding="utf-8"))
    assert croissant["rai:annotationsPerItem"] == "20 pairs have 2, 20 pairs have 1"
    assert "20 of 40 judged pairs have 2 independent judgements, 20 have 1; " in croissant["rai:dataAnnotationProtocol"]
    # A person who is added gets these pairs all the same, and they wait for that judgement.
    assert annot("assessor", "add", "a3", "--account", "cy@example.org").exit_code == 0
    assert annot("plan").exit_code == 0
    status = annot("status", "--json").data
    assert (status["incomplete"], status["accepted"]) == (20, 0)
    with open_store(half.database_url) as store, store.read() as session:
        assert {PairKey(*pair.split()) for pair in SINGLE} == {
            one.pair_key for one in people.read_assignments(session, "a3")
        }
