"""The pinned versions and the stored advisories."""

import json
import subprocess
import sys
import tomllib
from importlib.metadata import distributions

import pytest
from audit_versions import CHECKOUT, findings
from packaging.specifiers import SpecifierSet

ADVISORIES = (CHECKOUT / "advisories.toml").read_text(encoding="utf-8")


def test_no_pinned_version_has_a_known_fault() -> None:
    done = subprocess.run(
        [sys.executable, str(CHECKOUT / "tests" / "audit_versions.py")], capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (0, ""), done.stdout + done.stderr


def test_every_pinned_version_installs_on_the_oldest_python_that_is_promised() -> None:
    promised = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["requires-python"]
    (oldest,) = (one.version for one in SpecifierSet(promised) if one.operator == ">=")
    wanted = {one.name: one.metadata.get("Requires-Python", "") for one in distributions()}
    refusing = {name: wish for name, wish in wanted.items() if not SpecifierSet(wish).contains(f"{oldest}.0")}
    assert refusing == {}


@pytest.mark.parametrize(
    ("pinned", "found"),
    [
        ("pip==23.2.1", ["CVE-2026-1703", "CVE-2026-3219"]),
        ("pip==26.1", []),
        ("URLlib3==2.6.2", ["CVE-2026-21441", "CVE-2026-44431"]),
        ("urllib3==2.7.0", []),
        ("pyjwt==2.11.0", ["CVE-2026-32597"]),
        ("transformers==5.2.0\ntransformers-other==5.2.0", ["CVE-2026-4372"]),
        ("Pillow==12.1.1\nnltk==3.9.3\nnumpy==1.0", ["GHSA-wjx4-4jcj-g98j", "CVE-2026-12199", "GHSA-gfwx-w7gr-fvh7"]),
    ],
)
def test_a_version_with_a_known_fault_is_named(pinned: str, found: list[str]) -> None:
    lines = list(findings(f"# pins\n{pinned}\n", ADVISORIES))
    assert [line.split(": ")[1].split(" ")[0] for line in lines] == found


def test_what_is_accepted_is_affected_still() -> None:
    """An entry whose reason is gone would hide the next one like it."""
    accepted = [one for one in tomllib.loads(ADVISORIES)["advisory"] if "accepted" in one]
    without = [{name: value for name, value in one.items() if name not in ("accepted", "read")} for one in accepted]
    told = "".join(
        "[[advisory]]\n" + "".join(f"{name} = {json.dumps(value)}\n" for name, value in one.items()) for one in without
    )
    pins = (CHECKOUT / "constraints.txt").read_text(encoding="utf-8")
    assert len(list(findings(pins, told))) == len(accepted) == 1
