"""Answers: those that are read, those that never can be, when asking stops, and what is kept."""

import json
from pathlib import Path

import pytest
from annot.publishing.terms import terms_of
from annot.study.snapshot import read_snapshot
from annot.study.workspace import Workspace
from annot_opinions import steps
from annot_opinions.on_record import opinions_on_record
from annot_opinions.prompts import Completion, completion_of, read_answer, unreadable_answer
from annot_opinions.releasing import opinion_files
from asked_study import Hurried, ask, calls_of, made, opinions_of, with_model
from command_line import annot
from scripted_server import GOOD, Scripted, serving

CUT_OFF = Scripted("<think>First I look at the", finish_reason="length")
DECLINED = '{"grade": "cannot judge", "reason": "The text is broken."}'


@pytest.fixture
def ws(tmp_path: Path) -> Workspace:
    return made(tmp_path)


@pytest.mark.parametrize(
    ("answer", "why", "remedy"),
    [
        (
            Scripted('{"grade": "2", "reason": "x"}'),
            'its grade is "2", expected a whole number from 0 to 3',
            "template",
        ),
        (CUT_OFF, "cut off at the longest answer that the model may write (finish_reason length)", "longest_answer"),
        (
            Scripted("", refusal="I cannot help."),
            "refuses to answer (finish_reason stop): I cannot help.",
            "a model that",
        ),
    ],
)
def test_after_twenty_answers_in_a_row_that_cannot_be_read_asking_stops_and_shows_one(
    ws: Workspace, answer: Scripted, why: str, remedy: str
) -> None:
    with serving(lambda request, number: Scripted() if number == 3 else answer) as server:
        ws = with_model(ws, server.url, requests_at_once=1)
        done = annot("opinion", "ask", "small", folder=ws.root)
    assert done.exit_code == 3
    assert len(server.requests) == 3 + 20
    assert "20 answers in a row cannot be read" in done.message()
    assert f"the last one: {answer.text or 'no text'}" in done.message()
    assert why in done.message()
    assert remedy in done.message()


@pytest.mark.parametrize(
    "answer",
    [Scripted(None, status=307, headers={"Location": "http://127.0.0.1:9/v1"}), Scripted(None, body=""), Scripted("2")],
    ids=["redirect", "empty", "unreadable"],
)
def test_the_exit_code_is_not_0_if_nothing_came_or_nothing_could_be_read(
    ws: Workspace, tmp_path: Path, answer: Scripted
) -> None:
    pairs = tmp_path / "pairs.txt"
    pairs.write_text("p1-method d00\np1-method d01\n", encoding="utf-8")
    with serving(lambda request, number: answer) as server:
        ws = with_model(ws, server.url, requests_at_once=1)
        done = annot("opinion", "ask", "small", "--pairs", pairs, folder=ws.root)
        assert done.exit_code == 3
        assert "none of 2 questions got an answer that could be read" in done.message()
        server.script = lambda request, number: Scripted()
        well = annot("opinion", "ask", "small", folder=ws.root)
    assert well.exit_code == 0, well.stderr


@pytest.mark.parametrize("grade", ['"cannot judge"', '"Cannot judge "'])
def test_cannot_judge_is_an_answer_without_a_grade(grade: str) -> None:
    assert read_answer(f'{{"grade": {grade}, "reason": "It is in German."}}', range(4)) == (None, "It is in German.")


@pytest.mark.parametrize("grade", ['"cannot"', "null", '""', '"n/a"'])
def test_no_other_word_is_taken_for_it(grade: str) -> None:
    text = f'{{"grade": {grade}, "reason": "x"}}'
    assert read_answer(text, range(4)) is None
    found = unreadable_answer(Completion(text, None, None, None, None, "stop"), range(4))
    assert f"; its grade is {grade}, expected a whole number from 0 to 3; " in found


def test_a_pair_that_the_model_cannot_judge_has_no_grade_and_is_not_called_unreadable(ws: Workspace) -> None:
    """Of forty pairs it declines the four of d03; two answers to d04 cannot be read."""

    def script(request: dict[str, object], number: int) -> Scripted:
        prompt = str(request["messages"])
        return Scripted(DECLINED if "Title of d03" in prompt else "2" if "Title of d04" in prompt else GOOD)

    with serving(script) as server:
        ws = with_model(ws, server.url, requests_at_once=1)
        done = ask(ws, clock=Hurried())
        assert ask(ws).asked == 0
    assert (done.settled, done.readable) == (40, 36)
    assert (done.standing.pairs, done.standing.cannot_judge, done.standing.unreadable) == (32, 4, 4)
    declined = [one for one in opinions_of(ws) if one.doc_id == "d03"]
    assert [(one.grade, one.cannot_judge, one.reason) for one in declined] == [(None, True, "The text is broken.")] * 4
    assert sum(call.doc_id == "d03" for call in calls_of(ws)) == 4
    written = steps.write(ws, "small", before_judging="A test.")
    assert (written.pairs, written.without_grade) == (32, 8)
    (found,) = steps.measure(ws, "small", before_judging="A test.")
    assert (found.worth.n_pairs, found.worth.n_unreadable, found.worth.n_declined) == (40, 4, 4)
    # People have settled the ten pairs of one query.
    assert found.worth.n_compared == 10 - 2
    assert sum(map(sum, found.worth.confusion)) == 10 - 1
    terms, _ = terms_of(ws.settings.collection, with_text=False, licence="CC0-1.0", published=None)
    files = opinion_files(opinions_on_record(ws), read_snapshot(ws), terms, currency="EUR")
    rows = [json.loads(line) for line in files["opinions/small.jsonl"].splitlines()]
    assert {one["doc_id"] for one in rows if one.get("cannot_judge")} == {"d03"}
    assert {one["doc_id"] for one in rows if one["grade"] is None} == {"d03", "d04"}


@pytest.mark.parametrize(
    "body",
    [
        *("", "no JSON", "[" * 100_000, "[]", "7", "{}", '{"choices": []}', '{"choices": {"0": {}}}'),
        *('{"choices": ["x"]}', '{"choices": [{}]}', '{"choices": [{"message": "x"}]}'),
        '{"choices": [{"message": {"content": [1]}}], "usage": [], "model": 7, "system_fingerprint": ""}',
    ],
)
def test_an_answer_of_another_form_has_no_text(body: str) -> None:
    assert completion_of(body) == Completion(None, None, None, None, None)


def test_names_and_counts_are_taken_only_if_they_are_such() -> None:
    def whole(**usage: object) -> str:
        message = {"message": {"content": None}}
        return json.dumps({"choices": [message], "model": "m" * 300, "system_fingerprint": "f", "usage": usage})

    assert completion_of(whole(prompt_tokens=0, completion_tokens=5)) == Completion("", "m" * 200, "f", 0, 5)
    for odd in (-1, True, 1.5, "7", 10**9):
        assert completion_of(whole(prompt_tokens=odd, completion_tokens=5)).tokens_in is None


@pytest.mark.parametrize(
    ("text", "grade"),
    [
        ('{{"grade": 1, "reason": "x"}}', 1),
        ('{"a": 1} {"grade": 1, "reason": "x"}', 1),
        ('<think>{"grade": 0, "reason": "y"}</think>{"grade": 1, "reason": "x"}', 1),
        ('{"grade": 1, "reason": "x"} {"grade": 1, "reason": "x"}', None),
        ('{"grade": 1, "grade": 2, "reason": "x"}', None),
        ('{"grade": 1, "reason": 7}', None),
        ('{"grade": 4, "reason": "x"}', None),
        ('{"grade": true, "reason": "x"}', None),
        ('{"grade": 1.0, "reason": "x"}', None),
        *((text, None) for text in ("", None, '{"grade": 1')),
    ],
)
def test_one_object_with_a_grade_of_the_scale_is_read_and_a_long_reason_cut(
    text: str | None, grade: int | None
) -> None:
    assert read_answer(text, range(4)) == (None if grade is None else (grade, "x"))
    assert read_answer(json.dumps({"grade": 1, "reason": "x" * 3000}), range(4)) == (1, "x" * 2000)
