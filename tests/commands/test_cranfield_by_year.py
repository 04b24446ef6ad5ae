"""Three yearly snapshots of Cranfield's documents: each year's qrels and scores stay those of its corpus."""

import json
import random
from functools import partial
from pathlib import Path

import pytest
import pytrec_eval
from annot.base.records import Judgement, nested
from annot.formats.trec import read_qrels, read_run
from annot.store.answers import JUDGEMENTS, SourcedJudgement
from annot.store.papers import paper_ids
from annot.store.people import read_assignments
from annot.study.workspace import Workspace
from command_line import annot_done
from needs import unavailable
from study_stages import set_in

GRADES = {"1": 3, "2": 3, "3": 2, "4": 1}
"""By Cleverdon's code, which has the best first; -1 is not explained."""
YEARS = ("2025", "2026", "2027")
SYSTEMS = ("fabs_tfidf", "fabs_bm25")


def read(shared: Path) -> tuple[dict[str, dict[str, int]], list[dict[str, str]], dict[str, str]]:
    """Grades by question and document, the documents, and the questions."""
    folder = shared / "cranfield"
    if not folder.is_dir():
        unavailable(f"no cranfield/ in {shared}")
    rows = (line.split() for line in (folder / "codes.txt").read_text().splitlines())
    grades = nested((question, f"d{document}", GRADES[code]) for question, document, code in rows if code in GRADES)
    documents = [
        record | {"paper_id": f"d{record['paper_id']}"}
        for record in map(json.loads, (folder / "documents.jsonl").read_text().splitlines())
    ]
    questions = map(json.loads, (folder / "questions.jsonl").read_text().splitlines())
    return grades, documents, {question["question_id"]: question["text"] for question in questions}


def judge(ws: Workspace, grades: dict[str, dict[str, int]]) -> None:
    """Everyone gives each planned pair the grade that Cranfield has, and 0 to all others."""
    with ws.writing() as session:
        answered = {judgement.pair_key: judgement for judgement in JUDGEMENTS.records(session)}
        given = [
            Judgement(one.query_id, one.doc_id, one.assessor, grades.get(one.query_id, {}).get(one.doc_id, 0))
            for one in read_assignments(session)
            if one.pair_key not in answered
        ]
        JUDGEMENTS.record(session, [SourcedJudgement(one, "label-studio", "", {}) for one in given], recorded_at="2031")


@pytest.mark.long
def test_each_year_keeps_its_qrels_and_its_scores(shared: Path, tmp_path: Path) -> None:
    grades, documents, questions = read(shared)
    chance = random.Random(7)
    chance.shuffle(documents)
    cuts = [0, round(0.4 * len(documents)), round(0.7 * len(documents)), len(documents)]
    done = partial(annot_done, folder=tmp_path / "study")
    annot_done("init", "study", "--kind", "questions", folder=tmp_path)
    ws = Workspace.open(tmp_path / "study")
    set_in(ws.root, {"pool": {"per_method": 8, "methods": ["abs_bm25", "abs_tfidf"]}, "judging": {"per_pair": 1}})
    topics = [json.dumps({"_id": name, "text": text}) for name, text in questions.items()]
    (ws.root / "topics.jsonl").write_text("\n".join(topics) + "\n")
    kept: dict[str, bytes] = {}
    runs: dict[str, dict[str, bytes]] = {}
    gone: set[str] = set()
    for number, year in enumerate(YEARS):
        lines = map(json.dumps, documents[cuts[number] : cuts[number + 1]])
        (ws.root / f"{year}.jsonl").write_text("\n".join(lines) + "\n")
        if number == 0:
            done("corpus", "add", f"{year}.jsonl")
            done("query", "add", "--file", "topics.jsonl")
            for name in ("a1", "a2"):
                done("assessor", "add", name, "--account", f"{name}@example.org")
        else:
            old = paper_ids(ws.corpus)
            begun = ("--version", year, *(("--first", YEARS[0]) if number == 1 else ()), "--reason", "a year later")
            done("corpus", "add", f"{year}.jsonl", *begun)
            leaving = chance.sample(sorted({*old} - gone), round(0.05 * len(old)))
            gone |= {*leaving}
            (ws.root / "gone.txt").write_text("\n".join(leaving))
            done("corpus", "withdraw", "gone.txt", "--reason", "retracted")
        done("pool", "--grow")
        done("plan", "--grow")
        judge(ws, grades)
        done("qrels")
        done("run", *SYSTEMS)
        kept[year], runs[year] = ws.qrels.read_bytes(), {tag: ws.run_file(tag).read_bytes() for tag in SYSTEMS}
        for earlier in YEARS[:number]:
            assert ws.qrels_of(earlier).read_bytes() == kept[earlier]
    done("check", "pools")
    of_year = {year: nested(read_qrels(text.decode().splitlines(), name=year)) for year, text in kept.items()}
    assert not gone & {doc_id for docs in of_year[YEARS[-1]].values() for doc_id in docs}
    found = {
        year: {name: {doc for doc, grade in docs.items() if grade} for name, docs in of.items()}
        for year, of in of_year.items()
    }
    late = [
        name for name in questions if found["2027"].get(name) and not found["2025"].get(name) | found["2026"].get(name)
    ]
    assert late, "a question whose relevant documents all come in the third year"
    for year in YEARS:
        if year != YEARS[-1]:
            done("run", *SYSTEMS, "--corpus", year)
            assert {tag: ws.run_file(f"{year}/{tag}").read_bytes() for tag in SYSTEMS} == runs[year]
        data = done("evaluate", "--corpus", year, "--convention", "trec", "--json").data
        evaluator = pytrec_eval.RelevanceEvaluator(of_year[year], {"ndcg"})
        for tag in SYSTEMS:
            path = ws.runs / f"{tag}.run" if year == YEARS[-1] else ws.runs / year / f"{tag}.run"
            run = read_run(path.read_text().splitlines(), name=tag)
            expected = evaluator.evaluate({name: {doc.doc_id: doc.score for doc in docs} for name, docs in run.items()})
            values = {name: of["values"]["nDCG"] for name, of in data["queries"][tag]["trec"].items()}
            assert values == pytest.approx({name: expected[name]["ndcg"] for name in values}, abs=1e-6)
            assert all((values.get(name, 0) > 0) is (year == YEARS[-1]) for name in late)
