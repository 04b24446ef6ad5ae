"""Which judged pairs a report shows as examples of the grades, and what of them it shows."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from annot.base.names import OF_PAPERS
from annot.base.records import Assignment, Decision, Gold, Judgement, Paper
from annot.publishing.report.sections import collection
from annot.publishing.report.sections.collection import examples_body, grade_examples
from annot.publishing.report.side_by_side import Screens
from annot.store import trials
from annot.study.snapshot import read_snapshot
from study_stages import copied, published

FACETS = {"p1-aim": "aim", "p1-way": "way", "p2-aim": "aim"}
GIVEN = {
    ("p1-aim", "d1"): (3, 3),
    ("p1-aim", "d2"): (3, 1),
    ("p1-aim", "d3"): (2, 2),
    ("p1-way", "d3"): (2, 2),
    ("p1-way", "d4"): (1, None),
    ("p2-aim", "d5"): (0,),
    ("p2-aim", "d6"): (0, 0),
}
FINAL = {pair: given[0] for pair, given in GIVEN.items()}
DISPUTED = {("p1-aim", "d2"), ("p1-way", "d4")}


def study(*, texts: bool = False, trial: Any = (), final: Any = FINAL) -> Any:
    current = [
        Judgement(*pair, f"a{at}", grade, cannot_judge=None if grade is not None else "language", comment="Ada's word")
        for pair, given in GIVEN.items()
        for at, grade in enumerate(given, start=1)
    ]
    decisions = [
        Decision(*pair, grade, "adjudicated" if pair in DISPUTED else "agreed") for pair, grade in final.items()
    ]
    return SimpleNamespace(
        words=OF_PAPERS,
        outcome=SimpleNamespace(current=current, to_show=decisions),
        snapshot=SimpleNamespace(facets=FACETS, trial_pairs=frozenset(trial)),
        settings=SimpleNamespace(scale=SimpleNamespace(grades=(0, 1, 2, 3), names=("no", "bit", "much", "same"))),
        terms=SimpleNamespace(with_text=texts),
    )


@pytest.fixture(autouse=True)
def outcome_of_the_study(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is asked again, unless a test says so."""
    monkeypatch.setattr(collection, "asked_again", lambda snapshot: set())


def test_agreed_pairs_come_first_then_facets_that_are_not_shown_yet() -> None:
    assert [(example.pair, example.grade, example.origin) for example in grade_examples(study())] == [
        (("p1-aim", "d1"), 3, "agreed"),
        # The aim is shown already, although its pair comes first by id.
        (("p1-way", "d3"), 2, "agreed"),
        (("p1-way", "d4"), 1, "adjudicated"),
        # Two assessors agreed, before the only one who judged another pair.
        (("p2-aim", "d6"), 0, "agreed"),
    ]


def test_no_pair_of_training_or_hidden_gold_and_none_that_is_asked_again_is_shown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shown = {one.pair for one in grade_examples(study(trial=[("p1-aim", "d1"), ("p2-aim", "d5")]))}
    assert shown == {("p1-aim", "d2"), ("p1-way", "d3"), ("p1-way", "d4"), ("p2-aim", "d6")}
    monkeypatch.setattr(collection, "asked_again", lambda snapshot: {("p1-way", "d4"), ("p1-aim", "d3")})
    assert [one.grade for one in grade_examples(study())] == [3, 2, 0]


def test_pairs_of_any_round_of_trial_and_gold_pairs_are_kept_from_the_report(tmp_path: Path) -> None:
    ws = copied(published(3), "planned", tmp_path / "study")
    query = read_snapshot(ws).queries[0].query_id
    with ws.writing() as session:
        trials.replace_gold(session, [Gold(query, "fic0101", 2, "because", 1)])
        trials.replace_assignments(session, "hidden-gold", [Assignment(query, "fic0102", "a1", 1)])
        trials.replace_assignments(session, "substudy-abstract", [Assignment(query, "fic0103", "a2", 1)])
    assert read_snapshot(ws).trial_pairs == {(query, f"fic010{at}") for at in (1, 2, 3)}


def test_a_pair_without_a_final_grade_is_in_no_example_and_without_any_there_is_no_chapter() -> None:
    some = {pair: grade for pair, grade in FINAL.items() if grade in (0, 2)}
    (chapter,) = examples_body(study(final=some))
    assert [row[0] for row in chapter.tables[0].rows] == ["2 much", "0 no"]
    assert "No pair can be shown for bit and same." in chapter.paragraphs[0]
    assert list(examples_body(study(final={}))) == []


@pytest.mark.parametrize(("made_elsewhere", "facets"), [(None, {"aim", "way"}), ("with another tool", set())])
def test_the_guidelines_are_quoted_only_if_the_pairs_were_judged_by_them(
    made_elsewhere: str | None, facets: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[list[str], set[str]]] = []
    there = {name: Paper(name, f"Of {name}", ("One.", "Two.")) for name in ("p1", "p2", "d1", "d3", "d4")}

    def screens(_snapshot: Any, ids: list[str], of: Any) -> Screens:
        asked.append((ids, {*of}))
        return Screens(
            {"p1-aim": (1,)}, {"d1": ("goal", "other")}, {"aim": ("goal",)}, ("no", "bit", "much", "same"), {}
        )

    monkeypatch.setattr(collection, "screens_of", screens)
    monkeypatch.setattr(collection.papers, "find_papers", lambda corpus, ids: there)
    found = study(texts=True)
    found.made_elsewhere = made_elsewhere
    found.snapshot.topics, found.snapshot.texts = {name: name[:2] for name in FACETS}, {}
    found.snapshot.ws = SimpleNamespace(has_corpus=True, corpus=None)
    # No text was corrected.
    found.snapshot.outcome, found.snapshot.displays, found.snapshot.text_versions = found.outcome, {}, {}
    (chapter,) = examples_body(found)
    assert asked == [(["d1", "d3", "d4", "d6", "p1", "p2"], facets)]
    # d6 is not in the corpus.
    assert [block.summary for block in chapter.blocks] == [
        "3 same (aim): Of d1",
        "2 much (way): Of d3",
        "1 bit (way): Of d4",
    ]
    first, _, last = chapter.blocks
    assert [(side.title, side.marked) for side in first.sides] == [("Of p1", {1}), ("Of d1", {0})]
    assert first.introduction == "The assessors gave 3 and 3. The final grade is 3 same."
    assert (
        last.introduction == "The assessors gave 1 and cannot judge. The final grade is 1 bit, set by an adjudicator."
    )
    (by_id,) = collection.examples_appendix(found)
    assert [row[3] for row in by_id.tables[0].rows] == ["d1", "d3", "d4", "d6"]
    assert list(collection.examples_appendix(study())) == []


def test_without_a_licence_of_the_texts_pairs_are_shown_by_their_ids() -> None:
    (chapter,) = examples_body(study())
    (table,) = chapter.blocks
    assert table.rows[2] == ("1 bit", "way", "p1-way", "d4", "1 and cannot judge", "an adjudicator")
    assert "they are not part of the release" in chapter.paragraphs[0]
    assert "Ada" not in str(chapter)
