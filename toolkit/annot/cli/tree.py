"""All commands, in the order of a study: where each is, and whether every study needs it.

A new command is a function with `@command` in a module of `cli`, and a line here.
"""

from __future__ import annotations

from typing import NamedTuple


class Listed(NamedTuple):
    """One command."""

    words: str
    """What is typed after `annot`."""
    module: str
    """Of `annot.cli`; all commands with the same first word are in one."""
    every_study: bool = False
    """Whether `annot --help` shows it among the first."""


EVERY_STUDY = True

COMMANDS: dict[str, tuple[Listed, ...]] = {
    "Prepare": (
        Listed("init", "prepare", EVERY_STUDY),
        Listed("demo", "support"),
        Listed("import", "imports"),
        Listed("corpus show", "prepare"),
        Listed("corpus add", "prepare", EVERY_STUDY),
        Listed("corpus corrected", "prepare"),
        Listed("facets", "prepare", EVERY_STUDY),
        Listed("facets train", "prepare"),
        Listed("query sample", "prepare", EVERY_STUDY),
        Listed("query choose", "prepare", EVERY_STUDY),
        Listed("query add", "prepare"),
        Listed("query remove", "prepare"),
        Listed("query list", "prepare"),
        Listed("query folds", "prepare"),
        Listed("vectors add", "vectors"),
        Listed("vectors list", "vectors"),
        Listed("index", "vectors"),
    ),
    "Pool": (
        Listed("pool", "draw", EVERY_STUDY),
        Listed("pool show", "draw"),
        Listed("pool add", "draw"),
        Listed("pool import", "draw"),
    ),
    "People": (
        Listed("assessor add", "people", EVERY_STUDY),
        Listed("assessor list", "people"),
        Listed("assessor change", "people"),
        Listed("assessor leave", "people"),
        Listed("invite", "people", EVERY_STUDY),
        Listed("guidelines", "judge", EVERY_STUDY),
    ),
    "Judge": (
        Listed("plan", "judge", EVERY_STUDY),
        Listed("push", "exchange", EVERY_STUDY),
        Listed("pull", "exchange", EVERY_STUDY),
        Listed("status", "judge", EVERY_STUDY),
        Listed("forecast", "judge"),
        Listed("comments", "settle"),
        Listed("meeting", "settle"),
        Listed("return", "judge"),
        Listed("answers list", "judge"),
        Listed("answers restore", "judge"),
        Listed("train gold", "exchange"),
        Listed("train hide", "exchange"),
        Listed("train report", "exchange"),
        Listed("substudy draw", "exchange"),
        Listed("substudy report", "exchange"),
    ),
    "Settle": (
        Listed("agreement", "settle", EVERY_STUDY),
        Listed("qrels", "settle", EVERY_STUDY),
        Listed("qrels compare", "settle"),
        Listed("opinion ask", "opinions"),
        Listed("opinion list", "opinions"),
        Listed("opinion qrels", "opinions"),
        Listed("opinion report", "opinions"),
    ),
    "Measure": (
        Listed("run", "runs", EVERY_STUDY),
        Listed("run list", "runs"),
        Listed("run import", "runs"),
        Listed("evaluate", "measure", EVERY_STUDY),
        Listed("assessor-effect", "measure"),
        Listed("reusability", "measure"),
        Listed("errors", "measure"),
        Listed("encoder contexts", "runs"),
        Listed("encoder examples", "runs"),
        Listed("encoder train", "runs"),
    ),
    "Publish": (
        Listed("report", "publish", EVERY_STUDY),
        Listed("browse", "publish", EVERY_STUDY),
        Listed("datasheet", "publish", EVERY_STUDY),
        Listed("release", "publish", EVERY_STUDY),
        Listed("trace", "publish"),
    ),
    "Keep": (
        Listed("doctor", "support"),
        Listed("check", "keep", EVERY_STUDY),
        Listed("backup", "keep", EVERY_STUDY),
        Listed("restore", "keep"),
        Listed("studio up", "support", EVERY_STUDY),
        Listed("studio down", "support"),
        Listed("studio status", "support"),
    ),
}
"""By the heading under which `annot --help` has those that not every study needs."""

BY_WORDS = {listed.words: listed for several in COMMANDS.values() for listed in several}
MODULES = {words.split()[0]: listed.module for words, listed in BY_WORDS.items()}
"""The module of `annot.cli` for each first word."""


def takes_verbs(first: str) -> bool:
    """Whether verbs follow the word."""
    return any(words.startswith(f"{first} ") for words in BY_WORDS)
