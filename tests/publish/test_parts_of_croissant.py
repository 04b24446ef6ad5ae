"""Versions in the Croissant file, as Croissant 1.1 writes them."""

import pytest
from annot.publishing.release.prose import semantic_version


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
