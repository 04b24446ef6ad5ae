"""Texts of people in a release: names, paths and addresses in them are listed, and the lead is asked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from annot.base.errors import FindingError
from annot.base.records import Assessor
from annot.cli import publish
from annot.publishing.release.free_texts import FreeText, KnownPeople, known_people, mentioned, mentions
from annot.publishing.release.leaks import Secret
from annot.steps.release import release
from annot.store.adjudications import read_sourced, record_adjudications
from annot.study.workspace import Workspace
from command_line import Result, difference, snapshot

PEOPLE = KnownPeople(
    accounts=frozenset({"ada.planter", "b2"}),
    names=frozenset({"ada", "planter", "jose"}),
    pseudonyms=frozenset({"a1", "j1"}),
)


def found_in(text: str, *, public: bool = False) -> list[tuple[str, str]]:
    return [(one.words, one.what) for one in mentions(FreeText("here", text, public), PEOPLE)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Ada is wrong", [("Ada", "the name of a person")]),
        ("as Mr PLANTER says", [("PLANTER", "the name of a person")]),
        ("see José", [("José", "the name of a person")]),
        ("ask Ada.Planter about it", [("Ada", "the name of a person"), ("Planter", "the name of a person"),
                                      ("Ada.Planter", "an account")]),
        ("B2 has it", [("B2", "an account")]),
        ("a1 missed the method", [("a1", "a pseudonym")]),
        ("(j1's word)", [("j1", "a pseudonym")]),
        ("notes in /home/ada/study/notes.txt, page 2", [("/home/ada/study/notes.txt", "a path")]),
        ("~/study/x", [("~/study/x", "a path")]),
        ("see /work/a/notes.md", [("/work/a/notes.md", "a path")]),
        (r"C:\Users\lead\notes.txt has it", [(r"C:\Users\lead\notes.txt", "a path")]),
        (r"\\server\share\x", [(r"\\server\share\x", "a path")]),
        ("see https://wiki.example/x?y=1", [("https://wiki.example/x?y=1", "an address")]),
        ("www.example.org", [("www.example.org", "an address")]),
    ],
)  # fmt: skip
def test_a_person_a_path_and_an_address_are_found(text: str, found: list[tuple[str, str]]) -> None:
    assert found_in(text) == found


@pytest.mark.parametrize(
    "text",
    [
        "the plant of the ada compiler and a planter of trees",
        "Adams and Plantero wrote it",
        "a10, a1b, xa1 and section-a1",
        "A1 is a kind of paper",
        "and/or, 3/4, input/output/state, w/o",
        "the measure is 0.5/0.7; see Section 2.1",
        "Both abstracts share the mechanism: a parser.",
        "ratio 1:2, C:D",
    ],
)
def test_ordinary_words_are_no_finding(text: str) -> None:
    assert found_in(text) == []


def test_a_datasheet_may_have_addresses_and_no_paths_or_people() -> None:
    assert found_in("Write to https://collection.example.", public=True) == []
    assert [what for _, what in found_in("Ada keeps /home/ada/x", public=True)] == ["the name of a person", "a path"]


def test_each_finding_is_one_line_however_many_texts_have_it_and_what_is_allowed_is_none() -> None:
    texts = [FreeText(f"text {at}", "I think that Ada is wrong about the method of this paper") for at in range(9)]
    (line,) = mentioned(texts, PEOPLE, allowed=())
    assert line == (
        "'Ada', the name of a person: text 0, \"I think that Ada is wrong about the method of...\", and 8 more texts"
    )
    assert mentioned(texts, PEOPLE, allowed=["ada"]) == ()


def test_people_are_known_by_their_accounts_and_display_names_but_for_the_makers() -> None:
    def known(*creators: str) -> KnownPeople:
        study: Any = SimpleNamespace(
            people=[Assessor("a1", "ada.planter@judges.example", False), Assessor("judge", "x9@judges.example", True)],
            outcome=SimpleNamespace(people={"a7"}),
            ws=SimpleNamespace(settings=SimpleNamespace(collection=SimpleNamespace(creators=creators))),
        )
        return known_people(study, [Secret("name", "Bo Ng Meyer"), Secret("token", "Nothing of it")])

    assert known() == KnownPeople(
        accounts=frozenset({"ada.planter", "x9"}),
        names=frozenset({"ada", "planter", "meyer"}),
        pseudonyms=frozenset({"a1", "a7"}),
    )
    assert known("Dr Ada Planter").names == {"meyer"}


@pytest.fixture
def planted(ws: Workspace) -> Workspace:
    """j1's comment on one pair names an assessor by first name and has a path and an address."""
    with ws.writing() as session:
        first = read_sourced(session)[0]
        text = "Ada is wrong, see /home/lead/study/notes.txt and https://wiki.example/ada"
        later = first._replace(record=replace(first.record, comment=text))
        assert record_adjudications(session, [later], recorded_at="2030-01-02T00:00:00+00:00").revised == 1
    return ws


WORDS = ("Ada", "/home/lead/study/notes.txt", "https://wiki.example/ada")


def test_a_release_asks_about_what_people_wrote(
    planted: Workspace, annot: Callable[..., Result], tmp_path: Path
) -> None:
    before = snapshot(planted.root)
    refused = annot("release", tmp_path / "release")
    assert refused.exit_code == 1
    for words in WORDS:
        assert f"{words!r}, " in refused.message()
    assert "--allow TEXT" in refused.stderr
    assert not (tmp_path / "release").exists()
    dry = annot("release", tmp_path / "release", "--dry-run")
    assert dry.exit_code == 0
    assert "'Ada', the name of a person" in dry.message()
    # Part of it is not all of it, and a draft leaves the house, too.
    assert annot("release", tmp_path / "release", "--allow", "Ada").exit_code == 1
    assert annot("release", tmp_path / "release", "--draft").exit_code == 1
    assert difference(before, snapshot(planted.root)) == []
    allowed = [part for words in WORDS for part in ("--allow", words)]
    assert annot("release", tmp_path / "release", *allowed).exit_code == 0
    assert "Ada is wrong" in (tmp_path / "release" / "decisions.jsonl").read_text(encoding="utf-8")


def test_the_lead_says_yes_or_no(planted: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []
    wanted: dict[str, Any] = {"with_text": None, "licence": None, "published": None, "allowed": ()}
    wanted |= {"draft": False, "dry_run": False}
    monkeypatch.setattr(publish.output, "say", shown.append)
    for answer in (False, True):
        monkeypatch.setattr(publish, "confirmed", lambda question, answer=answer: answer)
        if not answer:
            with pytest.raises(FindingError, match="nothing written"):
                release(planted, tmp_path / "release", may_publish=publish._may_publish, **wanted)
            assert not (tmp_path / "release").exists()
    release(planted, tmp_path / "release", may_publish=publish._may_publish, **wanted)
    assert (tmp_path / "release" / "qrels.txt").is_file()
    assert all(any(words in line for line in shown) for words in WORDS)


def test_nothing_is_asked_of_a_release_whose_texts_name_nothing(ws: Workspace, tmp_path: Path) -> None:
    def asked(found: object) -> bool:
        raise AssertionError(found)

    written = release(
        ws, tmp_path / "release", with_text=None, licence=None, published=None, allowed=(), draft=False, dry_run=False,
        may_publish=asked,
    )  # fmt: skip
    assert written.files
