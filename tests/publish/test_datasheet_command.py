"""`annot datasheet`: numbers counted from the rows, prose asked once and kept."""

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing

from annot.base.records import Judgement
from annot.store.answers import JUDGEMENTS, SourcedJudgement
from annot.store.database import open_store
from annot.study.workspace import Workspace


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
    foreign = Judgement(str(query_id), str(doc_id), "a1", 2, flags=("by account 4711, which is not this person's",))
    with open_store(ws.database_url) as store, store.begin() as session:
        JUDGEMENTS.record(session, [SourcedJudgement(foreign, "label-studio", "99999", None)], recorded_at="2030-01-02")
    annot("datasheet")
    text = (ws.exports / "datasheet.md").read_text(encoding="utf-8")
    assert "- 1 judgement not counted: by another account than the planned one" in text
    assert "account 4711" not in text
