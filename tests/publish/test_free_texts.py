"""Texts of people in a release: names, paths and addresses in them are listed, and the lead is asked."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from annot.base.records import Addition, Adjudication, Assessor, Decision, Judgement, Pool
from annot.publishing.release.leaks import FreeText, KnownPeople, free_texts, known_people, mentioned, mentions
from annot.store.answers import ADJUDICATIONS
from annot.store.shown import ShownVersion
from annot.study.workspace import Workspace
from command_line import Result, annot, difference, snapshot
from small_study import FirstPairs, Small
from study_stages import copied

PEOPLE = KnownPeople(
    accounts=frozenset({"ada.planter", "b2"}),
    names=frozenset({"ada", "planter", "jose"}),
    pseudonyms=frozenset({"a1", "j1"}),
)


def found_in(text: str, *, public: bool = False) -> list[tuple[str, str]]:
    return [(match[0], meaning) for match, meaning in mentions(FreeText("here", text, public), PEOPLE)]


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
        ("see /home/a/notes.md", [("/home/a/notes.md", "a path")]),
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
    (line,) = mentioned(texts, PEOPLE, allowed=(), excerpts=True)
    assert line == (
        "'Ada', the name of a person: text 0, \"I think that Ada is wrong about the method of...\", and 8 more texts"
    )
    (line,) = mentioned(texts, PEOPLE, allowed=(), excerpts=False)
    assert line == "'Ada', the name of a person: text 0, and 8 more texts"
    assert mentioned(texts, PEOPLE, allowed=["ada"], excerpts=True) == ()


def test_people_are_known_by_their_accounts_and_display_names_but_for_the_makers() -> None:
    def known(*creators: str) -> KnownPeople:
        study: Any = SimpleNamespace(
            people=[Assessor("a1", "ada.planter@judges.example", False), Assessor("judge", "x9@judges.example", True)],
            outcome=SimpleNamespace(people={"a7"}),
            ws=SimpleNamespace(settings=SimpleNamespace(collection=SimpleNamespace(creators=creators))),
        )
        return known_people(study, [("name", "Bo Ng Meyer"), ("token", "Nothing of it")])

    assert known() == KnownPeople(
        accounts=frozenset({"ada.planter", "x9"}),
        names=frozenset({"ada", "planter", "meyer"}),
        pseudonyms=frozenset({"a1", "a7"}),
    )
    assert known("Dr Ada Planter").names == {"meyer"}


def test_every_text_of_a_person_that_goes_out_is_looked_at() -> None:
    """Those that stay here are not: comments of people who had not known, and reasons that a screen offers."""
    judged = Judgement("q", "d1", "a1", None, cannot_judge="cut by Bo", comment="It was Bo.")
    offered = Judgement("q", "d2", "a1", None, cannot_judge="outside my field")
    pool = Pool(
        "p", "blocks", 2, 10, 1, (), (), (), 0, (), (Addition(2, "manual", None, ("d",), "Bo had it", "x", "y"),)
    )
    study: Any = SimpleNamespace(
        outcome=SimpleNamespace(
            everything=(judged, offered),
            decisions=(
                Decision("q", "d3", 1, "adjudicated", "j1", "as Bo says"),
                Decision("q", "d4", 1, "adjudicated", "j1", "slip"),
            ),
            unjudgeable={("q", "d5"): (Adjudication("q", "d5", "j1", None, "shown", (), cannot_judge="ask Bo"),)},
            accepted={("q", "d6"): "Bo left", ("q", "d7"): "Bo left"},
        ),
        pools={"p": pool},
        runs=(SimpleNamespace(tag="r", facts={"model": {"path": "/home/bo/model"}, "seed": 1}),),
        shown={
            ("scale", ""): [
                ShownVersion("scale", "", "2031-01-01T00:00:00+00:00", sha256, why, None, "{}")
                for sha256, why in (("1", None), ("2", "Bo asked"))
            ]
        },
        text_versions={"d1": [SimpleNamespace(why=None), SimpleNamespace(why="Bo saw it")]},
    )
    words: Any = SimpleNamespace(
        comments={judged},
        reasons={("q", "d3"): "Bo again."},
        kinds=(SimpleNamespace(kind="comments", consents=("by Bo",)),),
    )
    found = [
        one.text
        for one in free_texts(study, words, {"motivation.purpose": "For Bo."}, added=[("a wing", "Bo wanted it")])
    ]
    assert found == [
        *("It was Bo.", "Bo again.", "cut by Bo", "as Bo says", "ask Bo", "For Bo.", "Bo left", "by Bo", "Bo had it"),
        *("Bo wanted it", "Bo asked", "Bo saw it", "/home/bo/model"),
    ]


@pytest.fixture
def small(tmp_path: Path) -> Workspace:
    return copied(Small(answers=FirstPairs(10)), "settled", tmp_path / "study")


@pytest.fixture
def planted(small: Workspace) -> Workspace:
    """The adjudicator's reason on one pair names an assessor by first name and has a path and an address."""
    with small.writing() as session:
        first = ADJUDICATIONS.read(session)[0]
        text = "Ann is wrong, see /home/lead/study/notes.txt and https://wiki.example/ann"
        later = first._replace(record=replace(first.record, reason=text))
        assert ADJUDICATIONS.record(session, [later], recorded_at="2030-01-02T00:00:00+00:00").revised == 1
    return small


WORDS = ("Ann", "/home/lead/study/notes.txt", "https://wiki.example/ann")


def test_a_release_asks_about_what_people_wrote(planted: Workspace, tmp_path: Path) -> None:
    """A draft leaves the house, too."""

    def draft(*options: object) -> Result:
        return annot("release", tmp_path / "release", "--draft", *options, folder=planted.root)

    before = snapshot(planted.root)
    refused = draft()
    assert refused.exit_code == 1
    for words in WORDS:
        assert f"{words!r}, " in refused.message()
    assert "--allow TEXT" in refused.stderr
    dry = draft("--dry-run")
    assert (dry.exit_code, "'Ann', the name of a person" in dry.message()) == (0, True)
    assert draft("--allow", "Ann").exit_code == 1, "part of it is not all of it"
    assert not (tmp_path / "release").exists()
    assert difference(before, snapshot(planted.root)) == []
    assert draft(*(part for words in WORDS for part in ("--allow", words))).exit_code == 0
    assert "Ann is wrong" in (tmp_path / "release" / "decisions.jsonl").read_text(encoding="utf-8")
