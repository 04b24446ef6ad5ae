"""Caddy in front of the servers of a study: https, and a name of its own for each server."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import ssl
import subprocess
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, dataclass
from ipaddress import ip_address
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from annot.base.errors import InputError, StudioError
from annot.base.templating import render
from annot.labelstudio import server
from annot.labelstudio.accounts import can_sign_in, can_sign_up

if TYPE_CHECKING:
    import httpx

# ----------------------------------------------------------------------------------------------------------------------
# The names: one for each server, below a domain that one record of the domain name system leads to this machine.
# ----------------------------------------------------------------------------------------------------------------------


HTTPS = 443
DOMAIN = re.compile(r"(?=.{1,200}\Z)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")
FACTS = "front.json"
UP = "up"
"""File that is there from `annot studio up` to `annot studio down`."""
CADDYFILE = "Caddyfile"
INSTALL = "sudo apt install caddy && sudo systemctl disable --now caddy"
"""The package switches a service of its own on, which takes the ports."""
START_SECONDS = 60.0
CONNECT_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Front:
    """Domain of the servers of a study."""

    domain: str
    internal: bool = False
    """True if Caddy signs the certificates itself, for a closed network."""
    port: int = HTTPS

    def name(self, person: str | None) -> str:
        """Name of the server of a person, or of the one for all."""
        label = None if person is None else person.lower().replace("_", "-").strip("-")
        return self.domain if label is None else f"{label}.{self.domain}"

    def url(self, person: str | None) -> str:
        """Address of the server of a person, or of the one for all."""
        return f"https://{self.name(person)}" + ("" if self.port == HTTPS else f":{self.port}")

    def record(self, people: Collection[str | None]) -> str:
        """The record that the domain needs, in words."""
        name = self.domain if None in people else f"*.{self.domain}"
        return f"{name}  A  the public address of this machine (and AAAA, if it has an IPv6 address)"


def checked(front: Front, people: Collection[str | None]) -> Front:
    """The same domain. Raises InputError if it is none, or if two people would have the same name."""
    if not DOMAIN.fullmatch(front.domain):
        raise InputError(f"--domain {front.domain}: expected a name such as study.example.org")
    person_with: dict[str, str | None] = {}
    for person in people:
        if (namesake := person_with.setdefault(front.name(person), person)) != person:
            raise InputError(f"{namesake} and {person} would both have the name {front.name(person)}")
    return front


def kept(folder: Path) -> Front | None:
    """The domain of the study whose Caddy has this folder; None if it has none."""
    path = folder / FACTS
    try:
        return Front(**json.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return None
    except (ValueError, TypeError):
        raise StudioError(f"{path}: cannot be read", hint="run `annot studio up --domain DOMAIN` again") from None


def keep(folder: Path, front: Front) -> None:
    """Remember the domain."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    temporary = folder / f"{FACTS}.new"
    temporary.write_text(json.dumps(asdict(front)), encoding="utf-8")
    temporary.replace(folder / FACTS)


def addresses_of(name: str) -> frozenset[str]:
    """Addresses that a name leads to; empty if it leads nowhere."""
    try:
        return frozenset(str(answer[4][0]) for answer in socket.getaddrinfo(name, None, type=socket.SOCK_STREAM))
    except OSError:
        return frozenset()


def leads_here(name: str, port: int) -> bool:
    """True if the name has an address of this machine, or a connection to the name arrives here.

    Also true if that cannot be tried, because this account may not use the port; the unit of the system may.
    """
    addresses = addresses_of(name)
    for address in addresses:
        with suppress(OSError), socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET) as probe:
            probe.bind((address, 0))
            return True
    # Behind a router the public address is not the machine's own.
    try:
        with socket.create_server(("", port)) as listener:
            listener.settimeout(CONNECT_SECONDS)
            with socket.create_connection((name, port), timeout=CONNECT_SECONDS), listener.accept()[0]:
                return True
    except PermissionError:
        return bool(addresses)
    except OSError:
        return False


# ----------------------------------------------------------------------------------------------------------------------
# Caddy: the system's program with a configuration of ours. Its administration is a socket in its folder, which only
# the owner of the study can open.
# ----------------------------------------------------------------------------------------------------------------------


def program() -> str:
    """Path of Caddy. Raises StudioError if it is not installed."""
    path = shutil.which("caddy") or shutil.which("caddy", path="/usr/bin:/usr/local/bin")
    if path is None:
        raise StudioError("Caddy is not installed; it gives the servers https and names", hint=INSTALL)
    return path


def caddyfile(folder: Path, front: Front, ports: Mapping[str | None, int]) -> str:
    """Configuration of Caddy. ports: the port of each person's server on this machine."""
    addresses = frozenset[str]().union(*(addresses_of(front.name(person)) for person in ports))
    values = {
        "storage": folder / "certificates",
        "front": front,
        "redirects": front.port == HTTPS,
        # Names that lead to this machine alone need no port that others reach.
        "local": bool(addresses) and all(ip_address(address).is_loopback for address in addresses),
        "sites": [(front.url(person), port) for person, port in ports.items()],
        "host": server.HOST,
    }
    return render("Caddyfile.j2", values, overrides=None)


def up(folder: Path, front: Front, ports: Mapping[str | None, int]) -> None:
    """Start Caddy for these servers, or give the running one the new list; safe to repeat.

    Raises StudioError if Caddy is not installed, may not use the port, or refuses.
    """
    caddy = program()
    folder = folder.resolve()
    with server.locked(folder / "lock"):
        path = folder / CADDYFILE
        temporary = path.with_suffix(".new")
        temporary.write_text(caddyfile(folder, front, ports), encoding="utf-8")
        temporary.replace(path)
        (folder / UP).touch()
        if running(folder) is None:
            if not may_use(front.port):
                raise StudioError(
                    f"this account may not use port {front.port}, so Caddy was not started; the servers are running",
                    hint="`annot studio service` writes a unit for the system that may, and prints how to switch it on",
                )
            command = [caddy, "run", "--config", str(path), "--adapter", "caddyfile"]
            server.launch(folder, command, {**os.environ, "XDG_CONFIG_HOME": str(folder)}, name="caddy")
        if not server.comes_true(lambda: _loads(caddy, folder) or running(folder) is None, within=START_SECONDS) or (
            running(folder) is None
        ):
            raise StudioError(f"Caddy does not start; the end of its log:\n{server.tail(folder / 'caddy.log')}")


def _loads(caddy: str, folder: Path) -> bool:
    """True if the running Caddy takes the configuration."""
    command = [caddy, "reload", "--config", CADDYFILE, "--adapter", "caddyfile", "--address", "unix/admin.sock"]
    return not subprocess.run(command, cwd=folder, capture_output=True, check=False).returncode


def may_use(port: int) -> bool:
    """False if this account may not use the port. Raises StudioError if another program has it."""
    try:
        socket.create_server(("", port)).close()
    except PermissionError:
        return False
    except OSError:
        raise StudioError(
            f"port {port} is taken by another program",
            hint="Debian's Caddy starts by itself: sudo systemctl disable --now caddy",
        ) from None
    return True


def running(folder: Path) -> int | None:
    """Process of the Caddy of this folder; None if it does not run."""
    folder = folder.resolve()
    pid = server.number_in(folder / "caddy.pid")
    return pid if pid and str(folder / CADDYFILE) in server.command_of(pid) else None


def down(folder: Path) -> None:
    """Stop the Caddy of this folder, if it runs."""
    (folder / UP).unlink(missing_ok=True)
    if (pid := running(folder)) is not None:
        server.end(pid, lambda: running(folder) is None)


# ----------------------------------------------------------------------------------------------------------------------
# The servers as people elsewhere see them: everything goes through the name and https.
# ----------------------------------------------------------------------------------------------------------------------


REMEDY = "`annot studio up` sets it"
LEAST_LEFT = 1 / 6
"""Share of its time that a certificate has left at least; Caddy renews it when a third is left."""


def seen_from_outside(
    folder: Path, front: Front, strangers: Mapping[str | None, Sequence[tuple[str, str]]]
) -> Iterator[tuple[str, str]]:
    """Problems of the servers for people elsewhere, each with its remedy.

    strangers: for each person with a server, addresses and passwords of others, which are tried there.
    """
    import httpx

    yield from faults_of_clock()
    root = folder / "certificates" / "pki" / "authorities" / "local" / "root.crt"
    if front.internal and not root.is_file():
        yield f"{root}: no such file", "`annot studio up` starts Caddy, which makes it"
        return
    trusted = ssl.create_default_context(cafile=root if front.internal else None)

    def problems(person: str | None) -> list[tuple[str, str]]:
        address = front.url(person)
        try:
            with httpx.Client(base_url=address, verify=trusted, trust_env=False, timeout=60.0) as session:
                return [*_faults(address, session, strangers[person])]
        except (httpx.HTTPError, OSError) as error:
            remedy = f"`annot studio up`; the record is {front.record([person])}; the log is {folder / 'caddy.log'}"
            return [(f"{address}: cannot be opened from outside: {error}", remedy)]

    with ThreadPoolExecutor(max_workers=max(1, len(strangers))) as pool:
        yield from chain.from_iterable(pool.map(problems, strangers))


def _faults(address: str, session: httpx.Client, strangers: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Problems of one server. strangers: addresses and passwords of accounts that it must not let in."""
    answer = session.get("/user/login/")
    if "strict-transport-security" not in answer.headers:
        yield f"{address}: browsers are not told to use https alone", REMEDY
    if not all("secure" in cookie.lower() for cookie in answer.headers.get_list("set-cookie")):
        yield f"{address}: its cookies are sent without https, too", REMEDY
    certificate = answer.extensions["network_stream"].get_extra_info("ssl_object").getpeercert()
    begin, end = (ssl.cert_time_to_seconds(certificate[name]) for name in ("notBefore", "notAfter"))
    if (left := end - time.time()) < LEAST_LEFT * (end - begin):
        yield (
            f"{address}: its certificate ends in {left / 86400:.1f} days",
            "look into the log of Caddy, in .annot/front",
        )
    if can_sign_up(session):
        yield f"{address}: anyone can make an account", "`annot studio down`, then `annot studio up`"
    if any(can_sign_in(session, email, password) for email, password in strangers):
        remedy = "delete that account in Label Studio, under Organization"
        yield f"{address}: lets in an account of another person", remedy


def faults_of_clock() -> Iterator[tuple[str, str]]:
    """The problem of a clock that nothing sets right, if the system says so; certificates and answers need the time."""
    if (tool := shutil.which("timedatectl")) is not None:
        command = [tool, "show", "--property=NTPSynchronized", "--value"]
        if subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip() == "no":
            yield "the clock of this machine is not synchronised", "sudo timedatectl set-ntp true"
