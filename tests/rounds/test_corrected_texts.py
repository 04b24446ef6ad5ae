"""A text that is corrected while people judge: no pair is judged on two versions, whatever comes in between."""

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

import pytest
from annot.base.errors import FindingError, InputError, MissingInput
from annot.judging.stage import next_of
from annot.labelstudio.tasks import pair_key, split_key
from annot.steps import changes, corpus
from annot.steps import people as assessors
from annot.steps.changes import leave
from annot.steps.publish import release
from annot.steps.trace import describe, trace
from annot.store.answers import JUDGEMENTS
from annot.store.shown import content, display_parts
from corrections import WHY, correct, decide, fill_again, label, listed, sentences
from studio_in_memory import Killed
from study_stages import quietly, set_in
from worlds import QUERY, Pair, World, world


@pytest.fixture
def sent(tmp_path: Path) -> Iterator[World]:
    with world("sent", tmp_path / "study") as made:
        yield made


def texts_on(made: World, name: str, pair: Pair, round: str = "judge", *, occasion: int = 1) -> str:
    """What the person's task of the pair shows; empty if there is none."""
    task = made.tasks(name, round).get(pair_key(*pair, occasion))
    return "" if task is None else str(made.studio.tasks[task]["data"]["pair_html"])


def killed() -> None:
    raise Killed


def sends(made: World) -> int:
    return made.studio.count("POST", "/import")


def judged_on(made: World) -> dict[tuple[str, str, int], str]:
    """By assessor, document and occasion, the document's first sentence as it was on the task that was answered."""
    with made.ws.reading() as session:
        current = [one for one in JUDGEMENTS.current(session) if one.record.counts]
        displays = display_parts(session, (one.shown_sha256 for one in current))
        bodies = content(session, {str(shown["document"]) for shown in displays.values()})
    return {
        (one.record.assessor, one.record.doc_id, one.record.occasion): json.loads(
            bodies[str(displays[one.shown_sha256 or ""]["document"])]
        )["sentences"][0]
        for one in current
    }


OLD, NEW = "Why d00.", "Why d00 is corrected here."
PAIR = (QUERY, "d00")


def test_a_pair_without_an_answer_is_sent_anew_with_the_corrected_text(sent: World) -> None:
    assert OLD in texts_on(sent, "a1", PAIR)
    added = correct(sent, "d00")
    assert (added.corrected.papers, added.corrected.texts) == (("d00",), ("d00",))
    sent.push()
    for name in ("a1", "a2"):
        assert NEW in texts_on(sent, name, PAIR)
        assert OLD not in texts_on(sent, name, PAIR)
        assert len(sent.tasks(name)) == 10
    assert listed(sent) == {}
    sent.judge_all()
    assert {judged_on(sent)[name, "d00", 1] for name in ("a1", "a2")} == {NEW}


def test_an_answered_pair_waits_and_its_open_tasks_go(sent: World) -> None:
    sent.judge("a1", {PAIR: 1})
    sent.pull()
    correct(sent, "d00")
    assert (listed(sent)[PAIR].state, listed(sent)[PAIR].answers) == ("waits for your decision", 1)
    sent.push()
    assert texts_on(sent, "a2", PAIR) == ""
    assert OLD in texts_on(sent, "a1", PAIR)
    sent.judge("a2", dict.fromkeys(sent.pairs[1:], 1))
    sent.judge("a1", dict.fromkeys(sent.pairs[1:], 1))
    sent.pull()
    assert PAIR not in sent.grades()
    assert len(sent.grades()) == 9


def test_what_stays_is_judged_by_all_on_the_text_that_the_first_saw(sent: World) -> None:
    sent.judge("a1", {PAIR: 1})
    sent.pull()
    correct(sent, "d00")
    sent.push()
    assert decide(sent, PAIR, "stays").pairs == (PAIR,)
    sent.push()
    assert OLD in texts_on(sent, "a2", PAIR)
    sent.judge("a2", {PAIR: 3})
    sent.pull()
    assert {judged_on(sent)[name, "d00", 1] for name in ("a1", "a2")} == {OLD}
    assert sent.outcome.open == (PAIR,)
    sent.push("adjudication")
    assert OLD in texts_on(sent, "j1", PAIR, "adjudicate")
    sent.judge("j1", {PAIR: 2}, "adjudicate")
    sent.pull("adjudication")
    assert sent.grades()[PAIR] == 2


def test_what_is_judged_again_counts_on_the_corrected_text_alone(sent: World) -> None:
    sent.judge("a1", {PAIR: 1})
    sent.pull()
    correct(sent, "d00")
    sent.push()
    assert decide(sent, PAIR, "again").returned == 1
    sent.push()
    assert NEW in texts_on(sent, "a2", PAIR)
    assert NEW in texts_on(sent, "a1", PAIR, occasion=2)
    sent.judge("a2", {PAIR: 3})
    sent.pull()
    # The first answer is on record, on the earlier text: it makes no grade and no dispute with the other.
    assert PAIR not in sent.grades()
    assert sent.outcome.open == ()
    sent.judge("a1", {PAIR: 3}, occasion=2)
    sent.pull()
    assert sent.grades()[PAIR] == 3
    agreed = {one.assessor: one.grade for one in sent.outcome.judgements if one.pair == PAIR}
    assert agreed == {"a1": 3, "a2": 3}
    assert judged_on(sent) == {("a1", "d00", 1): OLD, ("a1", "d00", 2): NEW, ("a2", "d00", 1): NEW}
    assert [one.grade for one in sent.outcome.set_aside] == [1]


def test_a_dispute_waits_and_stays_with_its_text(sent: World) -> None:
    sent.judge_all()
    sent.push("adjudication")
    correct(sent, "d00")
    sent.push("adjudication")
    assert texts_on(sent, "j1", PAIR, "adjudicate") == ""
    assert texts_on(sent, "j1", sent.disputed[1], "adjudicate")
    decide(sent, None, "stays", every=True)
    sent.push("adjudication")
    assert OLD in texts_on(sent, "j1", PAIR, "adjudicate")


def test_an_adjudicated_pair_that_is_judged_again_loses_its_grade_until_it_is_settled_again(sent: World) -> None:
    sent.judge_all()
    sent.settle_all()
    assert sent.grades()[PAIR] == 2
    correct(sent, "d00")
    assert sent.grades()[PAIR] == 2
    assert decide(sent, PAIR, "again").returned == 2
    assert PAIR not in sent.grades()
    sent.push()
    sent.judge("a1", {PAIR: 0}, occasion=2)
    sent.judge("a2", {PAIR: 1}, occasion=2)
    sent.pull()
    assert sent.outcome.open == (PAIR,)
    sent.push("adjudication")
    assert NEW in texts_on(sent, "j1", PAIR, "adjudicate", occasion=2)


def test_an_answer_to_the_earlier_text_while_a_push_is_under_way_makes_the_pair_wait(sent: World) -> None:
    correct(sent, "d00")
    sent.judge("a1", {PAIR: 1})
    pushed = sent.push()
    assert any("before its correction" in note for note in pushed.notes)
    assert NEW not in texts_on(sent, "a2", PAIR)
    sent.pull()
    assert listed(sent)[PAIR].state == "waits for your decision"
    sent.push()
    assert texts_on(sent, "a2", PAIR) == ""


def test_an_answer_to_the_earlier_text_after_the_decision_goes_back_by_itself(sent: World) -> None:
    sent.judge("a1", {PAIR: 1})
    sent.pull()
    correct(sent, "d00")
    decide(sent, PAIR, "again")
    sent.judge("a2", {PAIR: 1})
    sent.pull()
    assert PAIR not in sent.grades()
    sent.push()
    for name in ("a1", "a2"):
        assert NEW in texts_on(sent, name, PAIR, occasion=2)


def test_a_second_correction_is_decided_anew_and_one_that_is_taken_back_asks_nobody(sent: World) -> None:
    sent.judge("a1", {PAIR: 1})
    sent.pull()
    correct(sent, "d00")
    decide(sent, PAIR, "stays")
    correct(sent, "d00", "better")
    assert listed(sent)[PAIR].state == "waits for your decision"
    decide(sent, PAIR, "stays")
    sent.push()
    assert OLD in texts_on(sent, "a2", PAIR)


def test_a_corpus_that_was_emptied_and_added_again_is_not_sent(sent: World) -> None:
    """What `annot corpus add` refused to do in place, a lead did by hand."""
    sent.judge("a1", {PAIR: 1})
    sent.pull()
    file = fill_again(sent)
    with pytest.raises(FindingError, match="1 text changed since it was sent; nothing was sent") as caught:
        sent.push()
    assert caught.value.faults == ("d00: the corpus has another text than the one on record",)
    assert "corpus add --corrected" in next_of(sent.ws).command
    added = corpus.add(sent.ws, [file], form=None, dry_run=False, advance=quietly, corrected=WHY)
    assert (added.kept, added.corrected.texts) == (0, ("d00",))
    label(sent.ws)
    assert listed(sent)[PAIR].state == "waits for your decision"
    decide(sent, PAIR, "stays")
    sent.push()
    assert OLD in texts_on(sent, "a2", PAIR)


def test_what_a_killed_push_sent_is_known_by_what_the_server_shows(tmp_path: Path) -> None:
    """The first push sends and notes nothing down; then a text is corrected, and the answers are to the earlier one."""
    with world("planned", tmp_path / "study") as made:
        made.studio.faults.append(
            lambda request: killed() if "import" not in request.url.path and sends(made) else None
        )
        with pytest.raises(Killed):
            made.push()
        made.studio.in_time = True
        correct(made, "d00")
        made.judge("a1", {PAIR: 1})
        made.push()
        made.pull()
        assert listed(made)[PAIR].state == "waits for your decision"
        assert judged_on(made) == {("a1", "d00", 1): OLD}


def released(made: World) -> dict[str, list[dict[str, Any]]]:
    """The records of a draft, by file."""
    folder = made.folder / "release"
    set_in(made.folder, {"collection": {"text_licence": "CC0-1.0"}})
    release(
        made.ws, folder, with_text=True, licence="CC0-1.0", published=None, allowed=(), draft=True, dry_run=False
    )  # fmt: skip
    return {
        name: [json.loads(line) for line in (folder / name).read_text(encoding="utf-8").splitlines()]
        for name in ("judgements.jsonl", "versions.jsonl", "beir/corpus.jsonl")
        if (folder / name).exists()
    }


def exported(made: World) -> list[dict[str, Any]]:
    text = (made.ws.exports / "judgements.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def text_in(records: list[dict[str, Any]], name: str) -> str:
    (found,) = [str(one["text"]) for one in records if one["_id"] == name]
    return found


def versions_in(records: list[dict[str, Any]]) -> dict[tuple[str, int], Any]:
    return {
        (one["assessor"], one["occasion"]): one.get("versions", {}).get("document")
        for one in records
        if one["doc_id"] == "d00"
    }


def test_what_stays_is_released_and_traced_with_the_text_that_was_judged(sent: World) -> None:
    sent.judge_all()
    correct(sent, "d00")
    decide(sent, PAIR, "stays")
    files = released(sent)
    assert text_in(files["beir/corpus.jsonl"], "d00") == "Why d00. How d00. What d00."
    assert versions_in(files["judgements.jsonl"]) == {("a1", 1): 1, ("a2", 1): 1}
    assert versions_in(exported(sent)) == versions_in(files["judgements.jsonl"])
    texts = {one["number"]: one for one in files["versions.jsonl"] if one["part"] == "text"}
    assert {number: one["in_force"] for number, one in texts.items()} == {1: True, 2: False}
    assert texts[2]["content"]["sentences"] == sentences("d00", "corrected")
    assert texts[2]["why"] == WHY
    told = trace(sent.ws, *PAIR)
    assert told.document is not None
    assert told.document.sentences[0] == OLD
    assert describe(told).count("(revision 1) was shown the text of d00, version 1 of 2") == 2


def test_a_returned_pair_cannot_be_taken_back_to_the_earlier_text(sent: World) -> None:
    sent.judge_all()
    correct(sent, "d00")
    decide(sent, PAIR, "again")
    with pytest.raises(InputError, match="goes back because its text was corrected"):
        changes.change_one(sent.ws, PAIR, assessor="a1", why="", undo=True, dry_run=False)


def test_the_pair_of_a_leaver_whose_answer_is_set_aside_goes_to_another(sent: World) -> None:
    sent.judge("a1", {PAIR: 1})
    sent.pull()
    correct(sent, "d00")
    decide(sent, PAIR, "again")
    assessors.add(sent.ws, "a3", account="cas@example.org", adjudicator=False, dry_run=False)
    sent.studio.sign_up("cas@example.org")
    leave(sent.ws, "a1", successor="a3", contest=False, offline=True, dry_run=False)
    sent.push()
    assert NEW in texts_on(sent, "a3", PAIR)
    assert NEW in texts_on(sent, "a2", PAIR)


def test_whatever_happens_no_pair_is_judged_on_two_texts(tmp_path: Path) -> None:
    """People answer what is open on the server, the lead pulls, pushes, is killed, corrects texts and decides."""
    draw = Random(1)
    with world("sent", tmp_path / "study") as made:
        seen: dict[tuple[str, str, int, str], str] = {}
        for step in range(16):
            act(made, draw, step, seen)
        for _ in range(2):
            made.pull()
            with suppress(InputError):
                decide(made, None, draw.choice(["stays", "again"]), every=True)
            made.push()
        assert_one_text(made, seen)


def act(made: World, draw: Random, step: int, seen: dict[tuple[str, str, int, str], str]) -> None:
    move = draw.choice(["judge", "judge", "judge", "pull", "push", "kill", "dispute", "settle", "correct", "decide"])
    if move == "judge":
        answer(made, draw, draw.choice(["a1", "a2"]), "judge", seen)
    elif move == "settle":
        answer(made, draw, "j1", "adjudicate", seen)
    elif move == "pull":
        made.pull()
        with suppress(MissingInput):
            made.pull("adjudication")
        assert_one_text(made, seen)
    elif move == "push":
        made.push()
    elif move == "kill":
        made.studio.kill_at(draw.randrange(1, 40))
        with suppress(Killed):
            made.push()
        made.studio.faults.clear()
    elif move == "dispute":
        with suppress(MissingInput):
            made.push("adjudication")
    elif move == "correct":
        correct(made, draw.choice(["d00", "d01", "p1"]), draw.choice(["corrected", "better", f"new{step}"]))
    else:
        decide(made, None, draw.choice(["stays", "again"]), every=True)


def answer(made: World, draw: Random, name: str, round: str, seen: dict[tuple[str, str, int, str], str]) -> None:
    """The person answers up to three of the pairs that are open and may be corrected."""
    with suppress(ValueError):
        there = made.tasks(name, round)
        for key, task in list(there.items()):
            asked = split_key(key)
            open_now = not made.studio.annotations_on(task)
            if open_now and asked.doc_id in ("d00", "d01", "d02") and draw.random() < 0.5:
                seen[name, asked.doc_id, asked.occasion, round] = shown_words(made, task)
                made.judge(name, {asked.pair: draw.randrange(4)}, round, occasion=asked.occasion)


def shown_words(made: World, task: int) -> str:
    """The first sentences of both sides, as they are on the server."""
    return " ".join(re.findall(r"Why [^<]*", str(made.studio.tasks[task]["data"]["pair_html"])))


def assert_one_text(made: World, seen: dict[tuple[str, str, int, str], str]) -> None:
    """What the final grades are made of was judged on one text, pair by pair."""
    outcome = made.outcome
    for pair in {one.pair for one in outcome.current}:
        texts = {
            seen[one.assessor, one.doc_id, one.occasion, "judge"]
            for one in (*outcome.current, *outcome.judgements)
            if one.pair == pair and one.counts
        }
        if pair in outcome.adjudications:
            one = outcome.adjudications[pair]
            texts.add(seen[one.adjudicator, one.doc_id, 1 + outcome.reopened.get(pair, 0), "adjudicate"])
        assert len(texts) <= 1, (pair, texts)


def test_a_dispute_that_is_sent_with_the_corrected_text_is_withdrawn_before(sent: World) -> None:
    sent.judge_all()
    sent.push("adjudication")
    correct(sent, "d00")
    decide(sent, PAIR, "again")
    sent.push()
    sent.judge("a1", {PAIR: 0}, occasion=2)
    sent.judge("a2", {PAIR: 3}, occasion=2)
    sent.pull()
    assert any("1 unanswered task withdrawn" in note for note in sent.push("adjudication").notes)
    assert NEW in texts_on(sent, "j1", PAIR, "adjudicate")


def test_a_dispute_whose_pair_went_back_to_an_assessor_is_withdrawn(sent: World) -> None:
    sent.judge_all()
    sent.push("adjudication")
    changes.change_one(sent.ws, PAIR, assessor="a1", why="Look again.", undo=False, dry_run=False)
    assert any("1 unanswered task withdrawn" in note for note in sent.push("adjudication").notes)
