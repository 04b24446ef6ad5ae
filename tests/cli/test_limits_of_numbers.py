"""The least and the largest number that each option takes, as annot.toml and the helps have them."""

import inspect
from typing import Any

import pytest
import typer
from annot.base.errors import InputError
from annot.cli import draw, judge, keep, options, prepare
from annot.cli.commands import BY_WORDS, MODULES
from annot.cli.options import file_names, refuse_beside, refuse_without_condition
from annot_demo import commands as demonstration
from annot_systems import commands as training
from command_line import TREE

LIMITS = {
    # One of a thing is the least that there is something to do with.
    (1, None): """
        import per_topic; query sample per_period; query sample number; query choose number; vectors add batch;
        pool per_method; pool ranking_depth; pool add depth; pull every; forecast design_queries; forecast per_method;
        forecast assessors; forecast per_pair; forecast depth; forecast relevant; train gold per_facet;
        substudy draw queries; substudy draw candidates; encoder examples examples; encoder examples dev
    """,
    # A fold to train on and one to test on.
    (2, None): "query folds folds",
    (0, None): """
        query folds seed; query choose seed; query sample seed; pool seed; plan seed; forecast seed; train gold seed;
        substudy draw seed; forecast hourly_rate
    """,
    # A pair takes some time.
    (0.1, None): "forecast dispute_seconds; forecast seconds; plan hours; plan cost; plan seconds",
    (0.0001, 1.0): "plan sample; demo sample",
    # Every second pair at most is a repeat, or hidden.
    (0.0, 0.5): "plan repeats; forecast repeats; train hide share",
    (0.0, 1.0): "encoder examples dev_share",
    # In points of 100.
    (0.1, 100.0): "forecast difference",
    (1, 65535): "studio up port",
}


LOADED = (draw, judge, prepare, training, keep, demonstration)
"""The modules with these options."""


def limited() -> dict[str, tuple[Any, Any]]:
    return {
        f"{words} {name}": (one.min, one.max)
        for words in BY_WORDS
        for name, parameter in inspect.signature(TREE.at(words).callback).parameters.items()
        for one in getattr(parameter.annotation, "__metadata__", ())
        if one.min is not None or one.max is not None
    }


def test_every_number_has_the_limits_that_it_is_to_have() -> None:
    found = limited()
    waits = {name for name in found if name.endswith(" wait")}
    with_limits = {MODULES[name.split()[0]] for name in found if name not in waits}
    assert with_limits == {module.__name__ for module in LOADED}
    assert {found.pop(name) for name in waits} == {(0.0, None)}
    assert found == {name.strip(): limits for limits, names in LIMITS.items() for name in names.split(";")}


def test_options_with_a_least_value_end_at_a_thousand_million() -> None:
    for number in (options.MOST, 1_000_000_000, None, 0.5, [1, 1_000_000_000]):
        assert options._that_ends(number) == number  # type: ignore[arg-type]
    for wrong in (1_000_000_001, float("inf"), float("nan"), [1, 1_000_000_001]):
        with pytest.raises(typer.BadParameter, match="expected at most 1000000000"):
            options._that_ends(wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["a", "A.b_c+d-1", "1", "x" * 100, None, ["a", "b"]])
def test_a_name_that_a_file_can_have(name: list[str] | str | None) -> None:
    assert file_names(name) == name


@pytest.mark.parametrize("name", ["", ".a", "-a", "a/b", "..", "x" * 101, ["a", "../b"]])
def test_a_name_that_leads_elsewhere_is_refused(name: list[str] | str) -> None:
    with pytest.raises(typer.BadParameter, match="expected letters, digits"):
        file_names(name)


def test_options_are_in_vain_only_where_they_were_typed() -> None:
    refuse_without_condition("--words", batch=None, force=False, method=[])
    with pytest.raises(typer.BadParameter, match="--batch and --per-method can only be used with --words"):
        refuse_without_condition("--words", batch=0, force=False, per_method=3)
    refuse_beside("pool add --method", QUERY=None, DOC=[])
    with pytest.raises(InputError, match="`annot pool add --method` cannot be used with QUERY and --run"):
        refuse_beside("pool add --method", QUERY="q", DOC=[], run="file")


def test_an_address_with_a_password_is_refused() -> None:
    with pytest.raises(typer.BadParameter, match="leave them out"):
        options._url_without_password("https://ann:secret@studio.example.org")
