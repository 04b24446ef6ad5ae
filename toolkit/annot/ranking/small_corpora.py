"""Word vectors that were trained on too few abstracts to rank by."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

FEWEST_ABSTRACTS = 2000
"""Word vectors trained on fewer may rank no better than chance: from here on both baselines are shown to be better. On
CSFCube's judged pools, trained on a part of the release's 3,368 abstracts, NDCG%20 above that of a random order (points
of 100, interval over query papers, mean of 3 draws; `benchmarks/small_corpora.py`):

    abstracts          fabs_cbow200    fabs_tfidfcbow200
          250     -0.6 [-3.7, +2.6]    -1.3 [-4.8, +2.2]
          500     +2.5 [-1.7, +6.7]    +4.2 [-0.2, +8.5]
        1,000    +5.0 [-0.0, +10.0]   +7.5 [+1.9, +13.0]
        2,000    +7.9 [+2.0, +13.8]  +11.5 [+5.8, +17.2]
        3,368    +9.9 [+3.8, +16.0]  +13.2 [+7.0, +19.3]
"""


class FewAbstracts(NamedTuple):
    """Methods or runs that rank by such word vectors."""

    names: tuple[str, ...]
    abstracts: int
    """On which these were trained; of several, the fewest."""
    enough: int = FEWEST_ABSTRACTS


def trained_on_few(settings: Mapping[str, Mapping[str, Any]]) -> FewAbstracts | None:
    """Those of `settings`, by method or run, whose word vectors read fewer than `FEWEST_ABSTRACTS`; None without any.

    Word vectors that were imported do not say how many they read.
    """
    read = {name: of.get("word_vectors", {}).get("abstracts") for name, of in settings.items()}
    few = {
        name: abstracts for name, abstracts in read.items() if abstracts is not None and abstracts < FEWEST_ABSTRACTS
    }
    return FewAbstracts(tuple(sorted(few)), min(few.values())) if few else None
