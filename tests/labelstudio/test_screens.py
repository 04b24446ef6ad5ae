"""The screens without a browser: they validate offline, take the scale from the settings, and use keys of their own."""

import html
import re
import xml.etree.ElementTree as ET
from importlib import resources

import lxml.html
import pytest
from annot.base.errors import InputError
from annot.base.settings import LabelSettings, Settings
from annot.labelstudio import studio_records
from annot.labelstudio.screens import (
    check_predictions,
    instructions_html,
    screen_of,
)
from labelling_texts import LABELS, SCALE, task
from topic_texts import ADJUDICATE as ADJUDICATE_WHOLE
from topic_texts import JUDGE as JUDGE_WHOLE

LABEL_STUDIO_KEYS = {"u", "enter", "backspace", "escape", "delete", "space", "ctrl+enter", "ctrl+space", "ctrl+z"}
"""Of the keys Label Studio 1.23.2 takes for itself, those that a single control might be given."""

SCREENS = {
    "judge": screen_of("judge", scale_names=SCALE, labels=LABELS, language="en", overrides=None),
    "adjudicate": screen_of("adjudicate", scale_names=SCALE, labels=LABELS, language="en", opinions=2, overrides=None),
    "adjudicate, opinions hidden": screen_of(
        "adjudicate", scale_names=SCALE, labels=LABELS, language="en", opinions=0, overrides=None
    ),
    "judge, judged whole": JUDGE_WHOLE,
    "adjudicate, judged whole": ADJUDICATE_WHOLE,
}

EVERY_SCREEN = {
    **SCREENS,
    "facets": screen_of("facets", scale_names=SCALE, labels=LABELS, language="en", overrides=None),
}
"""With the one on which nothing is graded."""


def choices(screen: str, name: str) -> list[ET.Element]:
    return ET.fromstring(screen).findall(f".//Choices[@name='{name}']/Choice")


@pytest.mark.parametrize("screen", [name for name in EVERY_SCREEN if "whole" not in name])
def test_predictions_fit_the_screen(screen: str) -> None:
    check_predictions(EVERY_SCREEN[screen], [task()])


def test_a_prediction_with_an_unknown_label_is_refused() -> None:
    made = task()
    made["predictions"][0]["result"][0]["value"]["labels"] = ["method", "nonsense"]
    with pytest.raises(InputError) as caught:
        check_predictions(SCREENS["judge"], [made])
    assert all("fic1-method/fic101" in fault for fault in caught.value.faults)


@pytest.mark.parametrize("screen", SCREENS)
def test_grades_are_stored_as_digits_and_read_as_names(screen: str) -> None:
    grades = choices(SCREENS[screen], studio_records.RATING)
    assert [grade.get("value") for grade in grades] == ["0", "1", "2", "3", "cannot judge"]
    assert [grade.get("hotkey") for grade in grades] == ["0", "1", "2", "3", "c"]
    assert grades[3].get("html") == "<b>3</b> Near-identical"


def test_names_of_the_scale_cannot_break_out_of_the_screen() -> None:
    names = ('"/><Text name="x" value="$y"/>', "<script>alert(1)</script>", "R&D")
    grades = choices(
        screen_of("judge", scale_names=names, labels=LABELS, language="en", overrides=None), studio_records.RATING
    )
    assert [grade.get("html") for grade in grades[:3]] == [f"<b>{n}</b> {html.escape(s)}" for n, s in enumerate(names)]


@pytest.mark.parametrize("screen", EVERY_SCREEN)
def test_every_control_has_a_key_of_its_own_and_shows_it(screen: str) -> None:
    root = ET.fromstring(EVERY_SCREEN[screen])
    keyed = [*root.iter("Choice"), *root.iter("Label")]
    keys = [element.get("hotkey", "") for element in keyed]
    assert all(keys)
    assert len(set(keys)) == len(keys)
    assert not set(keys) & LABEL_STUDIO_KEYS
    nobodys = {studio_records.REASON_NEEDED, studio_records.CAUSE_NEEDED, studio_records.CAUSE_MISSING}
    for choice in (choice for choice in root.iter("Choice") if choice.get("value") not in nobodys):
        assert f">{choice.get('hotkey')}<" in (choice.get("html") or "")


PICO = ("population", "intervention", "comparison", "outcome")
MANY = ("cat", "count", "e-mail", "7th", *(f"p{number}-end" for number in range(10, 22)))


@pytest.mark.parametrize("labels", [PICO, MANY, ("a-label-of-thirty-letters-here", "other")])
def test_any_labels_get_keys_of_their_own_on_both_screens(labels: tuple[str, ...]) -> None:
    Settings(labels=LabelSettings(names=labels), facets={"a": labels[:1]})
    judge = screen_of("judge", scale_names=SCALE, labels=labels, language="en", overrides=None)
    for screen in (
        judge,
        screen_of("adjudicate", scale_names=SCALE, labels=labels, language="en", opinions=2, overrides=None),
    ):
        root = ET.fromstring(screen)
        assert [element.get("value") for element in root.iter("Label")] == list(labels)
        keys = [element.get("hotkey", "") for element in (*root.iter("Choice"), *root.iter("Label"))]
        assert len(set(keys)) == len(keys)
        assert not set(keys) & LABEL_STUDIO_KEYS
    keyed = {one.value: one.key for one in studio_records.label_keys(labels)}
    made = instructions_html(["# Judging"], scale_names=SCALE, labels=labels, language="en", screen="adjudicate")
    row = made.split("label the clicked sentence as ")[0].rsplit("<tr>", 1)[1]
    assert row.count("<b>") == len(labels)
    assert all(f"<b>{key}</b>" in row for key in keyed.values())


def test_keys_of_labels_are_letters_of_their_names_where_these_are_free() -> None:
    assert [one.key for one in studio_records.label_keys(LABELS)] == ["b", "o", "m", "r", "x"]
    assert [one.key for one in studio_records.label_keys(PICO)] == ["p", "i", "m", "o"]


@pytest.mark.parametrize("whole", [False, True])
def test_a_key_means_the_same_on_every_screen(whole: bool) -> None:
    meanings: dict[str, set[str]] = {}
    for screen in (screen for name, screen in EVERY_SCREEN.items() if ("whole" in name) == whole):
        root = ET.fromstring(screen)
        for element in [*root.iter("Choice"), *root.iter("Label")]:
            meanings.setdefault(element.get("hotkey", ""), set()).add(element.get("value", ""))
    assert all(len(values) == 1 for values in meanings.values())


@pytest.mark.parametrize("screen", EVERY_SCREEN)
def test_style_uses_nothing_that_label_studio_cleans_away(screen: str) -> None:
    style = ET.fromstring(EVERY_SCREEN[screen]).findtext("Style") or ""
    assert "a-bar" in style
    assert not set("<>&") & set(style)


@pytest.mark.parametrize("screen", EVERY_SCREEN)
def test_nothing_with_free_html_shows_data_of_the_task(screen: str) -> None:
    root = ET.fromstring(EVERY_SCREEN[screen])
    assert {element.tag for element in root.iter()} <= {
        "View", "Style", "Header", "Choices", "Choice", "HyperText", "TextArea", "Labels", "Label"
    }  # fmt: skip
    assert [element.get("value") for element in root.iter("HyperText")] == ["$pair_html"]
    assert not any("$" in (element.get("html") or "") for element in root.iter())


def test_instructions_show_guidelines_and_keys_and_no_html_of_theirs() -> None:
    pages = ["# Judging\n\n- **only** the facet\n", "<script>alert(1)</script>\n\nText <img src=x onerror=y> here"]
    made = instructions_html(pages, scale_names=SCALE, labels=LABELS, language="en", screen="judge")
    assert "<strong>only</strong>" in made
    assert "<script" not in made
    assert "<img" not in made
    assert made.index("Judging</h1>") < made.index("<h2>Keys</h2>") < made.index("Near-identical"), "the task first"
    assert "Ctrl+Enter" in made


@pytest.mark.parametrize(
    "page",
    [
        "![seen](http://elsewhere.example/a.png)",
        '![seen][one]\n\n[one]: http://elsewhere.example/a.png "A title"',
        "![seen]\n\n[seen]: http://elsewhere.example/a.png",
        "[![seen](http://elsewhere.example/a.png)](http://elsewhere.example)",
        "| a |\n| - |\n| ![seen](//elsewhere.example/a.png) |",
        "- ![seen](data:image/svg+xml;base64,PHN2Zz4=)",
    ],
)
def test_a_picture_in_guidelines_is_not_fetched_by_those_who_read_them(page: str) -> None:
    made = instructions_html([page], scale_names=SCALE, labels=LABELS, language="en", screen="judge")
    tags = {element.tag: element for element in lxml.html.fromstring(f"<div>{made}</div>").iter()}
    assert "seen" in made
    assert "img" not in tags
    assert not {name for element in tags.values() for name in element.attrib} & {"src", "srcset", "style", "background"}


def test_a_link_in_guidelines_runs_no_script() -> None:
    page = "[a](javascript:alert(1)) [b](JavaScript&#58;alert(1)) [c](https://example.org/c) <javascript:alert(1)>"
    made = instructions_html([page], scale_names=SCALE, labels=LABELS, language="en", screen="judge")
    links = [link.get("href") for link in lxml.html.fromstring(f"<div>{made}</div>").iter("a")]
    assert [address for address in links if address] == ["https://example.org/c"]


@pytest.mark.parametrize(
    ("name", "screen"), [("adjudication.md", "adjudicate"), ("topics/adjudication.md", "adjudicate, judged whole")]
)
def test_the_adjudicators_page_explains_every_cause_that_they_may_choose(name: str, screen: str) -> None:
    page = resources.files("annot.study.guideline_pages").joinpath(name).read_text(encoding="utf-8")
    causes = re.findall(r"^\| ([a-z ]+) \|", page.replace("{topic}", "topic"), re.MULTILINE)
    offered = choices(SCREENS[screen], studio_records.SETTLED_BY)
    assert causes == [choice.get("value") for choice in offered]
    assert "overrule both" in page
    assert "Judge A" in page


@pytest.mark.parametrize(
    ("tag", "reason"),
    [("en-GB", "not in English"), ("de", "not in the language of the collection")],
)
def test_a_reason_speaks_of_the_language_of_the_collection(tag: str, reason: str) -> None:
    screen = screen_of("judge", scale_names=SCALE, labels=LABELS, language=tag, overrides=None)
    assert [choice.get("value") for choice in choices(screen, studio_records.REASON)][1] == reason
    instructions = instructions_html(["# x"], scale_names=SCALE, labels=LABELS, language=tag, screen="judge")
    assert reason in instructions
