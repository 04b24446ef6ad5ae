"""A database that is lost at any of six moments comes back from the newest backup, with the same grades, nothing twice.

Each moment loses it anew, and the story goes on with what was restored.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from annot.store.answers import ADJUDICATIONS, JUDGEMENTS
from annot.store.database import open_store
from command_line import annot_done
from memory_studio import StudioOfMemory
from studies import Pair, Study, draw_pools, make_study


def on_record(study: Study) -> Any:
    """What everyone said, as it counts."""
    with open_store(study.workspace.database_url, create=False) as store, store.read() as session:
        return (
            {(one.pair_key, one.assessor): (one.grade, one.flags) for one in JUDGEMENTS.records(session)},
            {(one.pair, one.adjudicator): one.grade for one in ADJUDICATIONS.records(session)},
        )


def there(study: Study) -> dict[tuple[str, str], list[int]]:
    """Every project of the study on the server, with the ids of its tasks."""
    return {
        (round, name): [task["id"] for task in study.as_exported(name, round)]
        for round in ("judge", "adjudicate")
        for name in study.projects(round)
    }


class Story:
    """One study, and what it would have been without a loss."""

    def __init__(self, study: Study, aside: Path) -> None:
        self.study = study
        self._aside = aside
        self._adjudicated = False
        self.lost = 0

    def run(self, *words: str) -> Any:
        """The data of a command in the study as it is now."""
        self._adjudicated |= "adjudicat" in " ".join(words)
        return annot_done(*words, "--json", folder=self.study.folder).data

    def lose(self) -> None:
        """Lose the database now; what is restored, sent and fetched is what it would have been."""
        self.lost += 1
        copy = self._aside / str(self.lost)
        undisturbed = self.study.copy(copy, self.study.name)
        before = there(self.study)
        for path in self.study.folder.glob("annot.db*"):
            path.unlink()
        newest = max((self.study.folder / "backups").glob("auto-*.tar.gz"))
        self.run("restore", str(newest))
        pushed = self.run("push")["projects"]
        assert [one["sent"] for one in pushed] == [0] * len(pushed), self.lost
        for folder in (self.study.folder, undisturbed.folder):
            annot_done("pull", folder=folder)
            if self._adjudicated:
                annot_done("push", "adjudication", folder=folder)
                annot_done("pull", "adjudication", folder=folder)
        assert on_record(self.study) == on_record(undisturbed), self.lost
        assert there(self.study) == before, self.lost
        annot_done("check", "plan", folder=self.study.folder)


def grades(pairs: list[Pair], grade: Callable[[int], int]) -> dict[Pair, int | None]:
    return {pair: grade(at) for at, pair in enumerate(pairs)}


def test_a_database_lost_at_any_of_six_moments_comes_back_with_the_same_grades_and_nothing_twice(
    memory: StudioOfMemory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LABEL_STUDIO_URL", memory.url)
    monkeypatch.setenv("LABEL_STUDIO_API_KEY", memory.token)
    study = make_study(tmp_path / "study", memory, name="lost-six-times", per_method=3)
    story = Story(study, tmp_path)
    story.run("push")
    story.lose()  # 1: the minute after the first push

    first = {name: study.planned()[name] for name in ("a1", "a2")}
    study.judge("a1", grades(first["a1"][:4], lambda at: at % 4))
    study.judge("a2", grades(first["a2"][:3], lambda at: 1))
    story.run("pull")
    story.lose()  # 2: after a pull

    study.judge("a1", grades(first["a1"][:2], lambda at: 2))
    study.judge("a1", grades(first["a1"][4:5], lambda at: 3))
    story.lose()  # 3: answers were given again since

    draw_pools(study.workspace, per_method=5, grow=True)
    story.run("plan", "--grow")
    story.run("push")
    story.lose()  # 4: the minute after a push of what was added

    planned = study.planned()
    study.judge("a1", grades(planned["a1"][5:], lambda at: at % 3))
    study.judge("a2", grades(planned["a2"][3:], lambda at: 1))
    story.run("pull")
    story.run("push", "adjudication")
    disputed = [tuple(task["data"]["pair_id"].split("/")) for task in study.on_server("j1", "adjudicate")]
    assert len(disputed) > 3
    study.judge("j1", dict.fromkeys(disputed[:2], 2), "adjudicate", settled_by="another aspect of the facet")
    story.lose()  # 5: some are settled, and not pulled

    study.judge("j1", dict.fromkeys(disputed[2:], 1), "adjudicate", settled_by="another aspect of the facet")
    story.run("pull", "adjudication")
    story.run("qrels")
    written = (study.folder / "exports" / "qrels.txt").read_bytes()
    story.lose()  # 6: all is settled
    story.run("qrels")
    assert (study.folder / "exports" / "qrels.txt").read_bytes() == written
    assert story.lost == 6
