"""Word vectors trained on too few abstracts are told wherever something ranks by them, and no others are."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from annot.ranking.word_vectors import FewAbstracts, trained_on_few
from command_line import annot_done

Study = Callable[[str], Path]
WARNING = "word vectors trained on 150 abstracts may rank no better than chance"
REMEDIES = ("`annot corpus add`", "`annot vectors add --words`")


def test_methods_that_rank_by_vectors_of_few_abstracts_are_found() -> None:
    def trained(abstracts: int, algorithm: str = "cbow") -> dict[str, object]:
        return {"word_vectors": {"abstracts": abstracts, "algorithm": algorithm}}

    settings = {"b": trained(1_999), "a": trained(150), "enough": trained(2_000)}
    settings |= {"counts": trained(14, "ppmi"), "enough counts": trained(15, "ppmi")}
    found = trained_on_few(
        {**settings, "imported": {"word_vectors": {"imported": "x.vec"}}, "tfidf": {"idf": "smooth"}}
    )
    assert found == (FewAbstracts(("a", "b"), 150, 2_000), FewAbstracts(("counts",), 14, 15))
    assert trained_on_few({"tfidf": {}, "enough": trained(2_000)}) == ()


def test_pool_run_and_report_say_so(study: Study) -> None:
    folder = study("measured")
    pools = annot_done("pool", "--frozen", "--dry-run", folder=folder).stderr
    runs = annot_done("run", "fabs_cbow200", folder=folder).stderr
    for told in (pools, runs):
        assert WARNING in told
        assert all(remedy in told for remedy in REMEDIES)
    assert "abs_cbow200, abs_tfidfcbow200" in pools
    assert "fabs_cbow200: " in runs
    annot_done("report", folder=folder)
    report = (folder / "exports" / "report.md").read_text()
    for named in ("fabs_cbow200 ranks by word vectors", "title_cbow200 and title_tfidfcbow200 rank by word vectors"):
        assert f"{named} that were trained on 150 abstracts" in report
    assert "trained on" not in annot_done("run", "fabs_tfidf", folder=folder).stderr
