"""A screen of the study's own that cannot be judged on is refused with every reason; a sound one passes."""

from pathlib import Path

import pytest
from annot.base.errors import InputError
from annot.labelstudio.screens import check_predictions, instructions_html, screen_of
from annot.labelstudio.studio_records import Screen
from labelling_texts import LABELS, SCALE, task

LABELLED = (
    '<Labels name="sentence_label" toName="pair"><Label value="method" hotkey="m"/><Label value="other"/></Labels>'
)


def choice(value: str, key: str = "") -> str:
    return f'<Choice value="{value}"' + (f' hotkey="{key}"' if key else "") + "/>"


def graded(*choices: str, reason: str = "") -> str:
    text = f'<HyperText name="pair" value="$pair_html"/>{LABELLED}'
    return f'<View>{text}<Choices name="rating" toName="pair">{"".join(choices)}</Choices>{reason}</View>'


GRADES = [choice(str(grade), str(grade)) for grade in range(4)]
REASON = f'<Choices name="cannot_judge" toName="pair">{choice("outside my field", "f")}</Choices>'
SOUND = graded(*GRADES, choice("cannot judge", "c"), reason=REASON)


def faults(xml: str, folder: Path, kind: Screen = "judge") -> tuple[str, ...]:
    (folder / f"{kind}.xml.j2").write_text(xml, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        screen_of(kind, scale_names=SCALE, labels=LABELS, language="en", overrides=folder)
    assert caught.value.message == f"{kind}.xml.j2: the screen cannot be used"
    return caught.value.faults


def passes(xml: str, folder: Path, kind: Screen = "judge") -> bool:
    (folder / f"{kind}.xml.j2").write_text(xml, encoding="utf-8")
    return bool(screen_of(kind, scale_names=SCALE, labels=LABELS, language="en", overrides=folder))


@pytest.mark.parametrize(
    ("xml", "found"),
    [
        (graded(*GRADES[:3]), ("rating: found no choice '3', a grade of the scale",)),
        (
            graded(*GRADES, choice("4", "4")),
            ("rating: the choice '4' is not a grade of the scale",),
        ),
        (
            graded(*GRADES, choice("cannot judge", "c")),
            ("found no control named 'cannot_judge' for 'cannot judge'",),
        ),
        (
            graded(*GRADES[:3], choice("3", "2")),
            ("the key '2' is used for 2 choices, expected one",),
        ),
        (SOUND.replace('name="sentence_label"', 'name="marks"'), ("found no control named 'sentence_label'",)),
        (SOUND.replace('name="rating"', 'name="grade"'), ("found no control named 'rating'",)),
        (
            graded(*GRADES[:3], choice("best", "0")),
            (
                "rating: found no choice '3', a grade of the scale",
                "rating: the choice 'best' is not a grade of the scale",
                "the key '0' is used for 2 choices, expected one",
            ),
        ),
    ],
    ids=["a grade less", "a grade more", "no reason", "one key", "labels", "no rating", "all"],
)
def test_what_a_screen_lacks_is_named(xml: str, found: tuple[str, ...], tmp_path: Path) -> None:
    assert faults(xml, tmp_path) == found


def test_a_screen_with_all_it_needs_passes_and_reasons_are_needed_only_for_who_cannot_judge(tmp_path: Path) -> None:
    assert passes(SOUND, tmp_path)
    assert passes(graded(*GRADES), tmp_path)


@pytest.mark.parametrize("kind", ["feedback", "facets"])
def test_where_nothing_is_graded_no_grade_is_missed(kind: Screen, tmp_path: Path) -> None:
    plain = f'<View><HyperText name="pair" value="$pair_html"/>{LABELLED}</View>'
    assert passes(plain, tmp_path, kind)
    assert faults(plain, tmp_path, "judge") == ("found no control named 'rating'",)


def test_as_many_opinions_are_shown_as_are_asked_for_and_none_unless_asked() -> None:
    def shown(*opinions: int) -> list[str]:
        options = {"opinions": opinions[0]} if opinions else {}
        screen = screen_of("adjudicate", scale_names=SCALE, labels=LABELS, language="en", overrides=None, **options)
        return [letter for letter in "abcdefghijk" if f"$rating_{letter}" in screen]

    assert [shown(), shown(0), shown(1), shown(3)] == [[], [], ["a"], ["a", "b", "c"]]
    assert shown(10) == list("abcdefghij")


def test_a_screen_says_that_words_are_published_only_if_they_are() -> None:
    def screen(**published: bool) -> str:
        return screen_of("judge", scale_names=SCALE, labels=LABELS, language="en", overrides=None, **published)

    assert screen() == screen(published=False)
    assert "published without your name" not in screen()
    assert "published without your name" in screen(published=True)


def test_predictions_that_the_screen_lacks_a_label_for_are_counted_and_named() -> None:
    first, second = task(1), task(2)
    first["predictions"][0]["result"][0]["value"]["labels"] = ["nonsense"]
    second["predictions"][0]["result"][1]["value"]["labels"] = ["absurd"]
    second["predictions"][0]["result"][2]["value"]["labels"] = ["nonsense"]
    with pytest.raises(InputError, match="2 faults in the predictions") as caught:
        check_predictions(SOUND.replace(LABELLED, labelled(*LABELS)), [first, second])
    assert [fault.partition(":")[0] for fault in caught.value.faults] == ["fic1-method/fic101", "fic1-method/fic102"]


def labelled(*labels: str) -> str:
    return (
        f'<Labels name="sentence_label" toName="pair">{"".join(f"<Label value={one!r}/>" for one in labels)}</Labels>'
    )


def read(page: str) -> str:
    made = instructions_html([page], scale_names=SCALE, labels=LABELS, language="en", screen="judge")
    return made.replace("\n", "").partition("<h2>Keys</h2>")[0]


GAP = '<br class="a-gap">'


@pytest.mark.parametrize(
    ("page", "html"),
    [
        (
            "1. one\n    - x\n    - y\n2. two\n    1. a\n    2. b\n3. three",
            "<ol><li>1. one<ul><li>• x</li><li>• y</li></ul></li>"
            "<li>2. two<ol><li>1. a</li><li>2. b</li></ol></li><li>3. three</li></ol>" + GAP,
        ),
        (
            "1. one\n\n    more\n\n2. two\n\nEnd.",
            f"<ol><li><p>1. one</p><p>more</p></li><li><p>2. two</p></li></ol>{GAP}<p>End.</p>{GAP}",
        ),
    ],
    ids=["lists in a list", "paragraphs in a list"],
)
def test_numbers_and_bullets_are_in_the_text_and_a_gap_is_behind_each_whole_block(page: str, html: str) -> None:
    assert read(page) == html
