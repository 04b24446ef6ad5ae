"""What people were sent counts: grades and facets changed in annot.toml afterwards, by every command that uses them."""

import json
import re

import pytest
from annot.base.errors import FindingError, MissingInput
from annot.base.records import Paper
from annot.corpus.corpus_facts import write_corpus_manifest
from annot.judging.exchange.audit import audit
from annot.labelstudio.tasks import pair_key
from annot.store.answers import JUDGEMENTS
from annot.store.papers import PaperWriter
from annot.store.shown import content, display_parts, read_versions
from annot.study import guidelines
from annot.study.workspace import write_file
from command_line import Result, annot, annot_done
from small_study import LABELS
from study_stages import quietly, set_in
from worlds import QUERY, World

SENT = ("Irrelevant", "Related", "Similar", "Near-identical")
RENAMED = ("Irrelevant", "Linked", "Similar", "Near-identical")
READERS = ("status", "agreement", "qrels")


def name_grades(world: World, *names: str) -> None:
    set_in(world.folder, {"scale": {"names": list(names)}})


def run(world: World, command: str, *more: str) -> Result:
    return annot(*command.split(), *more, folder=world.folder)


def config_of(world: World, name: str, round: str = "judge") -> str:
    return str(world.studio.projects[world.project(name, round)]["label_config"])


def names_on_screen(world: World, name: str) -> list[str]:
    """The names of the grades in the project of a person, in their order."""
    return re.findall(r"&lt;b&gt;\d&lt;/b&gt; ([\w-]+)", config_of(world, name))


def shown_scales(world: World, doc_id: str) -> list[list[str]]:
    """The names of the grades beside which each revision of the answers to a document was given."""
    with world.ws.reading() as session:
        history = JUDGEMENTS.history(session, QUERY, doc_id)
        displays = display_parts(session, [one.shown_sha256 for one in history])
        bodies = content(session, [display["scale"] for display in displays.values()])
    return [json.loads(bodies[displays[one.shown_sha256 or ""]["scale"]]) for one in history]


def test_every_command_uses_the_grades_that_were_sent_and_says_so(settled: World) -> None:
    before = {command: run(settled, command) for command in READERS}
    grades = settled.grades()
    name_grades(settled, *SENT[:3])
    for command in READERS:
        after = run(settled, command)
        assert f"the grades are those on record ({', '.join(SENT)})" in after.stderr, command
        assert after.exit_code == before[command].exit_code, command
        if command != "status":
            assert after.stdout == before[command].stdout, command
    assert settled.grades() == grades
    assert settled.ws.settings.scale.names == SENT


def test_renamed_grades_are_sent_with_a_reason_and_each_answer_keeps_its_names(sent: World) -> None:
    sent.studio.in_time = True
    sent.judge("a1", {sent.pairs[0]: 1})
    sent.pull()
    name_grades(sent, *RENAMED)
    status = annot_done("status", folder=sent.folder)
    assert "the names of the grades" in status.stdout
    assert 'annot push --changed "WHY"' in status.stdout
    with pytest.raises(FindingError, match="the names of the grades have changed since they were sent") as error:
        sent.push()
    assert error.value.faults == ("the names of the grades: 1 Related, now Linked",)
    with pytest.raises(FindingError, match="have changed"):
        sent.push(changed="  ")
    assert names_on_screen(sent, "a1") == [*SENT]
    sent.push(changed="related was read too widely")
    assert names_on_screen(sent, "a1") == names_on_screen(sent, "a2") == [*RENAMED]
    assert sent.ws.written is None
    sent.judge("a1", {sent.pairs[1]: 1})
    sent.pull()
    assert shown_scales(sent, sent.pairs[0][1]) == [[*SENT]]
    assert shown_scales(sent, sent.pairs[1][1]) == [[*RENAMED]]
    lines = (sent.ws.exports / "judgements.jsonl").read_text(encoding="utf-8").splitlines()
    versions = {one["doc_id"]: one["versions"] for one in map(json.loads, lines)}
    assert versions == {
        sent.pairs[0][1]: {"scale": 1, "screen": 1},
        sent.pairs[1][1]: {"scale": 2, "screen": 2},
    }
    # The same push again has nothing to ask, and nothing to record.
    sent.push()
    with sent.ws.reading() as session:
        (versions,) = read_versions(session, "scale").values()
        (_, screen) = read_versions(session, "screen")["screen", "judge"]
    assert [(json.loads(one.body), one.why) for one in versions] == [
        ([*SENT], None),
        ([*RENAMED], "related was read too widely"),
    ]
    assert screen.why == "related was read too widely"


def test_after_the_first_judgement_no_reason_moves_a_grade_or_changes_their_number(sent: World) -> None:
    sent.judge("a1", {sent.pairs[0]: 3})
    sent.pull()
    for names, what in ((SENT[::-1], "order"), (SENT[:3], "number"), ((*SENT, "The same paper"), "number")):
        name_grades(sent, *names)
        for round in ("judging", "adjudication"):
            with pytest.raises(FindingError, match=f"the {what} of (the )?grades has changed"):
                sent.push(round, changed="because")
        assert names_on_screen(sent, "a1") == [*SENT]
        assert sent.ws.settings.scale.names == SENT
    assert "annot check (after you have changed [scale] names" in annot("status", folder=sent.folder).stdout
    name_grades(sent, *SENT)
    sent.push()


def test_a_grade_that_was_given_has_a_name_in_every_round(judged: World) -> None:
    """Two disputes are open in which a2 gives the highest grade; annot.toml has one grade less by now."""
    name_grades(judged, *SENT[:3])
    for round in ("judging", "adjudication"):
        with pytest.raises(FindingError, match="the number of grades has changed"):
            judged.push(round)
    with pytest.raises(MissingInput, match="no gold pairs"):
        judged.push("training")
    name_grades(judged, *SENT)
    judged.push("adjudication")
    name_grades(judged, *SENT[:3])
    assert audit(judged.ws, advance=quietly).findings == ()
    judged.judge("j1", dict.fromkeys(judged.disputed, 3), "adjudicate")
    judged.pull("adjudication")
    assert {judged.grades()[pair] for pair in judged.disputed} == {3}


def test_the_facets_that_were_sent_count_until_a_push_says_why(judged: World) -> None:
    before = judged.ws.settings.facets
    set_in(judged.folder, {"facets": {"method": ["method", "other"], "result": ["result"]}})
    assert judged.ws.settings.facets["method"] == before["method"]
    assert "on record, not as in annot.toml: method" in annot_done("agreement", folder=judged.folder).stderr
    with pytest.raises(FindingError, match="the facet method has changed since it was sent") as error:
        judged.push()
    assert error.value.faults == ("the facet method: method on record, method, other now",)
    judged.push(changed="the guidelines say so")
    assert judged.ws.settings.facets["method"] == ("method", "other")
    # Each judgement has the facet by which it was given.
    with judged.ws.reading() as session:
        (first, second) = read_versions(session, "facet")["facet", "method"]
        sha256 = JUDGEMENTS.current(session)[0].shown_sha256
        assert display_parts(session, [sha256])[sha256 or ""]["facet"] == first.sha256 != second.sha256
    assert (first.why, second.why) == (None, "the guidelines say so")


def test_a_facet_that_was_removed_keeps_what_was_judged(judged: World) -> None:
    agreement = annot_done("agreement", folder=judged.folder)
    set_in(judged.folder, {"": {"facets": {"background": ["background"]}}})
    assert judged.ws.settings.facets == {"background": ("background",), "method": ("method",)}
    assert annot_done("agreement", folder=judged.folder).stdout == agreement.stdout
    with pytest.raises(FindingError, match="the facet method has changed since it was sent"):
        judged.push()
    judged.push(changed="methods are another study")
    assert judged.ws.settings.facets["method"] == ("method",)
    assert judged.push().notes == ()
    assert "the facet method" not in annot_done("status", folder=judged.folder).stdout


def test_the_screen_that_was_sent_stays_until_a_new_one_is_asked_for(
    sent: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A later version of the program writes another screen from the same settings."""
    was_sent, screen = config_of(sent, "a1"), guidelines.screen
    monkeypatch.setattr(guidelines, "screen", lambda *asked: screen(*asked).replace("<View", "<View ", 1))
    (note,) = sent.push().notes
    assert note.startswith(
        "the screen for judging stays as it was sent; `annot push --new-screen` sends that of annot "
    )
    assert config_of(sent, "a1") == was_sent
    assert sent.push(new_screen=True).notes == ()
    assert config_of(sent, "a1") == was_sent.replace("<View", "<View ", 1)
    assert sent.push(new_screen=True).notes == ()
    assert sent.push().notes == ()
    with sent.ws.reading() as session:
        (first, second) = read_versions(session, "screen")["screen", "judge"]
    assert first.why is None
    assert second.why == f"the screen of annot {second.program}"
    assert json.loads(second.body)["config"] == config_of(sent, "a1")


def test_a_killed_push_has_recorded_what_it_was_about_to_send(sent: World) -> None:
    """Wherever it was killed: an answer given in between has the names that its screen had, or that were in force."""
    name_grades(sent, *RENAMED)
    for number in range(1, 60, 4):
        sent.studio.kill_at(number)
        try:
            sent.push(changed="clearer")
        except BaseException as error:
            if type(error).__name__ != "Killed":
                raise
            on_screen = names_on_screen(sent, "a1")
            with sent.ws.reading() as session:
                recorded = [json.loads(one.body) for one in read_versions(session, "scale")["scale", ""]]
            assert on_screen in recorded
        else:
            break
    assert names_on_screen(sent, "a1") == [*RENAMED]
    with sent.ws.reading() as session:
        assert len(read_versions(session, "scale")["scale", ""]) == 2


def correct_all_papers(world: World) -> None:
    """The corpus is emptied and filled again: each abstract has another first sentence."""
    for path in world.ws.corpus.glob("*.parquet"):
        path.unlink()
    with PaperWriter(world.ws.corpus) as writer:
        for name in ("p1", *(doc_id for _, doc_id in world.pairs)):
            sentences = (f"Corrected why {name}.", f"How {name}.", f"What {name}.")
            writer.add(Paper(name, f"Title of {name}", sentences, 2001, LABELS))
    write_corpus_manifest(world.ws)


def test_the_server_is_compared_with_what_was_sent(judged: World) -> None:
    """Nobody is accused of what the lead changed; what somebody changed on the server is found."""
    assert audit(judged.ws, advance=quietly).findings == ()
    correct_all_papers(judged)
    name_grades(judged, *RENAMED)
    assert audit(judged.ws, advance=quietly).findings == ()
    number = judged.tasks("a1")[pair_key(*judged.pairs[0])]
    task = judged.studio.tasks[number]
    html = task["data"]["pair_html"].replace("Why d", "Corrected why d")
    judged.studio.tasks[number] = {**task, "data": {**task["data"], "pair_html": html}}
    (finding,) = audit(judged.ws, advance=quietly).findings
    assert finding.pairs == (" ".join(judged.pairs[0]),)


def released(world: World) -> dict[str, str]:
    """The text files of a draft of a release, by path."""
    annot_done("release", "out", "--draft", folder=world.folder)
    folder = world.folder / "out"
    paths = [path for path in folder.rglob("*") if path.suffix in (".md", ".xml", ".jsonl", ".html")]
    return {path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8") for path in paths}


def test_a_release_has_what_was_sent_whatever_annot_toml_says(settled: World) -> None:
    page = guidelines.page(settled.ws, "method")
    screen = config_of(settled, "a1")
    name_grades(settled, *RENAMED)
    write_file(settled.folder / "guidelines" / "method.md", f"{page}\nNever sent to anybody.\n")
    refused = run(settled, "release out")
    assert refused.exit_code != 0
    assert "the names of the grades have changed since they were sent" in refused.stderr
    files = released(settled)
    assert files["screen.xml"] == screen
    assert "Related" in files["README.md"]
    assert "versions.jsonl" not in files
    # A draft names what it lacks, and nothing else has the name that nobody saw.
    assert [path for path, text in files.items() if "Linked" in text.replace("1 Related, now Linked", "")] == []
    assert [path for path, text in files.items() if "Never sent" in text] == []


def test_earlier_versions_are_next_to_the_last_and_each_judgement_names_its_own(sent: World) -> None:
    sent.studio.in_time = True
    first_screen = config_of(sent, "a1")
    sent.judge("a1", dict.fromkeys(sent.pairs[:4], 1))
    sent.judge("a2", dict.fromkeys(sent.pairs[:4], 1))
    sent.pull()
    name_grades(sent, *RENAMED)
    sent.push(changed="related was read too widely")
    sent.judge("a1", dict.fromkeys(sent.pairs[4:], 1))
    sent.judge("a2", dict.fromkeys(sent.pairs[4:], 1))
    sent.pull()
    files = released(sent)
    assert (files["screens/screen-1.xml"], files["screen.xml"]) == (first_screen, config_of(sent, "a1"))
    rows = [json.loads(line) for line in files["versions.jsonl"].splitlines()]
    scales = [(row["number"], row["content"], row["why"]) for row in rows if row["part"] == "scale"]
    assert scales == [(1, [*SENT], None), (2, [*RENAMED], "related was read too widely")]
    given = [json.loads(line) for line in files["judgements.jsonl"].splitlines()]
    by_document = {one["doc_id"]: one["versions"] for one in given}
    assert [by_document[doc_id] for _, doc_id in sent.pairs] == [
        *[{"scale": 1, "screen": 1}] * 4,
        *[{"scale": 2, "screen": 2}] * (len(sent.pairs) - 4),
    ]
    assert "related was read too widely" in files["report.md"]
    listed = "the names of the grades, version 2 of 2, first sent on"
    assert listed in annot_done("status", folder=sent.folder).stdout
    traced = annot_done("trace", QUERY, sent.pairs[0][1], folder=sent.folder).stdout
    assert "a1 (revision 1) was shown the names of the grades, version 1 of 2" in traced
    assert listed not in traced
