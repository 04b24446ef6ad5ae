"""The parts of the Croissant file by themselves: versions, files and fields, as Croissant 1.1 writes them."""

from typing import Any

import pytest
from annot.publishing.release.prose import _field, _file, semantic_version


@pytest.mark.parametrize(
    ("version", "written"),
    [
        ("1", "1.0.0"),
        ("v2", "2.0.0"),
        ("0.1", "0.1.0"),
        ("1.2.3", "1.2.3"),
        ("01.002.3", "1.2.3"),
        ("1.2.3-beta.1", "1.2.3-beta.1"),
        ("2+build", "2.0.0+build"),
        ("1.2.3.4", "1.2.3.4"),
        ("spring", "spring"),
    ],
)
def test_a_version_is_three_numbers_if_it_can_be_read(version: str, written: str) -> None:
    assert semantic_version(version) == written


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("corpus.jsonl", "application/jsonlines"),
        ("data.v2/queries.jsonl", "application/jsonlines"),
        ("csv/qrels.tsv", "text/tab-separated-values"),
        ("LICENSE", "text/plain"),
        ("jsonl/qrels", "text/plain"),
    ],
)
def test_a_file_has_the_format_of_its_ending(path: str, kind: str) -> None:
    found = _file(path, b"four")
    assert (found["encodingFormat"], found["contentSize"], found["@id"]) == (kind, "4 B", path)


def test_a_field_with_several_values_is_an_array_and_a_foreign_key_names_its_column() -> None:
    def field(**more: Any) -> dict[str, Any]:
        column = {"name": "authors", "description": "Who wrote it.", "type": "sc:Text", **more}
        return _field({"name": "corpus", "file": "corpus.jsonl"}, column)

    assert field()["@id"] == "corpus/authors"
    assert {"isArray", "arrayShape", "references"} & field().keys() == set()
    several = field(several=True)
    assert (several["isArray"], several["arrayShape"]) == (True, "-1")
    assert field(refers_to="people/name")["references"] == {"field": {"@id": "people/name"}}
