"""annot: from a corpus of paper abstracts to a published retrieval test collection, judged in Label Studio.

What can be used from Python; each loads what it needs when it is first used:

- `measure_agreement`: agreement coefficients with intervals, from judgements in a table or a matrix
- `alpha`: Krippendorff's alpha alone
- `draw_pool`: the documents to judge, drawn from rankings
- `read_qrels`, `read_run`: TREC's files as tables
- `evaluate`: runs measured against final grades, with intervals
- `open_study`: a study's judgements, final grades, pools and agreement as tables
"""

from typing import TYPE_CHECKING

__version__ = "1.1.0"

__all__ = [
    "AnnotError",
    "DrawnPools",
    "InputError",
    "MeasuredAgreement",
    "MeasuredRuns",
    "OpenStudy",
    "UndefinedStatistic",
    "alpha",
    "draw_pool",
    "evaluate",
    "measure_agreement",
    "open_study",
    "read_qrels",
    "read_run",
]

if TYPE_CHECKING:
    from annot.api.agreeing import MeasuredAgreement, alpha, measure_agreement
    from annot.api.evaluating import DrawnPools, MeasuredRuns, draw_pool, evaluate, read_qrels, read_run
    from annot.api.opening import OpenStudy, open_study
    from annot.base.errors import AnnotError, InputError, UndefinedStatistic
else:
    _NAMES_OF = {
        "annot.base.errors": ("AnnotError", "InputError", "UndefinedStatistic"),
        "annot.api.agreeing": ("MeasuredAgreement", "alpha", "measure_agreement"),
        "annot.api.evaluating": ("DrawnPools", "MeasuredRuns", "draw_pool", "evaluate", "read_qrels", "read_run"),
        "annot.api.opening": ("OpenStudy", "open_study"),
    }
    _MODULE_OF = {name: module for module, names in _NAMES_OF.items() for name in names}
    _RENAMED: dict[str, str] = {}
    """Present name of each name that an earlier release had."""

    def __getattr__(name: str):
        """Load a public name when it is first used (PEP 562): `import annot` alone loads nothing heavy."""
        if name in _RENAMED:
            import warnings

            warnings.warn(f"annot.{name} is called annot.{_RENAMED[name]} now", FutureWarning, stacklevel=2)
            return __getattr__(_RENAMED[name])
        if name not in _MODULE_OF:
            raise AttributeError(f"module 'annot' has no attribute {name!r}")
        from importlib import import_module

        value = globals()[name] = getattr(import_module(_MODULE_OF[name]), name)
        return value

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
