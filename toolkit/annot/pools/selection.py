"""Query papers: a random sample of each period, a sheet to rate it, and an even choice of those rated (CSFCube)."""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import accumulate, combinations, pairwise

import numpy as np

from annot.base.errors import Faults, InputError
from annot.base.names import counted, near
from annot.base.records import Qrel, grouped, nested
from annot.base.stats.inference import generator
from annot.formats.input_files import read_columns, written_sheet

# ----------------------------------------------------------------------------------------------------------------------
# The rating sheet as CSV: written for spreadsheet programs, read back as they save it.
#
# The lead enters the type of each paper and a rating, as the rows below the header explain (`rating.txt.j2`): steps 2
# and 3 of CSFCube's selection of query papers (annotator guidelines, 1.4).
# ----------------------------------------------------------------------------------------------------------------------


LOGGER = logging.getLogger("annot")
RATINGS = range(1, 6)
COLUMNS = ("paper_id", "title", "year", "period", "type", "rating", "facets", "cited", "note", "abstract")
_REQUIRED = ("paper_id", "period", "type", "rating", "facets")
_FILLED_IN = ("type", "rating", "facets", "note")
"""The columns that are the lead's."""
_COMMENT_MARK = "#"
"""Mark at the start of a row that has no paper."""


@dataclass(frozen=True, slots=True)
class SheetRow:
    """One paper of the sheet; type and rating are None until the lead has entered both."""

    paper_id: str
    title: str
    year: int | None
    period: str
    type: str | None
    rating: int | None
    facets: tuple[str, ...]
    """The facets it may serve as a query for; the lead strikes out those without substance."""
    note: str = ""
    abstract: str = ""
    """Abstract to read while rating."""
    cited: int | None = None
    """Papers of the corpus that it cites: its pool begins with them."""


def write_sheet(rows: Iterable[SheetRow], *, explanation: Sequence[str]) -> str:
    """The sheet as text, one paper a row, under the header and the lines of `explanation`."""
    explanation_rows = ([f"{_COMMENT_MARK} {line}", *("" for _ in COLUMNS[1:])] for line in explanation)
    papers = ({**asdict(row), "facets": ", ".join(row.facets)} for row in rows)
    return written_sheet([COLUMNS, *explanation_rows, *([cells[column] for column in COLUMNS] for cells in papers)])


def read_sheet(
    data: bytes, *, name: str, facets: Sequence[str], types: Sequence[str], known: Collection[str] | None = None
) -> tuple[SheetRow, ...]:
    """The rows of a filled sheet, in its order, from the bytes of the file as a spreadsheet program saved it.

    Read alike: UTF-8 with or without byte order mark, UTF-16 with one, Windows-1252; comma, semicolon or tab between
    cells; any line ends; a first line `sep=;`; columns in any order, further columns. Rows that are empty or explain
    the sheet are passed over. `facets` and `types` are those of the study, in types capitals do not matter; `known` are
    the ids of the corpus (not checked when None). A row with neither type nor rating is kept.
    Raises InputError with the line of every fault; `name` is the file in the messages.
    """
    faults = Faults(name)
    others = [column for column in COLUMNS if column not in _REQUIRED]
    sheet = read_columns(data, faults, columns=_REQUIRED, optional=others)
    papers = [(line, cells) for line, cells in sheet if not _explains(cells)]
    filled = [line for line, cells in sheet if _explains(cells) and sum(map(bool, cells.values())) > 1]
    if filled:
        warning = "lines %d to %d are the instructions, not papers; what was filled in there is left out"
        LOGGER.warning(f"%s: {warning}", name, filled[0], filled[-1])
    hint = "write a sheet with `annot query sample`, and leave its first line as it is"
    faults.raise_if_any(hint=hint, found=papers, nothing="no papers in the sheet")
    rows: list[SheetRow] = []
    lines_by_id: dict[str, int] = {}
    for line, cells in papers:
        of_row: list[str] = []
        row = _row(cells, facets, types, of_row)
        if known is not None and row.paper_id and row.paper_id not in known:
            of_row.append(_unknown_paper(row.paper_id))
        if row.paper_id in lines_by_id:
            of_row.append(f"paper {row.paper_id!r} is on line {lines_by_id[row.paper_id]} already")
        lines_by_id.setdefault(row.paper_id, line)
        rows.append(row)
        for fault in of_row:
            faults.add(fault, line=line)
    faults.raise_if_any()
    return tuple(rows)


def _row(text: Mapping[str, str], facets: Sequence[str], types: Sequence[str], faults: list[str]) -> SheetRow:
    """Row in these cells; its faults are added to `faults`."""
    paper_type = next((name for name in types if name.lower() == text["type"].lower()), None)
    if text["type"] and paper_type is None:
        faults.append(f"type: found {text['type']!r}, " + near(text["type"].lower(), types))
    rating = _number(text["rating"])
    if text["rating"] and rating not in RATINGS:
        faults.append(f"rating: found {text['rating']!r}, expected a whole number from 1 to 5")
    if bool(text["type"]) != bool(text["rating"]):
        filled, missing = ("type", "rating") if text["type"] else ("rating", "type")
        faults.append(f"found a {filled} and no {missing}, expected both or neither")
    if not text["paper_id"]:
        faults.append("paper_id is empty")
    year, period = _year_and_period(text["year"], text["period"], faults)
    named = [part.strip() for part in re.split("[,;|]", text["facets"]) if part.strip()]
    faults += [f"facets: found {facet!r}, " + near(facet, facets) for facet in named if facet not in facets]
    return SheetRow(
        paper_id=text["paper_id"],
        title=text["title"],
        year=year,
        period=period,
        type=paper_type,
        rating=rating,
        facets=tuple(facet for facet in facets if facet in named),
        note=text["note"],
        abstract=text["abstract"],
    )


def _year_and_period(year_cell: str, period_cell: str, faults: list[str]) -> tuple[int | None, str]:
    year = _number(year_cell)
    if year_cell and year is None:
        faults.append(f"year: found {year_cell!r}, expected a year such as 1999, or nothing")
    period = re.fullmatch(r"([0-9]{4})\s*[-–]\s*([0-9]{4})", period_cell)
    if period is None:
        faults.append(f"period: found {period_cell!r}, expected two years such as 1994-1999")
        return year, period_cell
    if year is not None and not int(period[1]) <= year <= int(period[2]):
        faults.append(f"period: found {period[1]}-{period[2]}, expected one that contains {year}")
    return year, f"{period[1]}-{period[2]}"


def _number(text: str) -> int | None:
    """A whole number, also as `3.0` or `3,0`: spreadsheets show it so when a cell was formatted as a number."""
    if re.fullmatch(r"[0-9]{1,9}(?:[.,]0+)?", text):
        return int(re.split("[.,]", text)[0])
    return None


def _explains(cells: Mapping[str, str]) -> bool:
    """True if a row explains the sheet: it has one cell with the mark, and others only in the lead's columns."""
    filled = [cell for heading, cell in cells.items() if cell and heading not in _FILLED_IN]
    return len(filled) == 1 and filled[0].startswith(_COMMENT_MARK)


def _unknown_paper(paper_id: str) -> str:
    fault = f"paper {paper_id!r} is not in the corpus"
    if re.fullmatch(r"[0-9]+([.,][0-9]+)?E\+?[0-9]+", paper_id, re.IGNORECASE):
        fault += "; a spreadsheet turned its id into a number: import the column paper_id as text"
    return fault


# ----------------------------------------------------------------------------------------------------------------------
# Drawing papers at random from each period: step 1 of CSFCube's selection of query papers (guidelines, 1.4).
#
# And topics of ad-hoc search made into queries by example, as Aspire made TRECCOVID-RF of TREC-COVID (Mysore, Cohan
# and Hope, NAACL 2022, appendix on evaluation data): an abstract of the highest grade becomes the query; the topic's
# other relevant papers are relevant to it, and papers relevant to other topics alone are not.
# ----------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PeriodSample:
    """Papers drawn from one period."""

    start: int
    """First year of the period."""
    end: int
    """Last year of the period, which belongs to it."""
    available: int
    """Number of papers of the corpus from this period."""
    wanted: int
    paper_ids: tuple[str, ...]
    """Papers in the order drawn: a larger draw from the same papers begins with a smaller one."""

    @property
    def period(self) -> str:
        """The period as sheets name it, such as `1994-1999`."""
        return f"{self.start}-{self.end}"

    @property
    def short(self) -> bool:
        """True if the period has fewer papers than wanted: then all of them are drawn."""
        return self.available < self.wanted


@dataclass(frozen=True, slots=True)
class Sample:
    """The draw from every period, and how many papers could not take part."""

    periods: tuple[PeriodSample, ...]
    undated: int
    """Papers without a year."""
    outside: int
    """Papers of a year in no period."""


PERIODS = 5
"""Number of periods, as in CSFCube."""
EARLIEST = 1000
"""A year with fewer digits is a slip."""
ODD = 200
"""Share of odd years: one paper in this number, at either end of the years, does not move the periods."""


def periods_of(years: Mapping[int, int]) -> tuple[tuple[int, int], ...]:
    """Five periods of equal length, or fewer if there are fewer years; earlier ones are a year longer if needed.

    years: number of papers of each year. A few papers of odd years are in no period, and none is without papers.

    >>> periods_of(dict.fromkeys(range(1994, 2020), 9))
    ((1994, 1999), (2000, 2004), (2005, 2009), (2010, 2014), (2015, 2019))
    """
    used_years = sorted(year for year, papers in years.items() if year >= EARLIEST and papers)
    if not used_years:
        return ()
    odd = sum(years[year] for year in used_years) // ODD
    first_year, last_year = _year_beyond(used_years, years, odd), _year_beyond(used_years[::-1], years, odd)
    number = min(PERIODS, last_year - first_year + 1)
    length, longer = divmod(last_year - first_year + 1, number)
    starts = list(accumulate((length + (place < longer) for place in range(number)), initial=first_year))
    periods = [(start, following - 1) for start, following in pairwise(starts)]
    return tuple((start, end) for start, end in periods if any(start <= year <= end for year in used_years))


def _year_beyond(years: Sequence[int], papers: Mapping[int, int], odd: int) -> int:
    """The first of these years with which more than `odd` papers are passed."""
    passed = accumulate(papers[year] for year in years)
    return next(year for year, so_far in zip(years, passed, strict=True) if so_far > odd)


def sample(
    years: Iterable[tuple[str, int | None]], *, periods: Sequence[tuple[int, int]], per_period: int, seed: int
) -> Sample:
    """Draw `per_period` papers at random from each period, or all if there are fewer.

    `years`: id and year of each paper of the corpus, in any order. `periods`: first and last year of each.
    The draw of a period follows from the seed, its two years and its own papers alone.
    Raises InputError for periods that run backwards or overlap, and for an id given twice.
    """
    _check(periods)
    members: dict[tuple[int, int], list[str]] = {period: [] for period in periods}
    paper_ids: set[str] = set()
    doubled: set[str] = set()
    undated = outside = 0
    for paper_id, year in years:
        (doubled if paper_id in paper_ids else paper_ids).add(paper_id)
        if year is None:
            undated += 1
            continue
        home = next(((start, end) for start, end in periods if start <= year <= end), None)
        if home is None:
            outside += 1
        else:
            members[home].append(paper_id)
    if doubled:
        raise InputError("papers are named twice", faults=sorted(doubled))
    periods_drawn = tuple(
        PeriodSample(start, end, len(ids), per_period, _draw(ids, f"{start}-{end}", per_period, seed))
        for (start, end), ids in members.items()
    )
    return Sample(periods_drawn, undated, outside)


def _draw(paper_ids: list[str], period: str, count: int, seed: int) -> tuple[str, ...]:
    ordered = sorted(paper_ids)
    shuffled = generator(seed, "query-sample", period).permutation(len(ordered))
    return tuple(ordered[place] for place in shuffled[:count])


def _check(periods: Sequence[tuple[int, int]]) -> None:
    faults = [f"{start}-{end}: ends before it begins" for start, end in periods if start > end]
    ordered = sorted(periods)
    for (start, end), (later_start, later_end) in pairwise(ordered):
        if later_start <= end:
            faults.append(f"{start}-{end} and {later_start}-{later_end} share years")
    if faults:
        raise InputError(
            "the periods of annot.toml cannot be used", faults=faults, hint="correct `[queries] periods` in annot.toml"
        )


QUERY_GRADE = 2
"""A paper of this grade can be its topic's query."""


def topics_as_papers(qrels: Iterable[Qrel], *, per_topic: int, seed: int) -> tuple[Qrel, ...]:
    """Binary qrels whose query ids are papers: `per_topic` of each topic, drawn among those of grade 2, from the seed.

    A topic with fewer gives all of them. A paper that was drawn for one topic is not drawn for another. A document of
    grade 1 or 2 for any topic is a candidate of every query; it is relevant (1) if its own topic has it as relevant.
    Raises InputError when no topic has a paper of grade 2.
    """
    grades = nested(qrel for qrel in qrels if qrel.relevance > 0)
    candidates = sorted({doc_id for documents in grades.values() for doc_id in documents})
    used: set[str] = set()
    binary: list[Qrel] = []
    for topic in sorted(grades):
        free = sorted(doc_id for doc_id, grade in grades[topic].items() if grade >= QUERY_GRADE and doc_id not in used)
        order = generator(seed, "topic", topic).permutation(len(free))
        for place in order[:per_topic]:
            query = free[place]
            used.add(query)
            binary += (Qrel(query, doc_id, int(doc_id in grades[topic])) for doc_id in candidates if doc_id != query)
    if not binary:
        raise InputError(f"no topic has a document of grade {QUERY_GRADE}, expected TREC-COVID's grades 0, 1, 2")
    return tuple(sorted(binary))


# ----------------------------------------------------------------------------------------------------------------------
# Choosing queries from the rated papers, as even as possible over periods, types and facets (guidelines, 1.4).
# ----------------------------------------------------------------------------------------------------------------------


Key = tuple[str, str]
"""Key of a count: the kind (`period`, `type` or `facet`) and its value."""


def keys_of(paper: SheetRow, facets: Sequence[str]) -> tuple[Key, ...]:
    """All that a choice of this paper for `facets` adds one to."""
    return (("period", paper.period), ("type", str(paper.type)), *(("facet", facet) for facet in facets))


def even_choice(
    candidates: Sequence[SheetRow], *, singles: int, doubles: int, rng: np.random.Generator
) -> tuple[dict[str, tuple[str, ...]], Counter[Key]]:
    """Facets of `singles` papers with one each and `doubles` papers with two, as evenly as can be, and their counts.

    There must be `doubles` candidates with two facets or more and `singles` others besides. Every candidate has at
    least one facet. Among the most even choices, and among papers that count alike, `rng` decides.
    """
    from scipy.optimize import Bounds, LinearConstraint, milp

    shuffled = [candidates[index] for index in rng.permutation(len(candidates))]
    alike = grouped(((paper.period, str(paper.type), paper.facets), paper) for paper in shuffled)
    groups = [alike[key] for key in sorted(alike)]
    options = [
        (index, facets)
        for index, group in enumerate(groups)
        for size in (1, 2)
        for facets in combinations(group[0].facets, size)
    ]
    keys = sorted({key for group in groups for key in keys_of(group[0], group[0].facets)})
    papers = singles + doubles
    steps = [(key, step) for key in keys for step in range(papers + doubles if key[0] == "facet" else papers)]
    # Of each option how many papers, then of each count whether it reaches that step.
    rows = np.zeros((len(groups) + 2 + len(keys), len(options) + len(steps)))
    for column, (index, facets) in enumerate(options):
        rows[index, column] = 1
        rows[len(groups) + len(facets) - 1, column] = 1
        for key in keys_of(groups[index][0], facets):
            rows[len(groups) + 2 + keys.index(key), column] = 1
    for column, (key, _) in enumerate(steps, start=len(options)):
        rows[len(groups) + 2 + keys.index(key), column] = -1
    sizes = [len(group) for group in groups]
    exact = [singles, doubles, *(0 for _ in keys)]
    # The imbalance changes by two at least, so that less than one in all decides only among the most even choices.
    chance = rng.integers(0, 1000, len(options)) / (1000 * (papers + 1))
    solved = milp(
        [*chance, *(2 * step + 1 for _, step in steps)],
        integrality=[1] * len(options) + [0] * len(steps),
        bounds=Bounds(0, [sizes[index] for index, _ in options] + [1] * len(steps)),
        constraints=LinearConstraint(rows, [-np.inf] * len(groups) + exact, sizes + exact),
        options={"mip_rel_gap": 0},
    )
    free = [iter(group) for group in groups]
    chosen: dict[str, tuple[str, ...]] = {}
    counts: Counter[Key] = Counter()
    for (index, facets), number in zip(options, np.rint(solved.x).astype(int), strict=False):
        for _ in range(number):
            candidate = next(free[index])
            chosen[candidate.paper_id] = facets
            counts.update(keys_of(candidate, facets))
    return chosen, counts


@dataclass(frozen=True, slots=True)
class ChosenShare:
    """Share of one period, type or facet in the choice."""

    value: str
    chosen: int
    available: int
    """Number of eligible papers with this value."""


@dataclass(frozen=True, slots=True)
class Distribution:
    """Distribution of the choice over its candidates. Periods and types count papers, facets count queries."""

    queries: int
    papers: int
    two_facet_papers: int
    two_facet_papers_wanted: int
    eligible: int
    """Papers that could have been chosen."""
    by_period: tuple[ChosenShare, ...]
    by_type: tuple[ChosenShare, ...]
    by_facet: tuple[ChosenShare, ...]
    left_out: tuple[tuple[str, int], ...]
    """Reasons why papers of the sheet were not eligible, with their numbers."""
    imbalance: int
    """Sum of the squared counts of all periods, types and facets: no choice of this size has a smaller one."""


def choose(
    rated: Iterable[SheetRow],
    *,
    count: int,
    min_rating: int | None,
    two_facet_share: float,
    offered: Mapping[str, Sequence[str]],
    facets: Sequence[str],
    seed: int,
) -> tuple[tuple[tuple[str, str], ...], Distribution]:
    """Choose `count` queries, each a paper and one of its facets, from the rated papers of a sheet: by period, then
    paper, then facet, with their spread.

    Left out: surveys, papers rated below `min_rating` or not yet rated, and papers without a facet. Where `min_rating`
    is None, papers are taken unrated, and have no type. A paper gives one
    query or two, of different facets; `two_facet_share` (0 to 1) is the wanted share of papers that give two, kept as
    nearly as the eligible papers allow. `offered`: for each paper the facets it has sentences for; a facet of the
    sheet that is not among them is a fault. Among the choices of that size, the sum over periods, types and facets of
    the squared counts is the least possible (see `annot.pools.selection`); among equals the seed decides.
    Raises InputError when the eligible papers cannot give `count` queries, with the papers to rate first.
    """
    rows = list(rated)
    if count < 1:
        raise InputError(f"found {count} queries to choose, expected at least 1")
    if not 0 <= two_facet_share <= 1:
        raise InputError(f"the share of papers with two facets: found {two_facet_share}, expected 0 to 1")
    left_out: Counter[str] = Counter()
    eligible: list[SheetRow] = []
    faults: list[str] = []
    for row in sorted(rows, key=lambda row: row.paper_id):
        reason = _reason(row, min_rating)
        if reason is not None:
            left_out[reason] += 1
            continue
        eligible.append(row)
        faults += [
            f"paper {row.paper_id}: no sentence of facet {facet!r}, expected one of: "
            + (", ".join(offered.get(row.paper_id, ())) or "none")
            for facet in row.facets
            if facet not in offered.get(row.paper_id, ())
        ]
    if faults:
        raise InputError("the sheet names facets that its papers have no sentences for: remove them", faults=faults)
    wanted_doubles, capable = _doubles_wanted(count, two_facet_share), _capable(eligible)
    if count > len(eligible) + capable:
        raise _too_few(rows, eligible, count=count, papers=count - wanted_doubles, min_rating=min_rating)
    doubles = max(count - len(eligible), min(wanted_doubles, capable, count // 2))
    facets_of, counts = even_choice(
        eligible, singles=count - 2 * doubles, doubles=doubles, rng=generator(seed, "query-choose", str(count))
    )
    period_of = {row.paper_id: row.period for row in eligible}
    chosen = [(paper_id, facet) for paper_id, its_facets in facets_of.items() for facet in its_facets]
    chosen.sort(key=lambda query: (period_of[query[0]], query[0], facets.index(query[1])))
    distribution = Distribution(
        queries=len(chosen),
        papers=len(facets_of),
        two_facet_papers=doubles,
        two_facet_papers_wanted=wanted_doubles,
        eligible=len(eligible),
        by_period=_shares("period", sorted({row.period for row in eligible}), eligible, counts),
        by_type=_shares("type", sorted({row.type for row in eligible if row.type}), eligible, counts),
        by_facet=_shares("facet", facets, eligible, counts),
        left_out=tuple(sorted(left_out.items())),
        imbalance=sum(number**2 for number in counts.values()),
    )
    return tuple(chosen), distribution


def _reason(row: SheetRow, min_rating: int | None) -> str | None:
    """Reason why a row is not eligible, or None."""
    if min_rating is not None:
        if row.type is None or row.rating is None:
            return "not rated"
        if row.type == "survey":
            return "survey"
        if row.rating < min_rating:
            return f"rated below {min_rating}"
    return None if row.facets else "no facet"


def _capable(rows: Iterable[SheetRow]) -> int:
    """Number of papers that can give two queries."""
    return sum(len(row.facets) >= 2 for row in rows)


def _doubles_wanted(count: int, share: float) -> int:
    """Number of papers that should give two queries.

    With p papers, d of them giving two, d = share * p and p + d = count, so d = count * share / (1 + share).
    """
    return int(count * share / (1 + share) + 0.5)


def papers_enough(papers: int, *, two_facet_share: float) -> int:
    """The smallest number of queries for which `choose` takes at least this many papers.

    >>> papers_enough(6, two_facet_share=0.5), papers_enough(6, two_facet_share=0)
    (9, 6)
    """
    chosen = ((n, n - min(_doubles_wanted(n, two_facet_share), n // 2)) for n in range(papers, 2 * papers + 1))
    return next(n for n, of_papers in chosen if of_papers >= papers)


def _too_few(
    rows: Sequence[SheetRow], eligible: Sequence[SheetRow], *, count: int, papers: int, min_rating: int | None
) -> InputError:
    """Error with the papers to rate first, if `count` queries cannot be chosen: `papers` are needed in all."""
    capable = _capable(eligible)
    problem = (
        f"{count} queries cannot be chosen: found {counted(len(eligible), 'eligible paper')}, {capable} of them with "
        f"two facets or more, which give at most {len(eligible) + capable}"
    )
    if min_rating is None:
        return InputError(problem, hint="draw more papers with --per-period, or choose fewer")
    rate_first = _first_to_rate(rows, eligible, max(1, papers - len(eligible)))
    if not rate_first:
        return InputError(
            problem,
            hint="draw more papers with --per-period, lower min_rating in annot.toml, or choose fewer",
        )
    if not any(row.rating for row in rows):
        problem = f"{count} queries cannot be chosen yet: none of the {len(rows)} papers of the sheet is rated"
    return InputError(
        problem,
        faults=[f"rate first, from {period}: {', '.join(ids)}" for period, ids in sorted(rate_first.items())],
        hint=f"if a rating is below {min_rating}, rate more papers; or choose without ratings, which is recorded: "
        f"`annot query sample --choose {count}`",
    )


def _first_to_rate(rows: Sequence[SheetRow], eligible: Sequence[SheetRow], number: int) -> dict[str, list[str]]:
    """Ids of papers that are not rated, by period, in the order of the sheet: those that even the periods out."""
    waiting = grouped(
        (row.period, row.paper_id) for row in rows if row.facets and (row.type is None or row.rating is None)
    )
    counts = Counter(row.period for row in eligible)
    to_rate: dict[str, list[str]] = {}
    for _ in range(number):
        open_periods = [period for period in sorted(waiting) if waiting[period]]
        if not open_periods:
            break
        period = min(open_periods, key=lambda name: counts[name])
        to_rate.setdefault(period, []).append(waiting[period].pop(0))
        counts[period] += 1
    return to_rate


def _shares(
    kind: str, values: Iterable[str], papers: Sequence[SheetRow], counts: Mapping[Key, int]
) -> tuple[ChosenShare, ...]:
    available = Counter(key for paper in papers for key in keys_of(paper, paper.facets))
    return tuple(ChosenShare(value, counts.get((kind, value), 0), available[kind, value]) for value in values)
