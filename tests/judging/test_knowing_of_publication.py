"""Words go into a release only of people who knew of publication when they wrote, or who agreed later."""

import pytest
from annot.judging.comments import knew
from annot.store.models import How, Notice

WROTE = "2031-01-02T10:00:00+00:00"
BEFORE, LATER = "2031-01-02T09:59:59+00:00", "2031-01-02T10:00:01+00:00"


def notice(how: How, at: str, published: bool = True, *, person: str = "a1", kind: str = "comments") -> Notice:
    return Notice(person, kind, how, at, published)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("notices", "known"),
    [
        ([], False),
        ([notice("letter", BEFORE)], True),
        ([notice("letter", WROTE)], True),
        ([notice("letter", LATER)], False),
        ([notice("letter", BEFORE, False)], False),
        ([notice("letter", BEFORE, person="a2")], False),
        ([notice("letter", BEFORE, kind="reasons")], False),
        ([notice("screen", BEFORE)], True),
        ([notice("screen", BEFORE, False)], False),
        ([notice("letter", BEFORE), notice("screen", WROTE, False)], True),
        ([notice("letter", BEFORE), notice("letter", WROTE, False)], False),
        ([notice("letter", BEFORE), notice("letter", WROTE, False), notice("screen", WROTE, False)], False),
        ([notice("screen", BEFORE), notice("screen", WROTE, False)], False),
        ([notice("consent", LATER)], True),
        ([notice("consent", WROTE)], True),
        ([notice("consent", BEFORE)], False),
        ([notice("letter", BEFORE, False), notice("consent", LATER)], True),
        ([notice("consent", LATER, person="a2")], False),
    ],
)
def test_who_knew_at_the_moment_of_writing(notices: list[Notice], known: bool) -> None:
    """A screen that says nothing leaves what the letter said; consent reaches back to all that was written before."""
    assert knew(notices, "a1", "comments", WROTE) is known


@pytest.mark.parametrize(("how", "known"), [("letter", False), ("screen", False), ("consent", True)])
def test_words_without_a_moment_need_consent(how: How, known: bool) -> None:
    assert knew([notice(how, BEFORE)], "a1", "comments", None) is known
