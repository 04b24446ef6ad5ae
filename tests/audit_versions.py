"""Compares pinned versions with the stored advisories: prints each that concerns us, and ends with 1 where one does."""

import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

CHECKOUT = Path(__file__).resolve().parent.parent


def findings(constraints: str, advisories: str) -> Iterator[str]:
    """Every pinned version that an advisory names and that we have not accepted. Both: the text of the file."""
    pins = [Requirement(line) for line in constraints.splitlines() if line and not line.startswith("#")]
    versions = {canonicalize_name(pin.name): next(iter(pin.specifier)).version for pin in pins}
    for one in tomllib.loads(advisories)["advisory"]:
        version = versions.get(canonicalize_name(one["package"]))
        if version is None or "accepted" in one:
            continue
        if SpecifierSet(one["affected"]).contains(version, prereleases=True):
            yield f"{one['package']} {version}: {one['id']} ({one['affected']}), {one['about']}; {one['source']}"


if __name__ == "__main__":
    found = list(findings(*((CHECKOUT / name).read_text("utf-8") for name in ("constraints.txt", "advisories.toml"))))
    print(*found, sep="\n", end="\n" if found else "")
    sys.exit(bool(found))
