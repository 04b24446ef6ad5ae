"""Files of others: whatever they hold, nothing but them is opened, nothing is called and nothing is started."""

import gzip
import json
import pickle
import tempfile
from pathlib import Path
from typing import NamedTuple

import pytest
from command_line import annot, annot_done
from watching import Watch, outside

ABSTRACT = ["Why <script>alert(1)</script>.", "How \x1b]0;owned\x07 it is done.", "=HYPERLINK(1) What came of it."]
PAPER = {"paper_id": "p1", "title": "\x1b[2J<img src=x onerror=alert(1)>", "abstract": ABSTRACT, "year": 2001}


class Runs:
    """A pickle that would write a file if it were opened."""

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return eval, ("open('/tmp/owned-by-a-pickle', 'w')",)


class Hostile(NamedTuple):
    command: str
    name: str
    content: bytes
    exit_code: int


PICKLED = pickle.dumps(Runs())
FILES = {
    "an external document": Hostile(
        "corpus add",
        "P18.xml",
        b'<!DOCTYPE c SYSTEM "file:///etc/passwd"><collection id="P18"><volume id="1"><meta><year>2018</year></meta>'
        b'<paper id="1"><title>A</title><abstract>This is why. This is how it is. This is what is.</abstract></paper>'
        b"</volume></collection>",
        0,
    ),
    "an external entity": Hostile(
        "corpus add",
        "P18.xml",
        b'<!DOCTYPE c [<!ENTITY e SYSTEM "http://127.0.0.1:9/x">]><collection id="P18">&e;</collection>',
        2,
    ),
    "a text of orders": Hostile("corpus add", "papers.jsonl", json.dumps(PAPER).encode(), 0),
    "a pickle as papers": Hostile("corpus add", "papers.jsonl", PICKLED, 2),
    "a pickle as Parquet": Hostile("corpus add", "papers.parquet", PICKLED, 2),
    "a pickle, compressed": Hostile("corpus add", "papers.jsonl.gz", gzip.compress(PICKLED), 2),
    "an array of objects": Hostile("vectors add mine", "v.npy", PICKLED, 2),
    "a pickle as judgements": Hostile("import --as judgements", "j.csv", PICKLED, 2),
    "a pickle as grades": Hostile("import --as grades --format qrels", "g.qrels", PICKLED, 2),
    "a pickle as a backup": Hostile("restore", "b.tar.gz", PICKLED, 2),
}


@pytest.mark.parametrize("hostile", FILES.values(), ids=list(FILES))
def test_a_hostile_file_is_read_and_nothing_else(
    hostile: Hostile, watch: Watch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study, given = tmp_path / "study", tmp_path / "given"
    annot_done("init", "study", folder=tmp_path)
    given.mkdir()
    if hostile.command.startswith("vectors"):
        (tmp_path / "plain.jsonl").write_text(json.dumps(PAPER | {"title": "A", "abstract": ["Why a b c."] * 3}))
        annot_done("corpus", "add", tmp_path / "plain.jsonl", folder=study)
    (given / hostile.name).write_bytes(hostile.content)
    (tmp_path / "scratch").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "scratch"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    with watch.looking() as seen:
        found = annot(*hostile.command.split(), given / hostile.name, folder=study)
    assert found.exit_code == hostile.exit_code, found.stderr
    assert outside(seen, study, given) == []
    assert any(one.what.startswith(str(given)) for one in seen) or "given" in found.stderr
    assert not {"\x1b", "\x07"} & set(found.stdout + found.stderr)
    assert "Traceback" not in found.stderr
    assert not Path("/tmp/owned-by-a-pickle").exists()
