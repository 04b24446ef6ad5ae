"""Topics of files in a study: added all or none, the same again, refused where something else has their id."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import pytest
from annot.base.errors import InputError
from annot.base.records import Assessor, Judgement, Topic
from annot.formats.topics import read_topics
from annot.store.answers import JUDGEMENTS, SourcedAnswer
from annot.store.people import put_assessors
from annot.store.pools import read_topics as stored_topics
from annot.study.workspace import Workspace
from command_line import Result, annot_done, difference, snapshot
from pooled_corpus import made, paper

XML = (
    '<topics>\n<topic number="1"><query>word001 word002</query><question>which word003</question></topic>\n'
    '<topic number="2"><query>word004 word005</query><narrative>Any.</narrative></topic>\n</topics>\n'
)


@pytest.fixture
def study(ws: Workspace, annot: Callable[..., Result]) -> Workspace:
    """A study of twenty papers, two of which are queries."""
    made(ws, annot, [paper(number) for number in range(20)])
    (ws.root / "topics.xml").write_text(XML, encoding="utf-8")
    return ws


def topics(ws: Workspace) -> dict[str, Topic]:
    with ws.reading() as session:
        return stored_topics(session)


def test_a_file_is_added_once_and_what_was_found_is_printed(study: Workspace, annot: Callable[..., Result]) -> None:
    before = snapshot(study.root)
    would = annot("query", "add", "--file", "topics.xml", "--dry-run")
    assert "2 would be added, 0 already in the study" in would.stdout
    assert not difference(before, snapshot(study.root))
    told = annot("query", "add", "--file", "topics.xml")
    assert told.stdout == (
        "topics.xml: 2 topics (XML), 1 with a description, 1 with a narrative\n"
        "read: id from `number`, title from `query`, description from `question`, narrative from `narrative`\n"
        "2 added, 0 already in the study\n"
    )
    assert topics(study) == {
        "1": Topic("1", "word001 word002", "which word003"),
        "2": Topic("2", "word004 word005", None, "Any."),
    }
    before = snapshot(study.root)
    again = annot("query", "add", "--file", "topics.xml", "--json").data
    assert (again["topics"], again["new"], again["with_description"], again["with_narrative"]) == (["1", "2"], 0, 1, 1)
    assert not difference(before, snapshot(study.root))
    (study.root / "more.tsv").write_text("2\tword004 word005\n", encoding="utf-8")
    assert annot("query", "add", "--file", "more.tsv").exit_code == 2
    others = '{"id": "3", "title": "x"}\n{"id": "4", "title": "y"}\n'
    same = '{"id": "2", "title": "word004  word005", "narrative": "Any."}\n'
    (study.root / "more.jsonl").write_text(same + others, encoding="utf-8")
    more = annot("query", "add", "--file", "more.jsonl").stdout
    assert "3 topics (JSON Lines), 0 with a description, 1 with a narrative" in more
    assert "2 added, 1 already in the study" in more
    again = annot("query", "add", "--file", "more.jsonl", "--json").data
    assert (again["with_description"], again["with_narrative"], again["new"]) == (0, 1, 0)
    by_hand = annot("query", "add", "--text", " word004\n\nword005 ", "--narrative", "Any.", "--id", "2")
    assert by_hand.exit_code == 0
    assert len(topics(study)) == 4


def test_topics_that_something_else_has_the_id_of_are_refused_with_their_lines(
    study: Workspace, annot: Callable[..., Result]
) -> None:
    assert annot("query", "add", "--file", "topics.xml").exit_code == 0
    with study.writing() as session:
        put_assessors(session, [Assessor("a1", None, False)])
        one = SourcedAnswer(Judgement("2", "p3", "a1", 1), "label-studio", "1", {})
        JUDGEMENTS.record(session, [one], recorded_at="2031-03-14T00:00:00Z")
    (study.root / "other.tsv").write_text("9\tnew\n1\tother\n2\tother\np7\tword\np5-method\tword\n", encoding="utf-8")
    before = snapshot(study.root)
    refused = annot("query", "add", "--file", "other.tsv")
    assert refused.exit_code == 2
    assert not difference(before, snapshot(study.root))
    for fault in (
        "other.tsv:2: topic 1: another text has this id\n",
        "other.tsv:3: topic 2: another text has this id, and pairs of it were judged or sent\n",
        "other.tsv:5: topic p5-method: a query of p5 has this id\n",
    ):
        assert fault in refused.stderr
    assert "other.tsv:1" not in refused.stderr
    assert "hint: nothing was added; give the text another id, or run `annot query remove 1` first" in refused.message()
    written = annot("query", "add", "--id", "2", "--text", "other").message()
    assert "--id 2: another text has this id, and pairs of it were judged or sent" in written
    assert written.endswith("hint: give the text another id")


# -- datasets of ir_datasets -------------------------------------------------------------------------------------------


class Asked(NamedTuple):
    """Queries as ir_datasets has those of TREC, with a field of their own."""

    query_id: str
    title: str
    description: str
    narrative: str
    about: tuple[str, ...]


@pytest.fixture
def registered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Two datasets that ir_datasets knows by name: one with queries, one without."""
    module: ModuleType = pytest.importorskip("ir_datasets")
    from ir_datasets.formats import BaseQueries

    monkeypatch.setenv("IR_DATASETS_HOME", str(tmp_path / "home"))

    class Queries(BaseQueries):
        def queries_iter(self) -> Iterator[Asked]:
            yield Asked("7", "short", "What is it?", "", ("a", "b"))
            yield Asked("8/a", "other", "", "", ())

    module.registry.register("asked-for-annot", module.Dataset(Queries()))

    class Unreachable(BaseQueries):
        def __init__(self, error: Exception) -> None:
            self.error = error

        def queries_iter(self) -> Iterator[Asked]:
            raise self.error

    module.registry.register("silent-for-annot", module.Dataset())
    module.registry.register("gone-for-annot", module.Dataset(Unreachable(RuntimeError("All sources failed", [1]))))
    module.registry.register("cut-for-annot", module.Dataset(Unreachable(OSError(101, "unreachable" * 50))))
    yield "irds:asked-for-annot"
    for name in ("asked-for-annot", "silent-for-annot", "gone-for-annot", "cut-for-annot"):
        del module.registry._registered[name]


def test_queries_of_a_dataset_are_read_by_its_name(registered: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError) as caught:
        read_topics(registered)
    assert caught.value.faults == (
        f"{registered}, query:2: query_id: '8/a': expected no space, no slash and nothing that cannot be printed",
    )
    monkeypatch.setattr("annot.formats.topics.id_fault", lambda _: "")
    read = read_topics(registered)
    assert read.topics[0][1] == Topic("7", "short", "What is it?", None, {"about": json.dumps(["a", "b"])})
    assert read.topics[1][1] == Topic("8/a", "other", None, None, {"about": "[]"})
    assert read.form == "ir_datasets"


def test_ids_of_topics_that_look_alike_are_named_and_both_kept(tmp_path: Path) -> None:
    annot_done("init", "study", "--kind", "topics", folder=tmp_path)
    study = tmp_path / "study"
    plain = annot_done("query", "add", "--id", "T1", "--text", "What do bees do?", folder=study)
    assert "differ only" not in plain.stderr
    same = annot_done("query", "add", "--id", "t1", "--text", "What do ants do?", folder=study)
    assert "1 group of ids that differ only in case, Unicode form or ligatures: T1 and t1" in same.stderr
    (study / "topics.tsv").write_text("t2\tWasps\nT2\tFlies\nT3\tMoths\n", encoding="utf-8")
    several = annot_done("query", "add", "--file", "topics.tsv", "--dry-run", folder=study)
    assert "1 group of ids that differ only in case, Unicode form or ligatures: t2 and T2" in several.stderr
