"""A workspace or a database that cannot be used: a command says so, and changes nothing."""

from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from command_line import annot, difference, snapshot
from spoiling import Spoil, both, damaged_pages, judgements_with, remove, replace, sql, write
from wrong import DOWN, refused

NAMES = {
    "corpus add": "papers.jsonl",
    "import --as judgements": "mine.csv",
    "index": "",
    "pool": "",
    "query add": "fic0802 --facet method",
    "plan": "",
    "push": " ".join(DOWN),
    "status": "",
    "agreement": "",
    "run import": "theirs.run --tag theirs",
    "release": "out --licence CC0-1.0",
    "trace": "fic0407-background fic0101",
    "backup": "../backup.tar.gz",
    "studio up": "",
}
"""Commands of each module of commands, all of which open a study the same way, and what is typed after them."""
WITHOUT_DATABASE = {"corpus add", "index"}
"""Commands that never open the database."""


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
    result = annot(*command.split(), *NAMES[command].split(), folder=folder)
    refused(result, exit_code=2)
    for words in says:
        assert words in result.message(), result.stderr
    assert not difference(before, snapshot(folder))


@pytest.mark.parametrize("command", NAMES)
def test_a_workspace_that_cannot_be_used_is_told_by_a_command_of_each_module(
    command: str, study: Callable[[str], Path]
) -> None:
    folder = study("made")
    settings = (folder / "annot.toml").read_bytes()
    everything = command in ("status", "plan")
    for spoil, says in WORKSPACES.values() if everything else (WORKSPACES["not a study"], WORKSPACES["an unknown key"]):
        (folder / "annot.toml").write_bytes(settings)
        spoil(folder)
        refuses(command, folder, says)


@pytest.mark.parametrize("command", [name for name in NAMES if name not in WITHOUT_DATABASE])
def test_a_database_that_cannot_be_used_is_told_by_a_command_of_each_module(
    command: str, study: Callable[[str], Path]
) -> None:
    folder = study("measured")
    judgements_with("p-method,d17,ann,1")(folder)
    database = (folder / "annot.db").read_bytes()
    everything = command in ("status", "plan")
    for spoil, says in DATABASES.values() if everything else (DATABASES["a damaged database"],):
        for log in folder.glob("annot.db-*"):
            log.unlink()
        (folder / "annot.db").write_bytes(database)
        spoil(folder)
        refuses(command, folder, says)
