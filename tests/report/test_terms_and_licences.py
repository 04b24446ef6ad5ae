"""Under which terms a collection goes out, how a licence is named, and how words stand in Markdown and YAML."""

import json
from datetime import date
from typing import Any

import pytest
import yaml
from annot.base.errors import InputError
from annot.base.settings import CollectionSettings
from annot.publishing.release.prose import SIZES, cell, flowed, quoted, size_category
from annot.publishing.terms import NEEDED, Licence, known_licence, licence_named, terms_of

WHOLE = {"creators": ("Ada",), "description": "One.", "url": "https://example.org", "licence": "CC-BY-4.0"}


def terms(settings: dict[str, Any], **given: Any) -> tuple[tuple[Any, ...], tuple[str, ...]]:
    usual: dict[str, Any] = {"with_text": None, "licence": None, "published": None}
    found, missing = terms_of(CollectionSettings(**settings), **(usual | given))
    return (found.with_text, found.licence, found.text_licence, found.published), missing


@pytest.mark.parametrize(
    ("text_licence", "with_text", "goes_out", "lacks"),
    [
        *(("", None, False, False), ("MIT", None, True, False), ("MIT", False, False, False)),
        *(("MIT", True, True, False), ("", True, False, True), ("", False, False, False)),
    ],
)
def test_texts_go_out_where_they_have_a_licence_and_nobody_keeps_them(
    text_licence: str, with_text: bool | None, goes_out: bool, lacks: bool
) -> None:
    found, missing = terms({**WHOLE, "text_licence": text_licence}, with_text=with_text)
    assert found == (goes_out, "CC-BY-4.0", text_licence, "")
    assert [fault.split(":")[0] for fault in missing] == ["collection.text_licence"] * lacks


def test_what_a_release_cannot_do_without_is_named_entry_by_entry() -> None:
    found, missing = terms({})
    assert found == (False, "", "", "")
    assert [fault.split(":")[0] for fault in missing] == [
        "collection.licence",
        *(f"collection.{one}" for one in NEEDED),
    ]
    assert [*NEEDED] == ["creators", "description", "url"]
    assert terms(WHOLE)[1] == ()


def test_a_licence_on_the_command_line_and_a_day_win_over_the_settings() -> None:
    settings = {**WHOLE, "published": date(2030, 1, 2)}
    assert terms(settings)[0] == (False, "CC-BY-4.0", "", "2030-01-02")
    assert terms(settings, licence="MIT", published=date(2031, 3, 4))[0] == (False, "MIT", "", "2031-03-04")
    found, (fault,) = terms(settings, licence="free for all")
    assert found[1] == ""
    assert fault.startswith("licence 'free for all'")


@pytest.mark.parametrize(
    ("name", "licence"),
    [
        ("mit", Licence("MIT", "https://spdx.org/licenses/MIT.html", "mit")),
        ("apache-2.0", Licence("Apache-2.0", "https://spdx.org/licenses/Apache-2.0.html", "apache-2.0")),
        ("CC0-1.0", Licence("CC0-1.0", "https://creativecommons.org/publicdomain/zero/1.0/", "cc0-1.0")),
        ("CC-BY-ND-4.0", Licence("CC-BY-ND-4.0", "https://creativecommons.org/licenses/by-nd/4.0/", "cc-by-nd-4.0")),
        ("CC-BY-3.0", Licence("CC-BY-3.0", "https://creativecommons.org/licenses/by/3.0/", "other")),
        ("GPL-3.0-or-later", Licence("GPL-3.0-or-later", "https://spdx.org/licenses/GPL-3.0-or-later.html", "gpl-3.0")),
        ("ODC-By-1.0", Licence("ODC-By-1.0", "https://spdx.org/licenses/ODC-By-1.0.html", "odc-by")),
        ("http://x.org/l", Licence("http://x.org/l", "http://x.org/l", "other")),
    ],
)
def test_a_licence_has_a_name_an_address_and_the_hubs_word(name: str, licence: Licence) -> None:
    assert licence_named(name) == licence


@pytest.mark.parametrize("words", ["free for all", "", "https://x.org/a b", "a/b"])
def test_words_are_no_licence(words: str) -> None:
    with pytest.raises(InputError, match="expected an SPDX identifier"):
        licence_named(words)
    assert known_licence(words) is None


@pytest.mark.parametrize(
    ("words", "known"),
    [
        *(("mit", "MIT"), ("CC-BY-3.0", "CC-BY-3.0"), ("https://x.org/l", "https://x.org/l"), ("publishers", None)),
        *(("EUPL-1.2", None), ("odbl-1.0", "ODbL-1.0"), ("CC-BY-4.0 for most", None)),
    ],
)
def test_words_about_a_licence_are_told_from_its_name(words: str, known: str | None) -> None:
    found = known_licence(words)
    assert (found.name if found else None) == known


@pytest.mark.parametrize("power", range(3, 13))
def test_a_size_begins_at_a_power_of_ten(power: int) -> None:
    # The hub's list has a size for each power from a thousand to a trillion.
    place = power - 2
    assert size_category(10**power - 1) == SIZES[min(place - 1, 10)]
    assert size_category(10**power) == SIZES[min(place, 10)]


def test_the_smallest_and_the_largest_size_have_no_end() -> None:
    assert [size_category(count) for count in (0, 9, 99, 10**13)] == ["n<1K", "n<1K", "n<1K", "n>1T"]


def test_words_in_a_cell_are_on_one_line_without_bars() -> None:
    assert cell("a |\n  b|c ") == "a \\| b\\|c"
    assert cell(7) == "7"


def test_paragraphs_are_lines_and_tables_and_lists_keep_theirs() -> None:
    text = "\n one\n  two \n \n| a |\n| - |\n\n\n- x\n- y\n\nthree\n- four\n"
    assert flowed(text) == "one two\n\n| a |\n| - |\n\n- x\n- y\n\nthree - four"
    assert flowed(" \n ") == ""


@pytest.mark.parametrize("text", ["plain", 'a "b" \\ c', "é𝒜", "line\nbreak", "\u2028\x85\u200b", ""])
def test_a_string_of_yaml_is_read_back_and_holds_no_other_break(text: str) -> None:
    written = str(quoted(text))
    assert yaml.safe_load(written) == text
    assert written.isprintable()
    if text.isprintable():
        assert json.loads(written) == text
