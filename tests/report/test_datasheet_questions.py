"""The datasheet's questions and the file of answers: all of Gebru's and Bender's, kept as given, gaps found."""

import tomllib
from collections import Counter
from pathlib import Path

import pytest
from annot.base.errors import InputError
from annot.publishing.release.prose import (
    OpenQuestion,
    answer_sheet,
    ask,
    describe_open,
    open_questions,
    parse_answers,
    questions,
    unanswered,
)
from hypothesis import given
from hypothesis import strategies as st


def test_every_question_of_the_two_papers_is_asked() -> None:
    """Gebru et al., version 8: 57 questions in seven sections; ours has four more: whether people are concerned at all,
    and the payment, training and consent of those who judged.

    Bender and Friedman: nine parts.
    """
    assert list(Counter(question.id.partition(".")[0] for question in questions()).items()) == [
        ("motivation", 4),
        ("composition", 16 + 1),
        ("collection", 12 + 3),
        ("preprocessing", 4),
        ("uses", 6),
        ("distribution", 7),
        ("maintenance", 8),
        ("statement", 9),
    ]
    ids = [question.id for question in questions()]
    assert len(set(ids)) == len(ids)
    assert {question.unless for question in questions()} - {None} <= set(ids)
    assert {question.kind for question in questions()} == {"prose", "records", "optional"}


def test_a_new_sheet_holds_every_question_and_no_answer() -> None:
    sheet = answer_sheet({})
    assert all(question.text in sheet for question in questions())
    assert parse_answers(sheet, name="datasheet.toml") == {}
    assert sheet.count(' = ""\n') == len(questions())


def test_a_commented_question_is_answered_by_taking_the_mark_away() -> None:
    sheet = answer_sheet({}).replace('# funding = ""', 'funding = "Nobody."')
    assert parse_answers(sheet, name="datasheet.toml") == {"motivation.funding": "Nobody."}


answer_texts = st.text(st.characters(codec="utf-8"), max_size=60) | st.sampled_from(
    ['"', '"""', 'a"""', "\\", 'x\n"', 'x\n""""', "a\r\nb", "a\x00\x7fb", "# no comment\n[table]", "tab\there\n\\u0041"]
)


@given(st.dictionaries(st.sampled_from([question.id for question in questions()]), answer_texts, max_size=6))
def test_answers_written_into_a_sheet_are_read_back_as_they_were(answers: dict[str, str]) -> None:
    sheet = answer_sheet(answers)
    kept = {question: text.strip() for question, text in answers.items() if text.strip()}
    assert parse_answers(sheet, name="datasheet.toml") == kept
    assert answer_sheet(kept) == sheet
    assert set(tomllib.loads(sheet)) == {question.id.partition(".")[0] for question in questions()}


def test_unknown_names_are_refused_with_the_near_one_and_all_faults_come_together() -> None:
    text = '[motivaton]\npurpose = "x"\n[uses]\ntask = "x"\nused = 3\n[maintenance]\ncontact = "x"\n'
    with pytest.raises(InputError) as caught:
        parse_answers(text, name="datasheet.toml")
    assert caught.value.faults == (
        "datasheet.toml: unknown section 'motivaton': did you mean 'motivation'?",
        "datasheet.toml: uses: unknown question 'task': did you mean 'tasks'?",
        "datasheet.toml: uses.used: found 3, expected text in quotation marks",
    )
    with pytest.raises(InputError) as caught:
        parse_answers('motivation = "x"', name="d")
    assert caught.value.faults == ("d: motivation: found 'x', expected a table [motivation]",)
    with pytest.raises(InputError, match=r"datasheet\.toml: not valid TOML"):
        parse_answers("[uses", name="datasheet.toml")


@pytest.mark.parametrize(
    "placeholder", ["", "  ", "TODO", "todo:", "TBD", "*to*do", "...", "?", "<TODO>", "[tbd]", "–"]
)
def test_a_placeholder_is_no_answer(placeholder: str) -> None:
    """CSFCube's own datasheet was published with a TODO under funding."""
    ids = {question.id for question in unanswered({"motivation.funding": placeholder})}
    assert ("motivation.funding" in ids) == (placeholder != "*to*do")


def test_only_what_needs_a_person_is_unanswered() -> None:
    by_id = {question.id: question for question in questions()}
    open_ids = {question.id for question in unanswered({})}
    assert {by_id[question].kind for question in open_ids} == {"prose"}
    assert "composition.count" not in open_ids
    assert "uses.comments" not in open_ids
    everything = dict.fromkeys(open_ids, "Yes, thus.")
    assert unanswered(everything) == ()
    everything.pop("uses.used")
    assert [question.id for question in unanswered(everything)] == ["uses.used"]


@pytest.mark.parametrize(
    ("answer", "needed"), [("No.", False), ("no, only texts", False), ("Not only", True), ("Yes", True)]
)
def test_questions_about_people_need_no_answer_where_there_are_none(answer: str, needed: bool) -> None:
    open_ids = {question.id for question in unanswered({"composition.people": answer})}
    about_people = {question.id for question in questions() if question.unless == "composition.people"}
    assert len(about_people) == 9
    assert about_people <= open_ids if needed else about_people.isdisjoint(open_ids)


@pytest.mark.parametrize(
    ("open_ones", "named"),
    [
        (["a.b"], "a.b"),
        (["a.b", "c.d", "e.f"], "a.b, c.d and e.f"),
        (["a.b", "c.d", "e.f", "g.h"], "a.b, c.d, e.f and 1 more"),
        (["a.b", "c.d", "e.f", "g.h", "i.j"], "a.b, c.d, e.f and 2 more"),
    ],
)
def test_three_open_questions_are_named_and_the_others_counted(open_ones: list[str], named: str) -> None:
    (told,) = describe_open(tuple(OpenQuestion(one, "Why?") for one in open_ones))
    assert named in told
    assert f"{len(open_ones)} " in told
    assert ("more" in told) is (len(open_ones) > 3)
    assert describe_open(()) == ()


def test_a_sheet_that_asks_everything_stays_as_people_left_it(tmp_path: Path) -> None:
    path = tmp_path / "datasheet.toml"
    assert ask(path, {}, topics=False) is True
    kept = answer_sheet({}).replace('# funding = ""', 'funding   ="Nobody."').replace("[uses]", " [ uses ]")
    path.write_text(kept, encoding="utf-8-sig")
    assert ask(path, {"motivation.funding": "Nobody."}, topics=False) is False
    assert path.read_text(encoding="utf-8-sig") == kept


def test_a_sheet_that_lacks_a_question_is_written_anew_with_its_answers(tmp_path: Path) -> None:
    path = tmp_path / "datasheet.toml"
    path.write_text(answer_sheet({}).replace('# funding = ""', ""))
    answers = {"motivation.funding": "Nobody."}
    assert ask(path, answers, topics=False) is True
    assert path.read_text(encoding="utf-8") == answer_sheet(answers)


def test_what_is_said_behind_a_question_follows_its_kind() -> None:
    sheet = answer_sheet({"composition.people": "No."})
    for question in questions():
        (line,) = [one for one in sheet.split("\n") if one.startswith(f"# {question.text}")][:1]
        said = {
            "records": "(Answered from the records; your text is added.)",
            "optional": "(Optional.)",
            "prose": "(Not needed: the collection does not relate to people.)",
        }[question.kind]
        wanted = question.kind != "prose" or question.unless == "composition.people"
        assert (f" {said}" == line[len(f"# {question.text}") :]) is wanted
    assert "Not needed" not in answer_sheet({})


def test_a_study_of_topics_is_asked_where_they_come_from_and_one_of_papers_is_not(tmp_path: Path) -> None:
    new = {question.id for question in questions(topics=True)} - {question.id for question in questions()}
    assert new == {"collection.topics"}
    assert {one.question for one in open_questions({}, topics=True)} - new == {one.id for one in unanswered({})}
    path = tmp_path / "datasheet.toml"
    assert ask(path, {"motivation.funding": "Us."}, topics=False) is True
    assert "Where do the topics come from" not in path.read_text(encoding="utf-8")
    # A topic is added later: the file gets the question, and keeps the answers.
    answers = parse_answers(path.read_text(encoding="utf-8"), name="datasheet.toml")
    assert ask(path, answers, topics=True) is True
    assert 'funding = "Us."' in path.read_text(encoding="utf-8")
    assert "Where do the topics come from" in path.read_text(encoding="utf-8")
    # An answer stays one that is known when the last of the texts goes.
    assert parse_answers('[collection]\ntopics = "Ours."', name="datasheet.toml") == {"collection.topics": "Ours."}
    assert ask(path, {"collection.topics": "Ours."}, topics=False) is False
