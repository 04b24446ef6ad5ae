"""A study whose papers are known by their DOIs, with the signs that DOIs have, from a library's file to the release."""

import csv
import json
from pathlib import Path

from annot.formats.trec import read_qrels, read_run
from annot.publishing.release.prose import answer_sheet, questions
from command_line import annot_done
from memory_studio import StudioOfMemory
from studies import PEOPLE, Study, add_people
from study_stages import COLLECTION, set_in

DOIS = (
    "10.1002/(sici)1097-4571(199806)49:8<693::aid-asi4>3.0.co;2-o",
    "10.1000/a",
    f"10.1000/../{'long' * 60}",
    "10.1000/</script><b>$x_{1}^2$</b>|a%b,c",
    "10.1000/a-method",
    "10.1000/ä",
    "10.1000/日本",
    "10.1000/x#y?z=1&w='q'z",
    '10.1000/"=1+2"x',
)
"""The first is of the publisher that named papers so, the others are as their syntax allows them; in small letters.

The query on the method of the second one has the name of the fifth one.
"""
ASKED = ("background", "method", "result", "method")
"""The facets of the first papers, which are queries."""
THINGS = ("lexicons", "treebanks", "summaries", "translations", "captions")
WAYS = ("rules", "votes", "kernels", "forests")


def library() -> str:
    """RIS of twenty papers whose abstracts have headings."""
    records = []
    for at in range(20):
        thing, other, way = THINGS[at % 5], THINGS[(at + 1) % 5], WAYS[at % 4]
        parts = (
            f"BACKGROUND: It is not known how {thing} become {other} in year {at}.",
            f"METHODS: We compared {way} with people on {20 + at} sets of {thing}.",
            f"RESULTS: The {other} of {way} were as good as those of people in {thing}.",
        )
        doi = DOIS[at].upper() if at < len(DOIS) else f"10.5555/{at}"
        fields = {"TY": "JOUR", "TI": f"{at} {thing} by {way}", "AB": " ".join(parts), "PY": 2000 + at, "DO": doi}
        records += [f"{tag}  - {text}\n" for tag, text in [*fields.items(), ("ER", "")]]
    return "".join(records)


def test_ids_that_are_dois_go_through_every_command(memory: StudioOfMemory, tmp_path: Path) -> None:
    folder = tmp_path / "study"
    folder.mkdir()

    def annot(*words: object) -> str:
        return annot_done(*words, folder=folder).stdout

    annot("init")
    pool = {"methods": ["title_tfidf", "abs_tfidf"], "per_method": 2, "ranking_depth": 20}
    set_in(folder, {"collection": {"name": "dois", **COLLECTION}, "pool": pool})
    study = Study(folder, memory)
    study.workspace.cache.mkdir(exist_ok=True)
    (study.workspace.cache / "studio").symlink_to(memory.folder)
    (folder / "refs.ris").write_text(library(), encoding="utf-8")
    annot("corpus", "add", "refs.ris")
    annot("facets")
    with (folder / "asked.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("paper_id", "facet"), *zip(DOIS[1:], ASKED[1:], strict=False)])
    annot("query", "add", DOIS[0], "--facet", ASKED[0])
    annot("query", "add", "--file", "asked.csv")
    annot("pool")
    annot("pool", "show", DOIS[2])
    add_people(study.workspace, PEOPLE)
    annot("plan")
    annot("push")
    pairs = sorted(study.planned()["a1"])
    asked = {f"{doi}-{facet}" for doi, facet in zip(DOIS, ASKED, strict=False)}
    assert {query_id for query_id, _ in pairs} == asked

    # Ids are escaped in the keys of tasks.
    tasks = [tuple(name.replace("%", "%25").replace("/", "%2F") for name in pair) for pair in pairs]
    study.judge("a1", {pair: at % 4 for at, pair in enumerate(tasks)})
    study.judge("a2", {pair: at % 4 if at else 3 for at, pair in enumerate(tasks)})
    annot("pull")
    annot("push", "adjudication")
    study.judge("j1", {tasks[0]: 1}, "adjudicate")
    annot("pull")
    annot("qrels")
    expected = {pair: at % 4 if at else 1 for at, pair in enumerate(pairs)}
    assert grades(folder / "exports" / "qrels.txt") == expected

    annot("run", "fabs_tfidf")
    ranked = read_run((folder / "exports" / "runs" / "fabs_tfidf.run").read_text("utf-8").splitlines(), name="run")
    assert {(query_id, one.doc_id) for query_id, docs in ranked.items() for one in docs} == set(pairs)
    annot("browse")
    assert "</script><b>" not in (folder / "exports" / "browse.html").read_text("utf-8")
    assert "grade 1 by j1" in annot("trace", *pairs[0])
    (folder / "datasheet.toml").write_text(answer_sheet({one.id: "Made up." for one in questions()}))
    annot("release", "--draft", "made")
    made = folder / "made"
    assert grades(made / "qrels.txt") == expected
    lines = (made / "beir" / "queries.jsonl").read_text("utf-8").splitlines()
    assert {json.loads(line)["_id"] for line in lines} == asked
    for name in ("report.html", "report.md", "report.tex"):
        text = (made / name).read_text("utf-8")
        assert "x_{1}" not in text if name.endswith("tex") else "<b>$x" not in text
    annot("check", "files")
    annot("check", "pools")
    annot("backup", "../kept.tar.gz")
    annot_done("restore", "kept.tar.gz", "back", folder=tmp_path)
    back = tmp_path / "back"
    annot_done("check", "files", folder=back)
    annot_done("qrels", folder=back)
    assert grades(back / "exports" / "qrels.txt") == expected


def grades(path: Path) -> dict[tuple[str, str], int]:
    found = read_qrels(path.read_text("utf-8").splitlines(), name=path.name)
    return {(one.query_id, one.doc_id): one.relevance for one in found}
