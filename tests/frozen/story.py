"""The two studies that a release leaves behind for later ones: written by the program of the tree that it is in.

`make.py` runs it in a fresh environment, with a folder that does not exist yet. A study of facets has answers that were
changed and returned, a person who left, adjudication, training, an opinion, a second version of a pool, and five open
tasks; a study of questions has a sample. Each is left as a folder, a backup, a draft of its release, and the tables of
PostgreSQL as SQL; an annot.toml with every setting is next to them.
"""

import json
import lzma
import os
import shutil
import sqlite3
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import tomlkit
from annot.base.settings import OpinionSettings, Settings
from annot.publishing.report import figures
from annot.steps import query
from annot_demo import simulated_people
from command_line import annot_done
from complete_study import rating
from memory_studio import StudioOfMemory, studio_of_memory
from postgres import programs, running
from psycopg import sql
from scripted_server import serving
from sqlalchemy import Engine, MetaData, create_engine
from sqlalchemy.schema import CreateIndex, CreateTable
from studies import Pair, Study, address_of
from study_stages import ENVIRONMENT, give_reasons, keep_in, set_in

PAPERS = 60
OPEN = 5
"""Tasks of the facets that are left unanswered."""
QUERIES = (("fic0802", "background"), ("fic0903", "method"))
COLLECTION = {
    "title": "A frozen study",
    "description": "Fictional abstracts, judged by a program.",
    "creators": ["The demonstration"],
    "licence": "CC-BY-4.0",
    "text_licence": "CC0-1.0",
}


def begun(folder: Path, studio: StudioOfMemory, *, kind: str, **settings: dict[str, Any]) -> Study:
    """A study with a corpus and people, whose Label Studio is in memory."""
    folder.mkdir(parents=True)
    annot_done("init", ".", "--name", f"frozen-{kind}", "--kind", kind, folder=folder)
    set_in(folder, {"collection": COLLECTION, **settings})
    papers = folder.parent / "papers.jsonl"
    papers.write_text("".join(corpus_lines()), encoding="utf-8")
    annot_done("corpus", "add", papers, folder=folder)
    papers.unlink()
    (folder / ".annot").mkdir(exist_ok=True)
    (folder / ".annot" / "studio").symlink_to(studio.folder)
    study = Study(folder, studio)
    for name in ("a1", "a2", "j1"):
        add_person(study, name)
    return study


def corpus_lines() -> list[str]:
    """Records of the corpus: the papers of the queries, and the first of the others."""
    lines = simulated_people.corpus_text().splitlines(keepends=True)
    of_queries = [line for line in lines if json.loads(line)["paper_id"] in dict(QUERIES)]
    return list(dict.fromkeys([*of_queries, *lines[:PAPERS]]))


def corpus_ids() -> list[str]:
    return [json.loads(line)["paper_id"] for line in corpus_lines()]


def add_person(study: Study, name: str) -> None:
    """Add an assessor or adjudicator, who signs up at once."""
    role = ["--adjudicator"] if name.startswith("j") else []
    annot_done("assessor", "add", name, "--account", address_of(name), *role, folder=study.folder)
    study.as_person(name).close()


def answered(study: Study, name: str, *, leave: int = 0, first: int = 0) -> dict[Pair, int]:
    """The person answers all open tasks but for so many; the annotations' ids."""
    there = [task for task in study.on_server(name) if not task["annotations"]]
    pairs = [tuple(task["data"]["pair_id"].split("/")) for task in there]
    return study.judge(name, {pair: (first + at) % 4 for at, pair in enumerate(pairs[: len(pairs) - leave])})


def settle(study: Study) -> None:
    annot_done("push", "adjudication", folder=study.folder)
    there = [task["data"]["pair_id"] for task in study.on_server("j1", "adjudicate") if not task["annotations"]]
    grades = {tuple(key.split("/")): 2 for key in there}
    study.judge("j1", grades, "adjudicate", comment="Read again.", settled_by="a misread abstract")
    annot_done("pull", folder=study.folder)


def facets(folder: Path, studio: StudioOfMemory) -> None:
    """The study of facets, in the order in which things happen to a study."""
    settings = {"pool": {"methods": ["title_tfidf", "abs_tfidf", "cited"], "per_method": 3}}
    study = begun(folder, studio, kind="facets", **settings, training={"per_facet": 2})

    def do(*words: object) -> None:
        annot_done(*words, folder=folder)

    do("facets")
    (paper_id, facet), (later_paper, later_facet) = QUERIES
    do("query", "add", paper_id, "--facet", facet)
    do("pool")
    do("plan")
    do("push")
    first = answered(study, "a1")
    answered(study, "a2", first=1)
    do("pull")
    changed, returned, *_ = first
    with study.as_person("a1") as person:
        person.change_annotation(first[changed], rating("3"))
    do("pull")
    do("return", *returned, "--to", "a1", "--why", "Read the second sentence again.")
    do("push")
    answered(study, "a1", first=3)
    do("pull")
    settle(study)
    pooled = {doc_id for _, doc_id in first}
    found = next(name for name in corpus_ids() if name not in {*pooled, paper_id, later_paper})
    do("pool", "add", f"{paper_id}-{facet}", found, "--reason", "found by hand", "--by", "lead", "--grow")
    do("plan", "--grow")
    do("push")
    answered(study, "a1")
    answered(study, "a2")
    do("pull")
    settle(study)
    add_person(study, "a3")
    do("train", "gold")
    give_reasons(folder)
    do("push", "training")
    train(study, "a3")
    do("pull", "training")
    with serving() as model:
        opinion = {"url": model.url, "model": "tiny"}
        set_in(folder, {"opinions": {"small": opinion}})
        do("opinion", "ask", "small")
    do("query", "add", later_paper, "--facet", later_facet)
    do("pool", "--grow")
    do("plan", "--grow")
    do("push")
    answered(study, "a1")
    do("pull")
    do("assessor", "leave", "a2", "--to", "a3")
    do("push")
    answered(study, "a3", leave=OPEN, first=1)
    do("pull")
    do("qrels", "--partial")
    do("agreement")
    do("run", "fabs_tfidf", "fabs_bm25")


def train(study: Study, name: str) -> None:
    """The person answers the batches of the training that were sent."""
    there = [task["data"]["pair_id"] for task in study.on_server(name, "train") if not task["annotations"]]
    study.judge(name, {tuple(key.split("/")): 2 for key in there}, "train")


def questions(folder: Path, studio: StudioOfMemory) -> None:
    """The study of questions: a sample of the pools is judged and settled."""
    settings = {"pool": {"methods": ["abs_bm25", "abs_tfidf"], "per_method": 8}}
    study = begun(folder, studio, kind="questions", **settings)

    def do(*words: object) -> None:
        annot_done(*words, folder=folder)

    for question in simulated_people.questions()[:3]:
        query.add_text(study.workspace, question.topic, dry_run=False)
    do("pool")
    do("plan", "--sample", "0.5")
    do("push")
    answered(study, "a1")
    answered(study, "a2", first=1)
    do("pull")
    settle(study)
    do("qrels")
    do("agreement")
    do("run", "whole_tfidf", "whole_bm25")


def left_behind(study: Path, to: Path, url: str) -> None:
    """Leave the study, its backup, its release and its tables in the folder `to`."""
    to.mkdir(parents=True)
    annot_done("release", to / "release", "--draft", "--ids-only", folder=study)
    annot_done("backup", to / "backup.tar.gz", folder=study)
    os.environ["ANNOT_DATABASE"] = url
    try:
        annot_done("restore", to / "backup.tar.gz", study.with_name(f"{study.name}-on-a-server"), folder=study)
    finally:
        del os.environ["ANNOT_DATABASE"]
    engine = create_engine(url)
    packed(to / "tables.sql", ("\n".join(statements(engine)) + "\n").encode())
    engine.dispose()
    with closing(sqlite3.connect(study / "annot.db")) as database:
        database.execute("VACUUM")
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    ignored = shutil.ignore_patterns(".annot", "backups", "annot.db*", "*.html")
    shutil.copytree(study, to / "folder", ignore=ignored)
    packed(to / "annot.db", (study / "annot.db").read_bytes())


READING = (
    *("status", "corpus show", "query list", "assessor list", "answers list", "run list", "opinion list", "comments"),
    *("agreement", "evaluate", "forecast", "check plan", "pool show fic0802", "meeting"),
)
"""Commands that print facts of the study, whose keys in JSON stay."""


def keys_of_json(study: Path) -> dict[str, list[str]]:
    """Paths of the keys in the data of each command's `--json`; `[]` is an item of a list."""
    printed = {words: annot_done(*words.split(), "--json", folder=study).data for words in READING}
    return {words: sorted(set(paths_in(data))) for words, data in printed.items()}


def paths_in(value: Any, path: str = "") -> Iterator[str]:
    """Every key in a value, with the keys above it."""
    if isinstance(value, list):
        for item in value:
            yield from paths_in(item, f"{path}[]")
    elif isinstance(value, dict):
        for key, below in value.items():
            yield f"{path}.{key}"
            yield from paths_in(below, f"{path}.{key}")


def packed(path: Path, content: bytes) -> None:
    """Write the file compressed, `NAME.xz`: databases are large and repeat themselves."""
    path.with_name(f"{path.name}.xz").write_bytes(lzma.compress(content))


def statements(engine: Engine) -> Iterator[str]:
    """SQL that makes all tables with their rows, counters and triggers."""
    metadata = MetaData()
    metadata.reflect(engine)
    with psycopg.connect(engine.url.render_as_string(hide_password=False).replace("+psycopg", "")) as connection:
        for table in metadata.sorted_tables:
            yield f"{str(CreateTable(table).compile(dialect=engine.dialect)).strip()};".replace("%%", "%")
            yield from (f"{CreateIndex(index).compile(dialect=engine.dialect)};" for index in table.indexes)
            columns = sql.SQL(", ").join(sql.Identifier(column.name) for column in table.c)
            texts = sql.SQL(", ").join(sql.SQL("{}::text").format(sql.Identifier(column.name)) for column in table.c)
            key = sql.SQL(", ").join(sql.Identifier(column.name) for column in table.primary_key)
            name = sql.Identifier(table.name)
            for row in connection.execute(sql.SQL("SELECT {} FROM {} ORDER BY {}").format(texts, name, key)):
                values = sql.SQL(", ").join(map(sql.Literal, row))
                insert = sql.SQL("INSERT INTO {} ({}) VALUES ({});").format(name, columns, values)
                yield insert.as_string(connection)
            if any(column.identity for column in table.c):
                counter = f"pg_get_serial_sequence('{table.name}', 'id')"
                yield f"SELECT setval({counter}, (SELECT COALESCE(MAX(id), 0) + 1 FROM {table.name}), false);"
        for (made,) in connection.execute("SELECT pg_get_functiondef('annot_append_only'::regproc)"):
            yield f"{made.rstrip()};"
        of_us = "SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal ORDER BY tgname"
        yield from (f"{made};" for (made,) in connection.execute(of_us))


def every_setting() -> str:
    """An annot.toml in which every setting that the release knows has its default."""
    values = Settings().model_dump(mode="json", exclude_none=True)
    values["opinions"] = {"small": OpinionSettings(model="tiny").model_dump(mode="json", exclude_none=True)}
    return tomlkit.dumps(values)


def main(folder: Path) -> None:
    """Write both studies below a new folder."""
    for name in ENVIRONMENT:
        os.environ.pop(name, None)
    # A page without drawings is a tenth of the size.
    figures.Drawing._of_page = lambda drawing, on: '<svg viewBox="0 0 1 1"></svg>'
    binaries = programs()
    assert binaries is not None, "no PostgreSQL (initdb)"
    with tempfile.TemporaryDirectory() as place, running(binaries) as server:
        keep_in(Path(place) / "kept")
        (Path(place) / "studio").mkdir()
        with studio_of_memory(Path(place) / "studio") as studio:
            os.environ["ANNOT_ALLOW"] = str((Path(place) / "studio").resolve())
            for name, told in (("facets", facets), ("questions", questions)):
                told(Path(place) / name, studio)
                left_behind(Path(place) / name, folder / name, server.new_database())
            keys = json.dumps(keys_of_json(Path(place) / "facets"), indent=1)
            (folder / "keys.json").write_text(keys + "\n", encoding="utf-8")
    (folder / "settings.toml").write_text(every_setting(), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
