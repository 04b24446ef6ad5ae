"""Names of the corpus's parts, the version of a database, and labels that replace others."""

from pathlib import Path

import pytest
from annot import __version__
from annot.base.errors import StoreError
from annot.store import facet_labels, schema
from annot.store.database import Store, open_store
from annot.store.facet_labels import FacetLabels
from annot.store.papers import append_parts
from later_release import RELEASE, plant
from sqlalchemy import Connection, create_engine, text


@pytest.mark.parametrize(
    ("there", "next_two"), [((), (1, 2)), ((1,), (2, 3)), ((1, 9, 10), (11, 12)), ((99999,), (100000, 100001))]
)
def test_new_parts_are_numbered_behind_those_that_are_there(
    tmp_path: Path, there: tuple[int, ...], next_two: tuple[int, int]
) -> None:
    (tmp_path / "part-old.parquet").touch()
    for number in there:
        (tmp_path / f"part-{number:05d}.parquet").touch()
    new = [tmp_path / "a", tmp_path / "b"]
    for path in new:
        path.write_text(path.name, encoding="utf-8")
    append_parts(tmp_path, new)
    found = [(tmp_path / f"part-{number:05d}.parquet").read_text(encoding="utf-8") for number in next_two]
    assert found == ["a", "b"]


def in_memory() -> Connection:
    return create_engine("sqlite://").connect()


def test_a_database_whose_version_was_never_noted_down_is_as_good_as_empty() -> None:
    connection = in_memory()
    schema.note_version(connection, 1)
    connection.execute(text(f"DELETE FROM {schema.VERSION_TABLE}"))
    assert schema.version_of(connection) == 0


def test_the_version_of_a_later_program_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    connection = in_memory()
    with monkeypatch.context() as patch:
        plant(patch, lambda _: None)
        schema.note_version(connection, len(schema.MIGRATIONS))
    with pytest.raises(StoreError, match=f"needs annot {RELEASE} or later, this is {__version__}"):
        schema.version_of(connection)


@pytest.fixture
def labelled(tmp_path: Path) -> Store:
    store = open_store(f"sqlite:///{tmp_path / 'annot.db'}")
    with store.begin() as session:
        carried = [FacetLabels(name, ("method",), "carried") for name in ("p1", "p2", "p3")]
        facet_labels.replace_labels(session, carried)
        facet_labels.put_corrections(session, [FacetLabels("p3", ("result",), "corrected", "2031-01-01T00:00:00Z")])
    return store


def labels(store: Store) -> dict[str, tuple[str, ...]]:
    with store.read() as session:
        return {one.paper_id: one.labels for one in facet_labels.read_labels(session)}


def test_labels_of_papers_not_named_stay_if_that_is_asked(labelled: Store) -> None:
    with labelled.begin() as session:
        facet_labels.replace_labels(session, [FacetLabels("p2", ("background",), "carried")], keep=None)
    assert labels(labelled) == {"p1": ("method",), "p2": ("background",), "p3": ("result",)}


def test_a_later_correction_takes_the_place_of_an_earlier(labelled: Store) -> None:
    with labelled.begin() as session:
        again = FacetLabels("p3", ("background",), "corrected", "2031-01-02T00:00:00Z")
        facet_labels.replace_labels(session, [again])
    assert labels(labelled) == {"p3": ("background",)}
