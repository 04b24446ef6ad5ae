"""Doors: places outside its folder that a study's files name, and the permission of the owner of this machine.

A study may come from someone else. So an address, or a place outside the folder, that one of its files names is
followed only if the owner has allowed it for this study: once by the environment, which a file of theirs remembers, or
by naming the address on the command line. The list of doors is in docs/explanation/trust.md.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import tomlkit

from annot.base.errors import InputError
from annot.base.names import counted

VARIABLE = "ANNOT_ALLOW"
"""Environment variable with the addresses that the owner allows, separated by blanks."""
NO_LINKS = (
    *("annot.toml", "datasheet.toml"),
    *("templates", "guidelines", "training", "pools", "exports", "substudy"),
)
"""Files and folders of a study in which no link is followed: their content reaches pages, releases and servers."""
KEPT_BESIDE = ".annot"
"""The folder of replaceable files and of local servers. It and its content may be elsewhere; that is a door."""


def check_door(root: Path, address: str, *, asked_by: str) -> None:
    """Raise InputError unless the owner allows this study to use `address`.

    asked_by: the file, and the setting in it, that names the address.
    """
    shown = without_password(address)
    if not shown.isprintable():
        raise InputError(f"{asked_by}: the address {shown!r} has characters that cannot be printed")
    named = os.environ.get(VARIABLE, "")
    if shown in (named, *named.split()):
        with suppress(OSError):
            allow(root, address)
    elif shown not in _allowed().get(str(root.resolve()), ()):
        raise InputError(
            f"{asked_by} asks for {shown}, which is outside this study",
            hint=f"if you trust it, run the command once with {VARIABLE}={shlex.quote(shown)} before it; "
            f"{allowed_file()} remembers it for this study",
        )


def allow(root: Path, address: str) -> None:
    """Remember that the owner allows this study to name `address`."""
    allowed, study, shown = _allowed(), str(root.resolve()), without_password(address)
    if shown not in allowed.setdefault(study, []):
        allowed[study].append(shown)
        path = allowed_file()
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        aside = path.with_name(f"{path.name}.{os.getpid()}")
        aside.write_text(tomlkit.dumps(allowed), encoding="utf-8")
        aside.replace(path)


def allowed_file() -> Path:
    """The owner's own file, outside every study: the addresses that each study may name, by the study's folder."""
    home = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(home) / "annot" / "allowed.toml"


def without_password(address: str) -> str:
    """The address as it is shown and remembered; only what may be a password is left out."""
    return re.sub(r"(password=)[^&]*", r"\1***", re.sub(r"(//[^/@:?#]*):[^/@?#]*@", r"\1@", address))


def is_inside(path: Path, root: Path) -> bool:
    """True if the path, with every link followed, is below the study's folder."""
    return path.resolve().is_relative_to(root.resolve())


def is_named_inside(path: Path, root: Path) -> bool:
    """True if the path is below the folder by its name, wherever the links in it lead."""
    return Path(os.path.abspath(path)).is_relative_to(os.path.abspath(root))  # noqa: PTH100 - links stay links


def check_links(root: Path) -> None:
    """Raise InputError that lists the links if a study may have none, and for those that the owner has not allowed.

    Links in `corpus/`, in `weights/` and in unknown folders may lead anywhere.
    """
    links = [link for name in NO_LINKS for link in _links(root / name)]
    if links:
        raise InputError(
            f"{counted(len(links), 'link')} in the study, expected files",
            faults=[f"{path.relative_to(root)}: a link to {path.readlink()}" for path in links],
            hint="replace each link with a copy of the file; only corpus/ and weights/ may hold links",
        )
    cache = root / KEPT_BESIDE
    patterns = ("*", "people/*", "studios/*", "studios/*/*")
    paths = [cache, *(path for pattern in patterns for path in cache.glob(pattern))]
    for link in filter(Path.is_symlink, paths):
        if not is_inside(link, root):
            check_door(root, str(link.resolve()), asked_by=f"{link.relative_to(root)}, a link,")


def _links(path: Path) -> Iterator[Path]:
    """The path if it is a link, or the links below it."""
    if path.is_symlink():
        yield path
    elif path.is_dir():
        for entry in sorted(os.scandir(path), key=lambda entry: entry.name):
            if entry.is_symlink() or entry.is_dir():
                yield from _links(Path(entry.path))


def _allowed() -> dict[str, list[str]]:
    path = allowed_file()
    try:
        addresses_of = tomlkit.parse(path.read_text(encoding="utf-8")).unwrap()
        if any(not isinstance(addresses, list) for addresses in addresses_of.values()):
            raise ValueError("expected a list of addresses for each folder")
        return addresses_of
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise InputError(
            f"{path}: cannot be read: {error}", hint="correct it, or remove it to be asked again"
        ) from None
