"""`annot import --as grades`: other collections of the sources, from made files in their form to figures of systems.

The forms: SciDocs (Cohan et al. 2020), one JSON object of papers and TREC qrels for each task and fold; RELISH (Brown
and Zhou 2019), a list of seed articles; TREC-COVID (Voorhees et al. 2021), qrels of topics with grades 0, 1, 2.
"""

import json
import random
from pathlib import Path

import pytest
from annot.base.records import Qrel
from annot.formats.judgements_file import read_relish
from annot.formats.trec import read_qrels
from annot.pools.selection import topics_as_papers
from annot.store.database import open_store
from annot.store.pools import documents_by_query, read_queries
from annot.store.runs import read_splits
from annot.study.workspace import Workspace
from command_line import annot, annot_done

KEEP = ("--foreign", "keep")
"""`p29` has no abstract, so that the corpus leaves it out, and grades."""
SUBJECTS = ("graph paths edges nodes", "cells proteins genes drugs", "queries ranking index terms")
RELISH = [
    {"uid": "x", "pmid": "1", "response": {"relevant": ["5", "9"], "partial": ["13"], "irrelevant": ["2", "77"]}},
    {"uid": "y", "pmid": "1", "response": {"relevant": ["5"], "partial": ["9"], "irrelevant": ["2"]}},
]


def abstract(at: int) -> str:
    words = random.Random(at)
    subject = SUBJECTS[at % 3].split()
    return " ".join(f"We {' '.join(words.choices(subject, k=8))}." for _ in range(4))


@pytest.fixture
def scidocs(tmp_path: Path) -> Path:
    """A study of whole abstracts with 30 papers of three subjects; one task, two folds, relevant if of one subject."""
    annot_done("init", ".", folder=tmp_path)
    settings = tmp_path / "annot.toml"
    text = settings.read_text().replace("[facets]", "[facets]\nwhole = []", 1)
    settings.write_text(text.replace("relevant_from = 2", "relevant_from = 1"))
    papers = {f"p{at}": {"paper_id": f"p{at}", "title": "On it", "abstract": abstract(at)} for at in range(30)}
    papers["p29"]["abstract"] = None
    (tmp_path / "metadata.json").write_text(json.dumps(papers))
    for fold, queries in {"val": range(3), "test": range(3, 9)}.items():
        lines = [f"p{query} 0 p{at} {int(at % 3 == query % 3)}\n" for query in queries for at in range(9, 30)]
        (tmp_path / f"{fold}.qrel").write_text("".join(lines))
    annot_done("corpus", "add", "metadata.json", folder=tmp_path)
    return tmp_path


def test_scidocs_goes_from_its_files_to_figures_of_systems(scidocs: Path) -> None:
    told = annot_done(
        *("import", "--as", "grades", "val.qrel", "test.qrel", "--facet", "whole"), *KEEP, "--json", folder=scidocs
    ).data
    assert (told["queries"], told["pairs"]) == (9, 9 * 21)
    assert told["folds"] == {"val": 3, "test": 6}
    ws = Workspace.open(scidocs)
    with open_store(ws.database_url, create=False) as store, store.read() as session:
        assert {query.sentences for query in read_queries(session)} == {(0, 1, 2, 3)}
        assert read_splits(session)["all"]["fold1_dev"] == ("p0-whole", "p1-whole", "p2-whole")
        assert set(documents_by_query(session)["p4-whole"]) == {f"p{at}" for at in range(9, 30)}
    annot_done("qrels", folder=scidocs)
    kept = {line for fold in ("val", "test") for line in (scidocs / f"{fold}.qrel").read_text().splitlines()}
    written = {line.replace("-whole ", " ") for line in (scidocs / "exports" / "qrels.txt").read_text().splitlines()}
    assert written == kept
    annot_done("run", "fabs_bm25", folder=scidocs)
    evaluated = annot_done("evaluate", "--csv", folder=scidocs).stdout
    assert "fabs_bm25" in evaluated
    # The subjects share no word but "we": every system that reads the texts puts one subject first.
    ranked = (scidocs / "exports" / "runs" / "fabs_bm25.run").read_text().split("\n")
    first = [line.split() for line in ranked if line.split()[3:4] == ["1"]]
    assert len(first) == 9
    assert all(int(line[0][1:].split("-")[0]) % 3 == int(line[2][1:]) % 3 for line in first)


def test_evaluation_takes_the_test_fold_that_was_imported(scidocs: Path) -> None:
    # Of a query for development, what is of another subject is relevant.
    val = (scidocs / "val.qrel").read_text().splitlines()
    flipped = [f"{line[:-1]}{1 - int(line[-1])}" if line.startswith("p0 ") else line for line in val]
    (scidocs / "val.qrel").write_text("".join(f"{line}\n" for line in flipped))
    files = ("val.qrel", "test.qrel")
    imported = annot_done("import", "--as", "grades", *files, "--facet", "whole", *KEEP, "--json", folder=scidocs)
    (unused,) = [note for note in imported.data["notes"] if "not used" in note]
    assert [f"{grade} (" in unused for grade in range(4)] == [False, False, True, True]
    annot_done("qrels", folder=scidocs)
    annot_done("run", "fabs_bm25", folder=scidocs)
    run = {}
    for query, _, doc, rank, _, _ in (
        line.split() for line in (scidocs / "exports/runs/fabs_bm25.run").read_text().splitlines()
    ):
        run[query.split("-")[0], int(rank)] = doc

    def precision(fold: str) -> float:
        """P@20 over the queries of a file, by its own lines."""
        relevant = {tuple(line.split()[::2]) for line in (scidocs / fold).read_text().splitlines() if line[-1] == "1"}
        queries = {query for query, _ in relevant}
        return sum((query, run[query, rank]) in relevant for query in queries for rank in range(1, 21)) / (
            20 * len(queries)
        )

    def figure(*average: str) -> tuple[str, float]:
        lines = annot_done("evaluate", *average, "--json", folder=scidocs).data["lines"]
        (line,) = [one for one in lines if (one["convention"], one["run"]) == ("csfcube", "fabs_bm25")]
        return line["average"], line["values"]["P@20"]

    assert figure() == ("mean over the test fold", pytest.approx(precision("test.qrel")))
    assert figure("--average", "dev") == ("mean over the development fold", pytest.approx(precision("val.qrel")))
    assert figure("--average", "plain")[0] == "mean over queries"
    assert precision("test.qrel") != precision("val.qrel")


def test_bad_grades_leave_nothing_behind(scidocs: Path) -> None:
    for line, said in (
        ("p0 0 p9 -1", "grade -1, expected 0 to 3"),
        ("p0 0 p9 4\np0 0 p8 4\np0 0 p7 4", "bad.qrel:1: p0 p9: grade 4, expected 0 to 3 (and 2 other lines)"),
        ("zz 0 p9 1", "no query is a paper of the corpus"),
    ):
        (scidocs / "bad.qrel").write_text(line + "\n")
        result = annot("import", "--as", "grades", "bad.qrel", "--facet", "whole", *KEEP, folder=scidocs)
        assert result.exit_code == 2
        assert said in result.message()
    assert annot_done("status", "--json", folder=scidocs).data["queries"] == 0


def test_relish_is_read_as_its_paper_tells() -> None:
    read = read_relish(json.dumps(RELISH).encode(), name="relish.json")
    assert [*zip(*(read[name] for name in ("query", "document", "assessor", "grade")), strict=True)] == [
        ("1", "2", "a1", 0),
        ("1", "77", "a1", 0),
        ("1", "13", "a1", 1),
        ("1", "5", "a1", 2),
        ("1", "9", "a1", 2),
        ("1", "2", "a2", 0),
        ("1", "9", "a2", 1),
        ("1", "5", "a2", 2),
    ]


def topics() -> tuple[Qrel, ...]:
    grades = random.Random(5)
    lines = [f"{topic} 0 d{at} {grades.choice((0, 0, 1, 2))}\n" for topic in range(1, 6) for at in range(40)]
    return read_qrels(lines, name="covid")


@pytest.mark.parametrize("per_topic", [1, 3])
def test_topics_become_papers_as_aspire_made_them(per_topic: int) -> None:
    """By hand, from the definition: relevance 2 to be a query, relevant to its topic or to others only."""
    grades = {(topic, doc_id): grade for topic, doc_id, grade in topics()}
    relevant = {
        doc_id: {topic for (topic, doc), grade in grades.items() if doc == doc_id and grade} for _, doc_id in grades
    }
    made = topics_as_papers(topics(), per_topic=per_topic, seed=7)
    queries = {query for query, _, _ in made}
    assert len(queries) == 5 * per_topic
    pool = {doc_id for doc_id, found in relevant.items() if found}
    topic_of = {}
    for query in queries:
        mine = {doc_id: grade for name, doc_id, grade in made if name == query}
        assert mine.keys() == pool - {query}
        (topic_of[query],) = [
            topic
            for topic in {topic for topic, _ in grades}
            if grades[topic, query] == 2
            and {doc_id for doc_id, grade in mine.items() if grade}
            == {doc_id for doc_id in pool - {query} if topic in relevant[doc_id]}
        ]
    assert sorted(topic_of.values()) == sorted(str(topic) for topic in range(1, 6) for _ in range(per_topic))
