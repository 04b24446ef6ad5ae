"""What pools of other depths would cost, against pools that were really drawn and plain multiplication."""

from collections.abc import Callable
from pathlib import Path

import pytest
from annot.base.settings import TERM_AND_EMBEDDING_METHODS
from annot.formats.trec import read_run
from command_line import annot_done, difference, snapshot

METHODS = (*TERM_AND_EMBEDDING_METHODS, "lsa")


def overlap(folder: Path, depth: int) -> float:
    """Of a method's best the share that another has among its own, counted plainly."""
    runs = {
        name: read_run((folder / "pools" / "rankings" / f"{name}.run").read_text().splitlines(), name=name)
        for name in METHODS
    }
    shares = []
    for paper_id in runs["lsa"]:
        best = {name: [doc.doc_id for doc in run[paper_id][:depth]] for name, run in runs.items()}
        of_methods = []
        for name, own in best.items():
            others = {doc_id for other, docs in best.items() if other != name for doc_id in docs}
            of_methods.append(len([doc_id for doc_id in own if doc_id in others]) / len(own))
        shares.append(sum(of_methods) / len(of_methods))
    return sum(shares) / len(shares)


def test_sizes_are_those_of_pools_that_are_then_drawn_and_nothing_is_written(study: Callable[[str], Path]) -> None:
    folder = study("pooled")
    before = snapshot(folder)
    call = ("forecast", "--pools", "--depth", 3, "--depth", 5, "--seconds", 90, "--hourly-rate", 20, "--json")
    told = annot_done(*call, folder=folder).data
    assert not difference(before, snapshot(folder))
    now, deeper = told["depths"]
    assert (now["new"], now["per_method"]) == (0, 3)
    queries = annot_done("query", "list", "--json", folder=folder).data
    assert now["pairs"] + deeper["new"] == deeper["pairs"]
    for one in (now, deeper):
        drawn = annot_done("pool", "--per-method", one["per_method"], "--frozen", "--json", folder=folder).data["pools"]
        sizes = {pool["topic_id"]: pool["size"] for pool in drawn}
        assert (one["smallest"], one["largest"]) == (min(sizes.values()), max(sizes.values()))
        assert one["mean"] == pytest.approx(sum(sizes.values()) / len(sizes))
        assert one["pairs"] == sum(sizes[query["topic_id"]] for query in queries)
        assert one["judgements"] == 2 * one["pairs"]
        assert one["hours"]["value"] == pytest.approx(one["judgements"] * 90 / 3600)
        assert one["cost"]["value"] == pytest.approx(one["judgements"] * 90 / 3600 * 20)
        assert one["shared"] == pytest.approx(overlap(folder, one["per_method"]))
