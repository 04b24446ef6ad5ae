"""The door to a server: how long it is waited for, addresses that are this machine's, and what is read with doubt."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from email.utils import format_datetime

import httpx
import pytest
from annot.base.errors import StudioError
from annot.labelstudio.gateway import Gateway
from annot.labelstudio.http_client import (
    PatientClient,
    TooManyRequests,
    UncertainWrite,
    asking,
    integer,
    is_loopback,
    moment,
)
from faulty import TOKEN
from studio_in_memory import StudioInMemory, once


@pytest.fixture
def slept(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    waits: list[float] = []
    monkeypatch.setattr("time.sleep", waits.append)
    return waits


def asking_to_wait(*waits: str) -> Callable[[httpx.Request], httpx.Response]:
    """A server that asks for these waits, one after the other, and answers then."""
    left = [*waits]

    def answer(_: httpx.Request) -> httpx.Response:
        return httpx.Response(429, headers={"Retry-After": left.pop(0)}) if left else httpx.Response(200)

    return answer


def status(answer: Callable[[httpx.Request], httpx.Response], method: str = "GET") -> int:
    with PatientClient(transport=httpx.MockTransport(answer)) as client:
        return client.request(method, "https://studio.example.org/x").status_code


def test_all_in_all_a_minute_is_waited_and_no_more(slept: list[float]) -> None:
    assert status(asking_to_wait("30", "30")) == 200
    assert slept == [30, 30]
    with pytest.raises(StudioError, match="no more requests"):
        status(asking_to_wait("30", "31"))


def test_a_wait_without_end_is_refused_in_words(slept: list[float]) -> None:
    with pytest.raises(StudioError, match="no more requests"):
        status(asking_to_wait("9" * 400))
    assert slept == []


def test_a_wait_of_no_seconds_counts_as_one_so_that_it_ends(slept: list[float]) -> None:
    with pytest.raises(StudioError, match="no more requests"):
        status(asking_to_wait(*["0"] * 100))
    assert slept == [0] * 61


@pytest.mark.parametrize("method", ["HEAD", "PUT", "PATCH", "DELETE"])
def test_what_is_safe_twice_is_asked_again(method: str, slept: list[float]) -> None:
    assert status(asking_to_wait("1"), method) == 200
    assert slept == [1]


def test_what_makes_something_is_not_sent_again(slept: list[float]) -> None:
    with pytest.raises(StudioError, match="no more requests"):
        status(asking_to_wait("1"), "POST")
    assert slept == []


@pytest.mark.parametrize("zone", [UTC, timezone(timedelta(hours=9)), None], ids=["GMT", "+0900", "-0000"])
def test_a_moment_until_which_to_wait_is_reckoned_in_seconds(
    zone: timezone | None, slept: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("annot.labelstudio.http_client.LONGEST_WAIT", 4000.0)
    moment = datetime.now(zone or UTC) + timedelta(hours=1)
    said = format_datetime(moment if zone else moment.replace(tzinfo=None), usegmt=zone is UTC)
    assert status(asking_to_wait(said)) == 200
    (waited,) = slept
    assert 3400 <= waited <= 3600


def test_a_moment_that_is_over_is_not_waited_for(slept: list[float]) -> None:
    assert status(asking_to_wait("Thu, 01 Jan 2026 00:00:00 GMT")) == 200
    assert slept == [0]


@pytest.mark.parametrize("said", ["", "soon", "-5", f"Fri, 31 Dec {'9' * 30} 00:00:00 GMT"])
def test_without_a_wait_that_can_be_read_the_refusal_comes_through(said: str, slept: list[float]) -> None:
    assert status(asking_to_wait(said)) == 429
    assert slept == []


def test_a_wait_is_asked_for_by_status_429_alone(slept: list[float]) -> None:
    def busy(_: httpx.Request) -> httpx.Response:
        return httpx.Response(503, headers={"Retry-After": "5"})

    assert status(busy) == 503
    assert slept == []


@pytest.mark.parametrize(
    ("url", "own"),
    [
        ("http://localhost:8080", True),
        ("http://127.0.0.1:8090/", True),
        ("http://127.9.9.9", True),
        ("http://[::1]:8080", True),
        ("http://10.0.0.7", False),
        ("https://studio.example.org", False),
        ("https://localhost.example.org", False),
        ("nonsense", False),
        ("http://[::1", False),
    ],
)
def test_only_addresses_of_this_machine_are_its_own(url: str, own: bool) -> None:
    assert is_loopback(url) is own


@pytest.mark.parametrize("value", [True, False, 1.0, "1", None])
def test_a_number_is_whole_or_refused(value: object) -> None:
    assert (integer(0), integer(-3)) == (0, -3)
    with pytest.raises(ValueError, match="whole number"):
        integer(value)


def test_moments_are_written_as_the_server_writes_them_in_exports() -> None:
    east = datetime(2031, 3, 14, 18, 5, 9, 120000, tzinfo=timezone(timedelta(hours=2)))
    assert moment(east) == "2031-03-14T16:05:09.120000Z"
    assert moment(None) is None


def test_an_address_with_a_password_in_it_is_refused_without_showing_it() -> None:
    with pytest.raises(StudioError, match="contains a user name or a password") as caught:
        Gateway("https://ada:5ecre7@studio.example.org", TOKEN)
    assert "5ecre7" not in str(caught.value)


def test_a_proxy_that_sends_on_elsewhere_is_followed(fake: StudioInMemory, gateway: Gateway) -> None:
    moved = httpx.Response(307, headers={"location": "http://studio.example/api/current-user/whoami/"})
    fake.faults.append(once("GET", "whoami", lambda request: moved))
    assert gateway.whoami() == 1


def test_the_server_is_told_by_its_organisation_and_when_that_was_made(fake: StudioInMemory, gateway: Gateway) -> None:
    number, _, made = gateway.identity().partition(" of ")
    assert number == "1"
    assert datetime.fromisoformat(made) == datetime.fromisoformat(fake.made)
    assert gateway.invitation() == "/user/signup/?token=invited"
    assert gateway.user_ids() == {"lead@annot.example": 1}


def test_what_is_gone_already_may_be_deleted_and_other_refusals_are_told(
    fake: StudioInMemory, gateway: Gateway
) -> None:
    gateway.delete_project(99)
    gateway.delete_task(99)
    for status_code in (403, 405):
        refusal = httpx.Response(status_code, json={"detail": "no"})
        fake.faults.append(once("DELETE", "projects/1", lambda request, refusal=refusal: refusal))
        with pytest.raises(StudioError, match=str(status_code)):
            gateway.delete_project(1)
    assert list(fake.projects) == [1]


# -- refusals ----------------------------------------------------------------------------------------------------------


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
