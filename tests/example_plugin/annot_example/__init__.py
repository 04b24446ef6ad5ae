"""A plug-in of `annot` with one part of each kind."""

PARTS = {
    "commands": {"count": "annot_example.commands"},
    "hidden_words": {"codenames": "annot_example.hidden:CODENAMES"},
    "import_kinds": {"votes": "annot_example.files:VOTES"},
    "measures": {"success": "annot_example.measures:SUCCESS"},
    "paper_formats": {"example:csl": "annot_example.files:CSL"},
    "pool_methods": {"abs_dirichlet": "annot_example.ranking:DIRICHLET"},
    "predictors": {"rank-one": "annot_example.ranking:predict"},
    "published_figures": {"example": "annot_example:figures.toml"},
    "release_facts": {"funding": "annot_example.report:funding"},
    "release_files": {"triples": "annot_example.report:triples"},
    "report_sections": {"lengths": "annot_example.report:LENGTHS"},
    "systems": {"example": "annot_example.ranking:SYSTEMS"},
    "topic_formats": {"lines": "annot_example.files:LINES"},
}
