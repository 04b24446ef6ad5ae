"""People come, leave and are replaced while a study runs on a real server: nothing answered is lost, every pair has its
people, and everybody's tasks stand in the order of the plan and say so."""

from pathlib import Path
from typing import Any

import pytest
from annot.base.records import Assessor
from annot.steps import exchange
from annot.store import people
from annot.store.answers import JUDGEMENTS
from annot.store.database import open_store
from command_line import annot, annot_done, difference, snapshot
from fixtures_studio import Studio
from studies import Pair, Study, add_people, address_of, make_study
from study_stages import quietly

REPEATS = """
[judging]
repeats = 0.2
"""


@pytest.fixture(scope="module")
def study(memory: Studio, tmp_path_factory: pytest.TempPathFactory) -> Study:
    """Two queries for a1, a2 and a3, with hidden repeats; a3 has not signed up, and nothing is sent."""
    folder = tmp_path_factory.mktemp("people") / "study"
    made = make_study(folder, memory, name="people-change", per_method=6, more_settings=REPEATS)
    annot_done("plan", "--withdraw", folder=folder)
    with open_store(made.workspace.database_url) as store, store.begin() as session:
        people.put_assessors(session, [Assessor("a3", "not-yet@story.example.org", False)])
    annot_done("plan", folder=folder)
    return made


def push(study: Study) -> tuple[dict[str, Any], str]:
    """The rows of a push by person, and what was said."""
    result = annot_done("push", "--json", folder=study.folder)
    return {one["assessor"]: one for one in result.data["projects"]}, result.stderr


def sequence(study: Study, name: str) -> list[str]:
    """The keys of a person's tasks in the order of the plan."""
    with open_store(study.workspace.database_url) as store, store.read() as session:
        plan_of = people.read_assignments(session, name)
    return ["/".join((*one.pair_key.pair, *(["2"] if one.occasion == 2 else []))) for one in plan_of]


def refuse_disorder(study: Study, *names: str) -> None:
    """Unanswered tasks stand on the server in the order of the plan, and each tells its place in it."""
    for name in names:
        keys = sequence(study, name)
        there = study.on_server(name)
        assert sorted(task["data"]["pair_id"] for task in there) == sorted(keys), name
        still_open = [task for task in there if not task["annotations"]]
        order = [task["data"]["pair_id"] for task in still_open]
        assert order == [key for key in keys if key in set(order)], name
        for task in still_open:
            place = keys.index(task["data"]["pair_id"]) + 1
            last = ", the last for now" if place == len(keys) else ""
            assert task["data"]["progress"].startswith(f"{place} of {len(keys)}{last} · "), name


def sound(study: Study) -> bool:
    found = annot("check", "plan", "--json", folder=study.folder)
    assert found.exit_code == (1 if found.data["plan"]["faults"] else 0)
    return not found.data["plan"]["faults"]


def counted(study: Study) -> dict[tuple[str, ...], int | None]:
    """Every answer on record that counts."""
    with open_store(study.workspace.database_url) as store, store.read() as session:
        return {(*one.pair_key, one.assessor): one.grade for one in JUDGEMENTS.records(session) if one.counts}


def test_from_the_first_push_to_the_last_leaver(study: Study) -> None:
    folder = study.folder

    # A push sends to those who have signed up and names the others.
    sent, said = push(study)
    assert set(sent) == {"a1", "a2"}
    assert "a3: has no account on the server" in said
    assert "not-yet" not in said
    annot_done("assessor", "change", "a3", "--account", address_of("a3"), folder=folder)
    sent, said = push(study)
    assert sent["a3"]["sent"] == len(sequence(study, "a3")) > 0
    assert [sent[name]["sent"] for name in ("a1", "a2")] == [0, 0]
    assert "has no account" not in said

    # a1 has answered three pairs, of which two were pulled.
    first, second, third = (tuple(key.split("/")) for key in sequence(study, "a1")[:3])
    study.judge("a1", {first: 3, second: 1})
    annot_done("pull", folder=folder)
    study.judge("a1", {third: 2})
    add_people(study.workspace, [("a4", False)])
    before = snapshot(folder)
    refused = annot("assessor", "leave", "a1", "--to", "a4", folder=folder)
    assert refused.exit_code == 2
    assert "1 answer of a1 not pulled yet" in refused.stderr
    assert "annot pull" in refused.stderr
    assert not difference(before, snapshot(folder))
    annot_done("pull", folder=folder)
    before = snapshot(folder)
    promised = annot_done("assessor", "leave", "a1", "--to", "a4", "--dry-run", "--json", folder=folder).data
    assert not difference(before, snapshot(folder))

    # The open pairs go to a4 in their order; the answered ones stay with a1.
    theirs = sequence(study, "a1")
    done = annot_done("assessor", "leave", "a1", "--to", "a4", "--json", folder=folder).data
    assert done == promised
    assert done["received"] == [{"assessor": "a4", "pairs": done["open"]}]
    assert sequence(study, "a1") == theirs[:3]
    kept = set(theirs[:3])
    moved = [key for key in theirs[3:] if not (key.endswith("/2") and key.removesuffix("/2") in kept)]
    assert [key for key in sequence(study, "a4") if not key.endswith("/2")] == [
        key for key in moved if not key.endswith("/2")
    ]
    assert sound(study)
    waiting = annot_done("status", "--json", folder=folder).data
    assert waiting["to_withdraw"] == done["to_withdraw"] == len(theirs) - 3
    assert "a1 (left)" in annot_done("status", folder=folder).stdout

    # The next push takes a1's unanswered tasks back and gives a4 theirs; a second one has nothing to do.
    sent, _ = push(study)
    assert sent["a1"]["withdrawn"] == len(theirs) - 3
    assert sent["a4"]["sent"] == len(sequence(study, "a4"))
    assert [task["data"]["pair_id"] for task in study.on_server("a1")] == theirs[:3]
    refuse_disorder(study, "a2", "a3", "a4")
    assert annot_done("status", "--json", folder=folder).data["to_withdraw"] == 0
    before = snapshot(folder)
    sent, _ = push(study)
    assert all((one["sent"], one["updated"], one["withdrawn"]) == (0, 0, 0) for one in sent.values())
    again = annot_done("assessor", "leave", "a1", "--to", "a4", "--json", folder=folder).data
    assert (again["open"], again["received"]) == (0, [])
    assert not difference(before, snapshot(folder))
    grades = {(*first, 1, "a1"): 3, (*second, 1, "a1"): 1, (*third, 1, "a1"): 2}
    annot_done("pull", folder=folder)
    assert counted(study) == grades

    # The study grows: what is on the server says its new place, what was answered stays as it was.
    annot_done("query", "add", "fic0407", "--facet", "background", folder=folder)
    annot_done("pool", "--grow", folder=folder)
    annot_done("plan", "--grow", folder=folder)
    sent, _ = push(study)
    assert sum(one["sent"] for one in sent.values()) > 0
    assert sum(one["updated"] for one in sent.values()) > 0
    assert "a1" not in sent
    refuse_disorder(study, "a2", "a3", "a4")

    # a2 leaves without the server being asked, while an answer of theirs is not pulled yet: the pair stays with them.
    early, late = (tuple(key.split("/")) for key in sequence(study, "a2")[:2])
    study.judge("a2", {early: 0})
    annot_done("pull", folder=folder)
    study.judge("a2", {late: 1})
    left = annot_done("assessor", "leave", "a2", "--offline", "--json", folder=folder).data
    assert left["kept"] == 1
    assert left["open"] == sum(one["pairs"] for one in left["received"]) + len(left["unassigned"])
    _, said = push(study)
    assert "a2: keeps 1 pair answered in the meantime" in said
    annot_done("pull", folder=folder)
    assert sequence(study, "a2") == ["/".join(early), "/".join(late)]
    grades |= {(*early, 1, "a2"): 0, (*late, 1, "a2"): 1}
    assert counted(study) == grades
    assert {"/".join(early), "/".join(late)} == {task["data"]["pair_id"] for task in study.on_server("a2")}

    # Two people for two a pair: what both have already waits for somebody new, and the plan then gives it away.
    if left["unassigned"]:
        assert not sound(study)
        add_people(study.workspace, [("a5", False)])
        assert annot_done("plan", "--grow", "--json", folder=folder).data["new"] > 0
    assert sound(study)
    push(study)
    refuse_disorder(study, "a3", "a4")

    # Nobody who left is invited, and a letter is private.
    invited = annot_done("invite", "--out", "letters", "--json", folder=folder).data
    assert not {"a1", "a2"} & {one["assessor"] for one in invited}
    assert (folder / "letters" / "a4.txt").stat().st_mode & 0o077 == 0


def test_the_account_of_a_person_with_answers_changes_by_its_own_command(study: Study, tmp_path: Path) -> None:
    copied = study.copy(tmp_path / "study", "people-account")
    push(copied)
    pair: Pair = tuple(sequence(copied, "a3")[0].split("/"))
    copied.judge("a3", {pair: 2})
    exchange.pull(copied.workspace, round="judging", advance=quietly)
    before = snapshot(copied.folder)
    refused = annot("assessor", "add", "a3", "--account", "a3-new@story.example.org", folder=copied.folder)
    assert refused.exit_code == 2
    assert "annot assessor change a3 --account NEW" in refused.stderr
    assert "@" not in refused.stderr
    taken = annot("assessor", "change", "a3", "--account", address_of("a4"), folder=copied.folder)
    assert (taken.exit_code, "already belongs to a4" in taken.stderr) == (2, True)
    assert not difference(before, snapshot(copied.folder))
    annot_done("assessor", "change", "a3", "--account", "a3-new@story.example.org", folder=copied.folder)
    listed = {one["assessor"]: one for one in annot_done("assessor", "list", "--json", folder=copied.folder).data}
    assert listed["a3"]["account"] == "a3-new@story.example.org"
    assert listed["a3"]["account"] in annot_done("assessor", "list", folder=copied.folder).stdout
    assert "@" not in annot_done("assessor", "list", "--csv", folder=copied.folder).stdout
    push(copied)
