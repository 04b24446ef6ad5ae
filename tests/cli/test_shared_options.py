"""Which commands lock the study and print CSV; and that no option is on unless it is typed."""

import pytest
from annot.cli.commands import BY_WORDS
from command_line import TREE

ALONE = """
import; corpus add; corpus withdraw; corpus corrected; facets; query sample; query choose; query add; query remove;
query folds;
vectors add; index; pool; pool add; pool import; assessor add; assessor change; assessor leave; invite; plan; push;
pull; return; answers restore; train gold; train hide; substudy draw; run; run import; backup; restore;
opinion qrels; studio nightly
"""
CSV = """
corpus corrected; pool; pool add; pool show; query list; assessor list; status; forecast; comments; answers list;
agreement; qrels; qrels compare; evaluate; assessor-effect; train report; substudy report; opinion list
"""


def with_option(option: str) -> set[str]:
    return {words for words in BY_WORDS if option in {name for one in TREE.at(words).params for name in one.opts}}


@pytest.mark.parametrize(("option", "expected"), [("--wait", ALONE), ("--csv", CSV)])
def test_the_commands_that_share_an_option(option: str, expected: str) -> None:
    """--wait: they change what two commands must not change at once."""
    assert with_option(option) == {words.strip() for words in expected.split(";")}


@pytest.mark.parametrize("words", BY_WORDS)
def test_no_switch_is_on_until_it_is_typed(words: str) -> None:
    on = {one.name for one in TREE.at(words).params if one.default is True}
    assert on == set()


def test_the_defaults_that_the_help_promises_are_those_used() -> None:
    """Numbers that decide what a command draws, and without which it would ask."""
    found = {
        (words, one.name): one.default
        for words in BY_WORDS
        for one in TREE.at(words).params
        if isinstance(one.default, int | float) and not isinstance(one.default, bool) and one.name != "wait"
    }
    assert found == {
        ("query folds", "folds"): 2,  # CSFCube has two
        ("train hide", "share"): 0.05,
        ("substudy draw", "queries"): 3,
        ("substudy draw", "candidates"): 5,
        ("encoder examples", "seed"): 0,
        ("encoder examples", "dev"): 2000,
        ("encoder examples", "dev_share"): 0.2,
    }
