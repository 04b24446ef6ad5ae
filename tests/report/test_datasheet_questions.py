"""The datasheet's questions and the file of answers: all of Gebru's and Bender's, kept as given, gaps found."""

import re
import tomllib
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path

import pytest
from annot.base.errors import InputError
from annot.publishing.release.collection_facts import CollectionFacts
from annot.publishing.release.prose import (
    answer_sheet,
    ask,
    datasheet_html,
    datasheet_markdown,
    open_questions,
    parse_answers,
    questions,
    unanswered,
)
from annot_csfcube.files import Material
from collection_facts import changed
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


NOT_NEEDED = "*Not needed: the collection does not relate to people.*"


def part(markdown: str, question_id: str) -> str:
    """What stands under a question."""
    question = next(one for one in questions() if one.id == question_id)
    section = markdown.split(f"\n## {question.section}\n")[1].split("\n## ")[0]
    return section.split(f"### {question.text}\n")[1].split("\n### ")[0]


def test_the_counts_are_those_of_the_records(material: Material, facts: CollectionFacts) -> None:
    count = part(datasheet_markdown(facts, {}, overrides=None), "composition.count")
    assert f"{len(material.papers)} papers (`annot corpus add`)" in count
    assert f"{len(material.queries)} queries" in count
    assert f"{len(material.decisions)} pairs with a final grade and {len(material.judgements)} judgements" in count
    rows = [line.strip("| ").split(" | ") for line in count.splitlines() if line.startswith("| method")]
    of_method = [one for one in material.decisions if one.query_id.endswith("-method")]
    grades = [str(sum(one.grade == grade for one in of_method)) for grade in range(4)]
    disputed = str(sum(one.origin == "adjudicated" for one in of_method))
    assert rows[0][:8] == ["method", "6", str(len(of_method)), str(2 * len(of_method)), *grades]
    assert rows[0][8] == disputed


def test_answers_stand_under_their_questions_and_gaps_are_counted(facts: CollectionFacts) -> None:
    answers = {
        "motivation.funding": "The Grant of Grants.",
        "composition.people": "No.",
        "composition.count": "More soon.",
    }
    text = datasheet_markdown(facts, answers, overrides=None)
    assert "The Grant of Grants." in part(text, "motivation.funding")
    at_the_end = text.split("\n## Not answered yet\n")[1].split("\n## ")[0]
    purpose = next(one for one in questions() if one.id == "motivation.purpose").text
    assert f"- {purpose}" in at_the_end
    assert purpose not in text.split("\n## Not answered yet\n")[0]
    assert NOT_NEEDED in part(text, "collection.consent")
    assert part(text, "composition.count").rstrip().endswith("More soon.")
    assert at_the_end.count("\n- ") == len(unanswered(answers))
    assert f"**{len(unanswered(answers))} questions are not answered yet;**" in at_the_end
    full = {question.id: "Thus." for question in questions()}
    text = datasheet_markdown(facts, full, overrides=None)
    assert "not answered" not in text.lower()
    assert all(f"### {question.text}" in text for question in questions())


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []
        self.links: set[str | None] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)
        self.links.update(value for key, value in attrs if key in ("src", "href") or key.startswith("on"))


def test_the_page_needs_nothing_else_and_shows_tags_of_others_as_text(facts: CollectionFacts) -> None:
    hostile = '<script>alert(1)</script>\n\n<img src="https://evil.example/x.png" onerror="x()"> a < b & c'
    named = changed(
        facts, collection=facts.collection.model_copy(update={"title": "A <b>title</b>", "creators": ("<i>We</i>",)})
    )
    page = datasheet_html(named, datasheet_markdown(named, {"uses.tasks": hostile}, overrides=None), overrides=None)
    tags = Tags()
    tags.feed(page)
    assert not {"script", "img", "iframe", "link", "b", "i"} & set(tags.names)
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "a &lt; b &amp; c" in page
    assert tags.names.count("h2") == 9
    assert tags.names.count("table") == 4
    contents = re.findall(r'<h2 id="([^"]+)"', page)
    assert len(contents) == 9
    assert tags.links == {"https://creativecommons.org/licenses/by/4.0/", *(f"#{one}" for one in contents)}


class Addresses(HTMLParser):
    """What a page links to, and what it would fetch."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.fetched: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.links += [value or "" for name, value in attrs if name == "href"]
        self.fetched += [value or "" for name, value in attrs if name in ("src", "srcset", "background", "data")]


def test_the_page_links_to_pages_and_mailboxes_alone_and_fetches_nothing(facts: CollectionFacts) -> None:
    hostile = (
        "[a](javascript:alert(1)) [b](JaVa&#83;cript:alert(1)) [c](data:text/html,x) [d][ref]\n"
        "[e](\tjavascript:alert(1)) "
        "[f](vbscript:x) ![g](https://spy.example/g.png) ![h][pic] ![pic]\n\n"
        "[good](https://example.org/x) <lead@example.org> [part](#part)\n\n"
        "[ref]: javascript:alert(2)\n[pic]: https://spy.example/pic.png"
    )
    page = Addresses(datasheet_html(facts, hostile, overrides=None))
    assert page.fetched == []
    assert {"https://example.org/x", "mailto:lead@example.org", "#part"} <= set(page.links)
    assert all(link.startswith(("https://", "mailto:", "#")) for link in page.links)
