"""The dataset card: a README with the YAML header that a hub reads."""

from __future__ import annotations

from pathlib import Path

from annot.formats.beir import SPLIT, BeirFiles
from annot.formats.irds import dataset_id, module_name
from annot.release.collection_facts import CollectionFacts
from annot.release.licences import known_licence, licence
from annot.release.prose import fill

SIZES = (
    *("n<1K", "1K<n<10K", "10K<n<100K", "100K<n<1M", "1M<n<10M", "10M<n<100M", "100M<n<1B"),
    *("1B<n<10B", "10B<n<100B", "100B<n<1T", "n>1T"),
)


def size_category(count: int) -> str:
    """The hub's name for a number of rows.

    >>> size_category(999), size_category(1000)
    ('n<1K', '1K<n<10K')
    """
    return SIZES[min(max(len(str(count)) - 3, 0), len(SIZES) - 1)]


def dataset_card(
    facts: CollectionFacts, *, beir: BeirFiles, runs: bool, csfcube: str | None, overrides: Path | None
) -> str:
    """The card. The size in its header is that of the largest table: papers, or final grades.

    runs: whether the release holds any. csfcube: the folder of that format, if it is there. overrides: a folder of
    templates that win over the package's.
    """
    judgements = licence(facts.terms.licence)
    texts = known_licence(facts.terms.text_licence) if facts.terms.with_text else None
    configs = [("default", SPLIT, beir.hub_qrels)]
    if facts.terms.with_text:
        configs += [("corpus", "corpus", beir.corpus), ("queries", "queries", beir.queries)]
    return fill(
        "card.md.j2",
        facts,
        overrides=overrides,
        beir=beir,
        configs=[*configs, ("top_ranked", SPLIT, beir.top_ranked)],
        size=size_category(max(facts.corpus.papers, facts.total("pairs"))),
        licence_id=dataset_id(judgements.name),
        text_licence=texts,
        both=texts is not None and texts.hub not in (judgements.hub, "other") and judgements.hub != "other",
        irds_module=module_name(facts.collection.name),
        irds_id=dataset_id(facts.collection.name),
        runs=runs,
        csfcube=csfcube,
    )
