"""What the data forces on a coefficient of one query, where its value says less than it seems to."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from annot.base.stats.arrays import Array
from annot.base.stats.values import Value
from annot.measuring.agreement.coefficients import rests_on_most

ONE_SIDED = (
    "one of the two assessors gave the same grade to every pair: "
    "kappa is then 0, and alpha about 0 or below, whatever the other gave"
)
TWO_PAIRS = "it rests on two pairs: one different grade would change it completely"
ONE_GRADE = "every judgement is the same grade: it is then 1 by definition, as nothing else is expected by chance"


def caveats(tables: Array, values: Mapping[str, Value], *, averaged: bool) -> dict[str, tuple[str, ...]]:
    """The caveats of each coefficient that has a value and needs one.

    tables: of every two that are compared, shape (P, K, K). values: by coefficient. averaged: they are the mean over
    the tables, and not of all assessors at once; a caveat then holds where most pairs lie in tables that it holds for.

    A kappa against a constant is 0 by its definition (Cohen 1960): what is observed is then what is expected.
    """
    sizes = tables.sum(axis=(-1, -2))
    one_sided = two_pairs = False
    if sizes.any() and (averaged or np.count_nonzero(sizes) == 1):
        constant = np.any([np.count_nonzero(tables.sum(axis=axis), axis=-1) == 1 for axis in (-1, -2)], axis=0)
        one_sided = not rests_on_most(sizes[~constant].sum(), sizes.sum())
        two_pairs = rests_on_most(sizes[sizes == 2].sum(), sizes.sum())
    one_grade = np.count_nonzero(tables.sum(axis=(0, 1)) + tables.sum(axis=(0, 2))) == 1
    found = {}
    for name, value in values.items():
        if isinstance(value, float) and name.startswith(("alpha", "kappa", "ac")):
            of_gwet = name.startswith("ac")
            holds = {ONE_SIDED: one_sided and not of_gwet, TWO_PAIRS: two_pairs, ONE_GRADE: one_grade and of_gwet}
            if any(holds.values()):
                found[name] = tuple(text for text, there in holds.items() if there)
    return found
