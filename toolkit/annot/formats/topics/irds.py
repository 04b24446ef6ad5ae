"""The queries of a dataset that `ir_datasets` knows by its name (https://ir-datasets.com)."""

from __future__ import annotations

from collections.abc import Iterator

from annot.base.errors import InputError
from annot.formats.corpora.irds import dataset_named, downloading
from annot.formats.topics.fields import Record

PREFIX = "irds:"


def dataset_records(name: str) -> Iterator[Record]:
    """The queries, in the dataset's order and with its names of their fields. Raises InputError if it has none."""
    dataset = dataset_named(name)
    if not dataset.has_queries():
        raise InputError(f"{name}: this dataset of ir_datasets has no queries")
    with downloading(name):
        for number, query in enumerate(dataset.queries_iter(), start=1):
            yield Record(number, query._asdict())
