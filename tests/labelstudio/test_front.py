"""Names, https and certificates of servers below a domain: what is written and refused before anything starts."""

import json
import socket
import subprocess
from pathlib import Path
from typing import Any

import pytest
from annot.base.errors import InputError, StoreError, StudioError
from annot.labelstudio import front, server
from annot.labelstudio.front import Front
from needs import unavailable

STUDY = Front("study.example.org")


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The domain name system: the address of each name."""
    known: dict[str, str] = {}

    def look_up(host: str, *_: Any, **__: Any) -> list[Any]:
        if host not in known:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (known[host], 0))]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    return known


def adapted(folder: Path, text: str) -> Any:
    """The configuration as Caddy itself understands it."""
    (folder / "Caddyfile").write_text(text, encoding="utf-8")
    try:
        done = subprocess.run(["caddy", "adapt", "--config", folder / "Caddyfile"], capture_output=True, check=False)
    except FileNotFoundError:
        unavailable("no Caddy; on Debian: apt-get install caddy")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def hosts(configuration: Any) -> dict[str, str]:
    """The server on this machine to which each name leads."""
    (site,) = configuration["apps"]["http"]["servers"].values()
    found = {}
    for route in site["routes"]:
        text = json.dumps(route)
        assert "Strict-Transport-Security" in text
        found[route["match"][0]["host"][0]] = text.partition('"dial": "')[2].partition('"')[0]
    return found


def test_caddy_leads_each_name_to_its_server_by_https(tmp_path: Path, names: dict[str, str]) -> None:
    folder = tmp_path / "a folder's"
    configuration = adapted(tmp_path, front.caddyfile(folder, STUDY, {"a1": 8090, "J_1": 8091}))
    assert hosts(configuration) == {"a1.study.example.org": "127.0.0.1:8090", "j-1.study.example.org": "127.0.0.1:8091"}
    assert configuration["admin"]["listen"] == "unix/admin.sock"
    assert configuration["storage"]["root"] == str(folder / "certificates")
    assert "tls" not in configuration["apps"], "certificates are asked for as usual"
    (site,) = configuration["apps"]["http"]["servers"].values()
    assert site["listen"] == [":443"]


def test_names_of_this_machine_alone_open_no_port_to_others(tmp_path: Path, names: dict[str, str]) -> None:
    names["a1.study.example.org"] = "127.0.0.1"
    closed = Front("study.example.org", internal=True, port=8443)
    configuration = adapted(tmp_path, front.caddyfile(tmp_path, closed, {"a1": 8090}))
    (site,) = configuration["apps"]["http"]["servers"].values()
    assert site["listen"] == ["127.0.0.1:8443"]
    assert site["automatic_https"]["disable_redirects"], "port 80 stays closed, too"
    assert configuration["apps"]["tls"]["automation"]["policies"][0]["issuers"] == [{"module": "internal"}]


def test_addresses_have_the_port_where_it_is_not_the_usual_one() -> None:
    assert STUDY.url("a1") == "https://a1.study.example.org"
    assert STUDY.url(None) == "https://study.example.org"
    assert Front("study.example.org", port=8443).url("a1") == "https://a1.study.example.org:8443"
    assert "*.study.example.org" in STUDY.record(["a1", "a2"])
    assert "*" not in STUDY.record([None])


@pytest.mark.parametrize(
    "domain", ["study", "", "study.example.org/x", "-a.example.org", "a..org", "study.example.org\n"]
)
def test_a_domain_that_is_none_is_refused(domain: str) -> None:
    with pytest.raises(InputError, match="expected a name such as"):
        front.checked(Front(domain), ["a1"])


def test_two_people_never_have_one_name() -> None:
    assert front.checked(STUDY, ["a1", "a2"]) is STUDY
    with pytest.raises(InputError, match=r"a_1 and a-1 .* a-1\.study\.example\.org"):
        front.checked(STUDY, ["a_1", "a-1"])


def test_a_domain_is_remembered_and_a_damaged_file_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "front"
    assert front.kept(folder) is None
    front.keep(folder, Front("study.example.org", internal=True, port=8443))
    assert front.kept(folder) == Front("study.example.org", internal=True, port=8443)
    assert folder.stat().st_mode & 0o077 == 0
    (folder / "front.json").write_text("{", encoding="utf-8")
    with pytest.raises(StudioError, match=r"front\.json: cannot be read"):
        front.kept(folder)


def test_a_name_leads_here_if_its_address_is_of_this_machine(names: dict[str, str]) -> None:
    names |= {"here.example.org": "127.0.0.1"}
    assert front.leads_here("here.example.org", 443)
    assert not front.leads_here("unknown.example.org", 443)


def test_a_database_is_given_without_its_password(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGPASSWORD", "5ecre7")
    variables = json.loads(server.database_variables("postgresql://studio@127.0.0.1:5433/labels"))
    assert variables == {
        "DJANGO_DB": "default",
        "POSTGRE_NAME": "labels",
        "POSTGRE_USER": "studio",
        "POSTGRE_PASSWORD": "5ecre7",
        "POSTGRE_HOST": "127.0.0.1",
        "POSTGRE_PORT": "5433",
    }
    with pytest.raises(InputError, match="has a password") as caught:
        server.database_variables("postgresql://studio:hidden@127.0.0.1/labels")
    assert "hidden" not in str(caught.value)
    at_socket = json.loads(server.database_variables("postgresql://studio@/labels?host=%2Frun%2Fpg"))
    assert at_socket["POSTGRE_HOST"] == "/run/pg"
    with pytest.raises(InputError, match="expected an address such as postgresql"):
        server.database_variables("sqlite:///labels.db")
    with pytest.raises(StoreError, match="cannot be read"):
        server.database_variables("postgresql://studio@127.0.0.1:port/labels")


@pytest.mark.parametrize(("says", "problems"), [("yes", 0), ("no", 1), ("", 0)])
def test_a_clock_that_nothing_sets_is_told(
    says: str, problems: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool = tmp_path / "timedatectl"
    tool.write_text(f"#!/bin/sh\necho {says}\n", encoding="utf-8")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    assert len([*front.faults_of_clock()]) == problems
