"""The one Jinja2 environment, and Markdown of others as safe HTML."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping
from contextlib import suppress
from html import unescape
from importlib.resources import files
from pathlib import Path
from traceback import extract_tb
from types import CodeType
from typing import Any

from jinja2 import (
    BytecodeCache,
    FileSystemLoader,
    StrictUndefined,
    TemplateError,
    TemplateNotFound,
    TemplateSyntaxError,
    meta,
    select_autoescape,
)
from jinja2.bccache import Bucket
from jinja2.sandbox import SandboxedEnvironment
from markupsafe import Markup

from annot import __version__
from annot.base.errors import InputError
from annot.base.names import counted, few, percent, verb, whole

# ----------------------------------------------------------------------------------------------------------------------
# Jinja2 environment of all templates: an undefined name is an error, XML and HTML are escaped, a study's file wins.
# ----------------------------------------------------------------------------------------------------------------------


ESCAPED = ("xml", "html", "xml.j2", "html.j2")
"""Endings of the templates whose values are escaped. Jinja2's own defaults do not know the double endings."""
MARKDOWN = ".md.j2"
"""Ending of templates whose values are made harmless Markdown."""
_TAG = re.compile(r"<(?=[A-Za-z/!?])")
_IMAGE = re.compile(r"(?<!\\)((?:\\\\)*)!\[")
_TARGET = r"\s*(?!https?://|mailto:|#)"
_AIMED = re.compile(rf"(?<!\\)((?:\\\\)*)\](?=\({_TARGET}|:{_TARGET})", re.IGNORECASE)


class Exact(str):
    """Text that a Markdown template takes as it is: a value of the YAML at its top, which a program reads."""

    __slots__ = ()


def harmless(text: str) -> str:
    """`text` as Markdown that shows no image, has no HTML, and links to web pages and mailboxes alone.

    What people and papers wrote is text. HTML tags stay visible; an image, which would be fetched from somebody's
    server, and a link to a script or a file become the words they were written with. Done twice, it is done once.

    >>> print(harmless("<b>a</b> ![b](http://c) [d](javascript:e) [f](https://g)"))
    &lt;b>a&lt;/b> !\\[b](http://c) [d\\](javascript:e) [f](https://g)
    """
    text = _AIMED.sub(r"\1\\]", _IMAGE.sub(r"\1!\\[", text))
    return _TAG.sub("&lt;", text)


PACKAGED = str(files("annot.templates"))
CACHE = Path(
    os.environ.get("XDG_CACHE_HOME") or f"{os.environ.get('HOME', os.devnull)}/.cache",
    "annot",
    f"templates-{__version__}",
)


class TemplateCache(BytecodeCache):
    """Cache of compiled templates: the package's in the person's own folder, those of studies in this process alone.

    Compiling takes much longer than rendering. A template that was changed is compiled again.
    """

    def __init__(self) -> None:
        self._code: dict[tuple[Path, str], CodeType] = {}

    def get_cache_key(self, name: str, filename: str | None = None) -> str:
        key = super().get_cache_key(name, filename)
        return key if filename and filename.startswith(PACKAGED) else f"{OF_STUDY}{key}"

    def load_bytecode(self, bucket: Bucket) -> None:
        path = _path(bucket)
        bucket.code = self._code.get((path, bucket.checksum))
        if bucket.code is None:
            with suppress(OSError), path.open("rb") as file:
                bucket.load_bytecode(file)

    def dump_bytecode(self, bucket: Bucket) -> None:
        path = _path(bucket)
        assert bucket.code is not None
        self._code[path, bucket.checksum] = bucket.code
        if not path.name.startswith(OF_STUDY):
            # A folder that cannot be written to costs time and nothing else.
            with suppress(OSError):
                CACHE.mkdir(mode=0o700, parents=True, exist_ok=True)
                temporary = path.with_suffix(f".{os.getpid()}")
                temporary.write_bytes(bucket.bytecode_to_string())
                temporary.replace(path)


def _path(bucket: Bucket) -> Path:
    """File of a compiled template, whose code depends on these settings of its environment."""
    finalize = getattr(bucket.environment.finalize, "__name__", "")
    return CACHE / f"{bucket.key}{finalize}{bucket.environment.trim_blocks:d}"


OF_STUDY = "-"
_COMPILED = TemplateCache()


def environment(*, overrides: Path | None, markdown: bool = False) -> SandboxedEnvironment:
    """Environment over the packaged templates; a file of the same name in the folder `overrides` wins.

    markdown: values are made harmless Markdown.

    A study may come from somebody else, so its templates reach the values they are given and nothing behind them.
    """
    folders = [PACKAGED]
    if overrides is not None:
        folders.insert(0, str(overrides))
    jinja = SandboxedEnvironment(
        loader=FileSystemLoader(folders, encoding="utf-8-sig"),
        undefined=StrictUndefined,
        autoescape=select_autoescape(enabled_extensions=ESCAPED, default_for_string=False),
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=_harmless if markdown else None,
        bytecode_cache=_COMPILED,
    )
    jinja.filters |= {"counted": counted, "few": few, "whole": whole, "percent": percent, "verb": verb, "css": css_text}
    jinja.filters |= {"named": lambda name, words: words.name(name), "chosen": lambda value, words: words.choice(value)}
    jinja.globals["counted"] = counted
    return jinja


def css_text(text: str) -> Markup:
    """`text` for a quoted string of a style sheet in XML, with delimiters escaped.

    >>> print(css_text('a "b" & c'))
    a \\000022b\\000022 \\000026 c
    """
    return Markup(re.sub(r"""["'\\\\<>&\n]""", lambda letter: f"\\{ord(letter[0]):06x}", text))


def _harmless(value: Any) -> Any:
    return harmless(value) if isinstance(value, str) and not isinstance(value, Exact) else value


def packaged_table(name: str) -> dict[str, Any]:
    """The table of a TOML file of the package's templates."""
    return tomllib.loads(files("annot.templates").joinpath(name).read_text(encoding="utf-8"))


def render(name: str, values: Mapping[str, Any], *, overrides: Path | None) -> str:
    """Fill the template `name` with `values`.

    Raises InputError that names the template, the line and the cause, whatever goes wrong in it.
    """
    try:
        return environment(overrides=overrides, markdown=name.endswith(MARKDOWN)).get_template(name).render(values)
    except TemplateNotFound as error:
        raise InputError(
            f"{name}: template {error.name} does not exist" if error.name != name else f"{name}: no such template",
            hint="the study's `templates/` and the packaged templates were searched",
        ) from None
    except TemplateSyntaxError as error:
        place = error.filename or error.name or name
        raise InputError(f"{place}:{error.lineno}: {error.message}", hint="correct the template") from None
    except Exception as error:
        # A template calls what it is given, so any exception may come out of it.
        place = _place(error, name, overrides)
        cause = str(error) if isinstance(error, TemplateError) else f"{type(error).__name__}: {error}"
        raise InputError(f"{place}: {cause}", hint="correct the template") from None


def overriding(name: str, *, overrides: Path) -> list[Path]:
    """Files in the folder `overrides` from which the template `name` is rendered: itself, or those it includes."""
    if not any(overrides.glob("**/*")):
        return []
    jinja = environment(overrides=overrides)
    waiting, visited = [name], {""}
    while waiting:
        visited.add(current := waiting.pop())
        try:
            assert jinja.loader is not None
            source, _, _ = jinja.loader.get_source(jinja, current)
            named = meta.find_referenced_templates(jinja.parse(source))
        except (TemplateError, UnicodeDecodeError):
            # Rendering reports it.
            named = iter(())
        waiting += [other for other in named if other and other not in visited]
    return [path for template in sorted(visited - {""}) if (path := overrides / template).is_file()]


def _place(error: Exception, name: str, overrides: Path | None) -> str:
    """Place `file:line` of the innermost template frame of the traceback; the bare name if there is none."""
    folders = [PACKAGED, *([] if overrides is None else [str(overrides)])]
    for frame in reversed(extract_tb(error.__traceback__)):
        if any(Path(frame.filename).is_relative_to(folder) for folder in folders):
            return f"{frame.filename}:{frame.lineno}"
    return name


# ----------------------------------------------------------------------------------------------------------------------
# HTML of Markdown that others wrote, which runs nothing and loads nothing from other servers.
# ----------------------------------------------------------------------------------------------------------------------


LEADS_TO = ("https://", "http://", "mailto:", "#")
"""Beginnings of the address of a link: a web page, a mailbox or a place on the same page."""
PICTURES = ("image_link", "image_reference", "short_image_ref")


def converter(**settings: Any) -> Any:
    """Converter of the library Markdown, with these settings of it.

    HTML stays visible as text. A picture, which the reader's browser would fetch from its server, becomes a link. A
    link that leads elsewhere, such as to a script, loses its address.
    """
    from markdown import Markdown
    from markdown.treeprocessors import Treeprocessor
    from markdown.util import AMP_SUBSTITUTE

    class Links(Treeprocessor):
        def run(self, root: Any) -> None:
            for link in root.iter("a"):
                address = unescape(link.get("href", "").replace(AMP_SUBSTITUTE, "&"))
                if not address.lower().startswith(LEADS_TO):
                    link.attrib.pop("href", None)

    markdown: Any = Markdown(**settings)
    markdown.preprocessors.deregister("html_block")
    markdown.inlinePatterns.deregister("html")
    for name in PICTURES:
        markdown.inlinePatterns.deregister(name)
    markdown.treeprocessors.register(Links(markdown), "links", priority=5)
    return markdown
