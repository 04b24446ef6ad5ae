"""Changes of what people are shown, in orders that nobody plans: backups, repeats, other rounds, two at once."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from annot.base.errors import BusyError
from annot.base.records import Assignment, PairKey
from annot.judging.exchange.audit import audit
from annot.labelstudio.tasks import pair_key
from annot.steps import backup
from annot.store.database import hold_study
from annot.store.shown import read_versions
from corrections import correct, decide, listed
from study_stages import copied, quietly, set_in
from worlds import QUERY, Rounds, World, served, world

RENAMED = ("Irrelevant", "Linked", "Similar", "Near-identical")
PAIR = (QUERY, "d00")


@dataclass(frozen=True)
class Repeated(Rounds):
    """a1 judges d00 and d01 twice without knowing."""

    def plan(self) -> list[Assignment]:
        again = [Assignment(QUERY, doc_id, "a1", 11 + at, 2) for at, doc_id in enumerate(("d00", "d01"))]
        return [*super().plan(), *again]


def saved(made: World, name: str = "saved.zip") -> Path:
    path = made.folder.parent / name
    backup.backup(made.ws, path, dry_run=False, advance=quietly)
    return path


def restored(made: World, path: Path) -> None:
    backup.restore(path, made.folder, replace=True, wait_seconds=0.0, dry_run=False)


def texts_on(made: World, name: str, round: str = "judge", *, occasion: int = 1, doc_id: str = "d00") -> str:
    task = made.tasks(name, round).get(pair_key(QUERY, doc_id, occasion))
    return "" if task is None else str(made.studio.tasks[task]["data"]["pair_html"])


def repeats(made: World) -> dict[str, list[int | None]]:
    """By document, the two grades of a1 that are compared."""
    outcome = made.outcome
    first = {one.doc_id: one.grade for one in outcome.judgements if one.assessor == "a1"}
    return {one.doc_id: [first.get(one.doc_id), one.grade] for one in outcome.repeats if one.counts}


def test_a_backup_from_before_a_correction_is_restored_and_answers_on_the_corrected_text_wait_for_it(
    tmp_path: Path,
) -> None:
    """The record does not know of the correction, and the server does."""
    with world("sent", tmp_path / "study") as made:
        made.studio.in_time = True
        before = saved(made)
        correct(made, "d00")
        made.push()
        made.judge("a1", {PAIR: 1, (QUERY, "d01"): 2})
        restored(made, before)
        pulled = made.pull()
        assert any("1 annotation not counted: its task shows a text that is not on record" in n for n in pulled.notes)
        assert made.outcome.answered == {("a1", PairKey(QUERY, "d01"))}
        made.push()
        assert "corrected" not in texts_on(made, "a2")
        correct(made, "d00")
        made.pull()
        assert listed(made) == {}
        made.push()
        assert "corrected" in texts_on(made, "a2")
        made.judge("a2", {PAIR: 1, (QUERY, "d01"): 2})
        made.pull()
        assert made.grades() == {PAIR: 1, (QUERY, "d01"): 2}
        assert audit(made.ws, advance=quietly).findings == ()


def test_a_repeat_on_the_earlier_text_is_not_compared_with_an_answer_on_the_corrected_one(tmp_path: Path) -> None:
    with served(copied(Repeated(), "planned", tmp_path / "study")) as made:
        made.push()
        for name in ("a1", "a2"):
            made.judge(name, dict.fromkeys(made.pairs, 1))
        made.judge("a1", dict.fromkeys(made.pairs[:2], 1), occasion=2)
        made.pull()
        assert repeats(made) == {"d00": [1, 1], "d01": [1, 1]}
        correct(made, "d00")
        decide(made, PAIR, "again")
        made.push()
        assert texts_on(made, "a1", occasion=3)
        made.judge("a1", {PAIR: 3}, occasion=3)
        made.judge("a2", {PAIR: 3}, occasion=2)
        made.pull()
        assert made.grades()[PAIR] == 3
        assert repeats(made) == {"d01": [1, 1]}
        assert audit(made.ws, advance=quietly).findings == ()


@pytest.mark.parametrize("ruling", ["stays", "again"])
def test_an_open_repeat_follows_the_text_on_which_its_pair_is_judged(tmp_path: Path, ruling: Any) -> None:
    with served(copied(Repeated(), "planned", tmp_path / "study")) as made:
        made.push()
        for name in ("a1", "a2"):
            made.judge(name, dict.fromkeys(made.pairs, 1))
        made.judge("a1", {(QUERY, "d01"): 1}, occasion=2)
        made.pull()
        correct(made, "d00")
        made.push()
        assert texts_on(made, "a1", occasion=2) == ""
        decide(made, PAIR, ruling)
        made.push()
        assert ("corrected" in texts_on(made, "a1", occasion=2)) is (ruling == "again")
        if ruling == "again":
            made.judge("a1", {PAIR: 3}, occasion=3)
            made.judge("a2", {PAIR: 3}, occasion=2)
        made.judge("a1", {PAIR: 2}, occasion=2)
        made.pull()
        assert repeats(made) == {"d00": [3 if ruling == "again" else 1, 2], "d01": [1, 1]}


def test_of_two_pushes_at_once_the_second_is_refused_and_the_change_has_one_reason(tmp_path: Path) -> None:
    """The second begins while the first is in the middle of what it sends; after it, it has nothing to explain."""
    with world("sent", tmp_path / "study") as made:
        set_in(made.folder, {"scale": {"names": list(RENAMED)}})
        seen: list[tuple[int, str]] = []

        def second(request: Any) -> None:
            if request.method == "PATCH" and not seen:
                with (
                    pytest.raises(BusyError) as error,
                    hold_study(made.ws.database_url, command="push", wait_seconds=0),
                ):
                    made.push(changed="the other reason")
                seen.append((error.value.exit_code, error.value.message))

        made.studio.faults.append(second)
        with hold_study(made.ws.database_url, command="push", wait_seconds=0):
            made.push(changed="clearer")
        assert len(seen) == 1
        made.push(changed="the other reason")
        with made.ws.reading() as session:
            versions = read_versions(session, "scale")["scale", ""]
        assert [one.why for one in versions] == [None, "clearer"]


def test_two_pushes_that_no_lock_keeps_apart_leave_one_version_and_no_task_twice(tmp_path: Path) -> None:
    """As if the lock were lost: the second push goes all the way while the first is under way."""
    with world("sent", tmp_path / "study") as made:
        correct(made, "d00")
        set_in(made.folder, {"scale": {"names": list(RENAMED)}})
        begun: list[bool] = []

        def second(request: Any) -> None:
            if request.method == "PATCH" and not begun:
                begun.append(True)
                made.push(changed="clearer")

        made.studio.faults.append(second)
        made.push(changed="clearer")
        made.push()
        for name in ("a1", "a2"):
            assert len(made.studio.tasks_of(made.project(name))) == len(made.pairs)
            assert "corrected" in texts_on(made, name)
        made.judge("a1", dict.fromkeys(made.pairs, 1))
        made.judge("a2", dict.fromkeys(made.pairs, 1))
        made.pull()
        assert len(made.grades()) == len(made.pairs)
        assert audit(made.ws, advance=quietly).findings == ()
        with made.ws.reading() as session:
            bodies = [one.body for one in read_versions(session, "scale")["scale", ""]]
        assert len({*bodies}) == 2
