"""Checksums and the search for leaks: what is planted is found however it is written, and clean text stays clean."""

from __future__ import annotations

import base64
import gzip
import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote, quote_plus

import pytest
from annot.base.errors import InputError
from annot.publishing.release.leaks import Leak, Secret, addresses, leaks
from annot.publishing.release.released_files import bundle
from annot_demo.simulated_people import corpus_text

NAME = Secret("name", "Zoë van der Plánt")
MAIL = Secret("e-mail", "zoe.plant+ls@Uni-Example.edu")
TOKEN = Secret("token", "8f3kk-SECRET-token/value+0")
SECRETS = (NAME, MAIL, TOKEN)


def found(text: str | bytes, *secrets: Secret, allowed: tuple[str, ...] = ()) -> set[str]:
    content = text.encode() if isinstance(text, str) else text
    return {finding.what for finding in leaks({"file.txt": content}, secrets, allowed=allowed)}


def test_sha256sum_accepts_the_sums_and_the_bytes_do_not_depend_on_the_order(tmp_path: Path) -> None:
    files = {"b/ä.txt": b"two", "a.txt": b"one", "B.txt": b""}
    release = bundle(files)
    assert bundle(dict(reversed(files.items()))) == release
    assert list(release) == sorted([*files, "SHA256SUMS"])
    for path, content in release.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(content)
    if (program := shutil.which("sha256sum")) is None:
        pytest.skip("no sha256sum")
    subprocess.run([program, "--check", "--strict", "--quiet", "SHA256SUMS"], cwd=tmp_path, check=True)
    (tmp_path / "a.txt").write_bytes(b"other")
    assert subprocess.run([program, "--check", "--status", "SHA256SUMS"], cwd=tmp_path).returncode == 1


def test_names_of_files_that_would_not_unpack_everywhere_are_refused() -> None:
    with pytest.raises(InputError) as caught:
        bundle(dict.fromkeys(["ok.txt", "OK.txt", "a.txt"], b""))
    assert caught.value.faults == ("ok.txt, OK.txt: expected names that differ in more than upper and lower case",)


ENCODINGS: dict[str, Callable[[str], str | bytes]] = {
    "plain": str,
    "upper case": str.upper,
    "in JSON": json.dumps,
    "in JSON in JSON": lambda text: json.dumps(json.dumps({"x": text})),
    "percent": lambda text: quote(text, safe=""),
    "form": quote_plus,
    "HTML": lambda text: "".join(f"&#{ord(char)};" for char in text),
    "every letter in JSON": lambda text: '"' + "".join(f"\\u{ord(char):04x}" for char in text) + '"',
    "every byte in percent": lambda text: "".join(f"%{byte:02X}" for byte in text.encode()),
    "base64": lambda text: base64.b64encode(text.encode()),
    "base64, shifted by one": lambda text: base64.b64encode(b"." + text.encode() + b".."),
    "base64, shifted by two": lambda text: base64.b64encode(b"ab" + text.encode()),
    "base64 for URLs": lambda text: base64.urlsafe_b64encode(text.encode()),
}


@pytest.mark.parametrize("way", ENCODINGS)
@pytest.mark.parametrize("secret", SECRETS, ids=lambda secret: secret.kind)
def test_a_planted_secret_is_found_however_it_is_written(secret: Secret, way: str) -> None:
    inner = ENCODINGS[way](secret.value)
    if isinstance(inner, str):
        inner = f"before {inner} after".encode()
    elif "base64" in way:
        inner = b'{"payload": "' + inner + b'"}'
    planted = f"a known {secret.kind}"
    assert {what.partition(", in base64")[0] for what in found(inner, secret)} >= {planted}


@pytest.mark.parametrize(
    "text",
    ["PLÁNT, Zoë van der", "zoe_van_der_plant", "Zoe van\nder Plant", "Zoe van der Plant's", "(Zoë  van der  Plánt)"],
)
def test_a_name_is_found_turned_around_joined_broken_and_without_accents(text: str) -> None:
    assert found(f"said {text} today", NAME) == {"a known name"}


def test_a_name_is_found_as_whole_words_only() -> None:
    assert found("The mayor maintains a plantation of van derby plants.", Secret("name", "May"), NAME) == set()
    assert found("It was May.", Secret("name", "May")) == {"a known name"}


def test_the_place_of_a_finding_is_told_and_the_secret_is_not() -> None:
    (finding,) = leaks({"a/b.md": b"one\ntwo 8f3kk-SECRET-token/value+0\n"}, [TOKEN], allowed=())
    assert finding == Leak("a/b.md", 2, "a known token", "8f…0 (26 characters)")
    (finding,) = leaks({"zip/8F3KK-secret-TOKEN/value+0.txt": b""}, [TOKEN], allowed=())
    assert finding.line == 0


def test_lines_are_counted_right_in_long_files_and_behind_escapes() -> None:
    lines = ["nothing \\n here %0A &#10; é"] * 5000
    lines[4321] = "caf\\u00e9 Zo\\u00eb van der Pl\\u00e1nt"
    assert [finding.line for finding in leaks({"x": "\n".join(lines).encode()}, [NAME], allowed=())] == [4322]


@pytest.mark.parametrize(
    "content", [gzip.compress(b"x", mtime=0), "text".encode("utf-16"), b"\x93NUMPY\x00\xff", b"PK\x03\x04\x00"]
)
def test_what_cannot_be_searched_is_a_finding(content: bytes) -> None:
    (finding,) = leaks({"x": content}, SECRETS, allowed=())
    assert (finding.path, finding.what) == ("x", "not searched: not a text in UTF-8")


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("write to someone.else@host.example today", "an e-mail address"),
        ('"by": "x\\u0040host.example"', "an e-mail address"),
        ("eyJhbGciOiJIUzI1NiJ9.eyJ1c2VyIjoxMjM0fQ.abcdef", "a token (JWT)"),
        ("Authorization: Token 0123456789abcdef0123456789abcdef01234567", "a token of Label Studio"),
        ("Bearer abcdefghijklmnop1234", "a token"),
        ("-----BEGIN OPENSSH PRIVATE KEY-----", "a private key"),
        ("postgresql://lead:hunter2@db.example/annot", "a password in a URL"),
        ('password = "correct-horse"', "a password"),
        ('{"id": 7, "completed_by": 3}', "a field of Label Studio"),
        ("task_id,lead_time,grade", "a field of Label Studio"),
        ("see http://localhost:8080/projects/3/data?task=17", "an address of a server"),
        ("see http://192.168.1.20/", "an address of a server"),
        ("https://studio.example/api/tasks/17", "an address of a server"),
    ],
)
def test_what_nobody_planted_is_found_by_its_pattern(text: str, what: str) -> None:
    assert what in found(text)


@pytest.mark.parametrize(
    "text",
    [
        "P@20.The nDCG@10.Our run@k.2",
        "sha1 0123456789abcdef0123456789abcdef01234567",
        "task_ids:\n- document-retrieval",
        "Judged with Label Studio Community 1.23.2; the tokens of a document; pass words on",
        "https://ir-datasets.com/api.html and https://10.example.org and 10.18653/v1/N19-1",
        "the lead time is kept; the project id was not",
    ],
)
def test_what_only_looks_like_it_is_left_alone(text: str) -> None:
    assert found(text) == set()


def test_a_short_server_id_counts_only_beside_a_field_and_a_long_one_everywhere() -> None:
    short, long = Secret("studio id", "17"), Secret("studio id", "b7c1d2e3-uuid-9")
    assert found("17 papers, grade 17", short) == set()
    assert "a known studio id" in found('{"id": 17}', short)
    assert found('{"id": 170, "paper_id": 17}', short) == set()
    assert found("x b7c1d2e3-UUID-9 y", long) == {"a known studio id"}
    assert found("at studio.example:8080/x", Secret("studio address", "https://studio.example:8080/")) == {
        "a known studio address"
    }


def test_public_addresses_may_stay_but_never_a_planted_one() -> None:
    text = f"ask Help@Desk.example or {MAIL.value}"
    public = ("help@desk.example", MAIL.value)
    assert found(text, MAIL, allowed=public) == {"a known e-mail"}
    assert addresses([text]) == {"help@desk.example", MAIL.value.lower()}


def test_the_demo_corpus_is_clean() -> None:
    assert leaks({"corpus.jsonl": corpus_text().encode()}, SECRETS, allowed=()) == ()


def test_real_abstracts_raise_nothing_but_the_addresses_printed_in_them(shared: Path) -> None:
    content = (shared / "csfcube" / "abstracts-csfcube-preds.jsonl").read_bytes()
    public = addresses([content.decode()])
    assert 1 <= len(public) <= 20
    assert leaks({"x": content}, SECRETS, allowed=public) == ()
