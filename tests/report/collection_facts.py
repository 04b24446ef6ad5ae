"""The facts of the demonstration's collection, counted from its records."""

from __future__ import annotations

from annot.formats.csfcube import Material
from annot.release.collection import AgreementFigure, CollectionFacts, FacetFacts, JudgingFacts, PoolFacts


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
            FacetFacts(
                facet=facet,
                labels=material.facet_labels[facet],
                queries=sum(found == facet for found in facet_of.values()),
                pairs=len(decisions),
                judgements=len(judgements),
                grades=tuple(sum(one.grade == grade for one in decisions) for grade in range(4)),
                adjudicated=sum(one.origin == "adjudicated" for one in decisions),
                over_ruled=sum(one.grade not in given[one.query_id, one.doc_id] for one in decisions),
            )
        )
    years = [paper.year for paper in material.papers if paper.year is not None]
    alpha = "Krippendorff's alpha (ordinal)"
    return CollectionFacts(
        name="Demo | collection",
        title='A fictional collection: "similar" papers',
        version="0.1",
        description="Invented abstracts, judged by programs.",
        language="en-GB",
        licence="CC-BY-4.0",
        text_licence="CC0-1.0",
        with_text=with_text,
        creators=("The demo makers",),
        url="https://example.org/demo",
        published="2031-02-03",
        cite_as=None,
        keywords=("scientific documents",),
        papers=len(material.papers),
        rejected=(("fewer than 3 sentences", 4321),),
        first_year=min(years),
        last_year=max(years),
        without_year=7,
        sentence_labels=(("with labels that the corpus carries", len(material.papers)),),
        grades=("Irrelevant", "Related", "Similar", "Near-identical"),
        facets=tuple(facets),
        pool=PoolFacts(
            mode="blocks",
            methods=material.pools[0].methods,
            without=material.pools[0].without,
            per_method=9,
            ranking_depth=500,
            seed=7,
            pools=len(material.pools),
            smallest=min(sizes),
            mean=sum(sizes) / len(sizes),
            largest=max(sizes),
        ),
        judging=JudgingFacts(
            platform="Label Studio Community 1.23.2",
            assessors=4,
            adjudicators=1,
            per_pair=2,
            assignment="per-query",
            isolation="project",
            missing="drop",
            ratings="shown",
            cannot_judge=sum(one.cannot_judge is not None for one in material.judgements),
            missing_judgements=0,
            repeats=0,
            repeats_same=0,
            audit=("3 judgements came from an account that was not planned; they do not count",),
            simulated=True,
        ),
        agreement=(
            AgreementFigure("method", "before", alpha, "median over queries", 0.2557, 0.2, 0.31, 5, 100),
            AgreementFigure(
                "together", "after", "Cohen's kappa", "median over queries", None, None, None, 0, 0, "one grade only"
            ),
        ),
        interval_level=0.95,
        splits=(("all", "fold1_dev", 1),),
        runs=("fabs_tfidf",),
        annot_version="0.1.0",
        hashes=(("corpus/papers.parquet", "0" * 64),),
        commands={"corpus": "annot corpus list", "agreement": "annot agreement", "qrels": "annot qrels"},
    )
