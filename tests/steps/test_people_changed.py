"""People join, come back and change their account; two never share one."""

from pathlib import Path

import pytest
from annot.base.errors import InputError
from annot.steps import people as assessor
from annot.store import people
from annot.study.workspace import Workspace
from command_line import annot_done
from small_study import RECORDED, FirstPairs, Small
from study_stages import copied


@pytest.fixture
def ws(tmp_path: Path) -> Workspace:
    """a1 and a2 judged ten of their forty pairs each, j1 settled two; no server."""
    return copied(Small(answers=FirstPairs(10)), "settled", tmp_path / "study")


def add(ws: Workspace, name: str, account: str, *, adjudicator: bool = False, dry_run: bool = False) -> str:
    return assessor.add(ws, name, account=account, adjudicator=adjudicator, dry_run=dry_run)[0]


def accounts(ws: Workspace) -> dict[str, str | None]:
    with ws.reading() as session:
        return {one.assessor: one.account for one in people.read_assessors(session)}


def test_a_person_is_added_is_there_already_or_is_changed(ws: Workspace) -> None:
    assert add(ws, "a3", "cy@example.org", dry_run=True) == "a3: would be added"
    assert "a3" not in accounts(ws)
    assert add(ws, "a3", "cy@example.org") == "a3: assessor, added"
    assert add(ws, "a3", "cy@example.org") == "a3: assessor, already in the study"
    assert add(ws, "a3", "cy@example.org", adjudicator=True) == "a3: adjudicator, changed"
    assert add(ws, "a3", "cyd@example.org", adjudicator=True) == "a3: adjudicator, changed"
    with ws.writing() as session:
        people.set_left(session, "a3", RECORDED)
    back = assessor.add(ws, "a3", account="cyd@example.org", adjudicator=False, dry_run=False)
    again = "`annot assessor add a3 --account cyd@example.org --adjudicator` makes them one again"
    assert back[0] == "a3: assessor, is back"
    assert back[1] == (f"a3 was an adjudicator until now; {again}", "a3 gets new pairs with the next `annot plan`")
    assert [one.left_on for one in assessor.listing(ws) if one.assessor == "a3"] == [None]


def test_an_adjudicator_leaves_and_is_back_with_words_on_decisions(ws: Workspace) -> None:
    said = annot_done("assessor", "leave", "j1", "--offline", folder=ws.root).stdout
    assert "`annot push adjudication`" in said
    assert "0 answered pairs" not in said
    _, notes = assessor.add(ws, "j1", account=accounts(ws)["j1"] or "", adjudicator=True, dry_run=False)
    assert notes[-1] == "j1 gets new pairs with the next `annot push adjudication`"


@pytest.mark.parametrize("name", ["a1", "j1"])
def test_who_has_answered_keeps_the_account_unless_it_is_changed_in_so_many_words(ws: Workspace, name: str) -> None:
    with pytest.raises(InputError, match=f"{name} has another account, and answers from it are on record"):
        add(ws, name, "new@example.org", adjudicator=name == "j1")
    upper = (accounts(ws)[name] or "").upper()
    assert add(ws, name, upper, adjudicator=name == "j1").endswith("changed")


def change(ws: Workspace, name: str, account: str, *, dry_run: bool = False) -> str:
    return assessor.change_account(ws, name, account=account, dry_run=dry_run)[0]


def test_an_account_is_changed_once_and_is_of_one_person(ws: Workspace) -> None:
    assert change(ws, "a1", "ann.new@example.org", dry_run=True) == "a1: would change the account"
    assert accounts(ws)["a1"] == "ann@example.org"
    assert change(ws, "a1", "ann.new@example.org") == "a1: account changed"
    assert change(ws, "a1", "Ann.New@example.org") == "a1: already has this account"
    assert accounts(ws)["a1"] == "ann.new@example.org"
    for taken in ("bob@example.org", "BOB@example.org"):
        with pytest.raises(InputError, match="the account already belongs to a2"):
            change(ws, "a1", taken)
        with pytest.raises(InputError, match="the account already belongs to a2"):
            add(ws, "a9", taken)
    with pytest.raises(InputError, match="assessor"):
        change(ws, "a8", "new@example.org")


@pytest.mark.parametrize(
    ("name", "account", "faults"),
    [("1", "ann.two@example.org", ["name"]), ("a9", "nobody", ["--account"]), ("", "x", ["name", "--account"])],
)
def test_a_name_is_a_pseudonym_and_an_account_an_address(
    ws: Workspace, name: str, account: str, faults: list[str]
) -> None:
    with pytest.raises(InputError, match="the person cannot be added") as error:
        add(ws, name, account)
    assert [fault.partition(":")[0] for fault in error.value.faults] == faults


def test_everyone_is_listed_with_what_they_were_given_and_answered(ws: Workspace) -> None:
    with ws.writing() as session:
        people.set_shares(session, {"a2": 0.5})
        people.set_left(session, "a2", RECORDED)
    found = [(one.assessor, one.adjudicator, one.assigned, one.answered, one.share) for one in assessor.listing(ws)]
    assert found == [("a1", False, 40, 10, 1.0), ("a2", False, 40, 10, 0.5), ("j1", True, 0, 0, 1.0)]
    left = assessor.PEOPLE.of(assessor.listing(ws)).rows
    assert len(left) == 3


def test_a_server_of_ones_own_needs_a_study_in_which_people_have_them(ws: Workspace) -> None:
    with pytest.raises(InputError, match="--server needs isolation"):
        assessor.own_server(ws, "a1", url=None, dry_run=False)
    own = ws.replaced("judging", isolation="server")
    with pytest.raises(InputError, match="expected an address such as"):
        assessor.own_server(own, "a1", url="studio", dry_run=False)
    assert assessor.own_server(own, "a1", url="https://a1.example.org/", dry_run=True) == ("https://a1.example.org", ())
