"""Wing for CSFCube: its release imported as a study, a study released as its programs read it, its published figures.

Mysore, O'Gorman, McCallum, Zamani: CSFCube, NeurIPS 2021 Datasets and Benchmarks, https://github.com/iesl/CSFCube.

Uses every room of the core up to `steps`. Begin with `files`.
"""

PARTS = {
    "import_kinds": {"csfcube": "annot_csfcube.importing:IMPORT"},
    "paper_formats": {"csfcube": "annot_csfcube.papers:CSFCUBE"},
    "release_files": {"csfcube": "annot_csfcube.releasing:csfcube_files"},
    "published_figures": {"csfcube": "annot_csfcube.published:csfcube.toml"},
}
