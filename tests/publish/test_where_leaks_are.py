"""A search for secrets finds each on its line, in whatever way its letters are written, and little else."""

import base64
import unicodedata

import pytest
from annot.publishing.release.leaks import Leak, Secret, addresses, leaks

NAME = ("name", "Ada Planter")
ACCENTS = unicodedata.normalize("NFC", "\u00c5da Pl\u00e4nter")


def lines_with(secret: Secret, text: str) -> list[int]:
    return [found.line for found in leaks({"a.txt": text.encode()}, [secret], allowed=())]


@pytest.mark.parametrize("line", [1, 1999, 2000, 2002, 4000, 4002])
def test_the_line_of_a_leak_is_counted_through_long_files(line: int) -> None:
    text = "\n".join("by Ada Planter" if at == line else "-" for at in range(1, 4501))
    found = leaks({"a.txt": text.encode()}, [NAME], allowed=())
    assert found == (Leak("a.txt", line, "a known name", "Ad…r (11 characters)"),)


@pytest.mark.parametrize("line", [1999, 2000, 2001])
def test_a_name_broken_over_two_lines_is_found_on_the_first(line: int) -> None:
    rows = ["-"] * 4500
    rows[line - 1 : line + 1] = ["by Ada", "Planter"]
    assert lines_with(NAME, "\n".join(rows)) == [line]


def test_the_name_of_a_file_has_line_0() -> None:
    found = leaks({"of/ada-planter.txt": b"-"}, [NAME], allowed=())
    assert found == (Leak("of/ada-planter.txt", 0, "a known name", "Ad…r (11 characters)"),)


@pytest.mark.parametrize("content", [b"\xff\xfe", b"a\0b"])
def test_what_is_no_text_is_a_finding_and_the_next_file_is_searched(content: bytes) -> None:
    found = leaks({"a.bin": content, "b.txt": b"\xef\xbb\xbfAda Planter"}, [NAME], allowed=())
    assert [(one.path, one.line, one.what, one.shown) for one in found] == [
        ("a.bin", 0, "not searched: not a text in UTF-8", ""),
        ("b.txt", 1, "a known name", "Ad…r (11 characters)"),
    ]


@pytest.mark.parametrize(
    "written",
    [
        *("ADA PLANTER", "Planter, Ada", "ada_planter", "Ada   Planter", "Ada\tPlanter", "(Ada Planter)"),
        *("Ａｄａ Ｐｌａｎｔｅｒ", ACCENTS, unicodedata.normalize("NFD", ACCENTS)),
        *(r"\u0041da Planter", r"\\u0041da Planter", r"Ada\nPlanter", r"Ada\u000aPlanter", r"\ud835\udd38da Planter"),
        *("%41da%20Planter", "Ada%0APlanter", "Ada%0dPlanter"),
        *("&#65;da Planter", "Ada&nbsp;Planter", "Ada&#10;Planter", "Ada&#13;Planter", "Ada&#x0A;Planter"),
        r"\u002541da Planter",
    ],
)
def test_a_name_is_found_in_every_way_of_writing_its_letters(written: str) -> None:
    assert set(lines_with(NAME, f"first line\n\nof {written} here\nlast & line")) == {3}


@pytest.mark.parametrize("other", ["Adam Planter", "Ada Planters", "Ada and Planter", "Ada -- Planter", "Ada"])
def test_another_name_is_no_leak(other: str) -> None:
    assert lines_with(NAME, f"of {other} here") == []


@pytest.mark.parametrize(
    ("value", "shown"),
    [("wxyz", "… (4 characters)"), ("vwxyz", "vw…z (5 characters)"), (" vwxyz\n", "vw…z (5 characters)")],
)
def test_a_finding_shows_three_characters_of_what_has_five_or_more(value: str, shown: str) -> None:
    (found,) = leaks({"a": b"= vwxyz ="}, [("token", value)], allowed=())
    assert (found.what, found.shown) == ("a known token", shown)


def test_secrets_of_blanks_are_none_and_two_equal_ones_are_one_finding() -> None:
    assert leaks({"a": b"  \n"}, [("token", " "), ("name", "")], allowed=()) == ()
    assert len(leaks({"a": b"Ada Planter"}, [NAME, NAME], allowed=())) == 1


@pytest.mark.parametrize("before", ["", "a", "ab", "abc", "abcd"])
@pytest.mark.parametrize("after", ["", "a", "ab"])
@pytest.mark.parametrize("secret", ["secret", "s\u00fc\u00df>>>???\u00ff\u00fe", "a longer one, 17."])
def test_a_secret_is_found_in_base64_at_each_alignment(before: str, after: str, secret: str) -> None:
    data = (before + secret + after).encode()
    for encoded in (base64.b64encode(data), base64.urlsafe_b64encode(data)):
        found = leaks({"a": b"first\n" + encoded}, [("token", secret)], allowed=())
        assert [(one.line, one.what) for one in found] == [(2, "a known token, in base64")]


@pytest.mark.parametrize("other", ["secreu", "3ecret", "Secret"])
def test_what_is_like_a_secret_in_base64_is_none(other: str) -> None:
    text = base64.b64encode(other.encode()).decode()
    assert lines_with(("token", "secret"), text) == []


def test_a_secret_of_five_characters_is_not_looked_for_in_base64() -> None:
    assert lines_with(("token", "secre"), base64.b64encode(b"secre").decode()) == []
    assert lines_with(("token", "secre"), "secre") == [1]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        *(("12345", False), ("on 123456.", True), ("x123456", False), ("0.123456", False), ("123456.5", False)),
        *(('"task": 12345', True), ("'project' = '12345'", True), ("task: 12345", False), ("id=12345", True)),
        *(('"id": 12345', True), ("grid=12345", False), ("id=12345a", False), ("id=123459", False)),
        ("00000000-0000-0000-0000-0000000000ab", True),
    ],
)
def test_a_short_id_of_the_server_needs_a_key_beside_it(text: str, found: bool) -> None:
    values = ("12345", "123456", "00000000-0000-0000-0000-0000000000AB")
    known = leaks({"a": text.encode()}, [("studio id", value) for value in values], allowed=())
    assert [one.what for one in known] == ["a known studio id"] * found
    assert leaks({"a": text.encode()}, [], allowed=()) == ()


def test_an_id_of_letters_is_found_as_a_whole_word() -> None:
    assert lines_with(("studio id", "Ab7"), "ab7\nab78\n(AB7)") == [1, 3]


@pytest.mark.parametrize(
    "written", ["https://studio.example:8080/", "studio.example:8080", "HTTP://Studio.example:8080/x"]
)
def test_a_server_is_found_with_and_without_its_scheme(written: str) -> None:
    assert lines_with(("studio address", "https://studio.example:8080/"), f"at {written}") == [1]


@pytest.mark.parametrize(
    ("address", "length"),
    [("jo@judges.example", 17), (f"{'j' * 64}@judges.example", 79), (f"{'j' * 65}@judges.example", 79)],
)
def test_an_address_is_shown_with_all_before_its_sign(address: str, length: int) -> None:
    """The part before the sign has at most 64 characters (RFC 5321, 4.5.3.1.1)."""
    (found,) = leaks({"a": f"line\nto {address} now".encode()}, [], allowed=())
    assert found == Leak("a", 2, "an e-mail address", f"{address[:2]}…e ({length} characters)")


def test_public_addresses_are_let_through_as_they_are_printed_elsewhere() -> None:
    printed = addresses(["write to Jo.Settler@judges.example", "kim&#64;judges.example", "no address"])
    assert printed == {"jo.settler@judges.example", "kim@judges.example"}
    files = {"a": b"jo.settler@judges.example\nKIM@judges.example\nlee@judges.example"}
    assert [found.line for found in leaks(files, [], allowed=printed)] == [3]
    secret = ("e-mail", "jo.settler@judges.example")
    assert [found.what for found in leaks(files, [secret], allowed=printed) if found.line == 1] == ["a known e-mail"]


def test_leaks_are_in_order_of_path_and_line() -> None:
    found = leaks({"b": b"Ada Planter", "a": b"-\na@b.example\nAda Planter"}, [NAME], allowed=())
    assert [(one.path, one.line) for one in found] == [("a", 2), ("a", 3), ("b", 1)]
