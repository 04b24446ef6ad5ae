"""`annot datasheet`: numbers counted from the rows, prose asked once and kept."""

from __future__ import annotations

import json
import sqlite3
import tomllib
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from annot.base.records import Judgement
from annot.base.settings import CollectionSettings
from annot.publishing.release.prose import parse_answers, questions, unanswered
from annot.publishing.terms import terms_of
from annot.store.answers import JUDGEMENTS, SourcedJudgement
from annot.store.database import open_store
from annot.study.workspace import Workspace
from annot_demo import simulated_people
from study_stages import answered

PROSE = [question.id for question in questions() if question.kind == "prose"]


def rows(ws: Workspace, statement: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(ws.root / "annot.db")) as connection:
        return connection.execute(statement).fetchall()


def test_every_number_is_counted_from_the_rows(ws: Workspace, annot: Callable) -> None:
    # What was meant changes after the fact; what happened does not.
    settings = ws.settings_file.read_text(encoding="utf-8")
    for before, after in {
        "per_method = 3": "per_method = 99",
        'mode = "round-robin"': 'mode = "blocks"',
        "ranking_depth = 50": "ranking_depth = 77",
        "per_pair = 2": "per_pair = 4",
        'assignment = "per-query"': 'assignment = "per-pair"',
        'ratings = "shown"': 'ratings = "hidden"',
    }.items():
        assert before in settings
        settings = settings.replace(before, after)
    ws.settings_file.write_text(settings, encoding="utf-8")
    assert annot("datasheet").exit_code == 0
    text = (ws.exports / "datasheet.md").read_text(encoding="utf-8")
    ((judgements, unjudgeable),) = rows(ws, "SELECT count(*), sum(cannot_judge IS NOT NULL) FROM judgement")
    ((adjudicated,),) = rows(ws, "SELECT count(*) FROM adjudication")
    ((pairs,),) = rows(ws, "SELECT count(*) FROM (SELECT DISTINCT query_id, doc_id FROM assignment)")
    sizes = [size for (size,) in rows(ws, "SELECT count(*) FROM pool_entry GROUP BY topic_id")]
    assert unjudgeable
    assert adjudicated
    assert f"{pairs} pairs with a final grade and {judgements} judgements" in text
    assert f"3 pools of {min(sizes)} to {max(sizes)} papers" in text
    assert f"0 planned judgements are missing. In {unjudgeable} cases an assessor could not judge the pair" in text
    assert f"An adjudicator settled {adjudicated} of {pairs} pairs" in text
    assert "(round-robin, 3 new papers per method, rankings of 50 papers, seed 13)" in text
    assert "Each pair was given to 2 assessors. " in text
    assert "; the same assessors judged all pairs of a query" in text
    assert "The adjudicator saw the assessors' ratings" in text
    assert "4 assessors and 1 adjudicator" in text
    assert "Each assessor had their own Label Studio project, on one server" in text
    assert "simulated by programs" in text
    qrels = [line.split() for line in (ws.exports / "qrels.txt").read_text().splitlines()]
    method = [int(grade) for query_id, _, _, grade in qrels if query_id.endswith("-method")]
    cells = [len(method), 2 * len(method), *(method.count(grade) for grade in range(4))]
    assert (
        f"| method | {len({line[0] for line in qrels if line[0].endswith('-method')})} | "
        + " | ".join(map(str, cells))
        + " |"
        in text
    )


def test_agreement_is_what_annot_agreement_says(ws: Workspace, annot: Callable) -> None:
    annot("datasheet")
    annot("agreement")
    table = json.loads((ws.exports / "agreement.json").read_text(encoding="utf-8"))
    (together,) = (group for group in table["groups"] if group["name"] == "together")
    alpha = together["before"]["alpha_ordinal"]
    needed = "3 query papers: an interval over query papers needs 6"
    assert alpha["intervals"]["median"] == {"undefined": needed}
    text = (ws.exports / "datasheet.md").read_text(encoding="utf-8")
    line = f"| all facets | before | Krippendorff's alpha (ordinal) | {alpha['median']:.2f} | 6 | {alpha['n_pairs']} |"
    assert line in text
    assert text.count("an interval over query papers needs 6") <= 1, "said once, not in each cell"
    assert "figures have no interval: " in text


def test_a_judgement_that_does_not_count_is_told_without_the_servers_ids(ws: Workspace, annot: Callable) -> None:
    ((query_id, doc_id),) = rows(ws, "SELECT query_id, doc_id FROM assignment WHERE assessor = 'a1' AND position = 1")
    foreign = Judgement(str(query_id), str(doc_id), "a1", 2, flags=("by account 4711, planned for account 1",))
    with open_store(ws.database_url) as store, store.begin() as session:
        JUDGEMENTS.record(session, [SourcedJudgement(foreign, "label-studio", "99999", None)], recorded_at="2030-01-02")
    annot("datasheet")
    text = (ws.exports / "datasheet.md").read_text(encoding="utf-8")
    assert "- 1 judgement not counted: by another account than the planned one" in text
    assert "account 4711" not in text


def test_the_page_says_the_same_and_stands_alone(ws: Workspace, annot: Callable) -> None:
    ran = annot("datasheet")
    assert ran.stdout.split() == ["exports/datasheet.md", "exports/datasheet.html"]
    assert [line.split(":")[0] for line in ran.stderr.splitlines()] == ["next"]
    page = (ws.exports / "datasheet.html").read_text(encoding="utf-8")
    assert "What is true of uses.unsuitable." in page
    assert 'src="' not in page
    assert "<link" not in page


def test_open_questions_are_asked_in_the_file_and_counted_in_the_terminal(ws: Workspace, annot: Callable) -> None:
    sheet = ws.root / "datasheet.toml"
    sheet.unlink()
    ran = annot("datasheet", "--json")
    assert ran.exit_code == 0
    assert [one["question"] for one in ran.data["unanswered"]] == PROSE
    shown = f"{', '.join(PROSE[:3])} and {len(PROSE) - 3} more"
    assert ran.stderr == f"datasheet.toml: {len(PROSE)} questions are open ({shown}); answer them there\n"
    asked = sheet.read_text(encoding="utf-8")
    assert parse_answers(asked, name="x") == {}
    assert all(asked.count(f"\n# {one['text']}") == 1 for one in ran.data["unanswered"])


def test_answers_are_kept_and_a_complete_file_stays_as_people_left_it(ws: Workspace, annot: Callable) -> None:
    sheet = ws.root / "datasheet.toml"
    own = "# our own remark\n" + answered(uses__tasks='Two lines,\nand "quotes".')
    sheet.write_text(own, encoding="utf-8")
    assert annot("datasheet", "--json").data["answers_written"] is False
    assert sheet.read_text(encoding="utf-8") == own
    assert 'Two lines,\nand "quotes".' in (ws.exports / "datasheet.md").read_text(encoding="utf-8")


def test_a_file_that_lacks_a_question_gets_it_and_keeps_its_answers(ws: Workspace, annot: Callable) -> None:
    sheet = ws.root / "datasheet.toml"
    sheet.write_text('[uses]\ntasks = "Re-ranking."\n', encoding="utf-8")
    ran = annot("datasheet", "--json")
    assert ran.data["answers_written"] is True
    assert len(ran.data["unanswered"]) == len(PROSE) - 1
    text = sheet.read_text(encoding="utf-8")
    assert parse_answers(text, name="x") == {"uses.tasks": "Re-ranking."}
    assert "[maintenance]" in text


@pytest.mark.parametrize(
    ("sheet", "says"),
    [
        ('[motivation]\npurpos = "x"\n', "did you mean 'purpose'"),
        ('[motivatoin]\npurpose = "x"\n', "did you mean 'motivation'"),
        ("[motivation\n", "not valid TOML"),
    ],
)
def test_a_wrong_id_is_told_with_the_near_one_and_nothing_is_written(
    ws: Workspace, annot: Callable, sheet: str, says: str
) -> None:
    (ws.root / "datasheet.toml").write_text(sheet, encoding="utf-8")
    ran = annot("datasheet")
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert says in ran.stderr
    assert (ws.root / "datasheet.toml").read_text(encoding="utf-8") == sheet
    assert not (ws.exports / "datasheet.md").exists()


def test_before_anything_is_judged_there_is_no_datasheet(ws: Workspace, annot: Callable) -> None:
    with closing(sqlite3.connect(ws.root / "annot.db")) as connection:
        for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            connection.execute(f"DROP TRIGGER {name}")
        connection.execute("DELETE FROM judgement")
        connection.commit()
    (ws.root / "datasheet.toml").unlink()
    ran = annot("datasheet")
    assert ran.exit_code == 2
    assert "annot pull" in ran.stderr
    assert not (ws.root / "datasheet.toml").exists()


def test_what_the_corpus_filters_left_out_is_told_once(ws: Workspace, annot: Callable, tmp_path: Path) -> None:
    source = tmp_path / "more.jsonl"
    short = {"paper_id": "short1", "title": "A short one", "abstract": ["Only one sentence stands here."]}
    source.write_text(json.dumps(short) + "\n", encoding="utf-8")
    again = tmp_path / "again.jsonl"
    again.write_text((ws.root / "papers.jsonl").read_text(encoding="utf-8") + "\n", encoding="utf-8")
    assert annot("corpus", "add", again).exit_code == 0
    for _ in range(2):
        assert annot("corpus", "add", source).exit_code == 1  # nothing in it was kept
        assert annot("corpus", "add", ws.root / "papers.jsonl").exit_code == 0
    annot("datasheet")
    text = (ws.exports / "datasheet.md").read_text(encoding="utf-8")
    assert "Papers left out of the corpus: too few sentences (1) (`annot corpus add`)" in text
    assert "seen before" not in text


def test_the_demonstration_comes_with_everything_that_a_release_needs() -> None:
    assert unanswered(parse_answers(simulated_people.read("datasheet.toml"), name="datasheet.toml")) == ()
    terms, missing = terms_of(
        CollectionSettings(**tomllib.loads(simulated_people.read("settings.toml"))["collection"]),
        with_text=None,
        licence=None,
        published=None,
    )
    assert (terms.with_text, missing) == (True, ())
