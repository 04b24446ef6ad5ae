"""A workspace or a database that cannot be used: every command says so, and changes nothing."""

from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from annot_csfcube.files import write_csfcube
from command_line import annot, calls, difference, snapshot
from demo_collection import demo_material
from spoiling import Spoil, both, damaged_pages, judgements_with, remove, replace, sql, write
from wrong import DOWN, refused

WORKSPACELESS = {"init", "demo", "facets train", "encoder train", "restore", "doctor", "run list"}
"""Commands that need no workspace."""


WITHOUT_DATABASE = {
    *WORKSPACELESS,
    *("corpus show", "corpus add", "import --as citations", "vectors add", "vectors list"),
    *("encoder contexts", "guidelines", "studio down", "studio status", "studio service", "studio nightly"),
    "index",
}
"""Commands that never open the database."""


USUAL = {
    "vectors add": "mine theirs.npy",
    "qrels compare": "exports/qrels.txt exports/qrels.txt",
    "run import": "theirs.run --tag theirs",
    "pool import": "engine.run --method engine",
    "pool add": "fic0407 fic0104 --reason mine",
    "encoder contexts": "full.jsonl --out contexts.jsonl",
    "encoder examples": "specter-id --out examples",
    "corpus add": "papers.jsonl",
    "corpus withdraw": "papers.jsonl --reason retracted",
    "import --as citations": "papers.jsonl",
    "import --as csfcube": "release",
    "import --as judgements": "mine.csv",
    "import --as grades": "mine.qrels",
    "query sample": "--out sheet.csv",
    "query choose": "1",
    "query add": "fic0802 --facet method",
    "query remove": "fic0407-background",
    "pool show": "fic0407-background",
    "assessor change": "a1 --account b1@demo.example.org",
    "assessor leave": "a1",
    "backup": "../backup.tar.gz",
    "assessor add": "a1 --account a1@demo.example.org",
    "guidelines": "method",
    "import --as labelstudio": "theirs.json --rating rel --query topic --document paper",
    "return": "fic0407-background fic0101 --to a1 --why Again.",
    "release": "out --licence CC0-1.0",
    "trace": "fic0407-background fic0101",
    "answers restore": "--all",
    "push": " ".join(DOWN),
    "pull": " ".join(DOWN),
    "substudy draw": "--assessor j1",
    "opinion ask": "small",
    "opinion qrels": "small",
}
"""What is typed after a command where nothing but the workspace is wrong."""


NAMES = calls(USUAL)


WORKSPACES: dict[str, tuple[Spoil, tuple[str, ...]]] = {
    "not a study": (remove("annot.toml"), (".: not a study (no annot.toml)", "annot init")),
    "an unknown key": (
        replace("annot.toml", "per_method =", "per_metod ="),
        ("annot.toml: 1 fault", "pool.per_metod: unknown key; did you mean 'per_method'?"),
    ),
    "two values that do not fit": (
        both(replace("annot.toml", "per_pair = 2", "per_pair = 0"), replace("annot.toml", '"drop"', '"droop"')),
        ("annot.toml: 2 faults", "judging.per_pair", "found 0", "judging.missing", "found 'droop'"),
    ),
    "settings that are a number or a word": (
        both(
            replace("annot.toml", "epochs = 1 ", 'epochs = "many" '),
            replace("annot.toml", "workers = 1", "workers = 0"),
        ),
        (
            "2 faults",
            "word_vectors.epochs: expected a whole number of at least 1, or 'auto', found 'many'",
            "word_vectors.workers: expected a whole number of at least 1, or 'all', found 0",
        ),
    ),
    "settings that are no TOML": (write("annot.toml", "[pool\n"), ("annot.toml: not valid TOML", "line 1")),
    "settings that are not UTF-8": (write("annot.toml", b"\xff"), ("annot.toml: not valid TOML",)),
}


DATABASES: dict[str, tuple[Spoil, tuple[str, ...]]] = {
    "no database": (remove("annot.db"), ("but no database", "annot restore")),
    "a file that is no database": (write("annot.db", "text"), ("annot.db: not a SQLite database",)),
    "a damaged database": (damaged_pages, ("annot.db", "damaged")),
    "a database of a newer program": (
        sql("INSERT INTO annot_schema VALUES (99, '', '9.1.0')"),
        ("the study needs annot 9.1.0 or later", "update annot"),
    ),
    "another program's database": (
        both(write("annot.db", b""), sql("CREATE TABLE songs (title TEXT)")),
        ("tables of another program (songs",),
    ),
}


def refuses(command: str, folder: Path, says: Iterable[str]) -> None:
    """The command ends with an error of these words and changes nothing."""
    before = snapshot(folder)
    result = annot(*command.split(), *USUAL.get(command, "").split(), folder=folder)
    refused(result, exit_code=2)
    for words in says:
        assert words in result.message(), result.stderr
    assert not difference(before, snapshot(folder))


@pytest.mark.parametrize("command", [name for name in NAMES if name not in WORKSPACELESS])
def test_a_workspace_that_cannot_be_used_is_told_by_every_command(command: str, study: Callable[[str], Path]) -> None:
    folder = study("made")
    settings = (folder / "annot.toml").read_bytes()
    everything = command in ("status", "plan")
    for spoil, says in WORKSPACES.values() if everything else (WORKSPACES["not a study"], WORKSPACES["an unknown key"]):
        (folder / "annot.toml").write_bytes(settings)
        spoil(folder)
        refuses(command, folder, says)


@pytest.mark.parametrize("command", [name for name in NAMES if name not in WITHOUT_DATABASE])
def test_a_database_that_cannot_be_used_is_told_by_every_command(command: str, study: Callable[[str], Path]) -> None:
    folder = study("measured")
    made_by = '[{"id": 1, "completed_by": 1, "result": [{"from_name": "rel", "value": {"choices": ["1"]}}]}]'
    data = '{"topic": "p-method", "paper": "d17"}'
    write("theirs.json", f'[{{"id": 1, "data": {data}, "annotations": {made_by}}}]')(folder)
    judgements_with("p-method,d17,ann,1")(folder)
    write("queries.csv", "paper_id,period,type,rating,facets\nfic0802,1994-1999,empirical,3,method\n")(folder)
    for name, content in write_csfcube(demo_material(), folder="release/", with_text=True).items():
        write(name, content)(folder)
    database = (folder / "annot.db").read_bytes()
    everything = command in ("status", "plan")
    for spoil, says in DATABASES.values() if everything else (DATABASES["a damaged database"],):
        for log in folder.glob("annot.db-*"):
            log.unlink()
        (folder / "annot.db").write_bytes(database)
        spoil(folder)
        refuses(command, folder, says)
