"""Plug-ins: packages beside the core that add methods, systems, formats, measures, commands and other parts to it.

A plug-in is a module with a dictionary `PARTS`. It has the parts of each of the `KINDS` by name, as the place of an
object, so that nothing is imported before it is used:

    PARTS = {"pool_methods": {"abs_dirichlet": "annot_dirichlet.methods:DIRICHLET"}}

The `WINGS` come with `annot` and are always there. A plug-in of another distribution has an entry point in the group
`annot.plugins`, and is used only in a study whose annot.toml names it under `[plugins]`. Begin with `parts`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from importlib import import_module
from pkgutil import resolve_name
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

from annot.base.errors import InputError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP: Final = "annot.plugins"
"""Group of the entry points."""
WINGS: Final = ("annot_csfcube", "annot_demo", "annot_opinions", "annot_systems")
"""Packages that come with `annot`."""
KINDS: Final = {
    "commands": "command of the program: a module with a function that has `annot.cli.commands.command`",
    "hidden_words": "words that no task may show: `annot.judging.exchange.outgoing.HiddenWords`",
    "import_kinds": "kind of `annot import`: `annot.steps.imports.ImportKind`",
    "paper_formats": "format of papers: `annot.formats.corpora.Format`",
    "predictors": "predictor of grades in a sampled study: `annot.measuring.sampled_study.Predictor`",
    "measures": "family of measures: `annot.measuring.evaluation.measures.Family`",
    "pool_methods": "method that ranks the corpus: `annot.ranking.methods.Method`",
    "published_figures": "table of published figures: a TOML file of a package, `package:file`",
    "report_sections": "chapters of report and datasheet: `annot.publishing.report.sections.whole.ReportSections`",
    "systems": "systems that rank pools: a tuple of `annot.ranking.systems.system.System`",
    "weights_systems": "system of a folder of weights: a function of its name",
    "topic_formats": "format of topics: `annot.formats.topics.TopicFormat`",
    "release_facts": "facts of a release: `annot.publishing.report.sections.whole.MakeFacts`",
    "release_files": "files of a release: `annot.publishing.release.released_files.MakeFiles`",
}
"""Kinds of parts, and the object of each."""

PluginNames = tuple[str, ...]
"""Names of the plug-ins of a study."""


@cache
def parts(kind: str, plugins: PluginNames = ()) -> Mapping[str, str]:
    """Places of the parts of a kind that the wings and these plug-ins have, by the name of the part.

    Raises InputError for a plug-in that is not installed here, and for a name that two plug-ins use.
    """
    places: dict[str, str] = {}
    for plugin, module in modules_of(plugins).items():
        for name, place in module.PARTS.get(kind, {}).items():
            if name in places:
                raise InputError(f"plug-in {plugin}: {kind} has {name!r}, which {places[name]} has, too")
            places[name] = place
    return places


def with_parts(core: Mapping[str, Any], kind: str, plugins: PluginNames = ()) -> dict[str, Any]:
    """Parts of the core, the wings and these plug-ins.

    Raises InputError for a name that the core has, too.
    """
    added = loaded(kind, plugins)
    if taken := sorted(core.keys() & added.keys()):
        raise InputError(f"plug-ins: {kind} has {', '.join(taken)}, which annot has itself; expected other names")
    return {**core, **added}


@cache
def loaded(kind: str, plugins: PluginNames = ()) -> Mapping[str, Any]:
    """Parts of a kind that the wings and these plug-ins have, by name, all imported.

    Raises InputError for a place that cannot be imported.
    """
    objects: dict[str, Any] = {}
    for name, place in parts(kind, plugins).items():
        try:
            objects[name] = resolve_name(place)
        except (ImportError, AttributeError, ValueError) as error:
            raise InputError(f"plug-ins: {kind} has {name!r} at {place}, which cannot be imported: {error}") from error
    return objects


@cache
def modules_of(plugins: PluginNames) -> Mapping[str, ModuleType]:
    """Modules of the wings and of the plug-ins of these names. Raises InputError for one that is not installed here."""
    modules = {wing: import_module(wing) for wing in WINGS}
    for name, entry_point in _entry_points(plugins).items():
        module = modules[name] = entry_point.load()
        kinds = getattr(module, "PARTS", {"no dictionary PARTS": {}})
        if unknown := sorted(kinds.keys() - KINDS.keys()):
            raise InputError(
                f"plug-in {name}: {module.__name__} has {', '.join(unknown)}, expected PARTS with some of"
                f" {', '.join(KINDS)}"
            )
    return modules


def check_named(names: Iterable[str], plugins: PluginNames) -> None:
    """Raise InputError for a name `PLUGIN:PART` whose plug-in is not one of these of the study."""
    prefixes = {name.partition(":")[0] for name in names if ":" in name}
    others = sorted(prefixes - {*plugins})
    if others:
        raise InputError(
            f"{', '.join(others)}: a plug-in that this study does not use",
            hint="add its name to `names` under [plugins] in annot.toml",
        )


def versions_of(plugins: PluginNames) -> dict[str, str]:
    """Distribution and version of each plug-in, for the record."""
    return {
        name: f"{entry_point.dist.name} {entry_point.dist.version}" if entry_point.dist else ""
        for name, entry_point in _entry_points(plugins).items()
    }


def _entry_points(plugins: PluginNames) -> dict[str, EntryPoint]:
    if not plugins:
        return {}
    from importlib.metadata import entry_points

    installed = {entry_point.name: entry_point for entry_point in entry_points(group=GROUP)}
    if missing := [name for name in plugins if name not in installed]:
        raise InputError(
            f"annot.toml names {', '.join(missing)} under [plugins], which is not installed here; installed are"
            f" {', '.join(sorted(installed)) or 'none'}",
            hint="install the plug-in in the Python environment of annot, or remove its name",
        )
    return {name: installed[name] for name in plugins}
