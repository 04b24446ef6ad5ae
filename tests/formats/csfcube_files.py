"""How the tests read a CSFCube release, and the names of its files."""

from annot.base.settings import Settings
from annot_csfcube.files import Release, read_release

LABELS = Settings().labels.names


FACETS = Settings().facets


RATINGS = "test-pid2anns-csfcube-method.json"


POOLS = "test-pid2pool-csfcube.json"


PAPERS = "abstracts-csfcube-preds.jsonl"


RANKED = "eval_scripts/sample_ranked_pools/test-pid2pool-csfcube-specter-method-ranked.json"


def read(files: dict[str, bytes]) -> Release:
    return read_release(files, name="CSFCube", known_labels=LABELS, facet_labels=FACETS)


def grades_by_query(release: Release) -> dict[str, dict[str, int]]:
    grades: dict[str, dict[str, int]] = {query.query_id: {} for query in release.queries}
    for decision in release.decisions:
        grades[decision.query_id][decision.doc_id] = decision.grade
    return grades
