"""Designs of draws: those on record, those of annot.toml, and changes on the command line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import get_args

from annot.base.errors import InputError
from annot.base.names import check_name
from annot.base.records import CITED, Pool
from annot.base.settings import Settings
from annot.base.settings.sections import DrawMode
from annot.pools.pooling import as_of


@dataclass(frozen=True, slots=True)
class PoolDesign:
    """Design that a pool follows from, besides the rankings."""

    mode: str
    per_method: int
    ranking_depth: int
    seed: int
    methods: tuple[str, ...]
    """The methods that take part, `cited` among them; in no order that matters."""
    without: tuple[str, ...]

    @property
    def ranked_methods(self) -> tuple[str, ...]:
        """The methods that have a ranking."""
        return tuple(name for name in self.methods if name != CITED)


@dataclass(frozen=True, slots=True, kw_only=True)
class DesignOverrides:
    """Parts of a design that the command line changes; None changes nothing."""

    mode: str | None = None
    per_method: int | None = None
    ranking_depth: int | None = None
    seed: int | None = None
    methods: tuple[str, ...] | None = None
    without: tuple[str, ...] | None = None


def design_of_settings(settings: Settings) -> PoolDesign:
    """Design in annot.toml. Raises InputError for a method that it leaves out and does not have."""
    pool = settings.pool
    for name in pool.without:
        check_name(name, pool.methods, what="method to leave out")
    taking_part = tuple(name for name in pool.methods if name not in pool.without)
    without = tuple(sorted(pool.without))
    return PoolDesign(pool.mode, pool.per_method, pool.ranking_depth, settings.seed, taking_part, without)


def without(design: PoolDesign, names: Iterable[str]) -> PoolDesign:
    """The design, but those of its methods that are named are left out, and on record so."""
    left_out = {*names} & {*design.methods}
    staying = tuple(name for name in design.methods if name not in left_out)
    return replace(design, methods=staying, without=tuple(sorted({*design.without, *left_out})))


def recorded_designs(pools: Iterable[Pool]) -> dict[str, PoolDesign]:
    """Designs of drawn pools by topic, without later additions; an imported pool has none."""
    designs = {}
    for pool in (as_of(pool, 1) for pool in pools):
        if pool.per_method is not None and pool.ranking_depth is not None and pool.seed is not None:
            numbers = pool.per_method, pool.ranking_depth, pool.seed
            designs[pool.topic_id] = PoolDesign(
                pool.mode, *numbers, methods=tuple(sorted(pool.methods)), without=tuple(sorted(pool.without))
            )
    return designs


def usual_design(designs: Mapping[str, PoolDesign]) -> PoolDesign | None:
    """Design of most pools: a query that is added gets a pool like the others. None if there is none."""
    return Counter(designs[topic_id] for topic_id in sorted(designs)).most_common()[0][0] if designs else None


def overridden(design: PoolDesign, by: DesignOverrides) -> PoolDesign:
    """Design with the changes of the command line. Raises InputError for an unknown mode or method, or when no method
    is left."""
    if (by.mode or design.mode) not in get_args(DrawMode):
        raise InputError(f"mode {by.mode!r}: expected one of {', '.join(get_args(DrawMode))}")
    methods, left_out = design.methods, design.without
    if by.methods is not None:
        methods = tuple(dict.fromkeys(by.methods))
        left_out = tuple(name for name in left_out if name not in methods)
    if by.without is not None:
        named_methods = (*methods, *left_out)
        for name in by.without:
            check_name(name, named_methods, what="method to leave out")
        left_out = tuple(sorted(by.without))
        methods = tuple(name for name in named_methods if name not in left_out)
    if not methods:
        raise InputError(
            "no method is left to draw with", hint="check `[pool] methods` and `without` in annot.toml, and --without"
        )
    changes = {name: value for name, value in asdict(by).items() if value is not None}
    return replace(design, **{**changes, "methods": methods, "without": left_out})


def differences(recorded: PoolDesign, settings: PoolDesign) -> tuple[tuple[str, str, str], ...]:
    """Settings in which two designs differ, as text: (name, on record, in annot.toml)."""
    differing = []
    for name in (field.name for field in fields(PoolDesign) if field.name != "without"):
        pair = (getattr(recorded, name), getattr(settings, name))
        if name == "methods":
            # What was left out of these pools was left out on purpose.
            pair = (", ".join(sorted(pair[0])), ", ".join(sorted(set(pair[1]) - set(recorded.without))))
        if pair[0] != pair[1]:
            differing.append((name, str(pair[0]), str(pair[1])))
    return tuple(differing)
