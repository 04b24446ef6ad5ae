"""Drawing papers at random from each period: step 1 of CSFCube's selection of query papers (guidelines, 1.4).

And topics of ad-hoc search made into queries by example, as Aspire made TRECCOVID-RF of TREC-COVID (Mysore, Cohan and
Hope, NAACL 2022, appendix on evaluation data): an abstract of the highest grade becomes the query; the topic's other
relevant papers are relevant to it, and papers relevant to other topics alone are not.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from annot.base.errors import InputError
from annot.base.records import Qrel, nested
from annot.base.stats.seeding import generator


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
    first_year, last_year = _beyond(used_years, years, odd), _beyond(used_years[::-1], years, odd)
    number = min(PERIODS, last_year - first_year + 1)
    length, longer = divmod(last_year - first_year + 1, number)
    starts = list(accumulate((length + (place < longer) for place in range(number)), initial=first_year))
    periods = [(start, following - 1) for start, following in pairwise(starts)]
    return tuple((start, end) for start, end in periods if any(start <= year <= end for year in used_years))


def _beyond(years: Sequence[int], papers: Mapping[int, int], odd: int) -> int:
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
