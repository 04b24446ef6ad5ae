"""What each grade means: a list on the page of the facet, shown on the screen, and changed with the page."""

import json

import pytest
from annot.base.errors import FindingError
from annot.store.shown import read_versions
from annot.study.guidelines import short_criteria
from worlds import World

PAGE = """# Method

How it was done.

- 3: the same steps on the same things
- 2: the same steps
- 1: a step in common
- 0: no step in common
"""
"""Another study's own."""


def page(world: World, text: str) -> None:
    (world.folder / "guidelines" / "method.md").write_text(text, encoding="utf-8")


def screens(world: World) -> set[str]:
    """The screens of both assessors."""
    return {world.studio.projects[world.project(name)]["label_config"] for name in ("a1", "a2")}


def test_the_screen_says_what_the_page_says_and_changes_with_it_for_a_reason(planned: World) -> None:
    page(planned, PAGE)
    planned.push()
    (screen,) = screens(planned)
    assert "the same steps on the same things" in screen
    page(planned, PAGE.replace("a step in common\n- 0: no", "one step in common\n- 0: no"))
    with pytest.raises(FindingError, match="guidelines of method"):
        planned.push()
    assert screens(planned) == {screen}
    planned.push(changed="one step was meant")
    (changed,) = screens(planned)
    assert ("one step in common" in changed, "one step in common" in screen) == (True, False)
    with planned.ws.reading() as session:
        versions = read_versions(session, "screen")["screen", "judge"]
    shown = [json.loads(version.body)["inputs"]["criteria"]["method"][1] for version in versions]
    assert shown == ["a step in common", "one step in common"]


@pytest.mark.parametrize(
    ("text", "meanings"),
    [
        ("- 1: yes\n- 0: no\n", ["no", "yes"]),
        ("* 0: no,\n  never\n* 1: yes\n", ["no, never", "yes"]),
        ("- 1: yes\n- 1: perhaps\n- 0: no\n", []),
        ("- 2: too many\n- 1: yes\n- 0: no\n", []),
    ],
)
def test_a_list_has_one_meaning_for_each_grade(text: str, meanings: list[str]) -> None:
    assert short_criteria(f"# Page\n\n{text}\n## 1 Yes\n", 2) == meanings
