"""The facts of the demonstration's collection, counted from its records."""

from copy import copy
from dataclasses import replace
from typing import Any

from annot.base.names import OF_PAPERS
from annot.base.settings import CollectionSettings
from annot.corpus.corpus_facts import CorpusFacts
from annot.formats.cleaning import counts_of
from annot.formats.corpora.sections import HeadingCount
from annot.publishing.release.collection_facts import CollectionFacts
from annot.publishing.report.tables import sentence
from annot.publishing.terms import Terms
from annot.study.outcome import UnexplainedSettlements
from annot_csfcube.files import Material


def made_facts(**fields: Any) -> CollectionFacts:
    """Facts that are made up, with those of a collection that lacks all that is not named."""
    facts = CollectionFacts.__new__(CollectionFacts)
    vars(facts).update(
        *(dict.fromkeys(("agreement_without", "training", "hidden_gold", "words", "added"), ()),),
        **{"protocol": {}, "untrue": {}, "history": {}, "sampled": None, "substudy": None},
        **{"agreement_best": "median", "agreement_too_thin": 0, "unrated": 0, "topics": (0, 0), "faceted": True},
        **{"vocabulary": OF_PAPERS, "cleaned": counts_of({}), "structured": HeadingCount().found},
    )
    return changed(facts, **fields)


def changed(facts: CollectionFacts, **fields: Any) -> CollectionFacts:
    """The facts with others in place of some."""
    other = copy(facts)
    vars(other).update(fields)
    return other


def demo_facts(material: Material, *, with_text: bool = True) -> CollectionFacts:
    """Counts are those of `material`; the agreement figures are made up, one of them undefined."""
    sizes = [len(pool.entries) for pool in material.pools]
    facet_of = {query.query_id: query.facet for query in material.queries}
    facets = []
    for facet in ("background", "method", "result"):
        decisions = [one for one in material.decisions if facet_of[one.query_id] == facet]
        judgements = [one for one in material.judgements if facet_of[one.query_id] == facet]
        given: dict[tuple[str, str], set[int | None]] = {}
        for one in judgements:
            given.setdefault((one.query_id, one.doc_id), set()).add(one.grade)
        facets.append(
            {
                "facet": facet,
                "labels": material.facet_labels[facet],
                "queries": sum(found == facet for found in facet_of.values()),
                "pairs": len(decisions),
                "judgements": len(judgements),
                "grades": tuple(sum(one.grade == grade for one in decisions) for grade in range(4)),
                "adjudicated": sum(one.origin == "adjudicated" for one in decisions),
                "overruled": sum(one.grade not in given[one.query_id, one.doc_id] for one in decisions),
                "doubly": len(decisions),
            }
        )
    years = [paper.year for paper in material.papers if paper.year is not None]
    columns = ("facet", "stage", "coefficient", "value", "n_queries", "n_pairs")
    return made_facts(
        collection=CollectionSettings(
            name="Demo | collection",
            title='A fictional collection: "similar" papers',
            version="0.1",
            description="Invented abstracts, judged by programs.",
            language="en-GB",
            creators=("The demo makers",),
            url="https://example.org/demo",
            keywords=("scientific documents",),
        ),
        terms=Terms(
            with_text=with_text, licence="CC-BY-4.0", text_licence="CC0-1.0", topic_licence="", published="2031-02-03"
        ),
        corpus=CorpusFacts(len(material.papers), (min(years), max(years)), without_year=7),
        rejected=(("fewer than 3 sentences", 4321),),
        sentence_labels=(("carried", len(material.papers)),),
        grades=("Irrelevant", "Related", "Similar", "Near-identical"),
        facets=facets,
        pool={
            "rules": [replace(material.pools[0], mode="blocks", per_method=9, ranking_depth=500, seed=7)],
            "methods": material.pools[0].methods,
            "without": material.pools[0].without,
            "sizes": tuple(sizes),
            "judged": True,
            "ranked": True,
            "versions": (),
            "origins": (),
            "citations": False,
        },
        judging={
            "sources": ("label-studio",),
            "studio_versions": ("1.23.2",),
            "assessors": 4,
            "adjudicators": 1,
            "planned_per_pair": 2,
            "given_to": ((2, sum(sizes)),),
            "accepted": (),
            "same_team": (len(sizes), len(sizes)),
            "isolation": "project",
            "studios": 1,
            "missing": "drop",
            "ratings": (("shown", 20),),
            "cannot_judge": sum(one.cannot_judge is not None for one in material.judgements),
            "missing_judgements": 0,
            "repeats": 0,
            "repeats_same": 0,
            "not_counted": (("by another account than the planned one", 3),),
            "audit": None,
            "simulated": True,
            "imported": None,
            "pairs_by_judgements": ((2, len(material.decisions)),),
            "disputes": {"in_dispute": 20, "settled": 20, "open": 0, "closed": 0, "besides": 0},
            "agreed": len(material.decisions) - 20,
            "not_judged": (0, sum(sizes)),
            "unsettled": 0,
            "unjudgeable": (),
            "withdrawn": 0,
            "returned": 0,
            "returned_changed": 0,
            "unexplained": UnexplainedSettlements(0, 0, 0),
            "single": 0,
            "days": ("2031-03-01", "2031-03-14"),
            "terms_marked": False,
        },
        agreement=[
            dict(zip(columns, row, strict=True))
            for row in (
                ("method", "before", "Krippendorff's alpha (ordinal)", "0.26 [0.20, 0.31]", 5, 100),
                ("together", "after", "Cohen's kappa", "undefined: one grade only", 0, 0),
            )
        ],
        overruled=sentence("agreement.overruled"),
        interval_level=0.95,
        splits=(("all", "fold1_dev", 1),),
        hashes=(("corpus/papers.parquet", "0" * 64),),
        annot_version="0.1.0",
    )
