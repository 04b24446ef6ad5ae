"""Commands: the tree of all of them, and the decorator that makes one."""

import importlib
import inspect
import os
import re
import sys
from collections import UserDict, defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from copy import copy
from dataclasses import replace
from datetime import timedelta
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from annot import __version__
from annot.base.errors import FULL, AnnotError, InputError, MissingInput
from annot.base.plugins import PluginNames, parts
from annot.cli import options
from annot.cli.output import WAITING, Output, emit, say

if TYPE_CHECKING:
    from annot.study.workspace import Workspace


# ----------------------------------------------------------------------------------------------------------------------
# All commands, in the order of a study: those that every study needs, and where each is.
#
# A new command is a function with `@command` in a module of `cli`, and its words here.
# ----------------------------------------------------------------------------------------------------------------------


EVERY_STUDY = frozenset(
    (
        *("init", "corpus add", "facets", "query sample", "query choose", "pool", "assessor add", "invite"),
        *("guidelines", "plan", "push", "pull", "status", "agreement", "qrels", "run", "evaluate"),
        *("report", "browse", "datasheet", "release", "check", "backup", "studio up"),
    )
)
"""Commands that `annot --help` shows first."""
COMMANDS: dict[str, Sequence[str]] = {
    "Prepare": (
        *("init", "import", "corpus show", "corpus add", "corpus withdraw", "corpus corrected"),
        *("facets", "facets train"),
        *("query sample", "query choose", "query add", "query remove", "query list", "query folds"),
        *("vectors add", "vectors list", "index"),
    ),
    "Pool": ("pool", "pool show", "pool add", "pool import"),
    "People": ("assessor add", "assessor list", "assessor change", "assessor leave", "invite", "guidelines"),
    "Judge": (
        *("plan", "push", "pull", "status", "forecast", "comments", "meeting"),
        *("return", "answers list", "answers restore", "train gold", "train hide", "train report"),
        *("substudy draw", "substudy report"),
    ),
    "Settle": ("agreement", "qrels", "qrels compare"),
    "Measure": ("run", "run list", "run import", "evaluate", "assessor-effect", "reusability", "errors"),
    "Publish": ("report", "browse", "figures", "paper", "datasheet", "release", "trace"),
    "Keep": (
        *("doctor", "check", "backup", "restore"),
        *("studio up", "studio down", "studio status", "studio service", "studio nightly"),
    ),
}
"""Words of all commands, by their heading in `annot --help`."""
MODULES = {
    first: f"annot.cli.{module}"
    for module, first_words in {
        "prepare": ("init", "import", "corpus", "facets", "query"),
        "draw": ("vectors", "index", "pool"),
        "people": ("assessor", "invite"),
        "judge": (
            *("guidelines", "plan", "push", "pull", "status", "forecast"),
            *("return", "answers", "train", "substudy"),
        ),
        "settle": ("comments", "meeting", "agreement", "qrels"),
        "measure": ("run", "evaluate", "assessor-effect", "reusability", "errors"),
        "keep": (
            *("report", "browse", "figures", "paper", "datasheet", "release", "trace"),
            *("doctor", "check", "backup", "restore", "studio"),
        ),
    }.items()
    for first in first_words
}
"""The module for each first word."""
BY_WORDS = {words: MODULES[words.split()[0]] for several in COMMANDS.values() for words in several}
"""The module of each command."""


def add_commands(plugins: PluginNames = ()) -> None:
    """Add the commands of the wings and of these plug-ins. Raises InputError for one that there is already.

    Their places are `MODULE` or `MODULE:HEADING`, a heading of `annot --help`.
    """
    for words, place in parts("commands", plugins).items():
        module, _, heading = place.partition(":")
        if {MODULES.setdefault(words.split()[0], module), BY_WORDS.setdefault(words, module)} != {module}:
            raise InputError(f"a plug-in has the command `annot {words}`, which there is already")
        of_heading = COMMANDS.get(heading or OF_PLUGINS, ())
        COMMANDS[heading or OF_PLUGINS] = tuple(dict.fromkeys((*of_heading, words)))


OF_PLUGINS = "Plug-ins"
"""Heading of commands that say no other."""
add_commands()


def plugins_in(folder: Path) -> PluginNames:
    """Plug-ins that the annot.toml in a folder names; none if there is no such file, or if it cannot be read."""
    try:
        text = (folder / "annot.toml").read_text(encoding="utf-8-sig")
        if "plugins" not in text:
            return ()
        import tomllib

        return tuple(tomllib.loads(text)["plugins"]["names"])
    except (OSError, ValueError, LookupError, TypeError):
        return ()


def takes_verbs(first: str) -> bool:
    """True if verbs follow the word."""
    return any(words.startswith(f"{first} ") for words in BY_WORDS)


# ----------------------------------------------------------------------------------------------------------------------
# What makes a function a command: options before a verb apply to the verb, and it has the options that all share.
# ----------------------------------------------------------------------------------------------------------------------


def hand_down(ctx: typer.Context) -> bool:
    """True when a verb of the group follows; the options given before it then apply to the verb.

    One that the verb does not have is refused: `annot facets --dry-run train` must not train.
    """
    verb = ctx.invoked_subcommand
    if verb is None:
        return False
    group: Any = ctx.command
    subcommand = group.commands[verb]
    names = {parameter.name for parameter in subcommand.params}
    typed = [parameter for parameter in group.params if options.was_typed(ctx, parameter.name)]
    for parameter in typed:
        if parameter.name not in names and not hasattr(subcommand, "commands"):
            raise typer.BadParameter(f"`{verb}` has no such option", ctx=ctx, param_hint=parameter.opts[0])
    ctx.default_map = {verb: {parameter.name: ctx.params[parameter.name] for parameter in typed}}
    return True


OTHERS = "More commands; `annot COMMAND --help` explains each"
BEGINNINGS = ("init", "restore")
"""Commands that make the study that they are given as a folder."""

Function = Callable[..., Output | None]


class ByFirstWord(UserDict[str, Any]):
    """The commands by their first words; the module of one is imported when it is asked for."""

    def __getitem__(self, first: str) -> Any:
        return _loaded(first)


@cache
def _loaded(first: str) -> Any:
    importlib.import_module(MODULES[first])
    return typer.main.get_group(_first_words[first]).commands[first]


_HELP = re.compile(
    r'^@command\(\s*"([^"]+)".*?^    """(.*?)"""|^group\(\s*"([^"]+)", help="([^"]*)"', re.DOTALL | re.MULTILINE
)
"""Words of a command or group, and its help, in the source of a module of commands."""


@cache
def _help_texts(path: str) -> dict[str, str]:
    """Help of the commands and groups of a module, read from its source, since importing it takes much longer."""
    spec = find_spec(path)
    source = Path(spec.origin) if spec is not None and spec.origin is not None else None
    if source is None or not source.is_file():
        return {}
    entries = _HELP.findall(source.read_text(encoding="utf-8"))
    return {(of_command or of_group): _unwrapped(doc or text) for of_command, doc, of_group, text in entries}


def _unwrapped(text: str) -> str:
    """The text with a line for each paragraph: a terminal breaks the lines itself."""
    return "\n\n".join(" ".join(part.split()) for part in text.split("\n\n"))


RENAMED: dict[str, tuple[str, str]] = {}
"""Present words of each command or option that a release called otherwise, and the release that announced it, such as
`"corpus list": ("corpus show", "1.1")` or `"status --table": ("status --csv", "1.1")`."""


def with_new_names(typed: list[str]) -> list[str]:
    """The words of a call with the present names of a command and its options.

    An earlier name works in the minor version that announced the new one and in the next, and says so.
    """
    words = list(typed)
    for old, (new, announced) in RENAMED.items():
        major, minor = map(int, announced.split("."))
        command, _, option = old.partition(" --")
        count, of_option = len(command.split()), re.compile(rf"--{option}(?==|$)")
        if words[:count] != command.split() or [*map(int, __version__.split(".")[:2])] >= [major, minor + 2]:
            continue
        renamed = new.split() if not option else words[:count]
        renamed += [of_option.sub(new.split()[-1], word) if option else word for word in words[count:]]
        if renamed != words:
            say(f"`annot {old}` is an earlier name, which works before annot {major}.{minor + 2}: write `annot {new}`")
        words = renamed
    return words


class AllCommands(TyperGroup):
    """The program `annot`. A command is loaded when it is called or when its help is shown."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.commands: Any = ByFirstWord(MODULES)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Take the options of `annot` off. Without any, help and completion do not load the library that reads them."""
        if len(args) == 1 and args[0] in ctx.help_option_names:
            typer.echo(ctx.get_help(), color=ctx.color)
            ctx.exit()
        if ctx.resilient_parsing and not "".join(args).startswith("-"):
            ctx._protected_args, ctx.args = args[:1], args[1:]
            return args[1:]
        return super().parse_args(ctx, args)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command of the first word. To complete a verb, the list of commands is enough."""
        first = args[0]
        if ctx.resilient_parsing and len(args) == 1 and first in MODULES and first not in BY_WORDS:
            verbs = [words.partition(" ")[2] for words in BY_WORDS if words.startswith(f"{first} ")]
            listed: dict[str, Any] = {verb: TyperCommand(verb, help=self.help_of(f"{first} {verb}")) for verb in verbs}
            return first, ListedVerbs(name=first, commands=listed), []
        return super().resolve_command(ctx, args if ctx.resilient_parsing else with_new_names(args))

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command; one that is not known here may be of a plug-in that the study names."""
        if cmd_name not in self.commands:
            self._add_commands(ctx)
        return super().get_command(ctx, cmd_name)

    def list_commands(self, ctx: Any) -> list[str]:
        """First words of all commands."""
        with suppress(InputError):
            self._add_commands(ctx)
        return [*self.commands]

    def _add_commands(self, ctx: Any) -> None:
        if isinstance(self.commands, ByFirstWord) and (plugins := plugins_in(ctx.params.get("workspace") or Path())):
            add_commands(plugins)
            self.commands = ByFirstWord(MODULES)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Commands that every study needs, then the words of the others under their headings."""
        with suppress(InputError):
            self._add_commands(ctx)
        overview = copy(self)
        overview.commands = {}
        for words in filter(EVERY_STUDY.__contains__, BY_WORDS):
            panel = "Commands that every study needs"
            overview.commands[words] = TyperCommand(words, help=self.help_of(words), rich_help_panel=panel)
        for heading, command_words in COMMANDS.items():
            verbs: dict[str, list[str]] = {}
            for first, _, verb in (words.partition(" ") for words in command_words if words not in EVERY_STUDY):
                verbs.setdefault(first, []).append(verb)
            text = ", ".join(f"{first} {'|'.join(filter(None, found))}".strip() for first, found in verbs.items())
            overview.commands[heading] = TyperCommand(heading, help=text, rich_help_panel=OTHERS)
        super(AllCommands, overview).format_help(ctx, formatter)

    def shell_complete(self, ctx: Any, incomplete: str) -> Any:
        """First words that begin with this text, each with its help."""
        bare = copy(self)
        bare.commands = {first: TyperCommand(first, help=self.help_of(first)) for first in self.list_commands(ctx)}
        ctx.command = bare
        return super().shell_complete(ctx, incomplete)

    def help_of(self, words: str) -> str:
        """Help of the command or group `words`."""
        return _help_texts(MODULES[words.partition(" ")[0]]).get(words) or str(self.at(words).help)

    def at(self, words: str) -> Any:
        """The command `words`."""
        first, _, verb = words.partition(" ")
        return self.commands[first].commands[verb] if verb else self.commands[first]

    def invoke(self, ctx: Any) -> Any:
        """Run the command; report an interruption and a closed pipe, about which typer says nothing."""
        try:
            with WAITING:
                return super().invoke(ctx)
        except typer.BadParameter as error:
            error.message = error.message.removeprefix("Value error, ")  # from the library that reads the value
            raise
        except KeyboardInterrupt:
            typer.echo("interrupted; run the same command again to continue", err=True)
            raise typer.Exit(130) from None
        except BrokenPipeError:
            # The reader of our output has closed it (`annot ... | head`): nothing is wrong.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(0) from None


class Verbs(TyperGroup):
    """A word that verbs follow, in the order of the list."""

    def list_commands(self, ctx: Any) -> list[str]:
        words = list(BY_WORDS)
        return sorted(self.commands, key=lambda verb: words.index(f"{self.name} {verb}"))


class ListedVerbs(Verbs):
    """A word and its verbs in the list of commands, to complete a verb."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        return args


class NamesOrVerb(Verbs):
    """A group that takes names when it is called without a verb: the first word is a verb or the first name."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        (names,) = [parameter.name for parameter in self.params if parameter.param_type_name == "argument"]
        parsed, _, _ = self.make_parser(ctx).parse_args(args=list(args))
        typed = parsed.get(names) or ()
        words = [typed] if isinstance(typed, str) else list(typed)
        if not words or words[0] not in self.commands:
            ctx.allow_interspersed_args = True
            return super().parse_args(ctx, args)
        super().parse_args(ctx, args[: len(args) - len(words)])
        ctx._protected_args, ctx.args = words[:1], (rest := words[1:])
        return rest


app = typer.Typer(
    name="annot",
    cls=AllCommands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
_first_words: defaultdict[str, typer.Typer] = defaultdict(typer.Typer)
"""Commands, and groups of commands; typer's objects are built when one is called."""
_groups: dict[str, typer.Typer] = {}


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"annot {__version__}")
        raise typer.Exit


@app.callback()
def program(
    ctx: typer.Context,
    workspace: options.WorkspaceOption = Path(),
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Turn a corpus of paper abstracts into a published retrieval test collection, judged in Label Studio."""
    hand_down(ctx)


def group(name: str, **given: Any) -> typer.Typer:
    """Make `name` a word that verbs follow; with `help` one that does nothing without a verb."""
    group = typer.Typer(no_args_is_help="help" in given, **{"cls": Verbs} | given)
    _first_words[name].add_typer(group, name=name)
    _groups[name] = group
    return group


def command(
    words: str,
    *,
    csv: bool = False,
    needs_study: bool = True,
    alone: bool | None = None,
    free_with: str = "watch",
    server: bool = False,
) -> Callable[[Function], Function]:
    """Make a function the command `words`: its parameters are the options, and its result is printed.

    A first parameter `ws` gets the study that --workspace names. needs_study: False gives None if no folder is named
    and the present one is no study. csv: the answer has a table for --csv. server: it talks to Label Studio, to that of
    --url and --api-key if there are any. alone: it changes the study, and only one command at a time may; without a
    word, one does that has `ws` and `dry_run`. A dry run changes nothing and does not wait. free_with: a parameter
    with which the function reads only, or takes the study by turns itself. A function that returns nothing has
    printed everything.
    """
    first, _, verb = words.partition(" ")

    def register(function: Function) -> Function:
        if BY_WORDS[words] != function.__module__:
            raise LookupError(f"annot {words}: {function.__module__} has it, but cli/commands.py lists another module")
        by_itself = {"ws", "dry_run"} <= inspect.signature(function).parameters.keys() if alone is None else alone
        callback = _with_shared_options(
            words, function, csv=csv, needs_study=needs_study, alone=by_itself, free_with=free_with, server=server
        )
        if verb:
            _groups[first].command(verb)(callback)
        elif takes_verbs(first):
            names = any(isinstance(entry, typer.models.ArgumentInfo) for entry in _annotations(function))
            group(first, invoke_without_command=True, cls=NamesOrVerb if names else Verbs).callback()(callback)
        else:
            _first_words[first].command(first)(callback)
        return function

    return register


def _annotations(function: Function) -> Iterator[Any]:
    """Annotations of a function's parameters, without their types."""
    for parameter in inspect.signature(function).parameters.values():
        yield from getattr(parameter.annotation, "__metadata__", ())


def held(ws: "Workspace", words: str, *, wait_seconds: float) -> AbstractContextManager[None]:
    """The study for one command alone, for as long as the context lasts."""
    from annot.store.database import hold_study

    return hold_study(ws.database_url, command=words, wait_seconds=wait_seconds, tell=say)


@contextmanager
def backed_up(ws: "Workspace", words: str) -> Iterator[None]:
    """A database of an earlier version is brought up first; a backup follows each push, and each pull with news."""
    from annot.study import backups

    if before_version := backups.bring_up(ws):
        say(f"upgraded the database to this version; the backup from before is {before_version}")
    pulls = "pull" in words.split()
    recorded = backups.recorded(ws) if pulls else None
    yield
    if "push" in words.split() or (pulls and backups.recorded(ws) != recorded):
        keep_backup(ws, f"after {words}")


def keep_backup(ws: "Workspace", why: str, *, apart: timedelta = timedelta(0)) -> None:
    """Take an automatic backup; if it fails, say so and go on, as the command has done its work."""
    from annot.study import backups

    try:
        backups.keep_backup(ws, why, apart=apart)
    except AnnotError as error:
        say(f"{error.message}; {error.hint}")


@contextmanager
def missed(ws: "Workspace | None") -> Iterator[None]:
    """Report a missing part of the study, in place of a command's own message that it found nothing."""
    try:
        yield
    except MissingInput:
        if part := _missing_part(ws):
            raise part from None
        raise
    if part := _missing_part(ws):
        say(f"{part.message}; {part.hint}")


@contextmanager
def placed(ws: "Workspace | None") -> Iterator[None]:
    """Name the study in an error of a full disk for which the system names no file; write errors in its nouns."""
    try:
        yield
    except AnnotError as error:
        error.reword(_nouns(ws))
        raise
    except OSError as error:
        if ws is not None and error.errno in FULL and error.filename is None:
            error.filename = str(ws.root)
        raise


def _nouns(ws: "Workspace | None") -> Callable[[str], str]:
    """Put a message into the words of a study that has one noun for its unit: query, topic or question."""
    if ws is not None:
        with suppress(AnnotError):
            words = ws.vocabulary
            if words.nested:
                return str
            if words.document == "paper":
                return lambda text: text.replace("query papers", words.topics).replace("query paper", words.topic)
            # A message of such a study that names query papers is about papers.
            return lambda text: "query paper".join(map(words.said, text.split("query paper")))
    return str


def _say_next(words: str, ws: "Workspace | None", folder: Path | None, *, changes: bool) -> None:
    """Print the next step, after each command that every study needs and each that changes the study."""
    from annot.judging.next_step import COMMANDS_OF_RULES

    if not (changes or words in COMMANDS_OF_RULES or words in BEGINNINGS):
        return
    from annot.judging.stage import next_of
    from annot.study.workspace import Workspace

    try:
        # The start of servers may have changed the settings.
        study = ws if ws is not None and words != "studio up" else Workspace.open(ws.root if ws else folder or Path())
        say(f"next: {next_of(study)}")
    except AnnotError:
        # The command has done its work; the next command will report why the study cannot be read.
        return


def _say_what_counts(ws: "Workspace | None") -> None:
    """Report names of grades and facets in annot.toml that are not those on record, which were used."""
    if ws is None or ws.written is None:
        return
    names, written = ws.settings.scale.names, ws.written.scale.names
    if names != written:
        say(f"the grades are those on record ({', '.join(names)}), not those in annot.toml ({', '.join(written)})")
    if others := [facet for facet, labels in ws.settings.facets.items() if labels != ws.written.facets.get(facet)]:
        say(f"these facets are as they are on record, not as in annot.toml: {', '.join(others)}")


def _missing_part(ws: "Workspace | None") -> MissingInput | None:
    if ws is None or ws.looks_whole:
        return None
    from annot.study.backups import missing_part

    return missing_part(ws)


def _with_shared_options(
    words: str, function: Function, *, csv: bool, needs_study: bool, alone: bool, free_with: str, server: bool
) -> Callable[..., None]:
    """Function for typer. Its signature has the options, the shared ones last and always in the same order."""
    accepted = dict(inspect.signature(function).parameters)
    shown = {name: accepted[name].annotation for name in accepted if name not in ("ws", "dry_run", "as_json")}
    if server:
        shown |= {"url": options.UrlOption, "api_key": options.KeyOption}
    if "ws" in accepted:
        shown["workspace"] = options.WorkspaceOption
    if "dry_run" in accepted:
        shown["dry_run"] = accepted["dry_run"].annotation
    if alone:
        shown["wait"] = options.WaitOption
    shown["quiet"] = options.QuietOption
    shown["as_json"] = options.JsonOption
    if csv:
        shown["as_csv"] = options.CsvOption

    def run(ctx: typer.Context, **given: Any) -> None:
        if hand_down(ctx):
            return
        from annot.base.parallel import limited

        arguments = {name: given[name] for name in accepted if name != "ws"}
        WAITING.command, WAITING.far = f"annot {words}", ""
        if "ws" in accepted:
            from annot.study.workspace import SETTINGS_FILE, Workspace, study_folder

            folder = study_folder(given["workspace"])
            named = folder != Path() or (folder / SETTINGS_FILE).is_file()
            ws = Workspace.open(folder) if named or needs_study else None
            if ws is not None and ws.stages:
                from annot.study.workspace import remove_dead_stages

                remove_dead_stages(ws.root)
            if ws is not None and server:
                ws = replace(ws, studio_url=given["url"], studio_token=given["api_key"])
            arguments["ws"] = ws
        changes = alone and not (given.get("dry_run") or given.get(free_with))
        processes = arguments["ws"].settings.machine.processes if arguments.get("ws") else None
        lock = held(arguments["ws"], words, wait_seconds=given["wait"]) if changes else nullcontext()
        safe = backed_up(arguments["ws"], words) if changes else nullcontext()
        ws = arguments.get("ws")
        # The next step follows from what the command has read, as far as nothing has changed since.
        with ws.opened() if ws else nullcontext() as study:
            with placed(ws), missed(ws), limited(processes), lock, safe:
                answer = function(**(arguments | {"ws": study} if study else arguments))
            if ctx.meta.get(options.DRY_RUN):
                say("dry run: nothing is changed; this is what the command would do")
            if answer is not None:
                notes = () if given["quiet"] or not answer.notes else tuple(map(_nouns(ws), answer.notes))
                answer = answer._replace(notes=notes)
                emit(words, answer, as_json=given["as_json"], as_csv=given.get("as_csv", False))
            if not (given["quiet"] or words == "push"):
                _say_what_counts(ws)
            if not (given["as_json"] or given.get("as_csv") or given["quiet"] or given.get("dry_run")):
                _say_next(words, study, given.get("folder"), changes=changes)
        if answer is not None and answer.finding is not None:
            raise answer.finding

    defaults = {"workspace": Path(), "wait": 0.0, "quiet": False, "as_json": False, "as_csv": False}
    kind = inspect.Parameter.KEYWORD_ONLY
    parameters = [inspect.Parameter("ctx", kind, annotation=typer.Context)]
    for name, annotation in shown.items():
        default = accepted[name].default if name in accepted else defaults.get(name)
        parameters.append(inspect.Parameter(name, kind, default=default, annotation=annotation))
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__doc__ = _unwrapped(function.__doc__ or "")
    return run
