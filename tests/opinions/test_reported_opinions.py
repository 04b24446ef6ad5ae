"""Which opinions the command, report, datasheet and release show, what they say of a model's family, and when."""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
import sampled_study
from annot.publishing.report.sections.whole import document
from annot.publishing.report.study import Study
from annot.store.models import ModelCall, StoredRun
from annot.store.shown import Display, content, display_parts
from annot.study.snapshot import read_snapshot
from annot.study.workspace import Workspace
from annot_opinions import chapters as section
from annot_opinions import steps, stored
from annot_opinions.measured import MeasuredOpinion, measured_opinions, reported_opinions, runs_of_family
from annot_opinions.self_preference import Favour
from asked_study import NOW, ask, made, put, with_model
from command_line import annot, annot_done
from scripted_server import Scripted, serving
from study_stages import DEMO, copied

URL = "http://localhost:1/v1"


@pytest.fixture
def ws(tmp_path: Path) -> Workspace:
    return copied(DEMO, "measured", tmp_path / "study")


def released(ws: Workspace, folder: Path) -> tuple[dict[str, str], str]:
    done = annot("release", folder, "--draft", "--ids-only", "--licence", "CC0-1.0", folder=ws.root)
    assert done.exit_code == 0, done.stderr
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_text(errors="replace") for path in files}, done.message()


def reported(ws: Workspace) -> list[str]:
    return [one.standing.name for one in reported_opinions(Study(read_snapshot(ws)))]


def test_a_trial_is_in_no_report_datasheet_or_release_until_the_lead_names_it(ws: Workspace, tmp_path: Path) -> None:
    put(ws, "pilot-7b", lambda query, doc, final: final, most=6)
    found = document(Study(read_snapshot(ws)), chain=())
    assert not [one.anchor for one in (*found.body, *found.appendix) if one.anchor.startswith("opinion")]
    files, notes = released(ws, tmp_path / "without")
    assert not [name for name, text in files.items() if "pilot-7b" in name + text]
    planned = len(read_snapshot(ws).outcome.planned)
    assert f"the opinion pilot-7b is left out: it has answered 6 of {planned} planned pairs" in notes
    (listed,) = annot_done("opinion", "list", "--json", folder=ws.root).data
    assert (listed["name"], listed["planned"], listed["planned_answered"]) == ("pilot-7b", planned, 6)
    shown = annot_done("opinion", "report", folder=ws.root)
    assert "pilot-7b" in shown.stdout
    assert "pilot-7b is not in report, datasheet and release" in shown.message()
    ws = with_model(ws, URL, name="pilot-7b", report=True)
    assert reported(ws) == ["pilot-7b"]
    files, notes = released(ws, tmp_path / "with")
    assert {"opinions/pilot-7b.json", "opinions/pilot-7b.jsonl"} <= files.keys()
    assert "pilot-7b" in files["DATASHEET.md"]
    assert "the opinion pilot-7b is left out" not in notes


def test_an_opinion_of_all_planned_pairs_is_reported_though_the_server_refused_one(ws: Workspace) -> None:
    put(ws, "whole", lambda query, doc, final: final)
    decided = [one.pair for one in read_snapshot(ws).outcome.decisions]
    put(ws, "but-one", lambda query, doc, final: final, most=len(decided) - 1)
    assert reported(ws) == ["whole"]
    refused = ModelCall("but-one", *decided[-1], 1, 1, "failed", "abc", NOW, 0.0, status=503)
    with ws.writing() as session:
        stored.note_sent(session, refused)
    assert reported(ws) == ["whole"]
    with ws.writing() as session:
        stored.note_sent(session, refused._replace(attempt=2, status=413))
    assert reported(ws) == ["but-one", "whole"]


def test_no_moment_of_an_opinion_is_in_a_release(ws: Workspace, tmp_path: Path) -> None:
    put(ws, "whole", lambda query, doc, final: final, early=((NOW, "asked", "to choose the scale"),))
    files, _ = released(ws, tmp_path / "out")
    ours = {name: text for name, text in files.items() if name.startswith("opinions/")}
    assert len(ours) == 2
    assert not [name for name, text in ours.items() if re.search(r"\d{4}-\d\d-\d\d|\d\d:\d\d", text)]
    assert not [name for name, text in files.items() if NOW[:10] in text]
    described = json.loads(ours["opinions/whole.json"])
    assert described["early"] == [{"what": "asked", "why": "to choose the scale"}]


def test_the_models_family_is_what_the_lead_declares_by_name_or_pattern_of_runs_or_systems() -> None:
    on_record = [StoredRun("r1", "system", {"system": "llama_dense"}, "x"), StoredRun("r2", "file", {}, "y")]
    tags = ["r1", "r2", "noisy_bm25", "llama.2"]
    assert runs_of_family(["llama_*"], tags, on_record) == {"r1"}
    assert runs_of_family(["llama*", "r2"], tags, on_record) == {"r1", "r2", "llama.2"}
    assert runs_of_family([], tags, on_record) == set()
    assert runs_of_family(["bm25"], tags, on_record) == set()


def test_nothing_is_said_of_a_family_that_was_not_declared(ws: Workspace) -> None:
    """Though the name of the model is a part of the name of each run."""
    (run, *others) = sorted(path.stem for path in ws.runs.glob("*.run"))
    put(ws, run, lambda query, doc, final: final)

    def told(ws: Workspace) -> tuple[str, list[str]]:
        found = measured_opinions(Study(read_snapshot(ws)))
        runs = next(table for table in section.tables(found) if table.name == "opinion-runs")
        return " ".join(section.paragraphs_of(found)), [*runs.headings]

    text, heads = told(ws)
    assert "family" not in text
    assert "Of its family" not in heads
    text, heads = told(with_model(ws, URL, name=run, family=[others[0]]))
    assert f"{others[0]} is of the model's own family, by the word of the project lead." in text
    assert "Of its family" in heads
    ws = with_model(ws, URL, name=run, family=["llama_*", others[0]])
    message = annot_done("opinion", "report", folder=ws.root).message()
    assert f"[opinions.{run}] family: 'llama_*' fits no run and no system" in message
    assert message.count("fits no run") == 1


# -- versions of what was shown ----------------------------------------------------------------------------------------


def under(ws: Workspace, part: str, versions: Mapping[str, str | None]) -> tuple[MeasuredOpinion, int, int]:
    """The opinion, if people judged each query by these versions of a part; how many pairs were by `new`, and not."""
    snapshot = read_snapshot(ws)
    displays = {
        judgement: {part: versions[judgement.query_id]}
        for judgement in snapshot.outcome.everything
        if versions[judgement.query_id] is not None
    }
    (found,) = measured_opinions(Study(replace(snapshot, displays=displays)))
    pairs = [one.query_id for one in snapshot.outcome.decisions]
    others = sum(versions[query_id] == "new" for query_id in pairs)
    return found, others, len(pairs) - others


def shown_to_model(ws: Workspace) -> list[Display]:
    with ws.reading() as session:
        calls = stored.read_calls(session, "small")
        return [*display_parts(session, {call.shown_sha256 for call in calls}).values()]


def test_a_prompt_is_on_record_with_all_that_it_shows(tmp_path: Path) -> None:
    ws = made(tmp_path)
    with serving(lambda request, number: Scripted()) as server:
        ask(ws := with_model(ws, server.url))
    displays = shown_to_model(ws)
    with ws.reading() as session:
        calls = stored.read_calls(session, "small")
        shown = content(session, {str(value) for display in displays for value in display.values()})
        by_pair = {call.pair: display_parts(session, [call.shown_sha256]) for call in calls}
    # `annot guidelines method` prints what people are shown.
    guidelines = annot_done("guidelines", "method", "--json", folder=ws.root).data["text"]
    assert {display["guidelines"] for display in displays} == {hashlib.sha256(guidelines.encode()).hexdigest()}
    assert {shown[display["scale"]] for display in displays} == {json.dumps(list(ws.settings.scale.names))}
    assert {shown[display["facet"]] for display in displays} == {json.dumps(["method"])}
    assert len(displays) == 40
    (display,) = by_pair["p1-method", "d03"].values()
    assert json.loads(shown[display["topic"]]) == {
        "title": "Title of p1",
        "sentences": ["Why p1.", "How p1.", "What p1."],
    }
    assert json.loads(shown[display["document"]])["title"] == "Title of d03"
    assert "[the topic]" in json.loads(shown[display["prompt"]])["frame"]
    assert display["query_sentences"] == [1]


@pytest.mark.parametrize(
    ("part", "name", "share"),
    [
        ("guidelines", "the guidelines", 1),
        ("scale", "the names of the grades", 2),
        ("facet", "the labels of the facet", 2),
    ],
)
def test_pairs_that_people_judged_by_another_version_are_counted_and_the_others_compared(
    ws: Workspace, share: int, part: str, name: str
) -> None:
    """One query in two, or all, by a later version than the model was given."""
    queries = sorted({query.query_id for query in read_snapshot(ws).queries})
    put(ws, "early", lambda query, doc, final: min(3, final + 1), shown={part: "old"})
    versions = {query_id: "old" if at % share else "new" for at, query_id in enumerate(queries)}
    found, others, same = under(ws, part, versions)
    assert found.worth.other_versions is not None
    assert (found.worth.other_versions.n_pairs, found.worth.other_versions.n_same) == (others, same)
    text = " ".join(section.paragraphs_of([found]))
    assert f"People judged {others} pairs by another version of {name} than the model was given" in text
    within = found.worth.other_versions.within
    rows = [row[0] for row in section.overview([found]).rows]
    if share == 1:
        assert (same, within, rows) == (0, None, ["early"])
        assert "They judged 0 pairs by the same version, too few for a comparison of their own." in text
        return
    assert same >= 30
    assert within is not None
    assert (within.n_compared, rows) == (same, ["early", "early, same versions"])
    # Each grade but the highest is one too high, so agreement is the share of the highest among the same pairs.
    kept = [one.grade for one in read_snapshot(ws).outcome.decisions if versions[one.query_id] == "old"]
    (row,) = [
        one
        for one in within.agreement
        if (one.whom, one.binarised_at, one.facet) == ("final grades", None, within.agreement[-1].facet)
    ]
    assert row.between.figures["percent"].value == pytest.approx(100 * kept.count(3) / len(kept))


@pytest.mark.parametrize("version", ["old", None])
def test_nothing_is_said_if_people_judged_by_the_same_version_or_theirs_are_not_on_record(
    ws: Workspace, version: str | None
) -> None:
    put(ws, "same", lambda query, doc, final: final, shown={"guidelines": "old"})
    found, _, _ = under(ws, "guidelines", {query.query_id: version for query in read_snapshot(ws).queries})
    assert found.worth.other_versions is None
    assert "guidelines" not in " ".join(section.paragraphs_of([found]))


def test_in_a_sampled_study_each_pair_counts_as_many_as_it_represents(tmp_path: Path) -> None:
    ws = sampled_study.judged(sampled_study.pooled(tmp_path), share=0.33)
    put(ws, "shifted", lambda query, doc, final: min(3, final + (doc < "d30")))
    (found,) = steps.measure(ws, None, before_judging=None)
    snapshot = read_snapshot(ws)
    assert snapshot.sample is not None
    same = whole = 0.0
    for one in snapshot.outcome.decisions:
        weight = 1 / snapshot.sample.pairs[one.pair].probability
        whole += weight
        same += weight * (one.doc_id >= "d30" or one.grade == 3)
    (row,) = [one for one in found.worth.agreement if one.whom == "final grades" and one.binarised_at is None]
    assert row.between.figures["percent"].value == pytest.approx(100 * same / whole)
    assert isinstance(found.worth.favour, Favour)
    assert (found.worth.favour.n_topics, found.worth.favour.visible) == (4, None)
