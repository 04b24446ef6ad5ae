"""A text is corrected after a model read it: no answer is compared with grades that were given on another text."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from annot.base.errors import MissingInput
from annot.base.records import Gold
from annot.publishing.report.study import Study
from annot.steps.publish import release
from annot.store import trials
from annot.study.snapshot import read_snapshot
from annot_opinions import chapters as section
from annot_opinions import steps
from annot_opinions.measured import measured_opinions
from annot_opinions.steps import Selection, preview
from asked_study import ask as ask_model
from asked_study import calls_of, with_model
from command_line import annot_done
from corrections import correct, decide, sentences
from scripted_server import Scripted, Server, serving
from small_study import DOCUMENTS
from study_stages import set_in
from worlds import QUERY, Pair, World, world

PAIR = (QUERY, "d00")
NEW = sentences("d00", "corrected")[0]


def answer(request: dict[str, Any], number: int) -> Scripted:
    """Grade 3 if the model read the corrected text of d00 and 0 for all else."""
    grade = 3 if NEW in request["messages"][-1]["content"] else 0
    return Scripted(json.dumps({"grade": grade, "reason": "Because."}))


@pytest.fixture
def server() -> Iterator[Server]:
    with serving(answer) as server:
        yield server


@pytest.fixture
def judged(tmp_path: Path, server: Server) -> Iterator[World]:
    """All is judged and settled, and the model was asked about all of it."""
    with world("settled", tmp_path / "study") as made:
        ask(made, server)
        yield made


def ask(made: World, server: Server, name: str = "small", **more: Any) -> Any:
    with_model(made.ws, server.url, name)
    return ask_model(made.ws, name, **more)


def asked_texts(server: Server) -> list[bool]:
    """Whether each prompt had the corrected text of d00."""
    return [NEW in prompt for prompt in server.prompts]


def standing(made: World) -> Any:
    (listed,) = steps.listing(made.ws)
    return listed


def judge_again(made: World, pair: Pair) -> None:
    made.push()
    for name in ("a1", "a2"):
        made.judge(name, {pair: 3}, occasion=2)
    made.pull()


def compared(made: World) -> tuple[int, int]:
    """How many pairs the report compares, and how many answers it sets aside."""
    (found,) = measured_opinions(Study(read_snapshot(made.ws)))
    return found.worth.n_compared, found.standing.set_aside


def test_what_stays_is_compared_and_what_is_judged_again_is_not_until_the_model_read_it(
    judged: World, server: Server
) -> None:
    assert compared(judged) == (10, 0)
    correct(judged, "d00")
    decide(judged, PAIR, "stays")
    assert compared(judged) == (10, 0)
    assert ask(judged, server).asked == 0
    correct(judged, "d01")
    decide(judged, (QUERY, "d01"), "again")
    assert standing(judged).set_aside == 1
    judge_again(judged, (QUERY, "d01"))
    assert compared(judged) == (9, 1)
    text = " ".join(section.paragraphs_of(measured_opinions(Study(read_snapshot(judged.ws)))))
    assert "answers on 1 pair are set aside" in text
    assert "small: 1 pair set aside" in annot_done("opinion", "report", folder=judged.folder).message()
    done = ask(judged, server)
    assert (done.asked, done.standing.set_aside) == (1, 0)
    assert "1 pair is asked about again: a text was corrected" in done.notes
    assert ask(judged, server).asked == 0


def test_a_corrected_pair_is_left_out_of_the_qrels_of_the_model_and_comes_back_with_its_new_grade(
    judged: World, server: Server
) -> None:
    def grades() -> dict[str, int]:
        lines = steps.write(judged.ws, "small", before_judging=None).path.read_text(encoding="utf-8").splitlines()
        return {line.split()[2]: int(line.split()[3]) for line in lines}

    assert grades() == dict.fromkeys(DOCUMENTS, 0)
    correct(judged, "d00")
    decide(judged, PAIR, "again")
    judge_again(judged, PAIR)
    assert grades() == dict.fromkeys(DOCUMENTS[1:], 0)
    assert steps.write(judged.ws, "small", before_judging=None).set_aside == 1
    assert "1 pair left out, on which the model read an earlier text" in annot_done(
        "opinion", "qrels", "small", folder=judged.folder
    ).stdout.replace("\n", " ")
    ask(judged, server)
    assert grades() == {**dict.fromkeys(DOCUMENTS, 0), "d00": 3}
    assert [call.grade for call in calls_of(judged.ws) if call.pair == PAIR] == [0, 3]


def test_a_pair_that_waits_is_not_asked_about_and_one_that_stays_is_asked_with_the_text_that_was_judged(
    tmp_path: Path, server: Server
) -> None:
    with world("settled", tmp_path / "study") as made:
        correct(made, "d00")
        done = ask(made, server)
        assert (done.asked, any(asked_texts(server))) == (9, False)
        assert done.notes == (
            "1 pair left out, which waits for your decision on a corrected text; see `annot corpus corrected`",
        )
        decide(made, PAIR, "stays")
        assert "Why d00." in preview(made.ws, "small", Selection(), before_judging=None).prompt
        assert ask(made, server).asked == 1
        assert not any(asked_texts(server))
        assert compared(made) == (10, 0)


def test_an_opinion_on_the_corrected_text_is_set_aside_if_the_pair_stays_with_the_earlier_one(
    tmp_path: Path, server: Server
) -> None:
    """Nobody had judged the pair when the model read the corrected text; an answer on the earlier one came in later."""
    with world("sent", tmp_path / "study") as made:
        correct(made, "d00")
        ask(made, server)
        assert sum(asked_texts(server)) == 1
        made.judge("a1", dict.fromkeys(made.pairs, 1))
        made.pull()
        decide(made, PAIR, "stays")
        assert standing(made).set_aside == 1
        assert ask(made, server).asked == 1
        assert standing(made).set_aside == 0
        assert sum(asked_texts(server)) == 1


def test_an_opinion_all_of_whose_answers_are_set_aside_is_not_shown_and_the_error_says_why(
    judged: World, server: Server
) -> None:
    correct(judged, "p1")
    decide(judged, None, "again", every=True)
    with pytest.raises(MissingInput, match="no answer yet on the texts that are judged"):
        steps.measure(judged.ws, "small", before_judging="A test.")
    assert standing(judged).set_aside == 10


def released(made: World) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    folder = made.folder / "release"
    set_in(made.folder, {"collection": {"text_licence": "CC0-1.0"}})
    release(made.ws, folder, with_text=True, licence="CC0-1.0", published=None, allowed=(), draft=True, dry_run=False)
    answers, versions = (
        [json.loads(line) for line in (folder / name).read_text(encoding="utf-8").splitlines()]
        for name in ("opinions/small.jsonl", "versions.jsonl")
    )
    return [one for one in answers if one["doc_id"] == "d00"], versions


def test_a_release_says_which_version_each_answer_was_given_on(judged: World, server: Server) -> None:
    correct(judged, "d00")
    decide(judged, PAIR, "again")
    (answer,), _ = released(judged)
    assert (answer["grade"], answer["versions"], answer["set_aside"]) == (0, {"document": 1}, True)
    ask(judged, server)
    answers, versions = released(judged)
    assert [(one["grade"], one["versions"], one.get("set_aside")) for one in answers] == [
        (0, {"document": 1}, True),
        (3, {"document": 2}, None),
    ]
    # Nobody has judged the corrected text yet, so it is not the one in force.
    texts = {one["number"]: one for one in versions if one["part"] == "text"}
    assert texts[2]["content"]["sentences"] == sentences("d00", "corrected")


def test_an_example_keeps_the_text_with_which_it_was_shown(judged: World, server: Server, tmp_path: Path) -> None:
    """Every prompt of an opinion has the same examples, though the text of one is corrected half-way."""
    with judged.ws.writing() as session:
        trials.replace_gold(session, [Gold(QUERY, "d05", 1, "As it is.", 1)])
    pairs = tmp_path / "pairs.txt"
    pairs.write_text(f"{QUERY} d01\n", encoding="utf-8")

    def one_of(file: Path) -> Any:
        with_model(judged.ws, server.url, "taught", examples=1)
        return ask_model(judged.ws, "taught", Selection(file=file))

    one_of(pairs)
    correct(judged, "d05")
    decide(judged, None, "again", every=True)
    pairs.write_text(f"{QUERY} d02\n", encoding="utf-8")
    assert one_of(pairs).asked == 1
    first, second = server.prompts[-2:]
    assert first.replace("d01", "d02") == second
    assert "Why d05." in second
    assert "d05 is corrected" not in second
