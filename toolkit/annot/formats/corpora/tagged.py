"""Files of tagged lines, as RIS and MEDLINE are: the lines of one record after those of another."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from annot.formats.corpora.cutting import Broken
from annot.formats.corpora.text_encoding import lines_in, not_utf8, text_of

LONGEST_RECORD = 1 << 22
"""Four million characters: more than a record with thousands of authors or cited works has."""
_SHOWN = 1_000
_E = "Ee \t"


def tagged_records(
    path: Path,
    begins: Callable[[str, list[str]], object],
    ends: Callable[[str], object] = lambda _: False,
    *,
    example: str,
) -> Iterator[tuple[int, list[str] | Broken]]:
    """The lines of each record, with the number of its first line.

    begins: whether a line begins a record, given the lines of the record that it would end; `example` is such a line.
    ends: whether a line, which begins with E or a blank, is the last one of its record. Lines between records are
    passed over; a file in which no record begins is one fault.
    """
    block: list[str] = []
    first = length = found = 0
    passed = ""
    with text_of(path) as lines:
        for number, line in enumerate(lines_in(lines), start=1):
            if begins(line, block):
                if block:
                    yield first, _whole(block, length)
                block, first, length = [line], number, len(line)
                found += 1
            elif line[:1] in _E and block and ends(line):
                yield first, _whole(block, length)
                block = []
            elif block:
                length += len(line)
                if length <= LONGEST_RECORD:
                    block.append(line)
            else:
                passed = passed or line[:_SHOWN].strip()
    if block:
        yield first, _whole(block, length)
    elif passed and not found:
        yield 1, no_record(passed, example)


def no_record(text: str, example: str) -> Broken:
    """The fault of a file in which no record begins. example: a line that begins one."""
    return Broken("no record", (f"found no record, expected one to begin with a line such as {example!r}",), text)


def _whole(block: list[str], length: int) -> list[str] | Broken:
    raw = "".join(block)
    if length > LONGEST_RECORD:
        fault = f"a record of {length} characters, expected at most {LONGEST_RECORD}"
        return Broken("too long", (fault,), raw[:_SHOWN])
    return not_utf8(raw) or block
