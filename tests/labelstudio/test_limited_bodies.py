"""Bodies that a hostile server sends: packed twice, packed to gigabytes, cut off, or without an end."""

import gzip
import itertools
import json
import socket
import threading
import tracemalloc
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress

import httpx
import pytest
from annot.labelstudio import http_client
from annot.labelstudio.gateway import Gateway
from annot.labelstudio.http_client import PatientClient, UncertainWrite
from faulty import TOKEN

WHOAMI = {"id": 7, "email": "lead@annot.example"}


@contextmanager
def sending(
    pieces: Iterable[bytes], *headers: str, status: str = "200 OK", every: float = 0.0
) -> Iterator[tuple[str, list[bytes]]]:
    """A server that sends this body to the first request, whatever it is; its address, and the requests."""
    requests: list[bytes] = []
    listener = socket.create_server(("127.0.0.1", 0))
    url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    ended = threading.Event()

    def serve() -> None:
        with suppress(OSError), listener.accept()[0] as connection:
            requests.append(connection.recv(65_536))
            head = [f"HTTP/1.1 {status}", "Connection: close", "Content-Type: application/json", *headers]
            connection.sendall("\r\n".join([*head, "", ""]).encode())
            for piece in pieces:
                if ended.wait(every):
                    return
                connection.sendall(piece)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield url, requests
    finally:
        ended.set()
        listener.close()
        thread.join(timeout=10)


def get(url: str) -> httpx.Response:
    with PatientClient(timeout=5.0, trust_env=False) as client:
        return client.get(url)


def test_one_layer_of_gzip_is_asked_for_and_unpacked() -> None:
    text = json.dumps(WHOAMI | {"note": "x" * 300_000})
    with sending([gzip.compress(text.encode())], "Content-Encoding: gzip") as (url, requests):
        assert get(url).json() == json.loads(text)
    assert b"\r\naccept-encoding: gzip\r\n" in requests[0].lower()


def test_the_client_library_reads_what_is_packed() -> None:
    with sending([gzip.compress(json.dumps(WHOAMI).encode())], "Content-Encoding: gzip") as (url, requests):
        assert Gateway(url, TOKEN).whoami() == 7
    assert b"\r\naccept-encoding: gzip\r\n" in requests[0].lower()


@pytest.mark.parametrize("encoding", ["gzip, gzip", "br", "deflate", "zstd", "gzip,identity"])
def test_any_other_encoding_is_refused_unread(encoding: str) -> None:
    packed = gzip.compress(gzip.compress(b"\0" * 50_000_000))
    with sending([packed], f"Content-Encoding: {encoding}") as (url, _):
        tracemalloc.start()
        with pytest.raises(UncertainWrite, match=f"in the encoding '{encoding}', which was not asked for"):
            get(url)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert most < 5_000_000


def test_what_unpacks_beyond_the_limit_is_not_unpacked_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_client, "MOST_BYTES", 1_000_000)
    packed = gzip.compress(b"\0" * 200_000_000)
    assert len(packed) < 200_000
    with sending([packed], "Content-Encoding: gzip") as (url, _):
        tracemalloc.start()
        with pytest.raises(UncertainWrite, match="an answer of more than 1,000,000 bytes"):
            get(url)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert most < 6_000_000


def test_a_redirect_is_read_under_the_limits_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_client, "MOST_BYTES", 1_000_000)
    body = [gzip.compress(b"\0" * 20_000_000)]
    head = "Content-Encoding: gzip", "Location: http://127.0.0.1:9/"
    with sending(body, *head, status="302 Found") as (url, _), pytest.raises(UncertainWrite, match="more than"):
        PatientClient(timeout=5.0, trust_env=False, follow_redirects=True).get(url)


def test_a_body_that_trickles_in_is_left_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_client, "MOST_SECONDS", 0.3)
    body = sending(itertools.repeat(b" "), every=0.05)
    with body as (url, _), pytest.raises(UncertainWrite, match=r"did not end within 0\.3 s"):
        Gateway(url, TOKEN).whoami()


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (gzip.compress(b"0123456789" * 1_000, mtime=0)[:-9], "ends in its middle"),
        (b"no gzip at all", "cannot be unpacked"),
    ],
)
def test_a_packed_body_that_is_broken_is_not_used(body: bytes, says: str) -> None:
    with sending([body], "Content-Encoding: gzip") as (url, _), pytest.raises(UncertainWrite, match=says):
        get(url)


def test_an_answer_without_a_body_may_be_called_packed() -> None:
    with sending([], "Content-Encoding: gzip") as (url, _):
        assert get(url).content == b""
