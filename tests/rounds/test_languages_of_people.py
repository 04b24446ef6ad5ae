"""People who judge in other languages: what is sent, what is read back, and what changes on the second day."""

import re
from importlib.resources import files
from typing import Any

import pytest
from annot.base.errors import FindingError
from annot.base.words import ENGLISH, read_words
from annot.judging.exchange.audit import audit
from annot.labelstudio.studio_records import KNOWN_REASONS
from annot.store.answers import JUDGEMENTS
from annot.store.shown import display_parts, language_of, read_versions
from annot.study.workspace import write_file
from command_line import annot_done
from study_stages import quietly, set_in
from worlds import World

GERMAN = read_words("de", overrides=None)
PACKAGED_WORDS = (files("annot.templates") / "words" / "en.toml").read_text(encoding="utf-8")


def config_of(world: World, name: str, round: str = "judge") -> str:
    return str(world.studio.projects[world.project(name, round)]["label_config"])


def data_of(world: World, name: str, round: str = "judge") -> list[dict[str, Any]]:
    return [task["data"] for task in world.studio.tasks_of(world.project(name, round))]


def change(world: World, name: str, language: str) -> str:
    done = annot_done("assessor", "change", name, "--language", language, folder=world.folder)
    return done.stdout + done.stderr


def judged_in(world: World) -> dict[str, set[str]]:
    """Languages by person, of the tasks when they were answered."""
    with world.ws.reading() as session:
        versions = read_versions(session, "words")
        answers = list(JUDGEMENTS.current(session))
        displays = display_parts(session, [answer.shown_sha256 for answer in answers])
        found: dict[str, set[str]] = {}
        for answer in answers:
            language = language_of(displays[answer.shown_sha256 or ""], versions)
            found.setdefault(answer.record.assessor, set()).add(language)
    return found


def unchanged_on_server(world: World) -> bool:
    return audit(world.ws, advance=quietly).findings == ()


def test_one_person_judges_in_german_and_the_same_is_stored(planned: World) -> None:
    planned.studio.in_time = True
    assert "language de, was en" in change(planned, "a1", "de")
    planned.push()
    assert "Nicht beurteilbar" in config_of(planned, "a1")
    assert "Cannot judge" in config_of(planned, "a2")
    first = data_of(planned, "a1")[0]
    assert first["progress"] == "1 von 10 · Anfrage 1, Kandidat 1 von 10"
    assert '<span dir="auto" lang="de">Anfrage</span>' in first["pair_html"]
    assert (first["facet"], data_of(planned, "a2")[0]["facet"]) == ("Methode", "method")
    planned.judge("a1", {planned.pairs[0]: 2, planned.pairs[1]: None})
    planned.judge("a2", {planned.pairs[0]: 2})
    assert planned.pull().notes == ()
    with planned.ws.reading() as session:
        answers = [answer.record for answer in JUDGEMENTS.current(session)]
    assert sorted((one.assessor, one.grade) for one in answers if one.grade is not None) == [("a1", 2), ("a2", 2)]
    assert {one.cannot_judge for one in answers} - {None} == {"outside my field"} < KNOWN_REASONS
    assert all(not one.flags for one in answers)
    assert judged_in(planned) == {"a1": {"de"}, "a2": {"en"}}
    assert unchanged_on_server(planned)
    assert planned.push().notes == (), "nothing is sent twice"


def test_a_person_who_changes_the_language_keeps_answers_and_order(sent: World) -> None:
    sent.studio.in_time = True
    sent.judge("a1", {sent.pairs[0]: 1})
    sent.pull()
    said = change(sent, "a1", "de")
    assert "answered pairs stay as they were shown, and the report tells the languages apart" in said
    order = sent.asked_pairs("a1")
    result = sent.push()
    assert any(note.startswith("a1: the screen is in de now, was in en") for note in result.notes)
    assert sent.asked_pairs("a1") == order
    places = [data["progress"] for data in data_of(sent, "a1")]
    assert sorted(" von " in place for place in places) == [False] + [True] * 9, "the answered task stays"
    headings = [GERMAN("task.query") in data["pair_html"] for data in data_of(sent, "a1")]
    assert sorted(headings) == [False] + [True] * 9
    sent.judge("a1", {sent.pairs[1]: 1})
    sent.pull()
    assert judged_in(sent) == {"a1": {"en", "de"}}
    assert unchanged_on_server(sent)
    assert sent.push().notes == ()
    change(sent, "a1", "en")
    sent.push()
    assert unchanged_on_server(sent)
    assert [" von " in data["progress"] for data in data_of(sent, "a1")].count(True) == 1


def test_the_language_of_the_study_is_changed_in_the_middle(sent: World) -> None:
    sent.studio.in_time = True
    sent.judge_all()
    set_in(sent.folder, {"judging": {"language": "de"}})
    change(sent, "a2", "en")
    notes = sent.push().notes
    assert [note.partition(":")[0] for note in notes] == ["a1"]
    assert "Nicht beurteilbar" in config_of(sent, "a1")
    assert "Cannot judge" in config_of(sent, "a2")
    sent.push("adjudication")
    disputed = data_of(sent, "j1", "adjudicate")
    assert {data[name] for data in disputed for name in ("rating_a", "rating_b")} == {"1 Verwandt", "3 Fast identisch"}
    assert {data[name] for data in disputed for name in ("comment_a", "comment_b")} == {"kein Kommentar"}
    assert sent.push("adjudication").notes == ()
    assert unchanged_on_server(sent)
    sent.judge("j1", dict.fromkeys(sent.disputed, 2), "adjudicate")
    sent.pull("adjudication")
    assert len(sent.grades()) == 10


def test_guidelines_of_a_language_are_sent_to_its_people_and_versioned(planned: World) -> None:
    planned.studio.in_time = True
    folder = planned.folder / "guidelines"
    change(planned, "a1", "de")
    planned.push()
    page = "# Methode\n\nWie etwas gemacht wird.\n"
    write_file(folder / "de" / "method.md", page)
    with pytest.raises(FindingError, match="the guidelines of method in de have changed since they were sent"):
        planned.push()
    planned.push(changed="in their language")
    assert {data["facet_help"] for data in data_of(planned, "a1")} == {"Wie etwas gemacht wird."}
    assert "Wie etwas gemacht wird." not in {data["facet_help"] for data in data_of(planned, "a2")}
    with planned.ws.reading() as session:
        versions = read_versions(session, "guidelines")
    assert [version.why for version in versions["guidelines", "method/de"]] == [None, "in their language"]
    assert len(versions["guidelines", "method"]) == 1
    planned.judge("a1", {planned.pairs[0]: 2})
    planned.pull()
    change(planned, "a1", "en")
    planned.push()
    assert unchanged_on_server(planned), "the German guidelines were sent, too"


def test_words_of_a_later_release_are_english_in_a_language_of_the_study(planned: World) -> None:
    planned.studio.in_time = True
    words = PACKAGED_WORDS.replace('cannot_judge = "Cannot judge"', 'cannot_judge = "Cannae judge"')
    write_file(planned.folder / "templates" / "words" / "sco.toml", re.sub("(?m)^query = .*\n", "", words))
    change(planned, "a1", "sco")
    planned.push()
    assert "Cannae judge" in config_of(planned, "a1")
    assert f'lang="sco">{ENGLISH("task.query")}</span>' in data_of(planned, "a1")[0]["pair_html"]
    lines = annot_done("check", "guidelines", folder=planned.folder).stdout.splitlines()
    assert [line for line in lines if "sco.toml" in line or "query" in line][1:] == [
        *('  screen.query = "query"', f'  task.query = "{ENGLISH("task.query")}"')
    ]
    planned.judge("a1", {planned.pairs[0]: 2})
    planned.pull()
    assert judged_in(planned) == {"a1": {"sco"}}
    assert unchanged_on_server(planned)


def test_a_killed_push_in_another_language_is_finished_by_the_next(planned: World) -> None:
    planned.studio.in_time = True
    change(planned, "a1", "de")
    for number in range(1, 400, 9):
        planned.studio.kill_at(number)
        try:
            planned.push()
        except BaseException as error:
            if type(error).__name__ != "Killed":
                raise
        else:
            break
    planned.studio.faults.clear()
    assert planned.push().notes == ()
    planned.judge("a1", {planned.pairs[0]: 2})
    planned.pull()
    assert judged_in(planned) == {"a1": {"de"}}
    assert unchanged_on_server(planned)
