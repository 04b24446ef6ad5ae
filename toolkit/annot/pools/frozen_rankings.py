"""Rankings that pools are drawn from, kept on disk, and the papers they were made of."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import groupby, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import Any, NamedTuple

from annot.base.errors import AnnotError, InputError, MissingInput
from annot.base.plugins import versions_of
from annot.base.records import CITED, Advance, Paper, PlacedDoc, Pool, Ranking, ScoredDoc, grouped, nested
from annot.corpus.corpus_facts import corrections, current_sha256
from annot.formats.trec import read_run, run_lines, write_run
from annot.pools.pool_design import PoolDesign
from annot.pools.pooling import of_version, rankings_behind
from annot.ranking.corpus import UNICODE, Field
from annot.ranking.index import open_index
from annot.ranking.methods import LSA, method_named, rank_all, without_papers
from annot.ranking.submission import imported_methods, ranking_file, read_imported
from annot.store import papers
from annot.store.papers import beginnings, paper_ids
from annot.study.workspace import Workspace, read_manifest, text_of, write_file, write_manifest

# ----------------------------------------------------------------------------------------------------------------------
# The rankings that pools are drawn from: made by every method, and kept on disk exactly as their manifest has them.
# ----------------------------------------------------------------------------------------------------------------------


MANIFEST = "manifest.json"
NOT_RANKED = "not_ranked"
"""Key of the manifest: for each method, the topics that it did not rank."""
CORPORA = "corpora"
"""Key of the manifest: for each topic, the SHA-256 of the corpus in which it was ranked, if texts were corrected
before."""
HINT = "make new rankings with `annot pool`, without --frozen"

Rankings = dict[str, dict[str, Ranking]]
"""Rankings by method, then by topic."""
Lines = dict[str, dict[str, str]]
"""Lines of run files by method, then by topic."""


def rankings_manifest(ws: Workspace) -> Path:
    """The manifest of the rankings."""
    return ws.rankings / MANIFEST


def needed_topics(designs: Mapping[str, PoolDesign], pools: Mapping[str, Pool]) -> dict[str, list[str]]:
    """Topics whose pools follow from the ranking of each method.

    designs: of the pools that are drawn; pools: those on record, whose additions are kept.
    """
    drawing = {topic_id: design.ranked_methods for topic_id, design in designs.items()}
    later = {
        topic_id: [name for addition in pool.additions for name in rankings_behind(pool, addition)]
        for topic_id, pool in pools.items()
    }
    topics_of_method = grouped(
        (method, topic_id)
        for topic_id in dict.fromkeys((*designs, *pools))
        for method in dict.fromkeys((*drawing.get(topic_id, ()), *later.get(topic_id, ())))
    )
    return dict(sorted(topics_of_method.items()))


def read_rankings(ws: Workspace, topics_by_method: Mapping[str, Collection[str]]) -> Rankings:
    """Rankings on disk.

    Raises MissingInput for missing rankings, InputError for a file that is not the one in its manifest: pools drawn
    from it could never be drawn again.
    """
    manifest = _manifest(ws)
    absent = sorted(set[str]().union(*topics_by_method.values()) - set(manifest["topics"]))
    absent += [
        f"{topic_id} by {method}"
        for method, topic_ids in topics_by_method.items()
        for topic_id in topic_ids
        if topic_id in manifest.get(NOT_RANKED, {}).get(method, ())
    ]
    if absent:
        raise MissingInput(f"{ws.rankings}: no rankings for these query papers: {', '.join(absent)}", hint=HINT)
    return {method: _read(ws, method, manifest, topic_ids) for method, topic_ids in topics_by_method.items()}


def not_ranked(ws: Workspace) -> dict[str, list[str]]:
    """Topics that the rankings on disk lack, by method, because the method cannot rank for them."""
    return dict(_manifest(ws).get(NOT_RANKED, {}))


def method_settings(ws: Workspace) -> dict[str, Any]:
    """Settings of each method's ranking on disk; empty if there are no rankings."""
    return dict(_manifest(ws).get("methods", {})) if rankings_manifest(ws).is_file() else {}


def lines_of(rankings: Mapping[str, Mapping[str, Ranking]]) -> Lines:
    """Lines of TREC runs for these rankings."""
    return {method: run_lines(by_topic, tag=method) for method, by_topic in rankings.items()}


def lines_on_disk(ws: Workspace) -> Lines:
    """Lines of the run files on disk, unchecked."""
    return {path.stem: _lines_by_topic(path.read_text(encoding="utf-8")) for path in sorted(ws.rankings.glob("*.run"))}


def write_rankings(ws: Workspace, lines: Lines, *, facts: Mapping[str, Any]) -> None:
    """Write a run file for each method, and the manifest; all others go."""
    for method, by_topic in lines.items():
        write_file(
            ws.rankings / f"{method}.run", "".join(lines_of_topic for _, lines_of_topic in sorted(by_topic.items()))
        )
    for stale in ws.rankings.glob("*.run"):
        if stale.stem not in lines:
            stale.unlink()
    inputs = {"corpus": str(facts["corpus_sha256"]), **facts.get("inputs", {})}
    manifest_facts = {name: value for name, value in facts.items() if name not in ("corpus_sha256", "inputs")}
    write_manifest(rankings_manifest(ws), files=ws.rankings.rglob("*.run"), inputs=inputs, facts=manifest_facts)


def join_rankings(
    ws: Workspace, lines: Lines, *, facts: Mapping[str, Any], of_topics: bool = False
) -> tuple[Lines, dict[str, Any]]:
    """Rankings on disk with these in their place: the arguments of `write_rankings` under which the others stay.

    If a method was ranked in another corpus, the manifest records this for the method, or, with `of_topics`, for the
    topics.
    """
    if not rankings_manifest(ws).is_file():
        return lines, dict(facts)
    manifest = _manifest(ws)
    topics = list(dict.fromkeys((*manifest["topics"], *facts["topics"])))
    joined_lines = _recorded_lines(ws, manifest)
    for method, by_topic in lines.items():
        joined_lines[method] = {**joined_lines.get(method, {}), **by_topic}
    skipped = {
        method: missing
        for method in sorted(joined_lines)
        if (missing := [topic_id for topic_id in topics if topic_id not in joined_lines[method]])
    }
    methods = dict(facts["methods"])
    _refuse_other_tokens(manifest, facts)
    inputs = manifest.get("inputs", {})
    corpora = {name: sha256 for name, sha256 in manifest.get(CORPORA, {}).items() if name not in facts["topics"]}
    if of_topics and inputs.get("corpus") != facts["corpus_sha256"]:
        corpora |= dict.fromkeys(facts["topics"], facts["corpus_sha256"])
    elif inputs.get("corpus") != facts["corpus_sha256"]:
        methods = {name: {**settings, "corpus_sha256": facts["corpus_sha256"]} for name, settings in methods.items()}
    joined_facts = {
        "corpus_sha256": inputs.get("corpus", facts["corpus_sha256"]),
        "inputs": {name: sha256 for name, sha256 in inputs.items() if name != "corpus"} | facts.get("inputs", {}),
        "ranking_depth": max(manifest.get("ranking_depth", 1), facts["ranking_depth"]),
        "topics": topics,
        "methods": {**manifest.get("methods", {}), **methods},
    }
    optional = {NOT_RANKED: skipped, CORPORA: corpora}
    return joined_lines, joined_facts | {name: value for name, value in optional.items() if value}


def _recorded_lines(ws: Workspace, manifest: Mapping[str, Any]) -> Lines:
    """Lines of the rankings on disk; a topic that a method ranked without finding a paper has none."""
    lines: Lines = {}
    for method in manifest.get("methods", {}):
        skipped, lines_of_topic = (
            manifest.get(NOT_RANKED, {}).get(method, ()),
            _lines_by_topic(_text(ws, method, manifest)),
        )
        topics = (topic_id for topic_id in manifest["topics"] if topic_id not in skipped)
        lines[method] = {topic_id: lines_of_topic.get(topic_id, "") for topic_id in topics}
    return lines


def refuse_other_corpus(ws: Workspace, facts: Mapping[str, Any], *, corrected_only: bool) -> None:
    """Raise InputError if the rankings on disk, which are to stay next to new ones, are of another corpus.

    corrected_only: True if the corpus differs from the ranked one by recorded corrections alone.
    """
    if not rankings_manifest(ws).is_file():
        return
    recorded = str(_manifest(ws).get("inputs", {}).get("corpus"))
    if recorded != facts["corpus_sha256"] and not corrected_only:
        raise InputError(
            f"the corpus has changed since the other pools were drawn (SHA-256 {facts['corpus_sha256'][:12]}, expected "
            f"{recorded[:12]})",
            hint="draw all pools again with `annot pool`, or restore the corpus",
        )


def _refuse_other_tokens(manifest: Mapping[str, Any], facts: Mapping[str, Any]) -> None:
    """Raise InputError if the rankings that stay were made with tokens of another rule than the new ones."""
    new, recorded = facts["methods"], manifest.get("methods", {})
    others = not set(manifest["topics"]) <= set(facts["topics"])
    staying = {name: settings for name, settings in recorded.items() if others or name not in new}
    if len(_token_rules(new) | _token_rules(staying)) > 1:
        rules = [f"the rule {UNICODE!r} of other languages", "the rules of English"]
        found, expected = reversed(rules) if True in _token_rules(staying) else rules
        raise InputError(
            f"the rankings on record cut texts into words by {expected}, new ones would by {found}",
            hint="draw all pools again with `annot pool`, or set `[collection] language` in annot.toml back",
        )


def _token_rules(methods: Mapping[str, Mapping[str, Any]]) -> set[bool]:
    """True for a method that ranks by the words of other languages than English, False for one by those of English."""
    by_words = (
        settings
        for settings in methods.values()
        if "imported" not in settings and settings.get("vectors", {}).get("model", LSA) == LSA
    )
    return {settings.get("tokens") == UNICODE for settings in by_words}


def _manifest(ws: Workspace) -> dict[str, Any]:
    manifest = read_manifest(rankings_manifest(ws), hint=HINT)
    if not isinstance(manifest.get("topics"), list):
        raise InputError(f"{rankings_manifest(ws)}: found no `topics`, expected a list", hint=HINT)
    return manifest


def _read(ws: Workspace, method: str, manifest: Mapping[str, Any], topics: Iterable[str]) -> dict[str, Ranking]:
    text = _text(ws, method, manifest)
    # A topic without a usable token has an empty ranking, and so no line in the file; without any line all have.
    rankings = read_run(text.splitlines(), name=str(ws.rankings / f"{method}.run")) if text else {}
    by_topic = {topic_id: rankings.get(topic_id, ()) for topic_id in topics}
    if "/" not in method:
        return by_topic
    # A ranking of new documents alone has in its lines their ranks among all.
    ranks = nested((line[0], line[2], int(line[3])) for line in map(str.split, text.splitlines()))
    return {
        topic_id: tuple(PlacedDoc.at(ranks[topic_id][doc.doc_id], doc) for doc in ranking)
        for topic_id, ranking in by_topic.items()
    }


def _lines_by_topic(text: str) -> dict[str, str]:
    """The lines of each topic."""
    lines = text.splitlines(keepends=True)
    by_topic = groupby(lines, key=lambda line: line.partition(" ")[0])
    return {topic_id: "".join(several) for topic_id, several in by_topic}


def _text(ws: Workspace, method: str, manifest: Mapping[str, Any]) -> str:
    path = ws.rankings / f"{method}.run"
    if not path.is_file():
        raise MissingInput(f"{path}: no rankings to draw from", hint=HINT)
    return text_of(path, manifest, told_by=rankings_manifest(ws), hint=HINT)


def rank_corpus(
    ws: Workspace,
    *,
    methods: Sequence[str],
    topics: Sequence[str],
    excluded: Callable[[], Mapping[str, Collection[str]]],
    ranking_depth: int,
    keep: bool,
    advance: Advance,
    imports: Mapping[str, Mapping[str, Ranking]] = MappingProxyType({}),
    texts: Mapping[str, Mapping[Field, str]] = MappingProxyType({}),
    withdrawn: Collection[str] = (),
    new: NewDocuments | None = None,
) -> tuple[Rankings, dict[str, Any]]:
    """Best `ranking_depth` papers for each topic by every method, and the facts of `write_rankings`.

    excluded: by topic, the papers that must not rank for it, besides itself; called once the index is open. keep: make
    and keep missing parts of the index. imports: by method, rankings that are being imported and need not be kept yet.
    texts: the text of a topic to compare with each field of the papers; a method that cannot rank for a text leaves it
    out. withdrawn: documents that rank for no topic. new: rank all, but keep only these documents, each with its rank
    among all, under the names of their version. Raises MissingInput for a method that is neither ours nor imported.
    """
    imported, sha256_by_method = _imported(ws, methods, imports)

    def without() -> dict[str, set[str]]:
        banned = excluded()
        return {name: {*banned.get(name, ()), *withdrawn, *({name} - texts.keys())} for name in topics}

    computed = [name for name in methods if name not in imported]
    plugins = ws.settings.plugins.names
    rankings: Rankings = {}
    facts: dict[str, Any] = {}
    if computed:
        with TemporaryDirectory(prefix="annot-") as scratch:
            inputs, digest = open_index(ws, methods=computed, advance=advance, scratch=None if keep else Path(scratch))
            barred = without()

            def rank(names: Sequence[str], depth: int) -> Rankings:
                return rank_all(
                    inputs,
                    methods=computed,
                    paper_ids=[name for name in names if name not in texts],
                    texts={name: texts[name] for name in names if name in texts},
                    excluded=barred,
                    ranking_depth=depth,
                    advance=advance,
                    plugins=plugins,
                )

            if new is None:
                rankings = rank(topics, ranking_depth)
            else:
                rankings = _new_ones(rank, new, ranking_depth, len(inputs.corpus))
            facts = {method: method_named(method, plugins).on_record(inputs) for method in computed}
    else:
        digest, barred = current_sha256(ws, keep=False), without()
    for method, sha256 in sha256_by_method.items():
        facts[method] = {"imported": sha256}
        rankings[method] = {
            topic_id: without_papers(imported[method].get(topic_id, ()), ids, depth=ranking_depth)
            for topic_id, ids in barred.items()
        }
    skipped = {name: missing for name in sorted(computed) if (missing := sorted(texts.keys() - rankings[name].keys()))}
    files = {
        ranking_file(ws, method).relative_to(ws.root).as_posix(): sha256 for method, sha256 in sha256_by_method.items()
    }
    in_order = {method: rankings[method] for method in methods}
    rankings, facts = (in_order, facts) if new is None else new.named(in_order, facts, imported=sha256_by_method)
    return rankings, {
        "corpus_sha256": digest,
        "ranking_depth": ranking_depth,
        "topics": list(topics),
        "methods": facts,
        **({"plugins": versions_of(plugins)} if plugins else {}),
        **({NOT_RANKED: skipped} if skipped else {}),
        **({"inputs": files} if files else {}),
    }


class NewDocuments(NamedTuple):
    """Documents that came with a version of the corpus."""

    version: str
    ids: Mapping[str, frozenset[str]]
    """Documents that the pool of each topic could not have drawn before, by topic."""
    cited: Mapping[str, Sequence[str]]
    """New documents that each topic cites, by id; topics whose pools were drawn without citations are left out."""

    def of(self, topic_id: str, ranking: Ranking) -> Ranking:
        """The new documents of a ranking, each with its rank in it."""
        ids = self.ids[topic_id]
        return tuple(PlacedDoc.at(rank, doc) for rank, doc in enumerate(ranking, 1) if doc.doc_id in ids)

    def named(
        self, rankings: Rankings, facts: Mapping[str, Any], *, imported: Collection[str]
    ) -> tuple[Rankings, dict[str, Any]]:
        """The rankings and their settings under the names of the version; the cited documents are one more.

        imported: methods whose rankings have other documents, too.
        """
        settings, ranked = {**facts}, {**rankings}
        if self.cited:
            settings[CITED] = {"imported": "citations of the corpus"}
            ranked[CITED] = {name: tuple(ScoredDoc(doc, 0.0) for doc in docs) for name, docs in self.cited.items()}
        for method in {CITED, *imported} & ranked.keys():
            ranked[method] = {topic_id: self.of(topic_id, ranking) for topic_id, ranking in ranked[method].items()}
        return (
            {of_version(self.version, method): by_topic for method, by_topic in ranked.items()},
            {of_version(self.version, method): about for method, about in settings.items()},
        )


AT_ONCE = 1_000_000
"""Documents of rankings that are in memory at once; changes no result."""


def _new_ones(rank: Callable[[Sequence[str], int], Rankings], new: NewDocuments, depth: int, papers: int) -> Rankings:
    """The best `depth` new documents for each topic: all are ranked as deep as these come with the usual share of new
    documents, then deeper for topics that lack some. papers: number of papers in the corpus."""
    found: Rankings = {}
    fewest = max(1, min(map(len, new.ids.values()), default=1))
    waiting, down_to = list(new.ids), max(depth, papers * min(fewest, depth + depth // 4) // fewest)
    while waiting:
        deeper: dict[str, None] = {}
        size = max(1, AT_ONCE // down_to)
        for start in range(0, len(waiting), size):
            for method, by_topic in rank(waiting[start : start + size], down_to).items():
                for topic_id, ranking in by_topic.items():
                    best = new.of(topic_id, ranking)[:depth]
                    found.setdefault(method, {})[topic_id] = best
                    if len(ranking) >= down_to and len(best) < min(depth, len(new.ids[topic_id])):
                        deeper[topic_id] = None
        waiting, down_to = list(deeper), 4 * down_to
    return found


def _imported(
    ws: Workspace, methods: Sequence[str], imports: Mapping[str, Mapping[str, Ranking]]
) -> tuple[Rankings, dict[str, str]]:
    """Rankings of the methods that were imported, or are being imported, and the SHA-256 of their files."""
    hashes = {name: str(about["sha256"]) for name, about in imported_methods(ws).items() if name in methods}
    for name, by_topic in imports.items():
        hashes[name] = hashlib.sha256(write_run(by_topic, tag=name).encode()).hexdigest()
    return {name: dict(imports[name]) if name in imports else read_imported(ws, name) for name in hashes}, hashes


# ----------------------------------------------------------------------------------------------------------------------
# The papers that the rankings behind the pools were made of, as distinct from papers added to the corpus later.
#
# Papers are added behind the existing ones, in files of their own. So the corpus that was ranked is a beginning of
# the current one, and its hash in the manifest of the rankings identifies it.
# ----------------------------------------------------------------------------------------------------------------------


class RankedCorpus(NamedTuple):
    """Corpus that the rankings on record were made of, compared with the current one."""

    added: tuple[str, ...] = ()
    """The papers that were added after the last ranking, in the order of the corpus: no pool can have drawn them."""
    unknown: tuple[str, ...] = ()
    """Hashes of ranked corpora that are no beginning of the current corpus."""
    current: str = "no corpus"
    """Hash of the current corpus."""
    ranked: str | None = None
    """Hash of the last corpus that was ranked; None without rankings, or if it is no longer known."""
    corrected: tuple[str, ...] = ()
    """The papers that were corrected after they were ranked, by id: their ranks are those of the earlier records."""

    @property
    def differs_by_corrections(self) -> bool:
        """True if the corpus is the one that was ranked but for corrections on record."""
        return bool(self.corrected) and not (self.added or self.unknown)


def ranked_corpus(ws: Workspace) -> RankedCorpus:
    """Compare the corpus with the hashes in the manifest of the rankings. Methods that were added to pools later may
    have ranked a larger corpus than those before them: a paper counts as ranked if one method could have had it."""
    recorded = _recorded(ws)
    if not recorded or not ws.has_corpus:
        return RankedCorpus(unknown=tuple(sorted(recorded)))
    try:
        current = current_sha256(ws, keep=False)
        papers = {current: 0} if recorded == {current} else dict(beginnings(ws.corpus))
    except (AnnotError, OSError, ValueError):
        # pyarrow's errors on a damaged file are of the last two.
        return RankedCorpus(unknown=tuple(sorted(recorded)), current="a damaged file")
    if recorded == {current}:
        return RankedCorpus(current=current, ranked=current)
    corrected: set[str] = set()
    if recorded - papers.keys():
        earlier = _hashes_before_corrections(ws)
        for hashes, ids in earlier:
            if recorded & (hashes.keys() - papers.keys()):
                corrected |= ids
        papers = {sha256: count for hashes, _ in earlier for sha256, count in hashes.items()} | papers
    ranked = sorted(papers.keys() & recorded, key=papers.__getitem__)
    added = tuple(islice(paper_ids(ws.corpus), papers[ranked[-1]], None)) if ranked else ()
    unknown = tuple(sorted(recorded - papers.keys()))
    return RankedCorpus(added, unknown, current, ranked[-1] if ranked else None, tuple(sorted(corrected)))


def _hashes_before_corrections(ws: Workspace) -> list[tuple[dict[str, int], set[str]]]:
    """Hashes of the corpus before each correction and all later ones, with the papers that these changed."""
    with ws.reading() as session:
        recorded = corrections(session)
    states = []
    for number in range(len(recorded)):
        originals: dict[str, Paper] = {}
        for correction in recorded[number:]:
            originals = {paper.paper_id: paper for paper in correction.before} | originals
        rows = papers.table_of(list(originals.values()))
        states.append((dict(beginnings(ws.corpus, rows)), {*originals}))
    return states


def _recorded(ws: Workspace) -> set[str]:
    """Every corpus that a ranking on disk was made of."""
    try:
        manifest = read_manifest(rankings_manifest(ws), hint="")
    except AnnotError:
        return set()
    corpus = manifest.get("inputs", {}).get("corpus")
    later = (about.get("corpus_sha256") for about in manifest.get("methods", {}).values() if isinstance(about, dict))
    return {str(digest) for digest in (corpus, *later, *manifest.get(CORPORA, {}).values()) if digest}
