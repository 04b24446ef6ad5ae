"""The section `[sample]` of annot.toml: how pairs are drawn when not all of the pools are judged."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from annot.base.settings.sections import Section


class SampleSettings(Section):
    """How `annot plan --sample` draws. The first sample fixes these settings but for `predict`."""

    across: Literal["query", "study"] = "query"
    """`query`: the same share of each query's pool. `study`: the share holds over all pools together."""
    floor: Annotated[float, Field(gt=0, le=1)] = 0.05
    """The smallest probability with which a pair is drawn."""
    unranked: Annotated[float, Field(gt=0, le=1)] = 1.0
    """The probability of a document that no method ranked, because it is cited or was found by hand."""
    predict: Literal["ranker", "none"] = "ranker"
    """What estimates take for the grades of pairs that were not drawn: `ranker`, a prediction from the rankings, which
    narrows intervals and cannot bias them, or `none`."""
