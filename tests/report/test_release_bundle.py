"""Checksums and the search for leaks: what is planted is found however it is written, and clean text stays clean."""

import shutil
import subprocess
from pathlib import Path

import pytest
from annot.base.errors import InputError
from annot.publishing.release.leaks import Secret, addresses, leaks
from annot.publishing.release.released_files import bundle
from annot_demo.simulated_people import corpus_text

NAME = ("name", "Zoë van der Plánt")
MAIL = ("e-mail", "zoe.plant+ls@Uni-Example.edu")
TOKEN = ("token", "8f3kk-SECRET-token/value+0")
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


def test_the_demo_corpus_is_clean() -> None:
    assert leaks({"corpus.jsonl": corpus_text().encode()}, SECRETS, allowed=()) == ()


def test_real_abstracts_raise_nothing_but_the_addresses_printed_in_them(shared: Path) -> None:
    content = (shared / "csfcube" / "abstracts-csfcube-preds.jsonl").read_bytes()
    public = addresses([content.decode()])
    assert 1 <= len(public) <= 20
    assert leaks({"x": content}, SECRETS, allowed=public) == ()
