"""Servers that send more than they should: bodies that unpack to gigabytes, and the key in other spellings."""

import gzip
import json
import re
import sqlite3
import tracemalloc
from contextlib import closing
from pathlib import Path

import pytest
from annot.base.errors import ModelError
from annot.steps import backup, publish
from annot.study.workspace import Workspace
from annot_opinions import asking
from annot_opinions.steps import Selection
from asked_study import PRICED, ask, calls_of, made, opinions_of, with_model
from scripted_server import Scripted, serving
from study_stages import quietly

ONE_QUERY = Selection(queries=("p1-method",))
KEY = "sk-a/key-that-nobody-may-see-0123456789"


@pytest.fixture
def ws(tmp_path: Path) -> Workspace:
    return made(tmp_path)


def twice_packed(size: int) -> bytes:
    return gzip.compress(gzip.compress(b"\0" * size))


@pytest.mark.parametrize("encoding", ["gzip, gzip", "gzip", "br", "x-unknown"])
def test_an_answer_in_an_encoding_that_was_not_asked_for_is_not_unpacked(ws: Workspace, encoding: str) -> None:
    content = twice_packed(50_000_000)
    assert len(content) < 1_000
    packed = Scripted(None, headers={"Content-Encoding": encoding}, body=content)
    with serving(lambda request, number: packed) as server:
        ws = with_model(ws, server.url, requests_at_once=1, longest_answer=50, **PRICED)
        tracemalloc.start()
        with pytest.raises(ModelError, match=f"in the encoding '{encoding}', which was not asked for"):
            ask(ws, selection=ONE_QUERY)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert most < 30_000_000
    assert {header["Accept-Encoding"] for header in server.headers} == {"identity"}
    # The model answered, so that it may have to be paid for.
    assert all(call.cost > 0.5 for call in calls_of(ws))


def test_identity_is_an_encoding_that_was_asked_for(ws: Workspace) -> None:
    with serving(lambda request, number: Scripted(headers={"Content-Encoding": "identity"})) as server:
        assert ask(with_model(ws, server.url), selection=ONE_QUERY).settled == 10


def test_no_more_than_the_limit_is_read_of_an_answer(ws: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "LONGEST_BODY", 10_000)
    with (
        serving(lambda request, number: Scripted("x" * 20_000)) as server,
        pytest.raises(ModelError, match="an answer of more than 10,000 bytes"),
    ):
        ask(with_model(ws, server.url, requests_at_once=1), selection=ONE_QUERY)
    assert len(server.requests) == 5


def escaped(text: str) -> str:
    """Each letter as JSON may write it."""
    return "".join(f"\\u{ord(letter):04X}" for letter in text)


SAID = '{"grade": 1, "reason": "You sent %s."}'
WHOLE = '{"model": "tiny %s", "choices": [{"message": {"content": %s}}]}'
SPELLINGS = {
    "escaped once": WHOLE % (escaped(KEY), json.dumps(SAID)[:-1].replace("%s", escaped(KEY)) + '"'),
    "escaped twice": WHOLE % ("", json.dumps(SAID % escaped(KEY))),
    "with its slash escaped": WHOLE % (KEY.replace("/", "\\/"), json.dumps(SAID % KEY.replace("/", "\\/"))),
    "in broken JSON": '{"choices": [{"message": "' + escaped(KEY),
}


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_the_key_is_blotted_out_however_json_spells_it(
    ws: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spelling: str
) -> None:
    monkeypatch.setenv("ANNOT_OPINION_KEY", KEY)
    with serving(lambda request, number: Scripted(None, body=SPELLINGS[spelling])) as server:
        ws = with_model(ws, server.url, requests_at_once=1, report=True)
        if spelling == "in broken JSON":
            with pytest.raises(ModelError) as error:
                ask(ws, selection=ONE_QUERY)
            assert escaped(KEY) not in str(error.value)
        else:
            ask(ws, selection=ONE_QUERY)
            assert {one.reason for one in opinions_of(ws)} == {"You sent [the key]."}
    backup.backup(ws, tmp_path / "backup.tar.gz", dry_run=False, advance=quietly)
    publish.release(
        ws, tmp_path / "out", with_text=True, licence="CC0-1.0", published=None, allowed=(), draft=True, dry_run=False
    )
    with closing(sqlite3.connect(ws.root / "annot.db")) as database:
        rows = "\n".join(database.iterdump())
    released = "".join(path.read_text(errors="replace") for path in (tmp_path / "out").rglob("*") if path.is_file())
    with gzip.open(tmp_path / "backup.tar.gz") as packed:
        kept = packed.read().decode("utf-8", "replace")
    for text in (rows, released, kept):
        assert KEY not in text
        # No reader of JSON puts it together, however deep it reads.
        assert KEY not in re.sub(r"\\+u00([0-9a-fA-F]{2})", lambda found: chr(int(found[1], 16)), text)
        assert KEY.replace("/", "\\/") not in text
