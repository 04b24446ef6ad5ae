"""What a server's answer, or its silence, becomes: who may try again, and what the message says."""

import httpx
import pytest
from annot.base.errors import StudioError
from annot.labelstudio.http_client import TooManyRequests, UncertainWrite, asking

URL = "https://studio.example.org"


def refused(status: int | None, text: str = "") -> StudioError:
    """What becomes of an answer with this status: of the network's library, or of the server's own."""

    class ApiError(Exception):
        status_code, body = status, text

    error: Exception = ApiError()
    if status is not None:
        request = httpx.Request("POST", URL)
        error = httpx.HTTPStatusError("", request=request, response=httpx.Response(status, text=text, request=request))
    with pytest.raises(StudioError) as caught, asking(URL, "sending 3 tasks"):
        raise error
    return caught.value


@pytest.mark.parametrize(
    ("status", "said", "kind"),
    [
        (400, "refuses sending 3 tasks (400)", StudioError),
        (403, "refuses sending 3 tasks (403)", StudioError),
        (428, "refuses sending 3 tasks (428)", StudioError),
        (429, "accepts no more requests for now (429) while sending 3 tasks", TooManyRequests),
        (430, "refuses sending 3 tasks (430)", StudioError),
        (499, "refuses sending 3 tasks (499)", StudioError),
        (500, "failed (500) while sending 3 tasks", UncertainWrite),
        (302, "answers, but not like Label Studio, while sending 3 tasks (302)", UncertainWrite),
        (399, "answers, but not like Label Studio, while sending 3 tasks (399)", UncertainWrite),
        (None, "refuses sending 3 tasks (no status)", StudioError),
    ],
)
def test_each_status_has_its_words_and_says_whether_it_is_certain(
    status: int | None, said: str, kind: type[StudioError]
) -> None:
    error = refused(status)
    assert type(error) is kind
    assert error.message == f"{URL} {said}"
    assert error.hint


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("", ""),
        ("too  many\n words", ": too many words"),
        ('{"detail": "no such project"}', ": no such project"),
        ('{"validation_errors": {"title": ["too long"]}, "detail": "x"}', ': {"title": ["too long"]}'),
        ('{"other": 1}', ': {"other": 1}'),
        ("[1, 2]", ": [1, 2]"),
        ('{"detail": "größer"}', ": größer"),
        ('{"größer": 1}', ': {"größer": 1}'),
        ("<!doctype html><HTML>Welcome", ": a web page instead of data"),
        ("x" * 600, ": " + "x" * 600),
        ("x" * 601, ": " + "x" * 600 + " ..."),
    ],
)
def test_the_servers_own_words_are_passed_on_in_one_line_of_at_most_600_letters(body: str, said: str) -> None:
    assert refused(400, body).message == f"{URL} refuses sending 3 tasks (400){said}"


@pytest.mark.parametrize(
    ("seconds", "wait"), [(None, "wait a minute,"), (0.0, "wait 0 s,"), (30.0, "wait 30 s,"), (30.2, "wait 31 s,")]
)
def test_the_wait_is_the_servers_own_rounded_up_or_a_minute(seconds: float | None, wait: str) -> None:
    error = TooManyRequests.after(seconds, url=URL)
    assert error.message == f"{URL} accepts no more requests for now (429)"
    assert (error.hint or "").startswith(wait)


@pytest.mark.parametrize(
    ("error", "said", "kind"),
    [
        (httpx.ConnectError("[SSL: CERTIFICATE_VERIFY_FAILED] self-signed"), "does not trust", StudioError),
        (httpx.ConnectError("refused"), "no server answers", StudioError),
        (httpx.ConnectTimeout("slow"), "no server answers", StudioError),
        (httpx.UnsupportedProtocol("ftp"), "no request can be made", StudioError),
        (httpx.ReadTimeout("slow"), "gave no complete answer", UncertainWrite),
        (httpx.ReadError("broke"), "gave no complete answer", UncertainWrite),
    ],
)
def test_a_silence_says_what_was_met_and_whether_the_write_may_have_arrived(
    error: Exception, said: str, kind: type[StudioError]
) -> None:
    with pytest.raises(StudioError, match=said) as caught, asking(URL, "sending"):
        raise error
    assert type(caught.value) is kind


def test_what_is_no_refusal_of_a_server_stays_what_it_is() -> None:
    with pytest.raises(ZeroDivisionError), asking(URL, "sending"):
        raise ZeroDivisionError
