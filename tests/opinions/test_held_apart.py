"""Opinions of models are held apart: nothing that people see, decide or grade knows of them."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from annot.base.errors import InputError, MissingInput
from annot.formats.trec import read_qrels
from annot.judging.opinions.early import check_early
from annot.steps import imports, opinions, qrels, release
from annot.steps.opinion_ask import Selection
from annot.store.opinions import read_asked_model
from annot.study.exports import exported_qrels
from annot.study.snapshot import read_snapshot
from annot.study.workspace import Workspace, write_file
from asked_study import ask, made, opinions_of, send_one, with_model
from scripted_server import Scripted, serving

PACKAGE = Path(__file__).resolve().parents[2] / "toolkit" / "annot"
STORE = "annot.store.opinions"
MAY_READ = (
    *("judging/opinions/", "steps/opinion", "measuring/opinions", "publishing/report/", "publishing/release/"),
    *("steps/report.py", "steps/release.py", "steps/datasheet.py", "measuring/sampled", "store/opinions.py"),
    "judging/exchange/outgoing.py",
)
"""Asking, reports, releases and the estimates of a sample; and the proof that no task tells an opinion."""


def imports_of(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found |= {node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found


def test_only_asking_reports_releases_and_estimates_read_opinions() -> None:
    readers = {path.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*.py") if STORE in imports_of(path)}
    assert readers
    assert not {path for path in readers if not path.startswith(MAY_READ)}


def test_only_the_store_of_opinions_knows_their_tables() -> None:
    tables = {"OPINION_TABLE", "OPINION_CALL_TABLE"}
    users = {
        path.relative_to(PACKAGE).as_posix()
        for path in PACKAGE.rglob("*.py")
        if tables & {name.rpartition(".")[2] for name in imports_of(path)}
    }
    # A query about which a model was asked cannot be removed.
    assert users == {"store/opinions.py", "store/queries.py"}


def test_asking_before_anything_was_sent_needs_a_reason_which_goes_on_record(tmp_path: Path) -> None:
    with serving() as server:
        ws = with_model(made(tmp_path, stage="planned"), server.url)
        for empty in (None, " "):
            with pytest.raises(InputError, match="no pair has been sent to an assessor yet") as error:
                ask(ws, before_judging=empty)
            assert "--before-judging" in (error.value.hint or "")
        assert server.requests == []
        done = ask(ws, selection=Selection(queries=("p1-method",)), before_judging="A  pilot.")
        assert done.standing.early == ("asked: A pilot.",)
        assert ask(ws).settled == 30
    with ws.reading() as session:
        ((moment, what, why),) = read_asked_model(session, "small").early
    assert (moment[:2], what, why) == ("20", "asked", "A pilot.")


def test_once_a_pair_was_sent_asking_needs_no_reason(tmp_path: Path) -> None:
    ws = made(tmp_path, stage="planned")
    send_one(ws)
    with serving() as server:
        done = ask(with_model(ws, server.url))
    assert (done.settled, done.standing.early) == (40, ())


def asked(tmp_path: Path, judged: int) -> Workspace:
    def script(request: object, number: int) -> Scripted:
        return Scripted(f'{{"grade": {number % 3}, "reason": "r"}}')

    with serving(script) as server:
        ws = with_model(made(tmp_path, judged=judged), server.url, requests_at_once=1, repeats=3, model="tiny 2:7b")
        ask(ws)
    return ws


def test_grades_of_a_model_are_shown_when_people_have_settled_all_or_with_a_reason(tmp_path: Path) -> None:
    ws = asked(tmp_path, judged=10)
    with pytest.raises(InputError, match="people have not settled all pairs yet"):
        opinions.write(ws, "small", before_judging=None)
    opinions.write(ws, "small", before_judging="For the funder.")
    opinions.write(ws, "small", before_judging="For the funder.")
    (row,) = opinions.listing(ws)
    assert row.early == ("shown: For the funder.",)
    with pytest.raises(MissingInput, match="no model was asked under this name"):
        opinions.write(ws, "large", before_judging="Why not.")


def test_qrels_of_a_model_name_it_and_nothing_takes_them_for_peoples(tmp_path: Path) -> None:
    ws = asked(tmp_path, judged=10)
    written = opinions.write(ws, "small", before_judging="A test.")
    lines = written.path.read_text(encoding="utf-8").splitlines()
    assert written.path == ws.exports / "opinions" / "small.qrels"
    assert {line.split()[1] for line in lines} == {"model=tiny_2:7b"}
    # Three opinions on each pair; the middle one counts.
    grades = dict[tuple[str, str], list[int | None]]()
    for one in opinions_of(ws):
        grades.setdefault(one.pair, []).append(one.grade)
    found = {(one.query_id, one.doc_id): one.relevance for one in read_qrels(lines, name="x")}
    assert found == {pair: sorted(map(int, map(str, own)))[1] for pair, own in grades.items()}
    with pytest.raises(InputError, match="a model's grades"):
        imports.grades_from(
            made(tmp_path / "new", stage="queried"),
            [written.path],
            form="qrels", facet="method", per_topic=1, dry_run=False,
        )  # fmt: skip
    write_file(ws.qrels, written.path.read_bytes())
    with pytest.raises(InputError, match=r"exports/qrels\.txt: a model's grades \(tiny_2:7b\), expected people's"):
        release.release(
            ws, tmp_path / "out", with_text=None, licence=None, published=None, allowed=(), draft=True, dry_run=False
        )  # fmt: skip
    with pytest.raises(InputError, match="a model's grades"):
        exported_qrels(read_snapshot(ws))


def test_what_is_early_follows_what_people_have_done(tmp_path: Path) -> None:
    ws = made(tmp_path, stage="planned")
    with ws.reading() as session:
        assert check_early(ws, session, "asked", why="a  b") == "a b"
        assert check_early(ws, session, "shown", why="c") == "c"
    qrels_before = made(tmp_path / "judged")
    with qrels_before.reading() as session:
        assert check_early(qrels_before, session, "asked", why=None) is None
    with pytest.raises(InputError, match="without a final grade"):
        qrels.write(qrels_before, partial=False)
