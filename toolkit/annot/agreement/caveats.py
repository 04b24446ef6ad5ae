"""Values that the data forces: a coefficient that has a value, and one that says less than it seems to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from annot.stats.undefined import Undefined, Value

Array = npt.NDArray[np.float64]

ONE_SIDED = (
    "one of the two assessors gave the same grade to every pair: "
    "kappa is then 0, and alpha about 0 or below, whatever the other gave"
)
TWO_PAIRS = "it rests on two pairs: one different grade would change it completely"
ONE_GRADE = "every judgement is the same grade: it is then 1 by definition, as nothing else is expected by chance"


def caveats(comparisons: Sequence[Array], values: Mapping[str, Value], *, averaged: bool) -> dict[str, tuple[str, ...]]:
    """The caveats of each coefficient that has a value and needs one.

    comparisons: every two rows that are compared, on the pairs that both have, shape (2, n). values: by coefficient.
    averaged: alpha and Gwet's are the mean over the comparisons, as the kappas always are, and not of all at once.

    A kappa against a constant is 0 by its definition (Cohen 1960): what is observed is then what is expected.
    """
    met = [both for both in comparisons if both.shape[1]]
    if not met:
        return {}
    one_sided = any((both == both[:, :1]).all(axis=1).any() for both in met)
    few = min(both.shape[1] for both in met) == 2
    one_grade = len(np.unique(np.concatenate(met, axis=1))) == 1
    found: dict[str, tuple[str, ...]] = {}
    for name, value in values.items():
        if isinstance(value, Undefined) or not name.startswith(("alpha", "kappa", "ac")):
            continue
        alone = averaged or len(met) == 1 or name.startswith("kappa")
        told = {
            ONE_SIDED: one_sided and alone and not name.startswith("ac"),
            TWO_PAIRS: few and alone,
            ONE_GRADE: one_grade and name.startswith("ac"),
        }
        if any(told.values()):
            found[name] = tuple(text for text, holds in told.items() if holds)
    return found
