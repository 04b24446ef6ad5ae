"""Designs of draws, and the topics of pools: papers and texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, NamedTuple, get_args

from annot.base.errors import InputError
from annot.base.names import check_name
from annot.base.records import CITED, Paper, Pool, Topic
from annot.base.settings import DrawMode, Settings
from annot.corpus.corpus_facts import papers_of
from annot.pools.pooling import pool_in_version
from annot.ranking import corpus, given_vectors, submission, vectors
from annot.ranking.methods import known_methods
from annot.study.snapshot import Snapshot
from annot.study.workspace import Workspace

# ----------------------------------------------------------------------------------------------------------------------
# Designs of draws: those on record, those of annot.toml, and changes on the command line.
# ----------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PoolDesign:
    """Design of a pool: all that it follows from but the rankings."""

    mode: str
    per_method: int
    ranking_depth: int
    seed: int
    methods: tuple[str, ...]
    """The methods that take part, `cited` among them; in no order that matters."""
    without: tuple[str, ...]

    @property
    def ranked_methods(self) -> tuple[str, ...]:
        """The methods that have a ranking."""
        return tuple(name for name in self.methods if name != CITED)


@dataclass(frozen=True, slots=True, kw_only=True)
class DesignOverrides:
    """Parts of a design that the command line changes; None changes nothing."""

    mode: str | None = None
    per_method: int | None = None
    ranking_depth: int | None = None
    seed: int | None = None
    methods: tuple[str, ...] | None = None
    without: tuple[str, ...] | None = None


AS_PLANNED = DesignOverrides()
"""No changes."""


def design_of_settings(settings: Settings) -> PoolDesign:
    """Design in annot.toml. Raises InputError for a method that it leaves out and does not have."""
    pool = settings.pool
    for name in pool.without:
        check_name(name, pool.methods, what="method to leave out")
    taking_part = tuple(name for name in pool.methods if name not in pool.without)
    without = tuple(sorted(pool.without))
    return PoolDesign(pool.mode, pool.per_method, pool.ranking_depth, settings.seed, taking_part, without)


def leave_out(design: PoolDesign, names: Iterable[str]) -> PoolDesign:
    """The design, but those of its methods that are named are left out, and on record so."""
    left_out = {*names} & {*design.methods}
    staying = tuple(name for name in design.methods if name not in left_out)
    return replace(design, methods=staying, without=tuple(sorted({*design.without, *left_out})))


def recorded_designs(pools: Iterable[Pool]) -> dict[str, PoolDesign]:
    """Designs of drawn pools by topic, without later additions; an imported pool has none."""
    designs = {}
    for pool in (pool_in_version(pool, 1) for pool in pools):
        if pool.per_method is not None and pool.ranking_depth is not None and pool.seed is not None:
            numbers = pool.per_method, pool.ranking_depth, pool.seed
            designs[pool.topic_id] = PoolDesign(
                pool.mode, *numbers, methods=tuple(sorted(pool.methods)), without=tuple(sorted(pool.without))
            )
    return designs


def usual_design(designs: Mapping[str, PoolDesign]) -> PoolDesign | None:
    """Design of most pools: a query that is added gets a pool like the others. None if there is none."""
    return Counter(designs[topic_id] for topic_id in sorted(designs)).most_common()[0][0] if designs else None


def apply_overrides(design: PoolDesign, by: DesignOverrides) -> PoolDesign:
    """Design with the changes of the command line. Raises InputError for an unknown mode or method, or when no method
    is left."""
    if (by.mode or design.mode) not in get_args(DrawMode):
        raise InputError(f"mode {by.mode!r}: expected one of {', '.join(get_args(DrawMode))}")
    methods, left_out = design.methods, design.without
    if by.methods is not None:
        methods = tuple(dict.fromkeys(by.methods))
        left_out = tuple(name for name in left_out if name not in methods)
    if by.without is not None:
        named_methods = (*methods, *left_out)
        for name in by.without:
            check_name(name, named_methods, what="method to leave out")
        left_out = tuple(sorted(by.without))
        methods = tuple(name for name in named_methods if name not in left_out)
    if not methods:
        raise InputError(
            "no method is left to draw with", hint="check `[pool] methods` and `without` in annot.toml, and --without"
        )
    changes = {name: value for name, value in asdict(by).items() if value is not None}
    return replace(design, **{**changes, "methods": methods, "without": left_out})


def design_differences(recorded: PoolDesign, settings: PoolDesign) -> tuple[tuple[str, str, str], ...]:
    """Settings in which two designs differ, as text: (name, on record, in annot.toml)."""
    differing = []
    for name in (field.name for field in fields(PoolDesign) if field.name != "without"):
        pair = (getattr(recorded, name), getattr(settings, name))
        if name == "methods":
            # Papers that these pools lack were left out on purpose.
            pair = (", ".join(sorted(pair[0])), ", ".join(sorted(set(pair[1]) - set(recorded.without))))
        if pair[0] != pair[1]:
            differing.append((name, str(pair[0]), str(pair[1])))
    return tuple(differing)


# ----------------------------------------------------------------------------------------------------------------------
# Topics of pools: papers of the corpus, and texts.
# ----------------------------------------------------------------------------------------------------------------------


class Topics(NamedTuple):
    """Topics by id."""

    papers: dict[str, Paper]
    texts: dict[str, Topic]

    @property
    def ids(self) -> list[str]:
        """Ids of all topics, in order."""
        return sorted((*self.papers, *self.texts))

    @property
    def citations(self) -> dict[str, Sequence[str] | None]:
        """Citations of each topic; None of a text."""
        return {name: self.papers[name].citations if name in self.papers else None for name in self.ids}

    def only(self, names: Collection[str]) -> Topics:
        """Topics of these ids."""
        papers = {name: paper for name, paper in self.papers.items() if name in names}
        return Topics(papers, {name: topic for name, topic in self.texts.items() if name in names})


def topics_of(ws: Workspace, topic_ids: Iterable[str], texts: Mapping[str, Topic]) -> Topics:
    """Topics of these ids. texts: those that are texts; any other is a paper. Raises MissingInput for papers that are
    not in the corpus."""
    names = set(topic_ids)
    return Topics(papers_of(ws, names - texts.keys()), {name: topic for name, topic in texts.items() if name in names})


def text_by_field(topic: Topic) -> dict[corpus.Field, str]:
    """Text of a topic for each field of the papers: its title, and its title with its description."""
    return {"title": topic.title, "abstract": " ".join(part for part in (topic.title, topic.description) if part)}


def encoded_texts(topics: Mapping[str, Topic]) -> dict[str, str]:
    """Texts that an encoder reads, by topic."""
    return {topic_id: text_by_field(topic)["abstract"] for topic_id, topic in topics.items()}


def unranked_texts(
    ws: Workspace,
    methods: Iterable[str],
    topics: Mapping[str, Topic],
    *,
    frozen: Mapping[str, Collection[str]] | None = None,
) -> dict[str, set[str]]:
    """Topics that are texts and that a method cannot rank for, by method: a text has no citations, and it has a vector
    only if the set of the method includes it. Methods that rank for all are left out.

    frozen: these topics on record, for rankings that are drawn from as they are, whichever sets of vectors exist now.
    """
    without_sets = {*known_methods(ws.settings.plugins.names), *submission.imported_methods(ws)}

    def lacking(name: str) -> set[str]:
        if name == CITED:
            return set(topics)
        if frozen is not None:
            return topics.keys() & set(frozen.get(name, ()))
        # Where there is no set of this name, ranking says so and what to do.
        is_set = name not in without_sets and (ws.vectors / name).is_dir()
        return vectors.topics_without(given_vectors.vectors_of(ws, name), encoded_texts(topics)) if is_set else set()

    return {name: missing for name in methods if topics and (missing := lacking(name))}


def design_for_text(design: PoolDesign, topic_id: str, left_out: Mapping[str, Collection[str]]) -> PoolDesign:
    """The design without the methods that cannot rank for this text, which are on record as left out.

    left_out: by method, the texts that it cannot rank for. Raises InputError if no method stays.
    """
    reduced = leave_out(design, [name for name, topic_ids in left_out.items() if topic_id in topic_ids])
    if not reduced.methods:
        raise InputError(
            f"{topic_id}: no method is left that can rank for a text",
            hint="name one that can, such as abs_bm25, with --method or in `[pool] methods` of annot.toml",
        )
    return reduced


# ----------------------------------------------------------------------------------------------------------------------
# The design of each topic of a study, and notes on the designs.
# ----------------------------------------------------------------------------------------------------------------------


class Designs:
    """Designs of pools to draw: as on record; for new topics as most pools; without a record as in annot.toml.

    The changes of the command line apply to each of them. A method without its vectors takes part only in pools that it
    drew before, unless the command line names it.
    """

    def __init__(
        self,
        snapshot: Snapshot,
        overrides: DesignOverrides,
        *,
        redraw: bool,
        frozen: Mapping[str, Collection[str]] | None,
    ):
        """redraw: ignore the designs on record. frozen: the topics that the rankings on disk lack, by method, if these
        are drawn from: then a method with a ranking needs no vectors."""
        ws = snapshot.ws
        self._ws, self._texts, self._overrides = ws, snapshot.texts, overrides
        self._of_settings = design_of_settings(ws.settings)
        self._frozen = frozen
        self._recorded = {} if redraw else recorded_designs(snapshot.pools.values())
        self._usual, self._usual_of_texts = (
            usual_design({name: design for name, design in self._recorded.items() if (name in self._texts) is text})
            for text in (False, True)
        )
        self._absent = set(given_vectors.absent_by_default(ws))
        if frozen is not None:
            self._absent -= {path.stem for path in ws.rankings.glob("*.run")}
        self._of_new = (
            self._changed(self._of_settings, ())
            if self._usual is None
            else self._changed(self._usual, self._usual.methods)
        )

    def _changed(self, design: PoolDesign, drew: Collection[str]) -> PoolDesign:
        """drew: methods by which pools on record were drawn; they are never left out for want of vectors."""
        changed = apply_overrides(design, self._overrides)
        return changed if self._overrides.methods else leave_out(changed, self._absent - {*drew})

    def _design_of_topic(self, topic_id: str) -> PoolDesign:
        design = self._recorded.get(topic_id, self._usual_of_texts if topic_id in self._texts else None)
        return self._of_new if design is None else self._changed(design, design.methods)

    def of_topics(self, topics: Topics) -> tuple[dict[str, PoolDesign], dict[str, set[str]]]:
        """Design of each topic, and the texts that a method cannot rank for, by method; their designs lack it."""
        designs = {topic_id: self._design_of_topic(topic_id) for topic_id in topics.ids}
        methods = dict.fromkeys(method for topic_id in topics.texts for method in designs[topic_id].methods)
        left_out = unranked_texts(self._ws, methods, topics.texts, frozen=self._frozen)
        for topic_id in topics.texts:
            designs[topic_id] = design_for_text(designs[topic_id], topic_id, left_out)
        return designs, left_out

    def words(self, not_for_texts: Mapping[str, Iterable[str]]) -> dict[str, Any]:
        """Values for the notes: methods left out, and settings in which pools on record differ from annot.toml.

        Methods are left out by annot.toml, the command line or the pools on record (`left_out`), in first pools because
        their vectors are absent (`absent`), or only for new topics that are texts (`not_for_texts`). Settings that the
        command line names do not differ.
        """
        on_request = {*self._ws.settings.pool.without, *(self._overrides.without or ())}
        without = self._of_new.without
        new = {
            method: sorted(topic_id for topic_id in topic_ids if topic_id not in self._recorded)
            for method, topic_ids in not_for_texts.items()
        }
        differing = design_differences(self._usual, self._of_settings) if self._usual else ()
        return {
            "left_out": [name for name in without if name in on_request or name not in self._absent],
            "absent": [name for name in without if name in self._absent - on_request and not self._recorded],
            "not_for_texts": {method: topic_ids for method, topic_ids in new.items() if topic_ids},
            "differing": [pair for pair in differing if getattr(self._overrides, pair[0]) is None],
        }
